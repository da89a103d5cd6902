package cache

// TaskOptions are the options of [NewTask].
type TaskOptions struct {
	Capacity int // entries; 0 means 64
}

// Task is a cache whose entries live until the task ends. A pinned entry outlives it, and makes room only when all
// others are pinned, too: that is for what a key of the session still holds.
//
// It is not safe for concurrent use: the lock of the session that it belongs to guards it.
type Task[K comparable, V any] struct {
	b *bounded[K, V]
}

// A TaskEntry is one entry of a [Task], for a snapshot.
type TaskEntry[K comparable, V any] struct {
	Key    K
	Value  V
	Pinned bool
}

// NewTask returns an empty cache. A nil opts means the zero [TaskOptions]. It fails for a negative capacity.
func NewTask[K comparable, V any](opts *TaskOptions) (*Task[K, V], error) {
	var o TaskOptions
	if opts != nil {
		o = *opts
	}
	b, err := newBounded[K, V](o.Capacity)
	if err != nil {
		return nil, err
	}
	return &Task[K, V]{b: b}, nil
}

// Put keeps v under k, as a new entry also if k is there, which keeps its pin. It returns the key that had to go for
// want of room, if any: the least recently used one that is not pinned, or the least recently used of all if each is.
func (c *Task[K, V]) Put(k K, v V) (evicted []K) { return c.b.put(k, v, 0) }

// Get returns the value of k and counts a hit or a miss. A hit makes the entry the most recently used one.
func (c *Task[K, V]) Get(k K) (v V, ok bool) {
	s, ok := c.b.get(k)
	if !ok {
		return v, false
	}
	return s.value, true
}

// Peek returns the value of k without counting or using it.
func (c *Task[K, V]) Peek(k K) (V, bool) { return c.b.peek(k) }

// Pin keeps an entry over the end of the task, and tells whether it is there.
func (c *Task[K, V]) Pin(k K) bool { return c.pin(k, true) }

// Unpin lets an entry go with the task again, and tells whether it is there.
func (c *Task[K, V]) Unpin(k K) bool { return c.pin(k, false) }

func (c *Task[K, V]) pin(k K, pinned bool) bool {
	s, ok := c.b.slots.Peek(k)
	if ok {
		s.pinned = pinned
	}
	return ok
}

// End ends the task: it drops the entries that are not pinned, counts them as expired, and returns their keys in order
// of insertion.
func (c *Task[K, V]) End() (dropped []K) {
	return c.b.expire(func(s *slot[V]) bool { return !s.pinned })
}

// Len returns the number of entries.
func (c *Task[K, V]) Len() int { return c.b.slots.Len() }

// Keys returns all keys, the least recently used first.
func (c *Task[K, V]) Keys() []K { return c.b.slots.Keys() }

// Remove drops an entry, pinned or not, uncounted, and tells whether it was there.
func (c *Task[K, V]) Remove(k K) bool { return c.b.slots.Remove(k) }

// Stats returns the counts so far.
func (c *Task[K, V]) Stats() Stats { return c.b.stats }

// Entries returns all entries, the least recently used first, for a snapshot that [Task.Restore] takes.
func (c *Task[K, V]) Entries() []TaskEntry[K, V] {
	entries := make([]TaskEntry[K, V], 0, c.b.slots.Len())
	for _, k := range c.b.slots.Keys() {
		s, _ := c.b.slots.Peek(k)
		entries = append(entries, TaskEntry[K, V]{Key: k, Value: s.value, Pinned: s.pinned})
	}
	return entries
}

// Restore puts entries in place of what is there. The cache then serves and evicts as the one that the snapshot was
// taken from, and drops the same at [Task.End], in order of use. Of a key that stands twice the later entry counts,
// and above the capacity entries are evicted as by [Task.Put].
func (c *Task[K, V]) Restore(entries []TaskEntry[K, V]) {
	c.b.slots.Purge()
	for _, e := range entries {
		c.b.put(e.Key, e.Value, 0)
		c.pin(e.Key, e.Pinned)
	}
}
