package cache_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"skillrouter/cache"
	"skillrouter/cache/cachetest"
)

func TestSessionsContract(t *testing.T) {
	cachetest.RunSessions(t, func(t *testing.T, o cachetest.Options) cachetest.Store {
		return newSessions(t, &cache.SessionsOptions{Idle: o.Idle, Now: o.Now})
	})
}

func TestSessionsCapacity(t *testing.T) {
	s := newSessions(t, &cache.SessionsOptions{Capacity: 3})
	a := mustSave(t, s, "a", 0)
	mustSave(t, s, "b", 0)
	mustSave(t, s, "c", 0)
	if _, _, err := s.Load(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	mustSave(t, s, "a", a)
	mustSave(t, s, "d", 0) // c is the least recently used
	if _, err := s.Save(t.Context(), "e", nil, 9); !errors.Is(err, cache.ErrConflict) {
		t.Errorf("Save with a wrong revision: %v, want ErrConflict", err)
	}
	for key, want := range map[string]bool{"a": true, "b": true, "c": false, "d": true} {
		if _, _, err := s.Load(t.Context(), key); (err == nil) != want {
			t.Errorf("Load of %s: %v, want it there: %v", key, err, want)
		}
	}
	if want := (cache.Stats{Hits: 4, Misses: 1, Evicted: 1}); s.Stats() != want || s.Len() != 3 {
		t.Errorf("stats %+v, %d sessions; want %+v, 3", s.Stats(), s.Len(), want)
	}
}

// 100,000 sessions are opened once and never come back (openclaw/openclaw#6761).
func TestSessionsOpenedOnce(t *testing.T) {
	const opened = 100_000
	fill := func(t *testing.T, opts *cache.SessionsOptions) *cache.Sessions {
		s := newSessions(t, opts)
		for i := range opened {
			mustSave(t, s, fmt.Sprint(i), 0)
		}
		return s
	}

	t.Run("bounded at once", func(t *testing.T) {
		s := fill(t, nil)
		if s.Len() != 10_000 || s.Stats().Evicted != opened-10_000 {
			t.Errorf("%d sessions, %d evicted; want 10,000, %d", s.Len(), s.Stats().Evicted, opened-10_000)
		}
	})
	t.Run("others go on", func(t *testing.T) {
		var clock cachetest.Clock
		s := fill(t, &cache.SessionsOptions{Capacity: opened, Now: clock.Now})
		clock.Advance(time.Hour - time.Second)
		mustSave(t, s, "0", 1)
		if s.Len() != opened {
			t.Errorf("before the idle limit: %d sessions, want %d", s.Len(), opened)
		}
		clock.Advance(time.Second)
		var revision uint64
		for range opened / 2 {
			revision = mustSave(t, s, "live", revision)
		}
		if s.Len() != 2 || s.Stats().Expired != opened-1 {
			t.Errorf("after %d saves: %d sessions, %d expired; want 2, %d", opened/2, s.Len(), s.Stats().Expired, opened-1)
		}
	})
	t.Run("new ones come", func(t *testing.T) {
		var clock cachetest.Clock
		s := fill(t, &cache.SessionsOptions{Capacity: opened, Now: clock.Now})
		clock.Advance(time.Hour)
		for i := range opened / 2 {
			mustSave(t, s, fmt.Sprint("new ", i), 0)
		}
		if s.Len() != opened/2 || s.Stats().Evicted != 0 {
			t.Errorf("%d sessions, %d evicted; want %d, none", s.Len(), s.Stats().Evicted, opened/2)
		}
	})
	t.Run("silence and a sweep", func(t *testing.T) {
		var clock cachetest.Clock
		s := fill(t, &cache.SessionsOptions{Capacity: opened, Now: clock.Now})
		if n := s.Sweep(opened); n != 0 {
			t.Errorf("%d swept that were not idle", n)
		}
		clock.Advance(time.Hour)
		for left := opened; left > 0; left -= 1_000 {
			if n := s.Sweep(1_000); n != 1_000 || s.Len() != left-1_000 {
				t.Fatalf("a sweep of 1,000 dropped %d, and left %d; want %d left", n, s.Len(), left-1_000)
			}
		}
		if n := s.Sweep(1_000); n != 0 {
			t.Errorf("%d swept from an empty store", n)
		}
	})
}

func TestSessionsSweepNone(t *testing.T) {
	var clock cachetest.Clock
	for idle, limits := range map[time.Duration][]int{
		0:  {0, -1}, // of the idle ones, none
		-1: {1, 5},  // never idle
	} {
		s := newSessions(t, &cache.SessionsOptions{Idle: idle, Now: clock.Now})
		mustSave(t, s, "a", 0)
		clock.Advance(1e6 * time.Hour)
		for _, limit := range limits {
			if n := s.Sweep(limit); n != 0 || s.Len() != 1 {
				t.Errorf("idle limit %d: Sweep(%d) = %d, %d left; want 0, 1", idle, limit, n, s.Len())
			}
		}
	}
}

func TestSessionsIdleLoadDrops(t *testing.T) {
	var clock cachetest.Clock
	s := newSessions(t, &cache.SessionsOptions{Now: clock.Now})
	mustSave(t, s, "a", 0)
	clock.Advance(time.Hour)
	if _, _, err := s.Load(t.Context(), "a"); !errors.Is(err, cache.ErrNotFound) || err.Error() != `cache: session "a": session not found` {
		t.Errorf("Load: %v, want ErrNotFound", err)
	}
	if want := (cache.Stats{Misses: 1, Expired: 1}); s.Stats() != want || s.Len() != 0 {
		t.Errorf("stats %+v, %d sessions; want %+v, none", s.Stats(), s.Len(), want)
	}
}

// A clock that is set back makes no session idle.
func TestSessionsClockSetBack(t *testing.T) {
	var clock cachetest.Clock
	s := newSessions(t, &cache.SessionsOptions{Now: clock.Now})
	mustSave(t, s, "a", 0)
	clock.Advance(-24 * time.Hour)
	mustSave(t, s, "b", 0)
	if _, _, err := s.Load(t.Context(), "a"); err != nil || s.Sweep(5) != 0 {
		t.Errorf("Load: %v", err)
	}
}

func TestNewSessionsRefusesCapacity(t *testing.T) {
	want := "cache: Capacity -1 is negative; sessions have a bound, and 0 means the default"
	if _, err := cache.NewSessions(&cache.SessionsOptions{Capacity: -1}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func newSessions(t testing.TB, opts *cache.SessionsOptions) *cache.Sessions {
	t.Helper()
	s, err := cache.NewSessions(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustSave(t testing.TB, s *cache.Sessions, key string, revision uint64) uint64 {
	t.Helper()
	r, err := s.Save(t.Context(), key, []byte("state"), revision)
	if err != nil {
		t.Fatalf("Save of %s: %v", key, err)
	}
	return r
}
