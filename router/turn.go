package router

import (
	"slices"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// A turn is one move of a session while it is being made.
type turn struct {
	s      *Session
	snap   *snapshot
	st     *state
	before []string // skills in the prompt before
	events []Event  // made by this move

	unsaved bool // the store failed: the state is kept here
	blind   bool // and what it has of the session was never read here
}

// event notes something without a move.
func (t *turn) event(rule string, names ...string) {
	t.note(Event{To: t.st.Layer, Rule: rule, Names: names})
}

// settle moves to the layer of what is in the prompt now.
func (t *turn) settle(e Event) {
	e.To = t.layer()
	t.note(e)
}

// layer is the lowest one that is in the prompt.
func (t *turn) layer() Layer {
	switch {
	case len(t.st.Loaded) > 0:
		return Definitions
	case len(t.st.Visible) > 0 || t.snap.flat:
		return Summaries
	default:
		return Domains
	}
}

func (t *turn) note(e Event) {
	st := t.st
	e.Turn, e.From, e.Reason = st.Turn, st.Layer, text.Cut(e.Reason, maxReason)
	if e.To != e.From {
		st.Layer, st.Stalls = e.To, 0
	}
	t.events = append(t.events, e)
	st.Events = append(st.Events, record(e))
	st.Events = st.Events[max(0, len(st.Events)-keptEvents):]
	t.s.r.log.Debug("session", "turn", e.Turn, "rule", e.Rule, "from", e.From.String(), "to", e.To.String(), "names", e.Names)
}

func (t *turn) decide() {
	t.st.Decided, t.st.Decides, t.st.Asked, t.st.Stalls = true, true, false, 0
}

// adopt brings the state to the index of the turn: what changed or vanished
// since the last one is dropped.
func (t *turn) adopt() {
	st, ix := t.st, t.snap.ix
	was := st.Index
	st.Index = ix.Fingerprint()
	if was == "" || was == st.Index {
		return
	}
	for _, e := range st.summaries.Entries() {
		if d, ok := ix.LookupDomain(e.Key); !ok || t.snap.hashes[d] != e.Value {
			st.summaries.Remove(e.Key)
			t.event("changed", e.Key)
		}
	}
	for _, e := range st.definitions.Entries() {
		i, ok := ix.Lookup(e.Key)
		switch {
		case !ok:
			if slices.Contains(st.Loaded, e.Key) {
				st.Gone = append(st.Gone, e.Key)
			}
			st.unload(e.Key)
			st.definitions.Remove(e.Key)
			t.event("deleted", e.Key)
		case ix.Skills()[i].Hash != e.Value:
			st.definitions.Put(e.Key, ix.Skills()[i].Hash)
			t.event("changed", e.Key)
		}
	}
	t.resettle("deleted")
}

// revoke unloads what does not exist for the asker any more.
func (t *turn) revoke() {
	for _, name := range slices.Clone(t.st.Loaded) {
		if t.s.exists(t.snap, name) != nil {
			t.st.unload(name)
			t.st.definitions.Remove(name)
			t.event("revoked", name)
		}
	}
	t.resettle("revoked")
}

// resettle leaves the definitions when none is left.
func (t *turn) resettle(rule string) {
	if t.st.Layer == Definitions && len(t.st.Loaded) == 0 {
		t.settle(Event{Rule: rule})
	}
}

// expire drops what was kept for its turns.
func (t *turn) expire(utterance string) {
	st := t.st
	if out := st.summaries.Advance(st.Turn); len(out) > 0 {
		slices.Sort(out) // what expires at once does so in no order
		t.event("expired", out...)
	}
	if len(st.Tried) == 0 {
		return
	}
	folded := text.Fold(utterance)
	st.Tried = slices.DeleteFunc(st.Tried, func(x tried) bool {
		return st.Turn >= x.Until || says(folded, text.Fold(x.Name))
	})
}

// stall accounts for the turn that ended: after too many without a decision
// the session backs off to the parent layer.
func (t *turn) stall() {
	st, o := t.st, &t.snap.opts
	if st.Turn == 1 || st.Decided || !st.Decides || st.Layer == Definitions && !st.Uses {
		return
	}
	st.Stalls++
	switch {
	case st.Layer == Definitions && st.Stalls >= o.Stalled.Definitions:
		var out []string
		pinned := st.pinned()
		for _, name := range slices.Clone(st.Loaded) {
			if !slices.Contains(pinned, name) {
				out = append(out, name)
				st.unload(name)
				st.leaveOut(name, true, st.Turn+triedTurns)
			}
		}
		st.Stalls = 0
		if len(out) == 0 {
			return // what is pinned is there because somebody wants it there
		}
		t.back(out)
		t.settle(Event{Rule: "stalled", Names: out})
	case st.Layer == Summaries && st.Stalls >= o.Stalled.Summaries && !t.snap.flat:
		var out []string
		for _, v := range st.Visible {
			out = append(out, v.Domain)
			st.leaveOut(v.Domain, false, st.Turn+triedTurns)
		}
		st.Visible, st.Lines, st.Fallback, st.Topics = nil, nil, false, nil
		t.settle(Event{Rule: "stalled", Names: out})
	case st.Layer == Domains && st.Stalls >= o.Stalled.Domains:
		// The top has no parent: the question was asked, now the fallback
		// domains and the index must do.
		st.Stalls = 0
		st.Asked = true
		t.event("stalled")
	}
}

// back makes sure that there are summaries to step back to from skills that
// did not fit: what is visible or, if that is nothing, those of their domain.
func (t *turn) back(skills []string) {
	a := t.asker(true)
	if len(t.st.Loaded) > 0 || len(a.sticky) > 0 || t.snap.flat {
		return
	}
	for _, name := range skills {
		i, ok := t.snap.ix.Lookup(name)
		if !ok {
			continue
		}
		for _, d := range t.snap.domainsOf(i) {
			r := t.chosen(d, a)
			if r.excluded(d, a) {
				continue
			}
			t.serve(r)
			return
		}
	}
}

// chosen is the route that shows a domain that nobody scored.
func (t *turn) chosen(domain int32, a *asker) *Route {
	r := &Route{snapshot: t.snap, Turn: t.st.Turn, Flat: t.snap.flat, allow: a.allow, Threshold: t.snap.opts.Threshold, Outcome: One}
	r.choose(domain, a)
	return r
}

// asker is what the state says about the next route; alive leaves out what
// visible summaries have expired.
func (t *turn) asker(alive bool) *asker {
	ix, st := t.snap.ix, t.st
	a := &asker{
		session: true, allow: t.snap.mask(t.s.opts.Allow), asked: st.Asked, loaded: len(st.Loaded) > 0, lines: st.Lines, fallback: st.Fallback,
	}
	for _, x := range st.Tried {
		if x.Skill {
			if i, ok := ix.Lookup(x.Name); ok {
				a.skills = append(a.skills, i)
			}
		} else if d, ok := ix.LookupDomain(x.Name); ok {
			a.domains = append(a.domains, d)
		}
	}
	for _, name := range st.Loaded {
		if i, ok := ix.Lookup(name); ok {
			a.task = append(a.task, t.snap.domainsOf(i)...)
		}
	}
	for _, v := range st.Visible {
		d, ok := ix.LookupDomain(v.Domain)
		if !ok {
			continue
		}
		if _, kept := st.summaries.Peek(v.Domain); alive && !kept {
			continue
		}
		k := kept{domain: d, more: v.More}
		for _, name := range v.Skills {
			if i, ok := ix.Lookup(name); ok && slices.Contains(ix.DomainsOf(i), d) && (a.allow == nil || a.allow[i]) && !slices.Contains(a.skills, i) {
				k.skills = append(k.skills, i)
			}
		}
		if len(k.skills) > 0 {
			a.sticky = append(a.sticky, k)
		}
	}
	if len(a.sticky) == 0 {
		a.lines, a.fallback = nil, false
	}
	if !t.snap.opts.Alone {
		a.topics = st.Topics
		a.last, a.before = spread(ix, st.Topics)
	}
	return a
}

// follow moves the state after a route.
func (t *turn) follow(r *Route) {
	st := t.st
	fresh := t.fresh(r)
	switched := false
	if len(fresh) > 0 {
		st.Asked = false
		if !slices.ContainsFunc(st.Visible, func(v visible) bool { return slices.Contains(fresh, v.Domain) }) {
			st.Stalls = 0 // another subject
		}
		if st.Task && len(st.TaskDomains) > 0 && !slices.ContainsFunc(fresh, func(d string) bool { return slices.Contains(st.TaskDomains, d) }) {
			t.endTask("switch")
			switched = true
		}
		// What was tried counts again once it is named or another domain matches.
		st.Tried = slices.DeleteFunc(st.Tried, func(x tried) bool {
			if r.Outcome == Direct {
				return x.Skill && slices.ContainsFunc(r.Loaded, func(d *definitions.Skill) bool { return d.Name == x.Name })
			}
			return !x.Skill || !t.inAny(x.Name, fresh)
		})
		if r.Flat {
			r.showAll(t.asker(true))
		}
	}
	switch {
	case switched: // the topics of the route still know the task that ended
		st.Topics = surely(nil, fresh...)
	case r.Outcome == Direct:
		st.Topics = surely(st.Topics, fresh...)
	case r.Outcome != Empty:
		st.Topics = r.topics
	}
	t.serve(r)
	e := Event{Rule: string(r.Outcome), Score: r.Top().Score}
	switch r.Outcome {
	case Direct:
		for _, d := range r.Loaded {
			if _, hit := st.definitions.Get(d.Name); hit {
				r.Hits = append(r.Hits, d.Name)
			} else {
				r.New = append(r.New, d.Name)
			}
			t.take(d)
			e.Names = append(e.Names, d.Name)
		}
		// The user decided. That the host ever does is not known from this.
		st.Decided, st.Asked, st.Stalls = true, false, 0
		e.Score = 0
	case One, Several, Pair:
		e.Rule, e.Names = "match", fresh
	case Clarify:
		st.Asked = true
		e.Names = r.Nearest()[:r.near]
	case Empty:
		e.Score = 0
	case Sticky, None:
	}
	t.settle(e)
	r.Loaded, r.Extended = t.s.loaded(t.snap, st), st.extended()
	r.gone = st.Gone
}

// fresh returns the names of the domains to which the utterance led by itself.
func (t *turn) fresh(r *Route) []string {
	var names []string
	switch r.Outcome {
	case Direct: // a domain of manual skills only has no score
		for _, i := range r.named {
			for _, d := range t.snap.domainsOf(i) {
				if name := t.snap.ix.Domains()[d].Name; !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	case One, Several, Pair:
		for _, d := range r.Domains {
			if d.Matched {
				names = append(names, d.Name)
			}
		}
	case Empty, Sticky, Clarify, None:
	}
	return names
}

// inAny tells whether a skill is in one of the domains of these names.
func (t *turn) inAny(skill string, domains []string) bool {
	i, ok := t.snap.ix.Lookup(skill)
	return ok && slices.ContainsFunc(t.snap.domainsOf(i), func(d int32) bool {
		return slices.Contains(domains, t.snap.ix.Domains()[d].Name)
	})
}

// serve takes the summaries of the route from the cache, or puts them there,
// and makes them the visible ones.
func (t *turn) serve(r *Route) {
	st, ix := t.st, t.snap.ix
	st.Visible, st.Lines, st.Fallback, st.Nearest = nil, nil, false, nil
	if r.Flat {
		return
	}
	st.Lines, st.Fallback = r.Lines, r.fallback
	if len(r.nearest) > 0 {
		st.Nearest = r.Nearest()
	}
	for _, sec := range r.shown {
		name := ix.Domains()[sec.domain].Name
		v := visible{Domain: name, More: sec.more, Skills: make([]string, 0, sec.to-sec.from)}
		for _, m := range r.Summaries[sec.from:sec.to] {
			v.Skills = append(v.Skills, m.Skill)
		}
		st.Visible = append(st.Visible, v)
		hit := t.cached(name, sec.domain)
		if hit && t.snap.opts.SummaryTurns > 0 {
			r.Hits = append(r.Hits, v.Skills...)
		} else {
			r.New = append(r.New, v.Skills...)
		}
	}
}

// cached tells whether the summaries of a domain are kept, and sees to it that
// they are from now on.
func (t *turn) cached(name string, domain int32) bool {
	kept := t.st.summaries
	if t.snap.opts.SummaryTurns < 0 {
		// Without a cache nothing is a hit; only what sticks must be known.
		if _, alive := kept.Peek(name); alive {
			return true
		}
	} else if _, hit := kept.Get(name); hit {
		return true
	}
	for _, out := range kept.Put(name, t.snap.hashes[domain]) {
		t.event("evicted", out)
	}
	return false
}

// report fills in what left the prompt since the turn before began.
func (t *turn) report(r *Route) {
	t.st.left(t.before)
	now := t.st.names()
	for _, name := range t.st.Left {
		if !slices.Contains(now, name) {
			r.Unloaded = append(r.Unloaded, name)
		}
	}
	t.st.Left = nil
	r.Events = t.events
}

// load puts a definition in the prompt.
func (t *turn) load(skill string) (*definitions.Skill, error) {
	ix := t.snap.ix
	read := ix.Get
	if _, hit := t.st.definitions.Get(skill); hit {
		read = ix.Kept
	}
	d, err := read(skill)
	if err != nil {
		return nil, err
	}
	t.take(d)
	t.st.count(skill, true)
	return d, nil
}

// about sets what the dialogue is about to the domains of a skill.
func (t *turn) about(skill string) {
	i, _ := t.snap.ix.Lookup(skill)
	var names []string
	for _, d := range t.snap.domainsOf(i) {
		names = append(names, t.snap.ix.Domains()[d].Name)
	}
	t.st.Topics = surely(t.st.Topics, names...)
}

// take puts a definition that was read in the prompt.
func (t *turn) take(d *definitions.Skill) {
	st, ix := t.st, t.snap.ix
	i, _ := ix.Lookup(d.Name)
	if d.Hash != ix.Skills()[i].Hash {
		t.event("stale", d.Name)
	}
	for _, out := range st.definitions.Put(d.Name, d.Hash) {
		st.unload(out)
		t.event("evicted", out)
	}
	st.extended() // what went with an earlier definition of this name
	st.forTask(d.Name)
	if !slices.Contains(st.Loaded, d.Name) {
		st.Loaded = append(st.Loaded, d.Name)
	}
	t.beginTask()
	for _, d := range t.snap.domainsOf(i) {
		if name := ix.Domains()[d].Name; !slices.Contains(st.TaskDomains, name) {
			st.TaskDomains = append(st.TaskDomains, name)
		}
	}
}

func (t *turn) beginTask() {
	if !t.st.Task {
		t.st.Task = true
		t.event("task-begin")
	}
}

// endTask drops what lives as long as a task.
func (t *turn) endTask(rule string) {
	st := t.st
	var out, over []string
	if !t.snap.opts.SessionDefinitions {
		over = st.definitions.End()
	}
	st.Loaded = slices.DeleteFunc(st.Loaded, func(name string) bool {
		if !slices.Contains(over, name) {
			return false
		}
		out = append(out, name)
		return true
	})
	for _, name := range out {
		st.Lent = slices.DeleteFunc(st.Lent, func(lent string) bool { return lent == name })
	}
	st.TaskDomains, st.Tried, st.Task, st.Stalls, st.Topics = nil, nil, false, 0, nil
	t.settle(Event{Rule: rule, Names: out})
}
