package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A watch writes the file at first and at each edit, and keeps a skill whose
// file is broken.
func TestIndexWatch(t *testing.T) {
	t.Chdir(t.TempDir())
	edit := func(name, text string) {
		t.Helper()
		path := filepath.Join("skills", name, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
	}
	edit("sheep", "---\nname: sheep\ndescription: Counts sheep.\n---\n")
	outReader, out := io.Pipe()
	errReader, stderr := io.Pipe()
	a := &app{in: strings.NewReader(""), out: &writer{w: out}, err: stderr, env: func(string) string { return "" }}
	ctx, cancel := context.WithCancel(t.Context())
	status := make(chan int, 1)
	go func() {
		status <- a.main(ctx, []string{"index", "watch", "x.idx", "--skills", "skills", "--no-cache"})
		_, _ = out.Close(), stderr.Close()
	}()
	results, talk := bufio.NewScanner(outReader), bufio.NewScanner(errReader)
	next := func(s *bufio.Scanner, want string) {
		t.Helper()
		if !s.Scan() || !strings.Contains(s.Text(), want) {
			t.Fatalf("got %q, want %q in it", s.Text(), want)
		}
	}
	next(talk, "watching what x.idx is built of")
	next(results, "x.idx, 1 skill: added 1: sheep")
	edit("soup", "---\nname: soup\ndescription: Cooks soup.\n---\nBoil.\n")
	next(results, "x.idx, 2 skills: added 1: soup")
	edit("sheep", "---\nname: [sheep\n---\n")
	next(results, "x.idx, 2 skills: changed no skill")
	next(talk, "the skill stays as it was")
	if err := os.Rename("skills", "elsewhere"); err != nil {
		t.Fatal(err)
	}
	next(talk, "x.idx: left as it is: stat ")
	cancel()
	if got := <-status; got != 0 {
		t.Errorf("status %d", got)
	}
	if r := runWith(t, "", false, nil, "index", "watch", "x.idx", "--poll", "0s"); r.status != 2 {
		t.Errorf("--poll 0s: status %d", r.status)
	}
}
