package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-analyze/charts"

	"skillrouter/eval"
)

// Colours of the plots.
const (
	blue = "#3b6fb6"
	sky  = "#b9cde8"
	red  = "#c8503c"
	rose = "#efc4bb"
	ink  = "#3a4653" // of texts
)

// Sizes in pixels; the page scales plots to its width.
const (
	plotWidth  = 540
	plotHeight = 300
	plotRow    = 34 // of a domain
)

// shownDomains is how many domains have a bar.
const shownDomains = 25

// plots draws what the rows have.
func plots(r *eval.Report) ([]plot, error) {
	var all []plot
	for _, draw := range []func(*eval.Report) (*plot, error){hits, reliability, inScope, outOfScope, byDomain} {
		p, err := draw(r)
		if err != nil {
			return nil, err
		}
		if p != nil {
			all = append(all, *p)
		}
	}
	return all, nil
}

// bars is a chart of bars.
type bars struct {
	labels  []string
	names   []string    // of the series
	values  [][]float64 // by series
	colours []string
	most    float64 // end of the axis; 0: as the values want
	stacked bool
	flat    bool // the bars lie
	axis    string

	labelled int // labels that are written; 0: all that fit
	height   int
	width    int
	format   func(float64) string
}

// draw returns the chart as SVG; the library escapes texts.
func (b *bars) draw() (template.HTML, error) {
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: b.width, Height: b.height})
	font := charts.FontStyle{FontSize: 11, FontColor: charts.ColorFromHex(ink)}
	list := charts.NewSeriesListBar(b.values, charts.BarSeriesOption{Names: b.names})
	o := charts.NewBarChartOptionWithSeries(list)
	o.Theme = palette(b.colours)
	o.Horizontal = b.flat
	o.StackSeries = &b.stacked
	labels := b.labels
	if b.flat {
		labels = make([]string, len(b.labels))
		for i, s := range b.labels {
			labels[i] = s + blanks(p, font, s)
		}
	}
	o.CategoryAxis = charts.CategoryAxisOption{Labels: labels, LabelFontStyle: font, LabelCount: b.labelled, Title: b.axis, TitleFontStyle: font}
	most := b.most
	if most == 0 {
		most = end(b.values)
	}
	o.ValueAxis = []charts.ValueAxisOption{{Min: charts.Ptr(0.0), Max: &most, LabelCount: steps + 1, LabelFontStyle: font, ValueFormatter: b.format}}
	o.Legend = charts.LegendOption{SeriesNames: b.names, FontStyle: font, Show: charts.Ptr(len(b.names) > 1)}
	o.Padding = charts.NewBox(8, 8, 8, 8)
	o.ValueFormatter = b.format
	if err := p.BarChart(o); err != nil {
		return "", fmt.Errorf("drawing a plot: %w", err)
	}
	svg, err := p.Bytes()
	if err != nil {
		return "", fmt.Errorf("drawing a plot: %w", err)
	}
	return template.HTML(svg), nil //nolint:gosec // made by the library, which escapes texts
}

// steps is how many steps an axis of values has.
const steps = 5

// end is where an axis of counts ends, so that its steps are round.
func end(stacks [][]float64) float64 {
	var most float64
	for i := range stacks[0] {
		var sum float64
		for _, values := range stacks {
			sum += values[i]
		}
		most = max(most, sum)
	}
	for step := 1.0; ; step *= 10 {
		for _, round := range []float64{1, 2, 5} {
			if steps*round*step >= most {
				return steps * round * step
			}
		}
	}
}

// blanks returns what is to follow a label so that it ends before the axis: the
// font that the library measures with has no Han, which takes a whole em.
func blanks(p *charts.Painter, font charts.FontStyle, label string) string {
	missing := 0.0
	for _, r := range label {
		if wide(r) {
			missing += font.FontSize*pixels - float64(p.MeasureText(string(r), 0, font).Width())
		}
	}
	blank := p.MeasureText("| |", 0, font).Width() - p.MeasureText("||", 0, font).Width()
	return strings.Repeat(" ", int(math.Ceil(max(missing, 0)/float64(max(blank, 1)))))
}

// pixels are those of a point as the library draws it.
const pixels = 4. / 3

// wide tells whether a character is as wide as it is high.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x3000 && r < 0x3040 || r >= 0xff00 && r < 0xff61
}

func palette(colours []string) charts.ColorPalette {
	var list []charts.Color
	for _, c := range colours {
		list = append(list, charts.ColorFromHex(c))
	}
	return charts.GetTheme(charts.ThemeLight).WithSeriesColors(list)
}

func inPercent(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + " %" }
func whole(v float64) string     { return strconv.FormatFloat(v, 'f', 0, 64) }

// hits compares layers with none.
func hits(r *eval.Report) (*plot, error) {
	if !r.SkillHit1.Known() {
		return nil, nil
	}
	b := bars{names: []string{"in layers", "without"}, values: make([][]float64, 2), colours: []string{blue, sky}, most: 1, width: plotWidth, height: plotHeight, format: inPercent}
	add := func(label string, layered, flat float64) {
		b.labels = append(b.labels, label)
		b.values[0], b.values[1] = append(b.values[0], layered), append(b.values[1], flat)
	}
	for _, k := range []int{1, 3, 5, 10, 25} {
		var layered, flat, n float64
		for _, row := range r.Rows {
			if len(row.Case.Skills) == 0 {
				continue
			}
			n++
			if row.SkillRank > 0 && row.SkillRank <= k {
				layered++
			}
			if row.FlatRank > 0 && row.FlatRank <= k {
				flat++
			}
		}
		add(fmt.Sprintf("hit@%d", k), layered/n, flat/n)
	}
	add("shown", float64(r.Shown), float64(r.Flat.Shown))
	svg, err := b.draw()
	return &plot{Title: "A right skill is found", About: "Among the first k of the ranking, and among what is shown: in layers, and without, the best of all skills.", SVG: svg}, err
}

// reliability compares scores with how often they were right.
func reliability(r *eval.Report) (*plot, error) {
	if !r.ECE.Known() {
		return nil, nil
	}
	b := bars{names: []string{"the score says", "are right"}, values: make([][]float64, 2), colours: []string{sky, blue}, most: 1, axis: "score of the best domain", width: plotWidth, height: plotHeight, format: inPercent}
	bins := eval.BinsOf(r.Rows)
	for i, bin := range bins {
		b.labels = append(b.labels, fmt.Sprintf("%.2f", float64(i)/float64(len(bins))))
		n := float64(max(bin.N, 1))
		b.values[0], b.values[1] = append(b.values[0], bin.Scores/n), append(b.values[1], float64(bin.Right)/n)
	}
	svg, err := b.draw()
	return &plot{
		Title: "Scores against the truth",
		About: fmt.Sprintf("Equal bars: a score of 0.8 is right 8 times of 10. The mean gap, by utterances, is %.1f points (ECE); labels are where a bin begins.", 100*r.ECE),
		SVG:   svg,
	}, err
}

// slots is how many bars a distribution of scores has.
const slots = 25

// distribution counts scores by what they came to; a slot that the threshold
// divides has both colours.
func distribution(r *eval.Report, which func(*eval.Row) bool, names, colours []string, sort func(*eval.Row) int) (template.HTML, int, error) {
	b := bars{names: names, values: make([][]float64, len(names)), colours: colours, stacked: true, axis: "score of the best domain", labelled: 6, width: plotWidth, height: plotHeight, format: whole}
	for i := range b.values {
		b.values[i] = make([]float64, slots)
	}
	for i := range slots {
		b.labels = append(b.labels, fmt.Sprintf("%.2f", float64(i)/slots))
	}
	n := 0
	for _, row := range r.Rows {
		if which(row) {
			n++
			b.values[sort(row)][min(max(int(row.Score*slots), 0), slots-1)]++
		}
	}
	svg, err := b.draw()
	return svg, n, err
}

func inScope(r *eval.Report) (*plot, error) {
	if r.InScope == 0 {
		return nil, nil
	}
	svg, n, err := distribution(r, (*eval.Row).InScope,
		[]string{"right", "right, too low", "wrong", "wrong, too low"}, []string{blue, sky, red, rose},
		func(row *eval.Row) int {
			i := 0
			if row.DomainRank != 1 {
				i = 2
			}
			if row.Abstained {
				i++
			}
			return i
		})
	return &plot{Title: "Scores in scope", About: fmt.Sprintf("%d utterances by the score of their best domain, which is right or wrong; pale ones are below the threshold, %.4g.", n, r.Conditions.Threshold), SVG: svg}, err
}

func outOfScope(r *eval.Report) (*plot, error) {
	if r.OutOfScope == 0 {
		return nil, nil
	}
	svg, n, err := distribution(r, func(row *eval.Row) bool { return row.Case.OutOfScope },
		[]string{"matches nothing, rightly", "matches"}, []string{sky, red},
		func(row *eval.Row) int {
			if row.Abstained {
				return 0
			}
			return 1
		})
	return &plot{Title: "Scores out of scope", About: fmt.Sprintf("%d utterances by the score of the best domain; the threshold is %.4g.", n, r.Conditions.Threshold), SVG: svg}, err
}

// byDomain draws the domains, the worst first.
func byDomain(r *eval.Report) (*plot, error) {
	groups := eval.Groups(r.Rows, eval.ByDomain)
	if len(groups) < 2 {
		return nil, nil
	}
	eval.WorstFirst(groups, func(f *eval.Figures) eval.Number { return f.DomainHit1 })
	about := "Utterances whose best domain is right, and whose first skill is."
	if len(groups) > shownDomains {
		about += fmt.Sprintf(" The worst %d of %d domains.", shownDomains, len(groups))
		groups = groups[:shownDomains]
	}
	b := bars{names: []string{"domain hit@1", "skill hit@1"}, values: make([][]float64, 2), colours: []string{blue, sky}, most: 1, flat: true, width: 2 * plotWidth, format: inPercent}
	b.height = 90 + plotRow*len(groups)
	for i := range groups {
		g := &groups[len(groups)-1-i] // bars are drawn from below
		b.labels = append(b.labels, shorten(g.Name))
		b.values[0], b.values[1] = append(b.values[0], known(g.DomainHit1)), append(b.values[1], known(g.SkillHit1))
	}
	svg, err := b.draw()
	return &plot{Title: "By domain, the worst first", About: about, SVG: svg, Wide: true}, err
}

// byTurn compares turns in their dialogue with the same by themselves.
func byTurn(t *eval.TurnFigures) (*plot, error) {
	b := bars{colours: []string{blue}, names: []string{"right"}, values: make([][]float64, 1), most: 1, flat: true, width: 2 * plotWidth, format: inPercent}
	for _, x := range slices.Backward([]struct {
		label string
		value eval.Number
	}{
		{"best domain, in the dialogue", t.DomainHit1},
		{"first turns", t.DomainHit1First},
		{"turns that keep it", t.DomainHit1Kept},
		{"turns that switch", t.DomainHit1Switched},
		{"each utterance alone", t.AloneHit1},
		{"first skill", t.SkillHit1},
		{"right domain visible", t.DomainVisible},
		{"right skill visible", t.SkillVisible},
	}) {
		if x.value.Known() {
			b.labels = append(b.labels, x.label)
			b.values[0] = append(b.values[0], float64(x.value))
		}
	}
	if len(b.labels) == 0 {
		return nil, nil
	}
	b.height = 60 + plotRow*len(b.labels)
	svg, err := b.draw()
	return &plot{Title: "Turns of dialogues", About: "Labelled turns whose best domain is right, routed in their dialogue and alone; whose first skill is; and where something right is visible.", SVG: svg, Wide: true}, err
}

func known(v eval.Number) float64 {
	if !v.Known() {
		return 0
	}
	return float64(v)
}

// shorten cuts a name to what fits beside a bar.
func shorten(s string) string {
	const most = 28
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
