package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), nil, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "240 utterances, 72 of them out of scope; 64 skills in 8 domains") || !strings.Contains(got, " skill_hit@1: a right skill is first\n") || !strings.Contains(got, "\nlayers cost ") {
		t.Errorf("got:\n%s", got)
	}
}

func TestRunOnACatalogOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"skills/soup/SKILL.md": "---\nname: soup\ndescription: Cooks soup.\n---\nBoil.\n",
		"cases.jsonl":          `{"text": "cook some soup", "skills": ["soup"], "domains": ["unassigned"]}` + "\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), []string{filepath.Join(dir, "skills"), filepath.Join(dir, "cases.jsonl")}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "100.0 %  100.0 to 100.0  skill_hit@1: a right skill is first\n") {
		t.Errorf("got:\n%s", out.String())
	}
	wrong := filepath.Join(dir, "wrong.jsonl")
	if err := os.WriteFile(wrong, []byte(`{"text": "cook", "skills": ["soap"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{filepath.Join(dir, "skills"), wrong}, &out); err == nil || !strings.Contains(err.Error(), `did you mean "soup"?`) {
		t.Errorf("got %v, want what is wrong with the cases", err)
	}
	if err := run(t.Context(), []string{"one"}, &out); err == nil {
		t.Error("one argument: want how it is used")
	}
}
