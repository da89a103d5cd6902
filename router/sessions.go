package router

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

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

// mostSent bounds what a session remembers of saves that nobody confirmed.
const mostSent = 64

// sessions holds the cores of sessions used lately.
type sessions struct{ live *lru.Cache[string, *core] }

func newSessions(log *slog.Logger) *sessions {
	live, _ := lru.NewWithEvict(liveSessions, func(_ string, c *core) { // errs only for a size below 1
		if c.unsaved.Load() {
			log.Warn("a session made room before the session store answered: what was not saved of it is lost", "session", c.key)
		}
	})
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
		c.outlive(generation)
	}
}

func (c *core) outlive(generation uint64) {
	c.tidying.Lock()
	defer c.tidying.Unlock()
	if !c.try() {
		return // under way; the next refresh sees to it
	}
	defer c.unlock()
	if c.snap != nil && c.snap.generation+1 < generation {
		c.state, c.snap = nil, nil
	}
}

// A core is a session used lately. When it had to make room while a call is
// under way, there may be two of one session: the store tells them apart.
type core struct {
	key     string
	busy    chan struct{} // holds a token while a call is under way
	tidying sync.Mutex    // held while outlive has the token, which is no call
	unsaved atomic.Bool   // data is ahead of the store; changes only with busy held

	// Guarded by busy.
	known    bool      // the store has said what it has of the session
	data     []byte    // the newest state known; nil: none
	state    *state    // the same decoded; nil: decode it
	revision uint64    // in the store, of the state that data is or follows
	sent     []uint64  // hashes of states whose Save failed: the store may have them all the same
	snap     *snapshot // of the turn; nil: the one in use
}

// lock waits until no call is under way, unless it must not.
func (c *core) lock(ctx context.Context, noWait bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.try() {
		return nil
	}
	if noWait {
		c.tidying.Lock()
		defer c.tidying.Unlock()
		if c.try() {
			return nil
		}
		return ErrBusy
	}
	select {
	case c.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *core) try() bool {
	select {
	case c.busy <- struct{}{}:
		return true
	default:
		return false
	}
}

func (c *core) unlock() { <-c.busy }

// recall returns the newest state known, a new one if there is none.
func (c *core) recall(snap *snapshot) (*state, error) {
	switch {
	case c.state != nil && c.snap == snap:
		return c.state, nil
	case c.data != nil:
		return decodeState(c.data, &snap.opts)
	default:
		return newState(&snap.opts)
	}
}

// agree notes that the store has the newest state, data, nil for none.
func (c *core) agree(data []byte, revision uint64) {
	c.known, c.data, c.revision, c.sent = true, data, revision, nil
	c.unsaved.Store(false)
}

// update makes one move and saves it. When someone else was faster, the state
// is read and the move made anew. On an error nothing is changed.
func (s *Session) update(ctx context.Context, move func(*turn) error) error {
	return s.advance(ctx, false, move)
}

// advance is update; next begins a turn, on the index in use. While the store
// fails, the newest state known is kept here, and tried again by the next call.
func (s *Session) advance(ctx context.Context, next bool, move func(*turn) error) error {
	t, err := s.commit(ctx, next, move)
	if o := s.r.opts.Observer; err == nil && o != nil {
		for _, e := range t.events {
			o.Observe(s.id, s.opts.Agent, e)
		}
	}
	return err
}

// commit makes the move of advance, which it returns.
func (s *Session) commit(ctx context.Context, next bool, move func(*turn) error) (*turn, error) {
	c := s.r.sessions.get(s.key)
	if err := c.lock(ctx, s.opts.NoWait); err != nil {
		return nil, err
	}
	defer c.unlock()
	snap := s.r.current.Load()
	if !next && c.snap != nil {
		snap = c.snap
	}
	for range mostTries {
		t, failure, err := s.open(ctx, c, snap)
		if err != nil {
			return nil, err
		}
		st := t.st
		t.before = st.names()
		c.state = nil // not to be trusted again before the move is made
		if next {
			st.Turn++
			st.Gone = nil
		}
		t.adopt()
		if err := move(t); err != nil {
			return nil, err
		}
		if !next {
			st.left(t.before)
		}
		data, err := st.encode()
		if err != nil {
			return nil, fmt.Errorf("router: session state: %w", err)
		}
		if failure == nil { // else it would only fail again, and the turn wait twice
			var revision uint64
			revision, failure = s.r.opts.Store.Save(ctx, c.key, data, c.revision)
			switch {
			case failure == nil:
				c.agree(data, revision)
				c.state, c.snap = st, snap
				return t, nil
			case errors.Is(failure, cache.ErrConflict):
				continue
			}
			c.sent = append(c.sent, hash(data))
			c.sent = c.sent[max(0, len(c.sent)-mostSent):]
			if ctx.Err() != nil {
				return nil, fmt.Errorf("router: saving the session: %w", failure)
			}
			s.warn(c, "saving", failure)
		}
		return t, s.keep(c, t)
	}
	return nil, fmt.Errorf("router: saving the session: %w %d times, as if others changed it all the time: give each dialogue an ID of its own", cache.ErrConflict, mostTries)
}

// keep holds on to a state that could not be saved.
func (s *Session) keep(c *core, t *turn) error {
	t.unsaved, t.blind = true, !c.known
	t.event("unsaved")
	data, err := t.st.encode()
	if err != nil {
		return fmt.Errorf("router: session state: %w", err)
	}
	c.data, c.state, c.snap = data, t.st, t.snap
	c.unsaved.Store(true)
	s.r.sessions.live.ContainsOrAdd(c.key, c) // it may have made room meanwhile
	return nil
}

// view looks at the state.
func (s *Session) view(ctx context.Context, look func(*turn)) error {
	c := s.r.sessions.get(s.key)
	if err := c.lock(ctx, s.opts.NoWait); err != nil {
		return err
	}
	defer c.unlock()
	snap := c.snap
	if snap == nil {
		snap = s.r.current.Load()
	}
	t, _, err := s.open(ctx, c, snap)
	if err != nil {
		return err
	}
	c.state, c.snap = t.st, snap
	look(t)
	return nil
}

// open returns the state as it is in the store or, when that is newer or the
// store fails, as it is kept here; failure is why the store did.
func (s *Session) open(ctx context.Context, c *core, snap *snapshot) (t *turn, failure, err error) {
	data, revision, err := s.r.opts.Store.Load(ctx, c.key)
	switch {
	case err == nil || errors.Is(err, cache.ErrNotFound):
	case ctx.Err() != nil:
		return nil, nil, fmt.Errorf("router: reading the session: %w", err)
	default:
		failure = err
		s.warn(c, "reading", failure)
	}
	var old *state // what gives way to the store's
	if failure == nil && c.behind(data, revision) {
		if c.unsaved.Load() {
			old, _ = c.recall(snap)
		}
		c.state = nil
		c.agree(data, revision)
	}
	st, err := c.recall(snap)
	if err != nil {
		return nil, nil, err
	}
	t = &turn{s: s, snap: snap, st: st}
	if old != nil {
		s.r.log.Warn("others changed a session while the store failed here: their state counts, what was kept here is dropped", "session", c.key)
		st.left(old.names())
		t.event("dropped")
	}
	return t, failure, nil
}

// behind tells whether the state that the store has, under that revision, goes
// before the one kept here. What is ahead of the store follows the state that
// it was made from, or a save whose answer was lost. A store that has none has
// lost it: nothing there is newer.
func (c *core) behind(data []byte, revision uint64) bool {
	if !c.unsaved.Load() {
		return !c.known || revision != c.revision
	}
	if revision != c.revision && revision != 0 && !slices.Contains(c.sent, hash(data)) {
		return true
	}
	c.known, c.revision = true, revision
	return false
}

func (s *Session) warn(c *core, doing string, err error) {
	s.r.log.Warn("the session store failed: the session goes on in this process", "session", c.key, "doing", doing, "known", c.data != nil, "error", err)
}

func hash(data []byte) uint64 {
	h := fnv.New64a()
	h.Write(data)
	return h.Sum64()
}
