package router_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/router"
)

// Where a route looks at all skills its candidates are the ranking.
func TestRankIsTheRankingOfRoute(t *testing.T) {
	r, err := router.New(exampleCatalog(t), embedder(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, utterance := range []string{"turn this PDF into text", "查一下明天的天气", "/git-commit and push it"} {
		route, err := r.Route(t.Context(), utterance)
		if err != nil {
			t.Fatal(err)
		}
		ranked, err := r.Rank(t.Context(), utterance, len(route.Candidates), nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(route.Candidates, ranked); d != "" {
			t.Errorf("%s: %s", utterance, d)
		}
	}
	all, err := r.Rank(t.Context(), "turn this PDF into text", 1<<30, nil)
	if want := len(r.Index().Summaries()); err != nil || len(all) != want {
		t.Errorf("got %d skills, %v, want all %d", len(all), err, want)
	}
	none, err := r.Rank(t.Context(), "turn this PDF into text", 5, func(name string) bool { return name == "pdf-text-extract" })
	if err != nil || len(none) != 1 || none[0].Name != "pdf-text-extract" {
		t.Errorf("got %v, %v, want the one skill that exists", none, err)
	}
}

// In a large catalog Route looks at the nearest domains, Rank at all skills.
func TestRankLooksEverywhere(t *testing.T) {
	tree := files{}
	for d := range 60 {
		for i := range 40 {
			name := fmt.Sprintf("skill-%d-%d", d, i)
			tree[fmt.Sprintf("domain-%d/%s/SKILL.md", d, name)] = skill(name, fmt.Sprintf("Does task %d of subject %d.", i, d), "")
		}
	}
	e := embedder(t)
	r, err := router.New(buildFS(t, e, tree.fs()), e, nil)
	if err != nil {
		t.Fatal(err)
	}
	ranked, err := r.Rank(t.Context(), "turn this PDF into text", 1<<30, nil)
	if err != nil || len(ranked) != 60*40 {
		t.Fatalf("got %d skills, %v", len(ranked), err)
	}
	for i, c := range ranked {
		if i > 0 && c.Evidence > ranked[i-1].Evidence {
			t.Fatalf("number %d has the evidence %v after %v", i+1, c.Evidence, ranked[i-1].Evidence)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Rank(ctx, "x", 5, nil); err == nil {
		t.Error("the context has ended: want its error")
	}
}

// A question asks about its alternatives, the nearest domains that are near
// enough; without one there are none.
func TestAlternatives(t *testing.T) {
	r, err := router.New(exampleCatalog(t), embedder(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	for _, utterance := range []string{"turn this PDF into text", "hello", "make it nicer", "something about my numbers", "这个怎么弄", "帮我整理一下"} {
		route, err := r.Route(t.Context(), utterance)
		if err != nil {
			t.Fatal(err)
		}
		question, ok := route.Question()
		names := route.Alternatives()
		if ok != (len(names) > 0) || len(names) > len(route.Nearest()) {
			t.Errorf("%q: a question is %v, alternatives are %q", utterance, ok, names)
		}
		for _, n := range names {
			asked = true
			if !strings.Contains(question, n) {
				t.Errorf("%q: the question %q does not name %q", utterance, question, n)
			}
		}
	}
	if !asked {
		t.Error("no utterance raised a question: choose others")
	}
}

// InForce has the numbers of the catalog and the defaults.
func TestInForce(t *testing.T) {
	ix := build(t, files{
		"skillrouter.yaml":         "routing:\n  threshold: 0.6\n",
		"mail/send-email/SKILL.md": skill("send-email", "Sends emails.", ""),
		"travel/rent-car/SKILL.md": skill("rent-car", "Rents cars.", ""),
	})
	r, err := router.New(ix, embedder(t), &router.Options{MaxSummaries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if o := r.InForce(); o.Threshold != 0.6 || o.MaxSummaries < 1<<20 || o.SummaryTurns != 5 || !r.Flat() {
		t.Errorf("got %+v, flat %v", o, r.Flat())
	}
}
