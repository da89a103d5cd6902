package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"skillrouter/router"
)

// A SweepReport is what came of the same cases within several limits.
type SweepReport struct {
	Conditions Conditions // those of the router itself
	Points     []Point    // in the order of the limits
}

// A Point is what came of cases within limits. Latencies and what the figures
// would be without layers are unknown: see [Run].
type Point struct {
	Threshold    float64 `json:"threshold"`
	MaxSummaries int     `json:"max_summaries"` // -1: no bound
	MaxDomains   int     `json:"max_domains"`   // -1: no bound
	*Figures
	Rows []*Row `json:"-"` // in the order of the cases
}

// Sweep routes each case once and tells what comes of it within each of limits,
// as [Run] would with a router that has them. It fails as Run does, without
// limits, and for limits that no router takes.
func Sweep(ctx context.Context, r *router.Router, cases []Case, limits []router.Limits, opts *Options) (*SweepReport, error) {
	if len(cases) == 0 || len(limits) == 0 {
		return nil, errors.New("eval: no case, or no limits to sweep over")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	m := &runner{r: r, ix: r.Index(), opts: o, cap: r.InForce().MaxSummaries}
	m.allTokens = FlatTokens(m.ix, o.Allow)
	if err := m.prepare(ctx, cases); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	sweep := &SweepReport{Conditions: ConditionsOf(r, &o), Points: make([]Point, len(limits))}
	sweep.Conditions.Chinese = chineseShare(cases)
	for i := range sweep.Points {
		sweep.Points[i] = newPoint(r, &limits[i], len(cases))
	}
	for i := range cases {
		if o.Progress != nil && i%100 == 0 {
			o.Progress(i, len(cases))
		}
		routes, err := r.RouteWithin(ctx, cases[i].Text, limits, o.Allow)
		if err != nil {
			return nil, fmt.Errorf("eval: case %d: %w", i+1, err)
		}
		for k, route := range routes {
			if sweep.Points[k].Rows[i], err = m.rowOf(&cases[i], route); err != nil {
				return nil, fmt.Errorf("eval: case %d: %w", i+1, err)
			}
		}
	}
	if o.Progress != nil {
		o.Progress(len(cases), len(cases))
	}
	for i := range sweep.Points {
		p := &sweep.Points[i]
		p.Figures = Measure(p.Rows)
		unknown := Number(math.NaN())
		p.LatencyP50, p.LatencyP99 = unknown, unknown
		for _, k := range Kinds() {
			if strings.HasPrefix(k.Name, "flat.") {
				*k.of(p.Figures) = unknown
			}
		}
	}
	return sweep, nil
}

// newPoint is one without rows: its limits are those that are in force.
func newPoint(r *router.Router, l *router.Limits, rows int) Point {
	in := r.InForce()
	number := func(own, inForce int) int {
		if own == 0 {
			own = inForce
		}
		if own < 0 || own >= unbounded {
			return -1
		}
		return own
	}
	p := Point{
		Threshold: l.Threshold, MaxSummaries: number(l.MaxSummaries, in.MaxSummaries), MaxDomains: number(l.MaxDomains, in.MaxDomains),
		Rows: make([]*Row, rows),
	}
	if p.Threshold == 0 {
		p.Threshold = in.Threshold
	}
	p.Threshold = max(p.Threshold, 0)
	return p
}

// A Rule says which threshold is to be recommended: that with most right
// matches, less what it costs to be beyond bounds; of equal ones the lowest.
// Bounds alone would give up any number of right matches for the last wrong one.
// Zero fields mean the defaults, negative bounds none.
type Rule struct {
	MaxWrong    float64 // wrong_match_rate at most; 0 means 0.03
	MinRejected float64 // abstain_recall at least; 0 means 0.8
	Weight      float64 // right matches that as much beyond a bound costs; 0 means 3
}

func (r Rule) complete() Rule {
	if r.MaxWrong == 0 {
		r.MaxWrong = 0.03
	}
	if r.MinRejected == 0 {
		r.MinRejected = 0.8
	}
	if r.Weight == 0 {
		r.Weight = 3
	}
	return r
}

// String says the rule in words.
func (r Rule) String() string {
	r = r.complete()
	var bounds []string
	if r.MaxWrong > 0 {
		bounds = append(bounds, fmt.Sprintf("above %g %% of what is in scope matches only wrong domains", math.Round(1e4*r.MaxWrong)/100))
	}
	if r.MinRejected > 0 {
		bounds = append(bounds, fmt.Sprintf("below %g %% of what is out of scope matches nothing", math.Round(1e4*r.MinRejected)/100))
	}
	if len(bounds) == 0 {
		return "most right matches; of equal thresholds the lowest"
	}
	return fmt.Sprintf("most right matches, less %g points for each point that %s; of equal thresholds the lowest", r.Weight, strings.Join(bounds, " or "))
}

// Misses is by how much figures miss the bounds of the rule, added up; 0 if
// they keep them. An unknown figure misses nothing.
func (r Rule) Misses(f *Figures) float64 {
	r = r.complete()
	var miss float64
	if r.MaxWrong > 0 && f.WrongMatch.Known() {
		miss += max(0, float64(f.WrongMatch)-r.MaxWrong)
	}
	if r.MinRejected > 0 && f.AbstainRecall.Known() {
		miss += max(0, r.MinRejected-float64(f.AbstainRecall))
	}
	return miss
}

// Value is what the rule makes large, in right matches.
func (r Rule) Value(f *Figures) float64 {
	return float64(f.RightMatch) - r.complete().Weight*r.Misses(f)
}

// Choose returns the place of the threshold that the rule recommends among
// points that differ in nothing else, -1 if no case is in scope. Without cases
// out of scope a lower threshold would never be seen to cost anything: then
// none below least is chosen, unless all are.
func (r Rule) Choose(points []Point, least float64) int {
	best := -1
	for i := range points {
		p := &points[i]
		if p.InScope == 0 || p.OutOfScope == 0 && p.Threshold < least &&
			slices.ContainsFunc(points, func(q Point) bool { return q.Threshold >= least }) {
			continue
		}
		switch {
		case best < 0 || r.Value(p.Figures) > r.Value(points[best].Figures):
			best = i
		case r.Value(p.Figures) == r.Value(points[best].Figures) && p.Threshold < points[best].Threshold:
			best = i
		}
	}
	return best
}

// capLoses is what a bound of summaries may cost of shown recall against the
// largest one and be recommended.
const capLoses = 0.005

// ChooseCap returns the place of the smallest bound of summaries whose shown
// recall is within half a point of the best, among points that differ in
// nothing else; -1 if no case has right skills.
func ChooseCap(points []Point) int {
	size := func(p *Point) int {
		if p.MaxSummaries < 0 {
			return math.MaxInt
		}
		return p.MaxSummaries
	}
	most, best := Number(0), -1
	for i := range points {
		if points[i].Shown.Known() {
			most = max(most, points[i].Shown)
		}
	}
	for i := range points {
		p := &points[i]
		if p.Shown.Known() && p.Shown >= most-capLoses && (best < 0 || size(p) < size(&points[best])) {
			best = i
		}
	}
	return best
}
