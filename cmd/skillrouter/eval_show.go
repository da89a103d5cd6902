package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"skillrouter/eval"
	"skillrouter/eval/page"
	"skillrouter/internal/atomicfile"
)

// How much of the breakdowns fits beside the figures; --details shows all.
const (
	shownGroups     = 8
	shownConfusions = 5
)

// reportEvaluation writes an evaluation as the flags say.
func (a *app) reportEvaluation(e *evaluation, flags *evalFlags) error {
	if flags.html != "" {
		if err := a.writeEvalPage(e, flags.html); err != nil {
			return err
		}
	}
	if a.set.json {
		return writeJSON(a.out, newEvalOutput(e, flags.details), false)
	}
	a.writeEvaluation(e, flags.details)
	return nil
}

// writeEvaluation writes an evaluation to be read.
func (a *app) writeEvaluation(e *evaluation, details bool) {
	a.writeEvalHead(e)
	if e.cases != nil {
		a.writeEvalFigures(e)
		a.writeScores(e)
		a.writeLayers(e)
		a.writeGroups(e, details)
		a.writeConfusions(e, details)
		if details {
			a.writeAstrayCases(e)
		}
	}
	if e.turns != nil {
		a.writeTurns(e)
	}
	if notes := e.notes(); len(notes) > 0 {
		a.heading("Worth knowing")
		for _, n := range notes {
			a.fill("  - ", "    ", n)
		}
	}
}

// notes are those of the cases, and of what was left out.
func (e *evaluation) notes() []string {
	var notes []string
	if e.cases != nil {
		notes = e.cases.Notes()
	}
	if e.dropped > 0 {
		notes = append(notes, fmt.Sprintf("%s with names that the catalog does not have: left out", plural(e.dropped, "case")))
	}
	return notes
}

// heading begins a part of a report.
func (a *app) heading(s string) {
	if a.colours() {
		s = "\x1b[1m" + s + "\x1b[0m"
	}
	fmt.Fprintf(a.out, "\n%s\n", s)
}

// writeEvalHead says what was measured and what it holds for.
func (a *app) writeEvalHead(e *evaluation) {
	var what []string
	if r := e.cases; r != nil {
		s := fmt.Sprintf("%s: %d in scope, %d out of scope", plural(r.N, "utterance"), r.InScope, r.OutOfScope)
		if other := r.N - r.InScope - r.OutOfScope; other > 0 {
			s += fmt.Sprintf(", %d neither", other)
		}
		what = append(what, s)
	}
	if t := e.turns; t != nil {
		what = append(what, fmt.Sprintf("%s with %s, %d of them labelled", plural(t.Dialogues, "dialogue"), plural(t.Turns, "turn"), t.Labelled))
	}
	c := &e.conditions
	if c.Chinese.Known() {
		what = append(what, fmt.Sprintf("%.0f %% Chinese", 100*c.Chinese))
	}
	a.fill("", "", strings.Join(what, "; "))
	a.fill("from ", "   ", fmt.Sprintf("%s over %s", strings.Join(cleanAll(e.files), ", "), strings.Join(a.short(e.places), ", ")))
	a.fill("", "   ", over(c))
}

// over says what figures hold for.
func over(c *eval.Conditions) string {
	limit := fmt.Sprintf("at most %d summaries", c.Cap)
	if c.Cap < 0 {
		limit = "any number of summaries"
	}
	return fmt.Sprintf("%s in %s, %s, threshold %s, %s, embedder %s, index %.12s, skillrouter %s",
		plural(c.Skills, "skill"), plural(c.Domains, "domain"), c.Mode, decimal(c.Threshold), limit, c.Embedder, c.Index, c.Version)
}

// decimal writes a threshold with as many digits as it has, two at least.
func decimal(x float64) string {
	if s := fmt.Sprintf("%g", x); len(s) > len("0.00") {
		return s
	}
	return fmt.Sprintf("%.2f", x)
}

// writeEvalFigures writes the figures that are known, with their intervals.
func (a *app) writeEvalFigures(e *evaluation) {
	var tables []table
	var titles []string
	for _, p := range eval.Parts() {
		var t table
		for _, k := range p.Figures {
			v := k.Of(e.cases.Figures)
			if !v.Known() {
				continue
			}
			draw, between := "", ""
			if x, ok := e.intervals[k.Name]; ok {
				draw, between = bar(float64(v)), interval(x)
			}
			t.add(k.Name, value(v, k.Rate), draw, between, k.What)
		}
		if len(t.rows) > 0 {
			tables, titles = append(tables, t), append(titles, p.Title)
		}
	}
	sameWidths(tables)
	for i := range tables {
		a.heading(titles[i])
		tables[i].right = []int{1, 3}
		tables[i].write(a.out, "  ", a.width())
	}
	fmt.Fprintf(a.out, "\n  the numbers after the bars are 95 %% intervals; a route takes %.0f µs, %.0f at the 99th percentile\n",
		e.cases.LatencyP50, e.cases.LatencyP99)
	fmt.Fprintf(a.out, "  (%s)\n", e.conditions.Latency)
}

// value writes a figure: a rate in percent.
func value(v eval.Number, rate bool) string {
	switch {
	case !v.Known():
		return "-"
	case rate:
		return fmt.Sprintf("%.1f %%", 100*v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// interval writes an interval of a rate in percent.
func interval(x eval.Interval) string { return fmt.Sprintf("%.1f–%.1f", 100*x[0], 100*x[1]) }

// sameWidths makes the columns of tables equal but for the last.
func sameWidths(tables []table) {
	var wide []int
	for _, t := range tables {
		for _, row := range t.rows {
			for i, cell := range row[:len(row)-1] {
				if i == len(wide) {
					wide = append(wide, 0)
				}
				wide[i] = max(wide[i], columns(cell))
			}
		}
	}
	for i := range tables {
		row := tables[i].rows[0]
		for k, w := range wide {
			pad := strings.Repeat(" ", max(0, w-columns(row[k])))
			if k == 1 || k == 3 {
				row[k] = pad + row[k]
			} else {
				row[k] += pad
			}
		}
	}
}

// scoreSlots is how many columns a distribution of scores has.
const scoreSlots = 25

// writeScores draws how the scores of the best domains lie to the threshold.
func (a *app) writeScores(e *evaluation) {
	t := table{right: []int{1}}
	for _, x := range []struct {
		name string
		is   func(*eval.Row) bool
	}{
		{"in scope, right", func(r *eval.Row) bool { return r.InScope() && r.DomainRank == 1 }},
		{"in scope, wrong", func(r *eval.Row) bool { return r.InScope() && r.DomainRank != 1 }},
		{"out of scope", func(r *eval.Row) bool { return r.Case.OutOfScope }},
	} {
		slots := make([]int, scoreSlots)
		n := 0
		for _, r := range e.cases.Rows {
			if x.is(r) {
				n++
				slots[min(max(int(r.Score*scoreSlots), 0), scoreSlots-1)]++
			}
		}
		if n > 0 {
			t.add(x.name, fmt.Sprint(n), columnsOf(slots))
		}
	}
	if len(t.rows) == 0 {
		return
	}
	a.heading("Scores of the best domain, 0 to 1")
	if at := e.conditions.Threshold; at > 0 {
		t.add("", "", strings.Repeat(" ", min(int(at*scoreSlots), scoreSlots-1))+"^ threshold "+decimal(at))
	}
	t.write(a.out, "  ", a.width())
}

// columnsOf draws numbers as columns, the largest whole; "·" is none.
func columnsOf(numbers []int) string {
	heights := []rune("▁▂▃▄▅▆▇█")
	most := slices.Max(numbers)
	var b strings.Builder
	for _, n := range numbers {
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(heights[(n*len(heights)-1)/most])
	}
	return b.String()
}

// writeLayers compares layers with none on the same rows.
func (a *app) writeLayers(e *evaluation) {
	f := e.cases.Figures
	a.heading("In layers, and without: all skills ranked, the best ones shown")
	t := table{right: []int{1, 2}}
	t.add("", "layers", "flat")
	for _, x := range []struct {
		name          string
		layered, flat eval.Number
	}{
		{"skill_hit@1", f.SkillHit1, f.Flat.SkillHit1},
		{"skill_hit@5", f.SkillHit5, f.Flat.SkillHit5},
		{"shown_recall", f.Shown, f.Flat.Shown},
	} {
		if !x.layered.Known() {
			continue
		}
		t.add(x.name, value(x.layered, true), value(x.flat, true))
	}
	t.add("tokens, estimated", fmt.Sprintf("%.0f", f.TokensLayered), fmt.Sprintf("%.0f", f.Flat.Tokens))
	t.write(a.out, "  ", a.width())
	fmt.Fprintf(a.out, "  the summaries of all skills at once are %.0f tokens\n", f.TokensFlat)
}

func (a *app) writeGroups(e *evaluation, details bool) {
	for _, b := range eval.Breakdowns(e.cases.Rows) {
		most := len(b.Groups)
		if !details {
			most = min(most, shownGroups)
		}
		a.heading("By " + b.Noun + ", the worst first")
		t := table{right: []int{0, 1, 2, 3, 4, 5}}
		t.add("rows", "domain@1", "skill@1", "skill@5", "wrong", "none", b.Noun)
		for _, g := range b.Groups[:most] {
			t.add(fmt.Sprint(g.N), value(g.DomainHit1, true), value(g.SkillHit1, true), value(g.SkillHit5, true),
				value(g.WrongMatch, true), value(g.Unmatched(), true), clean(g.Name))
		}
		t.write(a.out, "  ", a.width())
		if more := len(b.Groups) - most; more > 0 {
			fmt.Fprintf(a.out, "  and %s (--details shows all)\n", plural(more, "more "+b.Noun))
		}
	}
}

func (a *app) writeConfusions(e *evaluation, details bool) {
	all := eval.Confusions(e.cases.Rows)
	if len(all) == 0 {
		return
	}
	most := len(all)
	if !details {
		most = min(most, shownConfusions)
	}
	a.heading("Confused: another skill ranks first than a right one")
	for _, c := range all[:most] {
		fmt.Fprintf(a.out, "  %d× %s → %s\n", c.N, clean(c.Right), clean(c.First))
		width := cmp.Or(a.width(), defaultWidth)
		for _, name := range []string{c.Right, c.First} {
			fmt.Fprintln(a.out, cut(fmt.Sprintf("     %s: %s", clean(name), clean(e.summary(name))), width))
		}
		for _, u := range c.Rows {
			fmt.Fprintln(a.out, cut("     “"+clean(u), width-1)+"”")
		}
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(a.out, "  and %s (--details shows all)\n", plural(more, "more pair"))
	}
}

// writeAstrayCases lists the utterances that did not come out as they should.
func (a *app) writeAstrayCases(e *evaluation) {
	a.heading("Astray")
	for _, r := range e.cases.Rows {
		why := eval.Astray(r)
		if why == "" {
			continue
		}
		a.fill("  ", "    ", fmt.Sprintf("%s:%d: %s", r.Case.File, r.Case.Line, r.Case.Text))
		want, got := "nothing", "nothing"
		if r.InScope() {
			want = wanted(r.Domains, r.Case.Skills)
		}
		if len(r.Best) > 0 && len(r.Ranked) > 0 {
			got = fmt.Sprintf("%s %s, %s first", r.Best[0].Name, against(r.Best[0].Score, e.conditions.Threshold), r.Ranked[0].Name)
		}
		a.fill("    "+why+"; want ", "      ", want+"; got "+got)
	}
}

// summary is the text of a skill's summary.
func (e *evaluation) summary(skill string) string {
	i, ok := e.index.Lookup(skill)
	if !ok {
		return ""
	}
	return e.index.Skills()[i].Summary.Text
}

// writeTurns writes the figures of dialogues.
func (a *app) writeTurns(e *evaluation) {
	a.heading("Turns of dialogues")
	t := table{right: []int{1, 3}}
	for _, k := range eval.TurnKinds() {
		if v := k.Of(e.turns); v.Known() {
			t.add(k.Name, value(v, true), bar(float64(v)), interval(e.turnIntervals[k.Name]), k.What)
		}
	}
	t.write(a.out, "  ", a.width())
	fmt.Fprintf(a.out, "\n  tokens of a prompt %.0f in layers, %.0f flat; %.1f %% of what is shown came from caches\n",
		e.replay.Layered, e.replay.Flat, 100*e.replay.CacheSaving)
	fmt.Fprintln(a.out, "  intervals are of whole dialogues; `skillrouter replay` tells where turns went astray")
}

// writeEvalPage writes the report as a page.
func (a *app) writeEvalPage(e *evaluation, file string) error {
	p := page.Page{
		Title: "How well skills are found", Files: e.files, Places: e.places, Conditions: e.conditions, Notes: e.notes(),
		Cases: e.cases, Intervals: e.intervals, Turns: e.turns, TurnIntervals: e.turnIntervals, Summary: e.summary,
	}
	if err := atomicfile.Replace(file, 0o644, p.Write); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "the report is in %s\n", clean(file))
	return nil
}
