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
	Pair    Outcome = "pair"    // none does, but the best two are close and do together: both match
	Sticky  Outcome = "sticky"  // nothing matches: what was visible stays
	Clarify Outcome = "clarify" // nothing matches, but something is near: ask
	None    Outcome = "none"    // nothing matches
)

// A Route is the decision about one turn. It does not change and may be kept;
// its slices and what they point to must not be changed.
type Route struct {
	Utterance string
	Outcome   Outcome
	Threshold float64
	Turn      int  // of the session, from 1; 0 outside one
	Flat      bool // all summaries are shown, the scores decide nothing
	Degraded  bool // the embedder gave no vector: words only
	Clipped   bool // of a long utterance only head and tail were embedded
	Unsaved   bool // the session store failed: the session goes on in this process, see [Session]
	Fresh     bool // with Unsaved: what the store may have of the session was not to be had, the turns before count for nothing

	Domains    []Domain             // those that exist for the asker, best first; none if Outcome is Empty
	Candidates []Candidate          // the best skills before the threshold, best first, at most 25; those named outright go first
	Summaries  []*summaries.Summary // shown, by domain, best first, each once; in catalog order if Flat
	Lines      []string             // names of matched domains that did not fit: only their line is shown
	Loaded     []*definitions.Skill // in the prompt, in the order in which they were loaded
	Extended   []string             // names of those that stand in the prompt with their extension

	// In a session, names of skills. New came into the prompt from the
	// catalog, Hits were served again by a cache, whether they were visible in
	// the turn before or not. Unloaded were in the prompt since the turn before
	// began and are not any more. The constant list of a flat catalog is in none.
	New, Hits, Unloaded []string

	Events []Event // of this turn, oldest first

	snapshot *snapshot
	allow    []bool
	named    []int32   // skills named outright
	shown    []section // of Summaries, by domain
	fallback bool      // the sections are of fallback domains
	nearest  []Domain  // if nothing matched: best first, at most mostNear
	topics   []topic   // what the dialogue is about after it
	near     int       // how many of them a question is about
	gone     []string  // loaded skills that the catalog has no more
}

// A Domain is one domain's standing in a route.
type Domain struct {
	Name     string
	Score    float32 // estimated probability that the domain is among the right ones, 0 to 1
	Evidence float32 // what the score was made of: not a probability
	Margin   float32 // evidence above the best other domain's, negative below it
	Context  float32 // what of the evidence is from the turns before
	Matched  bool    // it reached the threshold and counts, alone or as one of a pair, or holds a skill that was named outright
	Fallback bool    // it is shown because nothing matched
	Excluded bool    // it was tried in vain and is left out
}

// A Candidate is one skill's standing in a route.
type Candidate struct {
	Name       string
	Domain     string  // the best of its domains
	Evidence   float32 // what skills are ranked by: not a probability
	Similarity float32 // of utterance and skill: a cosine, or by the head of the index on about the same scale, where it may be negative
	Lexical    float32 // share of the utterance that the skill's words cover
	Phrase     float32 // cosine of the skill's best phrase, 0 if not looked at
	Against    float32 // cosine of the nearest of what the skill is not for, 0 if nothing is or it was not looked at: counts where it is above Phrase
	Named      bool    // the utterance names it outright
}

// A section is the summaries shown of one domain.
type section struct {
	domain   int32 // -1: of all
	from, to int   // in Summaries
	more     int   // skills that were cut
}

// Matched tells whether the utterance led to a domain or skill by itself.
func (r *Route) Matched() bool {
	return r.Outcome == Direct || r.Outcome == One || r.Outcome == Several || r.Outcome == Pair
}

// Question returns what to ask the user instead of guessing, naming the
// alternatives, in the language of the utterance. Asking is the host's choice:
// the prompt holds the index all the same.
func (r *Route) Question() (question string, ok bool) {
	if r.near == 0 {
		return "", false
	}
	return r.ask(r.Alternatives()), true
}

// Alternatives returns the names of the domains that Question asks about, best
// first; none where there is no question.
func (r *Route) Alternatives() []string { return r.Nearest()[:r.near] }

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
