package eval

import (
	"context"
	"fmt"
	"sync"

	"skillrouter/index"
)

// A Memo is an embedder that asks another one for each text once, in batches
// where it is told beforehand: an endpoint answers 100 texts hardly later than
// one, and an evaluation asks for the same text again and again. It keeps all
// vectors, which must not be changed. It is safe for concurrent use.
type Memo struct {
	e index.Embedder

	mu      sync.RWMutex
	vectors map[string][]float32
}

// NewMemo returns a memo before e.
func NewMemo(e index.Embedder) *Memo { return &Memo{e: e, vectors: map[string][]float32{}} }

// ID is that of the other embedder.
func (m *Memo) ID() string { return m.e.ID() }

// batch is how many texts are asked for at once.
const batch = 128

// Prepare asks for the texts that it does not know. It fails when the other
// embedder does, and when ctx ends.
func (m *Memo) Prepare(ctx context.Context, texts []string) error {
	var missing []string
	asked := map[string]bool{}
	for _, t := range texts {
		if m.known(t) == nil && !asked[t] {
			asked[t] = true
			missing = append(missing, t)
		}
	}
	for len(missing) > 0 {
		some := missing[:min(batch, len(missing))]
		missing = missing[len(some):]
		vectors, err := m.e.Embed(ctx, some)
		if err != nil {
			return err
		}
		if len(vectors) != len(some) {
			return fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), len(some))
		}
		m.mu.Lock()
		for i, t := range some {
			m.vectors[t] = vectors[i]
		}
		m.mu.Unlock()
	}
	return nil
}

func (m *Memo) known(text string) []float32 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.vectors[text]
}

// Embed implements [index.Embedder].
func (m *Memo) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := m.Prepare(ctx, texts); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = m.known(t)
	}
	return vectors, nil
}
