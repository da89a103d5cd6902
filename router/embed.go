package router

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	now     func() time.Time
	buffers sync.Pool // of *[]float32

	mu    sync.Mutex
	until time.Time // not asked before; zero if it did not fail
}

func newGuarded(e index.Embedder, timeout time.Duration) *guarded {
	if timeout == 0 {
		timeout = embedTimeout
	}
	g := &guarded{Embedder: e, timeout: timeout, now: time.Now}
	g.local, _ = e.(index.AppendEmbedder)
	g.buffers.New = func() any { return new([]float32) }
	return g
}

// vector returns the utterance's vector of dim values in a buffer to give back
// with put, or nil if there is none to be had now. The error says why, where
// that is news.
func (g *guarded) vector(ctx context.Context, utterance string, dim int) (*[]float32, error) {
	if g.local != nil {
		buffer := g.buffers.Get().(*[]float32)
		*buffer = g.local.AppendEmbed((*buffer)[:0], utterance)
		if err := checkVector(*buffer, dim); err != nil {
			g.buffers.Put(buffer)
			return nil, err
		}
		return buffer, nil
	}
	ok, trial := g.ask()
	if !ok {
		return nil, nil
	}
	limited := ctx
	if g.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, g.timeout)
		defer cancel()
	}
	v, err := g.wait(limited, utterance)
	if err == nil {
		err = checkVector(v, dim)
	}
	if err != nil && ctx.Err() != nil {
		if trial {
			g.answered(g.now()) // the next call tries
		}
		return nil, nil // the caller gave up, the embedder is not to blame
	}
	if err != nil {
		g.answered(g.now().Add(breakerTime))
		return nil, err
	}
	g.answered(time.Time{})
	return &v, nil
}

// ask tells whether the embedder may be asked. After a failure one call is a
// trial; the others do not wait for how that ends.
func (g *guarded) ask() (ok, trial bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until.IsZero() {
		return true, false
	}
	now := g.now()
	if now.Before(g.until) {
		return false, false
	}
	g.until = now.Add(breakerTime)
	return true, true
}

// answered says until when the embedder is to be left alone.
func (g *guarded) answered(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until = until
}

// wait embeds in a goroutine of its own, so that not even an embedder that
// does not heed its context holds up the turn.
func (g *guarded) wait(ctx context.Context, utterance string) ([]float32, error) {
	type answer struct {
		vectors [][]float32
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		vectors, err := g.Embed(ctx, []string{utterance})
		done <- answer{vectors, err}
	}()
	select {
	case a := <-done:
		if a.err == nil && len(a.vectors) != 1 {
			a.err = fmt.Errorf("%d vectors for one text", len(a.vectors))
		}
		if a.err != nil {
			return nil, a.err
		}
		return a.vectors[0], nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no vector in time: %w", ctx.Err())
	}
}

// checkVector keeps a broken vector from being compared with those of the index.
func checkVector(v []float32, dim int) error {
	if len(v) != dim && dim > 0 {
		return fmt.Errorf("a vector of %d values, the index has %d", len(v), dim)
	}
	for _, x := range v {
		if x != x || x > math.MaxFloat32 || x < -math.MaxFloat32 {
			return errors.New("a vector with values that are no numbers")
		}
	}
	return nil
}

func (g *guarded) put(buffer *[]float32) {
	if g.local != nil {
		g.buffers.Put(buffer)
	}
}

// clip shortens a pasted report to its head and tail, where requests stand.
func clip(s string) (clipped string, cut bool) {
	if len(s) <= longest {
		return s, false
	}
	head, tail := longest/2, len(s)-longest/2
	// No rune is longer than four bytes; what is, is none.
	for i := 0; i < utf8.UTFMax && !utf8.RuneStart(s[head]); i++ {
		head--
	}
	for i := 0; i < utf8.UTFMax && !utf8.RuneStart(s[tail]); i++ {
		tail++
	}
	return s[:head] + "\n" + s[tail:], true
}
