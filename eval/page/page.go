// Package page writes evaluations as one page to be opened in a browser: figures
// and their plots, with nothing to load from elsewhere and no script. All text
// of catalogs and cases is escaped.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/eval"
)

//go:embed page.html
var layout string

// A Page is what is shown. The zero value of a field leaves its part out.
type Page struct {
	Title      string
	Files      []string // of the cases
	Places     []string // of the skills
	Conditions eval.Conditions
	Notes      []string

	Cases     *eval.Report
	Intervals map[string]eval.Interval

	Sweep *Sweep

	Turns         *eval.TurnFigures
	TurnIntervals map[string]eval.Interval

	Summary func(skill string) string // text of a skill's summary; nil: none is shown
}

// Write writes the page as HTML: the same for the same page, always.
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"percent": percent, "interval": interval, "width": width, "value": value, "list": list, "join": strings.Join, "decimal": decimal, "base": filepath.Base,
	}).Parse(layout)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	v, err := p.view()
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if err := t.Execute(w, v); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// A view is what the layout shows.
type view struct {
	*Page
	Head     []string
	Cards    []card
	Parts    []part
	Plots    []plot
	Swept    []sweptTable
	Groups   []groups
	Confused []confused
	Astray   []astray
	More     int // rows that went astray and are not told
}

// A card is a figure that goes before the others.
type card struct {
	Figure
	Better string
}

// A part is figures that belong together.
type part struct {
	Title   string
	Figures []Figure
}

// A Figure is a row of a table of figures.
type Figure struct {
	Name, What string
	Value      eval.Number
	Rate       bool
	Interval   *eval.Interval
}

// A plot is a drawing and what it says.
type plot struct {
	Title, About string
	SVG          template.HTML
	Wide         bool
}

// groups are a breakdown.
type groups struct {
	Noun string
	Rows []eval.Group
	Open bool
}

// confused is a pair with the texts of both.
type confused struct {
	eval.Confusion
	RightText, FirstText string
}

// astray is a row that did not come out as it should.
type astray struct {
	*eval.Row
	Why string
}

// Bounds of what a page tells, for the reader's sake.
const (
	toldConfused = 100
	toldAstray   = 500
)

func (p *Page) view() (*view, error) {
	v := &view{Page: p, Head: p.head()}
	if p.Sweep != nil {
		drawn, err := p.Sweep.plots()
		if err != nil {
			return nil, err
		}
		v.Plots, v.Swept = drawn, p.Sweep.tables()
	}
	if p.Turns != nil {
		turns := part{Title: "Turns of dialogues"}
		for _, k := range eval.TurnKinds() {
			turns.Figures = appendKnown(turns.Figures, Figure{k.Name, k.What, k.Of(p.Turns), true, at(p.TurnIntervals, k.Name)})
		}
		v.Parts = append(v.Parts, turns)
		drawn, err := byTurn(p.Turns)
		if err != nil {
			return nil, err
		}
		if drawn != nil {
			v.Plots = append(v.Plots, *drawn)
		}
	}
	if p.Cases == nil {
		return v, nil
	}
	drawn, err := plots(p.Cases)
	if err != nil {
		return nil, err
	}
	v.Cards, v.Parts, v.Plots = p.cards(), append(p.parts(), v.Parts...), append(drawn, v.Plots...)
	v.Groups = breakdowns(p.Cases.Rows)
	text := func(skill string) string {
		if p.Summary == nil {
			return ""
		}
		return p.Summary(skill)
	}
	for _, c := range eval.Confusions(p.Cases.Rows) {
		if len(v.Confused) < toldConfused {
			v.Confused = append(v.Confused, confused{c, text(c.Right), text(c.First)})
		}
	}
	for _, r := range p.Cases.Rows {
		why := eval.Astray(r)
		switch {
		case why == "":
		case len(v.Astray) == toldAstray:
			v.More++
		default:
			v.Astray = append(v.Astray, astray{r, why})
		}
	}
	return v, nil
}

// head says what was measured.
func (p *Page) head() []string {
	var head []string
	if r := p.Cases; r != nil {
		head = append(head, fmt.Sprintf("%s: %d in scope, %d out of scope", count(r.N, "utterance"), r.InScope, r.OutOfScope))
	}
	if s := p.Sweep; s != nil {
		f := s.Thresholds[0].Figures
		head = append(head, fmt.Sprintf("%s: %d in scope, %d out of scope", count(f.N, "utterance"), f.InScope, f.OutOfScope))
	}
	if t := p.Turns; t != nil {
		head = append(head, fmt.Sprintf("%s with %s, %d of them labelled", count(t.Dialogues, "dialogue"), count(t.Turns, "turn"), t.Labelled))
	}
	return head
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func at(intervals map[string]eval.Interval, name string) *eval.Interval {
	x, ok := intervals[name]
	if !ok {
		return nil
	}
	return &x
}

func appendKnown(figures []Figure, f Figure) []Figure {
	if !f.Value.Known() {
		return figures
	}
	return append(figures, f)
}

// cards are the figures that a reader looks for first.
func (p *Page) cards() []card {
	var cards []card
	for _, name := range []string{"domain_hit@1", "skill_hit@1", "skill_hit@5", "shown_recall", "wrong_match_rate", "abstain_recall"} {
		for _, k := range eval.Kinds() {
			if v := k.Of(p.Cases.Figures); k.Name == name && v.Known() {
				better := "more is better"
				if k.Better < 0 {
					better = "less is better"
				}
				cards = append(cards, card{Figure{k.Name, k.What, v, k.Rate, at(p.Intervals, k.Name)}, better})
			}
		}
	}
	return cards
}

func (p *Page) parts() []part {
	var parts []part
	rest := eval.Part{Title: "Without layers, and what it costs"}
	told := map[string]bool{}
	all := eval.Parts()
	for _, x := range all {
		for _, k := range x.Figures {
			told[k.Name] = true
		}
	}
	for _, k := range eval.Kinds() {
		if !told[k.Name] {
			rest.Figures = append(rest.Figures, k)
		}
	}
	for _, x := range append(all, rest) {
		one := part{Title: x.Title}
		for _, k := range x.Figures {
			one.Figures = appendKnown(one.Figures, Figure{k.Name, k.What, k.Of(p.Cases.Figures), k.Rate, at(p.Intervals, k.Name)})
		}
		if len(one.Figures) > 0 {
			parts = append(parts, one)
		}
	}
	return parts
}

func breakdowns(rows []*eval.Row) []groups {
	var all []groups
	for _, b := range eval.Breakdowns(rows) {
		all = append(all, groups{b.Noun, b.Groups, b.Noun != "skill"})
	}
	return all
}

func percent(v eval.Number) string {
	if !v.Known() {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*v)
}

func value(f Figure) string {
	switch {
	case !f.Value.Known():
		return "–"
	case f.Rate:
		return fmt.Sprintf("%.1f %%", 100*f.Value)
	default:
		return fmt.Sprintf("%.4g", float64(f.Value))
	}
}

func interval(x *eval.Interval) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.1f – %.1f", 100*x[0], 100*x[1])
}

// width is a share as CSS has it.
func width(v eval.Number) template.CSS {
	if !v.Known() {
		return "0%"
	}
	return template.CSS(fmt.Sprintf("%.1f%%", 100*min(max(float64(v), 0), 1))) //nolint:gosec // a number
}

func decimal(x float64) string { return fmt.Sprintf("%.4g", x) }

// list writes the names of a ranking.
func list(ranking []eval.Standing, most int) string {
	var names []string
	for _, x := range ranking[:min(most, len(ranking))] {
		names = append(names, fmt.Sprintf("%s %.2f", x.Name, x.Score))
	}
	return strings.Join(slices.Clip(names), ", ")
}
