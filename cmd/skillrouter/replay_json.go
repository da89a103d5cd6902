package main

import (
	"cmp"

	"skillrouter/eval"
)

// A replayOutput is a replay as --json writes it: with --compare and --sweep
// the figures of all settings, else those of one and the turns.
type replayOutput struct {
	Catalog replayedOver `json:"catalog"`
	*replayFigures
	Compared []*replayFigures `json:"compared,omitempty"`
	Changed  []changedTurn    `json:"changed,omitempty"`
}

// replayedOver says what was replayed, and over what: no figure without it.
type replayedOver struct {
	routedOver
	Index        string `json:"index"`         // fingerprint
	TurnsChinese int    `json:"turns_chinese"` // the others are in other languages
	Played       bool   `json:"played"`        // a host was played whose model is right
}

// replayFigures are the figures of one setting.
type replayFigures struct {
	Settings  string  `json:"settings"` // what differs from the flags, "" if nothing does
	Threshold float64 `json:"threshold"`
	*eval.ReplayReport
}

// A changedTurn is one that went otherwise with other settings.
type changedTurn struct {
	Settings string       `json:"settings"`
	ID       string       `json:"id"`
	Turn     int          `json:"turn"`
	User     string       `json:"user"`
	Before   eval.Verdict `json:"before"` // with the settings as given
	After    eval.Verdict `json:"after"`

	// A right skill, or where none is labelled a right domain, is visible.
	VisibleBefore bool `json:"visible_before"`
	VisibleAfter  bool `json:"visible_after"`
}

func newReplayOutput(c *catalog, replays []replayed, flags *replayFlags) *replayOutput {
	out := &replayOutput{Catalog: newReplayedOver(c, replays[0].report, flags.play)}
	if len(flags.compare) == 0 && len(flags.sweep) == 0 {
		r := replays[0]
		if flags.onlyWrong {
			r.report = onlyAstray(r.report)
		}
		out.replayFigures = &replayFigures{r.name, r.threshold, r.report}
		return out
	}
	for _, r := range replays {
		figures := *r.report
		figures.Replayed = nil
		out.Compared = append(out.Compared, &replayFigures{r.name, r.threshold, &figures})
	}
	if len(flags.compare) > 0 {
		for _, r := range replays[1:] {
			out.Changed = append(out.Changed, changed(replays[0], r)...)
		}
	}
	return out
}

func newReplayedOver(c *catalog, r *eval.ReplayReport, played bool) replayedOver {
	ix := c.Index()
	return replayedOver{
		routedOver{len(ix.Skills()), len(ix.Domains()), ix.EmbedderID(), c.Generation()},
		ix.Fingerprint(), han(r), played,
	}
}

// onlyAstray is a report with all figures and the turns that went wrong.
func onlyAstray(r *eval.ReplayReport) *eval.ReplayReport {
	out := *r
	out.Replayed = nil
	for _, d := range r.Replayed {
		turns := d.Turns
		d.Turns = nil
		for i := range turns {
			if astray(&turns[i]) {
				d.Turns = append(d.Turns, turns[i])
			}
		}
		if len(d.Turns) > 0 {
			out.Replayed = append(out.Replayed, d)
		}
	}
	return &out
}

// changed lists the turns whose verdict is another in b than in a.
func changed(a, b replayed) []changedTurn {
	var all []changedTurn
	for i, d := range a.report.Replayed {
		for j := range d.Turns {
			before, after := &d.Turns[j], &b.report.Replayed[i].Turns[j]
			if before.Verdict != after.Verdict {
				all = append(all, changedTurn{
					b.name, d.ID, before.Turn, before.User, cmp.Or(before.Verdict, "-"), cmp.Or(after.Verdict, "-"), sees(before), sees(after),
				})
			}
		}
	}
	return all
}

// sees tells whether the turn shows what is right.
func sees(t *eval.ReplayedTurn) bool {
	return t.SkillVisible || len(t.WantSkills) == 0 && t.DomainVisible
}
