package summaries

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	good := Summary{Skill: "a", Text: "Does b when c, not d", Triggers: []string{"x", "y", "z"}, NotFor: "d"}
	with := func(change func(m *Summary)) Summary {
		m := good
		change(&m)
		return m
	}
	tests := map[string]struct {
		m    Summary
		want []string // fields
	}{
		"good":                      {good, nil},
		"derived":                   {with(func(m *Summary) { m.Derived = true }), []string{"summary"}},
		"empty":                     {with(func(m *Summary) { m.Text = "" }), []string{"summary"}},
		"150 letters are fine":      {with(func(m *Summary) { m.Text = strings.Repeat("a", 150) }), nil},
		"151 are not":               {with(func(m *Summary) { m.Text = strings.Repeat("a", 151) }), []string{"summary"}},
		"50 Han fine, blanks free":  {with(func(m *Summary) { m.Text = strings.Repeat("字 ", 50) }), nil},
		"51 Han are not":            {with(func(m *Summary) { m.Text = strings.Repeat("字", 51) }), []string{"summary"}},
		"two triggers":              {with(func(m *Summary) { m.Triggers = m.Triggers[:2] }), []string{"triggers"}},
		"six triggers":              {with(func(m *Summary) { m.Triggers = []string{"1", "2", "3", "4", "5", "6"} }), []string{"triggers"}},
		"no not-for":                {with(func(m *Summary) { m.NotFor = "" }), []string{"not-for"}},
		"long not-for and params":   {with(func(m *Summary) { m.NotFor = strings.Repeat("a", 151); m.Params = strings.Repeat("a", 301) }), []string{"not-for", "params"}},
		"frequent without a params": {with(func(m *Summary) { m.Frequent = true }), []string{"params"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Check(&tt.m) {
				if f.Skill != "a" || f.What == "" || f.Fix == "" {
					t.Errorf("incomplete finding %+v", f)
				}
				got = append(got, f.Field)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("fields differ (-want +got):\n%s", diff)
			}
		})
	}
}
