package router_test

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/examples"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/router"
)

var update = flag.Bool("update", false, "write golden files")

var builtin = sync.OnceValues(embed.New)

// embedder returns the built-in one.
func embedder(t testing.TB) index.Embedder {
	t.Helper()
	e, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A files maps paths below a root to texts.
type files map[string]string

func (f files) fs() fstest.MapFS {
	fsys := fstest.MapFS{}
	for path, data := range f {
		fsys[path] = &fstest.MapFile{Data: []byte(data)}
	}
	return fsys
}

// skill writes a SKILL.md.
func skill(name, description, more string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n%s---\n# %s\n\nHow to do it: %s\n", name, description, more, name, description)
}

func buildFS(t testing.TB, e index.Embedder, fsys fstest.MapFS) *index.Index {
	t.Helper()
	c, err := definitions.Load(t.Context(), []definitions.Root{{Path: "skills", FS: fsys}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.Build(t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func build(t testing.TB, f files) *index.Index { return buildFS(t, embedder(t), f.fs()) }

var exampleIndex = sync.OnceValues(func() (*index.Index, error) {
	c, err := definitions.Load(context.Background(), []definitions.Root{{Path: "examples", FS: examples.Catalog()}}, nil)
	if err != nil {
		return nil, err
	}
	e, err := builtin()
	if err != nil {
		return nil, err
	}
	return index.Build(context.Background(), c, e, nil)
})

// exampleCatalog is the index of the example catalog. How many skills it has
// is its own business: what a test expects comes from members.
func exampleCatalog(t testing.TB) *index.Index {
	t.Helper()
	ix, err := exampleIndex()
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// members are the names of a domain's skills without the manual ones.
func members(t testing.TB, ix *index.Index, domain string) []string {
	t.Helper()
	all, err := ix.DomainSummaries(domain)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 3 {
		t.Fatalf("%s has %d skills: too few to show anything by", domain, len(all))
	}
	var names []string
	for _, m := range all {
		names = append(names, m.Skill)
	}
	return names
}

// without are names that are not in gone.
func without(names []string, gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(gone, name) })
}

// same tells whether got and want are the same names, in whatever order.
func same(got, want []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
}

func newRouter(t testing.TB, ix *index.Index, opts *router.Options) *router.Router {
	t.Helper()
	r, err := router.New(ix, embedder(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func route(t testing.TB, r *router.Router, utterance string) *router.Route {
	t.Helper()
	x, err := r.Route(t.Context(), utterance)
	if err != nil {
		t.Fatalf("Route(%q): %v", utterance, err)
	}
	return x
}

// A dialogue is a session whose errors end the test.
type dialogue struct {
	t testing.TB
	*router.Session
}

func newDialogue(t testing.TB, r *router.Router, opts *router.SessionOptions) dialogue {
	t.Helper()
	s, err := r.Session(t.Name(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return dialogue{t, s}
}

func (d dialogue) say(utterance string) *router.Route {
	d.t.Helper()
	x, err := d.Route(d.t.Context(), utterance)
	if err != nil {
		d.t.Fatalf("Route(%q): %v", utterance, err)
	}
	return x
}

func (d dialogue) load(skill string) {
	d.t.Helper()
	if _, err := d.Load(d.t.Context(), skill); err != nil {
		d.t.Fatalf("Load(%q): %v", skill, err)
	}
}

func (d dialogue) do(what string, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatalf("%s: %v", what, err)
	}
}

func (d dialogue) state() router.State {
	d.t.Helper()
	st, err := d.State(d.t.Context())
	if err != nil {
		d.t.Fatalf("State: %v", err)
	}
	return st
}

func (d dialogue) prompt() string {
	d.t.Helper()
	p, err := d.Prompt(d.t.Context())
	if err != nil {
		d.t.Fatalf("Prompt: %v", err)
	}
	return p
}

// rules are the rules of events.
func rules(events []router.Event) []string {
	var rs []string
	for _, e := range events {
		rs = append(rs, e.Rule)
	}
	return rs
}

// shown are the names of the summaries of a route.
func shown(r *router.Route) []string {
	var names []string
	for _, m := range r.Summaries {
		names = append(names, m.Skill)
	}
	return names
}

func loaded(r *router.Route) []string {
	var names []string
	for _, d := range r.Loaded {
		names = append(names, d.Name)
	}
	return names
}

func matched(r *router.Route) []string {
	var names []string
	for _, d := range r.Domains {
		if d.Matched {
			names = append(names, d.Name)
		}
	}
	return names
}

// A fake is an embedder of bags of words that counts its calls and answers
// utterances as it is told.
type fake struct {
	calls  atomic.Int64
	answer func(ctx context.Context, v [][]float32) ([][]float32, error) // nil: v
}

const fakeDim = 64

func (*fake) ID() string { return "fake/64" }

func (f *fake) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	f.calls.Add(1)
	vs := make([][]float32, len(texts))
	for i, s := range texts {
		vs[i] = bag(s)
	}
	if f.answer != nil {
		return f.answer(ctx, vs)
	}
	return vs, ctx.Err()
}

func bag(s string) []float32 {
	v := make([]float32, fakeDim)
	var sum float64
	for _, w := range text.Terms(s) {
		h := fnv.New32a()
		h.Write([]byte(w))
		v[h.Sum32()%fakeDim]++
	}
	for _, x := range v {
		sum += float64(x * x)
	}
	if sum > 0 {
		for i := range v {
			v[i] = float32(float64(v[i]) / math.Sqrt(sum))
		}
	}
	return v
}

// crowd writes domains of so many skills each; each skill is about its domain.
func crowd(sizes ...int) files {
	topics := []string{"invoice", "weather", "garden", "music", "football", "chemistry", "railway", "theatre"}
	f := files{}
	for d, n := range sizes {
		topic := topics[d]
		for i := range n {
			name := fmt.Sprintf("%s-%02d", topic, i)
			f[topic+"/"+name+"/SKILL.md"] = skill(name, fmt.Sprintf("Handles %s number %s. Use when %s matters come up.", topic, strings.Repeat("x", i+1), topic), "")
		}
	}
	return f
}
