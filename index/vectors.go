package index

import (
	"context"
	"fmt"
	"slices"

	"skillrouter/summaries"
)

// textsOf lists what is embedded of skills: their phrases, those of skill i from
// starts[i] on, then their own texts, what they are not for, and the background.
func (b *builder) textsOf(ctx context.Context) (all []string, starts []int, err error) {
	ix := b.ix
	n := len(ix.skills)
	b.phrases = make([][]phrase, n)
	err = parallel(ctx, n, func() func(int) {
		return func(i int) { b.phrases[i] = phrasesOf(&b.catalog.Skills[i], &ix.skills[i].Summary, b.written[i]) }
	})
	if err != nil {
		return nil, nil, fmt.Errorf("index: %w", err)
	}
	starts = make([]int, n+1)
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
	return append(all, b.background...), starts, nil
}

// embed fills the matrices of the skills.
func (b *builder) embed(ctx context.Context) error {
	ix := b.ix
	n := len(ix.skills)
	all, starts, err := b.textsOf(ctx)
	if err != nil {
		return err
	}
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
