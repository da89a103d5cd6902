package keeper_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter/examples"
	"skillrouter/keeper"
	"skillrouter/router"
)

// A clock goes on by a day with each look.
type clock struct {
	mu  sync.Mutex
	day int
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.day++
	return time.Date(2026, 1, c.day, 12, 0, 0, 0, time.UTC)
}

func open(t *testing.T, path string, c *clock) *keeper.Usage {
	t.Helper()
	u, err := keeper.OpenUsage(path, &keeper.UsageOptions{Clock: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func read(t testing.TB, path string) *keeper.History {
	t.Helper()
	h, err := keeper.ReadUsage(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What sessions do is noted as they do it, and no word of the user with it.
func TestUsageOfSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	u := open(t, path, &clock{})
	ix, c, e := build(t, examples.Catalog())
	r, err := router.New(ix, e, &router.Options{Observer: u})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Session("user-42", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	route := func(utterance string) {
		if _, err := s.Route(ctx, utterance); err != nil {
			t.Fatal(err)
		}
	}
	route("merge these two pdf files")
	if _, err := s.Load(ctx, "pdf-merge-split"); err != nil {
		t.Fatal(err)
	}
	if err := s.Use(ctx, "pdf-merge-split"); err != nil {
		t.Fatal(err)
	}
	if err := s.EndTask(ctx); err != nil {
		t.Fatal(err)
	}
	route("/git-commit")
	if err := s.Reject(ctx, "git-commit", "secret reason"); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"merge these", "user-42", "secret"} {
		if bytes.Contains(data, []byte(word)) {
			t.Errorf("%q is in the file:\n%s", word, data)
		}
	}
	h, err := keeper.ReadHealth(ctx, ix, read(t, path), &keeper.HealthOptions{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	if h.Turns != 2 || h.Matched != 2 || !h.From.Equal(day(1)) {
		t.Errorf("%d turns, %d matched, from %v", h.Turns, h.Matched, h.From)
	}
	for i := range h.Skills {
		h.Skills[i].Summary = ""
	}
	want := []keeper.SkillUse{{Skill: "git-commit", Loaded: 1, Rejected: 1, Last: h.Skills[0].Last}, {Skill: "pdf-merge-split", Loaded: 1, Used: 1, Last: h.Skills[1].Last}}
	if diff := cmp.Diff(want, h.Skills[:2]); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	if len(h.Never) != 62 || len(h.Least) != 2 {
		t.Errorf("%d never used, %d least used", len(h.Never), len(h.Least))
	}
	h, err = keeper.ReadHealth(ctx, ix, read(t, path), &keeper.HealthOptions{Since: day(20)})
	if err != nil || h.Turns != 0 || len(h.Never) != 64 || !h.From.IsZero() {
		t.Errorf("after the last event: %d turns, %d never used, %v", h.Turns, len(h.Never), err)
	}
}

// note writes events as a host's sessions would.
func note(u *keeper.Usage, n int, from router.Layer, rule string, names ...string) {
	for range n {
		u.Observe("s", "main", router.Event{From: from, Rule: rule, Names: names})
	}
}

func TestSymptoms(t *testing.T) {
	files := fstest.MapFS{
		"x/long/SKILL.md":   {Data: []byte(full("long", "Reads tables. Use when someone asks.") + strings.Repeat("four ", 4000))},
		"x/simple/SKILL.md": {Data: []byte(full("simple", "Looks up rain. Use when someone asks for rain."))}, "x/simple/tools.json": {Data: []byte(tools)},
		"skillrouter.yaml": {Data: []byte("routing: {summary-turns: 0}\n")},
	}
	for i := range 14 {
		name := fmt.Sprintf("s%02d", i)
		files["x/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(full(name, "Does thing "+name+". Use when someone says "+name+"."))}
	}
	ix, c, _ := build(t, files)
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	u := open(t, path, &clock{})
	note(u, 12, router.Summaries, "match", "x", "y", "z")
	note(u, 5, router.Domains, "clarify", "x")
	note(u, 4, router.Domains, "none")
	note(u, 3, router.Summaries, "stalled", "x")
	note(u, 6, router.Summaries, "load", "simple")
	note(u, 4, router.Summaries, "load", "long")
	note(u, 2, router.Definitions, "reject", "long")
	note(u, 1, router.Definitions, "stalled", "long")
	note(u, 1, router.Summaries, "load", "gone")
	note(u, 9, router.Summaries, "expired", "x")
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := keeper.ReadHealth(context.Background(), ix, read(t, path), &keeper.HealthOptions{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range h.Symptoms {
		got = append(got, s.ID+": "+s.Figures)
	}
	want := []string{
		"asks-again: 43 % of 21 turns matched nothing, 5 of them with a question; there is no fallback domain",
		"too-much: 3.0 domains matched a turn on average",
		"wrong-skill: rejected: long 2 of 4",
		"too-long: loaded: long with some 5004 tokens 4 times",
		"loads-simple: loaded with simple parameters: simple 6 times",
		"twice: routing.summary-turns is 0",
		"crowded: x holds 16 skills, rejected 2 times",
		"stalls: 4 times in 21 turns",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("symptoms (-want +got):\n%s", diff)
	}
	if len(want) != len(keeper.Symptoms()) {
		t.Errorf("%d symptoms are in the table, %d are tried here", len(keeper.Symptoms()), len(want))
	}
	if diff := cmp.Diff([][]string{{"simple"}, {"gone"}}, [][]string{h.Frequent, h.Gone}); diff != "" {
		t.Errorf("frequent, gone (-want +got):\n%s", diff)
	}
	if h.Skills[1].Stalled != 1 {
		t.Errorf("long: %+v", h.Skills[1])
	}
	healthy, err := keeper.ReadHealth(context.Background(), ix, read(t, path+"x"), nil)
	if err != nil || slices.ContainsFunc(healthy.Symptoms, func(s keeper.Symptom) bool { return s.ID != "twice" }) {
		t.Errorf("nothing was noted, but there is %+v, %v", healthy.Symptoms, err)
	}
}

// A text that changes while its written summary does not is stale, until the summary
// follows; a derived one never is.
func TestStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	ctx := context.Background()
	clock := &clock{}
	stale := func(body, summary string) string {
		text := strings.Replace(full("a", "Reads tables. Use when someone asks.", summary), "Body of", body, 1)
		ix, c, _ := build(t, fstest.MapFS{
			"a/SKILL.md": {Data: []byte(text)},
			"b/SKILL.md": {Data: []byte(strings.Replace(full("b", "Writes tables. Use when asked."), "Body of", body, 1))},
		})
		h, err := keeper.ReadHealth(ctx, ix, read(t, path), &keeper.HealthOptions{Catalog: c})
		if err != nil {
			t.Fatal(err)
		}
		u := open(t, path, clock)
		if err := u.Mark(ix, c); err != nil {
			t.Fatal(err)
		}
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, s := range h.Stale {
			out += s.Skill + " " + s.Since.Format(time.DateOnly) + ";"
		}
		return out
	}
	for i, step := range []struct{ body, summary, want string }{
		{"one", "summary: first", ""},
		{"one", "summary: first", ""},
		{"two", "summary: first", "a 0001-01-01;"}, // seen for the first time now
		{"two", "summary: first", "a 2026-01-02;"}, // as the last run noted
		{"two", "summary: second", ""},             // the summary followed
		{"three", "summary: second", "a 0001-01-01;"},
		{"two", "summary: second", ""}, // taken back
	} {
		if got := stale(step.body, step.summary); got != step.want {
			t.Errorf("step %d: stale %q, want %q", i, got, step.want)
		}
	}
}

func TestUsageAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	if err := os.WriteFile(path, []byte(`{"t":5,"r":"load","s":["a"]}`+"\n"+`{"t":6,"r":"lo`), 0o600); err != nil {
		t.Fatal(err)
	}
	u := open(t, path, &clock{})
	note(u, 1, router.Summaries, "load", "weather-query")
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	ix, _, _ := build(t, examples.Catalog())
	h, err := keeper.ReadHealth(context.Background(), ix, read(t, path), nil)
	if err != nil || h.Torn != 1 || h.Skills[0].Skill != "weather-query" || !slices.Equal(h.Gone, []string{"a"}) {
		t.Errorf("after a torn line: %d torn, %+v, gone %v, %v", h.Torn, h.Skills[0], h.Gone, err)
	}
}

// Several processes share a file, here as many Usages.
func TestUsageIsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	clock := &clock{}
	const writers, each = 4, 200
	var wait sync.WaitGroup
	for range writers {
		u := open(t, path, clock)
		wait.Go(func() {
			note(u, each, router.Summaries, "load", "weather-query")
			if err := u.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	ix, _, _ := build(t, examples.Catalog())
	h, err := keeper.ReadHealth(context.Background(), ix, read(t, path), nil)
	if err != nil || h.Torn != 0 || h.Skills[0].Loaded != writers*each {
		t.Errorf("%d loads, %d torn, %v, want %d loads", h.Skills[0].Loaded, h.Torn, err, writers*each)
	}
}

func TestUsageIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	u := open(t, path, &clock{})
	long := strings.Repeat("x", 100_000)
	note(u, 200, router.Summaries, "load", long)
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, p := range []string{path, path + ".old"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	if sum > 17<<20 {
		t.Errorf("20 MB of events take %d bytes", sum)
	}
}

// A hook is a process a turn, with an event or two: the file is put aside all the same.
func TestUsageOfShortProcessesIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	clock := &clock{}
	long := strings.Repeat("x", 1_000_000)
	for range 20 {
		u := open(t, path, clock)
		note(u, 1, router.Summaries, "load", long)
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{path, path + ".old"} {
		if info, err := os.Stat(p); err != nil || info.Size() > 8<<20 {
			t.Errorf("%s: %v, %v, want 8 MiB at most", p, info, err)
		}
	}
}

// What another process put aside is not lost by this one finding its file full too.
func TestUsageIsPutAsideOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.jsonl")
	clock := &clock{}
	a, b := open(t, path, clock), open(t, path, clock)
	note(b, 1, router.Summaries, "load", "weather-query")
	note(a, 8, router.Summaries, "load", strings.Repeat("x", 1_000_000))
	note(a, 1, router.Summaries, "load", strings.Repeat("y", 1_000_000)) // to a new file
	note(b, 1, router.Summaries, "load", "weather-query", strings.Repeat("z", 1_000_000))
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	ix, _, _ := build(t, examples.Catalog())
	h, err := keeper.ReadHealth(context.Background(), ix, read(t, path), nil)
	if err != nil || h.Skills[0].Skill != "weather-query" || h.Skills[0].Loaded != 2 || len(h.Gone) != 3 {
		t.Errorf("%+v, %d others, %v, want both loads and 3 others", h.Skills[0], len(h.Gone), err)
	}
}

func TestUsageWhereNoneCanBe(t *testing.T) {
	u := open(t, t.TempDir()+"/no/folder", &clock{})
	note(u, 1, router.Summaries, "load", "a")
	if u.Err() == nil || u.Close() == nil {
		t.Error("a file that cannot be made is no error")
	}
	if _, err := keeper.OpenUsage(t.TempDir(), nil); err == nil {
		t.Error("a folder is opened as a usage file")
	}
}

// FuzzReadUsage checks that whatever stands in a file, what is added to it is read.
func FuzzReadUsage(f *testing.F) {
	f.Add([]byte(`{"t":5,"r":"load","s":["a"]}`))
	f.Add([]byte("{}\n\n{\"t\":1,\"r\":\"seen\"}\x00"))
	ix, _, _ := build(f, fstest.MapFS{"a/SKILL.md": {Data: []byte(full("a", "Reads tables. Use when asked."))}})
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "usage.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		loads := func() int {
			h, err := keeper.ReadHealth(t.Context(), ix, read(t, path), nil)
			if err != nil {
				t.Fatal(err)
			}
			return h.Skills[0].Loaded
		}
		before := loads()
		u := open(t, path, &clock{})
		note(u, 1, router.Summaries, "load", "a")
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
		if after := loads(); after != before+1 {
			t.Errorf("%d loads before, %d after one more", before, after)
		}
	})
}
