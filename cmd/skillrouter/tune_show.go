package main

import (
	"fmt"
	"slices"
	"strings"

	"skillrouter/eval"
)

// writeTuned writes a tuning to be read.
func (a *app) writeTuned(x *tuned, force bool) {
	how := "named"
	if x.byHash {
		how = "divided by a hash of the text"
	}
	a.fill("", "", fmt.Sprintf("fitted on %s, reported on %s others; %s", plural(len(x.fit), "case"), fmt.Sprint(len(x.report)), how))
	a.fill("from ", "   ", fmt.Sprintf("%s over %s", strings.Join(cleanAll(x.files), ", "), strings.Join(a.short(x.places), ", ")))
	a.fill("", "   ", over(&x.Comparison.A.Conditions))
	a.heading(fmt.Sprintf("Fitted on %s: %d in scope, %d out of scope", plural(x.Fitted.N, "case"), x.Fitted.InScope, x.Fitted.OutOfScope))
	for _, s := range x.inWords() {
		a.fill("  - ", "    ", s)
	}
	report := x.Comparison
	a.heading(fmt.Sprintf("On the %d others, in percent: %d in scope, %d out of scope", report.B.N, report.B.InScope, report.B.OutOfScope))
	before, after := eval.Intervals(report.A.Rows), eval.Intervals(report.B.Rows)
	t := table{right: []int{1, 3, 5, 7}}
	t.add("", "before", "95 %", "after", "95 %", "change", "95 %", "p")
	for i := range report.Figures {
		f := &report.Figures[i]
		if !slices.Contains(tunedFigures(), f.Name) {
			continue
		}
		between := func(of map[string]eval.Interval) string {
			x, ok := of[f.Name]
			if !ok {
				return ""
			}
			return interval(x)
		}
		cells := figureCells(f)
		t.add(f.Name, cells[1], between(before), cells[2], between(after), cells[3], cells[4], cells[7])
	}
	t.write(a.out, "  ", a.width())
	a.heading("In short")
	for _, s := range x.verdict() {
		a.fill("  - ", "    ", s)
	}
	a.writeTunedFile(x, force)
}

// tunedFigures are those that tuning may change.
func tunedFigures() []string {
	return []string{"right_match_rate", "wide_match_rate", "wrong_match_rate", "no_match_rate", "shown_recall", "abstain_recall", "ece"}
}

// inWords says what was fitted.
func (x *tuned) inWords() []string {
	first := fmt.Sprintf("threshold %s, as in use", decimal(x.Old))
	if x.Threshold != x.Old {
		first = fmt.Sprintf("threshold %s in place of %s", decimal(x.Threshold), decimal(x.Old))
	}
	first += beyond(x.rule, x.Fitted.Figures)
	said := []string{first + ": " + inShort(x.Fitted.Figures), "the rule: " + x.rule.String()}
	if s := costOfBounds(x.Fitted.Figures, x.FittedOld.Figures); s != "" {
		said = append(said, s)
	}
	if !x.Judged {
		said = append(said, fmt.Sprintf("out of scope are only %d: none below the threshold in use is chosen with fewer than %d", x.Fitted.OutOfScope, eval.LeastOutOfScope))
	}
	trial := fmt.Sprintf("on rows left out of its fit, each fifth in turn, log loss %.4f → %.4f, ece %s → %s",
		x.Trial.LogLoss, x.Trial.Corrected, value(x.Trial.ECE, true), value(x.Trial.ECEAfter, true))
	if x.Correction.Slope != 0 {
		return append(said, fmt.Sprintf("calibration: slope %g, shift %g: %s", x.Correction.Slope, x.Correction.Shift, trial))
	}
	return append(said, "no calibration: "+trial+": too little to be sure")
}

// verdict says what tuning comes to on the other part.
func (x *tuned) verdict() []string {
	if !x.Changes() {
		return []string{"nothing is to be changed: threshold and scores stay as they are"}
	}
	var said []string
	if f := x.Comparison.Figure(eval.Decision); f != nil {
		words := fmt.Sprintf("right decisions on the others: %d fixed, %d broken", f.Up, f.Down)
		if f.P < 0.05 {
			words += ", hardly by chance, " + inP(f.P)
		} else {
			words += ", may be chance, " + inP(f.P)
		}
		said = append(said, words, fmt.Sprintf("log loss of their scores %.4f → %.4f", x.LogLoss[0], x.LogLoss[1]))
	}
	if !x.Improves {
		return append(said, "the others get no better, by half a point of the rule or by their scores: nothing should be written")
	}
	if miss := x.rule.Misses(x.Comparison.B.Figures); miss > 0 {
		said = append(said, fmt.Sprintf("the others miss the bounds of the rule by %.1f points, %.1f before", 100*miss, 100*x.rule.Misses(x.Comparison.A.Figures)))
	} else {
		said = append(said, "the others keep the bounds of the rule")
	}
	return said
}

// writeTunedFile shows what is to be written, and where.
func (a *app) writeTunedFile(x *tuned, force bool) {
	switch {
	case x.text == "":
		return
	case !x.Improves && !force:
		a.fill("  - ", "    ", "--force shows what would be written, and writes it with --write")
		return
	}
	fmt.Fprintln(a.out)
	if x.target != nil {
		fmt.Fprint(a.out, changeOf(clean(x.target.path), x.target.text, []byte(x.text)))
		return
	}
	a.fill("", "", "no folder of skills to write to: put this into a skillrouter.yaml at the root of the folder that the skills are read from. "+
		"For a .jsonl catalog that is a folder of its own, given too: --skills skills.jsonl --skills DIR. A saved index must be built again from it")
	fmt.Fprintf(a.out, "\n%s", x.text)
}

// A tuneOutput is a tuning as --json writes it.
type tuneOutput struct {
	Files       []string                 `json:"files"`
	LeftOut     int                      `json:"left_out"`
	Fit         tunePart                 `json:"fit"`
	Report      tunePart                 `json:"report"`
	Rule        string                   `json:"rule"`
	Threshold   float64                  `json:"threshold"`
	InUse       float64                  `json:"threshold_in_use"`
	Judged      bool                     `json:"lower_thresholds_judged"`
	Calibration *eval.Correction         `json:"calibration"` // null: none helps
	Trial       eval.Trial               `json:"trial"`       // of a calibration, on rows left out of its fit
	Figures     []eval.PairedFigure      `json:"figures"`     // of the report part: a before, b after
	Before      map[string]eval.Interval `json:"intervals_before"`
	After       map[string]eval.Interval `json:"intervals_after"`
	Conditions  eval.Conditions          `json:"conditions"` // before
	LogLoss     [2]float64               `json:"log_loss"`   // of the report part, before and after
	Improves    bool                     `json:"improves"`
	Changes     bool                     `json:"changes"`
	File        string                   `json:"file"` // "": no folder to write to
	Text        string                   `json:"text"` // of the file, with the numbers; "" if nothing changes
	Written     bool                     `json:"written"`
}

type tunePart struct {
	N          int `json:"n"`
	InScope    int `json:"in_scope"`
	OutOfScope int `json:"out_of_scope"`
}

func newTuneOutput(x *tuned) *tuneOutput {
	c := x.Comparison
	out := &tuneOutput{
		Files: x.files, LeftOut: x.dropped, Rule: x.rule.String(), Threshold: x.Threshold, InUse: x.Old, Judged: x.Judged, Trial: x.Trial,
		Fit: tunePart{x.Fitted.N, x.Fitted.InScope, x.Fitted.OutOfScope}, Report: tunePart{c.B.N, c.B.InScope, c.B.OutOfScope},
		Figures: c.Figures, Before: eval.Intervals(c.A.Rows), After: eval.Intervals(c.B.Rows), Conditions: c.A.Conditions,
		LogLoss: x.LogLoss, Improves: x.Improves, Changes: x.Changes(), Text: x.text, Written: x.written,
	}
	if x.Correction.Slope != 0 {
		out.Calibration = &x.Correction
	}
	if x.target != nil {
		out.File = x.target.path
	}
	return out
}
