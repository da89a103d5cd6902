package index

import (
	"cmp"
	"context"
	"slices"

	"skillrouter/internal/text"
)

// lexText is what building the lexicon knows of one skill.
type lexText struct {
	terms []lexTerm // distinct, by hash
	heads float32   // words of name, description, summary and triggers, repeats included
	bods  float32   // words of the body
	han   bool      // the head has Han terms
	latin bool      // the head has others
}

// A lexTerm is a term of a skill, with how often it stands where.
type lexTerm struct {
	hash       uint64
	head, body float32
	id         int32 // its place in the lexicon, once there is one
	han        bool
}

// find returns the term of that hash, or one that stands nowhere.
func (t *lexText) find(hash uint64) lexTerm {
	i, ok := slices.BinarySearchFunc(t.terms, hash, func(x lexTerm, h uint64) int { return cmp.Compare(x.hash, h) })
	if !ok {
		return lexTerm{hash: hash}
	}
	return t.terms[i]
}

// A lexReader makes lexTexts, one after the other.
type lexReader struct {
	folded []byte
	places map[uint64]int32 // of terms
	terms  []lexTerm
}

func (r *lexReader) read(head, body string) lexText {
	if r.places == nil {
		r.places = make(map[uint64]int32)
	}
	clear(r.places)
	r.terms = r.terms[:0]
	count := func(h uint64, han bool) *lexTerm {
		at, ok := r.places[h]
		if !ok {
			at = int32(len(r.terms))
			r.places[h] = at
			r.terms = append(r.terms, lexTerm{hash: h, han: han})
		}
		return &r.terms[at]
	}
	var t lexText
	var han, latin bool
	r.folded = text.AppendFold(r.folded[:0], head)
	eachHash(r.folded, func(h uint64, isHan bool) {
		count(h, isHan).head++
		t.heads++
		if isHan {
			han = true
		} else {
			latin = true
		}
	})
	t.han, t.latin = han, latin
	r.folded = text.AppendFold(r.folded[:0], body)
	eachHash(r.folded, func(h uint64, han bool) {
		count(h, han).body++
		t.bods++
	})
	t.terms = slices.Clone(r.terms)
	slices.SortFunc(t.terms, func(a, b lexTerm) int { return cmp.Compare(a.hash, b.hash) })
	return t
}

// lexStats is what building and holding out phrases need beside the lexicon.
type lexStats struct {
	meanHead, meanBody float32
	shareHan, shareLat float32
}

// newLexicon makes the lexicon of texts, whose bodies it trims. It is
// deterministic: terms are numbered by hash. It fails only when ctx ends.
func newLexicon(ctx context.Context, texts []lexText) (*lexicon, *lexStats, error) {
	st := &lexStats{}
	df := map[uint64]int32{}
	for i := range texts {
		t := &texts[i]
		st.meanHead += t.heads
		st.meanBody += t.bods
		if t.han {
			st.shareHan++
		}
		if t.latin {
			st.shareLat++
		}
		for _, x := range t.terms {
			df[x.hash]++
		}
	}
	n := float32(max(len(texts), 1))
	st.meanHead, st.meanBody = max(st.meanHead/n, 1), max(st.meanBody/n, 1)
	st.shareHan, st.shareLat = st.shareHan/n, st.shareLat/n

	terms := make([]uint64, 0, len(df))
	for h := range df {
		terms = append(terms, h)
	}
	slices.Sort(terms)
	lx := &lexicon{skills: len(texts), ids: make(map[uint64]int32, len(terms)), idf: make([]float32, len(terms))}
	for i, h := range terms {
		lx.ids[h] = int32(i)
		lx.idf[i] = idf(df[h], len(texts))
	}
	err := parallel(ctx, len(texts), func() func(int) {
		var t trimmer
		return func(i int) { t.trim(lx, &texts[i]) }
	})
	if err != nil {
		return nil, nil, err
	}

	lx.starts = make([]int32, len(terms)+1)
	for i := range texts {
		for _, x := range texts[i].terms {
			lx.starts[x.id+1]++
		}
	}
	for i := range terms {
		lx.starts[i+1] += lx.starts[i]
	}
	lx.docs = make([]int32, lx.starts[len(terms)])
	lx.weights = make([]float32, len(lx.docs))
	next := slices.Clone(lx.starts)
	for i := range texts {
		for _, x := range texts[i].terms {
			at := next[x.id]
			next[x.id]++
			lx.docs[at] = int32(i)
			lx.weights[at] = lx.weight(st, &texts[i], x, 0)
		}
	}
	return lx, st, nil
}

// A trimmer keeps the bodyTerms most telling terms of a body.
type trimmer struct {
	ids  []int32
	tell []float32
}

// trim numbers the terms of t and takes away those that only a trimmed body had.
func (r *trimmer) trim(lx *lexicon, t *lexText) {
	r.ids, r.tell = r.ids[:0], r.tell[:0]
	for i := range t.terms {
		x := &t.terms[i]
		x.id = lx.ids[x.hash]
		r.tell = append(r.tell, x.body/(x.body+bm25K1)*lx.idf[x.id])
		if x.body > 0 {
			r.ids = append(r.ids, int32(i))
		}
	}
	if len(r.ids) <= bodyTerms {
		return
	}
	selectTop(r.ids, bodyTerms, r.tell)
	for _, i := range r.ids[bodyTerms:] {
		t.terms[i].body = 0
	}
	kept := make([]lexTerm, 0, len(t.terms)-len(r.ids)+2*bodyTerms)
	for _, x := range t.terms {
		if x.head > 0 || x.body > 0 {
			kept = append(kept, x)
		}
	}
	t.terms = slices.Clip(kept)
}

// weight is what term x of a skill with text t adds for it, when the head is
// lessWords shorter than it was.
func (lx *lexicon) weight(st *lexStats, t *lexText, x lexTerm, lessWords float32) float32 {
	f := headWeight * x.head / (1 - bm25B + bm25B*(t.heads-lessWords)/st.meanHead)
	if t.bods > 0 {
		f += x.body / (1 - bm25B + bm25B*t.bods/st.meanBody)
	}
	share := st.shareLat
	if x.han {
		share = st.shareHan
	}
	return f * (bm25K1 + 1) / (f + bm25K1) * lx.idf[x.id] * share
}
