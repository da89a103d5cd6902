//go:build !race

package router_test

import "testing"

// A route of its own costs no more than a few allocations. Under the race
// detector a pool loses things on purpose.
func TestRouteAllocates(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), nil)
	if n := testing.AllocsPerRun(100, func() { route(t, r, office) }); n > 10 {
		t.Errorf("%v allocations a route, want at most 10", n)
	}
}
