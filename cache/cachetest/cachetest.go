// Package cachetest is the contract of a store of session states, as tests that every implementation runs.
package cachetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"skillrouter/cache"
)

// A Store is what the contract is about. [cache.Sessions] says what each method promises; errors wrap
// [cache.ErrNotFound] and [cache.ErrConflict].
type Store interface {
	Load(ctx context.Context, key string) (state []byte, revision uint64, err error)
	Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error)
	Delete(ctx context.Context, key string) error
}

// Options are what a case asks of the store it gets.
type Options struct {
	Idle time.Duration    // 0: the store's default, which no case outlasts
	Now  func() time.Time // nil: the real clock. A store that cannot be given a clock skips the case when this is set.
}

// RunSessions holds an implementation to the contract. For each case open returns an empty store with room for 100
// sessions, which it closes itself in t.Cleanup. Run under the race detector it also shows whether the store is safe
// for concurrent use.
func RunSessions(t *testing.T, open func(t *testing.T, o Options) Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Store)
	}{
		{"unknown session", unknown},
		{"saved and loaded", savedAndLoaded},
		{"any bytes", anyBytes},
		{"any key", anyKey},
		{"conflict", conflict},
		{"deleted", deleted},
		{"inputs and outputs are copies", copies},
		{"cancelled context", cancelled},
		{"one of many creates", oneCreates},
		{"concurrent increments", increments},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t, Options{})) })
	}
	t.Run("idle", func(t *testing.T) {
		clock := &Clock{}
		idle(t, open(t, Options{Idle: time.Minute, Now: clock.Now}), clock)
	})
	t.Run("no idle limit", func(t *testing.T) {
		clock := &Clock{}
		noIdleLimit(t, open(t, Options{Idle: -1, Now: clock.Now}), clock)
	})
}

// A Clock stands still until it is moved. Its zero value is ready and safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	elapsed time.Duration
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(c.elapsed)
}

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elapsed += d
}

func unknown(t *testing.T, s Store) {
	for _, key := range []string{"a", ""} {
		missing(t, s, key)
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("Delete %q: %v", key, err)
		}
	}
	if _, err := s.Save(t.Context(), "", []byte("x"), 0); err == nil {
		t.Error("Save with an empty key: no error")
	}
	missing(t, s, "")
}

func savedAndLoaded(t *testing.T, s Store) {
	given := map[uint64]bool{0: true}
	var revision uint64
	for i := range 5 {
		state := fmt.Sprintf("state %d", i)
		revision = save(t, s, "a", state, revision)
		if given[revision] {
			t.Errorf("revision %d is 0 or was given before", revision)
		}
		given[revision] = true
		for range 2 {
			holds(t, s, "a", state, revision)
		}
	}
}

func anyBytes(t *testing.T, s Store) {
	for name, state := range map[string]string{
		"empty": "", "zeros": "\x00\x00", "not UTF-8": "\xff\xfe", "lines": "a\r\nb\n",
		"16 KiB": string(bytes.Repeat([]byte("0123456789abcde\n"), 1024)),
	} {
		holds(t, s, name, state, save(t, s, name, state, 0))
	}
	revision, err := s.Save(t.Context(), "nil", nil, 0)
	if err != nil {
		t.Fatalf("Save of nil: %v", err)
	}
	holds(t, s, "nil", "", revision)
}

func anyKey(t *testing.T, s Store) {
	keys := []string{"a", "A", "a/b", "a b", "a:b", "a*", "*", "会话", "é", "a\x00b", "a\n"}
	revisions := map[string]uint64{}
	for _, key := range keys {
		revisions[key] = save(t, s, key, "state of "+key, 0)
	}
	for _, key := range keys {
		holds(t, s, key, "state of "+key, revisions[key])
	}
	if err := s.Delete(t.Context(), "*"); err != nil {
		t.Fatal(err)
	}
	missing(t, s, "*")
	holds(t, s, "a", "state of a", revisions["a"])
}

func conflict(t *testing.T, s Store) {
	first := save(t, s, "a", "one", 0)
	second := save(t, s, "a", "two", first)
	other := save(t, s, "b", "other", 0)
	for name, revision := range map[string]uint64{
		"created again": 0, "stale": first, "of another session": other, "never given": 1 << 40,
	} {
		refused(t, s, "a", name, revision)
		holds(t, s, "a", "two", second)
	}
	refused(t, s, "c", "of a session that is not there", second)
	missing(t, s, "c")
	save(t, s, "a", "three", second)
}

func deleted(t *testing.T, s Store) {
	first := save(t, s, "a", "one", 0)
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatalf("Delete: %v", err)
	}
	missing(t, s, "a")
	refused(t, s, "a", "of the deleted session", first)
	missing(t, s, "a")

	second := save(t, s, "a", "anew", 0)
	if second == first {
		t.Errorf("the new session has the deleted one's revision %d", first)
	}
	// Whoever loaded the deleted session must not overwrite the new one.
	refused(t, s, "a", "of the deleted session", first)
	holds(t, s, "a", "anew", second)
}

func copies(t *testing.T, s Store) {
	in := []byte("state")
	revision, err := s.Save(t.Context(), "a", in, 0)
	if err != nil {
		t.Fatalf("Save: %v", err)
	}
	copy(in, "XXXXX")
	holds(t, s, "a", "state", revision)

	out, _, err := s.Load(t.Context(), "a")
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	copy(out, "YYYYY")
	_ = append(out, "more"...)
	holds(t, s, "a", "state", revision)
}

func cancelled(t *testing.T, s Store) {
	revision := save(t, s, "a", "state", 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, loadErr := s.Load(ctx, "a")
	_, _, unknownErr := s.Load(ctx, "unknown")
	_, saveErr := s.Save(ctx, "a", []byte("changed"), revision)
	for name, err := range map[string]error{
		"Load": loadErr, "Load of no session": unknownErr, "Save": saveErr, "Delete": s.Delete(ctx, "a"),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
	holds(t, s, "a", "state", revision)
}

func oneCreates(t *testing.T, s Store) {
	const callers = 16
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		won  []string
		with uint64
	)
	for i := range callers {
		wg.Go(func() {
			state := strconv.Itoa(i)
			revision, err := s.Save(t.Context(), "a", []byte(state), 0)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won, with = append(won, state), revision
			case !errors.Is(err, cache.ErrConflict):
				t.Errorf("Save: %v, want ErrConflict", err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d callers created the session, want 1", len(won))
	}
	holds(t, s, "a", won[0], with)
}

func increments(t *testing.T, s Store) {
	const callers, each = 8, 50
	save(t, s, "counter", "0", 0)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			own := fmt.Sprintf("own %d", i) // sessions beside it come and go
			for range each {
				for {
					ok, err := increment(t.Context(), s)
					if err != nil {
						t.Error(err)
						return
					}
					if ok {
						break
					}
				}
				if _, err := s.Save(t.Context(), own, nil, 0); err != nil {
					t.Errorf("Save of %s: %v", own, err)
				}
				if err := s.Delete(t.Context(), own); err != nil {
					t.Errorf("Delete of %s: %v", own, err)
				}
			}
		})
	}
	wg.Wait()
	state, _, err := s.Load(t.Context(), "counter")
	if want := strconv.Itoa(callers * each); err != nil || string(state) != want {
		t.Errorf("counter %q, %v; want %s", state, err, want)
	}
}

// increment adds one to the counter, and tells whether nobody was faster.
func increment(ctx context.Context, s Store) (bool, error) {
	state, revision, err := s.Load(ctx, "counter")
	if err != nil {
		return false, fmt.Errorf("load: %w", err)
	}
	n, err := strconv.Atoi(string(state))
	if err != nil {
		return false, fmt.Errorf("torn state: %w", err)
	}
	_, err = s.Save(ctx, "counter", []byte(strconv.Itoa(n+1)), revision)
	if errors.Is(err, cache.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

func idle(t *testing.T, s Store, clock *Clock) {
	loaded := save(t, s, "loaded", "1", 0)
	saved := save(t, s, "saved", "1", 0)
	left := save(t, s, "left", "1", 0)

	clock.Advance(time.Minute - time.Second)
	holds(t, s, "loaded", "1", loaded)
	saved = save(t, s, "saved", "2", saved)

	clock.Advance(time.Second) // left is idle for the whole minute now
	missing(t, s, "left")
	refused(t, s, "left", "of a session that was idle for too long", left)
	if again := save(t, s, "left", "anew", 0); again == left {
		t.Errorf("the new session has the old one's revision %d", left)
	}

	clock.Advance(time.Minute - 2*time.Second) // the others used theirs but for a second
	holds(t, s, "loaded", "1", loaded)
	holds(t, s, "saved", "2", saved)

	clock.Advance(time.Minute)
	for _, key := range []string{"loaded", "saved", "left"} {
		missing(t, s, key)
	}
}

func noIdleLimit(t *testing.T, s Store, clock *Clock) {
	revision := save(t, s, "a", "state", 0)
	clock.Advance(10 * 365 * 24 * time.Hour)
	save(t, s, "b", "state", 0)
	holds(t, s, "a", "state", revision)
}

func save(t *testing.T, s Store, key, state string, revision uint64) uint64 {
	t.Helper()
	got, err := s.Save(t.Context(), key, []byte(state), revision)
	if err != nil {
		t.Fatalf("Save of %q with revision %d: %v", key, revision, err)
	}
	return got
}

func refused(t *testing.T, s Store, key, what string, revision uint64) {
	t.Helper()
	if got, err := s.Save(t.Context(), key, []byte("changed"), revision); !errors.Is(err, cache.ErrConflict) || got != 0 {
		t.Errorf("Save of %q with a revision %s: %d, %v; want 0 and ErrConflict", key, what, got, err)
	}
}

func holds(t *testing.T, s Store, key, state string, revision uint64) {
	t.Helper()
	got, r, err := s.Load(t.Context(), key)
	if err != nil || string(got) != state || r != revision {
		t.Errorf("Load of %q: %.50q, revision %d, %v; want %.50q, revision %d", key, got, r, err, state, revision)
	}
}

func missing(t *testing.T, s Store, key string) {
	t.Helper()
	if got, r, err := s.Load(t.Context(), key); !errors.Is(err, cache.ErrNotFound) || got != nil || r != 0 {
		t.Errorf("Load of %q: %q, revision %d, %v; want ErrNotFound", key, got, r, err)
	}
}
