package index

import (
	"fmt"
	"path/filepath"
	"testing"
)

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{150, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, e := loadMany(b, n), builtIn(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Build(b.Context(), c, e, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{150, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := builtIn(b)
			path := filepath.Join(b.TempDir(), "x.idx")
			if err := buildMany(b, n, e).WriteFile(path); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(b.Context(), path, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	for _, n := range []int{150, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := builtIn(b)
			ix := buildMany(b, n, e)
			q := ask(b, e, ix.skills[n/2].Summary.Triggers[0]+" and read it to me in the evening please")
			b.ReportAllocs()
			for b.Loop() {
				ix.Score(q).Release()
			}
		})
	}
}

func BenchmarkLike(b *testing.B) {
	e := builtIn(b)
	ix := buildMany(b, 150, e)
	q := ask(b, e, ix.skills[75].Summary.Triggers[0])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ix.Like(b.Context(), q.Vector, 5, nil); err != nil {
			b.Fatal(err)
		}
	}
}
