package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"skillrouter/cache"
	"skillrouter/cache/cachetest"
)

func open(t *testing.T, dir string, o *Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	cachetest.RunSessions(t, func(t *testing.T, o cachetest.Options) cachetest.Store {
		return open(t, t.TempDir(), &Options{Idle: o.Idle, Now: o.Now, Wait: time.Minute})
	})
}

// Two stores on one folder are what two processes are.
func TestTwoStoresCount(t *testing.T) {
	dir := t.TempDir()
	const each = 20
	var wg sync.WaitGroup
	for range 2 {
		s := open(t, dir, &Options{Wait: time.Minute})
		wg.Go(func() {
			for done := 0; done < each; {
				state, revision, err := s.Load(t.Context(), "a")
				if err != nil && !errors.Is(err, cache.ErrNotFound) {
					t.Error(err)
					return
				}
				switch _, err := s.Save(t.Context(), "a", append(state, 'x'), revision); {
				case err == nil:
					done++
				case !errors.Is(err, cache.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	state, _, err := open(t, dir, nil).Load(t.Context(), "a")
	if err != nil || len(state) != 2*each {
		t.Errorf("%d changes are kept, %v; want %d", len(state), err, 2*each)
	}
}

func TestCapacityAndSweep(t *testing.T) {
	dir := t.TempDir()
	var clock cachetest.Clock
	s := open(t, dir, &Options{Capacity: 3, Idle: time.Hour, Now: clock.Now})
	save := func(key string) {
		t.Helper()
		if _, err := s.Save(t.Context(), key, []byte(key), 0); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Second)
	}
	has := func(want string) {
		t.Helper()
		var got strings.Builder
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			if _, err := os.Stat(s.path(key)); err == nil {
				got.WriteString(key)
			}
		}
		if got.String() != want {
			t.Errorf("files of %q, want %q", got.String(), want)
		}
	}
	for _, key := range []string{"a", "b", "c"} {
		save(key)
	}
	if _, _, err := s.Load(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	save("d") // b was used longest ago
	has("acd")
	clock.Advance(time.Hour - 2*time.Second) // c is idle for too long
	left := filepath.Join(dir, ".x"+suffix+".1.tmp")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	save("e")
	has("de")
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed process left is still there")
	}
	if n, err := s.Len(); n != 2 || err != nil {
		t.Errorf("Len: %d, %v, want 2", n, err)
	}
}

func TestDamagedFileCountsAsNone(t *testing.T) {
	good := encode(7, []byte("state"))
	flipped := bytes.Clone(good)
	flipped[len(magic)+9] ^= 1
	for name, data := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)-1], "flipped": flipped, "longer": append(bytes.Clone(good), 0),
		"another version": append([]byte("skillrouter session 2\n"), good[len(magic):]...), "no revision": encode(0, []byte("state")),
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := open(t, t.TempDir(), &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err := os.WriteFile(s.path("a"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Load(t.Context(), "a"); !errors.Is(err, cache.ErrNotFound) {
				t.Errorf("Load: %v, want ErrNotFound", err)
			}
			if !strings.Contains(log.String(), "damaged") {
				t.Errorf("the log says nothing: %q", log.String())
			}
			if _, err := s.Save(t.Context(), "a", []byte("anew"), 0); err != nil {
				t.Errorf("Save: %v", err)
			}
			if state, _, err := s.Load(t.Context(), "a"); string(state) != "anew" || err != nil {
				t.Errorf("Load after Save: %q, %v", state, err)
			}
		})
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &Options{Wait: 20 * time.Millisecond})
	revision, err := s.Save(t.Context(), "a", []byte("one"), 0)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := s.lock(t.Context(), s.path("a"), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), "a", []byte("two"), revision); !errors.Is(err, ErrLocked) {
		t.Errorf("Save: %v, want ErrLocked", err)
	}
	if err := s.Delete(t.Context(), "a"); !errors.Is(err, ErrLocked) {
		t.Errorf("Delete: %v, want ErrLocked", err)
	}
	if state, _, err := s.Load(t.Context(), "a"); string(state) != "one" || err != nil {
		t.Errorf("Load does not wait: got %q, %v", state, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.lock(ctx, s.path("a"), time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	unlock()
	if _, err := s.Save(t.Context(), "a", []byte("two"), revision); err != nil {
		t.Errorf("Save after the lock is free: %v", err)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for _, o := range []Options{{Capacity: -1}, {Wait: -1}} {
		if _, err := Open(dir, &o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(file, "below"), nil); err == nil {
		t.Error("a folder below a file: no error")
	}
	s := open(t, dir, nil)
	if _, err := s.Save(t.Context(), "a", make([]byte, maxState+1), 0); err == nil {
		t.Error("a state that is too large: no error")
	}
	if err := os.Mkdir(s.path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Load(t.Context(), "folder"); err == nil || errors.Is(err, cache.ErrNotFound) {
		t.Errorf("Load of what is no file: %v, want an error that is not ErrNotFound", err)
	}
}

// The lock of a process that is killed is freed with it: what it locked with is
// a lock of the system, not the mere presence of a file.
func TestLockFilesAreNoLocks(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	l := flock.New(filepath.Join(s.dir, "lock-00"))
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range stripes { // whichever that one is of
		if _, err := s.Save(t.Context(), fmt.Sprint(i), nil, 0); err != nil {
			t.Error(err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(encode(1, nil))
	f.Add(encode(1<<63, []byte("state")))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, revision, ok := decode(data)
		if ok && !bytes.Equal(encode(revision, state), data) {
			t.Errorf("%q is not what encode writes of it", data)
		}
	})
}
