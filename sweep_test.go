package skillrouter

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, size int, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	put("aaaaaaaaaaaaaaaa-1111111111111111.idx", 10, 0)
	put("bbbbbbbbbbbbbbbb-1111111111111111.idx", 10, day)
	put("cccccccccccccccc-1111111111111111.idx", 10, 2*day) // beyond the bound
	put("dddddddddddddddd-1111111111111111.idx", 10, 40*day)
	put("skills.idx", 10, 400*day) // not of ours
	put(".aaaaaaaaaaaaaaaa-1111111111111111.idx.123.tmp", 10, day)
	put(".aaaaaaaaaaaaaaaa-1111111111111111.idx.456.tmp", 10, 0) // is being written
	put("state/new.json", 1, day)
	put("state/old.json", 1, 100*day)
	left := func() []string {
		var names []string
		for _, pattern := range []string{"*", ".*.tmp", "state/*"} {
			paths, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range paths {
				if info, err := os.Stat(p); err == nil && !info.IsDir() {
					rel, _ := filepath.Rel(dir, p)
					names = append(names, filepath.ToSlash(rel))
				}
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	sweep(dir, 25)
	want := []string{
		".aaaaaaaaaaaaaaaa-1111111111111111.idx.456.tmp", "aaaaaaaaaaaaaaaa-1111111111111111.idx",
		"bbbbbbbbbbbbbbbb-1111111111111111.idx", "skills.idx", "state/new.json",
	}
	if diff := cmp.Diff(want, left()); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	// What is in use stays, whatever it weighs.
	use(filepath.Join(dir, "bbbbbbbbbbbbbbbb-1111111111111111.idx"))
	sweep(dir, 1)
	if got := left(); len(got) != 4 {
		t.Errorf("left %q", got)
	}
	put(".x.idx.1.tmp", 1, day)
	put(".x.idx.2.tmp", 1, 0)
	if err := sweepTorn(filepath.Join(dir, "x.idx")); err != nil {
		t.Error(err)
	}
	if got := left(); slices.Contains(got, ".x.idx.1.tmp") || !slices.Contains(got, ".x.idx.2.tmp") {
		t.Errorf("left %q", got)
	}
}
