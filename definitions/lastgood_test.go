package definitions

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// While a file is broken the skill is as it was (C16), and the problem is told.
func TestLastGood(t *testing.T) {
	fsys := fstest.MapFS{}
	put := func(text string) { fsys["one/SKILL.md"] = &fstest.MapFile{Data: []byte(text)} }
	good := NewLastGood()
	now := func() *Catalog {
		t.Helper()
		c, err := Load(t.Context(), []Root{{Path: "root", FS: fsys}}, &Options{LastGood: good})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const v1 = "---\nname: one\ndescription: The first.\n---\nDo this.\n"
	for _, step := range []struct {
		name, text, description string // "" for no skill
		problem                 bool
	}{
		{"broken from the start", "---\nname: [one\n---\n", "", true},
		{"good", v1, "The first.", false},
		{"broken", "---\nname: [one\n---\n", "The first.", true},
		{"broken otherwise", "\xff\xfe\x00", "The first.", true},
		{"mended", strings.Replace(v1, "first", "second", 1), "The second.", false},
		{"broken again", "---\nname: {\n---\n", "The second.", true},
	} {
		put(step.text)
		c := now()
		s, ok := c.Skill("one")
		if got := ""; ok != (step.description != "") || ok && s.Description != step.description {
			if ok {
				got = s.Description
			}
			t.Errorf("%s: got %q, want %q", step.name, got, step.description)
		}
		if got := len(c.Problems) > 0; got != step.problem {
			t.Errorf("%s: problems %v", step.name, c.Problems)
		}
		if c.Counts.Found != c.Counts.Loaded+c.Counts.Refused {
			t.Errorf("%s: %+v", step.name, c.Counts)
		}
		if !ok {
			continue
		}
		if again, err := c.Source().Read(t.Context(), s.Ref); err != nil || again.Hash != s.Hash || again.Core != "Do this.\n" {
			t.Errorf("%s: read again: %+v, %v", step.name, again, err)
		}
		if step.problem && !strings.Contains(c.Problems[0].What, "stays as it was") {
			t.Errorf("%s: %v", step.name, c.Problems[0])
		}
	}
	source := now().Source()
	delete(fsys, "one/SKILL.md")
	if _, ok := now().Skill("one"); ok {
		t.Error("a skill that was removed is there")
	}
	if _, err := source.Read(t.Context(), Ref{0, "one"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("and can be read: %v", err)
	}
	put("---\nname: [one\n---\n")
	if _, ok := now().Skill("one"); ok {
		t.Error("a new file that is broken has the text of the removed one")
	}
}
