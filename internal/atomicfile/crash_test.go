package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var errCrash = errors.New("the machine stopped")

// A machine stops at its n-th call: from then on nothing is done any more.
type machine struct {
	disk
	left int
}

func (m *machine) step() error {
	if m.left--; m.left < 0 {
		return errCrash
	}
	return nil
}

func (m *machine) create(dir, pattern string) (file, error) {
	if err := m.step(); err != nil {
		return nil, err
	}
	f, err := m.disk.create(dir, pattern)
	return &onMachine{f, m}, err
}

func (m *machine) rename(from, to string) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.disk.rename(from, to)
}

func (m *machine) remove(name string) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.disk.remove(name)
}

type onMachine struct {
	file
	m *machine
}

// Write is cut where the machine stops: half of it is there.
func (f *onMachine) Write(p []byte) (int, error) {
	if err := f.m.step(); err != nil {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, err
	}
	return f.file.Write(p)
}

func (f *onMachine) Chmod(mode fs.FileMode) error {
	if err := f.m.step(); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f *onMachine) Sync() error {
	if err := f.m.step(); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *onMachine) Close() error {
	if err := f.m.step(); err != nil {
		return errors.Join(err, f.file.Close()) // as the system does for the dead
	}
	return f.file.Close()
}

// Wherever the machine stops: the old file is there or the new one, never
// neither, and a later run is not in the way of what was left.
func TestStoppedAtEachCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("the old one"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer) error {
		for _, part := range []string{"the new ", "one, ", "longer"} {
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		return nil
	}
	for n := 0; ; n++ {
		err := replace(&machine{left: n}, path, 0o600, write)
		got, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatalf("stopped at call %d: %v", n, readErr)
		}
		want := "the old one"
		if err == nil {
			want = "the new one, longer"
		}
		if string(got) != want {
			t.Fatalf("stopped at call %d: the file holds %q, want %q", n, got, want)
		}
		if err == nil {
			if n < 8 {
				t.Errorf("only %d calls: the test does not see them all", n)
			}
			break
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
}
