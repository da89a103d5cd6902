package main

import (
	"math"
	"testing"
)

func TestAdjustedRand(t *testing.T) {
	for _, test := range []struct {
		name       string
		one, other string
		want       float64
	}{
		{"alike, other names", "aabbcc", "xxyyzz", 1},
		{"one moved", "aaabbb", "xxyyyy", (4 - 2.8) / (6.5 - 2.8)},
		{"across", "aabb", "xyxy", (0 - 2.0/3) / (2 - 2.0/3)},
		{"one part of all", "aaaa", "xxyy", 0},
		{"nothing to divide", "", "", 1},
		{"all alone", "abc", "xyz", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pairs [][2]string
			for i := range test.one {
				pairs = append(pairs, [2]string{test.one[i : i+1], test.other[i : i+1]})
			}
			if got := adjustedRand(pairs); math.Abs(got-test.want) > 1e-12 {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
