package router_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/router"
)

// The layers joined are the prompt, and the index does not change with what a
// turn matches.
func TestLayersJoin(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	var index string
	for i, utterance := range []string{office, offTopic, "/git-commit"} {
		r := d.say(utterance)
		l := r.Layers()
		var parts []string
		for _, p := range []string{l.Index, l.Summaries, l.Definitions} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		if diff := cmp.Diff(r.Prompt(), strings.Join(parts, "\n")); diff != "" {
			t.Errorf("%q (-prompt +layers):\n%s", utterance, diff)
		}
		if i > 0 && l.Index != index {
			t.Errorf("%q: another index:\n%s", utterance, l.Index)
		}
		index = l.Index
	}
}

func TestUnload(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(office)
	d.load("git-commit")
	d.do("unload", d.Unload(t.Context(), "git-commit", "never-loaded"))
	st := d.state()
	if st.Layer != router.Summaries || len(st.Loaded) > 0 || !st.Task || len(st.LeftOut) > 0 {
		t.Errorf("layer %v, loaded %q, task %v, left out %q", st.Layer, st.Loaded, st.Task, st.LeftOut)
	}
	hits := st.Definitions.Hits
	d.load("git-commit")
	if st = d.state(); st.Definitions.Hits != hits+1 || !cmp.Equal(st.Loaded, []string{"git-commit"}) {
		t.Errorf("loaded again: %d hits, then %d, loaded %q", hits, st.Definitions.Hits, st.Loaded)
	}
}

func TestKeepForSession(t *testing.T) {
	ctx := t.Context()
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(office)
	if err := d.Keep(ctx, router.ForSession, "git-commit"); err == nil || !strings.Contains(err.Error(), "load it first") {
		t.Errorf("keeping what is not loaded: %v", err)
	}
	d.load("git-commit")
	d.load("email-draft")
	if err := d.Keep(ctx, router.Life(9), "git-commit"); err == nil || !strings.Contains(err.Error(), "life(9)") {
		t.Errorf("no life: %v", err)
	}
	d.do("keep", d.Keep(ctx, router.ForSession, "git-commit"))
	if got := d.state().Kept; !cmp.Equal(got, []string{"git-commit"}) {
		t.Errorf("%q is kept", got)
	}
	d.do("use", d.Use(ctx, "email-draft"))
	d.do("end", d.EndTask(ctx))
	if got := d.state().Loaded; !cmp.Equal(got, []string{"git-commit"}) {
		t.Errorf("after the task %q is loaded", got)
	}
	for range 5 { // turns without a decision
		d.say(follow)
	}
	if got := d.state().Loaded; !cmp.Equal(got, []string{"git-commit"}) {
		t.Errorf("after turns without a decision %q is loaded", got)
	}
	d.do("keep", d.Keep(ctx, router.ForTask, "git-commit"))
	d.do("end", d.EndTask(ctx))
	if got := d.state().Loaded; len(got) > 0 {
		t.Errorf("for the task again, after it %q is loaded", got)
	}
}

// What is stalled leaves, what is kept beside it stays.
func TestStallSparesKept(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(office)
	d.load("git-commit")
	d.load("email-draft")
	d.do("keep", d.Keep(t.Context(), router.ForSession, "git-commit"))
	d.do("use", d.Use(t.Context(), "email-draft"))
	for range 4 {
		d.say(follow)
	}
	st := d.state()
	if !cmp.Equal(st.Loaded, []string{"git-commit"}) || !cmp.Equal(st.LeftOut, []string{"email-draft"}) {
		t.Errorf("loaded %q, left out %q", st.Loaded, st.LeftOut)
	}
}

// What is loaded for a turn is gone before the next utterance is routed: it
// does not stick, and loading it again is a hit.
func TestKeepForTurn(t *testing.T) {
	ctx := t.Context()
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(offTopic)
	d.load("git-commit")
	d.do("keep", d.Keep(ctx, router.ForTurn, "git-commit"))
	r := d.say(offTopic)
	if len(loaded(r)) > 0 || !cmp.Equal(r.Unloaded, []string{"git-commit"}) || r.Events[0].Rule != "unload" {
		t.Errorf("loaded %q, unloaded %q, events %q", loaded(r), r.Unloaded, rules(r.Events))
	}
	if st := d.state(); !st.Task || st.Layer == router.Definitions {
		t.Errorf("task %v, layer %v", st.Task, st.Layer)
	}
	hits := d.state().Definitions.Hits
	d.load("git-commit")
	d.do("keep", d.Keep(ctx, router.ForTurn, "git-commit"))
	if got := d.state().Definitions.Hits; got != hits+1 {
		t.Errorf("loaded again: %d hits, then %d", hits, got)
	}
	d.load("git-commit") // without Keep: for the task
	if got := loaded(d.say(follow)); !cmp.Equal(got, []string{"git-commit"}) {
		t.Errorf("loaded for the task, %q is loaded", got)
	}
}

func TestSearchLeavesTheSession(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), nil)
	d := newDialogue(t, r, &router.SessionOptions{Agent: "writer", Allow: func(name string) bool { return name != "unit-tests" }})
	d.say(office)
	before := d.state()
	found, err := d.Search(t.Context(), "write a git commit message")
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Candidates[0].Name; got != "git-commit" {
		t.Errorf("found %q first", got)
	}
	if diff := cmp.Diff(before, d.state()); diff != "" {
		t.Errorf("the state changed:\n%s", diff)
	}
	if found.Index() != r.Index() || d.Agent() != "writer" || d.ID() == "" {
		t.Errorf("agent %q, ID %q, or another index", d.Agent(), d.ID())
	}
	for name, want := range map[string]bool{"git-commit": true, "unit-tests": false, "no-such": false} {
		if got, err := d.Exists(t.Context(), name); err != nil || got != want {
			t.Errorf("Exists(%q) = %v, %v", name, got, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Search(ended, "x"); err == nil {
		t.Error("a search with an ended context gave no error")
	}
}
