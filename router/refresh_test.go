package router_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/index"
	"skillrouter/router"
)

// The catalog changes within a session (S22, S23).
func TestRefreshWithinSession(t *testing.T) {
	fsys := namesCatalog().fs()
	now := buildFS(t, embedder(t), fsys)
	r := newRouter(t, now, &router.Options{Mode: router.Layered, Threshold: 0.3, Reload: func(context.Context, *index.Index) (*index.Index, error) { return now, nil }})
	d := newDialogue(t, r, nil)
	d.say("use git-commit and pdf-text")
	before := d.prompt()

	f := namesCatalog()
	delete(f, "tools/git-commit/SKILL.md")
	f["files/pdf-text/SKILL.md"] = skill("pdf-text", "Extracts the text of PDF files, in another way. Use when a PDF is to be read.", "")
	f["files/new-one/SKILL.md"] = skill("new-one", "Does something new. Use when it is asked for.", "")
	now = build(t, f)
	if changed, err := r.Refresh(t.Context()); !changed || err != nil {
		t.Fatalf("Refresh: %v, %v", changed, err)
	}
	if got := d.prompt(); got != before {
		t.Errorf("the turn does not finish on its index (-want +got):\n%s", cmp.Diff(before, got))
	}
	if _, err := d.Load(t.Context(), "new-one"); err == nil {
		t.Error("a skill of the next index is there already")
	}
	x := d.say("go on")
	p := x.Prompt()
	if !strings.Contains(p, "Deleted and no longer available: git-commit.") || !strings.Contains(p, "in another way") || strings.Contains(p, "[Loaded] git-commit") {
		t.Errorf("the next turn:\n%s", p)
	}
	if !cmp.Equal(x.Unloaded, []string{"git-commit"}) || !slices.Contains(rules(x.Events), "deleted") || !slices.Contains(rules(x.Events), "changed") {
		t.Errorf("unloaded %q, events %q", x.Unloaded, rules(x.Events))
	}
	if p := d.say("go on").Prompt(); strings.Contains(p, "Deleted") {
		t.Errorf("the turn after it:\n%s", p)
	}
	d.load("new-one")
}

// Summaries whose text changed are dropped, others stick.
func TestRefreshDropsChangedSummaries(t *testing.T) {
	f := crowd(3, 3)
	now := build(t, f)
	r := newRouter(t, now, &router.Options{Mode: router.Layered, Threshold: -1, Reload: func(context.Context, *index.Index) (*index.Index, error) { return now, nil }})
	d := newDialogue(t, r, nil)
	d.say("weather")
	// An override, which leaves the file as it is.
	f["skillrouter.yaml"] = "skills:\n  weather-01: {summary: Says whether it will rain}\n"
	now = build(t, f)
	if changed, err := r.Refresh(t.Context()); !changed || err != nil {
		t.Fatalf("Refresh: %v, %v", changed, err)
	}
	x := d.say(" ")
	if got := d.state().Domains; !cmp.Equal(got, []string{"invoice"}) || !cmp.Equal(x.Events[0].Names, []string{"weather"}) {
		t.Errorf("visible %q, events %+v", got, x.Events)
	}
}

func TestRefresh(t *testing.T) {
	ix := build(t, crowd(3))
	other := buildFS(t, &fake{}, crowd(3).fs())
	limited := crowd(3)
	limited["skillrouter.yaml"] = "routing: {threshold: 0.5}\n"
	var next *index.Index
	var fails error
	r := newRouter(t, ix, &router.Options{Reload: func(_ context.Context, old *index.Index) (*index.Index, error) {
		if next == nil && fails == nil {
			return old, nil
		}
		return next, fails
	}})
	check := func(what string, changed bool, generation uint64, message string) {
		t.Helper()
		got, err := r.Refresh(t.Context())
		if got != changed || r.Generation() != generation || (message == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: changed %v, generation %d, %v", what, got, r.Generation(), err)
		}
		if !changed && r.Index() != ix {
			t.Errorf("%s: another index is in use", what)
		}
	}
	check("nothing new", false, 1, "")
	fails = errors.New("disk on fire")
	check("an error", false, 1, "disk on fire")
	fails, next = nil, other
	check("another embedder", false, 1, "embedder")
	next = build(t, limited)
	check("another index", true, 2, "")
	if route(t, r, "invoice").Threshold != 0.5 {
		t.Error("the numbers of the new catalog do not count")
	}
	none := newRouter(t, ix, nil)
	if changed, err := none.Refresh(t.Context()); changed || err != nil {
		t.Errorf("without Reload: %v, %v", changed, err)
	}
}

// A definition that is newer than the index is shown as it is, and said to be.
func TestStale(t *testing.T) {
	fsys := namesCatalog().fs()
	d := newDialogue(t, newRouter(t, buildFS(t, embedder(t), fsys), nil), nil)
	fsys["tools/git-commit/SKILL.md"].Data = []byte(skill("git-commit", "Writes commit messages, better ones.", ""))
	d.load("git-commit")
	if st := d.state(); !slices.Contains(rules(st.Events), "stale") || !strings.Contains(d.prompt(), "better ones") {
		t.Errorf("events %q, prompt:\n%s", rules(st.Events), d.prompt())
	}
}

// What sticks keeps to the bound of the catalog in use.
func TestRefreshLowersTheBound(t *testing.T) {
	f := crowd(6, 6)
	now := build(t, f)
	r := newRouter(t, now, &router.Options{Mode: router.Layered, Threshold: -1, Reload: func(context.Context, *index.Index) (*index.Index, error) { return now, nil }})
	d := newDialogue(t, r, nil)
	if x := d.say("weather"); len(x.Summaries) != 12 {
		t.Fatalf("shown %q", shown(x))
	}
	f["skillrouter.yaml"] = "routing: {max-summaries: 4}\n"
	now = build(t, f)
	if changed, err := r.Refresh(t.Context()); !changed || err != nil {
		t.Fatalf("Refresh: %v, %v", changed, err)
	}
	if x := d.say(" "); len(x.Summaries) != 4 || x.Prompt() != d.prompt() {
		t.Errorf("shown %q", shown(x))
	}
}
