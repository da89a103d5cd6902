package router

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"skillrouter/index"
)

const (
	embedTimeout = time.Second
	breakerTime  = 30 * time.Second // how long a failed embedder is left alone
	longest      = 8 << 10          // bytes of an utterance that are embedded whole
)

// A guarded embedder never holds up a turn: one that waits has a deadline, and
// one that failed is not asked again for a while. The words must do meanwhile.
type guarded struct {
	index.Embedder
	local   index.AppendEmbedder // nil if it waits
	timeout time.Duration
	buffers sync.Pool // of *[]float32

	mu    sync.Mutex
	until time.Time // not asked before
}

func newGuarded(e index.Embedder, timeout time.Duration) *guarded {
	if timeout == 0 {
		timeout = embedTimeout
	}
	g := &guarded{Embedder: e, timeout: timeout}
	g.local, _ = e.(index.AppendEmbedder)
	g.buffers.New = func() any { return new([]float32) }
	return g
}

// vector returns the utterance's vector in a buffer to give back with put, or
// nil if there is none to be had now.
func (g *guarded) vector(ctx context.Context, utterance string) (*[]float32, error) {
	buffer := g.buffers.Get().(*[]float32)
	if g.local != nil {
		*buffer = g.local.AppendEmbed((*buffer)[:0], utterance)
		return buffer, nil
	}
	defer g.buffers.Put(buffer)
	g.mu.Lock()
	wait := time.Now().Before(g.until)
	g.mu.Unlock()
	if wait {
		return nil, nil
	}
	limited := ctx
	if g.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, g.timeout)
		defer cancel()
	}
	vectors, err := g.Embed(limited, []string{utterance})
	if err == nil && len(vectors) == 1 {
		return &vectors[0], nil
	}
	if ctx.Err() != nil {
		return nil, nil // the caller gave up, the embedder is not to blame
	}
	g.mu.Lock()
	g.until = time.Now().Add(breakerTime)
	g.mu.Unlock()
	return nil, err
}

func (g *guarded) put(buffer *[]float32) {
	if buffer != nil && g.local != nil {
		g.buffers.Put(buffer)
	}
}

// clip shortens a pasted report to its head and tail, where requests stand.
func clip(s string) (clipped string, cut bool) {
	if len(s) <= longest {
		return s, false
	}
	head, tail := longest/2, len(s)-longest/2
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n" + s[tail:], true
}
