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
		var out []string
		for _, name := range skills {
			if !slices.Contains(t.st.Loaded, name) {
				continue
			}
			t.st.unload(name)
			t.st.definitions.Unpin(name)
			out = append(out, name)
		}
		if len(out) > 0 {
			t.settle(Event{Rule: "unload", Names: out})
		}
		return nil
	})
}

// Pin keeps loaded definitions for the session: neither the end of the task
// nor turns without a decision unload them. Unpin lets one go with the task
// again.
func (s *Session) Pin(ctx context.Context, skills ...string) error {
	return s.update(ctx, func(t *turn) error {
		for _, name := range skills {
			if !slices.Contains(t.st.Loaded, name) || !t.st.definitions.Pin(name) {
				return fmt.Errorf("router: skill %q is not loaded, so it cannot be pinned: load it first", name)
			}
			t.event("pin", name)
		}
		return nil
	})
}

// Unpin undoes Pin. Names that are not pinned are passed over.
func (s *Session) Unpin(ctx context.Context, skills ...string) error {
	return s.update(ctx, func(t *turn) error {
		for _, name := range skills {
			if slices.Contains(t.st.pinned(), name) && t.st.definitions.Unpin(name) {
				t.event("unpin", name)
			}
		}
		return nil
	})
}
