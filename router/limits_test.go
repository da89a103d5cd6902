package router_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/eval"
	"skillrouter/examples"
	"skillrouter/router"
)

// A route within limits is that of a router with them, to the last byte.
func TestRouteWithin(t *testing.T) {
	ix, e := exampleCatalog(t), embedder(t)
	cases, err := eval.ReadCases(strings.NewReader(string(examples.Utterances())), "utterances.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	utterances := []string{"", "  ", "/git-commit and push it", "git-commit"}
	for i := 0; i < len(cases); i += 10 { // of all kinds: comparing routes takes its time
		utterances = append(utterances, cases[i].Text)
	}
	limits := []router.Limits{
		{},
		{Threshold: 0.5},
		{Threshold: 0.72},
		{Threshold: 0.9, MaxSummaries: 3},
		{Threshold: -1, MaxDomains: 2},
		{Threshold: 0.3, MaxSummaries: -1, MaxDomains: -1},
	}
	for _, base := range []router.Options{{}, {Threshold: 0.8, MaxSummaries: 5, MaxDomains: 1}, {Mode: router.Flat}} {
		one, err := router.New(ix, e, &base)
		if err != nil {
			t.Fatal(err)
		}
		of := make([]*router.Router, len(limits))
		for i, l := range limits {
			o := base
			if l.Threshold != 0 {
				o.Threshold = l.Threshold
			}
			if l.MaxSummaries != 0 {
				o.MaxSummaries = l.MaxSummaries
			}
			if l.MaxDomains != 0 {
				o.MaxDomains = l.MaxDomains
			}
			if of[i], err = router.New(ix, e, &o); err != nil {
				t.Fatal(err)
			}
		}
		allow := func(name string) bool { return name != "pdf-merge" }
		for _, u := range utterances {
			got, err := one.RouteWithin(t.Context(), u, limits, allow)
			if err != nil {
				t.Fatal(err)
			}
			for i := range limits {
				want, err := of[i].RouteFor(t.Context(), u, allow)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got[i], cmpopts.IgnoreUnexported(router.Route{})); d != "" {
					t.Fatalf("%q with %+v (-router +within):\n%s", u, limits[i], d)
				}
				if want.Prompt() != got[i].Prompt() || want.Tokens() != got[i].Tokens() {
					t.Fatalf("%q with %+v: other prompts:\n%s\n%s", u, limits[i], want.Prompt(), got[i].Prompt())
				}
			}
		}
	}
}

func TestRouteWithinWrongLimits(t *testing.T) {
	r, err := router.New(exampleCatalog(t), embedder(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.RouteWithin(t.Context(), "x", []router.Limits{{Threshold: 1.5}}, nil); err == nil || !strings.Contains(err.Error(), "Threshold 1.5 is above 1") {
		t.Errorf("got error %v", err)
	}
}

// A skill that was named but cannot be read is as if it had not been named.
func TestRouteWithinUnreadable(t *testing.T) {
	fsys := namesCatalog().fs()
	r := newRouter(t, buildFS(t, embedder(t), fsys), &router.Options{Mode: router.Layered})
	delete(fsys, "tools/git-commit/SKILL.md")
	const utterance = "use git-commit to write commit messages, changes are to be committed"
	for _, u := range []string{utterance, utterance + " and code-review"} {
		want := route(t, r, u)
		got, err := r.RouteWithin(t.Context(), u, []router.Limits{{}, {Threshold: 0.99}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got[0], cmpopts.IgnoreUnexported(router.Route{})); d != "" {
			t.Errorf("%q (-router +within):\n%s", u, d)
		}
		if d := cmp.Diff(loaded(want), loaded(got[1])); d != "" {
			t.Errorf("%q, the second (-router +within):\n%s", u, d)
		}
	}
}
