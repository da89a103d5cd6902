package main

import (
	"maps"

	"skillrouter/eval"
	"skillrouter/router"
)

// An evalOutput is an evaluation as --json writes it. Figures that there is
// nothing for are null.
type evalOutput struct {
	N     int      `json:"n"` // utterances and labelled turns
	Files []string `json:"files"`
	From  []string `json:"catalog"` // folders, .jsonl catalogs or the index file
	*eval.Figures
	*eval.TurnFigures
	Intervals  map[string]eval.Interval `json:"intervals"`
	Conditions eval.Conditions          `json:"conditions"`
	LeftOut    int                      `json:"left_out"` // cases with names that the catalog does not have
	Notes      []string                 `json:"notes"`
	*evalDetails
}

// evalDetails are written with --details.
type evalDetails struct {
	Breakdowns map[string][]eval.Group `json:"by"` // by domain, skill and so on, the worst first
	Confused   []confusedPair          `json:"confused"`
	Rows       []evalRow               `json:"rows"`
	Replayed   []eval.ReplayedDialogue `json:"replayed"`
}

// A confusedPair is a confusion with the texts of both skills.
type confusedPair struct {
	eval.Confusion
	RightText string `json:"right_text"`
	FirstText string `json:"first_text"`
}

// An evalRow is what came of one utterance.
type evalRow struct {
	File    string          `json:"file"`
	Line    int             `json:"line"`
	Text    string          `json:"text"`
	Domains []string        `json:"domains"` // right ones
	Skills  []string        `json:"skills"`
	Outcome router.Outcome  `json:"outcome"`
	Matched []string        `json:"matched"`
	Best    []eval.Standing `json:"best_domains"`
	Ranked  []eval.Standing `json:"best_skills"`
	Asked   []string        `json:"asked"` // domains that the question names
	Rank    int             `json:"skill_rank"`
	Shown   bool            `json:"shown"`
	Flat    int             `json:"flat_rank"`
	Took    float64         `json:"latency_us"`
	Astray  string          `json:"astray"` // what is not as it should be, "" if all is
}

func newEvalOutput(e *evaluation, details bool) *evalOutput {
	figures, turns := e.figures()
	out := &evalOutput{
		N: figures.N + turns.Labelled, Files: orEmpty(e.files), From: orEmpty(e.places), Figures: figures, TurnFigures: turns,
		Intervals: e.allIntervals(), Conditions: e.conditions, LeftOut: e.dropped, Notes: orEmpty(e.notes()),
	}
	if details {
		out.evalDetails = newEvalDetails(e)
	}
	return out
}

// figures are those of cases and of turns, unknown where there are none.
func (e *evaluation) figures() (*eval.Figures, *eval.TurnFigures) {
	figures, turns := eval.Measure(nil), e.turns
	if e.cases != nil {
		figures = e.cases.Figures
	}
	if turns == nil {
		turns, _ = eval.MeasureTurns(nil)
	}
	return figures, turns
}

func (e *evaluation) allIntervals() map[string]eval.Interval {
	all := map[string]eval.Interval{}
	maps.Copy(all, e.intervals)
	maps.Copy(all, e.turnIntervals)
	return all
}

func newEvalDetails(e *evaluation) *evalDetails {
	d := &evalDetails{Breakdowns: map[string][]eval.Group{}, Confused: []confusedPair{}, Rows: []evalRow{}, Replayed: []eval.ReplayedDialogue{}}
	if e.replay != nil {
		d.Replayed = e.replay.Replayed
	}
	if e.cases == nil {
		return d
	}
	for _, b := range eval.Breakdowns(e.cases.Rows) {
		d.Breakdowns[b.Noun] = b.Groups
	}
	for _, c := range eval.Confusions(e.cases.Rows) {
		d.Confused = append(d.Confused, confusedPair{c, e.summary(c.Right), e.summary(c.First)})
	}
	for _, r := range e.cases.Rows {
		d.Rows = append(d.Rows, evalRow{
			File: r.Case.File, Line: r.Case.Line, Text: r.Case.Text, Domains: orEmpty(r.Domains), Skills: orEmpty(r.Case.Skills),
			Outcome: r.Outcome, Matched: orEmpty(r.Matched), Best: orEmpty(r.Best), Ranked: orEmpty(r.Ranked), Asked: orEmpty(r.Asked),
			Rank: r.SkillRank, Shown: r.Shown, Flat: r.FlatRank, Took: float64(r.Took.Nanoseconds()) / 1000, Astray: eval.Astray(r),
		})
	}
	return d
}
