package index

import (
	"math"
	"slices"

	"skillrouter/internal/text"
)

// How what came before in a dialogue weighs. Chosen on public dialogues
// (CrossWOZ, BFCL multi-turn, API-Bank), where fixed blends help some and ruin
// turns to another domain.
const (
	sharpness  = 1.5  // a deviation of evidence multiplies the odds of a domain by e to this
	stay       = 0.97 // probability that a short utterance stays in the domain of the last
	shortWords = 12   // words up to which an utterance is short
	fadeWords  = 6    // words more that divide the probability by e
	likely     = 0.05 // probability from which a domain is looked at, however far it is
)

// Prior returns how likely each domain is before the utterance is looked at,
// when the last one left the domains with the probabilities last, by place in
// Domains of the index and with sum 1: the longer the utterance, the more it
// says by itself, and the less the past. It appends to dst.
func Prior(dst, last []float32, utterance string) []float32 {
	w := float64(said(utterance))
	keep := float32(stay * math.Exp(-max(0, w-shortWords)/fadeWords))
	for _, p := range last {
		dst = append(dst, keep*p+(1-keep)/float32(len(last)))
	}
	return dst
}

// said counts the words of an utterance; three Han characters say as much as
// two words.
func said(utterance string) float32 {
	han := 0
	for _, r := range utterance {
		if text.IsHan(r) {
			han++
		}
	}
	return float32(text.Words(utterance)-han) + float32(han)*2/3
}

// lean moves the evidence of domains and their skills by what the dialogue
// makes likely: Bayes' rule on a scale on which a deviation of the background
// is worth sharpness in log odds. A domain as likely as the average stays.
func (s *Scores) lean(prior []float32, scale float32) {
	n := float64(len(s.Domains))
	if n < 2 {
		return
	}
	for i := range s.Domains {
		d := &s.Domains[i]
		d.Context = scale / sharpness * float32(math.Log(max(float64(prior[d.Domain])*n, 1e-3)))
		d.Evidence += d.Context
	}
	slices.SortFunc(s.Domains, byEvidence)
	for k := range s.Skills {
		x := &s.Skills[k]
		for _, d := range s.Domains { // the first that holds it is its best
			if s.ix.in(x.Skill, d.Domain) {
				x.Context = d.Context
				x.Evidence += d.Context
				break
			}
		}
	}
	slices.SortFunc(s.Skills, bySkillEvidence)
}

// posterior fills in how likely each domain is if exactly one is meant.
func (s *Scores) posterior(scale float32) {
	if len(s.Domains) == 0 {
		return
	}
	top, sum := s.Domains[0].Evidence, float32(0)
	for i := range s.Domains {
		top = max(top, s.Domains[i].Evidence)
	}
	for i := range s.Domains {
		d := &s.Domains[i]
		d.Share = float32(math.Exp(float64(sharpness * (d.Evidence - top) / scale)))
		sum += d.Share
	}
	for i := range s.Domains {
		s.Domains[i].Share /= sum
	}
}
