package lockfile

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// As a process of its own the test takes the lock that the environment names
// and waits to be killed.
func TestMain(m *testing.M) {
	path := os.Getenv("LOCKFILE_TO_HOLD")
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := Acquire(context.Background(), path, nil); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("held\n")
	time.Sleep(time.Hour)
}

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".x.lock")
	var inside, most atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			l, err := Acquire(t.Context(), path, func(Holder) {})
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), inside.Add(1)))
			time.Sleep(time.Millisecond)
			inside.Add(-1)
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

func TestWhoHoldsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".x.lock")
	l, err := Acquire(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Acquire(t.Context(), path, nil); !errors.As(err, &held) || held.Holder.PID != os.Getpid() || !strings.Contains(err.Error(), "since 2") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	_, err = Acquire(ctx, path, func(Holder) { asked++; cancel() })
	if !errors.Is(err, context.Canceled) || asked != 1 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("not JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readHolder(path).String(); got != "another process" {
		t.Errorf("unknown holder: %q", got)
	}
	if _, err := Acquire(t.Context(), filepath.Join(t.TempDir(), "none", "x"), nil); err == nil {
		t.Error("in a folder that is not there: no error")
	}
}

// The lock of a process that was killed is free.
func TestDeadHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".x.lock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCKFILE_TO_HOLD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Acquire(t.Context(), path, nil); !errors.As(err, &held) || held.Holder.PID != cmd.Process.Pid {
		t.Errorf("while it lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	l, err := Acquire(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
