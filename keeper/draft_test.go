package keeper_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/domains"
	"skillrouter/examples"
	"skillrouter/keeper"
	"skillrouter/summaries"
)

const tools = `[{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object",
	"properties": {"unit": {"type": "string"}, "place": {"type": "string"}, "days": {"type": "integer"}}, "required": ["place"]}}}]`

func TestDraftSummaries(t *testing.T) {
	ix, c, _ := build(t, fstest.MapFS{
		"x/weather/SKILL.md":   {Data: []byte(full("weather", "Looks up the weather of a place. Use when someone asks for rain or wind. Do not use for climate history."))},
		"x/weather/tools.json": {Data: []byte(tools)},
		"x/complex/SKILL.md":   {Data: []byte(full("complex", "Sends forms to an office. Use when someone has to file a form."))},
		"x/complex/tools.json": {Data: []byte(strings.Replace(tools, `"place": {"type": "string"}`, `"place": {"type": "object"}`, 1))},
		"x/done/SKILL.md": {Data: []byte(full("done", "Reads tables. Use when someone asks what a table holds.",
			"summary: Reads tables; when someone asks; no charts", "triggers: [what is in this table, read it, open a sheet]", "not-for: charts"))},
		"x/params/SKILL.md": {Data: []byte(full("params", "Tells the tides of a coast. Use when someone asks for low water.",
			"summary: Tells the tides; when someone asks; no currents", "triggers: [when is low water, tide times, high water today]", "not-for: currents", "params: 'place, [days], [unit]'"))},
		"x/params/tools.json": {Data: []byte(tools)},
		"x/manual/SKILL.md":   {Data: []byte(full("manual", "Deploys a site. Use when someone says deploy.", "manual: true"))},
	})
	got, err := keeper.DraftSummaries(context.Background(), ix, &keeper.LintOptions{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := []domains.SkillDraft{
		{
			Skill:    "complex",
			Override: summaries.Override{Summary: "Sends forms to an office; use when someone has to file a form", Params: "place, [days], [unit]"},
			Notes:    []string{"summary: add its limit", "triggers: write three to five that users say", "not-for: say what it cannot do"},
			Triggers: []string{"file a form", "send forms to an office"},
		},
		{
			Skill:    "params",
			Override: summaries.Override{FromSummary: &yes},
			Notes:    []string{"from-summary: its parameters are simple; the definition need not be loaded to call it"},
		},
		{
			Skill: "weather",
			Override: summaries.Override{
				Summary: "Looks up the weather of a place; use when someone asks for rain or wind", NotFor: "climate history",
				Params: "place, [days], [unit]", FromSummary: &yes,
			},
			Notes: []string{
				"triggers: write three to five that users say",
				"from-summary: its parameters are simple; the definition need not be loaded to call it",
			},
			Triggers: []string{"look up the weather of a place"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := keeper.DraftSummaries(context.Background(), ix, nil); err == nil {
		t.Error("without a catalog there is no error")
	}
}

// Nothing is left to draft where all is written.
func TestExamplesNeedNoDrafts(t *testing.T) {
	ix, c, _ := build(t, examples.Catalog())
	got, err := keeper.DraftSummaries(context.Background(), ix, &keeper.LintOptions{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got {
		if d.Override.Summary != "" || len(d.Triggers) > 0 || d.Override.NotFor != "" {
			t.Errorf("a draft of %s: %+v", d.Skill, d)
		}
	}
}

func TestExport(t *testing.T) {
	ix, c, _ := build(t, fstest.MapFS{
		"x/weather/SKILL.md":   {Data: []byte(full("weather", "Looks up the weather. Use when someone asks for rain."))},
		"x/weather/tools.json": {Data: []byte(tools)},
		"x/chart/SKILL.md":     {Data: []byte(full("chart", "Draws charts. Use when someone asks for one.", "params: 'data (rows, columns), kind'", "summary: Draws"))},
		"x/broken/SKILL.md":    {Data: []byte(full("broken", "Draws. Use when asked."))},
	})
	rows, err := keeper.Export(context.Background(), ix, c, func(name string) bool { return name != "broken" })
	if err != nil {
		t.Fatal(err)
	}
	want := []keeper.Exported{
		{
			Name: "chart", Domains: []string{"x"}, Description: "Draws charts. Use when someone asks for one.", Summary: "Draws",
			Triggers: rows[0].Triggers, Parameters: []keeper.Parameter{{Name: "data (rows, columns)"}, {Name: "kind"}}, File: "root/x/chart/SKILL.md",
		},
		{
			Name: "weather", Domains: []string{"x"}, Description: "Looks up the weather. Use when someone asks for rain.",
			Summary: "Looks up the weather; use when someone asks for rain", Derived: true, Triggers: rows[1].Triggers, File: "root/x/weather/SKILL.md",
			Parameters: []keeper.Parameter{{"look_up", "place", "string", true}, {"look_up", "days", "integer", false}, {"look_up", "unit", "string", false}},
		},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ix, c, _ = build(t, fstest.MapFS{"a/SKILL.md": {Data: []byte(full("a", "Draws. Use when asked."))}, "a/tools.json": {Data: []byte("{")}})
	if _, err := keeper.Export(context.Background(), ix, c, nil); err == nil || !strings.Contains(err.Error(), "tools.json of a") {
		t.Errorf("a broken tools.json: got %v", err)
	}
}
