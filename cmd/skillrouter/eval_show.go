package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"skillrouter/eval"
)

// How much of the breakdowns fits beside the figures; --details shows all.
const (
	shownGroups     = 8
	shownConfusions = 5
)

// reportEvaluation writes an evaluation as the flags say.
func (a *app) reportEvaluation(e *evaluation, flags *evalFlags) error {
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
		a.writeLayers(e)
		a.writeGroups(e, details)
		a.writeConfusions(e, details)
	}
	if e.turns != nil {
		a.writeTurns(e)
	}
	if notes := e.notes(); len(notes) > 0 {
		a.heading("worth knowing")
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
	a.fill("from ", "   ", strings.Join(cleanAll(e.files), ", "))
	limit := fmt.Sprintf("at most %d summaries", c.Cap)
	if c.Cap < 0 {
		limit = "any number of summaries"
	}
	a.fill("over ", "   ", fmt.Sprintf("%s in %s, %s, threshold %s, %s, embedder %s, index %.12s, skillrouter %s",
		plural(c.Skills, "skill"), plural(c.Domains, "domain"), c.Mode, decimal(c.Threshold), limit, c.Embedder, c.Index, c.Version))
}

// decimal writes a threshold with as many digits as it has, two at least.
func decimal(x float64) string {
	if s := fmt.Sprintf("%g", x); len(s) > len("0.00") {
		return s
	}
	return fmt.Sprintf("%.2f", x)
}

// A part is figures that belong together.
type figuresPart struct {
	title string
	names []string
}

func figuresParts() []figuresPart {
	return []figuresPart{
		{"ranking, before the threshold", []string{"domain_hit@1", "skill_hit@1", "skill_hit@3", "skill_hit@5", "skill_recall@5", "mrr", "must_not_rate"}},
		{"matches at the threshold, of what is in scope", []string{
			"right_match_rate", "wide_match_rate", "wrong_match_rate", "no_match_rate", "correct_rate", "domain_recall", "domain_precision", "domains_returned_mean", "shown_recall",
		}},
		{"out of scope", []string{"abstain_recall", "abstain_precision", "abstain_auroc"}},
		{"questions to the user", []string{"question_rate", "question_right", "question_recall"}},
		{"scores", []string{"ece"}},
	}
}

// writeEvalFigures writes the figures that are known, with their intervals.
func (a *app) writeEvalFigures(e *evaluation) {
	kinds := map[string]eval.Figure{}
	for _, k := range eval.Kinds() {
		kinds[k.Name] = k
	}
	var tables []table
	var titles []string
	for _, p := range figuresParts() {
		var t table
		for _, name := range p.names {
			k := kinds[name]
			v := k.Of(e.cases.Figures)
			if !v.Known() {
				continue
			}
			draw, between := "", ""
			if x, ok := e.intervals[name]; ok {
				draw, between = bar(float64(v)), interval(x)
			}
			t.add(name, value(v, k.Rate), draw, between, k.What)
		}
		if len(t.rows) > 0 {
			tables, titles = append(tables, t), append(titles, p.title)
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

// writeLayers compares layers with none on the same rows.
func (a *app) writeLayers(e *evaluation) {
	f := e.cases.Figures
	a.heading("in layers, and without: all skills ranked, the best ones shown")
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
		t.add(x.name, value(x.layered, true), value(x.flat, true))
	}
	t.add("tokens of a prompt, estimated", fmt.Sprintf("%.0f", f.TokensLayered), fmt.Sprintf("%.0f", f.TokensFlat))
	t.write(a.out, "  ", a.width())
	fmt.Fprintln(a.out, "  flat tokens are those of the summaries of all skills")
}

// A breakdown is groups of rows of one sort.
type breakdown struct {
	noun, key string // for people, and in JSON
	groups    []eval.Group
	by        func(*eval.Figures) eval.Number // the worst go first
}

// breakdowns are the sorts that the rows have, the worst groups first.
func breakdowns(rows []*eval.Row) []breakdown {
	domain := func(f *eval.Figures) eval.Number { return f.DomainHit1 }
	skill := func(f *eval.Figures) eval.Number { return f.SkillHit1 }
	all := []breakdown{
		{"domain", "domains", eval.Groups(rows, eval.ByDomain), domain},
		{"skill", "skills", eval.Groups(rows, eval.BySkill), skill},
		{"kind", "kinds", eval.Groups(rows, eval.ByKind), skill},
		{"language", "langs", eval.Groups(rows, eval.ByLang), skill},
		{"split", "splits", eval.Groups(rows, eval.BySplit), skill},
	}
	all = slices.DeleteFunc(all, func(b breakdown) bool { return len(b.groups) == 0 })
	for _, b := range all {
		eval.WorstFirst(b.groups, b.by)
	}
	return all
}

func (a *app) writeGroups(e *evaluation, details bool) {
	for _, b := range breakdowns(e.cases.Rows) {
		most := len(b.groups)
		if !details {
			most = min(most, shownGroups)
		}
		a.heading("by " + b.noun + ", the worst first")
		t := table{right: []int{0, 1, 2, 3, 4, 5}}
		t.add("rows", "domain@1", "skill@1", "skill@5", "wrong", "none", b.noun)
		for _, g := range b.groups[:most] {
			t.add(fmt.Sprint(g.N), value(g.DomainHit1, true), value(g.SkillHit1, true), value(g.SkillHit5, true),
				value(g.WrongMatch, true), value(noMatch(g.Figures), true), clean(g.Name))
		}
		t.write(a.out, "  ", a.width())
		if more := len(b.groups) - most; more > 0 {
			fmt.Fprintf(a.out, "  and %s (--details shows all)\n", plural(more, "more "+b.noun))
		}
	}
}

// noMatch is how often nothing matches, in a group of what is out of scope too.
func noMatch(f *eval.Figures) eval.Number {
	if !f.NoMatch.Known() {
		return f.AbstainRecall
	}
	return f.NoMatch
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
	a.heading("confused: another skill ranks first than a right one")
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
	a.heading("turns of dialogues")
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
