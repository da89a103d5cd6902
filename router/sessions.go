package router

import (
	"context"
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"skillrouter/cache"
)

// liveSessions is how many sessions are kept decoded; the others are bytes in
// the store until they are used again.
const liveSessions = 1024

// sessions holds the cores of sessions used lately.
type sessions struct{ live *lru.Cache[string, *core] }

func newSessions() *sessions {
	live, _ := lru.New[string, *core](liveSessions) // errs only for a size below 1
	return &sessions{live}
}

func (ss *sessions) get(key string) *core {
	c := &core{key: key, busy: make(chan struct{}, 1)}
	if old, ok, _ := ss.live.PeekOrAdd(key, c); ok {
		ss.live.Get(key)
		return old
	}
	return c
}

// A core is what all handles of one session share.
type core struct {
	key  string
	busy chan struct{} // holds a token while a call is under way

	// Guarded by busy.
	state    *state // nil: read it from the store
	revision uint64
	last     *Route // of the turn, for the prompt; nil: as the state says
}

func (c *core) lock(ctx context.Context) error {
	select {
	case c.busy <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *core) unlock() { <-c.busy }

// update changes the state and saves it. When someone else was faster, it is
// read anew and changed again. On an error nothing is changed.
func (s *Session) update(ctx context.Context, change func(*snapshot, *state) error) error {
	if err := s.core.lock(ctx); err != nil {
		return err
	}
	defer s.core.unlock()
	snap := s.r.current.Load()
	for {
		st, err := s.read(ctx, snap)
		if err != nil {
			return err
		}
		s.core.state = nil // not to be trusted again before it is saved
		if err := change(snap, st); err != nil {
			return err
		}
		data, err := st.encode()
		if err != nil {
			return fmt.Errorf("router: session state: %w", err)
		}
		revision, err := s.r.opts.Store.Save(ctx, s.core.key, data, s.core.revision)
		if errors.Is(err, cache.ErrConflict) {
			continue
		}
		if err != nil {
			return fmt.Errorf("router: saving the session: %w", err)
		}
		s.core.state, s.core.revision = st, revision
		return nil
	}
}

// view looks at the state.
func (s *Session) view(ctx context.Context, look func(*snapshot, *state) error) error {
	if err := s.core.lock(ctx); err != nil {
		return err
	}
	defer s.core.unlock()
	snap := s.r.current.Load()
	st, err := s.read(ctx, snap)
	if err != nil {
		return err
	}
	s.core.state = st
	return look(snap, st)
}

// read returns the state as it is in the store.
func (s *Session) read(ctx context.Context, snap *snapshot) (*state, error) {
	data, revision, err := s.r.opts.Store.Load(ctx, s.core.key)
	switch {
	case errors.Is(err, cache.ErrNotFound):
		s.core.revision, s.core.last = 0, nil
		return newState(&snap.opts)
	case err != nil:
		return nil, fmt.Errorf("router: reading the session: %w", err)
	}
	if s.core.state != nil && revision == s.core.revision {
		return s.core.state, nil
	}
	if revision != s.core.revision {
		s.core.last = nil
	}
	s.core.revision = revision
	return decodeState(data, &snap.opts)
}
