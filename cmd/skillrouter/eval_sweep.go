package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/eval"
	"skillrouter/eval/page"
	"skillrouter/internal/atomicfile"
	"skillrouter/router"
)

// sweepFlags are the flags of eval sweep.
type sweepFlags struct {
	evalFlags
	ruleFlags
	from, to, step   share
	caps, maxDomains []string
	split            bool
	html             string
}

func (a *app) evalSweepCommand() *cobra.Command {
	flags := sweepFlags{from: 0.5, to: 0.95, step: 0.05}
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Tell what other thresholds and caps would do, and recommend one",
		Long: `sweep tells what would come of cases at each of some thresholds and bounds of
summaries: each utterance is scored once, and decided at each as a router that has
it decides.

It recommends the threshold with most right matches (one or two domains match, a
right one among them), less 3 points for each point that more than 3 % of what is
in scope match only wrong domains, or less than 80 % of what is out of scope match
nothing; of equal ones the lowest. --max-wrong, --min-rejected and --weight set
other bounds and what being beyond them costs. Without cases out of scope none
below the threshold in use is recommended: that it costs anything would never be
seen. Of the caps the smallest is recommended that loses at most half a point of
what is shown.

What is chosen on some rows does better on them than on others. With --split the
choice is made on one half of the rows, by a hash of the text, and the figures of
the other half are told. tune does the same and writes the threshold down.`,
		Example: `  skillrouter eval sweep
  skillrouter eval sweep --skills ./skills --cases cases.jsonl --split --html sweep.html
  skillrouter eval sweep --skills ./skills --cases cases.jsonl --from 0.6 --to 0.8 --step 0.01 --max-wrong 0.02
  skillrouter eval sweep --skills ./skills --cases cases.jsonl --caps 5,10,25,0 --max-domains 1,2,3`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := newSweep(&flags)
			if err != nil {
				return err
			}
			return a.withCases(cmd.Context(), &flags.evalFlags, func(c *catalog, sets []*eval.Set, dropped int) error {
				if err := a.sweep(cmd.Context(), c, sets, s); err != nil {
					return err
				}
				s.dropped = dropped
				if flags.html != "" {
					if err := a.writeSweepPage(s, flags.html); err != nil {
						return err
					}
				}
				if a.set.json {
					return writeJSON(a.out, newSweepOutput(s), false)
				}
				a.writeThresholds(s)
				return nil
			})
		},
	}
	f := cmd.Flags()
	flags.evalFlags.add(f)
	f.Var(&flags.from, "from", "lowest threshold")
	f.Var(&flags.to, "to", "highest threshold")
	f.Var(&flags.step, "step", "from one threshold to the next")
	f.StringSliceVar(&flags.caps, "caps", []string{"5", "10", "15", "25", "50"}, "bounds of summaries shown at once, 0 for none")
	f.StringSliceVar(&flags.maxDomains, "max-domains", nil, "bounds of domains that match at once, 0 for none")
	f.BoolVar(&flags.split, "split", false, "choose on one half of the rows, report on the other")
	flags.ruleFlags.add(f)
	f.StringVar(&flags.html, "html", "", "write the sweep with plots to `FILE` too, one page that needs no network")
	return cmd
}

// A sweep is what is swept over, and what came of it.
type sweep struct {
	rule       eval.Rule
	split      bool
	thresholds []float64
	caps       []int // as options: negative is none
	maxDomains []int

	files      []string
	places     []string
	dropped    int
	flat       bool
	conditions eval.Conditions
	byValue    []eval.Point // by threshold
	byCap      []eval.Point
	byDomains  []eval.Point
	now        int // place in byValue of the threshold in use
	chosen     int // that is recommended, -1 for none
	chosenCap  int

	held *heldOut // nil without --split
}

// heldOut is what came of rows that had no part in the choice.
type heldOut struct {
	now, chosen eval.Point
	intervals   map[string]eval.Interval // of chosen
}

// mostSteps bounds a sweep.
const mostSteps = 200

func newSweep(flags *sweepFlags) (*sweep, error) {
	rule, err := flags.rule()
	if err != nil {
		return nil, err
	}
	s := &sweep{rule: rule, split: flags.split}
	from, to := max(float64(flags.from), 0), max(float64(flags.to), 0)
	step := float64(flags.step)
	switch n := math.Round((to-from)/step) + 1; {
	case step <= 0:
		return nil, &useError{errors.New("--step must be above 0"), "such as --step 0.05"}
	case to < from:
		return nil, &useError{fmt.Errorf("--from %v is above --to %v", from, to), "such as --from 0.5 --to 0.95"}
	case n > mostSteps:
		return nil, &useError{fmt.Errorf("%.0f thresholds are too many, at most %d", n, mostSteps), "such as --step 0.05"}
	}
	for i := 0; ; i++ {
		t := math.Round((from+float64(i)*step)*1e6) / 1e6 // 0.55, not 0.55000001
		if t > to+1e-9 {
			break
		}
		s.thresholds = append(s.thresholds, t)
	}
	for _, list := range []struct {
		flag   string
		values []string
		to     *[]int
	}{{"--caps", flags.caps, &s.caps}, {"--max-domains", flags.maxDomains, &s.maxDomains}} {
		for _, v := range list.values {
			var n count
			if err := n.Set(strings.TrimSpace(v)); err != nil {
				return nil, &useError{fmt.Errorf("%s %s: %w", list.flag, strings.Join(list.values, ","), err), "such as " + list.flag + " 5,10,0"}
			}
			*list.to = append(*list.to, int(n))
		}
	}
	return s, nil
}

// casesOf are the cases of sets, which must not be dialogues.
func casesOf(sets []*eval.Set) (cases []eval.Case, files []string, err error) {
	for _, s := range sets {
		if len(s.Dialogues) > 0 {
			return nil, nil, &failure{
				fmt.Errorf("%s holds dialogues: only utterances by themselves can be taken here", s.File),
				"`skillrouter replay --sweep threshold=0.6,0.7` and --compare do so with dialogues",
			}
		}
		cases, files = append(cases, s.Cases...), append(files, s.File)
	}
	return cases, files, nil
}

// sweep fills in what comes of the cases.
func (a *app) sweep(ctx context.Context, c *catalog, sets []*eval.Set, s *sweep) error {
	cases, files, err := casesOf(sets)
	if err != nil {
		return err
	}
	s.files, s.places = files, c.places
	m, err := a.measuring(c)
	if err != nil {
		return err
	}
	s.flat = m.router.Flat()
	var held []eval.Case
	if s.split {
		if cases, held = eval.Split(cases); len(cases) == 0 || len(held) == 0 {
			return &failure{errors.New("too few cases to split: one half is empty"), "leave --split out, or name more cases with --cases"}
		}
	}
	inForce := m.router.InForce()
	if !slices.Contains(s.thresholds, inForce.Threshold) {
		s.thresholds = append(s.thresholds, inForce.Threshold)
		slices.Sort(s.thresholds)
	}
	var limits []router.Limits
	for _, t := range s.thresholds {
		if t == 0 {
			t = -1
		}
		limits = append(limits, router.Limits{Threshold: t})
	}
	if !s.flat {
		if !slices.Contains(s.caps, inForce.MaxSummaries) && inForce.MaxSummaries <= len(c.Index().Skills()) {
			s.caps = append(s.caps, inForce.MaxSummaries)
		}
		slices.SortFunc(s.caps, compareCaps)
		for _, n := range s.caps {
			limits = append(limits, router.Limits{MaxSummaries: n})
		}
	}
	for _, n := range s.maxDomains {
		limits = append(limits, router.Limits{MaxDomains: n})
	}
	report, err := a.sweepCases(ctx, m, cases, limits)
	if err != nil {
		return err
	}
	s.conditions = report.Conditions
	points := report.Points
	s.byValue, points = points[:len(s.thresholds)], points[len(s.thresholds):]
	s.byDomains, s.byCap = points[len(points)-len(s.maxDomains):], points[:len(points)-len(s.maxDomains)]
	s.now = slices.Index(s.thresholds, inForce.Threshold)
	s.chosen, s.chosenCap = s.rule.Choose(s.byValue, inForce.Threshold), eval.ChooseCap(s.byCap)
	if held == nil || s.chosen < 0 {
		return nil
	}
	report, err = a.sweepCases(ctx, m, held, []router.Limits{limits[s.now], limits[s.chosen]})
	if err != nil {
		return err
	}
	s.held = &heldOut{report.Points[0], report.Points[1], eval.Intervals(report.Points[1].Rows)}
	return nil
}

// compareCaps orders bounds of summaries, none last.
func compareCaps(a, b int) int {
	size := func(n int) int {
		if n < 0 {
			return math.MaxInt
		}
		return n
	}
	switch x, y := size(a), size(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (a *app) sweepCases(ctx context.Context, m *measuring, cases []eval.Case, limits []router.Limits) (*eval.SweepReport, error) {
	progress := a.progress()
	progress.what, progress.items = "routing", "cases"
	defer progress.end()
	return eval.Sweep(ctx, m.router, cases, limits, &eval.Options{Allow: a.set.allow(), Version: moduleVersion(), Memo: m.memo, Progress: progress.show})
}

// recommendation says in words which threshold is recommended, and by what rule.
func (s *sweep) recommendation() []string {
	if s.chosen < 0 {
		return []string{"no threshold is recommended: no case is in scope"}
	}
	chosen, now := &s.byValue[s.chosen], s.byValue[s.now].Threshold
	var first string
	if chosen.Threshold == now {
		first = fmt.Sprintf("keep threshold %s", decimal(now))
	} else {
		first = fmt.Sprintf("threshold %s in place of %s", decimal(chosen.Threshold), decimal(now))
	}
	first += beyond(s.rule, chosen.Figures)
	rows := fmt.Sprintf("it was chosen on these very %s and may do worse on others; --split chooses on one half and reports on the other", plural(chosen.N, "row"))
	if s.split {
		rows = fmt.Sprintf("it was chosen on these very %s, one half of the cases, and may do worse on others: see the other half", plural(chosen.N, "row"))
	}
	said := []string{first + ": " + inShort(chosen.Figures), "the rule: " + s.rule.String(), rows}
	if cost := costOfBounds(chosen.Figures, s.byValue[s.now].Figures); cost != "" {
		said = append(said, cost)
	}
	if chosen.OutOfScope == 0 {
		said = append(said, "no case is out of scope: what a lower threshold would cost is not seen, so none below the one in use is recommended")
	}
	return said
}

// writeThresholds writes a sweep to be read.
func (a *app) writeThresholds(s *sweep) {
	first := s.byValue[s.now]
	a.writeEvalHead(&evaluation{files: s.files, places: s.places, conditions: s.conditions, cases: &eval.Report{Figures: first.Figures}})
	if s.split {
		a.fill("", "", "one half of the cases, to choose on")
	}
	a.heading("By threshold, in percent")
	a.writePoints("threshold", s.byValue, func(p *eval.Point) string { return decimal(p.Threshold) }, s.now, s.chosen)
	a.plotPoints(s)
	switch {
	case s.flat:
		a.fill("\n", "", "the catalog is shown flat, all summaries at once: thresholds and caps do not change what is shown")
	case len(s.byCap) > 0:
		a.heading("By summaries shown at once, at threshold " + decimal(first.Threshold))
		now := slices.IndexFunc(s.byCap, func(p eval.Point) bool { return p.MaxSummaries == first.MaxSummaries })
		t := table{right: []int{0, 1, 2}}
		t.add("summaries", "shown", "tokens", "")
		for i := range s.byCap {
			p := &s.byCap[i]
			t.add(bound0(p.MaxSummaries), value(p.Shown, true), fmt.Sprintf("%.0f", float64(p.TokensLayered)), mark(i == now, i == s.chosenCap))
		}
		t.write(a.out, "  ", a.width())
	}
	if len(s.byDomains) > 0 {
		a.heading("By domains that match at once, at threshold " + decimal(first.Threshold))
		now := slices.IndexFunc(s.byDomains, func(p eval.Point) bool { return p.MaxDomains == first.MaxDomains })
		a.writePoints("domains", s.byDomains, func(p *eval.Point) string { return bound0(p.MaxDomains) }, now, -1)
	}
	a.heading("Recommended")
	for _, r := range s.recommendation() {
		a.fill("  - ", "    ", r)
	}
	if s.chosenCap >= 0 {
		p := &s.byCap[s.chosenCap]
		a.fill("  - ", "    ", fmt.Sprintf("%s summaries are the fewest that lose at most half a point of what is shown: %s with %.0f tokens a prompt",
			bound0(p.MaxSummaries), value(p.Shown, true), float64(p.TokensLayered)))
	}
	if s.dropped > 0 {
		a.fill("  - ", "    ", fmt.Sprintf("%s with names that the catalog does not have: left out", plural(s.dropped, "case")))
	}
	a.writeHeldOut(s)
}

func bound0(n int) string {
	if n < 0 {
		return "any"
	}
	return strconv.Itoa(n)
}

// writePoints writes a line for each point.
func (a *app) writePoints(what string, points []eval.Point, name func(*eval.Point) string, now, chosen int) {
	t := table{right: []int{0, 1, 2, 3, 4, 5, 6, 7, 8}}
	t.add(what, "right", "wide", "wrong", "none", "rejected", "domains", "shown", "tokens", "")
	for i := range points {
		p := &points[i]
		t.add(name(p), bare(p.RightMatch), bare(p.WideMatch), bare(p.WrongMatch), bare(p.NoMatch), bare(p.AbstainRecall),
			value(p.Returned, false), bare(p.Shown), fmt.Sprintf("%.0f", float64(p.TokensLayered)), mark(i == now, i == chosen))
	}
	t.write(a.out, "  ", a.width())
}

// mark says what is special about a line.
func mark(now, chosen bool) string {
	switch {
	case now && chosen:
		return "← in use, recommended"
	case now:
		return "← in use"
	case chosen:
		return "← recommended"
	default:
		return ""
	}
}

// bare is a rate in percent without the sign.
func bare(v eval.Number) string { return strings.TrimSuffix(value(v, true), " %") }

// Lengths of the bars of a plot of thresholds.
const (
	longBar  = 48
	shortBar = 16
)

// plotPoints draws what comes of what is in scope and what is out of it.
func (a *app) plotPoints(s *sweep) {
	a.heading("█ right  ▓ wide  ▒ wrong  · none" + strings.Repeat(" ", longBar-32+2) + "█ rejected")
	var t table
	for i := range s.byValue {
		p := &s.byValue[i]
		rejected := ""
		if p.AbstainRecall.Known() {
			rejected = stack(shortBar, float64(p.AbstainRecall))
		}
		scope := ""
		if p.InScope > 0 {
			scope = stack(longBar, float64(p.RightMatch), float64(p.WideMatch), float64(p.WrongMatch))
		}
		t.add(decimal(p.Threshold), scope, rejected)
	}
	t.write(a.out, "  ", 0)
}

// stack draws shares that follow each other, what is left of 1 as dots.
func stack(length int, shares ...float64) string {
	var b strings.Builder
	var sum float64
	drawn := 0
	for i, x := range shares {
		sum += x
		upTo := min(int(math.Round(sum*float64(length))), length)
		b.WriteString(strings.Repeat(string([]rune("█▓▒")[i]), max(upTo-drawn, 0)))
		drawn = max(drawn, upTo)
	}
	return b.String() + strings.Repeat("·", length-drawn)
}

// sweptFigures are those that thresholds change.
func sweptFigures() []string {
	return []string{"right_match_rate", "wide_match_rate", "wrong_match_rate", "no_match_rate", "abstain_recall", "domain_recall", "shown_recall"}
}

// writeSweepPage writes a sweep as a page with plots.
func (a *app) writeSweepPage(s *sweep, file string) error {
	words := s.recommendation()
	if h := s.held; h != nil {
		for _, x := range []*eval.Point{&h.now, &h.chosen} {
			words = append(words, fmt.Sprintf("on the other half, %s, at %s: %s", plural(x.N, "row"), decimal(x.Threshold), inShort(x.Figures)))
		}
	}
	p := page.Page{
		Title: "What other thresholds would do", Files: s.files, Places: s.places, Conditions: s.conditions,
		Sweep: &page.Sweep{Thresholds: s.byValue, Caps: s.byCap, Words: words, InUse: s.now, Chosen: s.chosen},
	}
	if err := atomicfile.Replace(file, 0o644, p.Write); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "the report is in %s\n", clean(file))
	return nil
}

// writeHeldOut writes what came of the rows that had no part in the choice.
func (a *app) writeHeldOut(s *sweep) {
	if s.held == nil {
		return
	}
	h := s.held
	a.heading(fmt.Sprintf("On the other half, %s: %d in scope, %d out of scope", plural(h.chosen.N, "row"), h.chosen.InScope, h.chosen.OutOfScope))
	t := table{right: []int{1, 2}}
	t.add("", "at "+decimal(h.now.Threshold), "at "+decimal(h.chosen.Threshold), "95 %")
	for _, k := range eval.Kinds() {
		if !slices.Contains(sweptFigures(), k.Name) || !k.Of(h.chosen.Figures).Known() {
			continue
		}
		between := ""
		if x, ok := h.intervals[k.Name]; ok {
			between = interval(x)
		}
		t.add(k.Name, value(k.Of(h.now.Figures), true), value(k.Of(h.chosen.Figures), true), between)
	}
	t.add("tokens, estimated", fmt.Sprintf("%.0f", float64(h.now.TokensLayered)), fmt.Sprintf("%.0f", float64(h.chosen.TokensLayered)), "")
	t.write(a.out, "  ", a.width())
}
