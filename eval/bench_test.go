package eval

import (
	"fmt"
	"testing"
)

func BenchmarkIntervals(b *testing.B) {
	for _, n := range []int{200, 2000} {
		rows := make([]*Row, 0, n)
		for len(rows) < n {
			rows = append(rows, tenRows()...)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Intervals(rows)
			}
		})
	}
}
