package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"skillrouter/internal/text"
)

// embedBatch is how many texts one call of the embedder gets.
const embedBatch = 256

// A BatchEmbedder is an Embedder that takes its time, such as an endpoint, and
// hands over what it has before the whole is done.
type BatchEmbedder interface {
	Embedder
	// EmbedBatches calls done with the vectors of some of the texts, which stand
	// at these places, until it did so once for each; never twice at once, in any
	// order. An error of done ends it.
	EmbedBatches(ctx context.Context, texts []string, done func(at []int, vectors [][]float32) error) error
}

// Vectors keep the vectors of texts from build to build, for all indexes
// together. Get returns nil for a text that has none.
type Vectors interface {
	Get(embedder string, texts []string) ([][]float32, error)
	Put(embedder string, texts []string, vectors [][]float32) error
}

// Work says what building an index took.
type Work struct {
	Texts    int           // different texts that the index needs a vector of
	Embedded int           // of these, that the embedder was asked for
	Waited   time.Duration // for an embedder that takes its time
	Unkept   error         // why Options.Vectors could not be used, or not for all; nil if it was
}

// embedAll embeds texts, each distinct text once.
func (b *builder) embedAll(ctx context.Context, texts []string) ([][]float32, error) {
	place := make(map[string]int, len(texts))
	var distinct []string
	for _, t := range texts {
		if _, ok := place[t]; !ok {
			place[t] = len(distinct)
			distinct = append(distinct, t)
		}
	}
	b.work.Texts += len(distinct)
	x := embedding{builder: b, texts: distinct, vectors: make([][]float32, len(distinct))}
	embed := x.wait
	if _, ok := b.embedder.(AppendEmbedder); ok {
		embed = x.atOnce
	}
	if err := embed(ctx); err != nil {
		return nil, err
	}
	all := make([][]float32, len(texts))
	for i, t := range texts {
		all[i] = x.vectors[place[t]]
	}
	return all, nil
}

// An embedding is the texts of one call of embedAll on their way to vectors.
type embedding struct {
	*builder
	texts   []string
	vectors [][]float32
	dim     int
	done    int // texts that have their vector
}

// take checks the vectors of the texts at these places and puts them in theirs.
func (x *embedding) take(at []int, vectors [][]float32) error {
	if len(vectors) != len(at) {
		return fmt.Errorf("index: embedder %s, texts %d to %d of %d: %d vectors for %d texts",
			x.embedder.ID(), at[0]+1, at[len(at)-1]+1, len(x.texts), len(vectors), len(at))
	}
	for k, v := range vectors {
		if x.dim == 0 {
			x.dim = len(v)
		}
		if err := checkVector(v, x.dim); err != nil {
			return fmt.Errorf("index: embedder %s, text %q: %w", x.embedder.ID(), text.Cut(x.texts[at[k]], 40), err)
		}
		x.vectors[at[k]] = v
	}
	if x.done += len(at); x.progress != nil {
		x.progress(x.done, len(x.texts))
	}
	return nil
}

// atOnce embeds with an embedder that waits for nothing, several batches at a
// time. Nothing is kept: it is faster than a disk.
func (x *embedding) atOnce(ctx context.Context) error {
	step := embedBatch * 4 * runtime.GOMAXPROCS(0)
	for from := 0; from < len(x.texts); from += step {
		batches := slices.Collect(slices.Chunk(places(from, min(from+step, len(x.texts))), embedBatch))
		got, errs := make([][][]float32, len(batches)), make([]error, len(batches))
		err := parallel(ctx, len(batches), func() func(int) {
			return func(i int) { got[i], errs[i] = x.embedder.Embed(ctx, x.at(batches[i])) }
		})
		for i, batch := range batches {
			if e := errors.Join(errs[i], err); e != nil {
				return x.failed(batch, e)
			}
			if err := x.take(batch, got[i]); err != nil {
				return err
			}
		}
		x.work.Embedded += min(step, len(x.texts)-from)
	}
	return nil
}

// wait embeds what is not kept with an embedder that takes its time, and keeps
// what comes, as it comes.
func (x *embedding) wait(ctx context.Context) error {
	missing, err := x.recall()
	if err != nil || len(missing) == 0 {
		return err
	}
	if x.progress != nil && x.done == 0 {
		x.progress(0, len(x.texts)) // the first answer may take a while
	}
	start := time.Now()
	defer func() { x.work.Waited += time.Since(start) }()
	got := func(at []int, vectors [][]float32) error {
		if err := x.take(at, vectors); err != nil {
			return err
		}
		x.work.Embedded += len(at)
		if x.kept != nil {
			if err := x.kept.Put(x.embedder.ID(), x.at(at), vectors); err != nil {
				x.work.Unkept = err // the index can do without
			}
		}
		return nil
	}
	if e, ok := x.embedder.(BatchEmbedder); ok {
		return x.inBatches(ctx, e, missing, got)
	}
	for batch := range slices.Chunk(missing, embedBatch) {
		vectors, err := x.embedder.Embed(ctx, x.at(batch))
		if err != nil {
			return x.failed(batch, err)
		}
		if err := got(batch, vectors); err != nil {
			return err
		}
	}
	return nil
}

// inBatches leaves the batches to the embedder.
func (x *embedding) inBatches(ctx context.Context, e BatchEmbedder, missing []int, got func(at []int, vectors [][]float32) error) error {
	var refused error
	err := e.EmbedBatches(ctx, x.at(missing), func(at []int, vectors [][]float32) error {
		here := make([]int, len(at))
		for i, k := range at {
			here[i] = missing[k]
		}
		refused = got(here, vectors)
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return x.failed(missing, err)
	case x.done < len(x.texts):
		return x.failed(missing, fmt.Errorf("%d texts got no vector", len(x.texts)-x.done))
	}
	return nil
}

// recall takes the vectors that are kept and returns the places of the others.
func (x *embedding) recall() (missing []int, err error) {
	if x.kept == nil {
		return places(0, len(x.texts)), nil
	}
	kept, err := x.kept.Get(x.embedder.ID(), x.texts)
	if err != nil || len(kept) != len(x.texts) {
		x.work.Unkept = errors.Join(err, errors.New("no vectors of earlier builds are used"))
		return places(0, len(x.texts)), nil
	}
	var have []int
	var vectors [][]float32
	for i, v := range kept {
		if v == nil {
			missing = append(missing, i)
			continue
		}
		have, vectors = append(have, i), append(vectors, v)
	}
	if len(have) == 0 {
		return missing, nil
	}
	return missing, x.take(have, vectors)
}

// failed says at which texts the embedder failed.
func (x *embedding) failed(at []int, err error) error {
	return fmt.Errorf("index: embedder %s, texts %d to %d of %d: %w", x.embedder.ID(), at[0]+1, at[len(at)-1]+1, len(x.texts), err)
}

// at returns the texts at these places.
func (x *embedding) at(places []int) []string {
	texts := make([]string, len(places))
	for i, p := range places {
		texts[i] = x.texts[p]
	}
	return texts
}

// places are the numbers from from on and below to.
func places(from, to int) []int {
	ps := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		ps = append(ps, i)
	}
	return ps
}

// checkVector says what is wrong with a vector that ought to have dim values
// and length 1, or be all zeros.
func checkVector(v []float32, dim int) error {
	switch {
	case len(v) == 0:
		return errors.New("the vector is empty")
	case len(v) > maxDim:
		return fmt.Errorf("the vector has %d values, more than %d", len(v), maxDim)
	case len(v) != dim:
		return fmt.Errorf("the vector has %d values, the first had %d", len(v), dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || sum != 0 && math.Abs(sum-1) > 0.01 {
		return fmt.Errorf("the vector has length %.3g, not 1", math.Sqrt(sum))
	}
	return nil
}
