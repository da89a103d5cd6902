package index

import "math"

// A matrix holds rows of int8 with one scale each: value j of row i is
// float32(rows[i*dim+j]) * scale[i]. The scale per row matters: with one scale
// for all, nearest neighbours collapse. It never changes after it is built.
type matrix struct {
	dim   int
	rows  []int8
	scale []float32
}

// newMatrix returns a matrix of zeros.
func newMatrix(dim, rows int) matrix {
	return matrix{dim: dim, rows: make([]int8, dim*rows), scale: make([]float32, rows)}
}

func (m *matrix) len() int { return len(m.scale) }

// set makes v, which has m.dim values, row i.
func (m *matrix) set(i int, v []float32) {
	at := i * m.dim
	appendInt8(m.rows[at:at:at+m.dim], v)
	m.scale[i] = scaleOf(v)
}

// dot is the inner product of row i and q.
func (m *matrix) dot(i int, q *vector) float32 {
	return float32(dotInt8(m.rows[i*m.dim:(i+1)*m.dim], q.values)) * m.scale[i] * q.scale
}

// float is row i as it counts, of unit length unless it is zero.
func (m *matrix) float(i int) []float32 {
	v := make([]float32, m.dim)
	for j, x := range m.rows[i*m.dim : (i+1)*m.dim] {
		v[j] = float32(x)
	}
	normalize(v)
	return v
}

// A vector is one query in the form of a matrix row.
type vector struct {
	values []int8
	scale  float32
}

// known tells whether the vector says anything: it is neither zero nor, by a
// broken embedder, out of all bounds.
func (q *vector) known() bool { return q.scale > 0 && q.scale <= math.MaxFloat32 }

func (q *vector) set(v []float32) {
	q.values = appendInt8(q.values[:0], v)
	q.scale = scaleOf(v)
}

// scaleOf is what one step of int8 is worth for v.
func scaleOf(v []float32) float32 {
	var top float32
	for _, x := range v {
		top = max(top, x, -x)
	}
	return top / math.MaxInt8
}

func appendInt8(dst []int8, v []float32) []int8 {
	scale := scaleOf(v)
	if scale == 0 {
		for range v {
			dst = append(dst, 0)
		}
		return dst
	}
	inverse := 1 / scale
	for _, x := range v {
		steps := float64(x * inverse)
		dst = append(dst, int8(steps+math.Copysign(0.5, steps))) // math.Round, twice as fast
	}
	return dst
}

// dotGeneric is the inner product of two rows of one length. Four sums keep the
// processor's adders busy: a third faster than one.
func dotGeneric(a, b []int8) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += int32(a[i]) * int32(b[i])
		s1 += int32(a[i+1]) * int32(b[i+1])
		s2 += int32(a[i+2]) * int32(b[i+2])
		s3 += int32(a[i+3]) * int32(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

// normalize makes v of unit length; a zero vector stays zero.
func normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	inverse := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= inverse
	}
}

func dotFloat(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// addScaled adds w times b to a.
func addScaled(a, b []float32, w float32) {
	for i, x := range b {
		a[i] += w * x
	}
}
