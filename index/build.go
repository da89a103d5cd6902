package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// version goes up when an index of the same catalog would route otherwise or
// its file has another form.
const version = 1

// Options says how an index is built. The zero value is the default.
type Options struct {
	Progress func(done, total int) // called now and then with the texts embedded; nil: not
}

// Build makes the index of c. What is wrong in a skillrouter.yaml is among
// the index's problems; an error means that the embedder failed, or ctx ended.
// An empty catalog gives an empty index. A nil opts means the zero [Options].
func Build(ctx context.Context, c *definitions.Catalog, e Embedder, opts *Options) (*Index, error) {
	if e == nil {
		return nil, errors.New("index: no embedder: embed.New gives the built-in one")
	}
	if opts == nil {
		opts = &Options{}
	}
	ix := &Index{
		embedder: e.ID(), source: c.Source(), shadowed: c.Shadowed, counts: c.Counts,
		problems: slices.Clone(c.Problems),
	}
	b := &builder{ix: ix, catalog: c, embedder: e, progress: opts.Progress}
	b.group()
	if err := b.embed(ctx); err != nil {
		return nil, err
	}
	b.words()
	if err := ix.finish(ctx); err != nil {
		return nil, err
	}
	b.calibrate()
	ix.fingerprint = ix.print(c)
	return ix, nil
}

// group makes layers 2 and 1.
func (b *builder) group() {
	ix, c := b.ix, b.catalog
	var files []*domains.File
	for _, f := range c.Files {
		file, problems := domains.ParseFile(f.Path, f.Data)
		files = append(files, file)
		ix.problems = append(ix.problems, problems...)
	}
	file := domains.Merge(files...)
	ix.routing = file.Routing
	sums := make(map[string]*summaries.Summary, len(c.Skills))
	ix.skills, b.written = make([]Skill, len(c.Skills)), make([]bool, len(c.Skills))
	for i := range c.Skills {
		s := &c.Skills[i]
		var o *summaries.Override
		if found, ok := file.Skills[s.Name]; ok {
			o = &found
		}
		b.written[i] = len(s.Triggers) > 0 || o != nil && len(o.Triggers) > 0
		ix.skills[i] = Skill{
			Name: s.Name, Description: s.Description, Ref: s.Ref, File: s.File, Hash: s.Hash, Size: s.Size,
			Summary: summaries.Of(s, o),
		}
		sums[s.Name] = &ix.skills[i].Summary
	}
	var problems []definitions.Problem
	ix.domains, problems = domains.Group(c, file, sums)
	ix.problems = append(ix.problems, problems...)
	slices.SortStableFunc(ix.problems, func(a, b definitions.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// print is the fingerprint.
func (ix *Index) print(c *definitions.Catalog) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %d\n", version, ix.embedder, len(ix.skills))
	for i := range ix.skills {
		s := &ix.skills[i]
		fmt.Fprintf(h, "%q %s %d %q\n", s.Name, s.Hash, s.Ref.Root, s.Ref.Dir)
	}
	for _, f := range c.Files {
		fmt.Fprintf(h, "%d %x\n", f.Root, sha256.Sum256(f.Data))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A phrase is a text of a skill with a vector of its own.
type phrase struct {
	text    string
	weight  float32 // in the skill's centroid
	trigger bool
	vector  []float32
}

// Bounds of phrases. A skill known by its summary alone loses 30 to 40 points
// of hit@1; more than a dozen phrases gain nothing.
const (
	maxPhrases    = 12  // rows kept of a skill
	maxSentences  = 8   // of a description
	maxPhraseText = 500 // characters of a phrase that are embedded
	headingWeight = 0.3 // many headings are the same in every skill
)

// phrasesOf lists what speaks for a skill, most telling first.
func phrasesOf(s *definitions.Skill, m *summaries.Summary, written bool) []phrase {
	title := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_./:", r) {
			return ' '
		}
		return r
	}, s.Name)
	ps := make([]phrase, 0, 16)
	add := func(s string, weight float32, trigger bool) {
		s = strings.TrimSpace(s)
		if s != "" {
			ps = append(ps, phrase{text: text.Cut(s, maxPhraseText), weight: weight, trigger: trigger})
		}
	}
	add(title+": "+s.Description, 1, false)
	for _, t := range m.Triggers {
		if written { // a derived trigger stands in the description
			add(t, 1, true)
		}
	}
	if !m.Derived && m.Text != "" {
		add(m.Text, 1, false)
	}
	for _, u := range s.Uses {
		add(u, 1, false)
	}
	if sentences := text.Sentences(s.Description); len(sentences) > 1 {
		for _, t := range sentences[:min(len(sentences), maxSentences)] {
			add(t, 1, false)
		}
	}
	if s.Lead != s.Description {
		add(s.Lead, 1, false)
	}
	for _, h := range s.Headings {
		add(h, headingWeight, false)
	}
	return ps
}

// domainText is what is embedded of a domain itself.
func domainText(d *domains.Domain) string {
	t := d.Name + ": " + d.Description
	if len(d.Keywords) > 0 {
		t += "; " + strings.Join(d.Keywords, ", ")
	}
	return t
}

type builder struct {
	ix       *Index
	catalog  *definitions.Catalog
	embedder Embedder
	progress func(done, total int)

	written    []bool      // by skill: its triggers are its author's, not derived from the description
	phrases    [][]phrase  // by skill
	sums       [][]float32 // by skill: weighted sum of its phrases
	texts      []lexText
	stats      *lexStats
	background []string
	negatives  [][]float32 // vectors of background
}

// embedBatch is how many texts one call of the embedder gets.
const embedBatch = 256

// embed fills the matrices.
func (b *builder) embed(ctx context.Context) error {
	ix := b.ix
	var all []string
	b.phrases = make([][]phrase, len(ix.skills))
	for i := range ix.skills {
		b.phrases[i] = phrasesOf(&b.catalog.Skills[i], &ix.skills[i].Summary, b.written[i])
		for _, p := range b.phrases[i] {
			all = append(all, p.text)
		}
	}
	for i := range ix.skills {
		all = append(all, summaries.Text(&ix.skills[i].Summary))
	}
	for d := range ix.domains {
		all = append(all, domainText(&ix.domains[d]))
	}
	b.background = Background()
	all = append(all, b.background...)
	vectors, err := b.embedAll(ctx, all)
	if err != nil {
		return err
	}
	dim := len(vectors[0])
	ix.rows, ix.texts, ix.phrases = newMatrix(dim, len(ix.skills)), newMatrix(dim, len(ix.skills)), newMatrix(dim, 0)
	ix.domainRows, ix.domainTexts = newMatrix(dim, len(ix.domains)), newMatrix(dim, len(ix.domains))
	next := func() []float32 {
		v := vectors[0]
		vectors = vectors[1:]
		return v
	}
	b.sums = make([][]float32, len(ix.skills))
	ix.phraseStarts = []int32{0}
	place := make(map[string]int, len(ix.skills))
	centroids := make([][]float32, len(ix.skills))
	for i := range ix.skills {
		place[ix.skills[i].Name] = i
		sum := make([]float32, dim)
		for k := range b.phrases[i] {
			p := &b.phrases[i][k]
			p.vector = next()
			addScaled(sum, p.vector, p.weight)
			if k < maxPhrases {
				ix.phrases.append(p.vector)
			}
		}
		b.sums[i], centroids[i] = sum, slices.Clone(sum)
		normalize(centroids[i])
		ix.rows.append(centroids[i])
		ix.phraseStarts = append(ix.phraseStarts, int32(ix.phrases.len()))
	}
	for range ix.skills {
		ix.texts.append(next())
	}
	for d := range ix.domains {
		sum := make([]float32, dim)
		for _, name := range ix.domains[d].Members {
			addScaled(sum, centroids[place[name]], 1)
		}
		normalize(sum)
		ix.domainRows.append(sum)
		ix.domainTexts.append(next())
	}
	b.negatives = vectors
	return nil
}

// embedAll embeds texts in batches, each distinct text once.
func (b *builder) embedAll(ctx context.Context, texts []string) ([][]float32, error) {
	place := make(map[string]int, len(texts))
	var distinct []string
	for _, t := range texts {
		if _, ok := place[t]; !ok {
			place[t] = len(distinct)
			distinct = append(distinct, t)
		}
	}
	vectors := make([][]float32, 0, len(distinct))
	for from := 0; from < len(distinct); from += embedBatch {
		batch := distinct[from:min(from+embedBatch, len(distinct))]
		vs, err := b.embedder.Embed(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("index: embedding texts %d to %d of %d: %w", from+1, from+len(batch), len(distinct), err)
		}
		if len(vs) != len(batch) {
			return nil, fmt.Errorf("index: embedder %s gave %d vectors for %d texts", b.embedder.ID(), len(vs), len(batch))
		}
		for i, v := range vs {
			if err := checkVector(v, len(vs[0])); err != nil {
				return nil, fmt.Errorf("index: embedder %s, text %q: %w", b.embedder.ID(), text.Cut(batch[i], 40), err)
			}
		}
		vectors = append(vectors, vs...)
		if len(vectors[0]) != len(vs[0]) {
			return nil, fmt.Errorf("index: embedder %s changed its dimension from %d to %d", b.embedder.ID(), len(vectors[0]), len(vs[0]))
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
	if len(v) != dim || dim == 0 {
		return fmt.Errorf("the vector has %d values, not %d", len(v), dim)
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

// words fills the lexicon.
func (b *builder) words() {
	ix := b.ix
	han := map[uint64]bool{}
	note := func(h uint64, isHan bool) {
		if isHan {
			han[h] = true
		}
	}
	b.texts = make([]lexText, len(ix.skills))
	for i := range ix.skills {
		s, m := &b.catalog.Skills[i], &ix.skills[i].Summary
		if m.Manual {
			b.texts[i] = newLexText("", "")
			continue
		}
		head := s.Name + "\n" + s.Description + "\n" + written(m)
		if b.written[i] {
			head += "\n" + strings.Join(m.Triggers, "\n")
		}
		body := s.Core + s.Extension
		if body == s.Description {
			body = "" // of a .jsonl catalog
		}
		b.texts[i] = newLexText(head, body)
		eachHash(head, note)
		eachHash(body, note)
	}
	ix.lexicon, b.stats = newLexicon(b.texts, han)
}

// written is a summary's sentence if it is not made of the description.
func written(m *summaries.Summary) string {
	if m.Derived {
		return ""
	}
	return m.Text
}

// calibrate fits the curves: each trigger asked for as if the skill did not
// have it, against utterances of no skill.
func (b *builder) calibrate() {
	ix := b.ix
	if len(ix.skills) == 0 {
		return
	}
	var positives []positive
	for i := range ix.skills {
		m := &ix.skills[i].Summary
		if !b.written[i] || len(m.Triggers) < 2 || m.Manual {
			continue // a derived trigger stands in the description; one alone leaves nothing to be found by
		}
		for k := range b.phrases[i] {
			if p := &b.phrases[i][k]; p.trigger {
				positives = append(positives, b.hold(i, k))
			}
		}
	}
	if len(positives) > mostPositives {
		key := func(p *positive) uint64 {
			h := fnv.New64a()
			fmt.Fprintf(h, "%s\x00%s", ix.skills[p.held.skill].Name, p.utterance)
			return h.Sum64()
		}
		slices.SortFunc(positives, func(a, b positive) int { return cmp.Compare(key(&a), key(&b)) })
		positives = positives[:mostPositives]
	}
	var negatives []Query
	for i, u := range b.background {
		if !b.near(b.negatives[i]) {
			negatives = append(negatives, Query{Utterance: u, Vector: b.negatives[i]})
		}
	}
	ix.calibration = Calibration{
		Full:     ix.newCurve(positives, negatives, 0),
		Semantic: ix.newCurve(positives, negatives, Lexical),
		Lexical:  ix.newCurve(positives, negatives, Semantic),
	}
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

// hold makes phrase k of skill i a question to the skill without it.
func (b *builder) hold(i, k int) positive {
	p := &b.phrases[i][k]
	rest := slices.Clone(b.sums[i])
	addScaled(rest, p.vector, -p.weight)
	normalize(rest)
	folded := text.AppendFold(nil, p.text)
	h := held{skill: int32(i), phrase: -1, text: strings.TrimSpace(string(folded)), similarity: dotFloat(rest, p.vector)}
	if k < maxPhrases {
		h.phrase = int(b.ix.phraseStarts[i]) + k
	}
	counts := map[uint64]float32{}
	var words, mass, cover float32
	eachHash(p.text, func(hash uint64, _ bool) {
		counts[hash]++
		words++
	})
	lx := b.ix.lexicon
	for _, hash := range appendHashes(nil, folded) {
		mass += lx.idfOf(hash)
		if _, ok := lx.ids[hash]; ok {
			cover += lx.weight(b.stats, &b.texts[i], hash, counts[hash], words)
		}
	}
	if mass > 0 {
		h.cover = cover / mass
	}
	return positive{utterance: p.text, vector: p.vector, held: h}
}
