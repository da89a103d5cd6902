package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"skillrouter/index"
	"skillrouter/router"
)

// A Side is a router of a comparison, and how its cases are run.
type Side struct {
	Router  *router.Router
	Options *Options // nil means the zero Options
}

// A Comparison is what came of the same cases on two sides.
type Comparison struct {
	A, B  *Report // of all cases, labels that a side does not have left out
	Pairs []Pair  // in the order of the cases, those that both sides can get right

	// Cases of whose right skills, or domains where no skill is right, one side has
	// none: they can only be wrong there, and are in no pair.
	OnlyA, OnlyB []Pair

	Figures []PairedFigure // in the order of [Kinds], after [Decision]
	Domains []PairedDomain // by what is right, the most broken first
}

// A Pair is one case on both sides.
type Pair struct {
	Case     *Case
	A, B     *Row
	Decision Change // what is shown: as the figure [Decision]
	First    Change // a right skill is first; "" without right skills
}

// A Change is how a case went on side a, and how on side b.
type Change string

// The changes.
const (
	Fixed     Change = "fixed"      // wrong on side a, right on side b
	Broken    Change = "broken"     // right on side a, wrong on side b
	BothRight Change = "both right" //
	BothWrong Change = "both wrong" //
)

func change(a, b bool) Change {
	switch {
	case a && b:
		return BothRight
	case a:
		return Broken
	case b:
		return Fixed
	default:
		return BothWrong
	}
}

// Decision names the figure of rows in or out of scope that is 1 where one or
// two domains match with a right one among them, or nothing does and nothing
// should.
const Decision = "decision_right"

func decision(r *Row) (float64, bool) {
	if r.Case.OutOfScope {
		return one(r.Abstained), true
	}
	return one(r.right() && len(r.Matched) <= narrow), r.InScope()
}

// A PairedFigure is one figure of the pairs on both sides. Where it is yes or
// no for each row the test is McNemar's, exact and two-sided, of the rows that
// changed (McNemar, 1947); the interval of the difference is from samples of
// pairs (paired bootstrap, 1,000 samples, percentile), the same for the same
// pairs.
type PairedFigure struct {
	Name       string   `json:"name"`
	What       string   `json:"what"`
	Better     int      `json:"better"` // 1: more is better, -1: less is, 0: neither
	Rate       bool     `json:"rate"`
	A          Number   `json:"a"`
	B          Number   `json:"b"`
	Difference Number   `json:"difference"` // b − a
	Interval   Interval `json:"interval"`   // of the difference, 95 %
	Changed    bool     `json:"-"`          // Up, Down and P are known
	Up         int      `json:"up"`         // rows that are 0 on side a and 1 on side b
	Down       int      `json:"down"`
	P          Number   `json:"p"` // of as uneven a change by chance; null where the figure is no yes or no
}

// A PairedDomain is how the cases of one right domain changed; that of cases
// out of scope has no name. A case with several domains is in each.
type PairedDomain struct {
	Name   string `json:"name"`
	N      int    `json:"n"`
	Fixed  int    `json:"fixed"` // decisions
	Broken int    `json:"broken"`

	FirstFixed  int `json:"first_fixed"` // right skills first
	FirstBroken int `json:"first_broken"`
}

// Compare runs cases on both sides and pairs what came of them. Catalogs may
// differ: labels that a side does not have count for nothing there, a case with
// skills is right in their domains where its own do not exist.
func Compare(ctx context.Context, a, b *Side, cases []Case) (*Comparison, error) {
	var reports [2]*Report
	for i, s := range []*Side{a, b} {
		var err error
		if reports[i], err = Run(ctx, s.Router, knownLabels(s.Router.Index(), cases), s.Options); err != nil {
			return nil, err
		}
	}
	return pair(reports[0], reports[1], cases)
}

// knownLabels are cases without the labels that a catalog does not have. One of
// which none is left is neither in nor out of scope.
func knownLabels(ix *index.Index, cases []Case) []Case {
	known := slices.Clone(cases)
	for i := range known {
		c := &known[i]
		c.Skills = slices.DeleteFunc(slices.Clone(c.Skills), func(s string) bool { _, ok := ix.Lookup(s); return !ok })
		c.Domains = slices.DeleteFunc(slices.Clone(c.Domains), func(d string) bool { _, ok := ix.LookupDomain(d); return !ok })
		c.Not = slices.DeleteFunc(slices.Clone(c.Not), func(s string) bool { _, ok := ix.Lookup(s); return !ok })
	}
	return known
}

// pair compares reports of the same cases.
func pair(a, b *Report, cases []Case) (*Comparison, error) {
	if len(a.Rows) != len(cases) || len(b.Rows) != len(cases) {
		return nil, errors.New("eval: the sides have other cases")
	}
	c := &Comparison{A: a, B: b}
	for i := range cases {
		p := Pair{Case: &cases[i], A: a.Rows[i], B: b.Rows[i]}
		switch {
		case p.answerable(p.A) && p.answerable(p.B):
			p.compare()
			c.Pairs = append(c.Pairs, p)
		case p.answerable(p.A):
			c.OnlyA = append(c.OnlyA, p)
		case p.answerable(p.B):
			c.OnlyB = append(c.OnlyB, p)
		}
	}
	c.figures()
	c.domains()
	return c, nil
}

// answerable tells whether a side has something that is right for the case, if
// anything is.
func (p *Pair) answerable(on *Row) bool {
	if len(p.Case.Skills) > 0 {
		return on.hasSkills()
	}
	return !p.Case.InScope() || on.InScope()
}

func (p *Pair) compare() {
	right := func(of func(*Row) (float64, bool)) Change {
		a, counts := of(p.A)
		b, also := of(p.B)
		if !counts || !also {
			return ""
		}
		return change(a == 1, b == 1)
	}
	p.Decision, p.First = right(decision), right(hit(1))
}

// Count is how many pairs changed in some way, by what of says of them.
func (c *Comparison) Count(of func(*Pair) Change, change Change) int {
	n := 0
	for i := range c.Pairs {
		n += int(one(of(&c.Pairs[i]) == change))
	}
	return n
}

// Figure returns the figure of that name, nil if no pair counts for it.
func (c *Comparison) Figure(name string) *PairedFigure {
	i := slices.IndexFunc(c.Figures, func(f PairedFigure) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Figures[i]
}

// significant is the share of comparisons of equals that may be called worse.
const significant = 0.05

// Worse names which of the two figures that decide, [Decision] and skill_hit@1,
// are worse on side b than chance explains: p below 0.05 after Holm's
// correction for two tests (Holm, 1979).
func (c *Comparison) Worse() []string {
	var tested []*PairedFigure
	for _, name := range []string{Decision, "skill_hit@1"} {
		if f := c.Figure(name); f != nil && f.P.Known() {
			tested = append(tested, f)
		}
	}
	slices.SortStableFunc(tested, func(f, g *PairedFigure) int { return compare(float64(f.P), float64(g.P)) })
	var worse []string
	for i, f := range tested {
		if float64(f.P)*float64(len(tested)-i) >= significant {
			break
		}
		if f.Down > f.Up {
			worse = append(worse, f.Name)
		}
	}
	slices.Sort(worse)
	return worse
}

// figures fills Figures with those that are known on both sides.
func (c *Comparison) figures() {
	a, b := make([]*Row, len(c.Pairs)), make([]*Row, len(c.Pairs))
	for i := range c.Pairs {
		a[i], b[i] = c.Pairs[i].A, c.Pairs[i].B
	}
	kinds := append([]Figure{{Name: Decision, What: "the right domains match, nothing where nothing should", Better: 1, Rate: true, row: decision}}, Kinds()...)
	figuresA, figuresB := Measure(a), Measure(b)
	var means []pairedMean
	for i := range kinds {
		k := &kinds[i]
		f := PairedFigure{Name: k.Name, What: k.What, Better: k.Better, Rate: k.Rate, P: Number(math.NaN())}
		switch {
		case strings.HasPrefix(k.Name, "latency"):
			continue // of other moments of the machine, not of other cases
		case k.of == nil: // Decision
			f.A, f.B = k.mean(a), k.mean(b)
		default:
			f.A, f.B = k.Of(figuresA), k.Of(figuresB)
		}
		if f.Difference = f.B - f.A; !f.Difference.Known() {
			continue
		}
		if k.row != nil {
			means = append(means, newPairedMean(k, a, b))
			f.test(k, a, b)
		}
		c.Figures = append(c.Figures, f)
	}
	aurocA, aurocB, eceA, eceB := newWeightedAUROC(a), newWeightedAUROC(b), newWeightedECE(a), newWeightedECE(b)
	intervals := pairedBootstrap(len(c.Pairs), means, map[string]func([]float64) float64{
		"abstain_auroc": func(drawn []float64) float64 { return aurocB.value(drawn) - aurocA.value(drawn) },
		"ece":           func(drawn []float64) float64 { return eceB.value(drawn) - eceA.value(drawn) },
	})
	for i := range c.Figures {
		c.Figures[i].Interval = intervals[c.Figures[i].Name]
	}
}

// test does McNemar's test if the figure is yes or no of the same rows.
func (f *PairedFigure) test(k *Figure, a, b []*Row) {
	up, down := 0, 0
	for i := range a {
		x, counts := k.row(a[i])
		y, also := k.row(b[i])
		if counts != also || counts && (x != 0 && x != 1 || y != 0 && y != 1) {
			return
		}
		if counts {
			up += int(one(x < y))
			down += int(one(x > y))
		}
	}
	if f.Rate {
		f.Changed, f.Up, f.Down, f.P = true, up, down, Number(McNemar(up, down))
	}
}

// McNemar is the probability that rows which change, of as many that changed
// up and down, do so at least as unevenly if each way is as likely: exact,
// two-sided. It is 1 if none changed.
func McNemar(up, down int) float64 {
	n := up + down
	choose := func(k int) float64 { // of n changes k, and 2ⁿ ways
		total, _ := math.Lgamma(float64(n) + 1)
		chosen, _ := math.Lgamma(float64(k) + 1)
		rest, _ := math.Lgamma(float64(n-k) + 1)
		return math.Exp(total - chosen - rest - float64(n)*math.Ln2)
	}
	var p float64
	for k := range min(up, down) + 1 {
		p += 2 * choose(k)
	}
	return min(p, 1)
}

// A pairedMean is a figure of both sides, by pair.
type pairedMean struct{ a, b unitMean }

func newPairedMean(k *Figure, a, b []*Row) pairedMean {
	side := func(rows []*Row) unitMean {
		m := unitMean{name: k.Name, sums: make([]float64, len(rows)), counts: make([]float64, len(rows))}
		for i, r := range rows {
			if v, counts := k.row(r); counts {
				m.sums[i], m.counts[i] = v, 1
			}
		}
		return m
	}
	return pairedMean{side(a), side(b)}
}

// pairedBootstrap returns intervals of differences: as bootstrap, both sides of
// a pair drawn together.
func pairedBootstrap(pairs int, means []pairedMean, others map[string]func(drawn []float64) float64) map[string]Interval {
	for _, m := range means {
		others[m.a.name] = func(drawn []float64) float64 { return m.b.mean(drawn) - m.a.mean(drawn) }
	}
	return bootstrap(pairs, nil, others)
}

// mean is the mean of what was drawn; NaN of nothing.
func (m *unitMean) mean(drawn []float64) float64 {
	var sum, n float64
	for u, w := range drawn {
		sum += w * m.sums[u]
		n += w * m.counts[u]
	}
	return sum / n
}

// domains fills Domains.
func (c *Comparison) domains() {
	of := map[string]*PairedDomain{}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		names := slices.Concat(p.A.Domains, p.B.Domains)
		switch {
		case p.Case.OutOfScope:
			names = []string{""}
		case p.Decision == "":
			continue
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			d := of[name]
			if d == nil {
				d = &PairedDomain{Name: name}
				of[name] = d
			}
			d.N++
			d.Fixed += int(one(p.Decision == Fixed))
			d.Broken += int(one(p.Decision == Broken))
			d.FirstFixed += int(one(p.First == Fixed))
			d.FirstBroken += int(one(p.First == Broken))
		}
	}
	for _, d := range of {
		c.Domains = append(c.Domains, *d)
	}
	slices.SortFunc(c.Domains, func(a, b PairedDomain) int {
		worse := func(d *PairedDomain) int { return d.Broken + d.FirstBroken - d.Fixed - d.FirstFixed }
		if d := worse(&b) - worse(&a); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// CheckSides is [Check] for cases of a comparison: a label is wrong only if no
// side has it.
func CheckSides(a, b *index.Index, sets ...*Set) error {
	return check(newNames(a, b), sets)
}

// DropSides is [Drop] for cases of a comparison: those with names that no side
// has are taken out.
func DropSides(a, b *index.Index, sets ...*Set) (dropped int) {
	return drop(newNames(a, b), sets)
}

// Difference says how the catalogs of two sides differ: names of skills that
// only one has, in the order of the catalogs.
func Difference(a, b *index.Index) (onlyA, onlyB []string) {
	missing := func(of, in *index.Index) (names []string) {
		for i := range of.Skills() {
			if _, ok := in.Lookup(of.Skills()[i].Name); !ok {
				names = append(names, of.Skills()[i].Name)
			}
		}
		return names
	}
	return missing(a, b), missing(b, a)
}

// Answer says in a few words what a row came to: the domains that match with
// their scores, else the best one.
func (r *Row) Answer() string {
	if len(r.Matched) == 0 {
		switch {
		case !r.Abstained:
			return "named outright"
		case len(r.Best) == 0:
			return "none"
		}
		return fmt.Sprintf("none (%s %.2f)", r.Best[0].Name, r.Best[0].Score)
	}
	var all []string
	for _, m := range r.Matched {
		if i := slices.IndexFunc(r.Best, func(s Standing) bool { return s.Name == m }); i >= 0 {
			m = fmt.Sprintf("%s %.2f", m, r.Best[i].Score)
		}
		all = append(all, m)
	}
	return strings.Join(all, ", ")
}
