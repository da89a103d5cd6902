package page

import (
	"fmt"
	"strconv"

	"skillrouter/eval"
)

// A Sweep is what a page tells of thresholds and of bounds of summaries.
type Sweep struct {
	Thresholds []eval.Point // that differ in nothing else
	Caps       []eval.Point // likewise; nil: nothing is told of them
	Words      []string     // what is recommended, and by what rule

	InUse, Chosen int // places in Thresholds; -1 for none
}

// A sweptLine is a line of a table of points.
type sweptLine struct {
	eval.Point
	Name, Mark string
}

// sweptTable is a table of points.
type sweptTable struct {
	What  string
	Lines []sweptLine
}

func (s *Sweep) tables() []sweptTable {
	thresholds := sweptTable{What: "threshold"}
	for i, p := range s.Thresholds {
		mark := ""
		switch i {
		case s.Chosen:
			if mark = "recommended"; i == s.InUse {
				mark = "in use, recommended"
			}
		case s.InUse:
			mark = "in use"
		}
		thresholds.Lines = append(thresholds.Lines, sweptLine{p, thresholdOf(p), mark})
	}
	if len(s.Caps) == 0 {
		return []sweptTable{thresholds}
	}
	caps := sweptTable{What: "summaries"}
	for _, p := range s.Caps {
		caps.Lines = append(caps.Lines, sweptLine{p, capOf(p), ""})
	}
	return []sweptTable{thresholds, caps}
}

// thresholdOf writes a threshold with two digits at least.
func thresholdOf(p eval.Point) string {
	if s := decimal(p.Threshold); len(s) > len("0.00") {
		return s
	}
	return fmt.Sprintf("%.2f", p.Threshold)
}

func capOf(p eval.Point) string {
	if p.MaxSummaries < 0 {
		return "any"
	}
	return strconv.Itoa(p.MaxSummaries)
}

// plots draws what comes of what is in scope and out of it.
func (s *Sweep) plots() ([]plot, error) {
	var all []plot
	draw := func(title, about string, points []eval.Point, name func(eval.Point) string, b bars, of ...func(*eval.Figures) eval.Number) error {
		b.values = make([][]float64, len(of))
		for _, p := range points {
			b.labels = append(b.labels, name(p))
			for i, figure := range of {
				b.values[i] = append(b.values[i], known(figure(p.Figures)))
			}
		}
		b.most, b.width, b.height, b.format = 1, plotWidth, plotHeight, inPercent
		svg, err := b.draw()
		all = append(all, plot{Title: title, About: about, SVG: svg})
		return err
	}
	first := s.Thresholds[0].Figures
	if first.InScope > 0 {
		err := draw("In scope, by threshold", fmt.Sprintf("Of %d utterances: one or two domains match with a right one among them, three and more, only wrong ones; the rest matches nothing.", first.InScope),
			s.Thresholds, thresholdOf, bars{names: []string{"right", "wide", "wrong"}, colours: []string{blue, sky, red}, stacked: true, axis: "threshold"},
			func(f *eval.Figures) eval.Number { return f.RightMatch }, func(f *eval.Figures) eval.Number { return f.WideMatch },
			func(f *eval.Figures) eval.Number { return f.WrongMatch })
		if err != nil {
			return nil, err
		}
	}
	if first.OutOfScope > 0 {
		err := draw("Out of scope, by threshold", fmt.Sprintf("Of %d utterances: nothing matches, as it should be.", first.OutOfScope),
			s.Thresholds, thresholdOf, bars{names: []string{"rejected"}, colours: []string{blue}, axis: "threshold"},
			func(f *eval.Figures) eval.Number { return f.AbstainRecall })
		if err != nil {
			return nil, err
		}
	}
	if len(s.Caps) > 0 && s.Caps[0].Shown.Known() {
		err := draw("What is shown, by bound of summaries", "A right skill is among the summaries.",
			s.Caps, capOf, bars{names: []string{"shown"}, colours: []string{blue}, axis: "summaries"},
			func(f *eval.Figures) eval.Number { return f.Shown })
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
