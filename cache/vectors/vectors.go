// Package vectors keeps the vectors of texts on disk, for all indexes and
// processes of a user together, so that no text is embedded, or paid for, twice.
//
// Vectors stand in segment files, by embedder and SHA-256 of the text; texts do
// not. A process only ever appends to a segment of its own, record by record
// with a checksum each: whoever is killed, or runs at the same time, spoils
// nothing, and what a killed run had is there for the next.
package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Options says how much is kept. The zero value is the default.
type Options struct {
	MaxBytes int64 // on disk, for all embedders together; 0 means 1 GiB, negative no bound
}

const defaultMaxBytes = 1 << 30

// A Cache keeps vectors below one folder. It is safe for concurrent use, and any
// number of processes may use the folder at a time; what others add meanwhile is
// seen when it is opened again.
type Cache struct {
	dir      string
	maxBytes int64

	mu      sync.Mutex
	shelves map[string]*shelf // by embedder
	closed  bool
}

// Open opens the cache below dir, which is made when there is something to keep.
// A nil opts means the zero [Options].
func Open(dir string, opts *Options) (*Cache, error) {
	if dir == "" {
		return nil, errors.New("vectors: no folder to keep vectors in")
	}
	c := &Cache{dir: dir, maxBytes: defaultMaxBytes, shelves: map[string]*shelf{}}
	if opts != nil && opts.MaxBytes != 0 {
		c.maxBytes = max(opts.MaxBytes, -1)
	}
	return c, nil
}

// Get returns for each text, in order, the vector that the embedder of that ID
// gave it, nil where none is kept. A record that is damaged counts as none. The
// vectors belong to the caller. An error means that the folder cannot be read.
func (c *Cache) Get(embedder string, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.shelf(embedder)
	if err != nil {
		return nil, err
	}
	found := make([][]float32, len(texts))
	for i, t := range texts {
		found[i] = s.get(sha256.Sum256([]byte(t)))
	}
	return found, nil
}

// Put keeps the vectors of texts, in the same order; what is kept already stays
// as it is. After an error some may be kept. Once it returns they outlive this
// process, but not a machine that loses power at once.
func (c *Cache) Put(embedder string, texts []string, vectors [][]float32) error {
	if len(texts) != len(vectors) {
		return fmt.Errorf("vectors: %d vectors for %d texts", len(vectors), len(texts))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.shelf(embedder)
	if err != nil {
		return err
	}
	return s.put(texts, vectors)
}

// shelf returns the vectors of an embedder, opened when first asked for.
func (c *Cache) shelf(embedder string) (*shelf, error) {
	if c.closed {
		return nil, fmt.Errorf("vectors: the cache is closed: %w", fs.ErrClosed)
	}
	if s, ok := c.shelves[embedder]; ok {
		return s, nil
	}
	sum := sha256.Sum256([]byte(embedder))
	s, err := openShelf(filepath.Join(c.dir, hex.EncodeToString(sum[:8])), embedder)
	if err != nil {
		return nil, err
	}
	c.shelves[embedder] = s
	return s, nil
}

// Close notes what was used, puts small segments together and removes those not
// used for longest until the bound holds; another process that is at it already
// is left to it. It ends the use of c.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	files, err := list(c.dir)
	errs := []error{err}
	var total int64
	for _, f := range files {
		total += f.size
	}
	for _, s := range c.shelves {
		errs = append(errs, s.restore(), s.note(c.maxBytes >= 0 && total > c.maxBytes/2))
	}
	errs = append(errs, c.tidy())
	for _, s := range c.shelves {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// A shelf holds the vectors of one embedder. The lock of its cache guards it.
type shelf struct {
	dir      string
	embedder string
	places   map[[sha256.Size]byte]spot
	segments []*segment
	own      *segment // also the last of segments; nil before the first Put
}

// A spot is a record of a segment.
type spot struct {
	segment *segment
	record  int
}

func openShelf(dir, embedder string) (*shelf, error) {
	s := &shelf{dir: dir, embedder: embedder, places: map[[sha256.Size]byte]spot{}}
	names, err := segmentNames(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		g, err := openSegment(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoSegment):
			continue // put together with others meanwhile; or torn before its first record
		case err != nil:
			return nil, errors.Join(fmt.Errorf("vectors: %w", err), s.close())
		case g.embedder != embedder:
			_ = g.close() // eight bytes of two hashes agree, or someone put it there
			continue
		}
		s.segments = append(s.segments, g)
	}
	// Of several records of a text the newest is used, so that the others age.
	slices.SortStableFunc(s.segments, func(a, b *segment) int { return a.time.Compare(b.time) })
	for _, g := range s.segments {
		for i, key := range g.keys {
			s.places[key] = spot{g, i}
		}
	}
	return s, nil
}

// segmentNames lists the segments in a folder, sorted; none if it is not there.
func segmentNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (s *shelf) get(key [sha256.Size]byte) []float32 {
	at, ok := s.places[key]
	if !ok {
		return nil
	}
	v, ok := at.segment.read(at.record)
	if !ok {
		delete(s.places, key) // damaged: it may be put again
		return nil
	}
	at.segment.used[at.record] = true
	return v
}

func (s *shelf) put(texts []string, vectors [][]float32) error {
	var keys [][sha256.Size]byte
	var fresh [][]float32
	for i, t := range texts {
		key := sha256.Sum256([]byte(t))
		if _, kept := s.places[key]; !kept && len(vectors[i]) > 0 && !slices.Contains(keys, key) {
			keys, fresh = append(keys, key), append(fresh, vectors[i])
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if len(s.segments) > 0 && s.segments[0].dim != len(fresh[0]) {
		return fmt.Errorf("vectors: %s: embedder %s gave vectors of %d values before, not %d: give the other model another ID, or remove the folder",
			s.dir, s.embedder, s.segments[0].dim, len(fresh[0]))
	}
	if err := s.restore(); err != nil {
		return err
	}
	if s.own == nil {
		g, err := createSegment(s.dir, s.embedder, len(fresh[0]))
		if err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
		s.own = g
		s.segments = append(s.segments, g)
	}
	first := len(s.own.keys)
	if err := s.own.append(keys, fresh); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	for i, key := range keys {
		s.places[key] = spot{s.own, first + i}
		s.own.used[first+i] = true
	}
	return nil
}

// restore writes our own segment anew if another process took it away, which put
// it together with others but does not have what we added since.
func (s *shelf) restore() error {
	if s.own == nil {
		return nil
	}
	if _, err := os.Stat(s.own.file.Name()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lost := s.own
	s.own = nil
	return s.move(lost, func(int) bool { return true })
}

func (s *shelf) close() error {
	var errs []error
	for _, g := range s.segments {
		errs = append(errs, g.close())
	}
	return errors.Join(errs...)
}
