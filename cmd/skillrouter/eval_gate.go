package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/eval"
)

func (a *app) evalGateCommand() *cobra.Command {
	var flags evalFlags
	var least, most []string
	var certain bool
	cmd := &cobra.Command{
		Use:   "gate --min FIGURE=BOUND --max FIGURE=BOUND",
		Short: "Fail where figures miss bounds, for CI",
		Long: `gate measures cases as eval does and compares figures with bounds: the exit status
is 1 when one is missed. Figures are named as eval --json names them, such as
domain_hit@1, shown_recall, flat.skill_hit@1 or turn_domain_hit@1; rates are from
0 to 1. A figure that the cases have no rows for misses its bound.

One row of 100 moves a rate by a point, so bounds are best set below what is reached
by more than that. With --certain the whole 95 % interval of a rate must keep its
bound: then a few lucky rows do not pass the gate.`,
		Example: `  skillrouter eval gate --skills ./skills --cases cases.jsonl --min domain_hit@1=0.93 --max wrong_match_rate=0.05`,
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			bounds, err := readBounds(least, most)
			if err != nil {
				return err
			}
			if len(bounds) == 0 {
				return &useError{errors.New("no bound: --min or --max must give one"), helpHint(cmd)}
			}
			return a.withCases(cmd.Context(), &flags, func(c *catalog, sets []*eval.Set, dropped int) error {
				e, err := a.evaluate(cmd.Context(), c, sets)
				if err != nil {
					return err
				}
				e.dropped = dropped
				return a.gate(e, bounds, certain)
			})
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().StringArrayVar(&least, "min", nil, "`FIGURE=BOUND` that must be reached; may repeat")
	cmd.Flags().StringArrayVar(&most, "max", nil, "`FIGURE=BOUND` that must not be passed; may repeat")
	cmd.Flags().BoolVar(&certain, "certain", false, "compare the worse end of a rate's 95 % interval instead of the rate")
	return cmd
}

// A bound is what a figure must reach or not pass.
type bound struct {
	figure string
	least  bool
	rate   bool
	value  float64
	of     func(*eval.Figures, *eval.TurnFigures) eval.Number
}

func readBounds(least, most []string) ([]bound, error) {
	var bounds []bound
	for _, list := range []struct {
		flag  string
		texts []string
	}{{"--min", least}, {"--max", most}} {
		for _, text := range list.texts {
			b, err := readBound(text)
			if err != nil {
				return nil, &useError{fmt.Errorf("%s %s: %w", list.flag, text, err), "such as " + list.flag + " domain_hit@1=0.93"}
			}
			b.least = list.flag == "--min"
			bounds = append(bounds, b)
		}
	}
	return bounds, nil
}

func readBound(text string) (bound, error) {
	name, number, ok := strings.Cut(text, "=")
	if !ok {
		return bound{}, errors.New("it must be FIGURE=BOUND")
	}
	b, err := figureNamed(strings.TrimSpace(name))
	if err != nil {
		return b, err
	}
	number = strings.TrimSpace(number)
	b.value, err = strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(b.value) || math.IsInf(b.value, 0):
		return b, fmt.Errorf("%q is no number", number)
	case b.rate && (b.value < 0 || b.value > 1):
		return b, fmt.Errorf("%s is a rate: its bound must be from 0 to 1, such as 0.93", b.figure)
	}
	return b, nil
}

// figureNamed is a bound of the figure without its value.
func figureNamed(name string) (bound, error) {
	var names []string
	for _, k := range eval.Kinds() {
		if k.Name == name {
			return bound{figure: name, rate: k.Rate, of: func(f *eval.Figures, _ *eval.TurnFigures) eval.Number { return k.Of(f) }}, nil
		}
		names = append(names, k.Name)
	}
	for _, k := range eval.TurnKinds() {
		if k.Name == name {
			return bound{figure: name, rate: true, of: func(_ *eval.Figures, t *eval.TurnFigures) eval.Number { return k.Of(t) }}, nil
		}
		names = append(names, k.Name)
	}
	if near := eval.Nearest(name, names); near != "" {
		return bound{}, fmt.Errorf("there is no figure %q, did you mean %q?", name, near)
	}
	return bound{}, fmt.Errorf("there is no figure %q: they are %s", name, strings.Join(names, ", "))
}

// A gated is a bound and what was reached.
type gated struct {
	Figure string      `json:"figure"`
	Bound  string      `json:"bound"` // "min" or "max"
	Value  float64     `json:"value"` // of the bound
	Got    eval.Number `json:"got"`   // null: the cases have no rows for it
	OK     bool        `json:"ok"`

	Interval *eval.Interval `json:"interval"` // 95 %; null where there is none
}

// gate compares and tells.
func (a *app) gate(e *evaluation, bounds []bound, certain bool) error {
	figures, turns := e.figures()
	intervals := e.allIntervals()
	missed := 0
	var all []gated
	for _, b := range bounds {
		g := gated{Figure: b.figure, Bound: "max", Value: b.value, Got: b.of(figures, turns)}
		if b.least {
			g.Bound = "min"
		}
		compared := g.Got
		if x, ok := intervals[b.figure]; ok {
			g.Interval = &x
			switch {
			case certain && b.least:
				compared = x[0]
			case certain:
				compared = x[1]
			}
		}
		// What is not known keeps no bound: NaN compares as false.
		if g.OK = float64(compared) <= b.value; b.least {
			g.OK = float64(compared) >= b.value
		}
		if !g.OK {
			missed++
		}
		all = append(all, g)
	}
	if a.set.json {
		err := writeJSON(a.out, struct {
			OK         bool            `json:"ok"`
			N          int             `json:"n"`
			Certain    bool            `json:"certain"` // intervals were compared
			Bounds     []gated         `json:"bounds"`
			Conditions eval.Conditions `json:"conditions"`
		}{missed == 0, figures.N + turns.Labelled, certain, all, e.conditions}, false)
		if err != nil {
			return err
		}
	} else {
		a.writeGate(e, bounds, all, missed)
	}
	if missed > 0 {
		return errFindings
	}
	return nil
}

func (a *app) writeGate(e *evaluation, bounds []bound, all []gated, missed int) {
	a.writeEvalHead(e)
	t := table{right: []int{3}}
	t.add("", "figure", "bound", "got", "")
	for i, g := range all {
		mark, sign, note := "✓", "≥", ""
		if !bounds[i].least {
			sign = "≤"
		}
		if !g.OK {
			mark = "✗"
		}
		got := fmt.Sprintf("%.4g", float64(g.Got))
		if x := g.Interval; x != nil {
			note = fmt.Sprintf("95 %%: %.3f–%.3f", x[0], x[1])
		}
		if !g.Got.Known() {
			got, note = "-", "the cases have no rows for it"
		}
		t.add(mark, g.Figure, sign+" "+strconv.FormatFloat(g.Value, 'g', -1, 64), got, note)
	}
	fmt.Fprintln(a.out)
	t.write(a.out, "", a.width())
	if missed > 0 {
		fmt.Fprintf(a.out, "\n%d of %s missed\n", missed, plural(len(all), "bound"))
		return
	}
	fmt.Fprintf(a.out, "\n%s kept\n", plural(len(all), "bound"))
}
