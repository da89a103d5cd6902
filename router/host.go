package router

import (
	"context"
	"fmt"
	"slices"

	"skillrouter/index"
)

// What a host needs that places the layers itself and keeps its own account of
// what is loaded, as package agent does.

// ID returns the ID of the session.
func (s *Session) ID() string { return s.id }

// Agent returns the agent that the session is of.
func (s *Session) Agent() string { return s.opts.Agent }

// Index returns the index that the route was made on.
func (r *Route) Index() *index.Index { return r.snapshot.ix }

// Visible returns what is in the prompt now: what Route decided and what was
// loaded, unloaded or chosen since. Scores and differences are not in it.
func (s *Session) Visible(ctx context.Context) (*Route, error) {
	var r *Route
	err := s.view(ctx, func(t *turn) {
		a := t.asker(false)
		r = &Route{snapshot: t.snap, Turn: t.st.Turn, Flat: t.snap.flat, Threshold: t.snap.opts.Threshold, allow: a.allow, gone: t.st.Gone}
		r.keep(a)
		for _, name := range t.st.Nearest {
			r.nearest = append(r.nearest, Domain{Name: name})
		}
		r.Loaded, r.Extended = s.loaded(t.snap, t.st), t.st.extended()
	})
	return r, err
}

// Search routes a query over the index of the turn, for whom the session is,
// and leaves the session as it is. Its Candidates are what was found.
func (s *Session) Search(ctx context.Context, query string) (*Route, error) {
	var (
		snap  *snapshot
		allow []bool
	)
	if err := s.view(ctx, func(t *turn) { snap, allow = t.snap, t.snap.mask(s.opts.Allow) }); err != nil {
		return nil, err
	}
	return s.r.answer(ctx, snap, query, &asker{allow: allow})
}

// Exists tells whether a skill is in the catalog of the turn and exists for
// whom the session is.
func (s *Session) Exists(ctx context.Context, skill string) (bool, error) {
	var known error
	err := s.view(ctx, func(t *turn) { known = s.exists(t.snap, skill) })
	return err == nil && known == nil, err
}

// Unload takes definitions out of the prompt. Their texts stay cached until
// the task ends, and nothing is left out: each may be loaded again. It is no
// decision. Names that are not loaded are passed over.
func (s *Session) Unload(ctx context.Context, skills ...string) error {
	return s.update(ctx, func(t *turn) error {
		t.release(skills)
		return nil
	})
}

// release is Unload within a move.
func (t *turn) release(skills []string) {
	var out []string
	for _, name := range skills {
		if slices.Contains(t.st.Loaded, name) {
			t.st.unload(name)
			t.st.definitions.Unpin(name)
			out = append(out, name)
		}
	}
	if len(out) > 0 {
		t.settle(Event{Rule: "unload", Names: out})
	}
}

// A Life is how long a loaded definition stays in the prompt.
type Life int

// The lives. That of a definition is ForTask again when it is loaded again.
const (
	ForTask    Life = iota
	ForTurn         // it is unloaded when the next turn begins, before its utterance is routed
	ForSession      // neither the end of the task nor turns without a decision unload it
)

// String says how long.
func (l Life) String() string {
	switch l {
	case ForTask:
		return "for the task"
	case ForTurn:
		return "for the turn"
	case ForSession:
		return "for the session"
	}
	return fmt.Sprintf("life(%d)", int(l))
}

// Keep says how long loaded definitions stay in the prompt; without it they do
// for the task. One that is not loaded is an error, and nothing changes.
func (s *Session) Keep(ctx context.Context, life Life, skills ...string) error {
	return s.update(ctx, func(t *turn) error {
		st := t.st
		for _, name := range skills {
			if !slices.Contains(st.Loaded, name) {
				return fmt.Errorf("router: skill %q is not loaded, so it cannot be kept: load it first", name)
			}
			st.forTask(name)
			switch life {
			case ForTask:
			case ForTurn:
				st.Lent = append(st.Lent, name)
			case ForSession:
				st.definitions.Pin(name)
			default:
				return fmt.Errorf("router: %v is no life of a definition", life)
			}
		}
		t.note(Event{To: st.Layer, Rule: "keep", Names: skills, Reason: life.String()})
		return nil
	})
}

// forTask makes the life of a definition what it is without Keep.
func (st *state) forTask(skill string) {
	st.definitions.Unpin(skill)
	st.Lent = slices.DeleteFunc(st.Lent, func(name string) bool { return name == skill })
}
