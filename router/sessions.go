package router

import (
	"context"
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"skillrouter/cache"
)

const (
	// liveSessions is how many sessions are kept decoded; the others are bytes
	// in the store until they are used again.
	liveSessions = 1024
	// mostTries is how often a change is made anew when another server changes
	// the same session all the time.
	mostTries = 64
)

// sessions holds the cores of sessions used lately.
type sessions struct{ live *lru.Cache[string, *core] }

func newSessions() *sessions {
	live, _ := lru.New[string, *core](liveSessions) // errs only for a size below 1
	return &sessions{live}
}

func (ss *sessions) get(key string) *core {
	if c, ok := ss.live.Get(key); ok {
		return c
	}
	c := &core{key: key, busy: make(chan struct{}, 1)}
	if old, ok, _ := ss.live.PeekOrAdd(key, c); ok {
		return old
	}
	return c
}

// outlive keeps idle sessions from holding on to indexes that were replaced: a
// turn finishes on its own index or, when the catalog changes twice meanwhile,
// on the one in use.
func (ss *sessions) outlive(generation uint64) {
	for _, c := range ss.live.Values() {
		select {
		case c.busy <- struct{}{}:
			if c.snap != nil && c.snap.generation+1 < generation {
				c.state, c.snap = nil, nil
			}
			c.unlock()
		default: // under way; the next refresh sees to it
		}
	}
}

// A core is a session used lately. When it had to make room while a call is
// under way, there may be two of one session: the store tells them apart.
type core struct {
	key  string
	busy chan struct{} // holds a token while a call is under way

	// Guarded by busy.
	state    *state // nil: read it from the store
	revision uint64
	snap     *snapshot // of the turn; nil: the one in use
}

func (c *core) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *core) unlock() { <-c.busy }

// update makes one move and saves it. When someone else was faster, the state
// is read and the move made anew. On an error nothing is changed.
func (s *Session) update(ctx context.Context, move func(*turn) error) error {
	return s.advance(ctx, false, move)
}

// advance is update; next begins a turn, on the index in use.
func (s *Session) advance(ctx context.Context, next bool, move func(*turn) error) error {
	c := s.r.sessions.get(s.key)
	if err := c.lock(ctx); err != nil {
		return err
	}
	defer c.unlock()
	snap := s.r.current.Load()
	if !next && c.snap != nil {
		snap = c.snap
	}
	for range mostTries {
		st, err := s.read(ctx, c, snap)
		if err != nil {
			return err
		}
		c.state = nil // not to be trusted again before it is saved
		t := &turn{s: s, snap: snap, st: st, before: st.names()}
		if next {
			st.Turn++
			st.Gone = nil
		}
		t.adopt()
		if err := move(t); err != nil {
			return err
		}
		if !next {
			st.left(t.before)
		}
		data, err := st.encode()
		if err != nil {
			return fmt.Errorf("router: session state: %w", err)
		}
		revision, err := s.r.opts.Store.Save(ctx, c.key, data, c.revision)
		if errors.Is(err, cache.ErrConflict) {
			continue
		}
		if err != nil {
			return fmt.Errorf("router: saving the session: %w", err)
		}
		c.state, c.revision, c.snap = st, revision, snap
		return nil
	}
	return fmt.Errorf("router: saving the session: %w %d times, as if others changed it all the time: give each dialogue an ID of its own", cache.ErrConflict, mostTries)
}

// view looks at the state.
func (s *Session) view(ctx context.Context, look func(*turn)) error {
	c := s.r.sessions.get(s.key)
	if err := c.lock(ctx); err != nil {
		return err
	}
	defer c.unlock()
	snap := c.snap
	if snap == nil {
		snap = s.r.current.Load()
	}
	st, err := s.read(ctx, c, snap)
	if err != nil {
		return err
	}
	c.state, c.snap = st, snap
	look(&turn{s: s, snap: snap, st: st})
	return nil
}

// read returns the state as it is in the store.
func (s *Session) read(ctx context.Context, c *core, snap *snapshot) (*state, error) {
	data, revision, err := s.r.opts.Store.Load(ctx, c.key)
	switch {
	case errors.Is(err, cache.ErrNotFound):
		c.revision = 0
		return newState(&snap.opts)
	case err != nil:
		return nil, fmt.Errorf("router: reading the session: %w", err)
	}
	if c.state != nil && revision == c.revision && c.snap == snap {
		return c.state, nil
	}
	c.revision = revision
	return decodeState(data, &snap.opts)
}
