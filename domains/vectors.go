package domains

import "math"

// dot multiplies two rows of one length. The conversions keep a processor from fusing
// multiplication and addition, so that every machine gets the same.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float32(a[i] * b[i])
		s1 += float32(a[i+1] * b[i+1])
		s2 += float32(a[i+2] * b[i+2])
		s3 += float32(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float32(a[i] * b[i])
	}
	return s0 + s1 + s2 + s3
}

// norm returns the length of v.
func norm(v []float32) float64 { return math.Sqrt(float64(dot(v, v))) }

// normalize gives v the length 1; zeros stay zeros.
func normalize(v []float32) {
	n := norm(v)
	if n < 1e-6 {
		clear(v)
		return
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / n)
	}
}
