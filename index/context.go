package index

import (
	"math"
	"slices"

	"skillrouter/internal/text"
)

// How what came before in a dialogue weighs. Chosen on public dialogues
// (CrossWOZ, BFCL multi-turn, API-Bank), where fixed blends help some and ruin
// turns to another domain; the optimum is flat.
const (
	sharpness  = 1.5  // a deviation of evidence multiplies the odds of a domain by e to this
	stay       = 0.98 // probability that a short utterance stays in the domains of the last
	others     = 8    // a change may go to so many domains, however many there are
	shortWords = 12   // words up to which an utterance is short
	fadeWords  = 4    // words more that divide the probability by e
	ownVoice   = 16   // power of an utterance's own best score that it loses: 0.72 hardly counts, 0.95 much
	likely     = 0.05 // probability from which a domain is looked at, however far it is
)

// keeps returns the probability that an utterance stays in the domain of the
// last: the longer it is and the surer its own best score, the more it says by
// itself and the less the past does.
func keeps(utterance string, own float32) float32 {
	w := float64(said(utterance))
	return float32(stay * math.Exp(-max(0, w-shortWords)/fadeWords) * (1 - math.Pow(float64(own), ownVoice)))
}

// said counts the words of an utterance; two Han characters say as much as a
// word.
func said(utterance string) float32 {
	han := 0
	for _, r := range utterance {
		if text.IsHan(r) {
			han++
		}
	}
	return float32(text.Words(utterance)-han) + float32(han)/2
}

// lean moves the evidence of domains and their skills by what a dialogue
// makes likely that gives the domains the probabilities last: Bayes' rule
// on a scale on which a deviation of the background is worth sharpness in log
// odds. A domain as likely as the average stays where it is.
func (s *Scores) lean(last []float32, keep, scale float32) {
	n := float32(min(len(s.Domains), others))
	if n < 2 {
		return
	}
	for i := range s.Domains {
		d := &s.Domains[i]
		prior := keep*last[d.Domain] + (1-keep)/n
		d.Context = scale / sharpness * float32(math.Log(max(float64(prior*n), 1e-3)))
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
