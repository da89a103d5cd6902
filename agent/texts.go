package agent

import (
	"sync"

	"skillrouter/definitions"
)

// texts keeps what was read of files, for one turn: its requests are made of
// the same texts.
type texts struct {
	mu     sync.Mutex
	turn   int
	skills map[string]*definitions.Skill
	docs   map[string]string
	tooled map[string]skillTools
}

func (t *texts) begin(turn int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn != turn || t.docs == nil {
		t.turn, t.skills, t.docs, t.tooled = turn, map[string]*definitions.Skill{}, map[string]string{}, map[string]skillTools{}
	}
}

func (t *texts) skill(name string, read func() (*definitions.Skill, error)) (*definitions.Skill, error) {
	return keep(t, &t.skills, name, read)
}

func (t *texts) doc(key string, read func() (string, error)) (string, error) {
	return keep(t, &t.docs, key, read)
}

func (t *texts) tools(key string, read func() skillTools) skillTools {
	tools, _ := keep(t, &t.tooled, key, func() (skillTools, error) { return read(), nil })
	return tools
}

// keep reads outside of the lock: twice at worst.
func keep[V any](t *texts, kept *map[string]V, key string, read func() (V, error)) (V, error) {
	t.mu.Lock()
	v, ok := (*kept)[key]
	t.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if *kept == nil {
		*kept = map[string]V{}
	}
	(*kept)[key] = v
	return v, nil
}
