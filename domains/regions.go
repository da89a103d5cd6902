package domains

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// regions divides rows by spherical k-means into k regions, without the empty ones, and
// gives the nearest regions of each row, its own first.
func regions(rows [][]float32, k, nearby int) (members [][]int, near [][]int) {
	const passes = 8
	means := seeds(rows, k)
	of := make([]int, len(rows))
	for range passes {
		sums := make([][]float32, k)
		for c := range sums {
			sums[c] = make([]float32, len(rows[0]))
		}
		changed := false
		for i, row := range rows {
			best, most := 0, float32(-2)
			for c, mean := range means {
				if d := dot(mean, row); d > most {
					best, most = c, d
				}
			}
			changed = changed || of[i] != best
			of[i] = best
			for d, x := range row {
				sums[best][d] += x
			}
		}
		for _, sum := range sums {
			normalize(sum)
		}
		means = sums
		if !changed {
			break
		}
	}
	members = make([][]int, k)
	for i := range rows {
		members[of[i]] = append(members[of[i]], i)
	}
	number := make([]int, k) // of those that are left
	left := 0
	for c := range members {
		number[c] = left
		if len(members[c]) > 0 {
			left++
		}
	}
	near = make([][]int, len(rows))
	order := make([]int, 0, k)
	similar := make([]float32, k)
	for i, row := range rows {
		order = order[:0]
		for c := range means {
			if len(members[c]) > 0 {
				order = append(order, c)
				similar[c] = dot(means[c], row)
			}
		}
		similar[of[i]] = 2
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(similar[b], similar[a]), a-b) })
		for _, c := range order[:min(nearby, len(order))] {
			near[i] = append(near[i], number[c])
		}
	}
	return slices.DeleteFunc(members, func(m []int) bool { return len(m) == 0 }), near
}

// seeds chooses k rows far apart as k-means++ does (Arthur and Vassilvitskii 2007), always
// the same ones.
func seeds(rows [][]float32, k int) [][]float32 {
	random := rand.New(rand.NewPCG(1, 2))
	distance := make([]float64, len(rows))
	for i := range distance {
		distance[i] = 1
	}
	var out [][]float32
	for len(out) < k {
		total := 0.0
		for _, d := range distance {
			total += d
		}
		at := random.Float64() * total
		chosen := len(rows) - 1
		for i, d := range distance {
			if at -= d; at < 0 {
				chosen = i
				break
			}
		}
		out = append(out, rows[chosen])
		for i, row := range rows {
			distance[i] = min(distance[i], max(0, 1-float64(dot(row, rows[chosen]))))
		}
	}
	return out
}
