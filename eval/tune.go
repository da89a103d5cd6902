package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"skillrouter/index"
	"skillrouter/router"
)

// TuneOptions say how [Tune] goes about it. The zero value is the default.
type TuneOptions struct {
	Options
	Rule Rule // by which the threshold is chosen

	// New makes a router over an index; threshold 0 is the one in use. It must
	// not be nil.
	New func(ix *index.Index, threshold float64) (*router.Router, error)
}

// A Tuning is what was fitted on some cases, and what it does on others.
type Tuning struct {
	Correction Correction // of scores; the zero one where none helps
	Trial      Trial      // whether it helps, on the fitted cases alone

	Threshold, Old float64 // chosen, and in use
	Fitted         Point   // the chosen one on the fitted cases, with the correction
	FittedOld      Point   // the one in use on them, without
	Judged         bool    // enough fitted cases are out of scope to choose a threshold below the one in use

	// On the cases that had no part in it: a as it is, b tuned.
	Comparison *Comparison
	LogLoss    [2]float64 // of the scores of a and b, as in [Trial]
	Improves   bool       // b is better by the rule or, where neither is by half a point, its log loss is less
}

// Changes tells whether anything is to be changed at all.
func (t *Tuning) Changes() bool { return t.Threshold != t.Old || t.Correction.Slope != 0 }

// A Correction makes the log-odds of a score Slope times as large, plus Shift;
// see [index.Index.Recalibrated].
type Correction struct {
	Slope float64 `json:"slope"` // 0: no correction
	Shift float64 `json:"shift"`
}

// A Trial compares scores with corrected ones on rows that had no part in the
// fit of the correction, each fifth of the fitted cases in turn.
type Trial struct {
	LogLoss   float64 `json:"log_loss"` // mean of a row, in nats, of its two best domains
	Corrected float64 `json:"log_loss_corrected"`
	ECE       Number  `json:"ece"`
	ECEAfter  Number  `json:"ece_corrected"`
	Helps     bool    `json:"helps"` // by one part in a hundred and by two standard errors
}

// How many cases tuning needs.
const (
	LeastInScope    = 50 // in each part, in scope
	LeastOutOfScope = 20 // of the fitted ones, to choose a threshold below the one in use
)

// A FewError says that there are too few cases to tune with.
type FewError struct {
	Part string // "fit on" or "report on"
	Has  int    // in scope
}

func (e *FewError) Error() string {
	return fmt.Sprintf("%d cases in scope to %s, at least %d are needed", e.Has, e.Part, LeastInScope)
}

// thresholds are those that Tune chooses from.
func thresholds(inUse float64) []float64 {
	var all []float64
	for n := 50; n <= 95; n++ {
		all = append(all, float64(n)/100)
	}
	if !slices.Contains(all, inUse) {
		all = append(all, inUse)
		slices.Sort(all)
	}
	return all
}

// Tune fits a correction of the scores and the threshold on some cases, and
// compares what comes of it on others, which must have no part in the fit. With
// fewer than [LeastInScope] cases in scope in a part it fails with a [FewError].
// Where no fitted case is out of scope our own utterances of no skill, see
// [index.Background], stand for a tenth of all in the fit of the correction.
func Tune(ctx context.Context, fit, report []Case, opts *TuneOptions) (*Tuning, error) {
	if opts == nil || opts.New == nil {
		return nil, errors.New("eval: no TuneOptions.New: how are routers made?")
	}
	for _, p := range []struct {
		name  string
		cases []Case
	}{{"fit on", fit}, {"report on", report}} {
		in := 0
		for i := range p.cases {
			in += int(one(p.cases[i].InScope()))
		}
		if in < LeastInScope {
			return nil, &FewError{p.name, in}
		}
	}
	old, err := opts.New(nil, 0)
	if err != nil {
		return nil, err
	}
	t := &Tuning{Old: old.InForce().Threshold}
	if err := t.correct(ctx, old, fit, opts); err != nil {
		return nil, err
	}
	ix := old.Index()
	if t.Correction.Slope != 0 {
		ix = ix.Recalibrated(t.Correction.Slope, t.Correction.Shift)
	}
	if err := t.choose(ctx, ix, fit, opts); err != nil {
		return nil, err
	}
	tuned, err := opts.New(ix, t.Threshold)
	if err != nil {
		return nil, err
	}
	side := func(r *router.Router) *Side { return &Side{Router: r, Options: &opts.Options} }
	if t.Comparison, err = Compare(ctx, side(old), side(tuned), report); err != nil {
		return nil, err
	}
	t.LogLoss = [2]float64{lossOfRows(t.Comparison.A.Rows), lossOfRows(t.Comparison.B.Rows)}
	t.Improves = t.improves(opts.Rule)
	return t, nil
}

// asGood is by how much figures of other cases may differ and be called equal.
const asGood = 0.005

// improves compares by the rule, but for differences that a few rows make.
func (t *Tuning) improves(rule Rule) bool {
	gain := rule.Value(t.Comparison.B.Figures) - rule.Value(t.Comparison.A.Figures)
	if math.Abs(gain) > asGood {
		return gain > 0
	}
	return t.LogLoss[1] < t.LogLoss[0]
}

// correct fits the correction and tries it.
func (t *Tuning) correct(ctx context.Context, r *router.Router, fit []Case, opts *TuneOptions) error {
	cases, weight := slices.Clone(fit), 1.0 // of a case beyond those to fit on
	if !slices.ContainsFunc(fit, func(c Case) bool { return c.OutOfScope }) {
		background := index.Background()
		for _, u := range background {
			cases = append(cases, Case{Text: u, OutOfScope: true})
		}
		weight = float64(len(fit)) / 9 / float64(len(background))
	}
	sweep, err := Sweep(ctx, r, cases, []router.Limits{{}}, &opts.Options)
	if err != nil {
		return err
	}
	rows := sweep.Points[0].Rows
	t.FittedOld = sweep.Points[0]
	t.FittedOld.Rows = rows[:len(fit)]
	t.FittedOld.Figures = Measure(t.FittedOld.Rows)
	samples := make([][]scored, len(rows)) // by row
	fold := make([]int, len(rows))
	for i, row := range rows {
		w := 1.0
		if i >= len(fit) {
			w = weight
		}
		samples[i] = scoredOf(row, w)
		fold[i] = part("fold", row.Case.Text, folds)
	}
	t.Trial = try(rows, samples, fold)
	if t.Trial.Helps {
		t.Correction = fitCorrection(slices.Concat(samples...))
	}
	return nil
}

// choose chooses the threshold over ix.
func (t *Tuning) choose(ctx context.Context, ix *index.Index, fit []Case, opts *TuneOptions) error {
	r, err := opts.New(ix, 0)
	if err != nil {
		return err
	}
	var limits []router.Limits
	var now int
	for i, x := range thresholds(t.Old) {
		if x == t.Old {
			now = i
		}
		if x == 0 {
			x = -1
		}
		limits = append(limits, router.Limits{Threshold: x})
	}
	sweep, err := Sweep(ctx, r, fit, limits, &opts.Options)
	if err != nil {
		return err
	}
	points := sweep.Points
	inUse := points[now]
	t.Judged = inUse.OutOfScope >= LeastOutOfScope
	if !t.Judged {
		points = points[now:]
	}
	t.Fitted = points[opts.Rule.Choose(points, t.Old)]
	if opts.Rule.Value(t.Fitted.Figures) <= opts.Rule.Value(inUse.Figures) {
		t.Fitted = inUse // as good: nothing is to be changed
	}
	t.Threshold = t.Fitted.Threshold
	return nil
}

// folds is in how many parts a trial divides the fitted cases.
const folds = 5

// A scored is one of the best domains of a row.
type scored struct {
	odds   float64 // logarithm
	right  bool
	weight float64
}

// triedDomains is how many domains of a row a correction is fitted on, as many
// as an index fits its own map on.
const triedDomains = 2

func scoredOf(r *Row, weight float64) []scored {
	if len(r.Domains) == 0 && !r.Case.OutOfScope {
		return nil
	}
	var all []scored
	for _, s := range r.Best[:min(triedDomains, len(r.Best))] {
		all = append(all, scored{logOdds(float64(s.Score)), slices.Contains(r.Domains, s.Name), weight})
	}
	return all
}

// mostOdds bounds log-odds: a score is a float32, and 1 may stand for nearly 1.
const mostOdds = 16

func logOdds(p float64) float64 {
	return min(max(math.Log(p)-math.Log1p(-p), -mostOdds), mostOdds)
}

// loss is what a score costs that says this and is right or not, in nats.
func (c Correction) loss(s scored) float64 {
	z := c.Slope*s.odds + c.Shift
	if s.right {
		z = -z
	}
	return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) // log(1+eᶻ)
}

// lossOfRows is the mean loss of rows.
func lossOfRows(rows []*Row) float64 {
	var sum float64
	n := 0
	for _, r := range rows {
		if samples := scoredOf(r, 1); samples != nil {
			n++
			for _, s := range samples {
				sum += same().loss(s)
			}
		}
	}
	return sum / float64(n)
}

// same is the correction that changes nothing.
func same() Correction { return Correction{Slope: 1} }

// tuningPrior is what the correction is pulled to no change with: about 25
// cases.
const tuningPrior = 10.0

// fitCorrection is penalised maximum likelihood by Newton's method, with three
// decimals, slope from 0.2 to 5 and shift within 5.
func fitCorrection(samples []scored) Correction {
	c := same()
	loss := penalised(c, samples)
	for range 50 {
		gradient := [2]float64{tuningPrior * (c.Slope - 1), tuningPrior * c.Shift}
		curvature := [3]float64{tuningPrior, 0, tuningPrior} // slope twice, both, shift twice
		for _, s := range samples {
			p := logistic(c.Slope*s.odds + c.Shift)
			off, v := s.weight*(p-one(s.right)), s.weight*p*(1-p)
			gradient[0] += off * s.odds
			gradient[1] += off
			curvature[0] += v * s.odds * s.odds
			curvature[1] += v * s.odds
			curvature[2] += v
		}
		det := curvature[0]*curvature[2] - curvature[1]*curvature[1]
		slope := (curvature[2]*gradient[0] - curvature[1]*gradient[1]) / det
		shift := (curvature[0]*gradient[1] - curvature[1]*gradient[0]) / det
		less := false
		for step := 1.0; step > 1e-6 && !less; step /= 2 { // a whole step may go too far
			next := Correction{min(max(c.Slope-step*slope, 0.2), 5), min(max(c.Shift-step*shift, -5), 5)}
			if l := penalised(next, samples); l < loss {
				c, loss, less = next, l, true
			}
		}
		if !less {
			break
		}
	}
	round := func(x float64) float64 { return math.Round(x*1000) / 1000 }
	return Correction{round(c.Slope), round(c.Shift)}
}

// penalised is what fitCorrection makes small.
func penalised(c Correction, samples []scored) float64 {
	sum := tuningPrior / 2 * ((c.Slope-1)*(c.Slope-1) + c.Shift*c.Shift)
	for _, s := range samples {
		sum += s.weight * c.loss(s)
	}
	return sum
}

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// try fits a correction on all folds but one and asks it for that one, in turn.
// Samples and fold are by row.
func try(rows []*Row, samples [][]scored, fold []int) Trial {
	var t Trial
	var before, after Bins
	var gains, weights []float64 // by row
	for k := range folds {
		var others []scored
		for i := range rows {
			if fold[i] != k {
				others = append(others, samples[i]...)
			}
		}
		c := fitCorrection(others)
		for i, row := range rows {
			if fold[i] != k || len(samples[i]) == 0 {
				continue
			}
			var loss, corrected float64
			for _, s := range samples[i] {
				loss += s.weight * same().loss(s)
				corrected += s.weight * c.loss(s)
			}
			t.LogLoss += loss
			t.Corrected += corrected
			gains, weights = append(gains, loss-corrected), append(weights, samples[i][0].weight)
			best := samples[i][0]
			if best.weight == 1 { // not of our own utterances
				before.put(row.Score, best.right)
				after.put(logistic(c.Slope*best.odds+c.Shift), best.right)
			}
		}
	}
	var n, squares float64
	for _, w := range weights {
		n += w
	}
	mean := (t.LogLoss - t.Corrected) / n
	for i, g := range gains {
		off := g - weights[i]*mean
		squares += off * off
	}
	t.LogLoss /= n
	t.Corrected /= n
	t.ECE, t.ECEAfter = before.Error(), after.Error()
	t.Helps = mean > t.LogLoss/100 && mean > 2*math.Sqrt(squares)/n
	return t
}
