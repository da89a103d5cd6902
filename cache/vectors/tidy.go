package vectors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// manySegments is the number of segments of an embedder from which they are put
// together.
const manySegments = 16

// note touches the segments that were of use, so that the others are older.
// Where room is short, segments that hardly were give what was used to our own
// instead: they may go then.
func (s *shelf) note(short bool) error {
	now := time.Now()
	for _, g := range s.segments {
		switch {
		case len(g.used) == 0 || g == s.own:
		case !short || 2*len(g.used) >= len(g.keys):
			// A segment that was removed meanwhile is no loss now.
			if err := os.Chtimes(g.file.Name(), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("vectors: %w", err)
			}
		default:
			if err := s.move(g, func(record int) bool { return g.used[record] }); err != nil {
				return err
			}
		}
	}
	return nil
}

// move copies the records of g that are wanted to our own segment.
func (s *shelf) move(g *segment, wanted func(record int) bool) error {
	if s.own == nil {
		own, err := createSegment(s.dir, s.embedder, g.dim)
		if err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
		s.own = own
		s.segments = append(s.segments, own)
	}
	for i, key := range g.keys {
		if at, ok := s.places[key]; !ok || at.segment != g || at.record != i || !wanted(i) {
			continue // it stands in another segment too
		}
		v, ok := g.read(i)
		if !ok {
			continue
		}
		if err := s.own.append([][32]byte{key}, [][]float32{v}); err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
		s.places[key] = spot{s.own, len(s.own.keys) - 1}
	}
	return nil
}

// tidy puts segments together where there are many, and removes the oldest
// beyond the bound. One process at a time does.
func (c *Cache) tidy() error {
	if _, err := os.Stat(c.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock := flock.New(filepath.Join(c.dir, "lock"), flock.SetPermissions(0o600))
	mine, err := lock.TryLock()
	if err != nil {
		return errors.Join(fmt.Errorf("vectors: %w", err), lock.Close())
	}
	if !mine {
		return lock.Close()
	}
	var errs []error
	for _, s := range c.shelves {
		if len(s.segments) > manySegments {
			errs = append(errs, s.merge())
		}
	}
	errs = append(errs, sweep(c.dir, c.maxBytes), lock.Close())
	return errors.Join(errs...)
}

// merge puts all segments but the largest into our own and removes them. Who
// has them open reads on; who comes too late embeds again what little it was.
func (s *shelf) merge() error {
	largest := s.segments[0]
	for _, g := range s.segments {
		if g != s.own && len(g.keys) > len(largest.keys) {
			largest = g
		}
	}
	for _, g := range slices.Clone(s.segments) {
		if g == s.own || g == largest {
			continue
		}
		if err := s.move(g, func(int) bool { return true }); err != nil {
			return err
		}
		_ = os.Remove(g.file.Name()) // where an open file cannot be removed, the next one does
	}
	return nil
}

// A file of the cache, to sweep.
type file struct {
	path string
	size int64
	time time.Time
}

// sweep removes the segments that were not used for longest until all together
// have at most so many bytes.
func sweep(dir string, most int64) error {
	files, err := list(dir)
	if err != nil || most < 0 {
		return err
	}
	slices.SortFunc(files, func(a, b file) int { return b.time.Compare(a.time) })
	var total int64
	for _, f := range files {
		if total += f.size; total <= most {
			continue
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("vectors: %w", err)
		}
	}
	return nil
}

// list returns the segments of all embedders.
func list(dir string) ([]file, error) {
	shelves, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	var files []file
	for _, shelf := range shelves {
		if !shelf.IsDir() {
			continue
		}
		names, err := segmentNames(filepath.Join(dir, shelf.Name()))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			path := filepath.Join(dir, shelf.Name(), name)
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("vectors: %w", err)
			}
			files = append(files, file{path, info.Size(), info.ModTime()})
		}
	}
	return files, nil
}
