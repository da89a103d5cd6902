package router

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter/cache"
	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
)

// SessionOptions says for whom a session is. The zero value is the agent
// "main", who may see all skills.
type SessionOptions struct {
	Agent string // sessions of one ID but different agents share nothing; "" means "main"
	// Allow tells whether a skill exists for it; nil means all do. It is asked
	// anew in each turn, load and prompt, and must not call the session.
	Allow func(name string) bool
	// NoWait makes a call that finds another one of the session under way
	// return ErrBusy at once, instead of waiting for its turn.
	NoWait bool
}

// ErrBusy says that another call of the session is under way, see
// [SessionOptions].
var ErrBusy = errors.New("router: another call of the session is under way")

// ErrState says that the state which the store has of a session cannot be
// read: another version of this package wrote it. [Session.End] lets the
// session begin anew.
var ErrState = errors.New("router: the state of the session cannot be read")

// A Session carries the layers over the turns of one dialogue of one agent. It
// is safe for concurrent use: its calls run one at a time, in the order they
// come. Every call that may wait takes a context; on an error nothing has
// changed.
//
// A turn is one utterance up to the final answer; Route begins it and ends the
// last. It finishes on the index that it began with. A task runs from the first
// Load or BeginTask to EndTask, or until a fresh match shares no domain with
// it. In which layer a session is, and what moves it:
//
//	layer        event, and its rule            to           what happens
//	any          a domain matches               summaries    its summaries are shown and kept for 5 turns
//	             (match)
//	any          a skill is named (direct)      definitions  its definition is loaded
//	any          no match, but summaries are    the same     what was visible stays
//	             alive or a definition loaded,
//	             or "go on" in a flat catalog
//	             (sticky), or no words (empty)
//	any          no match otherwise (clarify,   domains      a question once, then the fallback domains;
//	             none)                                       the index with the nearest domains
//	any          Choose (choose)                summaries    the domain's summaries are shown
//	any          Load, LoadExtension,           definitions  a task begins, if none runs
//	             LoadDomain (load, …)
//	any          Use (use)                      the same     a decision is noted
//	definitions  Unload, or the turn ends that  summaries    it stays cached until the task ends
//	             a definition is kept for
//	             (unload)
//	definitions  Reject (reject)                summaries    the skill is left out
//	definitions  2 turns without a Use          summaries    what was loaded is left out,
//	             (stalled)                                   unless it is kept for the session
//	summaries    2 turns without a decision     domains      the domains shown are left out
//	             (stalled)
//	domains      2 turns without a decision     the same     no more questions
//	             (stalled)
//	any          EndTask (task-end), or a       summaries or definitions are unloaded, what was left
//	             match elsewhere (switch)       domains      out counts again
//
// A definition stays for the task, or for as long as Keep says, and meanwhile
// keeps the session in layer definitions; fallback domains and a flat catalog
// keep it in layer summaries. From definitions a session steps back to what is
// visible or, if that is nothing, to the domain of the skill. Turns count as
// stalled only once the host has made a decision at all, in layer definitions
// only once it has called Use; their count starts anew in another layer, with a
// match elsewhere, a rejection and the end of a task. What was left out counts
// again when the task ends, after 5 turns, when another domain matches, or when
// the user names it.
//
// An utterance is scored with what came before it: the shorter it is and the
// less it says by itself, the likelier it belongs to the domain of the last
// turn. A task's end forgets it; Options.Alone is without.
//
// A store that fails fails no turn. The session goes on from the newest state
// known to this process, a new one if there is none, and is kept here: the
// turn is marked ([Route].Unsaved and Fresh), has the event "unsaved" and a
// warning in the log. The next call asks the store again, and saves all. If
// others have saved the session meanwhile, their state counts: what was kept
// here is dropped, with the event "dropped", a warning, and what leaves the
// prompt by it in Unloaded. A store that comes back without the session gets
// the state that was kept. What is kept here ends with the process, and with
// a warning when 1,024 other sessions were used since.
type Session struct {
	r    *Router
	id   string
	key  string
	opts SessionOptions
}

// ID and agent are joined with this; both are escaped.
const keySeparator = "/"

// Session returns the session of that ID and agent, a new one if there is
// none. Opening costs nothing; a session that was not used for the store's
// idle limit begins anew.
func (r *Router) Session(id string, opts *SessionOptions) (*Session, error) {
	var o SessionOptions
	if opts != nil {
		o = *opts
	}
	if id == "" {
		return nil, errors.New("router: empty session ID: use one of your own for each dialogue")
	}
	if o.Agent == "" {
		o.Agent = "main"
	}
	return &Session{r: r, id: id, key: url.PathEscape(id) + keySeparator + url.PathEscape(o.Agent), opts: o}, nil
}

// Route begins the next turn with the user's utterance.
func (s *Session) Route(ctx context.Context, utterance string) (*Route, error) {
	var (
		route *Route
		made  *turn
	)
	err := s.advance(ctx, true, func(t *turn) (err error) {
		made = t
		route, err = t.route(ctx, utterance)
		return err
	})
	if err != nil {
		return nil, err
	}
	route.Unsaved, route.Fresh, route.Events = made.unsaved, made.blind, made.events
	return route, nil
}

func (t *turn) route(ctx context.Context, utterance string) (*Route, error) {
	t.revoke()
	t.release(slices.Clone(t.st.Lent))
	t.expire(utterance)
	t.stall()
	t.st.Decided = false
	a := t.asker(true)
	r, err := t.s.r.answer(ctx, t.snap, utterance, a)
	if err != nil {
		return nil, err
	}
	for _, i := range a.unread {
		t.event("unreadable", t.snap.ix.Skills()[i].Name)
	}
	r.Turn = t.st.Turn
	t.follow(r)
	t.report(r)
	return r, nil
}

// says tells whether an utterance says a name as a word; both are folded. Han
// is written without blanks, so a name in Han may stand anywhere.
func says(utterance, name string) bool {
	inWord := func(r rune) bool { return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !text.IsHan(r) }
	for from := 0; name != ""; {
		i := strings.Index(utterance[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(utterance[:i])
		first, size := utf8.DecodeRuneInString(name)
		last, _ := utf8.DecodeLastRuneInString(name)
		after, _ := utf8.DecodeRuneInString(utterance[i+len(name):])
		if inWord(before) && inWord(first) || inWord(last) && inWord(after) {
			from = i + size
			continue
		}
		return true
	}
	return false
}

// Load puts the definition of a skill in the prompt, for the task. One that
// stands there already is returned again, not shown twice. A skill that does
// not exist for the asker is an [index.NotFoundError].
func (s *Session) Load(ctx context.Context, skill string) (*definitions.Skill, error) {
	return s.loadOne(ctx, skill, "load", func(*turn, *definitions.Skill) error { return nil })
}

// LoadExtension is Load with the extension of the definition: examples and
// boundary notes, which are shown on demand only. A skill without one is an
// error, and nothing is loaded.
func (s *Session) LoadExtension(ctx context.Context, skill string) (*definitions.Skill, error) {
	return s.loadOne(ctx, skill, "load-extension", func(t *turn, loaded *definitions.Skill) error {
		if loaded.Extension == "" {
			return fmt.Errorf("router: skill %q has no extension: its definition is whole", skill)
		}
		if t.st.Extended = t.st.extended(); !slices.Contains(t.st.Extended, skill) {
			t.st.Extended = append(t.st.Extended, skill)
		}
		return nil
	})
}

// loadOne loads a skill, then does what else the rule asks for.
func (s *Session) loadOne(ctx context.Context, skill, rule string, then func(*turn, *definitions.Skill) error) (*definitions.Skill, error) {
	var loaded *definitions.Skill
	err := s.update(ctx, func(t *turn) (err error) {
		if err := s.exists(t.snap, skill); err != nil {
			return err
		}
		if loaded, err = t.load(skill); err != nil {
			return err
		}
		if err := then(t, loaded); err != nil {
			return err
		}
		t.about(skill)
		t.decide()
		t.settle(Event{Rule: rule, Names: []string{skill}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return loaded, nil
}

// LoadDomain puts the definitions of all skills of a domain in the prompt. It
// is expensive, so it needs a reason, which is kept in the event, and takes no
// domain of more than 64 skills. It returns them in catalog order; on an error
// nothing is loaded.
func (s *Session) LoadDomain(ctx context.Context, domain, reason string) ([]*definitions.Skill, error) {
	if strings.TrimSpace(reason) == "" {
		return nil, fmt.Errorf("router: loading all of domain %q needs a reason: load single skills instead", domain)
	}
	var all []*definitions.Skill
	err := s.update(ctx, func(t *turn) error {
		all = nil
		allow := t.snap.mask(s.opts.Allow)
		d, n, err := t.domain(domain, allow)
		if err != nil {
			return err
		}
		if n > mostLoaded {
			return fmt.Errorf("router: domain %q has %d skills, at most %d can be loaded at once: load single skills", domain, n, mostLoaded)
		}
		for _, i := range t.snap.ix.Members(d) {
			if allow != nil && !allow[i] {
				continue
			}
			skill, err := t.load(t.snap.ix.Skills()[i].Name)
			if err != nil {
				return err
			}
			all = append(all, skill)
		}
		t.st.Topics = surely(t.st.Topics, domain)
		t.decide()
		t.settle(Event{Rule: "load-domain", Names: []string{domain}, Reason: reason})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Choose shows the summaries of a domain that the model or the user decided
// on, in place of what was visible. A domain without a skill that exists for
// the asker is a [DomainNotFoundError].
func (s *Session) Choose(ctx context.Context, domain string) error {
	return s.update(ctx, func(t *turn) error {
		d, _, err := t.domain(domain, t.snap.mask(s.opts.Allow))
		if err != nil {
			return err
		}
		t.st.count(domain, false)
		t.st.Topics = surely(t.st.Topics, domain)
		t.serve(t.chosen(d, t.asker(true)))
		t.decide()
		t.settle(Event{Rule: "choose", Names: []string{domain}})
		return nil
	})
}

// domain looks a domain up, and counts its skills for the asker.
func (t *turn) domain(name string, allow []bool) (domain int32, n int, err error) {
	d, ok := t.snap.ix.LookupDomain(name)
	if ok {
		n = t.snap.allowed(d, allow)
	}
	if n == 0 {
		return 0, 0, &DomainNotFoundError{Domain: name}
	}
	return d, n, nil
}

// Use notes that a skill is being used: its summary sufficed for an answer, or
// what its definition describes is being carried out. Hosts that call it let
// the session notice a loaded skill that is not.
func (s *Session) Use(ctx context.Context, skill string) error {
	return s.update(ctx, func(t *turn) error {
		if err := s.exists(t.snap, skill); err != nil {
			return err
		}
		t.decide()
		if slices.Contains(t.st.Loaded, skill) {
			t.st.Uses = true
			t.st.definitions.Get(skill) // the last used goes last
		}
		t.event("use", skill)
		return nil
	})
}

// Reject says that a skill did not fit, and why: it leaves the prompt and is
// left out from now on, and the session steps back to the summaries.
func (s *Session) Reject(ctx context.Context, skill, reason string) error {
	return s.update(ctx, func(t *turn) error {
		if err := s.exists(t.snap, skill); err != nil {
			return err
		}
		st := t.st
		st.Stalls = 0 // the host is at work
		st.leaveOut(skill, true, st.Turn+1+triedTurns)
		st.unload(skill)
		st.definitions.Unpin(skill)
		for i := range st.Visible {
			v := &st.Visible[i]
			v.Skills = slices.DeleteFunc(v.Skills, func(n string) bool { return n == skill })
		}
		st.Visible = slices.DeleteFunc(st.Visible, func(v visible) bool { return len(v.Skills) == 0 })
		t.back([]string{skill})
		t.settle(Event{Rule: "reject", Names: []string{skill}, Reason: reason})
		return nil
	})
}

// BeginTask begins a task before the first Load.
func (s *Session) BeginTask(ctx context.Context) error {
	return s.update(ctx, func(t *turn) error {
		t.beginTask()
		return nil
	})
}

// EndTask ends the task: its definitions leave prompt and cache.
func (s *Session) EndTask(ctx context.Context) error {
	return s.update(ctx, func(t *turn) error {
		t.endTask("task-end")
		return nil
	})
}

// End forgets the session. Unlike the others it fails with the store, because
// that has the session still: call it again, or leave it to the idle limit.
func (s *Session) End(ctx context.Context) error {
	c := s.r.sessions.get(s.key)
	if err := c.lock(ctx, s.opts.NoWait); err != nil {
		return err
	}
	defer c.unlock()
	if err := s.r.opts.Store.Delete(ctx, c.key); err != nil && !errors.Is(err, cache.ErrNotFound) {
		return fmt.Errorf("router: ending the session: %w", err)
	}
	c.state, c.snap = nil, nil
	c.agree(nil, 0)
	return nil
}

// Prompt returns the whole visible block as it is now: what Route decided and
// what was loaded or chosen since. Right after Route it equals [Route.Prompt].
func (s *Session) Prompt(ctx context.Context) (string, error) {
	r, err := s.Visible(ctx)
	if err != nil {
		return "", err
	}
	return r.Prompt(), nil
}

// State is a session at one moment.
type State struct {
	Turn    int
	Layer   Layer
	Task    bool
	Domains []string // visible ones; none of a flat catalog
	Skills  []string // with visible summaries; none of a flat catalog, which shows all
	Loaded  []string // definitions in the prompt
	Kept    []string // those of them that stay for the session
	Alive   []string // domains whose summaries are kept
	LeftOut []string // domains and skills tried in vain
	Events  []Event  // the last 16, oldest first

	Summaries   cache.Stats // since the state was last read from the store
	Definitions cache.Stats
}

// State returns a copy of the session's state.
func (s *Session) State(ctx context.Context) (State, error) {
	var out State
	err := s.view(ctx, func(t *turn) {
		st := t.st
		out = State{
			Turn: st.Turn, Layer: st.Layer, Task: st.Task, Loaded: slices.Clone(st.Loaded),
			Alive: st.summaries.Keys(), Summaries: st.summaries.Stats(), Definitions: st.definitions.Stats(),
		}
		for _, name := range st.pinned() {
			if slices.Contains(st.Loaded, name) {
				out.Kept = append(out.Kept, name)
			}
		}
		for _, e := range st.Events {
			out.Events = append(out.Events, Event(e))
		}
		for _, v := range st.Visible {
			out.Domains = append(out.Domains, v.Domain)
			out.Skills = append(out.Skills, v.Skills...)
		}
		for _, x := range st.Tried {
			out.LeftOut = append(out.LeftOut, x.Name)
		}
	})
	return out, err
}

// A DomainNotFoundError says that a catalog has no domain of a name, or none
// with a skill that exists for the asker.
type DomainNotFoundError struct{ Domain string }

func (e *DomainNotFoundError) Error() string { return fmt.Sprintf("domain not found: %q", e.Domain) }

// Hint says what to do.
func (e *DomainNotFoundError) Hint() string { return "the index text names the domains" }

func (s *Session) exists(snap *snapshot, skill string) error {
	if _, ok := snap.ix.Lookup(skill); !ok || s.opts.Allow != nil && !s.opts.Allow(skill) {
		return &index.NotFoundError{Skill: skill}
	}
	return nil
}

// loaded returns the definitions in the prompt that can still be read.
func (s *Session) loaded(snap *snapshot, st *state) []*definitions.Skill {
	var all []*definitions.Skill
	for _, name := range st.Loaded {
		if s.exists(snap, name) != nil {
			continue
		}
		d, err := snap.ix.Kept(name)
		if err != nil {
			s.r.log.Warn("a loaded definition cannot be read", "skill", name, "error", err)
			continue
		}
		all = append(all, d)
	}
	return all
}
