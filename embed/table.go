package embed

import (
	"fmt"
	"math"
)

const (
	rowBytes   = dim / 2 // two dimensions a byte
	scaleBytes = 2
)

// A table holds rows of four-bit numbers, each row with a scale.
type table struct {
	rows   string // rowBytes for each token
	scales []float32
}

// newTable returns the table in data, which must have n rows.
func newTable(data string, n int) (table, error) {
	if want := n * (rowBytes + scaleBytes); len(data) != want {
		return table{}, fmt.Errorf("embed: table.bin has %d bytes, but the %d tokens of vocab.txt take %d: make both anew with tools/distill",
			len(data), n, want)
	}
	t := table{rows: data[:n*rowBytes], scales: make([]float32, n)}
	halves := data[n*rowBytes:]
	for i := range t.scales {
		half := uint16(halves[2*i]) | uint16(halves[2*i+1])<<8
		scale := fromHalf(half)
		if !(scale > 0) || math.IsInf(float64(scale), 1) {
			return table{}, fmt.Errorf("embed: table.bin: the scale of row %d is %v, not a positive number: make the file anew with tools/distill", i, scale)
		}
		t.scales[i] = scale
	}
	return t, nil
}

// blockRows is how many rows are added at a time, so that each dimension of the
// sum is read and written once for all of them: twice as fast as row by row.
const blockRows = 4

// A block is up to blockRows rows on their way into a sum. A row has 16
// different values: computing them first leaves one addition a dimension. The
// zero block adds nothing.
type block struct {
	rows   [blockRows]token
	values [blockRows][16]float32
	n      int // rows set
}

// put adds weight × the row of tok to the block, which must not be full.
func (b *block) put(t *table, tok token, weight float32) {
	b.rows[b.n] = tok
	scale := t.scales[tok] * weight
	for v := range b.values[b.n] {
		// Converted, so that no processor fuses the product with the sum.
		b.values[b.n][v] = float32(float32(v-8) * scale)
	}
	b.n++
}

// flush adds the rows of the block to sum, in the order in which they were put,
// and empties the block.
func (b *block) flush(t *table, sum *[dim]float32) {
	clear(b.values[b.n:])
	r0, r1, r2, r3 := t.row(b.rows[0]), t.row(b.rows[1]), t.row(b.rows[2]), t.row(b.rows[3])
	v0, v1, v2, v3 := &b.values[0], &b.values[1], &b.values[2], &b.values[3]
	for j := range rowBytes {
		b0, b1, b2, b3 := r0[j], r1[j], r2[j], r3[j]
		sum[2*j] = sum[2*j] + v0[b0&15] + v1[b1&15] + v2[b2&15] + v3[b3&15]
		sum[2*j+1] = sum[2*j+1] + v0[b0>>4] + v1[b1>>4] + v2[b2>>4] + v3[b3>>4]
	}
	b.n = 0
}

func (t *table) row(tok token) string {
	return t.rows[int(tok)*rowBytes:][:rowBytes]
}

// fromHalf converts an IEEE 754 half-precision number.
func fromHalf(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent, fraction := uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 0: // zero and subnormal: fraction × 2⁻²⁴
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
