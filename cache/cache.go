// Package cache holds what lives beneath a session, bounded, on golang-lru.
//
//   - [Turns]: entries that live a number of turns, such as loaded summaries.
//   - [Task]: entries that live until the task ends, such as definitions.
//   - [Sessions]: states of sessions as bytes with revisions, dropped when idle.
//
// Nothing here starts a goroutine: turns and tasks are told when they pass, and [Sessions] clears up a little with each
// Save. Capacity and expiry are never mixed up: what leaves for want of room is evicted, what leaves because its time
// is over is expired, and [Stats] counts them apart.
package cache

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// defaultCapacity is room for every domain and every loaded skill of a session on a large catalog.
const defaultCapacity = 64

// Stats counts what happened in a cache since it was made.
type Stats struct {
	Hits    int // Get (of sessions: Load) found the entry
	Misses  int // and did not
	Expired int // entries dropped because their time was over
	Evicted int // entries dropped to make room
}

// A bounded is what [Turns] and [Task] share: entries in order of use that remember when they were inserted.
type bounded[K comparable, V any] struct {
	slots    *simplelru.LRU[K, *slot[V]]
	capacity int
	inserted uint64 // counts insertions; the last slot's order
	stats    Stats
}

type slot[V any] struct {
	value  V
	order  uint64
	loaded int  // turn; always 0 in a Task
	pinned bool // always false in a Turns
}

func newBounded[K comparable, V any](capacity int) (*bounded[K, V], error) {
	if capacity < 0 {
		return nil, fmt.Errorf("cache: Capacity %d is negative; a cache has a bound, and 0 means the default", capacity)
	}
	if capacity == 0 {
		capacity = defaultCapacity
	}
	slots, err := simplelru.NewLRU[K, *slot[V]](capacity, nil)
	if err != nil {
		return nil, fmt.Errorf("cache: Capacity %d: %w", capacity, err)
	}
	return &bounded[K, V]{slots: slots, capacity: capacity}, nil
}

// put inserts an entry, or inserts it anew if it is there, keeping its pin. It returns the key that had to go, if any.
func (b *bounded[K, V]) put(k K, v V, turn int) (evicted []K) {
	s, ok := b.slots.Peek(k)
	if !ok {
		s = &slot[V]{}
		if b.slots.Len() == b.capacity {
			evicted = []K{b.evict()}
		}
	}
	s.value = v
	b.renew(s, turn)
	b.slots.Add(k, s)
	return evicted
}

// renew makes s the last one inserted.
func (b *bounded[K, V]) renew(s *slot[V], turn int) {
	b.inserted++
	s.order, s.loaded = b.inserted, turn
}

// evict drops the least recently used entry, a pinned one only if all are.
func (b *bounded[K, V]) evict() K {
	victim, s, _ := b.slots.GetOldest()
	if s.pinned {
		for _, k := range b.slots.Keys() {
			if s, _ := b.slots.Peek(k); !s.pinned {
				victim = k
				break
			}
		}
	}
	b.slots.Remove(victim)
	b.stats.Evicted++
	return victim
}

// get counts a hit, which makes the entry the most recently used, or a miss.
func (b *bounded[K, V]) get(k K) (*slot[V], bool) {
	s, ok := b.slots.Get(k)
	if ok {
		b.stats.Hits++
	} else {
		b.stats.Misses++
	}
	return s, ok
}

func (b *bounded[K, V]) peek(k K) (v V, ok bool) {
	if s, ok := b.slots.Peek(k); ok {
		return s.value, true
	}
	return v, false
}

// expire drops the entries whose time is over and returns their keys in order of insertion.
func (b *bounded[K, V]) expire(over func(*slot[V]) bool) []K {
	type dropped struct {
		key K
		*slot[V]
	}
	var gone []dropped
	for _, k := range b.slots.Keys() {
		if s, _ := b.slots.Peek(k); over(s) {
			gone = append(gone, dropped{k, s})
		}
	}
	// The turn counts first because restored entries are numbered in order of use.
	slices.SortFunc(gone, func(a, b dropped) int {
		return cmp.Or(cmp.Compare(a.loaded, b.loaded), cmp.Compare(a.order, b.order))
	})
	var keys []K
	for _, d := range gone {
		b.slots.Remove(d.key)
		keys = append(keys, d.key)
	}
	b.stats.Expired += len(keys)
	return keys
}
