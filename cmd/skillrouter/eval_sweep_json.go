package main

import "skillrouter/eval"

// A sweepOutput is a sweep as --json writes it.
type sweepOutput struct {
	N           int              `json:"n"` // cases that were swept over
	Files       []string         `json:"files"`
	Conditions  eval.Conditions  `json:"conditions"`
	LeftOut     int              `json:"left_out"`
	Rule        string           `json:"rule"`
	Split       bool             `json:"split"`
	Thresholds  []eval.Point     `json:"thresholds"`
	Caps        []eval.Point     `json:"caps"`
	MaxDomains  []eval.Point     `json:"domain_caps"`
	Recommended *sweepChoice     `json:"recommended"` // null: nothing is in scope
	HeldOut     *sweepHeldOutput `json:"held_out"`    // null without --split
}

// A sweepChoice is what is recommended.
type sweepChoice struct {
	Threshold    float64  `json:"threshold"`
	Keeps        bool     `json:"keeps_bounds"`
	MaxSummaries *int     `json:"max_summaries"` // -1: no bound; null: nothing is recommended
	Words        []string `json:"words"`
}

// sweepHeldOutput is what came of the other half.
type sweepHeldOutput struct {
	Now       eval.Point               `json:"in_use"`
	Chosen    eval.Point               `json:"recommended"`
	Intervals map[string]eval.Interval `json:"intervals"` // of the recommended
}

func newSweepOutput(s *sweep) *sweepOutput {
	out := &sweepOutput{
		N: s.byValue[0].N, Files: s.files, Conditions: s.conditions, LeftOut: s.dropped, Rule: s.rule.String(), Split: s.split,
		Thresholds: s.byValue, Caps: orEmpty(s.byCap), MaxDomains: orEmpty(s.byDomains),
	}
	if s.chosen >= 0 {
		p := &s.byValue[s.chosen]
		out.Recommended = &sweepChoice{Threshold: p.Threshold, Keeps: s.rule.Misses(p.Figures) == 0, Words: s.recommendation()}
		if s.chosenCap >= 0 {
			out.Recommended.MaxSummaries = &s.byCap[s.chosenCap].MaxSummaries
		}
	}
	if s.held != nil {
		out.HeldOut = &sweepHeldOutput{s.held.now, s.held.chosen, s.held.intervals}
	}
	return out
}
