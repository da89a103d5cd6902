package eval

import (
	"strings"
	"testing"

	"skillrouter/router"
)

func TestNotes(t *testing.T) {
	report := func(c Conditions, rows []*Row) *Report {
		return &Report{Figures: Measure(rows), Conditions: c, Rows: rows}
	}
	layered := Conditions{Mode: "layered", Domains: 3, Threshold: 0.72, Cap: 25}
	with := func(change func(*Conditions)) Conditions {
		c := layered
		change(&c)
		return c
	}
	right := func(score float64) *Row {
		return &Row{Case: &Case{Skills: []string{"a"}}, Domains: []string{"A"}, Score: score, Reach: score, SkillRank: 1, Shown: true, FlatRank: 1, FlatShown: true}
	}
	out := &Row{Case: &Case{OutOfScope: true}, Score: 0.1, Reach: 0.1, Abstained: true}
	of := func(r *Row, change func(*Row)) *Row {
		other := *r
		change(&other)
		return &other
	}
	pair := of(right(0.5), func(r *Row) { r.Reach = 0.75 })
	named := of(right(0.2), func(r *Row) { r.Outcome, r.Reach = router.Direct, 1 })
	for _, test := range []struct {
		name   string
		report *Report
		want   []string // what the notes hold, in order
	}{
		{"all is well", report(layered, []*Row{right(0.9), out}), nil},
		{"nothing reaches the threshold", report(layered, append(manyOf(right(0.6), 20), out)), []string{"0.72 has no effect: no utterance reaches it, the scores that decide are 0.10 to 0.60"}},
		{"all reach it", report(with(func(c *Conditions) { c.Threshold = 0.005 }), append(manyOf(right(0.6), 20), out)), []string{"0.005 has no effect: every utterance reaches it"}},
		{"one reaches it exactly", report(with(func(c *Conditions) { c.Threshold = 0.9 }), append(manyOf(out, 20), right(0.9))), nil},
		{"close pairs reach it", report(layered, append(manyOf(pair, 20), out)), nil},
		{"names have no threshold", report(layered, append(manyOf(right(0.6), 20), named)), []string{"no utterance reaches it, the scores that decide are 0.60 to 0.60", "no case is out of scope"}},
		{"hardly more than names", report(layered, append(manyOf(named, 20), right(0.6), out)), nil},
		{"a few rows", report(layered, []*Row{right(0.6), out}), nil},
		{"none is near it", report(layered, append(manyOf(right(0.9), 20), out)), []string{"no score that decides is within 0.05 of the threshold 0.72"}},
		{"flat", report(with(func(c *Conditions) { c.Mode = "flat" }), []*Row{right(0.9), out}), []string{"shown flat"}},
		{"one domain", report(with(func(c *Conditions) { c.Domains = 1 }), []*Row{right(0.9), out}), []string{"one domain"}},
		{"nothing out of scope", report(layered, []*Row{right(0.9), right(0.1)}), []string{"no case is out of scope"}},
		{
			"what layers cost", report(layered, append(tenRows(), right(0.1))),
			[]string{"layers cost 42.9 points of what is shown: a right skill is among the summaries for 42.9 % of the utterances, a flat list of the best 25 would have it for 85.7 %; it is lost where nothing matches (14.3 %) or what matches does not show it (28.6 %)"},
		},
		{
			"less than half a point", report(layered, append([]*Row{out, right(0.7), {Case: &Case{Skills: []string{"a"}}, FlatRank: 1, FlatShown: true}}, manyOf(right(0.9), 300)...)),
			nil,
		},
		{
			"the ranking", report(layered, append([]*Row{out}, &Row{Case: &Case{Skills: []string{"a"}}, Score: 0.9, Shown: true, FlatRank: 1})),
			[]string{"costs 100.0 points of skill hit@1: 0.0 %, without layers 100.0 %", "costs 100.0 points of skill hit@5"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.report.Notes()
			if len(got) != len(test.want) {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for i := range got {
				if !strings.Contains(got[i], test.want[i]) {
					t.Errorf("got %q, want %q", got[i], test.want[i])
				}
			}
		})
	}
}

func manyOf(r *Row, n int) []*Row {
	rows := make([]*Row, n)
	for i := range rows {
		rows[i] = r
	}
	return rows
}

func TestAstray(t *testing.T) {
	want := []string{
		"", "another skill is first", "no right skill is shown", "only wrong domains match", "nothing matches", "nothing matches", "",
		"", "matches, though nothing should", "the user is not asked",
	}
	for i, r := range tenRows() {
		if got := Astray(r); got != want[i] {
			t.Errorf("row %d: got %q, want %q", i+1, got, want[i])
		}
	}
	must := &Row{Case: &Case{Not: []string{"x"}}, Ranked: []Standing{{Name: "x"}}}
	if got := Astray(must); got != "a must-not skill is first" {
		t.Errorf("got %q", got)
	}
}
