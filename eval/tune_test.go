package eval

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"skillrouter/embed"
	"skillrouter/index"
	"skillrouter/router"
)

// A correction that was there is found again, from the samples it explains.
func TestFitCorrection(t *testing.T) {
	for _, want := range []Correction{{1, 0}, {1.8, -0.7}, {0.5, 1}} {
		random := rand.New(rand.NewPCG(7, 7))
		samples := make([]scored, 30_000)
		for i := range samples {
			odds := 3 * random.NormFloat64()
			samples[i] = scored{odds, random.Float64() < logistic(want.Slope*odds+want.Shift), 1}
		}
		if got := fitCorrection(samples); math.Abs(got.Slope-want.Slope) > 0.05 || math.Abs(got.Shift-want.Shift) > 0.05 {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if got := fitCorrection(nil); got != same() {
		t.Errorf("no samples: got %+v", got)
	}
	hopeless := []scored{{16, false, 1e6}, {-16, true, 1e6}}
	if got := fitCorrection(hopeless); !(got.Slope >= 0.2 && got.Slope <= 5 && math.Abs(got.Shift) <= 5) {
		t.Errorf("got %+v beyond the bounds", got)
	}
}

// Scores that are far too sure are corrected, and said to be helped; scores that
// are right are left alone.
func TestTrial(t *testing.T) {
	for _, test := range []struct {
		name  string
		slope float64 // of the log-odds that are true
		want  bool
	}{{"too sure", 0.4, true}, {"as they are", 1, false}} {
		random := rand.New(rand.NewPCG(8, 8))
		var rows []*Row
		var samples [][]scored
		var fold []int
		for i := range 600 {
			odds := 3 * random.NormFloat64()
			r := &Row{Case: &Case{Text: fmt.Sprint(i)}, Domains: []string{"other"}, Score: logistic(odds), Best: []Standing{{"d", 1, float32(logistic(odds))}}}
			if random.Float64() < logistic(test.slope*odds) {
				r.Domains, r.DomainRank = []string{"d"}, 1
			}
			rows, samples, fold = append(rows, r), append(samples, scoredOf(r, 1)), append(fold, part("fold", r.Case.Text, folds))
		}
		trial := try(rows, samples, fold)
		if trial.Helps != test.want || test.want && !(trial.ECEAfter < trial.ECE && trial.Corrected < trial.LogLoss) {
			t.Errorf("%s: got %+v", test.name, trial)
		}
	}
}

// tuner makes routers over the example catalog, and counts its threshold.
func tuner(t *testing.T, o router.Options) *TuneOptions {
	t.Helper()
	e, err := embed.New()
	if err != nil {
		t.Fatal(err)
	}
	ix := exampleRouter(t, router.Options{}).Index()
	return &TuneOptions{New: func(other *index.Index, threshold float64) (*router.Router, error) {
		if other == nil {
			other = ix
		}
		o := o
		if threshold != 0 {
			o.Threshold = threshold
		}
		return router.New(other, e, &o)
	}}
}

func TestTune(t *testing.T) {
	fit, report := Split(exampleCases(t))
	opts := tuner(t, router.Options{Threshold: 0.95}) // far too high
	opts.Rule = Rule{MaxWrong: 0.05, MinRejected: 0.6}
	x, err := Tune(t.Context(), fit, report, opts)
	if err != nil {
		t.Fatal(err)
	}
	if x.Old != 0.95 || !(x.Threshold < 0.95) || !x.Judged || !x.Changes() || !x.Improves {
		t.Errorf("got threshold %v in place of %v, judged %v, improves %v", x.Threshold, x.Old, x.Judged, x.Improves)
	}
	c := x.Comparison
	if c.A.N != len(report) || c.B.N != len(report) || x.Fitted.N != len(fit) || !(c.B.RightMatch > c.A.RightMatch) {
		t.Errorf("fitted on %d, reported on %d and %d, right %v then %v", x.Fitted.N, c.A.N, c.B.N, c.A.RightMatch, c.B.RightMatch)
	}
	if c.A.Conditions.Threshold != 0.95 || c.B.Conditions.Threshold != x.Threshold {
		t.Errorf("compared at %v and %v", c.A.Conditions.Threshold, c.B.Conditions.Threshold)
	}
	if corrected := c.A.Conditions.Index != c.B.Conditions.Index; corrected != (x.Correction.Slope != 0) {
		t.Errorf("correction %+v, other scores: %v", x.Correction, corrected)
	}
	again, err := Tune(t.Context(), fit, report, opts)
	if err != nil || again.Threshold != x.Threshold || again.Correction != x.Correction || again.Trial != x.Trial {
		t.Errorf("tuned again: %+v, %v", again, err)
	}
}

// Without cases out of scope nobody sees what a lower threshold costs: none is
// chosen.
func TestTuneWithoutOutOfScope(t *testing.T) {
	var in []Case
	for _, c := range exampleCases(t) {
		if c.InScope() {
			in = append(in, c)
		}
	}
	fit, report := Split(in)
	x, err := Tune(t.Context(), fit, report, tuner(t, router.Options{Threshold: 0.8}))
	if err != nil {
		t.Fatal(err)
	}
	if x.Judged || x.Threshold < 0.8 {
		t.Errorf("threshold %v, judged %v", x.Threshold, x.Judged)
	}
}

func TestTuneTooFew(t *testing.T) {
	fit, report := Split(exampleCases(t))
	_, err := Tune(t.Context(), fit[:40], report, tuner(t, router.Options{}))
	few, ok := errors.AsType[*FewError](err)
	if !ok || few.Part != "fit on" || !strings.Contains(err.Error(), "at least 50 are needed") {
		t.Errorf("got error %v", err)
	}
	if _, err = Tune(t.Context(), fit, report[:10], tuner(t, router.Options{})); err == nil || !strings.Contains(err.Error(), "to report on") {
		t.Errorf("got error %v", err)
	}
	if _, err = Tune(t.Context(), fit, report, nil); err == nil {
		t.Error("no error without a way to make routers")
	}
}

// A threshold that does as well as the one in use changes nothing, and on the
// other part it is the rule that decides, the scores only where that is equal.
func TestTuneKeepsWhatIsAsGood(t *testing.T) {
	r := exampleRouter(t, router.Options{})
	cases := []Case{{Text: "/git-commit", Skills: []string{"git-commit"}}}
	for range LeastOutOfScope {
		cases = append(cases, Case{Text: "?!", OutOfScope: true}) // matches nothing at any threshold
	}
	tuning := &Tuning{Old: 0.72}
	err := tuning.choose(t.Context(), r.Index(), cases, &TuneOptions{New: func(*index.Index, float64) (*router.Router, error) { return r.Router, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if tuning.Threshold != 0.72 || !tuning.Judged {
		t.Errorf("threshold %v, low ones judged: %v; all do the same", tuning.Threshold, tuning.Judged)
	}

	for _, c := range []struct {
		name          string
		before, after Number // right matches
		loss          [2]float64
		want          bool
	}{
		{"more right matches, worse scores", 0.8, 0.82, [2]float64{0.3, 0.4}, true},
		{"fewer, better scores", 0.82, 0.8, [2]float64{0.4, 0.3}, false},
		{"as many, better scores", 0.8, 0.799, [2]float64{0.4, 0.3}, true},
		{"as many, worse scores", 0.8, 0.801, [2]float64{0.3, 0.4}, false},
	} {
		side := func(right Number) *Report { return &Report{Figures: &Figures{RightMatch: right}} }
		x := &Tuning{Comparison: &Comparison{A: side(c.before), B: side(c.after)}, LogLoss: c.loss}
		if got := x.improves(Rule{MaxWrong: -1, MinRejected: -1}); got != c.want {
			t.Errorf("%s: improves is %v", c.name, got)
		}
	}
}
