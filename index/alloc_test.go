//go:build !race

package index

import "testing"

// Under the race detector a pool loses things on purpose.
func TestScoreDoesNotAllocate(t *testing.T) {
	e := builtIn(t)
	ix := build(t, office(), e)
	q := ask(t, e, "I need the next train to Hamburg, and 订酒店")
	for range 10 {
		ix.Score(q).Release()
	}
	if n := testing.AllocsPerRun(100, func() { ix.Score(q).Release() }); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}
