package index

import (
	"cmp"
	"math"
	"slices"

	"skillrouter/internal/text"
)

// What the parts of the evidence weigh beside the similarity of a skill's row,
// which weighs 1. bench/accuracy measures them.
const (
	weightWords   = 0.8  // times the share of the utterance that the words cover
	weightTold    = 0.5  // the same where skills have several triggers of their author's: vectors know what users say
	weightHead    = 0.4  // the same beside a head
	chineseWords  = 1.25 // times these in a Chinese utterance: pairs of characters are surer than stems
	weightPhrase  = 1    // times how far the best phrase is above nearPhrase
	nearPhrase    = 0.75 // similarity from which a phrase says more than the row
	weightAgainst = 1    // times how far the nearest of what a skill is not for is above its best phrase
	weightTrigger = 0.1  // times the share of the utterance that the longest trigger is
	weightKeyword = 0.2  // the same for a domain's keyword
	weightDomain  = 0.1  // times the similarity of the domain's own text
)

// softness is how soft the maximum is that makes a domain's evidence of its
// skills': several fair skills say a little more than one alone.
const softness = 0.05

// Sizes of a scan.
const (
	scanAll     = 1000 // up to so many skills all rows are scanned; above, so many of the nearest domains
	scanLexical = 64   // skills that the words find, scanned wherever they are
	reranked    = 16   // skills whose phrases are looked at
)

// Parts are the parts of the evidence, to switch them off.
type Parts uint8

// The parts.
const (
	Semantic Parts = 1 << iota // similarities of vectors
	Lexical                    // words
	Phrases                    // single phrases, triggers and keywords
)

// A Query is one utterance to score.
type Query struct {
	Utterance string
	Vector    []float32 // of the utterance, by the embedder of the index; nil, zeros or another dimension leave vectors out
	Allow     []bool    // by skill, as long as Skills: which exist for the asker; nil means all
	Without   Parts     // parts to leave out
	Last      []float32 // by domain: how likely the turns before of the dialogue make it, sums to 1; nil: nothing is known
	All       bool      // look at every skill, however many there are
}

// Scores is what the index knows of an utterance. It holds scratch space:
// call Release when done, and copy what is to stay.
type Scores struct {
	Domains []DomainScore // domains with an allowed skill that was looked at, best first: equal scores by evidence, then by name
	Skills  []SkillScore  // the best allowed skills by evidence, at most 64, no manual ones; equal evidence by place in the catalog

	ix *Index

	vector   vector // zero if vectors are left out
	folded   []byte
	hashes   []uint64
	cover    []float32 // by skill
	similar  []float32
	evidence []float32
	scanned  []bool
	keyword  []float32 // by domain
	order    []int32
}

// A DomainScore is one domain's standing.
type DomainScore struct {
	Domain   int32   // its place in Domains of the index
	Score    float32 // estimated probability that the domain is among the right ones
	Evidence float32 // what the score was made of
	Margin   float32 // evidence above the best other domain's, negative below it
	Alone    float32 // the score without Query.Last
	Context  float32 // what of the evidence is from Query.Last
	Share    float32 // how likely the domain is if exactly one is meant: sums to 1
}

// A SkillScore is one skill's standing.
type SkillScore struct {
	Skill      int32   // its place in Skills of the index
	Evidence   float32 // sum of the parts; skills are ranked by it
	Similarity float32 // of utterance and skill: a cosine, or by a head on about the same scale, where it may be negative
	Lexical    float32 // share of the utterance that the skill's words cover, up to about 2
	Phrase     float32 // cosine of the best phrase; 0 if not looked at
	Against    float32 // cosine of the nearest of what the skill is not for; 0 if not looked at or nothing is
	Context    float32 // what of the evidence is from Query.Last
}

// maxSkills is how many skills Scores ranks.
const maxSkills = 64

// Score scores q: the same for the same q, always. It does no IO and, beyond
// the first calls, no allocation. Up to 1,000 skills all are looked at; above,
// those of the nearest domains and those that share rare words with the
// utterance. Safe for concurrent use.
func (ix *Index) Score(q *Query) *Scores {
	s := ix.scores.Get().(*Scores)
	s.collect(q, nil, true)
	s.rank(q.Allow)
	c := &ix.calibration.Full
	switch {
	case !s.vector.known():
		c = &ix.calibration.Lexical
	case q.Without&Lexical != 0:
		c = &ix.calibration.Semantic
	}
	l := LanguageOf(q.Utterance)
	s.calibrate(c, l)
	for i := range s.Domains {
		s.Domains[i].Alone = s.Domains[i].Score
	}
	if q.Last != nil && len(s.Domains) > 0 {
		s.lean(q.Last, keeps(q.Utterance, s.Domains[0].Score), c.Deviation[l])
		s.calibrate(c, l)
	}
	s.posterior(c.Deviation[l])
	return s
}

// Release gives the scratch space back; s must not be used after it.
func (s *Scores) Release() { s.ix.scores.Put(s) }

// Evidence returns the evidence of a skill by its place in Skills of the index,
// allowed or not; in a large catalog that of a skill far from the utterance is
// of its words alone.
func (s *Scores) Evidence(skill int32) float32 { return s.evidence[skill] }

func (ix *Index) newScores() any {
	n := len(ix.skills)
	return &Scores{
		ix: ix, cover: make([]float32, n), similar: make([]float32, n), evidence: make([]float32, n), scanned: make([]bool, n),
		keyword: make([]float32, len(ix.domains)), order: make([]int32, 0, max(n, len(ix.domains))),
		Domains: make([]DomainScore, 0, len(ix.domains)), Skills: make([]SkillScore, 0, maxSkills),
	}
}

// A held is a phrase of a skill's own that is asked for as if it were not
// there, for the calibration.
type held struct {
	skill      int32
	phrase     int       // row of the phrase matrix, or -1
	text       string    // folded
	similarity float32   // of the skill without the phrase
	similar    []float32 // by skill, of a head that has not seen the phrase; nil without a head
	cover      float32
}

// collect fills the evidence of the skills, and the keywords of the domains.
// asked is false for the calibration, which is of what words do by chance.
func (s *Scores) collect(q *Query, without *held, asked bool) {
	ix := s.ix
	s.folded = text.AppendFold(s.folded[:0], q.Utterance)
	s.hashes = appendHashes(s.hashes[:0], s.folded)
	lexical, phrases := q.Without&Lexical == 0, q.Without&Phrases == 0
	var mass float32
	if lexical {
		mass = ix.lexicon.score(s.cover, s.hashes)
		if without != nil {
			s.cover[without.skill] = without.cover
		}
		if asked && !s.says() {
			clear(s.cover)
		}
	} else {
		clear(s.cover)
	}
	v := q.Vector
	if len(v) != ix.rows.dim || q.Without&Semantic != 0 {
		v = ix.zero
	}
	if s.vector.set(v); !s.vector.known() {
		s.vector.set(ix.zero)
	}
	semantic := s.vector.known()
	s.scan(semantic, q)
	if without != nil && semantic {
		if without.similar != nil {
			copy(s.similar, without.similar)
		} else {
			s.similar[without.skill] = without.similarity
		}
	}
	words := ix.wordWeight
	if LanguageOf(q.Utterance) == Chinese {
		words *= chineseWords
	}
	for i := range s.evidence {
		s.evidence[i] = s.similar[i] + words*s.cover[i]
	}
	clear(s.keyword)
	if phrases && lexical && mass > 0 {
		ix.lexicon.eachContained(s.folded, s.hashes, func(c *contained) {
			switch {
			case c.target < 0:
				d := ^c.target
				s.keyword[d] = max(s.keyword[d], weightKeyword*c.mass/mass)
			case without == nil || without.skill != c.target || without.text != string(c.text):
				i := c.target
				s.evidence[i] = max(s.evidence[i], s.similar[i]+words*s.cover[i]+weightTrigger*c.mass/mass)
			}
		})
	}
	s.top(q.Allow)
	if phrases && semantic {
		s.rerank(without)
	}
}

// says tells whether a word of the utterance says what is wanted. Where none
// does, as in "ok" or "hello there", a skill that has the word by chance would
// account for the whole utterance.
func (s *Scores) says() bool {
	says := false
	text.EachTerm(s.folded, func(term []byte) { says = says || !text.Stop(term) })
	return says
}

// scan fills similar, for all skills or, in a large catalog, for the allowed
// ones of the nearest domains and those that the words found.
func (s *Scores) scan(semantic bool, q *Query) {
	ix, allow, last := s.ix, q.Allow, q.Last
	if !semantic {
		clear(s.similar)
		for i := range s.scanned {
			s.scanned[i] = true
		}
		return
	}
	if q.All || len(ix.skills) <= scanAll {
		for i := range s.similar {
			s.similar[i] = ix.similarity(i, &s.vector)
			s.scanned[i] = true
		}
		return
	}
	clear(s.similar)
	clear(s.scanned)
	s.Domains = s.Domains[:0]
	for d := range ix.domains {
		e := ix.domainRows.dot(d, &s.vector)
		if last != nil && last[d] > likely {
			e++ // looked at first
		}
		s.Domains = append(s.Domains, DomainScore{Domain: int32(d), Evidence: e})
	}
	slices.SortFunc(s.Domains, byEvidence)
	looked := 0
	for _, d := range s.Domains {
		for _, i := range ix.members[d.Domain] {
			if allow == nil || allow[i] {
				looked += s.look(i)
			}
		}
		if looked >= scanAll {
			break
		}
	}
	s.order = s.order[:0]
	for i, c := range s.cover {
		if c > 0 && (allow == nil || allow[i]) {
			s.order = append(s.order, int32(i))
		}
	}
	if len(s.order) > scanLexical {
		selectTop(s.order, scanLexical, s.cover)
		s.order = s.order[:scanLexical]
	}
	for _, i := range s.order {
		s.look(i)
	}
}

// similarity is how alike a skill and v are, by the head if there is one.
func (ix *Index) similarity(skill int, v *vector) float32 {
	if len(ix.headBias) > 0 {
		return ix.heads.dot(skill, v) + ix.headBias[skill]
	}
	return ix.rows.dot(skill, v)
}

func (s *Scores) look(skill int32) int {
	if s.scanned[skill] {
		return 0
	}
	s.scanned[skill] = true
	s.similar[skill] = s.ix.similarity(int(skill), &s.vector)
	return 1
}

func byEvidence(a, b DomainScore) int {
	return cmp.Or(cmp.Compare(b.Evidence, a.Evidence), cmp.Compare(a.Domain, b.Domain))
}

// top fills Skills with the best maxSkills.
func (s *Scores) top(allow []bool) {
	s.order = s.order[:0]
	for i := range s.evidence {
		if s.scanned[i] && !s.ix.skills[i].Summary.Manual && (allow == nil || allow[i]) {
			s.order = append(s.order, int32(i))
		}
	}
	if len(s.order) > maxSkills {
		selectTop(s.order, maxSkills, s.evidence)
		s.order = s.order[:maxSkills]
	}
	s.Skills = s.Skills[:0]
	for _, i := range s.order {
		s.Skills = append(s.Skills, SkillScore{Skill: i, Evidence: s.evidence[i], Similarity: s.similar[i], Lexical: s.cover[i]})
	}
	slices.SortFunc(s.Skills, bySkillEvidence)
}

func bySkillEvidence(a, b SkillScore) int {
	return cmp.Or(cmp.Compare(b.Evidence, a.Evidence), cmp.Compare(a.Skill, b.Skill))
}

// rerank looks at the phrases of the best skills.
func (s *Scores) rerank(without *held) {
	ix := s.ix
	for k := range s.Skills[:min(reranked, len(s.Skills))] {
		x := &s.Skills[k]
		for row := ix.phraseStarts[x.Skill]; row < ix.phraseStarts[x.Skill+1]; row++ {
			if without == nil || without.phrase != int(row) {
				x.Phrase = max(x.Phrase, ix.phrases.dot(int(row), &s.vector))
			}
		}
		if x.Phrase > nearPhrase {
			x.Evidence += weightPhrase * (x.Phrase - nearPhrase)
		}
		for row := ix.againstStarts[x.Skill]; row < ix.againstStarts[x.Skill+1]; row++ {
			x.Against = max(x.Against, ix.against.dot(int(row), &s.vector))
		}
		if x.Against > x.Phrase {
			x.Evidence -= weightAgainst * (x.Against - x.Phrase)
		}
		s.evidence[x.Skill] = x.Evidence
	}
	slices.SortFunc(s.Skills, bySkillEvidence)
}

// rank fills Domains with the evidence of the domains.
func (s *Scores) rank(allow []bool) {
	ix := s.ix
	semantic := s.vector.known()
	s.Domains = s.Domains[:0]
	for d := range ix.domains {
		var best float32 = math.MaxFloat32
		var sum float64
		for _, i := range ix.members[d] {
			if !s.scanned[i] || allow != nil && !allow[i] {
				continue
			}
			e := s.evidence[i]
			switch {
			case best == math.MaxFloat32:
				best, sum = e, 1
			case e > best:
				sum = sum*math.Exp(float64(best-e)/softness) + 1
				best = e
			default:
				if lag := float64(e-best) / softness; lag > -12 { // e⁻¹² adds nothing
					sum += math.Exp(lag)
				}
			}
		}
		if best == math.MaxFloat32 {
			continue
		}
		e := best + float32(softness*math.Log(sum)) + s.keyword[d]
		if semantic {
			e += weightDomain * ix.domainTexts.dot(d, &s.vector)
		}
		s.Domains = append(s.Domains, DomainScore{Domain: int32(d), Evidence: e})
	}
	slices.SortFunc(s.Domains, byEvidence)
}

// calibrate turns evidence into scores.
func (s *Scores) calibrate(c *Curve, l Language) {
	for i := range s.Domains {
		d := &s.Domains[i]
		d.Margin = margin(s.Domains, i, l, c)
		d.Score = c.score(l, d.Evidence, d.Margin)
	}
	slices.SortFunc(s.Domains, func(a, b DomainScore) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Evidence, a.Evidence), cmp.Compare(s.ix.domains[a.Domain].Name, s.ix.domains[b.Domain].Name))
	})
}

// margin is the evidence of domain i of ds, best first, above the best other.
// A lone domain is compared with what utterances of no skill reach.
func margin(ds []DomainScore, i int, l Language, c *Curve) float32 {
	switch {
	case i > 0:
		return ds[i].Evidence - ds[0].Evidence
	case len(ds) > 1:
		return ds[0].Evidence - ds[1].Evidence
	default:
		return ds[0].Evidence - c.Mean[l]
	}
}

// selectTop moves the k items of ids with the largest values to the front,
// equal values by lower id, in no order. It is quickselect, O(len(ids)).
func selectTop(ids []int32, k int, values []float32) {
	less := func(a, b int32) bool {
		if values[a] != values[b] {
			return values[a] > values[b]
		}
		return a < b
	}
	lo, hi := 0, len(ids)
	for hi-lo > 1 {
		p := ids[lo+(hi-lo)/2]
		i, j := lo, hi-1
		for i <= j {
			for less(ids[i], p) {
				i++
			}
			for less(p, ids[j]) {
				j--
			}
			if i <= j {
				ids[i], ids[j] = ids[j], ids[i]
				i++
				j--
			}
		}
		switch {
		case k <= j+1:
			hi = j + 1
		case k > i:
			lo = i
		default:
			return
		}
	}
}
