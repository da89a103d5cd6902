package cache_test

import (
	"cmp"
	"slices"

	"skillrouter/cache"
)

// A model is what Turns and Task should do, written as plainly as possible: one list in order of use.
type model struct {
	entries  []modelEntry // least recently used first
	capacity int
	order    int
	stats    cache.Stats
}

type modelEntry struct {
	key, value    int
	loaded, order int
	pinned        bool
}

func (m *model) find(key int) int {
	return slices.IndexFunc(m.entries, func(e modelEntry) bool { return e.key == key })
}

func (m *model) put(key, value, turn int) (evicted []int) {
	e := modelEntry{key: key}
	if i := m.find(key); i >= 0 {
		e = m.entries[i]
		m.entries = slices.Delete(m.entries, i, i+1)
	} else if len(m.entries) == m.capacity {
		victim := max(0, slices.IndexFunc(m.entries, func(e modelEntry) bool { return !e.pinned }))
		evicted = []int{m.entries[victim].key}
		m.entries = slices.Delete(m.entries, victim, victim+1)
		m.stats.Evicted++
	}
	m.order++
	e.value, e.loaded, e.order = value, turn, m.order
	m.entries = append(m.entries, e)
	return evicted
}

// get returns the entry that it has moved to the end of the list, nil if there is none.
func (m *model) get(key int) *modelEntry {
	i := m.find(key)
	if i < 0 {
		m.stats.Misses++
		return nil
	}
	m.stats.Hits++
	e := m.entries[i]
	m.entries = append(slices.Delete(m.entries, i, i+1), e)
	return &m.entries[len(m.entries)-1]
}

func (m *model) remove(key int) bool {
	i := m.find(key)
	if i < 0 {
		return false
	}
	m.entries = slices.Delete(m.entries, i, i+1)
	return true
}

func (m *model) expire(over func(modelEntry) bool) (expired []int) {
	var gone, kept []modelEntry
	for _, e := range m.entries {
		if over(e) {
			gone = append(gone, e)
		} else {
			kept = append(kept, e)
		}
	}
	slices.SortFunc(gone, func(a, b modelEntry) int { return cmp.Compare(a.order, b.order) })
	for _, e := range gone {
		expired = append(expired, e.key)
	}
	m.entries = kept
	m.stats.Expired += len(gone)
	return expired
}

// restored numbers the entries as after a restart: by turn, within a turn in order of use.
func (m *model) restored() {
	byTurn := slices.Clone(m.entries)
	slices.SortStableFunc(byTurn, func(a, b modelEntry) int { return cmp.Compare(a.loaded, b.loaded) })
	for i, e := range byTurn {
		m.entries[m.find(e.key)].order = i
	}
	m.order = len(byTurn)
	m.stats = cache.Stats{}
}

func (m *model) keys() []int {
	keys := make([]int, len(m.entries))
	for i, e := range m.entries {
		keys[i] = e.key
	}
	return keys
}
