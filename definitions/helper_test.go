package definitions

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// write puts files below dir; a text "-> x" makes a link to x.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// memory is the same in memory.
func memory(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		f := &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			f.Data, f.Mode = []byte(target), fs.ModeSymlink|0o777
		}
		m[name] = f
	}
	return m
}

// load loads and checks that every file found is accounted for.
func load(t testing.TB, roots []Root, opts *Options) *Catalog {
	t.Helper()
	c, err := Load(context.Background(), roots, opts)
	if err != nil {
		t.Fatal(err)
	}
	n := c.Counts
	if n.Found != n.Loaded+n.Shadowed+n.Refused+n.Nested || n.Loaded != len(c.Skills) || n.Shadowed != len(c.Shadowed) {
		t.Errorf("counts do not add up: %+v, %d skills, %d shadowed", n, len(c.Skills), len(c.Shadowed))
	}
	return c
}

func loadFiles(t testing.TB, files map[string]string, opts *Options) *Catalog {
	t.Helper()
	return load(t, []Root{{Path: "root", FS: memory(files)}}, opts)
}

// skill is a plain SKILL.md.
func skill(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n# " + name + "\n\nBody of " + name + ".\n"
}

func names(c *Catalog) string {
	var out []string
	for _, s := range c.Skills {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

// kinds lists the problems as "file:line kind", refused ones with "!".
func kinds(c *Catalog) string {
	var out []string
	for _, p := range c.Problems {
		p.What = p.Kind
		s := strings.Replace(p.String(), ": ", " ", 1)
		if p.Refused {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func problem(t testing.TB, c *Catalog, kind string) Problem {
	t.Helper()
	for _, p := range c.Problems {
		if p.Kind == kind {
			return p
		}
	}
	t.Fatalf("no problem %q among:\n%s", kind, kinds(c))
	return Problem{}
}
