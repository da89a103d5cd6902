package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// random8 returns n values from all of int8 that a row can hold.
func random8(r *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(r.IntN(255) - 127)
	}
	return v
}

func TestDotEqualsGeneric(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 600 {
		a, b := random8(r, n), random8(r, n)
		if got, want := dotInt8(a, b), dotGeneric(a, b); got != want {
			t.Errorf("length %d: got %d, want %d", n, got, want)
		}
	}
	extreme := make([]int8, 4096)
	for i := range extreme {
		extreme[i] = -127
	}
	if got, want := dotInt8(extreme, extreme), int32(4096*127*127); got != want {
		t.Errorf("largest product: got %d, want %d", got, want)
	}
}

func TestMatrixKeepsCosines(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	unit := func() []float32 {
		v := make([]float32, 256)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		normalize(v)
		return v
	}
	m := newMatrix(256, 51) // the last a text that nothing is known of
	var rows [][]float32
	for i := range 50 {
		rows = append(rows, unit())
		m.set(i, rows[i])
	}
	var q vector
	v := unit()
	q.set(v)
	for i, row := range rows {
		if got, want := m.dot(i, &q), dotFloat(row, v); math.Abs(float64(got-want)) > 0.01 {
			t.Errorf("row %d: got cosine %v, want %v", i, got, want)
		}
	}
	if got := m.dot(50, &q); got != 0 {
		t.Errorf("zero row: got cosine %v, want 0", got)
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	x, y := random8(r, 256), random8(r, 256)
	for _, f := range []struct {
		name string
		dot  func(a, b []int8) int32
	}{{"best", dotInt8}, {"generic", dotGeneric}} {
		b.Run(fmt.Sprint(f.name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.dot(x, y)
			}
		})
	}
}
