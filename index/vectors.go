package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// embedBatch is how many texts one call of the embedder gets.
const embedBatch = 256

// embed fills the matrices of the skills.
func (b *builder) embed(ctx context.Context) error {
	ix := b.ix
	n := len(ix.skills)
	b.phrases = make([][]phrase, n)
	err := parallel(ctx, n, func() func(int) {
		return func(i int) { b.phrases[i] = phrasesOf(&b.catalog.Skills[i], &ix.skills[i].Summary, b.written[i]) }
	})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	var all []string
	starts := make([]int, n+1) // of the skills' phrases among all texts
	ix.phraseStarts = make([]int32, n+1)
	for i, ps := range b.phrases {
		for _, p := range ps {
			all = append(all, p.text)
		}
		starts[i+1] = len(all)
		ix.phraseStarts[i+1] = ix.phraseStarts[i] + int32(min(len(ps), maxPhrases))
	}
	for i := range ix.skills {
		all = append(all, summaries.Text(&ix.skills[i].Summary))
	}
	ix.againstStarts = make([]int32, n+1)
	for i := range ix.skills {
		not := notFor(&ix.skills[i].Summary)
		all = append(all, not...)
		ix.againstStarts[i+1] = ix.againstStarts[i] + int32(len(not))
	}
	b.background = Background()
	all = append(all, b.background...)
	vectors, err := b.embedAll(ctx, all)
	if err != nil {
		return err
	}

	dim := len(vectors[0])
	ix.rows, ix.texts, ix.phrases = newMatrix(dim, n), newMatrix(dim, n), newMatrix(dim, int(ix.phraseStarts[n]))
	texts := vectors[starts[n]:]
	against := texts[n : n+int(ix.againstStarts[n])]
	ix.against = newMatrix(dim, len(against))
	for i, v := range against {
		ix.against.set(i, v)
	}
	b.centroids, b.sums = make([][]float32, n), make([][]float32, n)
	err = parallel(ctx, n, func() func(int) {
		return func(i int) {
			sum := make([]float32, dim)
			for k, v := range vectors[starts[i]:starts[i+1]] {
				p := &b.phrases[i][k]
				p.vector = v
				addScaled(sum, v, p.weight)
				if k < maxPhrases {
					ix.phrases.set(int(ix.phraseStarts[i])+k, v)
				}
			}
			b.sums[i], b.centroids[i] = sum, slices.Clone(sum)
			normalize(b.centroids[i])
			ix.rows.set(i, b.centroids[i])
			ix.texts.set(i, texts[i])
		}
	})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	b.negatives = texts[n+len(against):]
	return nil
}

// embedDomains fills the matrices of the domains.
func (b *builder) embedDomains(ctx context.Context) error {
	ix, place := b.ix, b.skillPlaces()
	dim := ix.rows.dim
	texts := make([]string, len(ix.domains))
	for d := range ix.domains {
		texts[d] = domainText(&ix.domains[d])
	}
	b.progress = nil // that count is full
	vectors, err := b.embedAll(ctx, texts)
	if err != nil {
		return err
	}
	ix.domainRows, ix.domainTexts = newMatrix(dim, len(ix.domains)), newMatrix(dim, len(ix.domains))
	for d := range ix.domains {
		sum := make([]float32, dim)
		for _, name := range ix.domains[d].Members {
			addScaled(sum, b.centroids[place[name]], 1)
		}
		normalize(sum)
		ix.domainRows.set(d, sum)
		if len(vectors[d]) != dim {
			return fmt.Errorf("index: embedder %s changed its dimension from %d to %d", b.embedder.ID(), dim, len(vectors[d]))
		}
		ix.domainTexts.set(d, vectors[d])
	}
	return nil
}

// skillPlaces tells where each skill stands.
func (b *builder) skillPlaces() map[string]int {
	place := make(map[string]int, len(b.ix.skills))
	for i := range b.ix.skills {
		place[b.ix.skills[i].Name] = i
	}
	return place
}

// embedAll embeds texts in batches, each distinct text once. An embedder that
// waits for nothing embeds several batches at a time.
func (b *builder) embedAll(ctx context.Context, texts []string) ([][]float32, error) {
	place := make(map[string]int, len(texts))
	var distinct []string
	for _, t := range texts {
		if _, ok := place[t]; !ok {
			place[t] = len(distinct)
			distinct = append(distinct, t)
		}
	}
	step := embedBatch
	if _, ok := b.embedder.(AppendEmbedder); ok {
		step *= 4 * runtime.GOMAXPROCS(0)
	}
	vectors := make([][]float32, 0, len(distinct))
	for from := 0; from < len(distinct); from += step {
		round := distinct[from:min(from+step, len(distinct))]
		batches := slices.Collect(slices.Chunk(round, embedBatch))
		got, errs := make([][][]float32, len(batches)), make([]error, len(batches))
		err := parallel(ctx, len(batches), func() func(int) {
			return func(i int) { got[i], errs[i] = b.embedder.Embed(ctx, batches[i]) }
		})
		for i, batch := range batches {
			at := from + i*embedBatch
			switch {
			case errs[i] != nil:
				err = errs[i]
			case err == nil && len(got[i]) != len(batch):
				err = fmt.Errorf("%d vectors for %d texts", len(got[i]), len(batch))
			}
			if err != nil {
				return nil, fmt.Errorf("index: embedder %s, texts %d to %d of %d: %w", b.embedder.ID(), at+1, at+len(batch), len(distinct), err)
			}
			vectors = append(vectors, got[i]...)
			for k, v := range got[i] {
				if err := checkVector(v, len(vectors[0])); err != nil {
					return nil, fmt.Errorf("index: embedder %s, text %q: %w", b.embedder.ID(), text.Cut(batch[k], 40), err)
				}
			}
		}
		if b.progress != nil {
			b.progress(len(vectors), len(distinct))
		}
	}
	all := make([][]float32, len(texts))
	for i, t := range texts {
		all[i] = vectors[place[t]]
	}
	return all, nil
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
