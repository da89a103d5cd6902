package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// watched runs a watch and returns a function that waits for the next look.
func watched(t *testing.T, o *Options, places ...string) (next func(what string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	looks, done := make(chan struct{}), make(chan error)
	go func() {
		done <- Run(ctx, places, o, func(ctx context.Context) {
			select {
			case looks <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ends with %v", err)
		}
	})
	return func(what string) {
		t.Helper()
		select {
		case <-looks:
		case <-time.After(20 * time.Second): // far from what it takes
			t.Fatalf("%s: no look", what)
		}
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(time.Now().String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whatever is done to the places is seen, without polling.
func TestEdits(t *testing.T) {
	dir := t.TempDir()
	skills, list, later := filepath.Join(dir, "skills"), filepath.Join(dir, "list.jsonl"), filepath.Join(dir, "not", "yet", "there")
	writeFile(t, filepath.Join(skills, "one", "SKILL.md"))
	writeFile(t, list)
	next := watched(t, &Options{Quiet: 5 * time.Millisecond, Poll: -1, Unheard: func(err error) { t.Error(err) }}, skills, list, later)
	next("at first")
	steps := []struct {
		name string
		do   func() error
	}{
		{"a file changes", func() error { writeFile(t, filepath.Join(skills, "one", "SKILL.md")); return nil }},
		{"a folder appears", func() error { writeFile(t, filepath.Join(skills, "two", "deep", "SKILL.md")); return nil }},
		{"a file in it changes", func() error { writeFile(t, filepath.Join(skills, "two", "deep", "SKILL.md")); return nil }},
		{"a folder is renamed", func() error { return os.Rename(filepath.Join(skills, "two"), filepath.Join(skills, "three")) }},
		{"a file below it changes", func() error { writeFile(t, filepath.Join(skills, "three", "deep", "SKILL.md")); return nil }},
		{"a folder goes", func() error { return os.RemoveAll(filepath.Join(skills, "three")) }},
		{"a list is replaced", func() error {
			writeFile(t, filepath.Join(dir, "list.jsonl.tmp"))
			return os.Rename(filepath.Join(dir, "list.jsonl.tmp"), list)
		}},
		{"a place appears", func() error { writeFile(t, filepath.Join(later, "four", "SKILL.md")); return nil }},
		{"a file in it changes", func() error { writeFile(t, filepath.Join(later, "four", "SKILL.md")); return nil }},
		{"a place goes", func() error { return os.RemoveAll(skills) }},
		{"and comes back", func() error { writeFile(t, filepath.Join(skills, "one", "SKILL.md")); return nil }},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(err)
		}
		next(s.name)
	}
}

func TestPolls(t *testing.T) {
	next := watched(t, &Options{Poll: time.Millisecond}, t.TempDir())
	for i := range 5 {
		next(fmt.Sprint("look ", i))
	}
}

// What does not concern the places is not looked at.
func TestConcerns(t *testing.T) {
	w := watcher{places: []string{"/a/b", "/c.jsonl"}}
	for path, want := range map[string]bool{"/a/b": true, "/a/b/x": true, "/a": true, "/a/bc": false, "/c.jsonl": true, "/c.jsonl.tmp": false, "/d": false} {
		if got := w.concerns(path); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// Many edits at a time are few looks, and a stream of them is not held back for
// ever.
func TestQuiet(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var looks atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = Run(ctx, []string{dir}, &Options{Quiet: 30 * time.Millisecond, Poll: -1}, func(context.Context) { looks.Add(1) })
	}()
	edits := 0
	for end := time.Now().Add(20 * time.Second); looks.Load() < 3 && time.Now().Before(end); edits++ {
		writeFile(t, filepath.Join(dir, "x", "SKILL.md"))
		time.Sleep(2 * time.Millisecond)
	}
	cancel()
	<-done
	if n := int(looks.Load()); n < 3 || n > edits/2 {
		t.Errorf("%d looks at %d edits", n, edits)
	}
}

// Nothing is left of a watch: no goroutine, no open file.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a", "SKILL.md"))
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0 // not on this system
		}
		return len(entries)
	}
	run := func() {
		ctx, cancel := context.WithCancel(t.Context())
		_ = Run(ctx, []string{dir}, nil, func(context.Context) { cancel() })
	}
	run() // what the runtime opens once
	routines, open := runtime.NumGoroutine(), files()
	for range 20 {
		run()
	}
	for range 100 { // those that have ended go a little later
		if runtime.NumGoroutine() <= routines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n, m := runtime.NumGoroutine(), files(); n > routines || m > open {
		t.Errorf("%d goroutines, before %d; %d files, before %d", n, routines, m, open)
	}
}
