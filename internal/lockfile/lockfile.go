// Package lockfile lets one process at a time work on something, and tells the
// others which one it is.
package lockfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// A Holder is the process that holds a lock. The zero Holder is unknown: it has
// only just taken the lock, or the system lets nobody read who it is.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Start time.Time `json:"start"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Start.Local().Format("2006-01-02 15:04:05"))
}

// A HeldError says that another process holds a lock.
type HeldError struct {
	Path   string // of the lock
	Holder Holder
}

func (e *HeldError) Error() string { return fmt.Sprintf("%s is held by %s", e.Path, e.Holder) }

// A Lock is held until Release, or until the process ends, however it does: the
// system sees to that, so a file that a dead process left holds nobody up.
type Lock struct{ file *flock.Flock }

const look = 50 * time.Millisecond // between looks whether the lock is free

// Acquire takes the lock at path, a file that is made for it in a folder that
// must be there. If another process has it, a nil waiting makes that a
// [HeldError]; any other is called once with the holder, and Acquire waits
// until the lock is free or ctx ends.
func Acquire(ctx context.Context, path string, waiting func(Holder)) (*Lock, error) {
	for {
		f := flock.New(path, flock.SetPermissions(0o644))
		mine, err := f.TryLock()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if mine && stillThere(f) {
			h := Holder{PID: os.Getpid(), Start: time.Now().UTC().Truncate(time.Second)}
			h.Host, _ = os.Hostname() // only to be shown
			text, err := json.Marshal(h)
			if err != nil {
				return nil, errors.Join(err, f.Close())
			}
			_ = os.WriteFile(path, append(text, '\n'), 0o644) // Windows refuses it to all: the holder is unknown there
			return &Lock{f}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		if !mine {
			holder := readHolder(path)
			if waiting == nil {
				return nil, &HeldError{path, holder}
			}
			waiting(holder)
			waiting = func(Holder) {}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(look):
		}
	}
}

// stillThere tells whether the locked file is the one at the path: the holder
// before may have removed it just then.
func stillThere(f *flock.Flock) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Path())
	return err == nil && os.SameFile(locked, there)
}

// readHolder says who holds the lock; nobody known if it cannot be told.
func readHolder(path string) Holder {
	var h Holder
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{}
	}
	return h
}

// Release gives the lock back and removes its file, where an open file can be.
func (l *Lock) Release() error {
	_ = os.Remove(l.file.Path()) // first: once it is unlocked it may be another's
	return l.file.Close()
}
