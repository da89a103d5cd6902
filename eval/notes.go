package eval

import (
	"fmt"
	"math"

	"skillrouter/router"
)

// layersMayCost is what layers may cost of a rate without being mentioned.
const layersMayCost = 0.005

// Notes says in words, in English, what a reader of the figures should know:
// what layers cost, that the threshold decides nothing, what was not measured.
func (r *Report) Notes() []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	r.noteThreshold(note)
	if r.Conditions.Mode == "flat" {
		note("the catalog is shown flat, all summaries at once: layers decide nothing here (--mode layered measures them)")
	} else {
		r.noteLayers(note)
	}
	if r.Conditions.Domains == 1 {
		note("the catalog has one domain: domain figures say nothing of how domains are told apart")
	}
	if r.OutOfScope == 0 {
		note("no case is out of scope: whether nothing matches where nothing should is not measured")
	}
	return notes
}

// A threshold that no score is near decides as any other would. Of a few rows
// that says nothing.
const (
	nearThreshold = 0.05
	manyRows      = 20
)

// noteThreshold tells when the threshold is outside of the scores that decide:
// those of the best domains, and of close pairs together.
func (r *Report) noteThreshold(note func(string, ...any)) {
	low, high := 1.0, 0.0
	near, n := 0, 0
	for _, row := range r.Rows {
		if row.Outcome == router.Direct {
			continue // no threshold decides it
		}
		n++
		low, high = min(low, row.Reach), max(high, row.Reach)
		if math.Abs(row.Reach-r.Conditions.Threshold) <= nearThreshold {
			near++
		}
	}
	if n < manyRows {
		return
	}
	// As float32, in which a score that equals the threshold is equal.
	switch t := float32(r.Conditions.Threshold); {
	case float32(high) < t:
		note("the threshold %.4g has no effect: no utterance reaches it, the scores that decide are %.2f to %.2f", r.Conditions.Threshold, low, high)
	case float32(low) >= t:
		note("the threshold %.4g has no effect: every utterance reaches it, the scores that decide are %.2f to %.2f", r.Conditions.Threshold, low, high)
	case near == 0:
		note("no score that decides is within %.2f of the threshold %.4g: moving it there changes nothing", nearThreshold, r.Conditions.Threshold)
	}
}

// noteLayers tells what layers cost against no layers.
func (r *Report) noteLayers(note func(string, ...any)) {
	for _, x := range []struct {
		what          string
		layered, flat Number
	}{
		{"skill hit@1", r.SkillHit1, r.Flat.SkillHit1},
		{"skill hit@5", r.SkillHit5, r.Flat.SkillHit5},
	} {
		if cost := x.flat - x.layered; cost > layersMayCost {
			note("looking only at the nearest domains costs %.1f points of %s: %.1f %%, without layers %.1f %%", 100*cost, x.what, 100*x.layered, 100*x.flat)
		}
	}
	cost := r.Flat.Shown - r.Shown
	if !(cost > layersMayCost) {
		return
	}
	abstained, elsewhere, with := 0, 0, 0
	for _, row := range r.Rows {
		if !row.hasSkills() {
			continue
		}
		with++
		switch {
		case row.Shown || !row.FlatShown:
		case row.Abstained:
			abstained++
		default:
			elsewhere++
		}
	}
	note("layers cost %.1f points of what is shown: a right skill is among the summaries for %.1f %% of the utterances, "+
		"a flat list of the best %s would have it for %.1f %%; it is lost where nothing matches (%.1f %%) or what matches does not show it (%.1f %%)",
		100*cost, 100*r.Shown, r.Conditions.cap(), 100*r.Flat.Shown, 100*ratio(abstained, with), 100*ratio(elsewhere, with))
}

func (c *Conditions) cap() string {
	if c.Cap < 0 {
		return "skills"
	}
	return fmt.Sprint(c.Cap)
}
