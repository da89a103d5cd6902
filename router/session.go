package router

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"skillrouter/cache"
	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
)

// SessionOptions says for whom a session is. The zero value is the agent
// "main", who may see all skills.
type SessionOptions struct {
	Agent string                 // sessions of one ID but different agents share nothing; "" means "main"
	Allow func(name string) bool // skills that exist for it, asked anew in each turn and load; nil means all
}

// A Session carries the layers over the turns of one dialogue of one agent. It
// is safe for concurrent use: its calls run one at a time, in the order they
// come. Every call that may wait takes a context.
//
// A turn is one utterance up to the final answer; Route begins it and ends the
// last. A task runs from the first Load or BeginTask to EndTask, or until a
// fresh match shares no domain with it. In which layer a session is, and what
// moves it:
//
//	layer        event                          to           what happens
//	any          a domain matches (match)       summaries    its summaries are shown and kept for 5 turns
//	any          a skill is named (direct)      definitions  its definition is loaded
//	any          no match, summaries alive      the same     sticky: what was visible stays
//	any          no match otherwise (none,      domains      a question once, fallback domains,
//	             clarify)                                    the index with the nearest domains
//	any          Choose (choose)                summaries    the domain's summaries are shown
//	any          Load, LoadDomain (load)        definitions  a task begins, if none runs
//	any          Use (use)                      the same     a decision is noted
//	definitions  Reject (reject)                summaries    the skill is left out
//	definitions  2 turns without a Use          summaries    stalled: what was loaded is left out
//	summaries    2 turns without a decision     domains      stalled: the domains shown are left out
//	any          EndTask, or a match elsewhere  summaries or definitions are unloaded, what was left
//	             (task-end, switch)             domains      out counts again
//
// A definition that stays loaded keeps the session in layer definitions. Turns
// count as stalled only once the host has made a decision at all, in
// layer definitions only once it has called Use. What is left out comes back
// when the task ends, after 5 turns, when another domain matches, or when the
// user names it.
type Session struct {
	r    *Router
	core *core
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
	key := url.PathEscape(id) + keySeparator + url.PathEscape(o.Agent)
	return &Session{r: r, core: r.sessions.get(key), opts: o}, nil
}

// Route begins the next turn with the user's utterance.
func (s *Session) Route(ctx context.Context, utterance string) (*Route, error) {
	var route *Route
	err := s.update(ctx, func(snap *snapshot, st *state) (err error) {
		route, err = s.turn(ctx, snap, st, utterance)
		return err
	})
	return route, err
}

func (s *Session) turn(ctx context.Context, snap *snapshot, st *state, utterance string) (*Route, error) {
	seen := len(st.Events)
	t := &turn{s: s, snap: snap, st: st, before: st.visibleNames()}
	t.adopt()
	t.stall()
	st.Turn++
	st.Decided = false
	for _, d := range st.summaries.Advance(st.Turn) {
		t.event(st.Layer, "expired", d)
	}
	st.Tried = slices.DeleteFunc(st.Tried, func(x tried) bool {
		return st.Turn-x.Turn >= triedTurns || !x.Skill && names(utterance, x.Name)
	})
	route, err := s.r.match(ctx, snap, utterance, t.asker())
	if err != nil {
		return nil, err
	}
	route.Turn = st.Turn
	t.follow(route)
	t.report(route)
	if seen = max(0, len(st.Events)-t.events); seen < len(st.Events) {
		route.Events = slices.Clone(st.Events[seen:])
	}
	s.core.last = route
	return route, nil
}

// names tells whether the utterance says a domain's name.
func names(utterance, domain string) bool {
	return strings.Contains(text.Fold(utterance), text.Fold(domain))
}

// Load puts the definition of a skill in the prompt, for the task. One that
// stands there already is returned again, not shown twice. A skill that does
// not exist for the asker is an [index.NotFoundError].
func (s *Session) Load(ctx context.Context, skill string) (*definitions.Skill, error) {
	var loaded *definitions.Skill
	err := s.update(ctx, func(snap *snapshot, st *state) (err error) {
		loaded, err = s.load(snap, st, skill, "load", "")
		return err
	})
	return loaded, err
}

func (s *Session) load(snap *snapshot, st *state, skill, rule, reason string) (*definitions.Skill, error) {
	if err := s.exists(snap, skill); err != nil {
		return nil, err
	}
	t := &turn{s: s, snap: snap, st: st}
	d, err := t.load(skill)
	if err != nil {
		return nil, err
	}
	t.decide()
	t.move(Definitions, rule, reason, skill)
	st.Tried = slices.DeleteFunc(st.Tried, func(x tried) bool { return x.Skill && x.Name == skill })
	return d, nil
}

// LoadDomain puts the definitions of all skills of a domain in the prompt. It
// is expensive, so it needs a reason, which is kept in the event. It returns
// them in catalog order; on an error nothing is loaded.
func (s *Session) LoadDomain(ctx context.Context, domain, reason string) ([]*definitions.Skill, error) {
	if strings.TrimSpace(reason) == "" {
		return nil, fmt.Errorf("router: loading all of domain %q needs a reason: load single skills instead", domain)
	}
	var all []*definitions.Skill
	err := s.update(ctx, func(snap *snapshot, st *state) error {
		d, ok := snap.ix.LookupDomain(domain)
		if !ok {
			return &DomainNotFoundError{Domain: domain}
		}
		allow := snap.mask(s.opts.Allow)
		t := &turn{s: s, snap: snap, st: st}
		for _, i := range snap.ix.Members(d) {
			if allow != nil && !allow[i] {
				continue
			}
			skill, err := t.load(snap.ix.Skills()[i].Name)
			if err != nil {
				return err
			}
			all = append(all, skill)
		}
		t.decide()
		t.move(Definitions, "load-domain", reason, domain)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Choose shows the summaries of a domain that the model or the user decided
// on, in place of what was visible.
func (s *Session) Choose(ctx context.Context, domain string) error {
	return s.update(ctx, func(snap *snapshot, st *state) error {
		d, ok := snap.ix.LookupDomain(domain)
		allow := snap.mask(s.opts.Allow)
		if !ok || snap.allowed(d, allow) == 0 {
			return &DomainNotFoundError{Domain: domain}
		}
		st.Tried = slices.DeleteFunc(st.Tried, func(x tried) bool { return !x.Skill && x.Name == domain })
		t := &turn{s: s, snap: snap, st: st}
		route := &Route{snapshot: snap, Turn: st.Turn, Flat: snap.flat, allow: allow, Threshold: snap.opts.Threshold, Outcome: One}
		route.choose(d, t.asker())
		t.serve(route)
		t.decide()
		t.move(Summaries, "choose", "", domain)
		s.core.last = route
		return nil
	})
}

// Use notes that a skill is being used: its summary sufficed for an answer, or
// what its definition describes is being carried out. Hosts that call it let
// the session notice a loaded skill that is not.
func (s *Session) Use(ctx context.Context, skill string) error {
	return s.update(ctx, func(snap *snapshot, st *state) error {
		if err := s.exists(snap, skill); err != nil {
			return err
		}
		t := &turn{s: s, snap: snap, st: st}
		t.decide()
		st.Uses = st.Uses || slices.Contains(st.Loaded, skill)
		st.definitions.Get(skill)
		t.event(st.Layer, "use", skill)
		return nil
	})
}

// Reject says that a skill did not fit, and why: it leaves the prompt and is
// left out from now on, and the session steps back to the summaries.
func (s *Session) Reject(ctx context.Context, skill, reason string) error {
	return s.update(ctx, func(snap *snapshot, st *state) error {
		if err := s.exists(snap, skill); err != nil {
			return err
		}
		t := &turn{s: s, snap: snap, st: st}
		st.Tried = append(st.Tried, tried{Name: skill, Skill: true, Turn: st.Turn})
		st.unload(skill)
		for i := range st.Visible {
			v := &st.Visible[i]
			v.Skills = slices.DeleteFunc(slices.Clone(v.Skills), func(n string) bool { return n == skill })
		}
		t.move(t.below(), "reject", reason, skill)
		s.core.last = nil
		return nil
	})
}

// BeginTask begins a task before the first Load.
func (s *Session) BeginTask(ctx context.Context) error {
	return s.update(ctx, func(snap *snapshot, st *state) error {
		if !st.Task {
			st.Task = true
			(&turn{s: s, snap: snap, st: st}).event(st.Layer, "task-begin")
		}
		return nil
	})
}

// EndTask ends the task: its definitions leave prompt and cache.
func (s *Session) EndTask(ctx context.Context) error {
	return s.update(ctx, func(snap *snapshot, st *state) error {
		(&turn{s: s, snap: snap, st: st}).endTask("task-end")
		return nil
	})
}

// End forgets the session.
func (s *Session) End(ctx context.Context) error {
	if err := s.core.lock(ctx); err != nil {
		return err
	}
	defer s.core.unlock()
	s.core.state, s.core.revision, s.core.last = nil, 0, nil
	if err := s.r.opts.Store.Delete(ctx, s.core.key); err != nil && !errors.Is(err, cache.ErrNotFound) {
		return fmt.Errorf("router: ending the session: %w", err)
	}
	return nil
}

// Prompt returns the whole visible block as it is now: what Route decided and
// what was loaded or chosen since.
func (s *Session) Prompt(ctx context.Context) (string, error) {
	var prompt string
	err := s.view(ctx, func(snap *snapshot, st *state) error {
		route := s.core.last
		if route == nil {
			route = &Route{snapshot: snap, Flat: snap.flat, allow: snap.mask(s.opts.Allow), Outcome: Sticky}
			t := &turn{s: s, snap: snap, st: st}
			route.keep(t.asker())
		}
		now := *route
		now.Loaded = s.loaded(now.snapshot, st)
		prompt = now.Prompt()
		return nil
	})
	return prompt, err
}

// State is a session at one moment.
type State struct {
	Turn    int
	Layer   Layer
	Task    bool
	Domains []string // visible ones
	Skills  []string // with visible summaries
	Loaded  []string // definitions in the prompt
	Alive   []string // domains whose summaries are kept
	LeftOut []string // domains and skills tried in vain
	Events  []Event  // the last 16, oldest first

	Summaries   cache.Stats // since the state was last read from the store
	Definitions cache.Stats
}

// State returns a copy of the session's state.
func (s *Session) State(ctx context.Context) (State, error) {
	var out State
	err := s.view(ctx, func(_ *snapshot, st *state) error {
		out = State{
			Turn: st.Turn, Layer: st.Layer, Task: st.Task, Skills: st.visibleNames(), Loaded: slices.Clone(st.Loaded),
			Alive: st.summaries.Keys(), Events: slices.Clone(st.Events),
			Summaries: st.summaries.Stats(), Definitions: st.definitions.Stats(),
		}
		for _, v := range st.Visible {
			out.Domains = append(out.Domains, v.Domain)
		}
		for _, x := range st.Tried {
			out.LeftOut = append(out.LeftOut, x.Name)
		}
		return nil
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
