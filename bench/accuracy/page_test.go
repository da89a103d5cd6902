package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/eval"
)

var update = flag.Bool("update", false, "rewrite golden files")

// samplePage has a set with everything, and one of one domain with nothing out of scope.
func samplePage(t *testing.T) *page {
	peers, err := readPeers("testdata/peers.json")
	if err != nil {
		t.Fatal(err)
	}
	all := figures{
		InScope: 1900, OutOfScope: 100, SkillHit1: 0.818, SkillHit5: 0.967, DomHit1: 0.934,
		Right: 0.857, Wrong: 0.022, None: 0.121, Abstained: 0.81, AUROC: 0.928, ECE: 0.022, Median: 26.4,
	}
	return &page{
		Commit: "0123456789ab", Machine: "2 cores (a processor), linux/amd64, go1.26", Embedder: "static/256", Peers: peers,
		Sets: []measured{
			{
				Name: "play", Skills: 1150, Domains: 10, Triggers: 5, Language: "English", Threshold: 0.72, figures: all,
				Kinds: []kindFigures{
					{"plain", figures{InScope: 1900, SkillHit1: 0.818, SkillHit5: 0.967, DomHit1: 0.934, Right: 0.857, Wrong: 0.022, None: 0.121}},
					{"oos", figures{OutOfScope: 100, Abstained: 0.81}},
				},
			},
			{
				Name: "more/weather", Skills: 1, Domains: 1, Language: "Chinese", Threshold: 0.72,
				figures: figures{InScope: 1, SkillHit1: 1, SkillHit5: 1, DomHit1: 1, Right: 1, Median: 1500},
			},
		},
	}
}

func TestRender(t *testing.T) {
	got := samplePage(t).render()
	const golden = "testdata/page.md"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

func TestMeasureAll(t *testing.T) {
	type seen struct {
		Name, Language      string
		Skills, Domains     int
		Triggers, Threshold float64
		InScope, OutOfScope int
		Kinds               []string
		OfFirstKind         eval.Number // hit@1
	}
	describe := func(all []measured) (out []seen) {
		for _, m := range all {
			s := seen{
				Name: m.Name, Language: m.Language, Skills: m.Skills, Domains: m.Domains, Triggers: m.Triggers, Threshold: m.Threshold,
				InScope: m.InScope, OutOfScope: m.OutOfScope,
			}
			for i, k := range m.Kinds {
				if i == 0 {
					s.OfFirstKind = k.SkillHit1
				}
				s.Kinds = append(s.Kinds, k.Kind)
			}
			out = append(out, s)
		}
		return out
	}
	zh := seen{Name: "more/weather", Language: "Chinese", Skills: 1, Domains: 1, Triggers: 1, Threshold: 0.72, InScope: 1}
	play := seen{
		Name: "play", Language: "English, 25 % with Chinese", Skills: 2, Domains: 2, Triggers: 2, Threshold: 0.72,
		InScope: 3, OutOfScope: 1, Kinds: []string{"plain", "zh2en", "oos"}, OfFirstKind: 1,
	}
	bodies, lines := play, play
	bodies.Triggers = 0
	lines.Name = "play, descriptions only"
	for _, test := range []struct {
		name, catalogs string
		names          []string
		want           []seen
	}{
		{"at any depth", "", nil, []seen{zh, play}},
		{"one by name", "", []string{"play"}, []seen{play}},
		{"a folder of skills goes first", "testdata/catalogs", nil, []seen{zh, bodies, lines}},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := measureAll("testdata/sets", test.catalogs, "queries-dev.jsonl", 0, test.names)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, describe(all)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWritePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accuracy.md")
	if err := writePage(path, "testdata/sets", "", "queries-dev.jsonl", 0, "testdata/peers.json", "0123456789ab", nil); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Commit 0123456789ab; embedder static", "| more/weather | 1 | 1 |", "## play, by kind", "## Peers"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestMeasureAllErrors(t *testing.T) {
	alone := t.TempDir()
	if err := os.WriteFile(filepath.Join(alone, "queries-dev.jsonl"), []byte(`{"text":"a","oos":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, sets, want string }{
		{"nothing", t.TempDir(), "no folder below it holds queries-dev.jsonl"},
		{"no catalog", alone, "no catalog.jsonl beside queries-dev.jsonl"},
		{"no folder", filepath.Join(alone, "gone"), "gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := measureAll(test.sets, "", "queries-dev.jsonl", 0, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

func TestReadPeersErrors(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"broken", "{", "unexpected end"},
		{"empty", "{}", "make bench-peers writes this file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "peers.json")
			if err := os.WriteFile(path, []byte(test.data), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := readPeers(path)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got error %v, want %q and the path", err, test.want)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	cases := func(texts ...string) (out []eval.Case) {
		for _, s := range texts {
			out = append(out, eval.Case{Text: s})
		}
		return out
	}
	for _, test := range []struct {
		want  string
		texts []string
	}{
		{"English", []string{"play", "stop"}},
		{"Chinese", []string{"放歌", "停 now"}},
		{"English, 50 % with Chinese", []string{"放歌", "stop"}},
	} {
		if got := language(cases(test.texts...)); got != test.want {
			t.Errorf("%q: got %q, want %q", test.texts, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
