package index

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"skillrouter/internal/text"
)

// BM25 as usual (Robertson and Zaragoza, 2009), with two fields: what the
// author says of the skill counts headWeight times as much as its body.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	headWeight = 2
	bodyTerms  = 200 // most telling terms kept of a body; more do not help and cost space
)

// A lexicon scores the skills by the words of an utterance. The score is a
// share of the utterance, not a sum: how much of its weight in rare words a
// skill's text accounts for, from 0 to about 2. So the words of a short
// keyword-like utterance say much and those of a long indirect one little,
// without a weight of their own.
//
// Words of a script that few skills are written in say little about the
// others, which could not contain them: they count by the share of skills with
// that script. A Chinese utterance over mostly English skills is so left to
// the vectors.
//
// Terms are kept as hashes; two of 100,000 terms share one of 64 bits with a
// probability below 1e-9.
type lexicon struct {
	ids     map[uint64]int32 // term → its place in idf and starts
	idf     []float32
	starts  []int32   // postings of term i are docs[starts[i]:starts[i+1]]
	docs    []int32   // skills, rising within a term
	weights []float32 // what the term adds for that skill
	skills  int

	phrases map[uint64][]contained // by the rarest term of each
}

// A contained is a trigger or keyword that is looked for as it stands.
type contained struct {
	text   []byte  // folded, without blanks at the ends
	mass   float32 // sum of the idf of its terms
	target int32   // skill; or ^domain for a domain's keyword
}

// lexText is what the lexicon knows of one skill.
type lexText struct {
	head  map[uint64]float32 // term counts of name, description, summary, triggers
	body  map[uint64]float32
	heads float32 // words of the head, repeats included
	bods  float32
	han   bool // has Han terms
	latin bool // is mainly written in others
}

func newLexText(head, body string) lexText {
	t := lexText{head: map[uint64]float32{}, body: map[uint64]float32{}}
	var hanTerms, others float32
	eachHash(head, func(h uint64, han bool) {
		t.head[h]++
		t.heads++
		if han {
			hanTerms++
		} else {
			others++
		}
	})
	// A Han character gives about two terms, itself and a pair.
	t.han, t.latin = hanTerms > 0, others > hanTerms/2
	eachHash(body, func(h uint64, _ bool) {
		t.body[h]++
		t.bods++
	})
	return t
}

// lexStats is what building and holding out phrases need beside the lexicon.
type lexStats struct {
	meanHead, meanBody float32
	shareHan, shareLat float32
	han                map[uint64]bool // terms of Han characters
}

// newLexicon is deterministic: terms are numbered by hash.
func newLexicon(texts []lexText, han map[uint64]bool) (*lexicon, *lexStats) {
	st := &lexStats{han: han}
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
		for h := range t.head {
			df[h]++
		}
		for h := range t.body {
			if t.head[h] == 0 {
				df[h]++
			}
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
	for i := range texts {
		lx.trimBody(&texts[i])
	}

	counts := make([]int32, len(terms)+1)
	each := func(do func(id, skill int32, h uint64)) {
		for i := range texts {
			t := &texts[i]
			for h := range t.head {
				do(lx.ids[h], int32(i), h)
			}
			for h := range t.body {
				if t.head[h] == 0 {
					do(lx.ids[h], int32(i), h)
				}
			}
		}
	}
	each(func(id, _ int32, _ uint64) { counts[id+1]++ })
	for i := range terms {
		counts[i+1] += counts[i]
	}
	lx.starts = counts
	lx.docs = make([]int32, counts[len(terms)])
	lx.weights = make([]float32, len(lx.docs))
	next := slices.Clone(counts)
	each(func(id, skill int32, h uint64) {
		at := next[id]
		next[id]++
		lx.docs[at] = skill
		lx.weights[at] = lx.weight(st, &texts[skill], h, 0, 0)
	})
	return lx, st
}

// trimBody keeps the bodyTerms most telling terms of a body.
func (lx *lexicon) trimBody(t *lexText) {
	if len(t.body) <= bodyTerms {
		return
	}
	type term struct {
		hash uint64
		tell float32
	}
	all := make([]term, 0, len(t.body))
	for h, f := range t.body {
		all = append(all, term{h, f / (f + bm25K1) * lx.idf[lx.ids[h]]})
	}
	slices.SortFunc(all, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.tell, a.tell), cmp.Compare(a.hash, b.hash))
	})
	for _, x := range all[bodyTerms:] {
		delete(t.body, x.hash)
	}
}

// weight is what term h adds for the skill with text t, when the term is
// counted less times less in the head, which is lessWords shorter.
func (lx *lexicon) weight(st *lexStats, t *lexText, h uint64, less, lessWords float32) float32 {
	head := max(0, t.head[h]-less)
	f := headWeight * head / (1 - bm25B + bm25B*(t.heads-lessWords)/st.meanHead)
	if t.bods > 0 {
		f += t.body[h] / (1 - bm25B + bm25B*t.bods/st.meanBody)
	}
	share := st.shareLat
	if st.han[h] {
		share = st.shareHan
	}
	return f * (bm25K1 + 1) / (f + bm25K1) * lx.idf[lx.ids[h]] * share
}

func idf(df int32, n int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5)))
}

// idfOf is the weight of a term; one that no skill has is as rare as can be.
func (lx *lexicon) idfOf(h uint64) float32 {
	if id, ok := lx.ids[h]; ok {
		return lx.idf[id]
	}
	return idf(0, lx.skills)
}

// terms appends the distinct hashes of the terms of folded, sorted, to dst.
func appendHashes(dst []uint64, folded []byte) []uint64 {
	text.EachTerm(folded, func(term []byte) { dst = append(dst, hash(term)) })
	slices.Sort(dst)
	return slices.Compact(dst)
}

// score fills cover, one value a skill, with the share of the utterance that
// each skill's text accounts for, and returns the utterance's whole weight.
func (lx *lexicon) score(cover []float32, hashes []uint64) (mass float32) {
	clear(cover)
	for _, h := range hashes {
		id, ok := lx.ids[h]
		if !ok {
			mass += idf(0, lx.skills)
			continue
		}
		mass += lx.idf[id]
		from, to := lx.starts[id], lx.starts[id+1]
		weights := lx.weights[from:to]
		for i, doc := range lx.docs[from:to] {
			cover[doc] += weights[i]
		}
	}
	if mass > 0 {
		inverse := 1 / mass
		for i := range cover {
			cover[i] *= inverse
		}
	}
	return mass
}

// addPhrase makes a trigger or keyword findable in utterances.
func (lx *lexicon) addPhrase(phrase string, target int32) {
	folded := text.AppendFold(nil, phrase)
	folded = bytes.TrimSpace(folded)
	hashes := appendHashes(nil, folded)
	if len(hashes) == 0 || len([]rune(string(folded))) < 2 {
		return // rule S13: two characters and more
	}
	c := contained{text: folded, target: target}
	rarest := hashes[0]
	for _, h := range hashes {
		w := lx.idfOf(h)
		c.mass += w
		if w > lx.idfOf(rarest) {
			rarest = h
		}
	}
	lx.phrases[rarest] = append(lx.phrases[rarest], c)
}

// eachContained calls yield with every trigger and keyword that stands in the
// folded utterance: at word borders, or anywhere where it ends in Han.
func (lx *lexicon) eachContained(folded []byte, hashes []uint64, yield func(*contained)) {
	for _, h := range hashes {
		list := lx.phrases[h]
		for i := range list {
			if stands(folded, list[i].text) {
				yield(&list[i])
			}
		}
	}
}

func stands(folded, phrase []byte) bool {
	for from := 0; ; {
		i := bytes.Index(folded[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(phrase)
		if !(i > 0 && joins(folded[i-1], phrase[0])) &&
			!(end < len(folded) && joins(phrase[len(phrase)-1], folded[end])) {
			return true
		}
		from = i + 1
	}
}

// joins tells whether two neighbouring bytes are inside one ASCII word.
func joins(a, b byte) bool { return wordByte(a) && wordByte(b) }

func wordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '_'
}

// eachHash calls yield with the hash of each term of s, repeats included.
func eachHash(s string, yield func(h uint64, han bool)) {
	text.EachTerm(text.AppendFold(nil, s), func(term []byte) {
		yield(hash(term), len(term) > 2 && term[0] >= 0xE3 && text.IsHan([]rune(string(term))[0]))
	})
}

// hash is FNV-1a, written out because the index file depends on it.
func hash(term []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range term {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}
