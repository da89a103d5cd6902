// Package storetest is the contract of a vector store, as tests that every implementation runs.
package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"skillrouter/store"
)

// A Store is what the contract is about. [store.Store] says what each method promises.
type Store interface {
	Add(ctx context.Context, collection string, records ...store.Record) error
	Query(ctx context.Context, collection string, vector []float32, k int) ([]store.Hit, error)
	Delete(ctx context.Context, collection string, ids ...string) error
	Get(ctx context.Context, collection, id string) (store.Record, bool, error)
	Count(collection string) int
	Collections() []string
}

// Run holds an implementation to the contract. For each case open returns an empty store for vectors of dim numbers,
// which it closes itself in t.Cleanup. Run under the race detector it also shows whether the store is safe for
// concurrent use.
func Run(t *testing.T, open func(t *testing.T, dim int) Store) {
	for _, c := range []struct {
		name string
		dim  int
		run  func(*testing.T, Store)
	}{
		{"order as by brute force", 32, orderAsByBruteForce},
		{"equal similarities by ID", 3, equalSimilarities},
		{"equal similarities at the cut", 3, equalAtTheCut},
		{"any k", 2, anyK},
		{"nothing to find", 2, nothingToFind},
		{"query vectors", 2, queryVectors},
		{"bad records", 2, badRecords},
		{"vectors of any length", 3, anyLength},
		{"unit vectors unchanged", 32, unitUnchanged},
		{"cancelled context", 2, cancelled},
		{"replaced record", 2, replaced},
		{"delete", 2, deletes},
		{"collections apart", 2, collectionsApart},
		{"inputs and outputs are copies", 2, copies},
		{"readers beside a writer", 2, concurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t, c.dim)) })
	}
}

func orderAsByBruteForce(t *testing.T, s Store) {
	// Two similarities nearer than this may stand in either order, as each store adds up in its own way.
	const near = 1e-5
	rng := rand.New(rand.NewPCG(1, 2))
	records := make([]store.Record, 500)
	for i := range records {
		id := fmt.Sprintf("r%03d", i)
		records[i] = store.Record{ID: id, Text: "text of " + id, Vector: random(rng, 32)}
	}
	add(t, s, "c", records...)

	for range 10 {
		q := random(rng, 32)
		similarity := make(map[string]float64, len(records))
		want := make([]string, len(records))
		for i, r := range records {
			similarity[r.ID] = dot(q, r.Vector)
			want[i] = r.ID
		}
		slices.SortFunc(want, func(a, b string) int { return cmp.Compare(similarity[b], similarity[a]) })

		for _, k := range []int{1, 5, 100, 499, 500, 501} {
			hits := query(t, s, "c", q, k)
			if len(hits) != min(k, len(records)) {
				t.Fatalf("k = %d: %d hits, want %d", k, len(hits), min(k, len(records)))
			}
			sorted(t, hits)
			seen := map[string]bool{}
			for i, h := range hits {
				if got := similarity[h.ID]; math.Abs(got-similarity[want[i]]) > near {
					t.Errorf("k = %d: hit %d is %q with %.6f, want %q with %.6f", k, i, h.ID, got, want[i], similarity[want[i]])
				}
				if math.Abs(float64(h.Similarity)-similarity[h.ID]) > near {
					t.Errorf("k = %d: hit %q has similarity %.6f, want %.6f", k, h.ID, h.Similarity, similarity[h.ID])
				}
				if want := "text of " + h.ID; h.Text != want {
					t.Errorf("hit %q has text %q, want %q", h.ID, h.Text, want)
				}
				if seen[h.ID] {
					t.Errorf("k = %d: %q is there twice", k, h.ID)
				}
				seen[h.ID] = true
			}
		}
	}
}

// mixed returns 50 IDs that stand in another order in most languages than bytewise, and that order.
func mixed() (shuffled, bytewise []string) {
	for i := range 10 {
		shuffled = append(shuffled, fmt.Sprintf("b%d", i), fmt.Sprintf("B%d", i), fmt.Sprintf("é-%d", i), fmt.Sprintf("技能%d", i), fmt.Sprintf("a b%d", i))
	}
	bytewise = slices.Sorted(slices.Values(shuffled))
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled, bytewise
}

func equalSimilarities(t *testing.T, s Store) {
	shuffled, want := mixed()
	for _, id := range shuffled {
		add(t, s, "c", store.Record{ID: id, Vector: []float32{0.6, 0.8, 0}})
	}
	for _, k := range []int{1, 7, 49, 50, 51} {
		for range 200 {
			got := ids(query(t, s, "c", []float32{1, 0, 0}, k))
			if d := gocmp.Diff(want[:min(k, 50)], got); d != "" {
				t.Fatalf("k = %d (-want +got):\n%s", k, d)
			}
		}
	}
}

func equalAtTheCut(t *testing.T, s Store) {
	shuffled, want := mixed()
	for _, id := range shuffled {
		add(t, s, "c", store.Record{ID: id, Vector: []float32{0, 1, 0}})
	}
	add(t, s, "c",
		store.Record{ID: "zz best", Vector: []float32{1, 0, 0}},
		store.Record{ID: "zy second", Vector: []float32{0.8, 0.6, 0}},
		store.Record{ID: "0 worst", Vector: []float32{-1, 0, 0}})
	want = append([]string{"zz best", "zy second"}, want...)
	want = append(want, "0 worst")
	for _, k := range []int{1, 2, 3, 10, 51, 52, 53} {
		for range 50 {
			got := ids(query(t, s, "c", []float32{1, 0, 0}, k))
			if d := gocmp.Diff(want[:k], got); d != "" {
				t.Fatalf("k = %d (-want +got):\n%s", k, d)
			}
		}
	}
}

func anyK(t *testing.T, s Store) {
	add(t, s, "c",
		store.Record{ID: "a", Vector: []float32{1, 0}},
		store.Record{ID: "b", Vector: []float32{0.8, 0.6}},
		store.Record{ID: "c", Vector: []float32{0, 1}})
	for k, want := range map[int][]string{
		math.MinInt: nil, -1: nil, 0: nil,
		1: {"a"}, 2: {"a", "b"}, 3: {"a", "b", "c"}, 4: {"a", "b", "c"},
		math.MaxInt: {"a", "b", "c"},
	} {
		if d := gocmp.Diff(want, ids(query(t, s, "c", []float32{1, 0}, k))); d != "" {
			t.Errorf("k = %d (-want +got):\n%s", k, d)
		}
	}
}

func nothingToFind(t *testing.T, s Store) {
	q := []float32{1, 0}
	none := func(when string) {
		t.Helper()
		for _, name := range []string{"c", ""} {
			if hits := query(t, s, name, q, 5); len(hits) != 0 {
				t.Errorf("%s: %d hits in %q, want none", when, len(hits), name)
			}
			if n := s.Count(name); n != 0 {
				t.Errorf("%s: %d records in %q, want none", when, n, name)
			}
			if _, ok := get(t, s, name, "a"); ok {
				t.Errorf("%s: a record is found in %q", when, name)
			}
		}
		if names := s.Collections(); len(names) != 0 {
			t.Errorf("%s: collections %q, want none", when, names)
		}
	}
	none("at first")
	add(t, s, "c")
	add(t, s, "")
	none("after an Add of nothing")
	add(t, s, "c", store.Record{ID: "a", Vector: q})
	remove(t, s, "c", "a")
	none("after the last record is deleted")
	add(t, s, "c", store.Record{ID: "a", Vector: q})
	if got := ids(query(t, s, "c", q, 5)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("filled again: %q, want a", got)
	}
}

// odd are vectors that a store of two dimensions refuses everywhere.
func odd() map[string][]float32 {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	return map[string][]float32{
		"nil": nil, "empty": {}, "short": {1}, "long": {1, 0, 0},
		"NaN": {1, nan}, "infinity": {inf, 1}, "minus infinity": {0, -inf},
	}
}

func queryVectors(t *testing.T, s Store) {
	add(t, s, "c", store.Record{ID: "a", Vector: []float32{1, 0}}, store.Record{ID: "b", Vector: []float32{0, 1}})
	for name, v := range odd() {
		for _, collection := range []string{"c", "unknown"} {
			if hits, err := s.Query(t.Context(), collection, v, 2); err == nil {
				t.Errorf("%s vector, collection %q: %v, want an error", name, collection, hits)
			}
		}
	}
	if hits := query(t, s, "c", []float32{0, 0}, 2); len(hits) != 0 {
		t.Errorf("zero vector: %v, want no hits", hits)
	}
	if hits := query(t, s, "c", []float32{0, float32(math.Copysign(0, -1))}, 2); len(hits) != 0 {
		t.Errorf("zero vector with a minus: %v, want no hits", hits)
	}
	if got := ids(query(t, s, "c", []float32{1, 0}, 2)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("afterwards: %q, want a, b", got)
	}
}

func badRecords(t *testing.T, s Store) {
	old := store.Record{ID: "old", Text: "before", Vector: []float32{1, 0}}
	add(t, s, "c", old)
	fresh := store.Record{ID: "fresh", Vector: []float32{0, 1}}
	changed := store.Record{ID: "old", Text: "after", Vector: []float32{0, 1}}

	refused := func(name, collection, mention string, records ...store.Record) {
		t.Helper()
		err := s.Add(t.Context(), collection, records...)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if !strings.Contains(err.Error(), mention) {
			t.Errorf("%s: the error does not mention %s: %v", name, mention, err)
		}
		if r, _ := get(t, s, "c", "old"); !gocmp.Equal(old, r) {
			t.Errorf("%s: the old record is now %v, want %v", name, r, old)
		}
		if n := s.Count("c"); n != 1 {
			t.Errorf("%s: %d records, want 1", name, n)
		}
		if names := s.Collections(); !slices.Equal(names, []string{"c"}) {
			t.Errorf("%s: collections %q, want c", name, names)
		}
	}
	vectors := odd()
	vectors["zero"] = []float32{0, 0}
	for name, v := range vectors {
		bad := store.Record{ID: "bad one", Text: "text", Vector: v}
		refused(name+" vector", "c", `"bad one"`, changed, fresh, bad)
		refused(name+" vector first", "c", `"bad one"`, bad, changed, fresh)
		refused(name+" vector, new collection", "d", `"bad one"`, fresh, bad)
		bad.ID = old.ID
		refused(name+" vector for an old record", "c", `"old"`, bad)
	}
	refused("no ID", "c", `"c"`, changed, fresh, store.Record{Vector: []float32{1, 0}})
	refused("ID twice", "c", `"fresh"`, changed, fresh, fresh)
	refused("no collection name", "", "name", fresh)

	if got := ids(query(t, s, "c", []float32{1, 0}, 5)); !slices.Equal(got, []string{"old"}) {
		t.Errorf("afterwards: %q, want old", got)
	}
}

func anyLength(t *testing.T, s Store) {
	add(t, s, "c",
		store.Record{ID: "five", Vector: []float32{3, 4, 0}},
		store.Record{ID: "huge", Vector: []float32{0, 3e30, 4e30}},
		store.Record{ID: "tiny", Vector: []float32{-3e-30, 0, -4e-30}})
	for id, want := range map[string][]float32{"five": {0.6, 0.8, 0}, "huge": {0, 0.6, 0.8}, "tiny": {-0.6, 0, -0.8}} {
		r, _ := get(t, s, "c", id)
		if len(r.Vector) != 3 || !(math.Abs(dot(want, r.Vector)-1) < 1e-6) || !(math.Abs(dot(r.Vector, r.Vector)-1) < 1e-6) {
			t.Errorf("%s: kept as %v, want %v", id, r.Vector, want)
		}
	}
	for _, length := range []float32{1, 2, 1e30, 1e-30} {
		hits := query(t, s, "c", []float32{0.6 * length, 0.8 * length, 0}, 3)
		if got := ids(hits); !slices.Equal(got, []string{"five", "huge", "tiny"}) {
			t.Fatalf("query of length %g: %q, want five, huge, tiny", length, got)
		}
		for i, want := range []float64{1, 0.48, -0.36} {
			if got := float64(hits[i].Similarity); !(math.Abs(got-want) < 1e-5) {
				t.Errorf("query of length %g: %s has similarity %f, want %f", length, hits[i].ID, got, want)
			}
		}
	}
}

func unitUnchanged(t *testing.T, s Store) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 100 {
		want := store.Record{ID: fmt.Sprint(i), Text: "文本 text\n", Vector: random(rng, 32)}
		if i%2 == 1 { // as an embedder may round
			for j := range want.Vector {
				want.Vector[j] *= 1 + 5e-7
			}
		}
		add(t, s, "c", want)
		if got, ok := get(t, s, "c", want.ID); !ok || !gocmp.Equal(want, got) {
			t.Fatalf("record changed (-want +got):\n%s", gocmp.Diff(want, got))
		}
	}
}

func cancelled(t *testing.T, s Store) {
	kept := store.Record{ID: "a", Vector: []float32{1, 0}}
	add(t, s, "c", kept)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, queryErr := s.Query(ctx, "c", []float32{1, 0}, 1)
	_, unknownErr := s.Query(ctx, "unknown", []float32{1, 0}, 1)
	_, _, getErr := s.Get(ctx, "c", "a")
	for name, err := range map[string]error{
		"Query":              queryErr,
		"Query of no record": unknownErr,
		"Get":                getErr,
		"Add":                s.Add(ctx, "c", store.Record{ID: "b", Vector: []float32{0, 1}}),
		"Delete":             s.Delete(ctx, "c", "a"),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
	if got := ids(query(t, s, "c", []float32{1, 0}, 5)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("afterwards: %q, want a", got)
	}
}

func replaced(t *testing.T, s Store) {
	add(t, s, "c", store.Record{ID: "a", Text: "old", Vector: []float32{1, 0}}, store.Record{ID: "b", Vector: []float32{0.8, 0.6}})
	want := store.Record{ID: "a", Text: "new", Vector: []float32{0, 1}}
	add(t, s, "c", want)
	if n := s.Count("c"); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	if got, _ := get(t, s, "c", "a"); !gocmp.Equal(want, got) {
		t.Errorf("record (-want +got):\n%s", gocmp.Diff(want, got))
	}
	hits := query(t, s, "c", []float32{1, 0}, 5)
	if got := ids(hits); !slices.Equal(got, []string{"b", "a"}) || hits[1].Text != "new" {
		t.Errorf("hits %v, want b, then a with its new text", hits)
	}
}

func deletes(t *testing.T, s Store) {
	for _, name := range []string{"c", "d"} {
		for _, id := range []string{"1", "2", "3", "4"} {
			add(t, s, name, store.Record{ID: id, Vector: []float32{1, 0}})
		}
	}
	remove(t, s, "c")
	remove(t, s, "c", "unknown", "")
	remove(t, s, "unknown", "1")
	remove(t, s, "", "1")
	if n := s.Count("c"); n != 4 {
		t.Fatalf("nothing was to be deleted: %d records left, want 4", n)
	}
	remove(t, s, "c", "2", "unknown", "4", "2")
	if got := ids(query(t, s, "c", []float32{1, 0}, 5)); !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("after a delete of 2 and 4: %q, want 1, 3", got)
	}
	if _, ok := get(t, s, "c", "2"); ok {
		t.Error("a deleted record is still found")
	}
	remove(t, s, "c", "1", "3")
	if got := s.Collections(); !slices.Equal(got, []string{"d"}) {
		t.Errorf("collections %q, want d alone", got)
	}
	if got := ids(query(t, s, "d", []float32{1, 0}, 5)); !slices.Equal(got, []string{"1", "2", "3", "4"}) {
		t.Errorf("the other collection: %q, want all four", got)
	}
}

func collectionsApart(t *testing.T, s Store) {
	names := []string{"b", "B", "数据处理", "a b", "a/b", "é", "ab"}
	for i, name := range names {
		add(t, s, name, store.Record{ID: "same", Text: fmt.Sprint(i), Vector: []float32{1, float32(i)}})
	}
	if d := gocmp.Diff(slices.Sorted(slices.Values(names)), s.Collections()); d != "" {
		t.Errorf("collections (-want +got):\n%s", d)
	}
	for i, name := range names {
		hits := query(t, s, name, []float32{1, 0}, 5)
		if len(hits) != 1 || hits[0].Text != fmt.Sprint(i) {
			t.Errorf("collection %q: %v, want its own record only", name, hits)
		}
	}
}

func copies(t *testing.T, s Store) {
	in := []store.Record{{ID: "a", Text: "text", Vector: []float32{0.6, 0.8}}, {ID: "b", Vector: []float32{0, -1}}}
	add(t, s, "c", in...)
	in[0].Vector[0], in[0].Text, in[1].Vector[1] = -9, "changed", 9

	q := []float32{3, 4}
	first := query(t, s, "c", q, 5)
	if !slices.Equal(q, []float32{3, 4}) {
		t.Errorf("the query vector was changed to %v", q)
	}
	want := slices.Clone(first)
	clear(first)
	_ = append(first, store.Hit{ID: "mine"})
	if d := gocmp.Diff(want, query(t, s, "c", q, 5)); d != "" {
		t.Errorf("hits after the first ones were changed (-want +got):\n%s", d)
	}

	r, _ := get(t, s, "c", "a")
	if w := (store.Record{ID: "a", Text: "text", Vector: []float32{0.6, 0.8}}); !gocmp.Equal(w, r) {
		t.Errorf("after the input was changed (-want +got):\n%s", gocmp.Diff(w, r))
	}
	r.Vector[0] = 42
	if again, _ := get(t, s, "c", "a"); again.Vector[0] != 0.6 {
		t.Errorf("after the output was changed: %v, want 0.6, 0.8", again.Vector)
	}
}

func concurrent(t *testing.T, s Store) {
	const group = 20 // records that come and go together
	fixed := store.Record{ID: "fixed", Text: "always there", Vector: []float32{1, 0}}
	add(t, s, "c", fixed)
	batch := make([]store.Record, group)
	names := make([]string, group)
	for i := range batch {
		names[i] = fmt.Sprintf("r%02d", i)
		batch[i] = store.Record{ID: names[i], Vector: []float32{float32(i) / group, 1}}
	}

	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				hits, err := s.Query(t.Context(), "c", []float32{1, 0}, 2*group)
				if err != nil {
					t.Errorf("Query: %v", err)
					return
				}
				if len(hits) == 0 || hits[0].ID != "fixed" {
					t.Errorf("hits %v, want fixed first", hits)
					return
				}
				sorted(t, hits)
				if n := len(hits) - 1; n != 0 && n != group {
					t.Errorf("%d of %d records of one Add are seen", n, group)
					return
				}
				if r, ok, err := s.Get(t.Context(), "c", "fixed"); err != nil || !ok || r.Text != fixed.Text {
					t.Errorf("Get: %v, %v, %v", r, ok, err)
					return
				}
				if n := s.Count("c"); n != 1 && n != 1+group {
					t.Errorf("Count %d, want %d or %d", n, 1, 1+group)
					return
				}
				if got := s.Collections(); !slices.Contains(got, "c") {
					t.Errorf("collections %q, want c among them", got)
					return
				}
			}
		})
	}
	for w := range 2 {
		writers.Go(func() {
			for i := range 100 {
				// The second writer creates and ends another collection all the time.
				name := []string{"c", "d"}[w]
				if err := s.Add(t.Context(), name, batch...); err != nil {
					t.Errorf("Add: %v", err)
				}
				if i%2 == 0 {
					if err := s.Add(t.Context(), name, batch...); err != nil {
						t.Errorf("Add again: %v", err)
					}
				}
				if err := s.Delete(t.Context(), name, names...); err != nil {
					t.Errorf("Delete: %v", err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if got := s.Collections(); !slices.Equal(got, []string{"c"}) || s.Count("c") != 1 {
		t.Errorf("at the end: collections %q, %d records in c; want c with 1", got, s.Count("c"))
	}
}

// sorted reports hits that are not in the order every store gives.
func sorted(t *testing.T, hits []store.Hit) {
	t.Helper()
	for i := 1; i < len(hits); i++ {
		a, b := hits[i-1], hits[i]
		if !(a.Similarity > b.Similarity || a.Similarity == b.Similarity && a.ID < b.ID) {
			t.Errorf("hit %d, %v, stands before %v", i-1, a, b)
		}
	}
}

func ids(hits []store.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// random returns a vector of unit length as exact as float32 allows.
func random(rng *rand.Rand, dim int) []float32 {
	v := make([]float64, dim)
	var sum float64
	for i := range v {
		v[i] = rng.NormFloat64()
		sum += v[i] * v[i]
	}
	out := make([]float32, dim)
	for i := range v {
		out[i] = float32(v[i] / math.Sqrt(sum))
	}
	return out
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func add(t *testing.T, s Store, collection string, records ...store.Record) {
	t.Helper()
	if err := s.Add(t.Context(), collection, records...); err != nil {
		t.Fatalf("Add to %q: %v", collection, err)
	}
}

func remove(t *testing.T, s Store, collection string, ids ...string) {
	t.Helper()
	if err := s.Delete(t.Context(), collection, ids...); err != nil {
		t.Fatalf("Delete %q from %q: %v", ids, collection, err)
	}
}

func query(t *testing.T, s Store, collection string, v []float32, k int) []store.Hit {
	t.Helper()
	hits, err := s.Query(t.Context(), collection, v, k)
	if err != nil {
		t.Fatalf("Query of %q: %v", collection, err)
	}
	return hits
}

func get(t *testing.T, s Store, collection, id string) (store.Record, bool) {
	t.Helper()
	r, ok, err := s.Get(t.Context(), collection, id)
	if err != nil {
		t.Fatalf("Get %q from %q: %v", id, collection, err)
	}
	return r, ok
}
