package router

import (
	"fmt"
	"hash/fnv"
	"slices"

	"skillrouter/definitions"
)

// A turn is one move of a session while it is being made.
type turn struct {
	s      *Session
	snap   *snapshot
	st     *state
	before []string // skills visible before
	events int      // made by this turn
}

// event notes something without a move.
func (t *turn) event(layer Layer, rule string, names ...string) {
	t.note(Event{Turn: t.st.Turn, From: layer, To: layer, Rule: rule, Names: names})
}

// move changes the layer.
func (t *turn) move(to Layer, rule, reason string, names ...string) {
	st := t.st
	if st.Layer != to {
		st.Stalls = 0
	}
	t.note(Event{Turn: st.Turn, From: st.Layer, To: to, Rule: rule, Names: names, Reason: reason})
	st.Layer = to
}

func (t *turn) note(e Event) {
	st := t.st
	st.Events = append(st.Events, e)
	if len(st.Events) > keptEvents {
		st.Events = slices.Clone(st.Events[len(st.Events)-keptEvents:])
	}
	t.events++
	t.s.r.log.Debug("session", "turn", e.Turn, "rule", e.Rule, "from", e.From.String(), "to", e.To.String(), "names", e.Names)
}

func (t *turn) decide() {
	t.st.Decided, t.st.Decides, t.st.Asked, t.st.Stalls = true, true, false, 0
}

// adopt brings the state to the index in use: what changed or vanished since
// the last turn is dropped.
func (t *turn) adopt() {
	st, ix := t.st, t.snap.ix
	if st.Index == ix.Fingerprint() {
		return
	}
	first := st.Index == ""
	st.Index = ix.Fingerprint()
	if first {
		return
	}
	for _, e := range st.summaries.Entries() {
		if d, ok := ix.LookupDomain(e.Key); !ok || t.domainHash(d) != e.Value {
			st.summaries.Remove(e.Key)
			t.event(st.Layer, "changed", e.Key)
		}
	}
	for _, e := range st.definitions.Entries() {
		i, ok := ix.Lookup(e.Key)
		switch {
		case !ok:
			st.unload(e.Key)
			st.definitions.Remove(e.Key)
			t.event(st.Layer, "deleted", e.Key)
		case ix.Skills()[i].Hash != e.Value:
			st.definitions.Put(e.Key, ix.Skills()[i].Hash)
			t.event(st.Layer, "changed", e.Key)
		}
	}
	st.Visible = slices.DeleteFunc(st.Visible, func(v visible) bool {
		_, ok := ix.LookupDomain(v.Domain)
		return !ok
	})
	if st.Layer == Definitions && len(st.Loaded) == 0 {
		t.move(t.below(), "deleted", "")
	}
}

// domainHash changes when a summary of the domain does.
func (t *turn) domainHash(domain int32) string {
	h := fnv.New64a()
	for _, i := range t.snap.ix.Members(domain) {
		s := &t.snap.ix.Skills()[i]
		fmt.Fprintf(h, "%s %s\n", s.Name, s.Hash)
	}
	return fmt.Sprintf("%x", h.Sum64())
}

// stall accounts for the turn that ends: after too many without a decision the
// session backs off to the parent layer.
func (t *turn) stall() {
	st, o := t.st, &t.snap.opts
	if st.Turn == 0 || st.Decided || !st.Decides || st.Layer == Definitions && !st.Uses {
		return
	}
	st.Stalls++
	switch {
	case st.Layer == Definitions && st.Stalls >= o.Stalled.Definitions:
		out := slices.Clone(st.Loaded)
		for _, name := range out {
			st.Tried = append(st.Tried, tried{Name: name, Skill: true, Turn: st.Turn})
			st.unload(name)
		}
		t.move(t.below(), "stalled", "", out...)
	case st.Layer == Summaries && st.Stalls >= o.Stalled.Summaries:
		var out []string
		for _, v := range st.Visible {
			out = append(out, v.Domain)
			st.Tried = append(st.Tried, tried{Name: v.Domain, Turn: st.Turn})
		}
		st.Visible = nil
		t.move(Domains, "stalled", "", out...)
	case st.Layer == Domains && st.Stalls >= o.Stalled.Domains:
		// The top has no parent: the question was asked, now the fallback
		// domains and the index must do.
		st.Stalls = 0
		st.Asked = true
		t.event(Domains, "stalled")
	}
}

// below is the layer under the definitions.
func (t *turn) below() Layer {
	switch {
	case len(t.st.Loaded) > 0:
		return Definitions
	case len(t.st.Visible) > 0:
		return Summaries
	default:
		return Domains
	}
}

// asker is what the state says about the next route.
func (t *turn) asker() *asker {
	ix, st := t.snap.ix, t.st
	a := &asker{allow: t.snap.mask(t.s.opts.Allow), asked: st.Asked}
	for _, x := range st.Tried {
		if x.Skill {
			if i, ok := ix.Lookup(x.Name); ok {
				a.skills = append(a.skills, i)
			}
		} else if d, ok := ix.LookupDomain(x.Name); ok {
			a.domains = append(a.domains, d)
		}
	}
	for _, v := range st.Visible {
		d, ok := ix.LookupDomain(v.Domain)
		if _, alive := st.summaries.Peek(v.Domain); !ok || !alive {
			continue
		}
		k := kept{domain: d}
		for _, name := range v.Skills {
			if i, ok := ix.Lookup(name); ok && slices.Contains(ix.Members(d), i) {
				k.skills = append(k.skills, i)
			}
		}
		a.sticky = append(a.sticky, k)
	}
	return a
}

// follow moves the state after a route.
func (t *turn) follow(r *Route) {
	st := t.st
	fresh := r.Matched()
	if fresh {
		st.Asked = false
		if st.Task && len(st.TaskDomains) > 0 && !slices.ContainsFunc(r.Domains, func(d Domain) bool {
			return d.Matched && slices.Contains(st.TaskDomains, d.Name)
		}) {
			t.endTask("switch")
		}
		if r.Outcome != Direct {
			st.Tried = nil // another domain matches
		}
	}
	var matched []string
	for _, d := range r.Domains {
		if d.Matched {
			matched = append(matched, d.Name)
		}
	}
	t.serve(r)
	switch r.Outcome {
	case Direct:
		var read []string
		for _, i := range r.named {
			name := t.snap.ix.Skills()[i].Name
			if _, err := t.load(name); err != nil {
				t.s.r.log.Warn("a skill that was named cannot be read", "skill", name, "error", err)
				t.event(st.Layer, "unreadable", name)
				continue
			}
			read = append(read, name)
		}
		if len(read) > 0 {
			t.decide()
			t.move(Definitions, "direct", "", read...)
		}
	case One, Several:
		to := Summaries
		if len(st.Loaded) > 0 {
			to = Definitions
		}
		t.move(to, "match", "", matched...)
	case Sticky, Empty:
		t.event(st.Layer, string(r.Outcome))
	case Clarify:
		st.Asked = true
		t.move(t.below(), "clarify", "", r.Nearest()[:r.near]...)
	case None:
		t.move(t.below(), "none", "")
	}
	r.Loaded = t.s.loaded(t.snap, st)
}

// serve takes the summaries of the route from the cache, or puts them there,
// and makes them the visible ones.
func (t *turn) serve(r *Route) {
	st, ix := t.st, t.snap.ix
	if r.Outcome == Direct {
		return // what was visible stays beside the definition
	}
	if r.Flat {
		st.Visible = nil
		return
	}
	st.Visible = st.Visible[:0:0]
	for _, sec := range r.shown {
		name := ix.Domains()[sec.domain].Name
		v := visible{Domain: name}
		for _, m := range r.Summaries[sec.from:sec.to] {
			v.Skills = append(v.Skills, m.Skill)
		}
		st.Visible = append(st.Visible, v)
		if r.Outcome == Sticky || r.Outcome == Empty {
			r.Hits = append(r.Hits, v.Skills...)
			continue
		}
		if _, hit := st.summaries.Get(name); hit && t.snap.opts.SummaryTurns > 0 {
			r.Hits = append(r.Hits, v.Skills...)
			continue
		}
		r.New = append(r.New, v.Skills...)
		if _, alive := st.summaries.Peek(name); !alive {
			for _, out := range st.summaries.Put(name, t.domainHash(sec.domain)) {
				t.event(st.Layer, "evicted", out)
			}
		}
	}
}

// report fills in what left the prompt.
func (t *turn) report(r *Route) {
	now := t.st.visibleNames()
	for _, name := range t.before {
		if !slices.Contains(now, name) {
			r.Unloaded = append(r.Unloaded, name)
		}
	}
}

// load puts a definition in the prompt.
func (t *turn) load(skill string) (*definitions.Skill, error) {
	st, ix := t.st, t.snap.ix
	read := ix.Get
	if _, hit := st.definitions.Get(skill); hit {
		read = ix.Kept
	}
	d, err := read(skill)
	if err != nil {
		return nil, err
	}
	i, _ := ix.Lookup(skill)
	if d.Hash != ix.Skills()[i].Hash {
		t.event(st.Layer, "stale", skill) // the file is newer than the index
	}
	for _, out := range st.definitions.Put(skill, d.Hash) {
		st.unload(out)
		t.event(st.Layer, "evicted", out)
	}
	if !slices.Contains(st.Loaded, skill) {
		st.Loaded = append(st.Loaded, skill)
	}
	if !st.Task {
		st.Task = true
		t.event(st.Layer, "task-begin")
	}
	for _, d := range ix.DomainsOf(i) {
		if name := ix.Domains()[d].Name; !slices.Contains(st.TaskDomains, name) {
			st.TaskDomains = append(st.TaskDomains, name)
		}
	}
	return d, nil
}

// endTask drops what lives as long as a task.
func (t *turn) endTask(rule string) {
	st := t.st
	out := st.definitions.End()
	st.Loaded = slices.DeleteFunc(st.Loaded, func(name string) bool { return slices.Contains(out, name) })
	st.Task, st.TaskDomains, st.Tried = false, nil, nil
	t.move(t.below(), rule, "", out...)
}

func (st *state) unload(skill string) {
	st.Loaded = slices.DeleteFunc(st.Loaded, func(name string) bool { return name == skill })
}

// visibleNames are the skills in the prompt, each once.
func (st *state) visibleNames() []string {
	var names []string
	for _, v := range st.Visible {
		names = append(names, v.Skills...)
	}
	for _, name := range st.Loaded {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
