package eval

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/embed"
	"skillrouter/examples"
	"skillrouter/index"
	"skillrouter/router"
)

// exampleRouter is a router over the example catalog.
func exampleRouter(t testing.TB, opts router.Options) *skillrouter.Router {
	t.Helper()
	r, err := skillrouter.Open(t.Context(), &skillrouter.Options{Router: opts, FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func exampleCases(t testing.TB) []Case {
	t.Helper()
	cases, err := ReadCases(strings.NewReader(string(examples.Utterances())), "utterances.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// The shares of a report add up, and a catalog's own utterances are found.
func TestRun(t *testing.T) {
	ctx := context.Background()
	r, cases := exampleRouter(t, router.Options{}), exampleCases(t)
	rep, err := Run(ctx, r.Router, cases, &Options{Version: "1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if sum := rep.RightMatch + rep.WideMatch + rep.WrongMatch + rep.NoMatch; math.Abs(float64(sum)-1) > 1e-9 {
		t.Errorf("the shares of in-scope cases add up to %v", sum)
	}
	if rep.InScope+rep.OutOfScope != rep.N || rep.N != len(cases) || len(rep.Rows) != len(cases) {
		t.Errorf("got %d in scope, %d out, %d in all of %d", rep.InScope, rep.OutOfScope, rep.N, len(cases))
	}
	if rep.SkillHit1 > rep.SkillHit5 || rep.SkillHit5 < 0.8 || rep.DomainHit1 < 0.7 {
		t.Errorf("the examples' own utterances should be found, got %+v", rep.Figures)
	}
	// Up to 1,000 skills all are looked at: the ranking is the same.
	if rep.Flat.SkillHit1 != rep.SkillHit1 || rep.Flat.SkillHit5 != rep.SkillHit5 || !(rep.Flat.Shown > rep.Shown) {
		t.Errorf("got %+v without layers, with them %v, %v, shown %v", rep.Flat, rep.SkillHit1, rep.SkillHit5, rep.Shown)
	}
	c := rep.Conditions
	if c.Skills != 64 || c.Domains != 8 || c.Threshold != 0.72 || c.Cap != 25 || c.Mode != "layered" || c.Version != "1.0" ||
		c.Index != r.Index().Fingerprint() || c.Embedder != r.Index().EmbedderID() || !(c.Chinese > 0.2 && c.Chinese < 0.8) {
		t.Errorf("got %+v", c)
	}
	if rep.LatencyP50 <= 0 || rep.LatencyP99 < rep.LatencyP50 || rep.TokensFlat <= rep.TokensLayered {
		t.Errorf("got %+v", rep.Figures)
	}

	// Labels that are all wrong give the opposite.
	wrong := []Case{{Text: cases[0].Text, Skills: []string{"none"}, Domains: []string{"none"}}}
	rep, err = Run(ctx, r.Router, wrong, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rep.DomainHit1 != 0 || rep.SkillHit5 != 0 || rep.MRR != 0 || rep.Shown != 0 || rep.Flat.Shown != 0 || rep.WrongMatch+rep.NoMatch != 1 {
		t.Errorf("got %+v", rep.Figures)
	}
	if _, err := Run(ctx, r.Router, nil, nil); err == nil {
		t.Error("no cases: want an error, not a report of nothing")
	}
}

// A skill that is named outright is loaded: it is shown.
func TestRunNamed(t *testing.T) {
	r := exampleRouter(t, router.Options{})
	rep, err := Run(t.Context(), r.Router, []Case{{Text: "/pdf-merge-split", Skills: []string{"pdf-merge-split"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if row := rep.Rows[0]; !row.Named || !row.Shown || row.Abstained || row.SkillRank != 1 || row.FlatRank != 1 || rep.NoMatch != 0 || rep.WrongMatch != 0 || rep.DomainHit1 != 1 {
		t.Errorf("got %+v", rep.Rows[0])
	}
}

// An evaluation stops where the embedder fails, or where nothing is measured.
func TestRunFails(t *testing.T) {
	cases := exampleCases(t)[:3]
	e := &flaky{}
	e.Embedder, _ = embed.New()
	r, err := skillrouter.Open(t.Context(), &skillrouter.Options{Embedder: e, FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), r.Router, cases, nil); err != nil {
		t.Fatal(err)
	}
	e.fails = true
	if _, err := Run(t.Context(), r.Router, cases, nil); err == nil || !strings.Contains(err.Error(), "the embedder gave no vector") {
		t.Errorf("the embedder fails: got %v", err)
	}

	blind := exampleRouter(t, router.Options{Without: index.Semantic | index.Lexical | index.Phrases})
	if _, err := Run(t.Context(), blind.Router, cases, nil); err == nil || !strings.Contains(err.Error(), "nothing can be measured") {
		t.Errorf("all evidence is left out: got %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, blind.Router, cases, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: got %v", err)
	}
}

// flaky is an embedder that may fail, and knows what it was asked.
type flaky struct {
	index.Embedder
	fails bool
	asked []string
}

func (f *flaky) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if f.fails {
		return nil, errors.New("gone")
	}
	f.asked = append(f.asked, texts...)
	return f.Embedder.Embed(ctx, texts)
}

// Nothing goes between the routes, which are timed, and each case is ranked
// without layers once.
func TestRunTimesRoutesAlone(t *testing.T) {
	cases := exampleCases(t)[:4]
	e := &flaky{}
	e.Embedder, _ = embed.New()
	r, err := skillrouter.Open(t.Context(), &skillrouter.Options{Embedder: e, FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
	if err != nil {
		t.Fatal(err)
	}
	e.asked = nil
	if _, err := Run(t.Context(), r.Router, cases, nil); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i := range cases {
		texts = append(texts, cases[i].Text)
	}
	want := slices.Concat(texts, texts, texts) // to warm up, timed, without layers
	if d := cmp.Diff(want, e.asked[max(len(e.asked)-len(want), 0):]); d != "" || slices.Contains(e.asked[:len(e.asked)-len(want)], texts[0]) {
		t.Errorf("asked after the self-check (-want +got): %s", d)
	}
}
