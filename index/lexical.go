package index

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"

	"skillrouter/internal/text"
)

// BM25 as usual (Robertson and Zaragoza, 2009), with two fields: what the
// author says of the skill counts headWeight times as much as its body.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	headWeight = 2
	bodyTerms  = 200 // most telling terms kept of a body; more do not help and cost space
	moreWords  = 1.5 // words that no skill has, added to each utterance: one word that hits is not all there is to say
)

// A lexicon scores the skills by the words of an utterance. The score is a
// share of the utterance, not a sum: how much of its weight in rare words a
// skill's text accounts for, from 0 to about 2. So the words of a short
// keyword-like utterance say much and those of a long indirect one little,
// without a weight of their own.
//
// Words of a script that few skills use say little about the others, which
// could not contain them: they count by the share of skills with words of that
// script. A Chinese utterance over mostly English skills is so left to the
// vectors; English words over Chinese skills, which are full of them, are not.
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

	phrases map[uint64][]contained // by the rarest term of each, see addPhrase
}

// A contained is a trigger or keyword that is looked for as it stands.
type contained struct {
	text   []byte  // folded, without blanks at the ends
	mass   float32 // sum of the idf of its terms
	target int32   // skill; or ^domain for a domain's keyword
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

// slack is the weight of moreWords.
func (lx *lexicon) slack() float32 { return moreWords * idf(0, lx.skills) }

// appendHashes appends the distinct hashes of the terms of folded, sorted, to dst.
func appendHashes(dst []uint64, folded []byte) []uint64 {
	text.EachKey(folded, func(term []byte) { dst = append(dst, hash(term)) })
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
		inverse := 1 / (mass + lx.slack())
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
	if len(hashes) == 0 || utf8.RuneCount(folded) < 2 {
		return // rule S13: two characters and more
	}
	c := contained{text: folded, target: target}
	for _, h := range hashes {
		c.mass += lx.idfOf(h)
	}
	// A lone Han character is no term of an utterance where it has a neighbour:
	// "转pdf" must be found by its other term.
	var rarest uint64
	weight, lone := float32(-1), true
	text.EachKey(folded, func(term []byte) {
		h := hash(term)
		r, n := utf8.DecodeRune(term)
		single := n == len(term) && text.IsHan(r)
		if w := lx.idfOf(h); lone && !single || lone == single && w > weight {
			rarest, weight, lone = h, w, single
		}
	})
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
		before := i > 0 && joins(folded[i-1], phrase[0])
		after := end < len(folded) && joins(phrase[len(phrase)-1], folded[end])
		if !before && !after {
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

// eachHash calls yield with the hash of each term of folded, repeats included.
func eachHash(folded []byte, yield func(h uint64, han bool)) {
	text.EachKey(folded, func(term []byte) {
		first, _ := utf8.DecodeRune(term)
		yield(hash(term), text.IsHan(first))
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
