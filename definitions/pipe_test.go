//go:build unix

package definitions

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe that nobody writes to must not be opened: that would wait for ever.
func TestLoadOpensNoPipes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/SKILL.md": skill("a", "d"), "a/link.md": "-> pipe", "b/x.md": "x", "c/SKILL.md": "-> pipe"})
	for _, name := range []string{"a/pipe", "b/SKILL.md", "c/pipe", "skillrouter.yaml"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
	}
	c := load(t, []Root{{Path: dir}}, nil)
	if got := names(c); got != "a" || len(c.Files) != 0 {
		t.Errorf("skills %q, files %v", got, c.Files)
	}
	for _, kind := range []string{"link-document", "not-a-file", "link-not-file", "settings-file"} {
		problem(t, c, kind)
	}
}
