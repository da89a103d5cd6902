package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

func TestAUROC(t *testing.T) {
	for _, test := range []struct {
		name     string
		pos, neg []float64
		want     float64
	}{
		{"apart", []float64{0.8, 0.9}, []float64{0.1, 0.2}, 1},
		{"swapped", []float64{0.1}, []float64{0.2, 0.3}, 0},
		{"one of four wrong", []float64{0.3, 0.9}, []float64{0.1, 0.5}, 0.75},
		{"ties count half", []float64{0.5}, []float64{0.5, 0.5}, 0.5},
		{"no negatives", []float64{0.5}, nil, math.NaN()},
		{"no positives", nil, []float64{0.5}, math.NaN()},
	} {
		if got := auroc(test.pos, test.neg); got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestCalibrationError(t *testing.T) {
	var b Bins
	if got := b.Error(); got.Known() {
		t.Errorf("nothing: got %v, want none", got)
	}
	for i := range 4 { // says 0.9, is right three times of four
		b.put(0.9, i < 3)
	}
	for range 4 { // says 0.1, is never right
		b.put(0.1, false)
	}
	b.put(1, true) // the last bin holds 1
	if got, want := float64(b.Error()), (4*0.15+4*0.1+0)/9; math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// tenRows are rows whose figures can be computed by hand.
func tenRows() []*Row {
	ranked := func(names ...string) (list []Standing) {
		for i, n := range names {
			list = append(list, Standing{Name: n, Rank: i + 1})
		}
		return list
	}
	a, b := []string{"A"}, []string{"B"}
	rows := []*Row{
		// 1: all is right.
		{
			Case: &Case{Skills: []string{"a1"}, Domains: a}, Domains: a, Score: 0.9, Matched: a, DomainRank: 1,
			Ranked: ranked("a1", "a2"), SkillRank: 1, Found: 1, Shown: true, FlatRank: 1, FlatShown: true,
		},
		// 2: two right skills and domains, one domain returned, the skills are number 2 and beyond the fifth.
		{
			Case: &Case{Skills: []string{"a1", "b1"}}, Domains: []string{"A", "B"}, Score: 0.8, Matched: b, DomainRank: 1,
			Ranked: ranked("b2", "b1"), SkillRank: 2, Found: 1, Shown: true, FlatRank: 2, FlatShown: true,
		},
		// 3: three domains returned with the right one.
		{
			Case: &Case{Skills: []string{"a1"}}, Domains: a, Score: 0.75, Matched: []string{"B", "A", "C"}, DomainRank: 2,
			Ranked: ranked("b1"), SkillRank: 4, Found: 1, Shown: false, FlatRank: 4, FlatShown: true,
		},
		// 4: only a wrong domain, and the skill that must not be first.
		{
			Case: &Case{Skills: []string{"a1"}, Not: []string{"b1"}}, Domains: a, Score: 0.85, Matched: b, DomainRank: 2,
			Ranked: ranked("b1"), SkillRank: 10, FlatRank: 10, FlatShown: true,
		},
		// 5: nothing matches, the user is asked and the right domain named.
		{
			Case: &Case{Skills: []string{"a2"}, Not: []string{"b1"}, Question: true}, Domains: a, Score: 0.5, Abstained: true, Asked: []string{"A", "B"}, DomainRank: 1,
			Ranked: ranked("a2"), SkillRank: 1, Found: 1, FlatRank: 1, FlatShown: true,
		},
		// 6: nothing matches, a question about others; the skill is beyond the 25th.
		{
			Case: &Case{Skills: []string{"a2"}}, Domains: a, Score: 0.45, Abstained: true, Asked: b, DomainRank: 3,
			Ranked: ranked("b1"),
		},
		// 7: a domain only.
		{Case: &Case{Domains: b}, Domains: b, Score: 0.95, Matched: b, DomainRank: 1, Ranked: ranked("b1")},
		// 8, 9: out of scope, one is caught.
		{Case: &Case{OutOfScope: true}, Score: 0.2, Abstained: true},
		{Case: &Case{OutOfScope: true}, Score: 0.8, Matched: a, Ranked: ranked("a1")},
		// 10: a question is expected and not asked; neither in nor out of scope.
		{Case: &Case{Question: true}, Score: 0.9, Matched: a, Ranked: ranked("a1")},
	}
	for i, r := range rows {
		r.Reach, r.Took = r.Score, time.Duration(i+1)*10*time.Microsecond
		r.Tokens, r.FlatTokens, r.AllTokens = 100*(i+1), 200*(i+1), 4000
	}
	return rows
}

func TestMeasure(t *testing.T) {
	f := Measure(tenRows())
	if f.N != 10 || f.InScope != 7 || f.OutOfScope != 2 || f.Questions != 2 {
		t.Errorf("got %d rows, %d in scope, %d out, %d questions", f.N, f.InScope, f.OutOfScope, f.Questions)
	}
	want := map[string]float64{
		"domain_hit@1":          4. / 7,                // 1, 2, 5, 7
		"domain_recall":         (1 + 0.5 + 1 + 1) / 7, // 1, 2, 3, 7
		"domain_precision":      (1 + 1 + 1./3 + 0 + 1) / 5,
		"domains_returned_mean": (1 + 1 + 3 + 1 + 1) / 5.,
		"right_match_rate":      3. / 7, // 1, 2, 7
		"wide_match_rate":       1. / 7, // 3
		"wrong_match_rate":      1. / 7, // 4
		"no_match_rate":         2. / 7, // 5, 6
		"correct_rate":          2. / 7, // 1, 7
		"skill_hit@1":           2. / 6, // 1, 5
		"skill_hit@3":           3. / 6, // and 2
		"skill_hit@5":           4. / 6, // and 3
		"skill_recall@5":        (1 + 0.5 + 1 + 0 + 1 + 0) / 6,
		"mrr":                   (1 + 1./2 + 1./4 + 1./10 + 1 + 0) / 6,
		"shown_recall":          2. / 6,
		"must_not_rate":         1. / 2,
		"abstain_precision":     1. / 3, // 8 of 5, 6, 8
		"abstain_recall":        1. / 2,
		// In scope 0.9 0.8 0.75 0.85 0.5 0.45 0.95 against 0.2 (7 wins) and 0.8 (3 wins, a tie).
		"abstain_auroc":   10.5 / 14,
		"question_rate":   2. / 10,
		"question_right":  1. / 2,
		"question_recall": 1. / 2,
		// Bins of 1/15: [0.2] 0, [0.45] 0, [0.5] 1, [0.75] 0, [0.8 0.8 0.85] 1, [0.9] 1, [0.95] 1; row 10 counts in none.
		"ece":                 (0.2 + 0.45 + 0.5 + 0.75 + (2.45 - 1) + 0.1 + 0.05) / 9,
		"tokens_layered_mean": 550,
		"tokens_flat_mean":    4000,
		"latency_p50_us":      50,
		"latency_p99_us":      100,
		"flat.skill_hit@1":    2. / 6,
		"flat.skill_hit@5":    4. / 6,
		"flat.shown_recall":   5. / 6,
		"flat.tokens_mean":    1100,
	}
	for _, k := range Kinds() {
		w, ok := want[k.Name]
		if got := float64(k.Of(f)); !ok || math.Abs(got-w) > 1e-9 {
			t.Errorf("%s: got %v, want %v", k.Name, got, w)
		}
		delete(want, k.Name)
	}
	if len(want) > 0 {
		t.Errorf("no such figures: %v", want)
	}
}

// Without rows for it a figure is unknown, not 0: null in JSON.
func TestMeasureNothing(t *testing.T) {
	for name, rows := range map[string][]*Row{"no row": nil, "only out of scope": {{Case: &Case{OutOfScope: true}}}, "no answer": {{Case: &Case{Question: true}, Abstained: true}}} {
		f := Measure(rows)
		for _, x := range []Number{f.DomainHit1, f.SkillHit1, f.MRR, f.WrongMatch, f.AbstainAUROC, f.AbstainPrecision, f.QuestionRight, f.MustNot, f.Flat.Shown} {
			if x.Known() {
				t.Errorf("%s: got %v, want none", name, x)
			}
		}
	}
	data, err := json.Marshal(Measure(nil))
	if err != nil {
		t.Fatal(err)
	}
	var back Figures
	if err := json.Unmarshal(data, &back); err != nil || back.ECE.Known() || fmt.Sprint(&back) != fmt.Sprint(Measure(nil)) {
		t.Errorf("got %v, %v of %s", &back, err, data)
	}
}

// Every number of Figures has its description, under the key that JSON gives it.
func TestKinds(t *testing.T) {
	var names []string
	var fields func(reflect.Type, string)
	fields = func(s reflect.Type, prefix string) {
		for i := range s.NumField() {
			switch f := s.Field(i); f.Type {
			case reflect.TypeFor[Number]():
				names = append(names, prefix+f.Tag.Get("json"))
			case reflect.TypeFor[FlatFigures]():
				fields(f.Type, f.Tag.Get("json")+".")
			}
		}
	}
	fields(reflect.TypeFor[Figures](), "")
	var got []string
	seen := map[*Number]bool{}
	var f Figures
	for _, k := range Kinds() {
		got = append(got, k.Name)
		seen[k.of(&f)] = true
	}
	if fmt.Sprint(got) != fmt.Sprint(names) || len(seen) != len(names) {
		t.Errorf("got %v\nwant %v, each a field of its own", got, names)
	}
}

// All rows drawn once give the figure itself; intervals hold it, and are the
// same again.
func TestIntervals(t *testing.T) {
	rows := tenRows()
	f := Measure(rows)
	once := make([]float64, len(rows))
	for i := range once {
		once[i] = 1
	}
	if got := newWeightedAUROC(rows).value(once); math.Abs(got-float64(f.AbstainAUROC)) > 1e-9 {
		t.Errorf("AUROC: got %v, want %v", got, f.AbstainAUROC)
	}
	if got := newWeightedECE(rows).value(once); math.Abs(got-float64(f.ECE)) > 1e-9 {
		t.Errorf("ECE: got %v, want %v", got, f.ECE)
	}
	intervals := Intervals(rows)
	if fmt.Sprint(Intervals(rows)) != fmt.Sprint(intervals) {
		t.Error("the same rows gave other intervals")
	}
	for _, k := range Kinds() {
		x, ok := intervals[k.Name]
		if ok != k.Rate {
			t.Errorf("%s: has an interval: %v", k.Name, ok)
		}
		if v := k.Of(f); ok && !(x[0] <= v && v <= x[1]) {
			t.Errorf("%s: %v is not in %v", k.Name, v, x)
		}
	}
	// A share of a half of 100 rows is known to about ± 9.8 points.
	many := make([]*Row, 100)
	for i := range many {
		many[i] = &Row{Case: &Case{OutOfScope: true}, Abstained: i%2 == 0}
	}
	x := Intervals(many)["abstain_recall"]
	if math.Abs(float64(x[0])-0.4) > 0.03 || math.Abs(float64(x[1])-0.6) > 0.03 {
		t.Errorf("got %v, want about 0.4 to 0.6", x)
	}
}
