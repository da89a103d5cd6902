package definitions

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a bundle gives is what the folders gave, when they are gone.
func TestBundle(t *testing.T) {
	dir := t.TempDir()
	skills, list := filepath.Join(dir, "skills"), filepath.Join(dir, "list.jsonl")
	for name, text := range map[string]string{
		"skills/a/one/SKILL.md":     "---\nname: one\ndescription: The first.\n---\nSee notes.md.\n<!-- extended -->\nMore.\n",
		"skills/a/one/notes.md":     "Notes.\n",
		"skills/a/one/sub/x.txt":    "x\n",
		"skills/a/one/picture.png":  "\x89PNG\x00",
		"skills/two/SKILL.md":       "No front matter.\n",
		"skills/ignored/broken.txt": "no skill",
		"list.jsonl":                "{\"skill\":\"tea\",\"domain\":\"drinks\",\"description\":\"Makes tea\"}\n\n{\"skill\":\"milk\",\"domain\":\"drinks\",\"description\":\"Warms milk\"}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(t.Context(), []Root{{Path: skills}, {Path: list}}, nil)
	if err != nil || len(c.Skills) != 4 {
		t.Fatalf("%+v, %v", c, err)
	}
	bundle, err := c.Bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Bundle(t.Context()); err != nil || !bytes.Equal(bundle, again) {
		t.Errorf("twice: other bytes, %v", err)
	}
	if err := os.WriteFile(list, []byte(strings.Repeat("\n", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Bundle(t.Context()); err == nil {
		t.Error("a list that changed: no error")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s, err := OpenBundle(bundle, c.Source().Roots(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Skills {
		want := c.Skills[i]
		got, err := s.Read(t.Context(), want.Ref)
		if err != nil {
			t.Fatal(err)
		}
		got.ModTime, want.ModTime = time.Time{}, time.Time{}
		var texts []Doc
		for _, d := range want.Docs {
			if d.Text {
				texts = append(texts, d)
			}
		}
		want.Docs = texts
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Name, diff)
		}
	}
	one, _ := c.Skill("one")
	if text, err := s.Doc(t.Context(), one.Ref, "sub/x.txt"); err != nil || string(text) != "x\n" {
		t.Errorf("a document: %q, %v", text, err)
	}
	for _, ref := range []Ref{{0, "none"}, {1, "2"}, {1, "x"}, {5, "one"}} {
		if _, err := s.Read(t.Context(), ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %v", ref, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range c.Skills {
		if _, err := s.Read(t.Context(), c.Skills[i].Ref); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
	if _, err := OpenBundle(bundle[:len(bundle)/2], nil, nil); err == nil {
		t.Error("half a bundle: no error")
	}
}
