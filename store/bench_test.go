package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"skillrouter/store"
)

const benchDim = 256

func benchVector(rng *rand.Rand) []float32 {
	v := make([]float32, benchDim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func BenchmarkQuery(b *testing.B) {
	for _, n := range []int{15, 150, 1_000, 10_000} {
		rng := rand.New(rand.NewPCG(1, 1))
		distinct := make([]store.Record, n)
		equal := make([]store.Record, n)
		for i := range n {
			distinct[i] = store.Record{ID: fmt.Sprintf("skill-%05d", i), Vector: benchVector(rng)}
			equal[i] = store.Record{ID: distinct[i].ID, Vector: distinct[0].Vector}
		}
		s := open(b, benchDim)
		for name, records := range map[string][]store.Record{"distinct": distinct, "equal": equal} {
			if err := s.Add(b.Context(), name, records...); err != nil {
				b.Fatal(err)
			}
		}
		q := benchVector(rng)
		for _, name := range []string{"distinct", "equal"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Query(b.Context(), name, q, 5); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	records := make([]store.Record, 1_000)
	for i := range records {
		records[i] = store.Record{ID: fmt.Sprintf("skill-%05d", i), Vector: benchVector(rng)}
	}
	b.ReportAllocs()
	for b.Loop() {
		s := open(b, benchDim)
		if err := s.Add(b.Context(), "c", records...); err != nil {
			b.Fatal(err)
		}
	}
}
