package index

import (
	"cmp"
	"context"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"

	"skillrouter/internal/text"
)

// A positive is a phrase of a skill, asked for without itself.
type positive struct {
	utterance string
	vector    []float32
	held      held
}

// A place is phrase k of skill i.
type place struct{ i, k int }

// calibrate fits the curves: each trigger asked for as if the skill did not
// have it, against utterances of no skill. It fails only when ctx ends.
func (b *builder) calibrate(ctx context.Context) error {
	ix := b.ix
	if len(ix.skills) == 0 {
		return nil
	}
	places := b.places()
	positives := make([]positive, len(places))
	err := parallel(ctx, len(places), func() func(int) {
		return func(n int) { positives[n] = b.hold(places[n]) }
	})
	if err != nil {
		return err
	}
	negatives, err := b.strangers(ctx)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		curve   *Curve
		without Parts
	}{{&ix.calibration.Full, 0}, {&ix.calibration.Semantic, Lexical}, {&ix.calibration.Lexical, Semantic}} {
		if *c.curve, err = ix.newCurve(ctx, positives, negatives, c.without); err != nil {
			return err
		}
	}
	return nil
}

// places returns the phrases to hold out: triggers that an author wrote, of
// skills with several, at most mostPositives of them.
func (b *builder) places() []place {
	ix := b.ix
	var places []place
	for i := range ix.skills {
		m := &ix.skills[i].Summary
		if !b.written[i] || len(m.Triggers) < 2 || m.Manual {
			continue // a derived trigger stands in the description; one alone leaves nothing to be found by
		}
		for k := range b.phrases[i] {
			if b.phrases[i][k].trigger {
				places = append(places, place{i, k})
			}
		}
	}
	if len(places) <= mostPositives {
		return places
	}
	keys := make(map[place]uint64, len(places))
	for _, p := range places {
		h := fnv.New64a()
		_, _ = io.WriteString(h, ix.skills[p.i].Name+"\x00"+b.phrases[p.i][p.k].text) // a hash never fails
		keys[p] = h.Sum64()
	}
	slices.SortFunc(places, func(p, q place) int {
		return cmp.Or(cmp.Compare(keys[p], keys[q]), cmp.Compare(p.i, q.i), cmp.Compare(p.k, q.k))
	})
	return places[:mostPositives]
}

// strangers returns our utterances of no skill, but for those near one: unless
// hardly one is left, when the embedder holds everything for near.
func (b *builder) strangers(ctx context.Context) ([]Query, error) {
	near := make([]bool, len(b.background))
	err := parallel(ctx, len(near), func() func(int) {
		return func(i int) { near[i] = b.near(b.negatives[i]) }
	})
	var all, far []Query
	for i, u := range b.background {
		q := Query{Utterance: u, Vector: b.negatives[i]}
		if all = append(all, q); !near[i] {
			far = append(far, q)
		}
	}
	if len(far) < len(all)/10 {
		return all, err
	}
	return far, err
}

// near tells whether v is so close to a phrase that it may belong to a skill.
func (b *builder) near(v []float32) bool {
	var q vector
	q.set(v)
	for i := range b.ix.phrases.len() {
		if b.ix.phrases.dot(i, &q) > backgroundNear {
			return true
		}
	}
	return false
}

// hold makes a phrase a question to its skill without it.
func (b *builder) hold(at place) positive {
	p := &b.phrases[at.i][at.k]
	rest := slices.Clone(b.sums[at.i])
	addScaled(rest, p.vector, -p.weight)
	normalize(rest)
	folded := text.AppendFold(nil, p.text)
	h := held{skill: int32(at.i), phrase: -1, text: strings.TrimSpace(string(folded)), similarity: dotFloat(rest, p.vector), similar: b.held[at]}
	if at.k < maxPhrases {
		h.phrase = int(b.ix.phraseStarts[at.i]) + at.k
	}
	counts := map[uint64]float32{}
	var words, mass, cover float32
	eachHash(folded, func(hash uint64, _ bool) {
		counts[hash]++
		words++
	})
	lx, t := b.ix.lexicon, &b.texts[at.i]
	for _, hash := range appendHashes(nil, folded) {
		mass += lx.idfOf(hash)
		x := t.find(hash)
		x.head = max(0, x.head-counts[hash])
		if x.head > 0 || x.body > 0 {
			cover += lx.weight(b.stats, t, x, words)
		}
	}
	if mass > 0 {
		h.cover = cover / (mass + lx.slack())
	}
	return positive{utterance: p.text, vector: p.vector, held: h}
}

// newCurve fits a curve on what the index answers without the given parts. It
// fails only when ctx ends.
func (ix *Index) newCurve(ctx context.Context, positives []positive, negatives []Query, without Parts) (Curve, error) {
	c := Curve{Deviation: [2]float32{1, 1}, Weights: prior()}
	tops := make([][]DomainScore, len(negatives))
	err := parallel(ctx, len(negatives), func() func(int) {
		return func(i int) {
			q := negatives[i]
			q.Without = without
			s := ix.scores.Get().(*Scores)
			defer s.Release()
			s.collect(&q, nil, false)
			s.rank(nil)
			tops[i] = slices.Clone(s.Domains[:min(rowsEach, len(s.Domains))])
		}
	})
	if err != nil || len(tops[0]) == 0 {
		return c, err // without a domain there is nothing to score
	}
	var n, sum, squares, asks [2]float64
	for i, ds := range tops {
		l, e := LanguageOf(negatives[i].Utterance), float64(ds[0].Evidence)
		n[l]++
		sum[l] += e
		squares[l] += e * e
	}
	for l := range n {
		if n[l] > 0 {
			mean := sum[l] / n[l]
			c.Mean[l] = float32(mean)
			c.Deviation[l] = float32(math.Sqrt(max(squares[l]/n[l]-mean*mean, 1e-4)))
		}
	}
	for l := range n {
		if n[l] == 0 { // all of this language are near a skill
			c.Mean[l], c.Deviation[l] = c.Mean[1-l], c.Deviation[1-l]
		}
	}
	if len(positives) < fewPositives {
		return c, nil
	}
	asked := make([][]Sample, len(positives))
	err = parallel(ctx, len(positives), func() func(int) {
		return func(i int) { asked[i] = ix.ask(&positives[i], without, &c) }
	})
	if err != nil {
		return c, err
	}
	var samples []Sample
	for i := range positives {
		asks[LanguageOf(positives[i].utterance)]++
	}
	for t, ds := range tops {
		l := LanguageOf(negatives[t].Utterance)
		if asks[l] == 0 {
			continue
		}
		weight := backgroundShare / (1 - backgroundShare) * asks[l] / n[l]
		for i := range ds {
			samples = append(samples, Sample{Features: c.Features(l, ds[i].Evidence, margin(ds, i, l, &c)), Weight: weight})
		}
	}
	for _, more := range asked {
		samples = append(samples, more...)
	}
	c.Weights, c.Phrases = Fit(samples), len(positives)
	return c, nil
}

// ask returns how the best domains and the right ones stand for p.
func (ix *Index) ask(p *positive, without Parts, c *Curve) []Sample {
	s := ix.scores.Get().(*Scores)
	defer s.Release()
	s.collect(&Query{Utterance: p.utterance, Vector: p.vector, Without: without}, &p.held, false)
	s.rank(nil)
	l := LanguageOf(p.utterance)
	var samples []Sample
	for k := range s.Domains {
		right := ix.in(p.held.skill, s.Domains[k].Domain)
		if k >= rowsEach && !right {
			continue
		}
		samples = append(samples, Sample{
			Features: c.Features(l, s.Domains[k].Evidence, margin(s.Domains, k, l, c)), Right: right, Weight: 1,
		})
	}
	return samples
}
