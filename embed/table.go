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

// addRow adds weight × the row of tok to sum.
func (t *table) addRow(sum *[dim]float32, tok token, weight float32) {
	// A row has 16 different values: computing them first leaves one addition a
	// dimension, and no product that could be fused with it.
	var value [16]float32
	scale := t.scales[tok] * weight
	for i := range value {
		value[i] = float32(i-8) * scale
	}
	row := t.rows[int(tok)*rowBytes:][:rowBytes]
	for j := range rowBytes {
		b := row[j]
		sum[2*j] += value[b&15]
		sum[2*j+1] += value[b>>4]
	}
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
