package store_test

import (
	"context"
	"math"
	"testing"
	"time"

	"skillrouter/store"
	"skillrouter/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, dim int) storetest.Store { return open(t, dim) })
}

func TestNewRefusesDimension(t *testing.T) {
	for dim, want := range map[int]string{
		0:  "store: dimension 0 is below 1",
		-3: "store: dimension -3 is below 1",
	} {
		if s, err := store.New(dim); err == nil || err.Error() != want || s != nil {
			t.Errorf("New(%d) = %v, %v; want the error %q", dim, s, err, want)
		}
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	good := store.Record{ID: "good", Vector: []float32{1, 0}}
	for _, c := range []struct {
		name       string
		collection string
		bad        store.Record
		want       string
	}{
		{"no collection", "", good, `store: the collection has no name`},
		{"no ID", "c", store.Record{Vector: []float32{1, 0}}, `store: collection "c": record 2 of 2 has no ID`},
		{"twice", "c", good, `store: collection "c": record "good" stands twice in one call, as 1 and 2 of 2`},
		{"dimension", "c", store.Record{ID: "x", Vector: []float32{1, 0, 0}}, `store: collection "c": record "x": the vector has 3 dimensions, the store has 2`},
		{"zero", "c", store.Record{ID: "x", Vector: []float32{0, 0}}, `store: collection "c": record "x": the vector is zero, which has no direction to compare`},
		{"NaN", "c", store.Record{ID: "x", Vector: []float32{0, float32(math.NaN())}}, `store: collection "c": record "x": vector[1] is NaN`},
		{"infinity", "c", store.Record{ID: "x", Vector: []float32{float32(math.Inf(-1)), 0}}, `store: collection "c": record "x": vector[0] is -Inf`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := open(t, 2).Add(t.Context(), c.collection, good, c.bad); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	if _, err := open(t, 2).Query(t.Context(), "c", []float32{1}, 1); err == nil || err.Error() != `store: query of collection "c": the vector has 1 dimensions, the store has 2` {
		t.Errorf("Query: %v", err)
	}
}

// chromem-go ends a query whose context is over with what it has, and no error.
func TestQueryCutShort(t *testing.T) {
	s := open(t, 2)
	if err := s.Add(t.Context(), "c", store.Record{ID: "a", Vector: []float32{1, 0}}); err != nil {
		t.Fatal(err)
	}
	over := &lateContext{Context: t.Context()}
	hits, err := s.Query(over, "c", []float32{1, 0}, 1)
	if err == nil || hits != nil {
		t.Errorf("Query = %v, %v; want no hits and the context's error", hits, err)
	}
}

// A lateContext is over from the second time it is asked.
type lateContext struct {
	context.Context
	asked int
}

func (c *lateContext) Deadline() (time.Time, bool) { return time.Time{}, false }

func (c *lateContext) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (c *lateContext) Err() error {
	if c.asked++; c.asked == 1 {
		return nil
	}
	return context.Canceled
}

func open(t testing.TB, dim int) *store.Store {
	t.Helper()
	s, err := store.New(dim)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
