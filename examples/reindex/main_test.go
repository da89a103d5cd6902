package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/soup/SKILL.md", "---\nname: soup\ndescription: Cooks soup.\n---\nBoil.\n")
	write("b.jsonl", `{"skill": "tea", "domain": "drinks", "description": "Makes tea"}`+"\n")
	write("out/keep", "")
	reindexed := func(want ...string) {
		t.Helper()
		var out strings.Builder
		err := run(t.Context(), []string{filepath.Join(dir, "out"), filepath.Join(dir, "a"), filepath.Join(dir, "none"), filepath.Join(dir, "b.jsonl")}, &out)
		if err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("a catalog that is missing: got error %v", err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("got:\n%s", out.String())
		}
		for i, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("got %q, want %q in it", lines[i], w)
			}
		}
	}
	reindexed("a.idx written, 1 added, 0 changed, 0 removed: 1 skills", "b.idx written, 1 added, 0 changed, 0 removed: 1 skills")
	reindexed("a.idx unchanged", "b.idx unchanged")
	write("a/bread/SKILL.md", "---\nname: bread\ndescription: Bakes bread.\n---\nKnead.\n")
	reindexed("a.idx written, 1 added, 0 changed, 0 removed: 2 skills", "b.idx unchanged")
	if err := run(t.Context(), []string{"out"}, &strings.Builder{}); err == nil {
		t.Error("no catalog: want how it is used")
	}
}
