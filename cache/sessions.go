package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

var (
	// ErrNotFound is returned, wrapped, by a Load of a session that was never saved, or is gone: deleted, idle for too
	// long, or evicted.
	ErrNotFound = errors.New("session not found")

	// ErrConflict is returned, wrapped, by a Save with a revision that is not the session's: another has saved or
	// deleted it since it was loaded. Load it again, apply the change again, save again.
	ErrConflict = errors.New("session changed since it was loaded")
)

// sweepOnSave is how many idle sessions a Save may drop. It adds at most one, so above 1 the idle ones become fewer.
const sweepOnSave = 2

// SessionsOptions are the options of [NewSessions].
type SessionsOptions struct {
	Capacity int              // sessions; 0 means 10,000
	Idle     time.Duration    // a session not loaded or saved for so long is gone; 0 means 1 hour, negative: no limit
	Now      func() time.Time // the clock; nil means time.Now
}

// Sessions keeps the states of sessions in memory, as bytes with revisions: what a shared store does for several
// servers, for one. Its size is bounded, the least recently used session goes first, and idle sessions are dropped a
// few with each Save, so that memory falls as long as anything happens; a host that falls silent calls Sweep.
//
// All methods are safe for concurrent use. [skillrouter/cache/cachetest] holds every such store to the same contract.
type Sessions struct {
	capacity int
	idle     time.Duration
	now      func() time.Time

	mu       sync.Mutex
	sessions *simplelru.LRU[string, *session]
	revision uint64 // the last one given, of all sessions: no session ever sees one again, even after a Delete
	stats    Stats
}

// A session's state is never written to once it is here, so it may be read without the lock.
type session struct {
	state    []byte
	revision uint64
	used     time.Time
}

// NewSessions returns an empty store. A nil opts means the zero [SessionsOptions]. It fails for a negative capacity.
func NewSessions(opts *SessionsOptions) (*Sessions, error) {
	var o SessionsOptions
	if opts != nil {
		o = *opts
	}
	if o.Capacity < 0 {
		return nil, fmt.Errorf("cache: Capacity %d is negative; sessions have a bound, and 0 means the default", o.Capacity)
	}
	if o.Capacity == 0 {
		o.Capacity = 10_000
	}
	if o.Idle == 0 {
		o.Idle = time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	sessions, err := simplelru.NewLRU[string, *session](o.Capacity, nil)
	if err != nil {
		return nil, fmt.Errorf("cache: Capacity %d: %w", o.Capacity, err)
	}
	return &Sessions{capacity: o.Capacity, idle: o.Idle, now: o.Now, sessions: sessions}, nil
}

// Load returns a copy of a session's state, and the revision to save its successor with. The error is [ErrNotFound] or
// the context's.
func (s *Sessions) Load(ctx context.Context, key string) (state []byte, revision uint64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	found, ok := s.load(key, s.now())
	if !ok {
		return nil, 0, fmt.Errorf("cache: session %q: %w", key, ErrNotFound)
	}
	return bytes.Clone(found.state), found.revision, nil
}

func (s *Sessions) load(key string, now time.Time) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.live(key, now)
	if found == nil {
		s.stats.Misses++
		return session{}, false
	}
	s.stats.Hits++
	s.sessions.Get(key) // makes it the most recently used
	found.used = now
	return *found, true
}

// Save keeps a copy of state if revision is still the one of the session, 0 for a session that must not exist yet, and
// returns the new revision. Else the error is [ErrConflict], and nothing has changed; other errors are the context's
// and that of an empty key.
func (s *Sessions) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if key == "" {
		return 0, errors.New("cache: a session needs a key that is not empty")
	}
	saved := &session{state: bytes.Clone(state), used: s.now()}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(saved.used, sweepOnSave)
	var current uint64
	if old := s.live(key, saved.used); old != nil {
		current = old.revision
	}
	if revision != current {
		return 0, fmt.Errorf("cache: session %q: %w", key, ErrConflict)
	}
	if current == 0 && s.sessions.Len() == s.capacity {
		s.sessions.RemoveOldest()
		s.stats.Evicted++
	}
	s.revision++
	saved.revision = s.revision
	s.sessions.Add(key, saved)
	return saved.revision, nil
}

// Delete drops a session. One that is not there is fine; the only error is the context's.
func (s *Sessions) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions.Remove(key)
	return nil
}

// Len returns the number of sessions in memory, those included that are idle for too long but not yet dropped.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions.Len()
}

// Sweep drops at most limit sessions that are idle for too long, and returns how many. It looks at no more than it
// drops and one.
func (s *Sessions) Sweep(limit int) int {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep(now, limit)
}

// Stats returns the counts so far.
func (s *Sessions) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// sweep goes from the least recently used on, which have been idle the longest. The lock is held.
func (s *Sessions) sweep(now time.Time, limit int) int {
	n := 0
	for n < limit {
		_, oldest, ok := s.sessions.GetOldest()
		if !ok || !s.over(oldest, now) {
			break
		}
		s.sessions.RemoveOldest()
		n++
	}
	s.stats.Expired += n
	return n
}

// live returns a session, nil if it is not there; one that is idle for too long is dropped. The lock is held.
func (s *Sessions) live(key string, now time.Time) *session {
	found, ok := s.sessions.Peek(key)
	if ok && s.over(found, now) {
		s.sessions.Remove(key)
		s.stats.Expired++
		return nil
	}
	return found
}

func (s *Sessions) over(found *session, now time.Time) bool {
	return s.idle > 0 && now.Sub(found.used) >= s.idle
}
