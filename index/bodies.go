package index

import (
	"context"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"skillrouter/definitions"
)

// Bounds of the definitions kept in memory. One always is.
const (
	keptBodies = 256
	keptBytes  = 16 << 20 // of their files, which are some kilobytes each and 1 MiB at most
)

// bodies keeps the definitions read last, by skill. It is safe for concurrent
// use.
type bodies struct {
	mu    sync.Mutex
	kept  *simplelru.LRU[int32, *definitions.Skill]
	bytes int64
}

func newBodies() *bodies {
	kept, _ := simplelru.NewLRU[int32, *definitions.Skill](keptBodies, nil) // errs only for a size below 1
	return &bodies{kept: kept}
}

func (b *bodies) get(skill int32) (*definitions.Skill, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.Get(skill)
}

func (b *bodies) put(skill int32, s *definitions.Skill) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.kept.Peek(skill); ok {
		b.bytes -= old.Size
		b.kept.Remove(skill)
	}
	b.bytes += s.Size
	for n := b.kept.Len(); n > 0 && (n == keptBodies || b.bytes > keptBytes); n-- {
		_, old, _ := b.kept.RemoveOldest()
		b.bytes -= old.Size
	}
	b.kept.Add(skill, s)
}

// Get reads the definition of the skill of that name anew, so that what
// changed since the index was built is seen: the result's Hash then differs
// from that in Skills, and the router should refresh. The result is shared and
// must not be changed. A name the catalog does not have is a [NotFoundError];
// a file that is gone matches [io/fs.ErrNotExist]. Safe for concurrent use.
func (ix *Index) Get(name string) (*definitions.Skill, error) {
	i, ok := ix.byName[name]
	if !ok {
		return nil, &NotFoundError{Skill: name}
	}
	if ix.source == nil {
		return nil, fmt.Errorf("index: skill %q: the index is used without the folders it was built from", name)
	}
	s, err := ix.source.Read(context.Background(), ix.skills[i].Ref) // a local file: nothing to wait for
	if err != nil {
		return nil, fmt.Errorf("index: skill %q: %w", name, err)
	}
	if s.Name != name {
		return nil, fmt.Errorf("index: %s now holds the skill %q, not %q: refresh the index", s.File, s.Name, name)
	}
	ix.bodies.put(i, s)
	return s, nil
}

// Kept is [Index.Get] of a definition that was read before: no file is opened
// while it is still kept, as the last 256 are, or fewer large ones, also when
// its file has changed since.
func (ix *Index) Kept(name string) (*definitions.Skill, error) {
	if i, ok := ix.byName[name]; ok {
		if s, ok := ix.bodies.get(i); ok {
			return s, nil
		}
	}
	return ix.Get(name)
}

// Doc reads a document beside the skill of that name: one of the Docs of its
// definition that are text. Anything else, paths out of the folder among it,
// is an error that matches [io/fs.ErrNotExist] or says why the document cannot
// be given. The result is the caller's. Safe for concurrent use.
func (ix *Index) Doc(ctx context.Context, name, doc string) ([]byte, error) {
	i, ok := ix.byName[name]
	if !ok {
		return nil, &NotFoundError{Skill: name}
	}
	if ix.source == nil {
		return nil, fmt.Errorf("index: skill %q: the index is used without the folders it was built from", name)
	}
	text, err := ix.source.Doc(ctx, ix.skills[i].Ref, doc)
	if err != nil {
		return nil, fmt.Errorf("index: skill %q: %w", name, err)
	}
	return text, nil
}
