package eval

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/router"
)

// What a sweep says of a threshold is what a router with it does.
func TestSweepIsRun(t *testing.T) {
	cases := exampleCases(t)
	limits := []router.Limits{{Threshold: 0.5}, {Threshold: 0.72, MaxSummaries: 4}, {Threshold: 0.9, MaxDomains: 1}, {}}
	sweep, err := Sweep(t.Context(), exampleRouter(t, router.Options{}).Router, cases, limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range limits {
		r := exampleRouter(t, router.Options{Threshold: l.Threshold, MaxSummaries: l.MaxSummaries, MaxDomains: l.MaxDomains})
		report, err := Run(t.Context(), r.Router, cases, nil)
		if err != nil {
			t.Fatal(err)
		}
		ignore := cmpopts.IgnoreFields(Row{}, "Took", "FlatRank", "FlatShown", "FlatTokens")
		if d := cmp.Diff(report.Rows, sweep.Points[i].Rows, ignore); d != "" {
			t.Errorf("%+v (-run +sweep): %s", l, d)
		}
		for _, k := range Kinds() {
			want, got := k.Of(report.Figures), k.Of(sweep.Points[i].Figures)
			if strings.HasPrefix(k.Name, "latency") || strings.HasPrefix(k.Name, "flat.") {
				want = Number(math.NaN())
			}
			if want != got && (want.Known() || got.Known()) {
				t.Errorf("%+v: %s is %v, want %v", l, k.Name, got, want)
			}
		}
	}
	type numbers struct {
		Threshold              float64
		MaxSummaries, MaxDomns int
	}
	var got []numbers
	for _, p := range sweep.Points {
		got = append(got, numbers{p.Threshold, p.MaxSummaries, p.MaxDomains})
	}
	if d := cmp.Diff([]numbers{{0.5, 25, -1}, {0.72, 4, -1}, {0.9, 25, 1}, {0.72, 25, -1}}, got); d != "" {
		t.Errorf("limits (-want +got): %s", d)
	}
	if sweep.Conditions.Skills != 64 || !sweep.Conditions.Chinese.Known() {
		t.Errorf("got conditions %+v", sweep.Conditions)
	}
}

func TestSweepWrong(t *testing.T) {
	r := exampleRouter(t, router.Options{}).Router
	for name, limits := range map[string][]router.Limits{"none": nil, "above 1": {{Threshold: 2}}} {
		if _, err := Sweep(t.Context(), r, exampleCases(t), limits, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestChoose(t *testing.T) {
	unknown := math.NaN()
	point := func(threshold, right, wrong, rejected float64) Point {
		f := &Figures{InScope: 100, OutOfScope: 50, RightMatch: Number(right), WrongMatch: Number(wrong), AbstainRecall: Number(rejected)}
		if math.IsNaN(rejected) {
			f.OutOfScope = 0
		}
		return Point{Threshold: threshold, Figures: f}
	}
	for _, test := range []struct {
		name   string
		rule   Rule
		points []Point
		want   int
	}{
		{"the most right of those that keep both", Rule{}, []Point{point(0.5, 0.95, 0.05, 0.9), point(0.6, 0.9, 0.03, 0.8), point(0.7, 0.85, 0.01, 0.9)}, 1},
		{"of equal ones the lowest", Rule{}, []Point{point(0.7, 0.9, 0.01, 0.9), point(0.6, 0.9, 0.02, 0.9)}, 1},
		{"more right, though higher: fewer domains match", Rule{}, []Point{point(0.5, 0.7, 0.01, 0.9), point(0.6, 0.8, 0.01, 0.9)}, 1},
		{"the last wrong match is not worth 30 right ones", Rule{}, []Point{point(0.7, 0.8, 0.04, 0.9), point(0.9, 0.5, 0.03, 0.9)}, 0}, // 0.77, 0.5
		{"unless it is to be", Rule{Weight: 100}, []Point{point(0.7, 0.8, 0.04, 0.9), point(0.9, 0.5, 0.03, 0.9)}, 1},                   // -0.2, 0.5
		{"none keeps both", Rule{}, []Point{point(0.5, 0.95, 0.06, 0.8), point(0.7, 0.9, 0.04, 0.81), point(0.9, 0.5, 0.03, 0.7)}, 1},   // 0.86, 0.87, 0.2
		{"bounds of our own", Rule{MaxWrong: 0.1, MinRejected: 0.5}, []Point{point(0.5, 0.95, 0.06, 0.6), point(0.7, 0.9, 0.04, 0.9)}, 0},
		{"no bounds", Rule{MaxWrong: -1, MinRejected: -1}, []Point{point(0.5, 0.95, 0.6, 0), point(0.7, 0.9, 0.04, 0.9)}, 0},
		{"nothing out of scope: none below the threshold in use", Rule{}, []Point{point(0.5, 0.95, 0.01, unknown), point(0.72, 0.9, 0.01, unknown), point(0.8, 0.8, 0, unknown)}, 1},
		{"nothing out of scope, all below it", Rule{}, []Point{point(0.5, 0.95, 0.01, unknown), point(0.6, 0.9, 0.01, unknown)}, 0},
		{"nothing in scope", Rule{}, []Point{{Threshold: 0.5, Figures: &Figures{OutOfScope: 3}}}, -1},
	} {
		if got := test.rule.Choose(test.points, 0.72); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

func TestChooseCap(t *testing.T) {
	point := func(most int, shown float64) Point {
		return Point{MaxSummaries: most, Figures: &Figures{Shown: Number(shown)}}
	}
	for _, test := range []struct {
		name   string
		points []Point
		want   int
	}{
		{"half a point is not worth more", []Point{point(5, 0.9), point(10, 0.955), point(25, 0.96), point(-1, 0.96)}, 1},
		{"no bound, where only that shows all", []Point{point(5, 0.5), point(-1, 0.6)}, 1},
		{"no skills", []Point{point(5, math.NaN())}, -1},
	} {
		if got := ChooseCap(test.points); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

func TestRuleInWords(t *testing.T) {
	for _, test := range []struct {
		rule Rule
		want string
	}{
		{Rule{}, "most right matches, less 3 points for each point that above 3 % of what is in scope matches only wrong domains or below 80 % of what is out of scope matches nothing; of equal thresholds the lowest"},
		{Rule{MaxWrong: -1, MinRejected: 0.955, Weight: 2}, "most right matches, less 2 points for each point that below 95.5 % of what is out of scope matches nothing; of equal thresholds the lowest"},
		{Rule{MaxWrong: -1, MinRejected: -1}, "most right matches; of equal thresholds the lowest"},
	} {
		if got := test.rule.String(); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.rule, got, test.want)
		}
	}
}

// The half of a case is that of its text, whatever stands around it; the halves
// are about equal, also of texts that differ little.
func TestSplit(t *testing.T) {
	var cases, reversed []Case
	for i := range 2000 {
		cases = append(cases, Case{Text: fmt.Sprintf("row %d", i)})
	}
	for i := range cases {
		reversed = append(reversed, cases[len(cases)-1-i])
	}
	fit, report := Split(cases)
	if n := len(fit); n+len(report) != len(cases) || n < 900 || n > 1100 {
		t.Errorf("got %d and %d of %d", len(fit), len(report), len(cases))
	}
	in := map[string]bool{}
	for _, c := range fit {
		in[c.Text] = true
	}
	again, _ := Split(reversed)
	for _, c := range again {
		if !in[c.Text] {
			t.Errorf("%q is in the other half when the order is", c.Text)
		}
	}
	a, _ := Split([]Case{{Text: "Book a FLIGHT"}})
	b, _ := Split([]Case{{Text: " book a  flight"}})
	if len(a) != len(b) {
		t.Error("case and white space decide")
	}
}
