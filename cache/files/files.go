// Package files keeps the states of sessions in a folder, a file each, for
// processes that come and go: what cache keeps for one process, and redis for
// several servers.
//
// A file holds the revision, the state and a checksum, and is named by a hash
// of the session's key. Load reads one file without a lock; Save and Delete
// hold one of 64 lock files, which the system frees when a process dies. The
// locks need a local disk.
package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"skillrouter/cache"
	"skillrouter/internal/atomicfile"
)

// ErrLocked is returned, wrapped, when another process holds the lock of a
// session for longer than Options.Wait. Nothing was changed.
var ErrLocked = errors.New("another process holds the lock")

// Options are the options of [Open].
type Options struct {
	Capacity int              // sessions; 0 means 1,000. The one used longest ago goes first
	Idle     time.Duration    // a session not loaded or saved for so long is gone; 0 means 7 days, negative: no limit
	Wait     time.Duration    // for a lock; 0 means 250 ms
	Now      func() time.Time // the clock; nil means time.Now
	Logger   *slog.Logger     // damaged files at warn; nil discards
}

// A Store keeps sessions as [cache.Sessions] does, and under the same
// contract, but in files that several processes may use at once. Besides
// [cache.ErrNotFound], [cache.ErrConflict] and the context's, its errors are
// [ErrLocked] and those of the file system.
//
// A file that is damaged counts as none, with a warning: the session begins
// anew. A file's time is when the session was last used. Sessions that are idle
// for too long, and those above Capacity, are removed when a new one is saved,
// which therefore reads the folder.
//
// All methods are safe for concurrent use.
type Store struct {
	dir      string
	capacity int
	idle     time.Duration
	wait     time.Duration
	now      func() time.Time
	log      *slog.Logger
}

const (
	magic  = "skillrouter session 1\n"
	suffix = ".session"
	// maxState is far above what a session takes.
	maxState = 1 << 20
	// stripes is how many lock files there are. They are never removed: a lock
	// on a removed file would keep nobody out.
	stripes = 64
	// retry is how often a lock that is held is asked for again.
	retry = 2 * time.Millisecond
)

// Open returns the store in dir, which is made if it is not there, for this
// user alone. A nil opts means the zero [Options]. The error names the option
// that is wrong, or says why there can be no folder.
func Open(dir string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Capacity < 0 {
		return nil, fmt.Errorf("files: Capacity %d is negative; sessions have a bound, and 0 means the default", o.Capacity)
	}
	if o.Wait < 0 {
		return nil, fmt.Errorf("files: Wait %v is negative; a lock is waited for a bounded time, and 0 means the default", o.Wait)
	}
	if o.Capacity == 0 {
		o.Capacity = 1000
	}
	if o.Idle == 0 {
		o.Idle = 7 * 24 * time.Hour
	}
	if o.Wait == 0 {
		o.Wait = 250 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return &Store{dir, o.Capacity, o.Idle, o.Wait, o.Now, o.Logger}, nil
}

// Load returns a session's state, and the revision to save its successor with.
func (s *Store) Load(ctx context.Context, key string) (state []byte, revision uint64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	path := s.path(key)
	state, revision, err = s.read(path)
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("files: session %q: %w", key, err)
	case revision == 0:
		return nil, 0, fmt.Errorf("files: session %q: %w", key, cache.ErrNotFound)
	}
	now := s.now()
	if err := os.Chtimes(path, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("files: session %q: %w", key, err)
	}
	return state, revision, nil
}

// Save keeps state if revision is still the one of the session, 0 for a
// session that must not exist yet, and returns the new revision.
func (s *Store) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	switch err := ctx.Err(); {
	case err != nil:
		return 0, err
	case key == "":
		return 0, errors.New("files: a session needs a key that is not empty")
	case len(state) > maxState:
		return 0, fmt.Errorf("files: session %q: a state of %d bytes, at most %d", key, len(state), maxState)
	}
	saved, err := s.save(ctx, key, state, revision)
	if err != nil {
		return 0, fmt.Errorf("files: session %q: %w", key, err)
	}
	if revision == 0 {
		s.sweep(s.path(key))
	}
	return saved, nil
}

func (s *Store) save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	path := s.path(key)
	unlock, err := s.lock(ctx, path, s.wait)
	if err != nil {
		return 0, err
	}
	defer unlock()
	_, current, err := s.read(path)
	if err != nil {
		return 0, err
	}
	if current != revision {
		return 0, cache.ErrConflict
	}
	// A random one never comes again, also where the file was removed.
	next := rand.Uint64()
	for next == 0 || next == current {
		next = rand.Uint64()
	}
	err = atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(encode(next, state))
		return err
	})
	if err != nil {
		return 0, err
	}
	now := s.now()
	return next, os.Chtimes(path, now, now)
}

// Delete drops a session. One that is not there is fine.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := s.path(key)
	unlock, err := s.lock(ctx, path, s.wait)
	if err == nil {
		defer unlock()
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("files: session %q: %w", key, err)
	}
	return nil
}

// Len returns the number of sessions, those included that are idle for too long
// but not yet removed.
func (s *Store) Len() (int, error) {
	all, _, err := s.list()
	return len(all), err
}

// path is where a session is kept. Keys are hashed because they may hold
// anything and differ in case alone.
func (s *Store) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+suffix)
}

// read returns what a file holds; revision 0 means that there is no session.
func (s *Store) read(path string) (state []byte, revision uint64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if s.over(info) {
		return nil, 0, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(len(magic)+8+maxState+4+1)))
	if err != nil {
		return nil, 0, err
	}
	state, revision, ok := decode(data)
	if !ok {
		s.log.Warn("a damaged session file counts as none", "file", filepath.Base(path))
	}
	return state, revision, nil
}

func (s *Store) over(info fs.FileInfo) bool {
	return s.idle > 0 && s.now().Sub(info.ModTime()) >= s.idle
}

// encode is the content of a file.
func encode(revision uint64, state []byte) []byte {
	data := make([]byte, 0, len(magic)+8+len(state)+4)
	data = append(data, magic...)
	data = binary.BigEndian.AppendUint64(data, revision)
	data = append(data, state...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
}

// decode reads what encode wrote; ok is false for anything else.
func decode(data []byte) (state []byte, revision uint64, ok bool) {
	end := len(data) - 4
	if end < len(magic)+8 || !bytes.HasPrefix(data, []byte(magic)) ||
		binary.BigEndian.Uint32(data[end:]) != crc32.ChecksumIEEE(data[:end]) {
		return nil, 0, false
	}
	revision = binary.BigEndian.Uint64(data[len(magic):])
	if revision == 0 {
		return nil, 0, false
	}
	return data[len(magic)+8 : end], revision, true
}

// lock waits until no other has the lock of the file at path, for at most wait;
// 0 means not at all.
func (s *Store) lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	first, err := hex.DecodeString(filepath.Base(path)[:2])
	if err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(s.dir, fmt.Sprintf("lock-%02d", first[0]%stripes)), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if !ok && err == nil && wait > 0 {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if ok, err = l.TryLockContext(limited, retry); ctx.Err() == nil && limited.Err() != nil {
			err = nil
		}
	}
	switch {
	case ok:
		return func() { _ = l.Close() }, nil // the system frees it in any case
	case err == nil:
		err = ErrLocked
	}
	return nil, err
}

// A file of the folder.
type file struct {
	path string
	info fs.FileInfo
}

// list returns the sessions of the folder, and what processes left that were
// killed while they wrote.
func (s *Store) list() (sessions, torn []file, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("files: %w", err)
	}
	for _, e := range entries {
		to := &sessions
		if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp") {
			to = &torn
		} else if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		if info, err := e.Info(); err == nil { // else it is gone meanwhile
			*to = append(*to, file{filepath.Join(s.dir, e.Name()), info})
		}
	}
	return sessions, torn, nil
}

// sweep removes sessions that are idle for too long and, above the capacity,
// those used longest ago, but never the one at keep. What cannot be removed now
// is left to the next sweep.
func (s *Store) sweep(keep string) {
	all, torn, err := s.list()
	if err != nil {
		return
	}
	slices.SortFunc(all, func(a, b file) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	for i, f := range all {
		if f.path != keep && (s.over(f.info) || i < len(all)-s.capacity) {
			s.drop(f)
		}
	}
	for _, f := range torn {
		if time.Since(f.info.ModTime()) > time.Hour {
			_ = os.Remove(f.path) // the next sweep tries again
		}
	}
}

// drop removes a file unless it is being used or was used since.
func (s *Store) drop(f file) {
	unlock, err := s.lock(context.Background(), f.path, 0)
	if err != nil {
		return
	}
	defer unlock()
	if info, err := os.Stat(f.path); err == nil && info.ModTime().Equal(f.info.ModTime()) {
		_ = os.Remove(f.path) // the next sweep tries again
	}
}
