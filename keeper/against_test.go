package keeper_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/keeper"
	"skillrouter/router"
)

func routed(t *testing.T, files map[string]string) *router.Router {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	ix, _, e := build(t, fsys)
	r, err := router.New(ix, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCompare(t *testing.T) {
	before := map[string]string{
		"x/summary/SKILL.md": full("summary", "Shortens articles to their main points. Use when a text is too long.", "triggers: [give me the gist, shorten this article, main points please]"),
		"x/weather/SKILL.md": full("weather", "Looks up the weather of a place. Use when someone asks for rain.", "triggers: [will it rain, how warm is it, weather in Oslo]"),
		"x/gone/SKILL.md":    full("gone", "Draws charts. Use when someone asks for one."),
	}
	after := map[string]string{
		"x/summary/SKILL.md": before["x/summary/SKILL.md"],
		"x/weather/SKILL.md": before["x/weather/SKILL.md"] + "\nMore of it.\n",
		"x/grab/SKILL.md":    full("grab", "Give the gist of anything. Use when someone says gist.", "triggers: [give me the gist, gist of this, the gist please]"),
	}
	utterances := []keeper.Utterance{
		{Text: "the gist of this text please", Skills: []string{"summary"}},
		{Text: "will it rain in Oslo tomorrow", Skills: []string{"weather"}},
		{Text: "draw a chart", Skills: []string{"gone"}},
		{Text: "hello"},
	}
	was, is := routed(t, before), routed(t, after)
	c, err := keeper.Compare(context.Background(), was, is, utterances, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"grab"}, {"gone"}, {"weather"}}, [][]string{c.Added, c.Removed, c.Edited}); diff != "" {
		t.Errorf("added, removed, edited (-want +got):\n%s", diff)
	}
	if c.Triggers != 6 || c.Utterances != 2 {
		t.Errorf("%d triggers and %d utterances asked, want 6 and 2", c.Triggers, c.Utterances)
	}
	var got []string
	for _, m := range c.Taken {
		got = append(got, m.Owner+" "+m.After+" "+string(m.Cause)+": "+m.Text)
	}
	want := []string{"summary grab was added: give me the gist", "summary grab was added: the gist of this text please"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	found := c.Findings(is.Index())
	if len(found) != 2 || found[0].Rule != "taken-trigger" || found[0].Skill != "grab" || found[0].File != "root/x/grab/SKILL.md" || found[1].Rule != "lost-utterance" {
		t.Errorf("findings %+v", found)
	}

	same, err := keeper.Compare(context.Background(), was, was, utterances, nil)
	if err != nil || len(same.Taken) > 0 || same.Gained > 0 || len(same.Added)+len(same.Removed)+len(same.Edited) > 0 {
		t.Errorf("a catalog against itself: %+v, %v", same, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := keeper.Compare(ctx, was, is, nil, nil); err == nil {
		t.Error("no error when the context has ended")
	}
}

// A right skill that was removed is why its utterance goes elsewhere, though another right
// one stays.
func TestCompareRemoved(t *testing.T) {
	stays := map[string]string{
		"x/digest/SKILL.md":  full("digest", "Shortens articles to their main points. Use when a text is too long."),
		"x/weather/SKILL.md": full("weather", "Looks up the weather of a place. Use when someone asks for rain.", "triggers: [rain in this article, will it rain, weather in Oslo]"),
	}
	before := maps.Clone(stays)
	before["x/gist/SKILL.md"] = full("gist", "Says what is important.", "triggers: [does this tell of rain in Oslo, the gist, in short]")
	was, is := routed(t, before), routed(t, stays)
	c, err := keeper.Compare(context.Background(), was, is, []keeper.Utterance{{Text: "does this tell of rain in Oslo", Skills: []string{"gist", "digest"}}}, nil)
	if err != nil || len(c.Taken) != 1 || c.Taken[0].Owner != "gist" || c.Taken[0].After != "weather" || c.Taken[0].Cause != keeper.Left {
		t.Fatalf("got %+v, %v", c, err)
	}
	if found := c.Findings(is.Index()); !strings.Contains(found[0].What, "its own skill was removed") {
		t.Errorf("said: %s", found[0].What)
	}
}

// A finding that names the file of another skill is not new because the catalogs stand in
// two folders.
func TestNewFindingsOfTwoPlaces(t *testing.T) {
	said := func(file string) *keeper.Report {
		return &keeper.Report{Findings: []keeper.Finding{
			{Rule: "look-alike", Skill: "pdf-rnake", What: `the name "pdf-rnake" looks like "pdf-make" (` + file + `)`},
			{Rule: "shadowed", What: "a: this copy is shadowed by " + file + ", which holds the same"},
			{Rule: "broken-link", Skill: "a", What: `the body links to "` + filepath.Base(file) + `", which is not there`},
		}}
	}
	for _, now := range []string{"skills/pdf-make/SKILL.md", "skills.jsonl:7"} {
		got := said(now).New(said("../before/pdf-make/SKILL.md"))
		if slices.ContainsFunc(got, func(f keeper.Finding) bool { return f.Rule != "broken-link" }) {
			t.Errorf("%s: new are %+v", now, got)
		}
	}
	links := said("x/other.md").New(said("x/one.md"))
	if !slices.ContainsFunc(links, func(f keeper.Finding) bool { return f.Rule == "broken-link" }) {
		t.Errorf("another broken link is not new: %+v", links)
	}
}

func TestNewFindings(t *testing.T) {
	a := &keeper.Report{Findings: []keeper.Finding{{Rule: "no-when", Skill: "a", What: "x", File: "old"}}}
	b := &keeper.Report{Findings: []keeper.Finding{{Rule: "no-when", Skill: "a", What: "x", File: "new"}, {Rule: "no-when", Skill: "b", What: "x"}}}
	got := b.New(a)
	if len(got) != 1 || got[0].Skill != "b" {
		t.Errorf("got %+v, want that of b", got)
	}
}
