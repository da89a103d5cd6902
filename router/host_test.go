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

func TestPin(t *testing.T) {
	ctx := t.Context()
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(office)
	if err := d.Pin(ctx, "git-commit"); err == nil || !strings.Contains(err.Error(), "load it first") {
		t.Errorf("pinning what is not loaded: %v", err)
	}
	d.load("git-commit")
	d.load("email-draft")
	d.do("pin", d.Pin(ctx, "git-commit"))
	if got := d.state().Pinned; !cmp.Equal(got, []string{"git-commit"}) {
		t.Errorf("%q is pinned", got)
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
	d.do("unpin", d.Unpin(ctx, "git-commit", "never-loaded"))
	d.do("end", d.EndTask(ctx))
	if got := d.state().Loaded; len(got) > 0 {
		t.Errorf("unpinned, after the task %q is loaded", got)
	}
}

// What is stalled leaves, what is pinned beside it stays.
func TestStallSparesPinned(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(office)
	d.load("git-commit")
	d.load("email-draft")
	d.do("pin", d.Pin(t.Context(), "git-commit"))
	d.do("use", d.Use(t.Context(), "email-draft"))
	for range 4 {
		d.say(follow)
	}
	st := d.state()
	if !cmp.Equal(st.Loaded, []string{"git-commit"}) || !cmp.Equal(st.LeftOut, []string{"email-draft"}) {
		t.Errorf("loaded %q, left out %q", st.Loaded, st.LeftOut)
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
