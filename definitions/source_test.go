package definitions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSourceReadsWhatLoadRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"skills/g/a/SKILL.md": skill("a", "Does a.") + "See guide.md.\n<!-- extended -->\nMore.\n", "skills/g/a/guide.md": "text",
		"alone/SKILL.md": skill("alone", "Does it."),
		"c.jsonl":        "\ufeff{\"skill\": \"one\", \"description\": \"First.\"}\r\n\r\n{\"skill\": \"two\", \"description\": \"Second.\", \"triggers\": \"x|y\"}",
	})
	roots := []Root{
		{Path: filepath.Join(dir, "skills")},
		{Path: filepath.Join(dir, "alone")},
		{Path: filepath.Join(dir, "c.jsonl")},
		{Path: "memory", FS: memory(map[string]string{"m/SKILL.md": skill("m", "In memory.")})},
	}
	c := load(t, roots, nil)
	if got, want := names(c), "a alone one two m"; got != want {
		t.Fatalf("skills %q, want %q", got, want)
	}
	src := c.Source()
	for _, want := range c.Skills {
		got, err := src.Read(context.Background(), want.Ref)
		if err != nil {
			t.Errorf("%s: %v", want.Name, err)
			continue
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-loaded +read):\n%s", want.Name, diff)
		}
	}
	if changed, err := src.Changed(context.Background()); changed || err != nil {
		t.Errorf("changed: %v, %v", changed, err)
	}
}

func TestSourceMisses(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"r/a/SKILL.md": skill("a", "d"), "r/b/SKILL.md": skill("b", "d"), "r/c.jsonl": "{\"skill\": \"one\"}\n", "secret/SKILL.md": skill("s", "d")})
	roots := []Root{{Path: filepath.Join(dir, "r")}, {Path: filepath.Join(dir, "r", "c.jsonl")}}
	src := load(t, roots, nil).Source()
	ctx := context.Background()
	for _, ref := range []Ref{{0, "gone"}, {2, "a"}, {-1, "a"}, {1, "2"}, {1, "0"}, {1, "x"}, {0, ""}} {
		if s, err := src.Read(ctx, ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read(%v) = %v, %v, want fs.ErrNotExist", ref, s, err)
		}
	}
	for _, name := range []string{"../secret", "/etc", "a/../../secret", "a//", filepath.Join(dir, "secret")} {
		if s, err := src.Read(ctx, Ref{0, name}); err == nil {
			t.Errorf("Read of %q = %v", name, s)
		}
	}
	write(t, dir, map[string]string{"r/b/SKILL.md": "---\nname: [\n---\n"})
	if _, err := src.Read(ctx, Ref{0, "b"}); err == nil || !strings.Contains(err.Error(), "b/SKILL.md:2: front matter: name") {
		t.Errorf("a skill that is refused now: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := src.Read(done, Ref{0, "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("ctx has ended: %v", err)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if _, err := src.Read(ctx, Ref{0, "a"}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := src.Changed(ctx); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestSourceDocs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"r/a/SKILL.md": skill("a", "d"), "r/a/guide.md": "the guide", "r/a/sub/x.md": "x", "r/a/bin": "a\x00b", "r/a/late": strings.Repeat("x", 600) + "\x00",
		"r/a/large.md": strings.Repeat("x", 256<<10+1), "r/a/out": "-> ../../secret", "r/a/dir": "-> ../b", "r/a/in": "-> sub/x.md", "r/a/other": "-> ../b/note.md", "r/b/note.md": "b's", "secret": "secret",
		"r/a/node_modules/m.md": "m", "r/c.jsonl": "{\"skill\": \"one\"}\n",
	})
	src := load(t, []Root{{Path: filepath.Join(dir, "r")}, {Path: filepath.Join(dir, "r", "c.jsonl")}}, nil).Source()
	ctx := context.Background()
	for name, want := range map[string]string{"guide.md": "the guide", "sub/x.md": "x", "in": "x"} {
		if got, err := src.Doc(ctx, Ref{0, "a"}, name); err != nil || string(got) != want {
			t.Errorf("Doc(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{
		"", ".", "gone.md", "../b/note.md", "sub/../guide.md", "references/../../../../etc/passwd", "/etc/passwd", filepath.Join(dir, "secret"),
		"out", "other", "dir/note.md", "SKILL.md", "sub", "node_modules/m.md", `sub\x.md`,
	} {
		if got, err := src.Doc(ctx, Ref{0, "a"}, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Doc(%q) = %q, %v, want fs.ErrNotExist", name, got, err)
		}
	}
	for name, want := range map[string]string{"bin": "no UTF-8 text", "late": "no UTF-8 text", "large.md": "over 262144 bytes"} {
		if _, err := src.Doc(ctx, Ref{0, "a"}, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Doc(%q): %v, want %q", name, err, want)
		}
	}
	if _, err := src.Doc(ctx, Ref{1, "1"}, "guide.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a document of a .jsonl skill: %v", err)
	}
}

func TestSourceChanged(t *testing.T) {
	tests := []struct {
		name   string
		change func(dir string) error
		want   bool
	}{
		{"nothing", func(string) error { return nil }, false},
		{"a skill is added", func(dir string) error { return os.Rename(filepath.Join(dir, "aside"), filepath.Join(dir, "r/new")) }, true},
		{"a skill is removed", func(dir string) error { return os.RemoveAll(filepath.Join(dir, "r/a")) }, true},
		{"a skill is longer", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "r/a/SKILL.md"), []byte(skill("a", "longer")), 0o644)
		}, true},
		{"a time is another", func(dir string) error {
			return os.Chtimes(filepath.Join(dir, "r/a/SKILL.md"), time.Time{}, time.Unix(1, 0))
		}, true},
		{"settings appear", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "r/skillrouter.yaml"), nil, 0o644)
		}, true},
		{"a link leads elsewhere", func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "r/link")); err != nil {
				return err
			}
			return os.Symlink("nowhere", filepath.Join(dir, "r/link"))
		}, true},
		{"settings lead nowhere", func(dir string) error {
			return os.Symlink("nowhere", filepath.Join(dir, "r/skillrouter.yaml"))
		}, true},
		{"the .jsonl is longer", func(dir string) error { return os.WriteFile(filepath.Join(dir, "c.jsonl"), []byte("{}\n{}\n"), 0o644) }, true},
		{"a missing root appears", func(dir string) error { return os.Rename(filepath.Join(dir, "r"), filepath.Join(dir, "later")) }, true},
		{"a text that is no skill", func(dir string) error { return os.WriteFile(filepath.Join(dir, "r/README.md"), []byte("x"), 0o644) }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"r/a/SKILL.md": skill("a", "d"), "aside/SKILL.md": skill("aside", "d"), "c.jsonl": "{\"skill\": \"one\"}\n", "r/link": "-> ../aside"})
			src := load(t, []Root{{Path: filepath.Join(dir, "r")}, {Path: filepath.Join(dir, "later")}, {Path: filepath.Join(dir, "c.jsonl")}}, nil).Source()
			if err := test.change(dir); err != nil {
				t.Fatal(err)
			}
			if got, err := src.Changed(context.Background()); got != test.want || err != nil {
				t.Errorf("changed %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestSourceIsSafeForConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/SKILL.md": skill("a", "d"), "a/guide.md": "text"})
	src := load(t, []Root{{Path: dir}}, nil).Source()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := src.Read(context.Background(), Ref{0, "a"}); err != nil {
				t.Error(err)
			}
			if _, err := src.Doc(context.Background(), Ref{0, "a"}, "guide.md"); err != nil {
				t.Error(err)
			}
			if _, err := src.Changed(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
