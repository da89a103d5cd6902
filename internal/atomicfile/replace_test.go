package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	broken := errors.New("broken")
	for _, step := range []struct {
		name, want string
		write      func(io.Writer) error
		err        error
	}{
		{"a new file", "one", text("one"), nil},
		{"over an old one", "two", text("two"), nil},
		{"broken midway", "two", func(w io.Writer) error { return errors.Join(text("thr")(w), broken) }, broken},
	} {
		if err := Replace(path, 0o640, step.write); !errors.Is(err, step.err) {
			t.Fatalf("%s: got error %v, want %v", step.name, err, step.err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != step.want {
			t.Errorf("%s: the file holds %q, %v, want %q", step.name, got, err, step.want)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", step.name, info.Mode(), err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("%s: the folder holds %v, %v", step.name, files, err)
		}
	}
	if err := Replace(filepath.Join(dir, "none", "a"), 0o640, text("one")); err == nil {
		t.Error("in a folder that is not there: no error")
	}
}
