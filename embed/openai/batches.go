package openai

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// EmbedBatches embeds many texts and calls done with the vectors of each request
// as it is answered: those of the texts at these places, as [Embedder.Embed]
// would give them. done is called once for each text, never twice at once; an
// error of it ends the work.
//
// Several requests are made at a time. An endpoint that takes no more for now is
// waited for, by all together, for Options.Patience; what its rate limit headers
// say is kept to before it has to refuse. After an error no further request is
// made, but those under way come to their end, since they are paid for.
func (e *Embedder) EmbedBatches(ctx context.Context, texts []string, done func(at []int, vectors [][]float32) error) error {
	var blank, pending []int
	for i, s := range texts {
		if strings.TrimSpace(s) == "" {
			blank = append(blank, i)
		} else {
			pending = append(pending, i)
		}
	}
	if len(blank) > 0 {
		zeros := make([][]float32, len(blank))
		for i := range zeros {
			zeros[i] = make([]float32, e.dim)
		}
		if err := done(blank, zeros); err != nil {
			return err
		}
	}
	w := work{embedder: e, texts: texts, pending: pending, done: done}
	var group sync.WaitGroup
	for range min(e.atATime, len(pending)) {
		group.Go(func() {
			for w.one(ctx) {
			}
		})
	}
	group.Wait()
	return w.failed()
}

// work is what is left of the texts of one call.
type work struct {
	embedder *Embedder
	texts    []string

	mu      sync.Mutex
	pending []int // places of texts
	err     error // the first

	doneMu sync.Mutex // held while done is called, which may wait
	done   func(at []int, vectors [][]float32) error
}

// next takes the next batch; nil if there is none, or no point in it.
func (w *work) next() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || len(w.pending) == 0 {
		return nil
	}
	n := w.embedder.fit(w.texts, w.pending)
	batch := w.pending[:n]
	w.pending = w.pending[n:]
	return batch
}

func (w *work) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || isContext(w.err) && !isContext(err) {
		w.err = err
	}
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func (w *work) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// one does one batch and reports whether to go on.
func (w *work) one(ctx context.Context) bool {
	batch := w.next()
	if batch == nil {
		return false
	}
	e := w.embedder
	texts, places := make([]string, len(batch)), make([]int, len(batch))
	for i, at := range batch {
		texts[i], places[i] = w.texts[at], i
	}
	vectors := make([][]float32, len(batch))
	if err := e.fill(ctx, vectors, texts, places, e.endpoint.bulk(e.patience, e.atATime)); err != nil {
		w.fail(err)
		return false
	}
	w.doneMu.Lock()
	defer w.doneMu.Unlock()
	if err := w.done(batch, vectors); err != nil {
		w.fail(err)
		return false
	}
	return true
}
