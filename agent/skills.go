package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"skillrouter/definitions"
	"skillrouter/router"
)

// begin brings state and session together before a request or a call: old keys
// are migrated, what was loaded for an earlier turn is cleared, once a turn,
// and each side drops what the other has dropped.
//
// No lock is held meanwhile, because the session calls functions of the host.
// Loads put the session first and then the key, and what takes a skill out
// does so too; so keys that were there before the session was asked, and whose
// skill it does not have, are stale.
func (k *Kit) begin(ctx context.Context) (now *router.Route, cleared []string, err error) {
	flag := k.st.Get(key1(clearedKey, k.agent))
	before := k.st.read(k.agent, k.o.Mode)
	if now, err = k.s.Visible(ctx); err != nil {
		return nil, nil, err
	}
	if string(flag) != strconv.Itoa(now.Turn) { // these are cleared below, or by another call, which may load them again
		maps.DeleteFunc(before, func(_ string, h held) bool { return h.mode == Turn || h.mode == Once })
	}
	if len(now.Index().Skills()) == 0 && k.st.idle() {
		return now, nil, nil
	}
	k.texts.begin(now.Turn)
	migrated := k.st.migrate(k.agent, now.Turn)
	cleared = k.clearTurn(now.Turn)
	var unload []string // of what is cleared; mostly the session let go of it when the turn began
	for _, d := range now.Loaded {
		if slices.Contains(cleared, d.Name) {
			unload = append(unload, d.Name)
		}
	}
	if len(unload) > 0 {
		if err := k.s.Unload(ctx, unload...); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range migrated {
		if k.st.Get(LoadedKey(k.agent, name)) == nil {
			continue
		}
		before[name] = held{skill: name}
		if _, err := k.s.Load(ctx, name); err != nil {
			if ctx.Err() != nil {
				return nil, nil, err
			}
			continue // it is gone, and cleared below
		}
		if err := k.hold(ctx, "", name); err != nil {
			return nil, nil, err
		}
	}
	if len(unload)+len(migrated) > 0 {
		if now, err = k.s.Visible(ctx); err != nil {
			return nil, nil, err
		}
	}
	var there, gone []string
	for _, d := range now.Loaded {
		if there = append(there, d.Name); k.st.Get(LoadedKey(k.agent, d.Name)) != nil {
			continue
		}
		if err := k.own(ctx, now.Turn, d.Name); err != nil {
			return nil, nil, err
		}
	}
	for _, h := range sorted(before) {
		if !slices.Contains(there, h.skill) {
			gone = append(gone, h.skill)
		}
	}
	if len(gone) > 0 {
		k.st.Commit(Change{Turn: now.Turn, Agent: k.agent, Cause: causeRouter, Skills: gone, Delta: dropped(k.agent, gone)})
		cleared = append(cleared, gone...)
	}
	return now, cleared, nil
}

// own makes the key of a skill that the router has loaded by itself, for the
// task; or for the session, as another process that keeps its own state did.
// One that a call is loading just now gets its key from that.
func (k *Kit) own(ctx context.Context, turn int, skill string) error {
	st, err := k.s.State(ctx)
	if err != nil {
		return err
	}
	args := LoadArgs{Skill: skill, Mode: Task}
	if slices.Contains(st.Kept, skill) {
		args.Mode = Session
	}
	k.mu.Lock()
	busy := k.loading[skill] > 0
	k.mu.Unlock()
	if busy {
		return nil
	}
	k.st.update(k.agent, func(values map[string][]byte) (Change, bool) {
		_, has := values[LoadedKey(k.agent, skill)]
		return Change{Turn: turn, Cause: causeRoute, Skills: []string{skill}, Delta: LoadDelta(k.agent, args)}, !has
	})
	return nil
}

// loads marks skills that a call is loading, until done is called.
func (k *Kit) loads(skills ...string) (done func()) {
	add := func(n int) {
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, name := range skills {
			if k.loading[name] += n; k.loading[name] == 0 {
				delete(k.loading, name)
			}
		}
	}
	add(1)
	return func() { add(-1) }
}

// clearTurn clears what was loaded for an earlier turn, and returns it. The
// flag is tested first and set with it: what is loaded within a turn survives
// its later requests.
func (k *Kit) clearTurn(turn int) (out []string) {
	flag := key1(clearedKey, k.agent)
	k.st.update(k.agent, func(values map[string][]byte) (Change, bool) {
		now := strconv.Itoa(turn)
		if string(values[flag]) == now {
			return Change{}, false
		}
		for _, h := range sorted(heldIn(values, k.agent, k.o.Mode)) {
			if h.mode == Turn || h.mode == Once {
				out = append(out, h.skill)
			}
		}
		delta := dropped(k.agent, out)
		delta[flag], delta[key1(onceKey, k.agent)] = []byte(now), nil
		return Change{Turn: turn, Cause: causeTurn, Skills: out, Delta: delta}, true
	})
	return out
}

func sorted(all map[string]held) []held {
	var list []held
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list
}

// A shownOnce is what the last request showed once: it is shown again when the
// same request is prepared again.
type shownOnce struct {
	Step string   `json:"step"`
	All  []onceOf `json:"skills"`
}

type onceOf struct {
	Skill string   `json:"skill"`
	Docs  []string `json:"docs,omitempty"`
	All   bool     `json:"all,omitempty"`
	Ext   bool     `json:"extension,omitempty"`
}

func (k *Kit) shownOnce() (o shownOnce) {
	if v := k.st.Get(key1(onceKey, k.agent)); v != nil {
		_ = json.Unmarshal(v, &o) // what is no record shows nothing
	}
	return o
}

// A block is a loaded skill on its way into a request.
type block struct {
	held
	def       *definitions.Skill
	extension bool
	system    string // its system_prompt
	texts     []definitions.DocText
	omitted   []string // for want of room
	text      string   // as it is shown
	tokens    int
	where     string
}

// loaded returns the loaded skills in the order in which they were loaded, and
// after them those that were shown once in the request of that step.
func (k *Kit) loaded(now *router.Route, step string, r *Receipt) []*block {
	state := k.st.read(k.agent, k.o.Mode)
	var blocks []*block
	add := func(h held, def *definitions.Skill, extension bool) {
		def, err := k.definition(h.skill, def)
		if err != nil {
			r.leave(h.skill, "skill", err.Error())
			return
		}
		blocks = append(blocks, &block{held: h, def: def, extension: extension && def.Extension != ""})
	}
	for _, def := range now.Loaded {
		if h, ok := state[def.Name]; ok {
			add(h, def, slices.Contains(now.Extended, def.Name))
			delete(state, def.Name)
		}
	}
	if once := k.shownOnce(); once.Step == step && step != "" {
		for _, o := range once.All {
			if slices.ContainsFunc(blocks, func(b *block) bool { return b.skill == o.Skill }) {
				continue
			}
			def, err := now.Index().Kept(o.Skill)
			if err != nil {
				r.leave(o.Skill, "skill", err.Error())
				continue
			}
			add(held{skill: o.Skill, docs: o.Docs, all: o.All, mode: Once}, def, o.Ext)
		}
	}
	return blocks
}

// definition is that of the host's repository, if it has one, else def.
func (k *Kit) definition(name string, def *definitions.Skill) (*definitions.Skill, error) {
	if k.o.Repository == nil {
		return def, nil
	}
	return k.texts.skill(name, func() (*definitions.Skill, error) { return k.o.Repository.Get(name) })
}

// doc reads a document of a skill.
func (k *Kit) doc(ctx context.Context, now *router.Route, skill, name string) ([]byte, error) {
	switch r := k.o.Repository.(type) {
	case nil:
		return now.Index().Doc(ctx, skill, name)
	case DocReader:
		return r.Doc(ctx, skill, name)
	default:
		return nil, fmt.Errorf("the repository gives no documents, so %q of %q cannot be read", name, skill)
	}
}

// skillsRequest is the third stage. State was migrated and cleared by begin.
func (k *Kit) skillsRequest(d *draft) error {
	if len(d.now.Index().Skills()) == 0 {
		d.request.Tools = append(d.request.Tools, k.o.Tools...)
		return nil
	}
	d.step = stepOf(d.now.Turn, d.past)
	overview, aside := k.overview(d)
	d.receipt.Summaries, d.receipt.Catalog = len(d.now.Summaries), len(d.now.Index().Summaries())
	for _, name := range d.now.Lines {
		d.receipt.leave(name, "summaries", "the domain matches, but its skills exceed what is shown at once")
	}
	d.blocks = k.loaded(d.now, d.step, d.receipt)
	if err := k.cap(d); err != nil {
		return err
	}
	k.setTools(d)
	base := d.request.Messages[0].Content
	if k.o.Strategy != Path { // there the texts stand in the history
		for _, b := range d.blocks {
			if err := k.readDocs(d.ctx, d.now, d.receipt, b); err != nil {
				return err
			}
		}
	}
	k.fit(d, base, join(overview, aside))
	parts := []string{base, overview}
	if k.o.Strategy == SystemMessage || k.o.Strategy == Toolset {
		for _, b := range d.blocks {
			b.where = "system"
			parts = append(parts, b.text)
		}
		for _, name := range d.noRoom {
			parts = append(parts, noRoom(name))
		}
	}
	d.request.Messages[0].Content = join(parts...)
	for _, b := range d.blocks {
		if k.o.Strategy == Path {
			b.where = "history"
		}
		d.receipt.show(b)
	}
	return k.clearOnce(d)
}

// cap keeps the most recent of the loaded skills; equally recent ones go in
// the order of the alphabet.
func (k *Kit) cap(d *draft) error {
	most := k.o.MaxLoadedSkills
	if most <= 0 || len(d.blocks) <= most {
		return nil
	}
	byUse := k.byUse(d.blocks)
	var out []string
	for _, b := range byUse[most:] {
		out = append(out, b.skill)
		d.receipt.leave(b.skill, "skill", fmt.Sprintf("more than %d skills are loaded, and it was used least recently", most))
	}
	d.blocks = slices.DeleteFunc(d.blocks, func(b *block) bool { return slices.Contains(out, b.skill) })
	d.receipt.Cleared = append(d.receipt.Cleared, out...)
	if err := k.s.Unload(d.ctx, out...); err != nil {
		return err
	}
	k.st.Commit(Change{Turn: d.now.Turn, Agent: k.agent, Cause: causeCap, Skills: out, Delta: dropped(k.agent, out)})
	return nil
}

// byUse returns the blocks by last use, the most recent first.
func (k *Kit) byUse(blocks []*block) []*block {
	last := k.st.lastUses(k.agent)
	list := slices.Clone(blocks)
	slices.SortStableFunc(list, func(a, b *block) int {
		if x, y := last[a.skill], last[b.skill]; x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(a.skill, b.skill)
	})
	return list
}

// readDocs reads the documents that were chosen of a skill.
func (k *Kit) readDocs(ctx context.Context, now *router.Route, r *Receipt, b *block) error {
	names := b.docs
	if b.all {
		names = documents(b.def)
	}
	for _, name := range names {
		text, err := k.texts.doc(b.skill+"\x00"+name, func() (string, error) {
			data, err := k.doc(ctx, now, b.skill, name)
			return string(data), err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.leave(b.skill, "document "+name, err.Error())
			continue
		}
		b.texts = append(b.texts, definitions.DocText{Name: name, Text: text})
	}
	return nil
}

// fit leaves out what the budget has no room for: extensions first, then
// documents, then whole skills, the least recent first. A core is never cut.
func (k *Kit) fit(d *draft, base, overview string) {
	r := d.receipt
	r.System, r.Overview, r.Estimated = k.o.Tokens(base), k.o.Tokens(overview), k.estimated
	total := r.System + r.Overview
	if k.o.Strategy != Path {
		for _, b := range d.blocks {
			b.text = k.render(b)
			b.tokens = k.o.Tokens(b.text)
			total += b.tokens
		}
	}
	if k.o.Budget > 0 && k.o.Strategy != Path {
		why := fmt.Sprintf("over the budget of %d tokens", k.o.Budget)
		oldest := k.byUse(d.blocks)
		slices.Reverse(oldest)
		shrunk := func(b *block, what string) {
			r.leave(b.skill, what, why)
			total -= b.tokens
			b.text = k.render(b)
			b.tokens = k.o.Tokens(b.text)
			total += b.tokens
		}
		for _, b := range oldest {
			if total > k.o.Budget && b.extension {
				b.extension = false
				b.omitted = append(b.omitted, theExtension)
				shrunk(b, "extension")
			}
		}
		for _, b := range oldest {
			for total > k.o.Budget && len(b.texts) > 0 {
				last := b.texts[len(b.texts)-1].Name
				b.texts = b.texts[:len(b.texts)-1]
				b.omitted = append(b.omitted, last)
				shrunk(b, "document "+last)
			}
		}
		for _, b := range oldest {
			if total > k.o.Budget {
				r.leave(b.skill, "skill", why)
				d.noRoom = append(d.noRoom, b.skill)
				total -= b.tokens
				d.blocks = slices.DeleteFunc(d.blocks, func(x *block) bool { return x == b })
			}
		}
	}
	r.Definitions = total - r.System - r.Overview
}

// clearOnce clears what is shown in this request only, and remembers it for a
// retry.
func (k *Kit) clearOnce(d *draft) error {
	once := shownOnce{Step: d.step}
	var out []string
	state := k.st.read(k.agent, k.o.Mode)
	for _, b := range d.blocks {
		if b.mode != Once {
			continue
		}
		once.All = append(once.All, onceOf{b.skill, b.docs, b.all, b.extension})
		if _, ok := state[b.skill]; ok {
			out = append(out, b.skill)
		}
	}
	if len(out) == 0 && (len(once.All) > 0 || k.st.Get(key1(onceKey, k.agent)) == nil) {
		return nil // nothing new
	}
	delta := dropped(k.agent, out)
	delta[key1(onceKey, k.agent)] = nil
	if len(once.All) > 0 {
		data, err := json.Marshal(once)
		if err != nil {
			return err
		}
		delta[key1(onceKey, k.agent)] = data
	}
	if len(out) > 0 {
		if err := k.s.Unload(d.ctx, out...); err != nil {
			return err
		}
	}
	k.st.Commit(Change{Turn: d.now.Turn, Agent: k.agent, Cause: causeOnce, Skills: out, Delta: delta})
	return nil
}

// stepOf tells one request of a session from another: the same history in the
// same turn is the same request.
func stepOf(turn int, past []Message) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d", turn)
	for _, m := range past {
		fmt.Fprintf(h, "\x00%s\x01%s\x01%s\x01%s", m.Role, m.Content, m.Parts, m.ToolCallID)
		for _, c := range m.ToolCalls {
			fmt.Fprintf(h, "\x02%s\x02%s\x02%s", c.ID, c.Function.Name, c.Function.Arguments)
		}
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func (r *Receipt) leave(skill, what, why string) {
	r.LeftOut = append(r.LeftOut, LeftOut{skill, what, why})
}

func (r *Receipt) show(b *block) {
	s := Shown{Skill: b.skill, Mode: b.mode, Extension: b.extension, Tokens: b.tokens, Where: b.where}
	for _, d := range b.texts {
		s.Docs = append(s.Docs, d.Name)
	}
	r.Loaded = append(r.Loaded, s)
}
