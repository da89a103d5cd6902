package cache

// TurnsOptions are the options of [NewTurns].
type TurnsOptions struct {
	Life     int  // turns an entry is served in, the one it was put in included; 0 means 5, negative: nothing is kept
	Capacity int  // entries; 0 means 64
	Sliding  bool // a hit renews the entry, as if it were put again
}

// Turns is a cache whose entries live a number of turns: put in turn t with a life of 5, an entry is served in
// t … t+4 and gone at t+5. A hit does not renew it, unless [TurnsOptions] say so.
//
// It is not safe for concurrent use: the lock of the session that it belongs to guards it.
type Turns[K comparable, V any] struct {
	b       *bounded[K, V]
	life    int
	sliding bool
	turn    int
}

// An Entry is one entry of a [Turns], for a snapshot.
type Entry[K comparable, V any] struct {
	Key    K
	Value  V
	Loaded int // turn from which its life counts
}

// NewTurns returns an empty cache in turn 0. A nil opts means the zero [TurnsOptions]. It fails for a negative capacity.
func NewTurns[K comparable, V any](opts *TurnsOptions) (*Turns[K, V], error) {
	var o TurnsOptions
	if opts != nil {
		o = *opts
	}
	if o.Life == 0 {
		o.Life = 5
	}
	b, err := newBounded[K, V](o.Capacity)
	if err != nil {
		return nil, err
	}
	return &Turns[K, V]{b: b, life: o.Life, sliding: o.Sliding}, nil
}

// Advance begins a turn. It drops the entries whose life is over and returns their keys in order of insertion. Turns
// may be left out; one that is not after the current turn changes nothing.
func (c *Turns[K, V]) Advance(turn int) (expired []K) {
	if turn <= c.turn {
		return nil
	}
	c.turn = turn
	return c.b.expire(func(s *slot[V]) bool { return !c.alive(s.loaded) })
}

// alive tells whether what was loaded in a turn is served in the current one.
func (c *Turns[K, V]) alive(loaded int) bool { return c.turn-loaded < c.life }

// Put keeps v under k from the current turn on, as a new entry also if k is there. It returns the key that had to go
// for want of room, the least recently used one, if any.
func (c *Turns[K, V]) Put(k K, v V) (evicted []K) {
	if c.life < 0 {
		return nil
	}
	return c.b.put(k, v, c.turn)
}

// Get returns the value of k and counts a hit or a miss. A hit makes the entry the most recently used one.
func (c *Turns[K, V]) Get(k K) (v V, ok bool) {
	s, ok := c.b.get(k)
	if !ok {
		return v, false
	}
	if c.sliding {
		c.b.renew(s, c.turn)
	}
	return s.value, true
}

// Peek returns the value of k without counting or using it.
func (c *Turns[K, V]) Peek(k K) (V, bool) { return c.b.peek(k) }

// Len returns the number of entries.
func (c *Turns[K, V]) Len() int { return c.b.slots.Len() }

// Keys returns all keys, the least recently used first.
func (c *Turns[K, V]) Keys() []K { return c.b.slots.Keys() }

// Remove drops an entry, uncounted, and tells whether it was there.
func (c *Turns[K, V]) Remove(k K) bool { return c.b.slots.Remove(k) }

// Clear drops all entries, uncounted, and returns their keys, the least recently used first.
func (c *Turns[K, V]) Clear() []K {
	keys := c.b.slots.Keys()
	c.b.slots.Purge()
	return keys
}

// Stats returns the counts so far.
func (c *Turns[K, V]) Stats() Stats { return c.b.stats }

// Entries returns all entries, the least recently used first, for a snapshot that [Turns.Restore] takes.
func (c *Turns[K, V]) Entries() []Entry[K, V] {
	entries := make([]Entry[K, V], 0, c.b.slots.Len())
	for _, k := range c.b.slots.Keys() {
		s, _ := c.b.slots.Peek(k)
		entries = append(entries, Entry[K, V]{Key: k, Value: s.value, Loaded: s.loaded})
	}
	return entries
}

// Restore puts entries in place of what is there, and makes turn the current one. With the turn of the snapshot the
// cache then serves, evicts and expires as the one that it was taken from; only keys that were loaded in the same turn
// expire in order of use.
//
// A snapshot need not be believed: entries that are over by this turn or that begin after it are left out, of a key
// that stands twice the later entry counts, and above the capacity the first ones are evicted.
func (c *Turns[K, V]) Restore(turn int, entries []Entry[K, V]) {
	c.b.slots.Purge()
	c.turn = max(turn, 0)
	for _, e := range entries {
		if e.Loaded >= 0 && e.Loaded <= c.turn && c.alive(e.Loaded) {
			c.b.put(e.Key, e.Value, e.Loaded)
		}
	}
}
