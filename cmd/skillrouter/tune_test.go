package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrouter/examples"
)

// exampleFolder is the example catalog and its utterances as files, with a
// threshold that is far too high.
func exampleFolder(t *testing.T) (skills, cases, settings string) {
	t.Helper()
	dir := t.TempDir()
	skills, cases = filepath.Join(dir, "skills"), filepath.Join(dir, "cases.jsonl")
	if err := os.CopyFS(skills, examples.Catalog()); err != nil {
		t.Fatal(err)
	}
	settings = filepath.Join(skills, settingsFile)
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "\n# how to route\nrouting:\n  threshold: 0.95 # by hand\n  max-summaries: 20\n"...)
	for path, data := range map[string][]byte{settings: text, cases: examples.Utterances()} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return skills, cases, settings
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tune shows what it would write, writes it when told, keeps what is there, and
// has nothing more to say then.
func TestTuneWrites(t *testing.T) {
	skills, cases, settings := exampleFolder(t)
	before := read(t, settings)
	args := []string{"tune", "--skills", skills, "--cases", cases, "--no-cache", "--max-wrong", "0.05", "--min-rejected", "0.7"}

	r := runWith(t, "", false, nil, args...)
	if r.status != 0 || read(t, settings) != before {
		t.Fatalf("status %d, or written without being told: %s", r.status, r.err)
	}
	for _, want := range []string{
		"\n-  threshold: 0.95 # by hand\n", "\n+  # By \"skillrouter tune\": fitted on ", " in place of 0.95", "\nIn short\n",
		"\n--- " + settings + "\n+++ " + settings + "\n@@ ",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in:\n%s", want, r.out)
		}
	}
	if !strings.Contains(r.err, "nothing was written; --write writes it") {
		t.Errorf("got on stderr: %s", r.err)
	}
	if again := runWith(t, "", false, nil, args...); again.out != r.out {
		t.Errorf("the second time it says:\n%s\nthe first:\n%s", again.out, r.out)
	}

	// On a terminal it asks.
	if r := runWith(t, "n\n", true, nil, args...); r.status != 0 || !strings.Contains(r.err, "Write it? [y/N] ") || read(t, settings) != before {
		t.Errorf("status %d, stderr: %s", r.status, r.err)
	}
	r = runWith(t, "y\n", true, nil, args...)
	after := read(t, settings)
	if r.status != 0 || !strings.Contains(r.err, settings+": written") || after == before {
		t.Fatalf("status %d, stderr: %s", r.status, r.err)
	}
	for line := range strings.Lines(before) {
		if !strings.Contains(line, "threshold: 0.95") && !strings.Contains(after, line) {
			t.Errorf("the line %q is gone", line)
		}
	}
	if !strings.Contains(after, " # by hand\n") {
		t.Errorf("the comment is gone:\n%s", after)
	}

	// Tuned, there is nothing left to do.
	r = runWith(t, "", false, nil, append(args, "--write")...)
	if r.status != 0 || read(t, settings) != after || !strings.Contains(r.out, "nothing is to be changed") {
		t.Errorf("status %d:\n%s%s", r.status, r.out, r.err)
	}
}

// What eval finds after tune is what tune said.
func TestTuneKeepsItsWord(t *testing.T) {
	skills, cases, _ := exampleFolder(t)
	fit, report := cases+"-fit.jsonl", cases+"-report.jsonl"
	texts := map[string]string{}
	for i, line := range strings.SplitAfter(string(examples.Utterances()), "\n") { // one for each, so that both have all kinds
		texts[[]string{fit, report}[i%2]] += line
	}
	for path, text := range texts {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := runWith(t, "", false, nil, "tune", "--skills", skills, "--fit", fit, "--report", report, "--no-cache", "--json", "--write", "--force")
	var said struct {
		Written   bool
		Threshold float64
		Figures   []struct {
			Name string
			A, B float64
		}
	}
	if err := json.Unmarshal([]byte(r.out), &said); err != nil || r.status != 0 || !said.Written {
		t.Fatalf("status %d, %v: %s%s", r.status, err, r.out, r.err)
	}
	r = runWith(t, "", false, nil, "eval", "--skills", skills, "--cases", report, "--no-cache", "--json")
	var found map[string]any
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		t.Fatalf("%v: %s", err, r.err)
	}
	for _, f := range said.Figures {
		if got, ok := found[f.Name]; ok && got != f.B {
			t.Errorf("%s is %v, tune said %v", f.Name, got, f.B)
		}
	}
}

// What does not help is not written unless it must be.
func TestTuneRefuses(t *testing.T) {
	skills, cases, settings := exampleFolder(t)
	before := read(t, settings)
	// Of cases to report on that all match wrongly, none gets better.
	var wrong strings.Builder
	for i, line := range strings.Split(string(examples.Utterances()), "\n") {
		if i%2 == 0 && strings.Contains(line, `"skills"`) {
			var c struct{ Text string }
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			row, _ := json.Marshal(map[string]any{"text": c.Text + " please", "skills": []string{"regex-builder"}})
			wrong.Write(append(row, '\n'))
		}
	}
	report := cases + "-wrong.jsonl"
	if err := os.WriteFile(report, []byte(wrong.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"tune", "--skills", skills, "--fit", cases, "--report", report, "--no-cache", "--write"}
	r := runWith(t, "", false, nil, args...)
	if r.status != 1 || read(t, settings) != before || !strings.Contains(r.err, "the other part gets no better: nothing was written") {
		t.Fatalf("status %d, stderr: %s\n%s", r.status, r.err, r.out)
	}
	r = runWith(t, "", false, nil, append(args, "--force")...)
	if r.status != 0 || read(t, settings) == before {
		t.Errorf("forced: status %d, stderr: %s", r.status, r.err)
	}
}
