package cache_test

import (
	"fmt"
	"testing"

	"skillrouter/cache"
)

// One turn of a session: three domains match, one of them anew.
func BenchmarkTurns(b *testing.B) {
	c, err := cache.NewTurns[string, int](nil)
	if err != nil {
		b.Fatal(err)
	}
	domains := make([]string, 12)
	for i := range domains {
		domains[i] = fmt.Sprintf("domain-%02d", i)
	}
	turn := 0
	b.ReportAllocs()
	for b.Loop() {
		turn++
		c.Advance(turn)
		for i := range 3 {
			d := domains[(turn+i)%len(domains)]
			if _, ok := c.Get(d); !ok {
				c.Put(d, i)
			}
		}
	}
}

func BenchmarkSessions(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		for _, size := range []int{600, 4 << 10} {
			b.Run(fmt.Sprintf("%d sessions of %d bytes", n, size), func(b *testing.B) {
				s := newSessions(b, nil)
				state := make([]byte, size)
				keys := make([]string, n)
				for i := range keys {
					keys[i] = fmt.Sprintf("user-%05d", i)
					mustSave(b, s, keys[i], 0)
				}
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					key := keys[i%n]
					i++
					_, revision, err := s.Load(b.Context(), key)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := s.Save(b.Context(), key, state, revision); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
