package definitions

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStamp(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "one", "SKILL.md")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "---\nname: one\ndescription: first\n---\nbody\n")
	s, err := NewSource([]Root{{Path: dir}}, &Options{Depth: 3})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{dir}, s.Roots()); d != "" || s.Depth() != 3 {
		t.Errorf("roots %s, depth %d", d, s.Depth())
	}
	stamp := func() string {
		t.Helper()
		got, err := s.Stamp(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := stamp()
	if again := stamp(); again != before {
		t.Errorf("nothing changed, but the stamp went from %s to %s", before, again)
	}
	later := time.Now().Add(time.Hour)
	for _, change := range []struct {
		name string
		make func()
	}{
		{"another skill", func() { write(filepath.Join(dir, "two", "SKILL.md"), "two") }},
		{"another time", func() {
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}},
		{"a domain file", func() { write(filepath.Join(dir, "skillrouter.yaml"), "domains: []\n") }},
		{"a skill gone", func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		change.make()
		after := stamp()
		if after == before {
			t.Errorf("%s: the stamp stayed", change.name)
		}
		before = after
	}

	// What a source was asked for does not matter for reading.
	read, err := s.Read(ctx, Ref{Dir: "two"})
	if err != nil || read.Name != "two" {
		t.Errorf("reading: got %+v, %v", read, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stamp(ctx); err == nil {
		t.Error("a closed source: want an error")
	}
	if _, err := NewSource(nil, &Options{Orders: 7}); err == nil {
		t.Error("a level that does not exist: want an error")
	}
}

func TestSeverityText(t *testing.T) {
	for _, want := range []Severity{Note, Warning, Error} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Severity
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	var s Severity
	if err := s.UnmarshalText([]byte("grave")); err == nil {
		t.Error("an unknown word: want an error")
	}
}
