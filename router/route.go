package router

import (
	"skillrouter/definitions"
	"skillrouter/summaries"
)

// An Outcome is how a route came about.
type Outcome string

// The outcomes, in the order in which they are tried.
const (
	Empty   Outcome = "empty"   // the utterance is blank: nothing was embedded
	Direct  Outcome = "direct"  // the utterance names a skill outright
	One     Outcome = "one"     // one domain reaches the threshold
	Several Outcome = "several" // more than one does
	Sticky  Outcome = "sticky"  // nothing matches: what was visible stays
	Clarify Outcome = "clarify" // nothing matches, but something is near: ask
	None    Outcome = "none"    // nothing matches
)

// A Route is the decision about one turn. It does not change and may be kept;
// slices belong to it.
type Route struct {
	Utterance string
	Outcome   Outcome
	Threshold float64
	Turn      int  // of the session, from 1; 0 outside one
	Flat      bool // all summaries are shown, the scores decide nothing
	Degraded  bool // the embedder gave no vector: words only
	Clipped   bool // of a long utterance only head and tail were embedded

	Domains    []Domain    // those that exist for the asker, best first
	Candidates []Candidate // the best skills before the threshold, best first, at most 25
	Summaries  []*summaries.Summary
	// Lines are matched domains that did not fit: only their line is shown.
	Lines []string
	// Loaded are the definitions in the prompt.
	Loaded []*definitions.Skill

	// Against the turn before, by skill name; New and Hits also hold what a
	// cache served again after it was out of sight.
	New, Hits, Unloaded []string
	Events              []Event // what moved in this turn

	snapshot *snapshot
	allow    []bool
	shown    []section // of Summaries, by domain
	near     int       // of nearest, that a question is about
	more     int       // skills of the best domain that were cut
	named    []int32   // skills named outright
	nearest  []Domain // best first, of Domains
}

// A Domain is one domain's standing in a route.
type Domain struct {
	Name     string
	Score    float32 // estimated probability that the domain is among the right ones, 0 to 1
	Margin   float32 // evidence above the best other domain's
	Matched  bool    // it reached the threshold, or was chosen for another reason
	Fallback bool    // it is shown because nothing matched
	Excluded bool    // it was tried in this task and is left out
}

// A Candidate is one skill's standing in a route.
type Candidate struct {
	Name       string
	Domain     string  // its best domain
	Evidence   float32 // what skills are ranked by: not a probability
	Similarity float32 // cosine of utterance and skill
	Lexical    float32 // share of the utterance that the skill's words cover
	Phrase     float32 // cosine of the skill's best phrase, 0 if not looked at
	Named      bool    // the utterance names it outright
}

// A section is the summaries shown of one domain.
type section struct {
	domain int32
	from   int // in Summaries
	to     int
}

// Matched tells whether the utterance led to a domain or skill by itself.
func (r *Route) Matched() bool {
	return r.Outcome == Direct || r.Outcome == One || r.Outcome == Several
}

// Question returns what to ask the user instead of guessing, naming the
// alternatives, in the language of the utterance. Asking is the host's choice:
// the prompt holds the index all the same.
func (r *Route) Question() (question string, ok bool) {
	if r.near == 0 {
		return "", false
	}
	return r.ask(r.Nearest()[:r.near]), true
}

// Nearest returns the names of the domains that come nearest when nothing
// matched, best first, at most three.
func (r *Route) Nearest() []string {
	names := make([]string, len(r.nearest))
	for i, d := range r.nearest {
		names[i] = d.Name
	}
	return names
}

// Top returns the best domain; the zero Domain when there is none.
func (r *Route) Top() Domain {
	if len(r.Domains) == 0 {
		return Domain{}
	}
	return r.Domains[0]
}
