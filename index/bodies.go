package index

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"skillrouter/definitions"
)

// keptBodies bounds the definitions kept in memory: some megabytes.
const keptBodies = 256

// bodies keeps the definitions read last, by skill. It is safe for concurrent
// use.
type bodies struct {
	cache *lru.Cache[int32, *definitions.Skill]
}

func (b *bodies) init() {
	b.cache, _ = lru.New[int32, *definitions.Skill](keptBodies) // errs only for a size below 1
}

// Get reads the definition of the skill of that name anew, so that what
// changed since the index was built is seen: the result's Hash then differs
// from that in Skills, and the router should refresh. The result is shared and
// must not be changed. A name the catalog does not have is a [NotFoundError].
func (ix *Index) Get(name string) (*definitions.Skill, error) {
	i, ok := ix.byName[name]
	if !ok {
		return nil, &NotFoundError{Skill: name}
	}
	if ix.source == nil {
		return nil, fmt.Errorf("index: skill %q: the index was opened without the folders it was built from", name)
	}
	s, err := ix.source.Read(context.Background(), ix.skills[i].Ref) // a local file: nothing to wait for
	if err != nil {
		return nil, fmt.Errorf("index: skill %q: %w", name, err)
	}
	if s.Name != name {
		return nil, fmt.Errorf("index: %s now holds the skill %q, not %q: refresh the index", s.File, s.Name, name)
	}
	ix.bodies.cache.Add(i, s)
	return s, nil
}

// Kept is [Index.Get] of a definition that was read before: no file is opened
// while it is still kept.
func (ix *Index) Kept(name string) (*definitions.Skill, error) {
	if i, ok := ix.byName[name]; ok {
		if s, ok := ix.bodies.cache.Get(i); ok {
			return s, nil
		}
	}
	return ix.Get(name)
}
