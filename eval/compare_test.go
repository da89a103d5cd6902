package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/router"
)

// Values by hand: twice the sum of the smaller tail of the binomial
// distribution of up+down tosses.
func TestMcNemar(t *testing.T) {
	for _, test := range []struct {
		up, down int
		want     float64
	}{
		{0, 0, 1},
		{1, 0, 1},              // 2·1/2
		{1, 1, 1},              // 2·3/4 is above 1
		{5, 0, 2. / 32},        // 2·1/2⁵
		{0, 6, 2. / 64},        // 2·1/2⁶
		{1, 9, 2 * 11. / 1024}, // 2·(1+10)/2¹⁰
		{8, 2, 2 * 56. / 1024}, // 2·(1+10+45)/2¹⁰
		{3, 12, 2 * (1. + 15 + 105 + 455) / 32768}, // 2·(1+15+105+455)/2¹⁵
		{2, 3, 1}, // 2·16/32
	} {
		if got := McNemar(test.up, test.down); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%d up, %d down: got %v, want %v", test.up, test.down, got, test.want)
		}
	}
	if got := McNemar(5200, 4800); !(got > 0 && got < 1e-4) {
		t.Errorf("many rows: got %v", got)
	}
}

// sides are reports of four cases in scope and two out of it: one fixed, two
// broken and one right on both sides, one out of scope broken, one right.
func sides() (a, b *Report, cases []Case) {
	mail, travel := []string{"mail"}, []string{"travel"}
	cases = []Case{
		{Text: "fixed", Skills: []string{"m"}},
		{Text: "broken", Skills: []string{"m"}},
		{Text: "broken, other skill", Skills: []string{"t"}},
		{Text: "right", Domains: travel},
		{Text: "oos broken", OutOfScope: true},
		{Text: "oos right", OutOfScope: true},
	}
	row := func(i int, domains, matched []string, skillRank int, score float64) *Row {
		r := &Row{Case: &cases[i], Domains: domains, Matched: matched, Abstained: len(matched) == 0, SkillRank: skillRank, Score: score, DomainRank: 1}
		if len(matched) > 0 {
			r.Best = []Standing{{matched[0], 1, float32(score)}}
		}
		return r
	}
	report := func(rows ...*Row) *Report { return &Report{Figures: Measure(rows), Rows: rows} }
	a = report(row(0, mail, travel, 2, 0.8), row(1, mail, mail, 1, 0.9), row(2, travel, travel, 1, 0.9), row(3, travel, travel, 0, 0.9), row(4, nil, nil, 0, 0.5), row(5, nil, nil, 0, 0.2))
	b = report(row(0, mail, mail, 1, 0.8), row(1, mail, nil, 1, 0.6), row(2, travel, mail, 3, 0.9), row(3, travel, travel, 0, 0.9), row(4, nil, mail, 0, 0.8), row(5, nil, nil, 0, 0.2))
	return a, b, cases
}

func TestPair(t *testing.T) {
	c, err := pair(sides())
	if err != nil {
		t.Fatal(err)
	}
	var decisions, firsts []Change
	for _, p := range c.Pairs {
		decisions, firsts = append(decisions, p.Decision), append(firsts, p.First)
	}
	if d := cmp.Diff([]Change{Fixed, Broken, Broken, BothRight, Broken, BothRight}, decisions); d != "" {
		t.Errorf("decisions (-want +got): %s", d)
	}
	if d := cmp.Diff([]Change{Fixed, BothRight, Broken, "", "", ""}, firsts); d != "" {
		t.Errorf("right skills first (-want +got): %s", d)
	}
	f := c.Figure(Decision)
	if f == nil || f.A != 5./6 || f.B != 0.5 || math.Abs(float64(f.Difference+1./3)) > 1e-12 || f.Up != 1 || f.Down != 3 || math.Abs(float64(f.P)-0.625) > 1e-12 { // 2·(1+4)/2⁴
		t.Errorf("got %+v", f)
	}
	if f := c.Figure("abstain_recall"); f == nil || f.A != 1 || f.B != 0.5 || f.Up != 0 || f.Down != 1 || f.P != 1 {
		t.Errorf("got %+v", f)
	}
	if f := c.Figure("mrr"); f == nil || f.P.Known() || f.Difference >= 0 {
		t.Errorf("got %+v, want a difference below 0 without a test", f)
	}
	if f := c.Figure("domain_precision"); f == nil || f.Changed {
		t.Errorf("got %+v, want no test: it is not of the same rows", f)
	}
	want := []PairedDomain{
		{Name: "travel", N: 2, Broken: 1, FirstBroken: 1},
		{Name: "", N: 2, Broken: 1},
		{Name: "mail", N: 2, Fixed: 1, Broken: 1, FirstFixed: 1},
	}
	if d := cmp.Diff(want, c.Domains); d != "" {
		t.Errorf("domains (-want +got): %s", d)
	}
	if worse := c.Worse(); len(worse) > 0 {
		t.Errorf("four changes are too few, but %q are worse", worse)
	}
	if got := c.Count(func(p *Pair) Change { return p.Decision }, Broken); got != 3 {
		t.Errorf("%d broken, want 3", got)
	}
	again, _ := pair(sides())
	if fmt.Sprint(again.Figures) != fmt.Sprint(c.Figures) {
		t.Error("other figures of the same rows")
	}
}

// Without a case out of scope nothing is known of abstention.
func TestPairInScope(t *testing.T) {
	a, b, cases := sides()
	a.Rows, b.Rows = a.Rows[:4], b.Rows[:4]
	a.Rows[1] = b.Rows[1] // matches nothing on both sides
	c, err := pair(a, b, cases[:4])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"abstain_precision", "abstain_recall", "abstain_auroc"} {
		if f := c.Figure(name); f != nil {
			t.Errorf("got %+v", f)
		}
	}
}

// Eight broken decisions and none fixed are no chance, also of two figures:
// 2/2⁸·2 is below 0.05. Six are: 2/2⁶·2 is above.
func TestWorse(t *testing.T) {
	for _, test := range []struct {
		broken int
		want   []string
	}{{8, []string{Decision}}, {6, nil}} {
		var cases []Case
		a, b := &Report{}, &Report{}
		for i := range 20 {
			cases = append(cases, Case{Text: fmt.Sprint(i), Skills: []string{"m"}})
			matched := []string{"mail"}
			if i < test.broken {
				matched = nil
			}
			for report, matched := range map[*Report][]string{a: {"mail"}, b: matched} {
				report.Rows = append(report.Rows, &Row{Case: &cases[i], Domains: []string{"mail"}, Matched: matched, Abstained: matched == nil, SkillRank: 1})
			}
		}
		c, err := pair(a, b, cases)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(test.want, c.Worse()); d != "" {
			t.Errorf("%d broken (-want +got): %s", test.broken, d)
		}
		better, _ := pair(b, a, cases)
		if got := better.Worse(); got != nil {
			t.Errorf("%d fixed: %q are worse", test.broken, got)
		}
	}
}

func catalogOf(t *testing.T, files map[string]string) *skillrouter.Router {
	t.Helper()
	fsys := fstest.MapFS{}
	for path, description := range files {
		name := path[len(path)-1:]
		fsys[path+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + description + "\n---\nBody.\n")}
	}
	r, err := skillrouter.Open(t.Context(), &skillrouter.Options{Router: router.Options{Mode: router.Layered}, FS: map[string]fs.FS{"c": fsys}}, "c")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Catalogs may differ: what one side does not have is told apart, domains of
// other names are those of the skills.
func TestCompareCatalogs(t *testing.T) {
	a := catalogOf(t, map[string]string{"mail/m": "Send emails.", "travel/t": "Book flights."})
	b := catalogOf(t, map[string]string{"post/m": "Send emails.", "weather/w": "Forecast the weather."})
	cases := []Case{
		{Text: "/m", Skills: []string{"m"}, Domains: []string{"mail"}},
		{Text: "/t", Skills: []string{"t"}, Domains: []string{"travel"}},
		{Text: "/w", Skills: []string{"w"}, Not: []string{"t"}},
		{Text: "thank you", OutOfScope: true},
	}
	c, err := Compare(t.Context(), &Side{Router: a.Router}, &Side{Router: b.Router}, cases)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Pairs) != 2 || len(c.OnlyA) != 1 || len(c.OnlyB) != 1 || c.OnlyA[0].Case.Text != "/t" || c.OnlyB[0].Case.Text != "/w" {
		t.Fatalf("got %d pairs, %d only of a, %d only of b", len(c.Pairs), len(c.OnlyA), len(c.OnlyB))
	}
	p := c.Pairs[0]
	if p.First != BothRight || p.Decision != BothRight || !slices.Equal(p.A.Domains, []string{"mail"}) || !slices.Equal(p.B.Domains, []string{"post"}) {
		t.Errorf("got %+v, right on side b: %q", p, p.B.Domains)
	}
	if d := cmp.Diff(cases[0], *p.Case); d != "" {
		t.Errorf("the case changed: %s", d)
	}
	onlyA, onlyB := Difference(a.Index(), b.Index())
	if !slices.Equal(onlyA, []string{"t"}) || !slices.Equal(onlyB, []string{"w"}) {
		t.Errorf("got %q and %q", onlyA, onlyB)
	}
	set := &Set{File: "f", Cases: append(cases, Case{Text: "x", Skills: []string{"x"}, Line: 5})}
	err = CheckSides(a.Index(), b.Index(), set)
	if wrong, ok := errors.AsType[*CasesError](err); !ok || len(wrong.Problems) != 1 {
		t.Errorf("got %v, want one problem: a skill that neither side has", err)
	}
}

func TestAnswer(t *testing.T) {
	for _, test := range []struct {
		row  Row
		want string
	}{
		{Row{Matched: []string{"a", "b"}, Best: []Standing{{"a", 1, 0.9}, {"b", 2, 0.8}}}, "a 0.90, b 0.80"},
		{Row{Abstained: true, Best: []Standing{{"a", 1, 0.5}}}, "none (a 0.50)"},
		{Row{Abstained: true}, "none"},
		{Row{}, "named outright"},
	} {
		if got := test.row.Answer(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
