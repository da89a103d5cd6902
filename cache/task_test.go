package cache_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/cache"
)

func TestTaskEnd(t *testing.T) {
	tc := newTask(t, nil)
	for i, k := range []string{"d", "c", "b", "a"} {
		tc.Put(k, i)
	}
	tc.Get("d") // used last, yet inserted first
	if !tc.Pin("c") || !tc.Pin("a") || tc.Pin("x") {
		t.Error("Pin: want true, true, and false for what is not there")
	}
	if !tc.Unpin("a") || tc.Unpin("x") {
		t.Error("Unpin: want true, and false for what is not there")
	}
	tc.Put("c", 7) // stays pinned
	if d := cmp.Diff([]string{"d", "b", "a"}, tc.End()); d != "" {
		t.Errorf("dropped (-want +got):\n%s", d)
	}
	if v, ok := tc.Get("c"); v != 7 || !ok {
		t.Errorf("the pinned entry: %d, %v; want 7", v, ok)
	}
	if dropped := tc.End(); dropped != nil {
		t.Errorf("the next task ends: dropped %q", dropped)
	}
	tc.Unpin("c")
	if d := cmp.Diff([]string{"c"}, tc.End()); d != "" {
		t.Errorf("dropped when unpinned (-want +got):\n%s", d)
	}
	tc.Put("c", 8) // its pin went with it
	if d := cmp.Diff([]string{"c"}, tc.End()); d != "" {
		t.Errorf("dropped when put anew (-want +got):\n%s", d)
	}
	if want := (cache.Stats{Hits: 2, Expired: 5}); tc.Stats() != want {
		t.Errorf("stats %+v, want %+v", tc.Stats(), want)
	}
}

func TestTaskCapacitySparesPinned(t *testing.T) {
	tc := newTask(t, &cache.TaskOptions{Capacity: 2})
	tc.Put("a", 1)
	tc.Put("b", 2)
	tc.Pin("a")
	if d := cmp.Diff([]string{"b"}, tc.Put("c", 3)); d != "" {
		t.Errorf("evicted beside a pinned entry (-want +got):\n%s", d)
	}
	tc.Pin("c")
	if d := cmp.Diff([]string{"a"}, tc.Put("d", 4)); d != "" {
		t.Errorf("evicted among pinned entries (-want +got):\n%s", d)
	}
	if want := (cache.Stats{Evicted: 2}); tc.Stats() != want || tc.Len() != 2 {
		t.Errorf("stats %+v, %d entries; want %+v, 2", tc.Stats(), tc.Len(), want)
	}

	tc = newTask(t, nil)
	for i := range 65 {
		if evicted := tc.Put(fmt.Sprint(i), i); (len(evicted) == 1) != (i == 64) {
			t.Errorf("entry %d evicted %q", i, evicted)
		}
	}
}

func TestTaskRestoreAboveCapacity(t *testing.T) {
	tc := newTask(t, &cache.TaskOptions{Capacity: 2})
	tc.Restore([]cache.TaskEntry[string, int]{
		{Key: "a", Value: 1, Pinned: true},
		{Key: "b", Value: 1},
		{Key: "c", Value: 1, Pinned: true},
		{Key: "a", Value: 2},
	})
	want := []cache.TaskEntry[string, int]{{Key: "c", Value: 1, Pinned: true}, {Key: "a", Value: 2}}
	if d := cmp.Diff(want, tc.Entries()); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
	tc.Restore([]cache.TaskEntry[string, int]{{Key: "d"}})
	if d := cmp.Diff([]string{"d"}, tc.Keys()); d != "" {
		t.Errorf("keys after another snapshot (-want +got):\n%s", d)
	}
}

// Random operations do the same to Task and to the model, also after Task was taken down and restored.
func TestTaskLikeModel(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		opts := &cache.TaskOptions{Capacity: 1 + rng.IntN(8)}
		tc, err := cache.NewTask[int, int](opts)
		if err != nil {
			t.Fatal(err)
		}
		m := &model{capacity: opts.Capacity}
		pin := func(key int, pinned bool) bool {
			i := m.find(key)
			if i >= 0 {
				m.entries[i].pinned = pinned
			}
			return i >= 0
		}
		for step := range 300 {
			key := rng.IntN(12)
			var what string
			var want, got any
			switch op := rng.IntN(100); {
			case op < 40:
				what, want, got = "Put", m.put(key, step, 0), tc.Put(key, step)
			case op < 60:
				v, ok := tc.Get(key)
				what, want, got = "Get", found(m.get(key)), [2]any{v, ok}
			case op < 65:
				v, ok := tc.Peek(key)
				var e *modelEntry
				if i := m.find(key); i >= 0 {
					e = &m.entries[i]
				}
				what, want, got = "Peek", found(e), [2]any{v, ok}
			case op < 80:
				what, want, got = "Pin", pin(key, true), tc.Pin(key)
			case op < 85:
				what, want, got = "Unpin", pin(key, false), tc.Unpin(key)
			case op < 90:
				what, want, got = "Remove", m.remove(key), tc.Remove(key)
			case op < 95:
				what, got = "End", tc.End()
				want = m.expire(func(e modelEntry) bool { return !e.pinned })
			default:
				entries := tc.Entries()
				if tc, err = cache.NewTask[int, int](opts); err != nil {
					t.Fatal(err)
				}
				tc.Restore(entries)
				m.restored()
				what, want, got = "Restore", len(m.entries), len(entries)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("seed %d, step %d, %s of %d (-want +got):\n%s", seed, step, what, key, d)
			}
			if !slices.Equal(tc.Keys(), m.keys()) || tc.Len() != len(m.entries) || tc.Stats() != m.stats {
				t.Fatalf("seed %d, step %d, after %s of %d: keys %v, %+v; want %v, %+v",
					seed, step, what, key, tc.Keys(), tc.Stats(), m.keys(), m.stats)
			}
		}
	}
}

func newTask(t *testing.T, opts *cache.TaskOptions) *cache.Task[string, int] {
	t.Helper()
	tc, err := cache.NewTask[string, int](opts)
	if err != nil {
		t.Fatal(err)
	}
	return tc
}
