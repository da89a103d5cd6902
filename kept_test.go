package skillrouter_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrouter"
)

func TestKept(t *testing.T) {
	ctx := t.Context()
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "kept [here]*")
	write(t, dir, "soup", soup)
	o := &skillrouter.Options{CacheDir: cache}
	if _, err := skillrouter.FindKept(o, dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before the first Open: got %v, want fs.ErrNotExist", err)
	}
	open(t, o, dir)
	find := func() *skillrouter.Kept {
		t.Helper()
		k, err := skillrouter.FindKept(o, dir)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	changed := func(k *skillrouter.Kept, want bool) {
		t.Helper()
		if got, err := k.Changed(ctx); err != nil || got != want {
			t.Errorf("Changed: got %v, %v, want %v", got, err, want)
		}
	}
	k := find()
	changed(k, false)

	// The folder grows: the index kept is used all the same.
	write(t, dir, "stew", strings.ReplaceAll(soup, "soup", "stew"))
	changed(k, true)
	r, err := k.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(r.Index().Skills()); got != 1 {
		t.Errorf("%d skills, want the 1 that was there when it was built", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}

	// Another process replaces it between FindKept and Open.
	open(t, o, dir)
	if r, err = k.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if got := len(r.Index().Skills()); got != 2 {
		t.Errorf("%d skills, want the 2 of the newer index", got)
	}
	changed(k, false)
	if got := find().File; got != k.File {
		t.Errorf("the index found is %s, the one opened %s", got, k.File)
	}

	for name, opts := range map[string]*skillrouter.Options{"other options": {CacheDir: cache, Depth: 1}, "no folder to keep it in": nil} {
		if _, err := skillrouter.FindKept(opts, dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want fs.ErrNotExist", name, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := k.Changed(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("Changed with a context that has ended: got %v", err)
	}
}

func TestAnIndexFileIsKept(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "soup", soup)
	file := filepath.Join(t.TempDir(), "skills.idx")
	if err := open(t, nil, dir).Index().WriteFile(file); err != nil {
		t.Fatal(err)
	}
	k, err := skillrouter.FindKept(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.Open(t.Context())
	if err != nil || len(r.Index().Skills()) != 1 {
		t.Fatalf("got %v, want the index of one skill", err)
	}
	defer r.Close()
	if changed, err := k.Changed(t.Context()); err != nil || changed {
		t.Errorf("Changed: got %v, %v", changed, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Open(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: got %v, want fs.ErrNotExist", err)
	}
}
