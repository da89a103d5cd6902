package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/eval"
	"skillrouter/examples"
)

// compareFlags are the flags of eval compare.
type compareFlags struct {
	evalFlags
	a, b        []string
	details     bool
	failOnWorse bool
}

func (a *app) evalCompareCommand() *cobra.Command {
	var flags compareFlags
	cmd := &cobra.Command{
		Use:   "compare [A [B]]",
		Short: "Compare two catalogs, indexes, embedders or settings case by case",
		Long: `compare measures the same cases on two sides, a and b, and tells which cases are
fixed by going from a to b and which are broken, and whether that may be chance.

A and B are folders of skills, .jsonl catalogs or saved indexes; without B both
sides have A, without A both have the skills of --skills. --a and --b set flags
for one side: threshold, max-summaries, mode, without, embed-model, skills and
all others that routing has.

A decision is right where one or two domains match with a right one among them,
or nothing matches what is out of scope. The test of what is yes or no is
McNemar's, exact and two-sided, of the cases that changed: p is how likely as
uneven a change is where both sides are equally good. Intervals of differences
are from samples of pairs (bootstrap).

Catalogs may differ: cases whose right skills only one side has are counted and
left out of the comparison. The exit status is 0 whatever differs; with
--fail-on-worse it is 1 where b has significantly fewer right decisions or right
skills first (p below 0.05, by Holm for both).`,
		Example: `  skillrouter eval compare --b threshold=0.6
  skillrouter eval compare old.idx new.idx --cases cases.jsonl
  skillrouter eval compare ./skills --b without=words --cases cases.jsonl --details
  skillrouter eval compare ./skills --b embed-model=bge-m3 --b embed-url=http://localhost:11434/v1 --cases cases.jsonl
  skillrouter eval compare main.idx ./skills --cases cases.jsonl --fail-on-worse`,
		Args: arguments(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := a.newComparing(args, &flags)
			if err != nil {
				return err
			}
			if err := a.compareSides(cmd.Context(), x, &flags); err != nil {
				return err
			}
			if a.set.json {
				err = writeJSON(a.out, newCompareOutput(x), false)
			} else {
				a.writeCompared(x, flags.details)
			}
			if err == nil && flags.failOnWorse && len(x.Worse()) > 0 {
				return errFindings
			}
			return err
		},
	}
	f := cmd.Flags()
	flags.add(f)
	f.StringArrayVar(&flags.a, "a", nil, "`FLAG=VALUE` of side a, such as threshold=0.6; may repeat")
	f.StringArrayVar(&flags.b, "b", nil, "`FLAG=VALUE` of side b; may repeat")
	f.BoolVar(&flags.details, "details", false, "all cases that are broken or fixed, and all figures")
	f.BoolVar(&flags.failOnWorse, "fail-on-worse", false, "exit with 1 where b is significantly worse")
	return cmd
}

// A comparing is two sides and what came of them.
type comparing struct {
	sides        [2]compareSide
	files        []string
	dropped      int
	onlyA, onlyB []string // skills that one side has alone
	*eval.Comparison
}

// A compareSide is one of them.
type compareSide struct {
	name string // a or b
	app  *app   // with its settings
	said string // how it was given
	c    *catalog
}

// newComparing reads what the sides are.
func (a *app) newComparing(args []string, flags *compareFlags) (*comparing, error) {
	if len(args) > 0 && len(a.set.skills) > 0 {
		return nil, &useError{errors.New("--skills and A exclude each other"), "name the skills of a side as A or B, or with --a skills=DIR"}
	}
	x := &comparing{}
	for i, list := range [][]string{flags.a, flags.b} {
		s := &x.sides[i]
		s.name = string(rune('a' + i))
		own := *a
		if len(args) > 0 {
			own.set.skills = []string{args[min(i, len(args)-1)]}
		}
		var err error
		if own.set, err = own.set.with([]string{"json"}, list...); err != nil {
			return nil, &useError{fmt.Errorf("--%s: %w", s.name, err), "such as --b threshold=0.6"}
		}
		s.app = &own
		s.said = strings.Join(list, " ")
	}
	if x.sides[0].said == x.sides[1].said && len(args) < 2 {
		return nil, &useError{errors.New("both sides are the same"), "name two catalogs, or set a flag of one side, such as --b threshold=0.6"}
	}
	return x, nil
}

// compareSides opens both sides and runs the cases on them.
func (a *app) compareSides(ctx context.Context, x *comparing, flags *compareFlags) (err error) {
	sets, own, err := x.cases(a, flags)
	if err != nil {
		return err
	}
	for i := range x.sides {
		s := &x.sides[i]
		if own {
			s.c, err = s.app.open(ctx, true)
		} else {
			s.c, err = s.app.openExamples(ctx)
		}
		if err != nil {
			return fmt.Errorf("side %s: %w", s.name, err)
		}
		defer func() { err = errors.Join(err, s.c.Close()) }()
	}
	ixA, ixB := x.sides[0].c.Index(), x.sides[1].c.Index()
	if flags.lenient {
		x.dropped = eval.DropSides(ixA, ixB, sets...)
	}
	cases, files, err := casesOf(sets)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return &failure{errors.New("no case is left: neither catalog has anything that they name"), "are they the catalogs that the cases were written for?"}
	}
	x.files = files
	if wrong, ok := errors.AsType[*eval.CasesError](eval.CheckSides(ixA, ixB, sets...)); ok {
		return a.tellProblems(wrong)
	}
	x.onlyA, x.onlyB = eval.Difference(ixA, ixB)
	var of [2]eval.Side
	for i := range x.sides {
		s := &x.sides[i]
		m, err := s.app.measuring(s.c)
		if err != nil {
			return fmt.Errorf("side %s: %w", s.name, err)
		}
		progress := a.progress()
		progress.what, progress.items = "routing on side "+s.name, "cases"
		defer progress.end()
		of[i] = eval.Side{Router: m.router, Options: &eval.Options{
			Allow: s.app.set.allow(), Version: moduleVersion(), Memo: m.memo, Progress: progress.show,
		}}
	}
	if x.Comparison, err = eval.Compare(ctx, &of[0], &of[1], cases); err != nil {
		return err
	}
	if len(x.Pairs) == 0 {
		return &failure{
			fmt.Errorf("nothing was compared: no right skill of %s is on both sides", plural(len(cases), "case")),
			"are they two states of one catalog?",
		}
	}
	return nil
}

// cases are those of the files; the built-in ones, which are not own, where
// nothing is named.
func (x *comparing) cases(a *app, flags *compareFlags) (sets []*eval.Set, own bool, err error) {
	if len(flags.cases) > 0 {
		sets, err = a.readCases(flags.cases)
		return sets, true, err
	}
	if len(x.sides[0].app.set.skills)+len(x.sides[1].app.set.skills) > 0 {
		return nil, false, &useError{errors.New("no --cases: the built-in utterances are for the example catalog"), "name the cases for these skills with --cases FILE"}
	}
	set, err := eval.Read(bytes.NewReader(examples.Utterances()), "utterances.jsonl")
	if err != nil {
		return nil, false, err
	}
	fmt.Fprintln(a.err, "comparing the built-in utterances over the example catalog; --cases FILE and --skills DIR name your own")
	return []*eval.Set{set}, false, nil
}

// openExamples opens the example catalog, whatever skills are around.
func (a *app) openExamples(ctx context.Context) (*catalog, error) {
	c := &catalog{places: []string{builtIn}, builtIn: true}
	return c, a.openPlaces(ctx, c, &skillrouter.Options{
		Router: a.set.options(), Depth: int(a.set.depth), FS: map[string]fs.FS{builtIn: examples.Catalog()},
	})
}

// shownFigures are those that are compared without --details.
func shownFigures() []string {
	return []string{
		eval.Decision, "domain_hit@1", "skill_hit@1", "skill_hit@5", "mrr", "right_match_rate", "wrong_match_rate", "no_match_rate",
		"shown_recall", "abstain_recall", "abstain_auroc", "ece", "tokens_layered_mean",
	}
}

// writeCompared writes a comparison to be read.
func (a *app) writeCompared(x *comparing, details bool) {
	a.fill("", "", x.head())
	for i, r := range []*eval.Report{x.A, x.B} {
		s := &x.sides[i]
		said := strings.Join(a.short(s.c.places), ", ")
		if s.said != "" {
			said += " with " + clean(s.said)
		}
		a.fill(s.name+"  ", "   ", said+": "+over(&r.Conditions))
	}
	a.heading("Figures, in percent where they are rates")
	t := table{right: []int{1, 2, 3, 5, 6, 7}}
	t.add("", "a", "b", "b − a", "95 %", "up", "down", "p")
	for i := range x.Figures {
		f := &x.Figures[i]
		if !details && !slices.Contains(shownFigures(), f.Name) {
			continue
		}
		t.add(figureCells(f)...)
	}
	t.write(a.out, "  ", a.width())
	a.fill("  ", "  ", "up and down: rows that went from 0 to 1 and back; p: McNemar's exact test, how likely as uneven a change is by chance")
	a.writeChanged(x, details)
	a.writeSides(x)
	if said := x.inWords(); len(said) > 0 { // else no case says what is right
		a.heading("In short")
		for _, s := range said {
			a.fill("  - ", "    ", s)
		}
	}
}

// head says what was compared.
func (x *comparing) head() string {
	n := len(x.Pairs)
	out := 0
	for i := range x.Pairs {
		if x.Pairs[i].Case.OutOfScope {
			out++
		}
	}
	s := fmt.Sprintf("%s on both sides, %d of them out of scope, from %s", plural(n, "utterance"), out, strings.Join(cleanAll(x.files), ", "))
	if x.dropped > 0 {
		s += fmt.Sprintf("; left out: %s with names that neither catalog has", plural(x.dropped, "case"))
	}
	return s
}

func figureCells(f *eval.PairedFigure) []string {
	show := func(v eval.Number, sign string) string {
		switch {
		case f.Rate:
			return fmt.Sprintf("%"+sign+".1f", 100*float64(v))
		case v >= 100 || v <= -100:
			return fmt.Sprintf("%"+sign+".0f", float64(v))
		default:
			return fmt.Sprintf("%"+sign+".2f", float64(v))
		}
	}
	up, down, p := "", "", ""
	if f.Changed {
		up, down, p = fmt.Sprint(f.Up), fmt.Sprint(f.Down), pValue(f.P)
	}
	return []string{f.Name, show(f.A, ""), show(f.B, ""), show(f.Difference, "+"), show(f.Interval[0], "+") + " to " + show(f.Interval[1], "+"), up, down, p}
}

// inP writes p for a sentence.
func inP(p eval.Number) string {
	if s, ok := strings.CutPrefix(pValue(p), "<"); ok {
		return "p < " + s
	}
	return "p = " + pValue(p)
}

func pValue(p eval.Number) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", float64(p))
}

// changedSort is one way in which cases change.
type changedSort struct {
	noun   string
	change func(*eval.Pair) eval.Change
	answer func(*eval.Row) string
	right  func(*eval.Pair) string
}

func changedSorts() []changedSort {
	named := func(names []string, none string) string {
		if len(names) == 0 {
			return none
		}
		return strings.Join(names, ", ")
	}
	return []changedSort{
		{"decision", func(p *eval.Pair) eval.Change { return p.Decision }, (*eval.Row).Answer, func(p *eval.Pair) string {
			domains := slices.Concat(p.A.Domains, p.B.Domains)
			slices.Sort(domains)
			return named(slices.Compact(domains), "nothing, out of scope")
		}},
		{"first skill", func(p *eval.Pair) eval.Change { return p.First }, func(r *eval.Row) string {
			if len(r.Ranked) == 0 {
				return "none"
			}
			return r.Ranked[0].Name
		}, func(p *eval.Pair) string { return named(p.Case.Skills, "nothing") }},
	}
}

// shownChanged is how many cases of each sort are told without --details.
const shownChanged = 8

// writeChanged writes the cases that changed, by domain and each.
func (a *app) writeChanged(x *comparing, details bool) {
	a.heading("By domain: decisions fixed and broken, right skills first gained and lost")
	t := table{right: []int{0, 1, 2, 3, 4}}
	t.add("rows", "fixed", "broken", "gained", "lost", "")
	same := 0
	for _, d := range x.Domains {
		if d.Fixed+d.Broken+d.FirstFixed+d.FirstBroken == 0 {
			same++
			continue
		}
		name := clean(d.Name)
		if name == "" {
			name = "(out of scope)"
		}
		t.add(fmt.Sprint(d.N), fmt.Sprint(d.Fixed), fmt.Sprint(d.Broken), fmt.Sprint(d.FirstFixed), fmt.Sprint(d.FirstBroken), name)
	}
	if len(t.rows) > 1 {
		t.write(a.out, "  ", a.width())
	}
	if same > 0 {
		fmt.Fprintf(a.out, "  nothing changed in %s\n", plural(same, "domain"))
	}
	for _, sort := range changedSorts() {
		for _, change := range []eval.Change{eval.Broken, eval.Fixed} {
			a.writeChange(x, &sort, change, details)
		}
	}
}

func (a *app) writeChange(x *comparing, sort *changedSort, change eval.Change, details bool) {
	n := x.Count(sort.change, change)
	if n == 0 {
		return
	}
	a.heading(fmt.Sprintf("%s: %s", map[eval.Change]string{eval.Broken: "Broken", eval.Fixed: "Fixed"}[change], plural(n, sort.noun)))
	told := 0
	for i := range x.Pairs {
		p := &x.Pairs[i]
		if sort.change(p) != change {
			continue
		}
		if told == shownChanged && !details {
			fmt.Fprintf(a.out, "  and %d more; --details shows all\n", n-told)
			return
		}
		told++
		line := fmt.Sprintf("“%s”", clean(p.Case.Text))
		if w := a.width(); w > 0 {
			line = cut(line, w-2)
		}
		fmt.Fprintf(a.out, "  %s\n", line)
		a.fill("     ", "       ", fmt.Sprintf("a: %s → b: %s; right: %s", sort.answer(p.A), sort.answer(p.B), sort.right(p)))
	}
}

// shownOnly is how many skills are named that one side has alone.
const shownOnly = 10

// writeSides tells how the catalogs differ.
func (a *app) writeSides(x *comparing) {
	if len(x.onlyA)+len(x.onlyB) == 0 {
		return
	}
	a.heading("The catalogs differ")
	for _, s := range []struct {
		name  string
		only  []string
		pairs []eval.Pair
		on    func(*eval.Pair) *eval.Row
	}{
		{"a", x.onlyA, x.OnlyA, func(p *eval.Pair) *eval.Row { return p.A }},
		{"b", x.onlyB, x.OnlyB, func(p *eval.Pair) *eval.Row { return p.B }},
	} {
		if len(s.only) == 0 {
			continue
		}
		list := strings.Join(cleanAll(s.only[:min(len(s.only), shownOnly)]), ", ")
		if len(s.only) > shownOnly {
			list += ", …"
		}
		a.fill("  ", "    ", fmt.Sprintf("%s that only %s has: %s", plural(len(s.only), "skill"), s.name, list))
		if n := len(s.pairs); n > 0 {
			first := 0
			for i := range s.pairs {
				if s.on(&s.pairs[i]).SkillRank == 1 {
					first++
				}
			}
			a.fill("    ", "    ", fmt.Sprintf("%s about them, not compared: a right skill is first in %d", plural(n, "case"), first))
		}
	}
}

// inWords says what the comparison comes to.
func (x *comparing) inWords() []string {
	var said []string
	worse := x.Worse()
	for _, s := range []struct{ name, noun string }{{eval.Decision, "right decisions"}, {"skill_hit@1", "right skills first"}} {
		f := x.Figure(s.name)
		if f == nil {
			continue
		}
		words := fmt.Sprintf("%s: %d fixed, %d broken, %.1f %% on side a, %.1f %% on side b", s.noun, f.Up, f.Down, 100*f.A, 100*f.B)
		switch {
		case f.Up+f.Down == 0:
			words += ": no case changed"
		case slices.Contains(worse, s.name):
			words += ": b is worse, " + inP(f.P)
		case f.P < 0.05:
			words += ": hardly by chance, " + inP(f.P)
		default:
			words += ": may be chance, " + inP(f.P)
		}
		said = append(said, words)
	}
	return said
}
