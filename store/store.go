// Package store keeps vectors of record and finds the nearest of them, in process, on chromem-go.
//
// A store knows vectors, not embedders: whoever fills it has already turned texts into vectors of one model, all of
// one dimension. Records live in collections, and a query searches one of them: one collection a domain is cheaper
// than one collection with a filter, since chromem-go visits every document whether the filter keeps it or not.
//
// What a query answers depends on the records alone, never on chance or the order they came in: best first, equal
// similarities by ID, and who makes the cut is decided the same way. [skillrouter/store/storetest] holds every
// implementation to that.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/philippgille/chromem-go"
)

// A Record is one text with its vector.
type Record struct {
	ID   string // unique in its collection, not empty
	Text string // may be empty

	// Vector has the store's dimension and is not zero. It is kept at unit length: a vector of another length is
	// scaled, one within a millionth of unit length stays as it is, bit for bit. Stores copy it, in and out.
	Vector []float32
}

// A Hit is a record found by [Store.Query].
type Hit struct {
	ID, Text   string
	Similarity float32 // cosine, -1 to 1, give or take a rounding
}

// A Store holds collections of records in memory. All methods are safe for concurrent use; readers run side by side.
type Store struct {
	dim int

	// mu makes an Add one step to readers, and keeps Delete off running queries: chromem-go v0.7.0 reads the
	// document map in Delete without its lock.
	mu sync.RWMutex
	db *chromem.DB
}

// New returns an empty store for vectors of dim numbers. It fails if dim is below 1.
func New(dim int) (*Store, error) {
	if dim < 1 {
		return nil, fmt.Errorf("store: dimension %d is below 1", dim)
	}
	return &Store{dim: dim, db: chromem.NewDB()}, nil
}

// Add puts records into a collection, which begins to exist with its first record. A record takes the place of the one
// that has its ID.
//
// Either all records are added or none is: an error names the record and what is wrong with it, namely an empty ID, an
// ID that stands twice in the call, a vector of another dimension, a zero vector, or one with a NaN or an infinity.
func (s *Store) Add(ctx context.Context, collection string, records ...Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	docs, err := s.documents(collection, records)
	if err != nil || len(docs) == 0 {
		return err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.db.GetOrCreateCollection(collection, nil, noEmbedding)
	if err != nil {
		return fmt.Errorf("store: collection %q: %w", collection, err)
	}
	for _, d := range docs {
		// Fails on an empty ID or vector only, which documents has refused, so that no half of the records is left.
		if err := c.AddDocument(ctx, d); err != nil {
			return fmt.Errorf("store: collection %q: record %q: %w", collection, d.ID, err)
		}
	}
	return nil
}

// documents checks records and copies them into chromem-go's form. chromem-go itself takes any vector: one of another
// dimension would make every later query on the collection fail, and it keeps the caller's slice.
func (s *Store) documents(collection string, records []Record) ([]chromem.Document, error) {
	if len(records) == 0 {
		return nil, nil
	}
	if collection == "" {
		return nil, errors.New("store: the collection has no name")
	}
	docs := make([]chromem.Document, len(records))
	first := make(map[string]int, len(records))
	for i, r := range records {
		if r.ID == "" {
			return nil, fmt.Errorf("store: collection %q: record %d of %d has no ID", collection, i+1, len(records))
		}
		if j, ok := first[r.ID]; ok {
			return nil, fmt.Errorf("store: collection %q: record %q stands twice in one call, as %d and %d of %d",
				collection, r.ID, j+1, i+1, len(records))
		}
		first[r.ID] = i
		v, err := s.unit(r.Vector)
		if err == nil && v == nil {
			err = errors.New("the vector is zero, which has no direction to compare")
		}
		if err != nil {
			return nil, fmt.Errorf("store: collection %q: record %q: %w", collection, r.ID, err)
		}
		docs[i] = chromem.Document{ID: r.ID, Content: r.Text, Embedding: v}
	}
	return docs, nil
}

// Query returns at most k records of a collection, most similar first, equal similarities by ID. There are none if
// the collection is unknown, if k is 0 or less, and for a zero vector, which is similar to nothing. The vector may
// have any length; it fails for one of another dimension or with a NaN or an infinity.
//
// The cost grows with the size of the collection: every vector is compared, on all cores.
func (s *Store) Query(ctx context.Context, collection string, vector []float32, k int) ([]Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, err := s.unit(vector)
	if err != nil {
		return nil, fmt.Errorf("store: query of collection %q: %w", collection, err)
	}

	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.db.GetCollection(collection, noEmbedding)
	if c == nil || v == nil || k <= 0 {
		return nil, nil
	}
	// chromem-go fails when asked for more than there is, and lets chance choose between equals, also at the cut. One
	// hit more than asked for shows whether equals stand on both sides of it; if so, only all of them can tell.
	n := c.Count()
	k = min(k, n)
	hits, err := search(ctx, c, v, min(k, n-1)+1)
	if err == nil && k < len(hits) && hits[k-1].Similarity == hits[k].Similarity {
		hits, err = search(ctx, c, v, n)
	}
	if err != nil {
		return nil, fmt.Errorf("store: query of collection %q: %w", collection, err)
	}
	return hits[:k:k], nil
}

// search returns n hits in our order. The vector is of unit length, n at least 1 and at most the collection's size.
func search(ctx context.Context, c *chromem.Collection, unit []float32, n int) ([]Hit, error) {
	results, err := c.QueryEmbedding(ctx, unit, n, nil, nil)
	if err != nil {
		return nil, err
	}
	// A query that was cut short gives what it has, without an error.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	hits := make([]Hit, len(results))
	for i, r := range results {
		// The result's vector is the stored one, not a copy, and stays here.
		hits[i] = Hit{ID: r.ID, Text: r.Content, Similarity: r.Similarity}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), strings.Compare(a.ID, b.ID))
	})
	return hits, nil
}

// Delete removes the records of these IDs from a collection. IDs that are not there are fine, and no IDs remove
// nothing. A collection ends with its last record.
func (s *Store) Delete(ctx context.Context, collection string, ids ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(ids) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.db.GetCollection(collection, noEmbedding)
	if c == nil {
		return nil
	}
	// The filters must be nil: beside an empty map chromem-go ignores the IDs and deletes everything.
	err := c.Delete(ctx, nil, nil, ids...)
	if err == nil && c.Count() == 0 {
		err = s.db.DeleteCollection(collection)
	}
	if err != nil {
		return fmt.Errorf("store: collection %q: %w", collection, err)
	}
	return nil
}

// Get returns a record by its ID, and whether it is there.
func (s *Store) Get(ctx context.Context, collection, id string) (Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, false, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.db.GetCollection(collection, noEmbedding)
	if c == nil {
		return Record{}, false, nil
	}
	d, err := c.GetByID(ctx, id)
	if err != nil {
		return Record{}, false, nil // the only error of a store in memory: it is not there
	}
	return Record{ID: d.ID, Text: d.Content, Vector: d.Embedding}, true, nil
}

// Count returns how many records a collection has, 0 for an unknown one.
func (s *Store) Count(collection string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.db.GetCollection(collection, noEmbedding)
	if c == nil {
		return 0
	}
	return c.Count()
}

// Collections returns the names of all collections that have records, sorted.
func (s *Store) Collections() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.db.ListCollections()))
}

// unit returns a copy of v at unit length, nil if v is zero. It works in float64, where no square of a float32
// overflows or vanishes; chromem-go scales in float32 and would turn a very long or short vector into NaN.
func (s *Store) unit(v []float32) ([]float32, error) {
	if len(v) != s.dim {
		return nil, fmt.Errorf("the vector has %d dimensions, the store has %d", len(v), s.dim)
	}
	var sum float64
	for i, x := range v {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("vector[%d] is %v", i, f)
		}
		sum += f * f
	}
	if sum == 0 {
		return nil, nil
	}
	u := slices.Clone(v)
	// Within this distance chromem-go takes a vector for a unit one, too, and leaves it alone.
	if length := math.Sqrt(sum); math.Abs(length-1) >= 1e-6 {
		for i, x := range u {
			u[i] = float32(float64(x) / length)
		}
	}
	return u, nil
}

// noEmbedding is given to chromem-go in place of nil, which would mean a paid endpoint.
func noEmbedding(context.Context, string) ([]float32, error) {
	return nil, errors.New("vectors are given to the store, never made by it")
}
