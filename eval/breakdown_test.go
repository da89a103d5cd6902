package eval

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroups(t *testing.T) {
	groups := Groups(tenRows(), ByDomain)
	if len(groups) != 2 || groups[0].Name != "A" || groups[0].N != 6 || groups[1].Name != "B" || groups[1].N != 2 {
		t.Fatalf("got %v", groups)
	}
	if got := groups[0].DomainHit1; got != 0.5 { // rows 1, 2 and 5 of 1 to 6
		t.Errorf("got %v, want 0.5", got)
	}
	WorstFirst(groups, func(f *Figures) Number { return f.SkillHit1 })
	if groups[0].Name != "B" { // only row 2 has a skill
		t.Errorf("got %s first, want B", groups[0].Name)
	}
	if got := Groups(tenRows(), ByKind); len(got) != 0 {
		t.Errorf("no row has a kind, got %v", got)
	}
}

func TestBreakdowns(t *testing.T) {
	rows := tenRows()
	rows[0].Case.Text, rows[1].Case.Lang, rows[2].Case.Split = "查一下天气", "de", "dev"
	rows[0].Case.Kind, rows[1].Case.Kind = "plain", "odd"
	got := map[string][]string{}
	for _, b := range Breakdowns(rows) {
		for _, g := range b.Groups {
			got[b.Noun] = append(got[b.Noun], g.Name)
		}
	}
	want := map[string][]string{
		"domain": {"A", "B"}, "skill": {"b1", "a1", "a2"}, "kind": {"odd", "plain"}, "language": {"de", "other", "zh"}, // one split says nothing
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestConfusions(t *testing.T) {
	rows := tenRows()
	for i, r := range rows {
		r.Case.Text = string(rune('a' + i))
	}
	want := []Confusion{
		{Right: "a1", First: "b1", N: 2, Rows: []string{"c", "d"}},
		{Right: "a1", First: "b2", N: 1, Rows: []string{"b"}},
		{Right: "a2", First: "b1", N: 1, Rows: []string{"f"}},
	}
	if d := cmp.Diff(want, Confusions(rows)); d != "" {
		t.Error(d)
	}
}
