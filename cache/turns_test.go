package cache_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/cache"
)

func TestTurnsLife(t *testing.T) {
	for _, c := range []struct {
		name      string
		opts      *cache.TurnsOptions
		hitEvery  bool
		wantUntil int // last turn in which what was put in turn 3 is served
	}{
		{"default", nil, false, 7},
		{"zero", &cache.TurnsOptions{}, false, 7},
		{"a hit does not renew", nil, true, 7},
		{"one turn", &cache.TurnsOptions{Life: 1}, false, 3},
		{"two turns", &cache.TurnsOptions{Life: 2}, false, 4},
		{"sliding without hits", &cache.TurnsOptions{Life: 2, Sliding: true}, false, 4},
		{"sliding with hits", &cache.TurnsOptions{Life: 2, Sliding: true}, true, 20},
		{"longest", &cache.TurnsOptions{Life: math.MaxInt}, false, 20},
		{"off", &cache.TurnsOptions{Life: -1}, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			tc := newTurns(t, c.opts)
			tc.Advance(3)
			if evicted := tc.Put("a", 1); evicted != nil {
				t.Errorf("Put evicted %q", evicted)
			}
			for turn := 3; turn <= 20; turn++ {
				expired := tc.Advance(turn)
				if want := turn == c.wantUntil+1 && turn > 3; (len(expired) == 1) != want {
					t.Errorf("turn %d: expired %q, want one: %v", turn, expired, want)
				}
				if v, ok := tc.Peek("a"); ok != (turn <= c.wantUntil) || ok && v != 1 {
					t.Errorf("turn %d: Peek = %d, %v; want 1 until turn %d", turn, v, ok, c.wantUntil)
				}
				if c.hitEvery {
					tc.Get("a")
				}
			}
		})
	}
}

func TestTurnsAdvance(t *testing.T) {
	tc := newTurns(t, nil)
	tc.Put("b", 0)
	tc.Put("a", 0)
	tc.Advance(1)
	tc.Put("c", 0)
	tc.Get("b") // used last, yet inserted first
	if expired := tc.Advance(1); expired != nil {
		t.Errorf("the same turn again: expired %q", expired)
	}
	if expired := tc.Advance(-7); expired != nil {
		t.Errorf("a turn before: expired %q", expired)
	}
	tc.Put("d", 0) // in turn 1 still
	if d := cmp.Diff([]string{"b", "a"}, tc.Advance(5)); d != "" {
		t.Errorf("turn 5 (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"c", "d"}, tc.Advance(100)); d != "" {
		t.Errorf("turn 100 (-want +got):\n%s", d)
	}
	if want := (cache.Stats{Hits: 1, Expired: 4}); tc.Stats() != want {
		t.Errorf("stats %+v, want %+v", tc.Stats(), want)
	}
}

func TestTurnsPutAgainBeginsANewLife(t *testing.T) {
	tc := newTurns(t, nil)
	tc.Put("a", 1)
	tc.Put("b", 1)
	tc.Advance(1)
	if evicted := tc.Put("a", 2); evicted != nil {
		t.Errorf("evicted %q", evicted)
	}
	if d := cmp.Diff([]string{"b"}, tc.Advance(5)); d != "" {
		t.Errorf("turn 5 (-want +got):\n%s", d)
	}
	if v, ok := tc.Get("a"); v != 2 || !ok {
		t.Errorf("Get = %d, %v; want 2", v, ok)
	}
}

func TestTurnsCapacity(t *testing.T) {
	tc := newTurns(t, &cache.TurnsOptions{Capacity: 2})
	tc.Put("a", 1)
	tc.Put("b", 2)
	tc.Get("a")
	tc.Peek("b") // is no use
	if d := cmp.Diff([]string{"b"}, tc.Put("c", 3)); d != "" {
		t.Errorf("evicted (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a", "c"}, tc.Keys()); d != "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a", "c"}, tc.Advance(5)); d != "" {
		t.Errorf("expired (-want +got):\n%s", d)
	}
	if want := (cache.Stats{Hits: 1, Expired: 2, Evicted: 1}); tc.Stats() != want {
		t.Errorf("stats %+v, want %+v", tc.Stats(), want)
	}

	tc = newTurns(t, nil)
	for i := range 65 {
		if evicted := tc.Put(fmt.Sprint(i), i); (len(evicted) == 1) != (i == 64) {
			t.Errorf("entry %d evicted %q", i, evicted)
		}
	}
}

func TestTurnsRemoveAndClear(t *testing.T) {
	tc := newTurns(t, nil)
	for _, k := range []string{"a", "b", "c"} {
		tc.Put(k, 1)
	}
	if !tc.Remove("b") || tc.Remove("b") {
		t.Error("Remove of b: want true, then false")
	}
	tc.Get("a")
	if d := cmp.Diff([]string{"c", "a"}, tc.Clear()); d != "" {
		t.Errorf("cleared (-want +got):\n%s", d)
	}
	if tc.Len() != 0 || len(tc.Clear()) != 0 || len(tc.Advance(9)) != 0 {
		t.Error("something is left after Clear")
	}
	if want := (cache.Stats{Hits: 1}); tc.Stats() != want {
		t.Errorf("stats %+v, want %+v", tc.Stats(), want)
	}
}

func TestTurnsRestoreBelievesNothing(t *testing.T) {
	tc := newTurns(t, &cache.TurnsOptions{Capacity: 2})
	tc.Restore(9, []cache.Entry[string, int]{
		{Key: "over", Value: 1, Loaded: 4},
		{Key: "ahead", Value: 1, Loaded: 10},
		{Key: "before all", Value: 1, Loaded: -1},
		{Key: "overflow", Value: 1, Loaded: math.MinInt},
		{Key: "too many", Value: 1, Loaded: 8},
		{Key: "a", Value: 1, Loaded: 5},
		{Key: "b", Value: 1, Loaded: 9},
		{Key: "a", Value: 2, Loaded: 6},
	})
	want := []cache.Entry[string, int]{{Key: "b", Value: 1, Loaded: 9}, {Key: "a", Value: 2, Loaded: 6}}
	if d := cmp.Diff(want, tc.Entries()); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a", "b"}, tc.Advance(14)); d != "" {
		t.Errorf("expired (-want +got):\n%s", d)
	}

	tc.Put("replaced", 0)
	tc.Restore(-1, []cache.Entry[string, int]{{Key: "a", Loaded: -1}, {Key: "b", Loaded: 0}})
	if d := cmp.Diff([]string{"b"}, tc.Keys()); d != "" {
		t.Errorf("restored to turn -1 (-want +got):\n%s", d)
	}
	off := newTurns(t, &cache.TurnsOptions{Life: -1})
	off.Restore(1, want)
	if off.Len() != 0 {
		t.Errorf("a cache that keeps nothing has restored %q", off.Keys())
	}
}

func TestNegativeCapacity(t *testing.T) {
	_, turnsErr := cache.NewTurns[string, int](&cache.TurnsOptions{Capacity: -1})
	_, taskErr := cache.NewTask[string, int](&cache.TaskOptions{Capacity: -1})
	for _, err := range []error{turnsErr, taskErr} {
		if want := "cache: Capacity -1 is negative; a cache has a bound, and 0 means the default"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Random operations do the same to Turns and to the model, also after Turns was taken down and restored.
func TestTurnsLikeModel(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 0))
		opts := &cache.TurnsOptions{Life: 1 + rng.IntN(6), Capacity: 1 + rng.IntN(8), Sliding: rng.IntN(2) == 0}
		tc, err := cache.NewTurns[int, int](opts)
		if err != nil {
			t.Fatal(err)
		}
		m := &model{capacity: opts.Capacity}
		turn := 0
		for step := range 300 {
			key := rng.IntN(12)
			var what string
			var want, got any
			switch op := rng.IntN(100); {
			case op < 40:
				what, want, got = "Put", m.put(key, step, turn), tc.Put(key, step)
			case op < 70:
				v, ok := tc.Get(key)
				e := m.get(key)
				if e != nil && opts.Sliding {
					m.order++
					e.loaded, e.order = turn, m.order
				}
				what, want, got = "Get", found(e), [2]any{v, ok}
			case op < 75:
				v, ok := tc.Peek(key)
				var e *modelEntry
				if i := m.find(key); i >= 0 {
					e = &m.entries[i]
				}
				what, want, got = "Peek", found(e), [2]any{v, ok}
			case op < 80:
				what, want, got = "Remove", m.remove(key), tc.Remove(key)
			case op < 96:
				turn += rng.IntN(3)
				what, got = "Advance", tc.Advance(turn)
				want = m.expire(func(e modelEntry) bool { return turn-e.loaded >= opts.Life })
			case op < 97:
				what, want, got = "Clear", m.keys(), tc.Clear()
				m.entries = nil
			default:
				entries := tc.Entries()
				if tc, err = cache.NewTurns[int, int](opts); err != nil {
					t.Fatal(err)
				}
				tc.Restore(turn, entries)
				m.restored()
				what, want, got = "Restore", len(m.entries), len(entries)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("seed %d, step %d, %s of %d in turn %d (-want +got):\n%s", seed, step, what, key, turn, d)
			}
			if !slices.Equal(tc.Keys(), m.keys()) || tc.Len() != len(m.entries) || tc.Stats() != m.stats {
				t.Fatalf("seed %d, step %d, after %s of %d in turn %d: keys %v, %+v; want %v, %+v",
					seed, step, what, key, turn, tc.Keys(), tc.Stats(), m.keys(), m.stats)
			}
		}
	}
}

// found is what Get and Peek return for e.
func found(e *modelEntry) any {
	if e == nil {
		return [2]any{0, false}
	}
	return [2]any{e.value, true}
}

func newTurns(t *testing.T, opts *cache.TurnsOptions) *cache.Turns[string, int] {
	t.Helper()
	tc, err := cache.NewTurns[string, int](opts)
	if err != nil {
		t.Fatal(err)
	}
	return tc
}
