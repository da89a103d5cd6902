package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// An Interval holds a figure with 95 % certainty: lower and upper end.
type Interval [2]Number

// resamples is how many samples an interval is made of.
const resamples = 1000

// Intervals returns an interval for each rate of rows that is known, by its
// name: the middle 95 % of what 1,000 samples of as many rows, drawn with
// replacement, give (bootstrap, percentile; Efron, 1979), for the ECE reflected
// at the figure (basic). They are the same for the same rows. Where all rows
// agree, an interval has no width, however few they are. 2,000 rows take 0.1 s.
func Intervals(rows []*Row) map[string]Interval {
	var means []unitMean
	known := Measure(rows)
	for _, k := range Kinds() {
		if !k.Rate || k.row == nil || !k.Of(known).Known() {
			continue
		}
		m := unitMean{name: k.Name, sums: make([]float64, len(rows)), counts: make([]float64, len(rows))}
		for i, r := range rows {
			if v, counts := k.row(r); counts {
				m.sums[i], m.counts[i] = v, 1
			}
		}
		means = append(means, m)
	}
	a, e := newWeightedAUROC(rows), newWeightedECE(rows)
	intervals := bootstrap(len(rows), means, map[string]func([]float64) float64{"abstain_auroc": a.value, "ece": e.value})
	// The gaps of a sample are wider by chance alone: an interval of the ECE
	// would lie above it.
	if x, ok := intervals["ece"]; ok {
		v := known.ECE
		intervals["ece"] = Interval{min(max(2*v-x[1], 0), v), max(2*v-x[0], v)}
	}
	return intervals
}

// A unitMean is a mean over units that are drawn as a whole: rows or dialogues.
type unitMean struct {
	name         string
	sums, counts []float64 // by unit: of its values, and how many
}

// bootstrap draws units anew and again, and returns the intervals of the means
// and of other figures, which are given how often each unit was drawn.
func bootstrap(units int, means []unitMean, others map[string]func(drawn []float64) float64) map[string]Interval {
	found := map[string][]float64{}
	keep := func(name string, value float64) {
		if !math.IsNaN(value) {
			found[name] = append(found[name], value)
		}
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same for the same units
	drawn := make([]float64, units)
	for range resamples {
		clear(drawn)
		for range units {
			drawn[random.IntN(units)]++
		}
		for i := range means {
			m := &means[i]
			var sum, n float64
			for u, w := range drawn {
				sum += w * m.sums[u]
				n += w * m.counts[u]
			}
			keep(m.name, sum/n)
		}
		for name, value := range others {
			keep(name, value(drawn))
		}
	}
	intervals := map[string]Interval{}
	for name, values := range found {
		slices.Sort(values)
		intervals[name] = Interval{quantile(values, 0.025), quantile(values, 0.975)}
	}
	return intervals
}

// A weightedAUROC is the AUROC of rows that count several times or not at all.
type weightedAUROC struct {
	rows  []*Row
	order []int // of the rows in and out of scope, by reach
}

func newWeightedAUROC(rows []*Row) *weightedAUROC {
	a := &weightedAUROC{rows: rows}
	for i, r := range rows {
		if r.InScope() || r.Case.OutOfScope {
			a.order = append(a.order, i)
		}
	}
	slices.SortStableFunc(a.order, func(i, j int) int {
		return compare(rows[i].Reach, rows[j].Reach)
	})
	return a
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func (a *weightedAUROC) value(drawn []float64) float64 {
	var wins, in, out float64 // out: of those below
	for i := 0; i < len(a.order); {
		var tiedIn, tiedOut float64
		reach := a.rows[a.order[i]].Reach
		for ; i < len(a.order) && a.rows[a.order[i]].Reach == reach; i++ {
			if row := a.order[i]; a.rows[row].Case.OutOfScope {
				tiedOut += drawn[row]
			} else {
				tiedIn += drawn[row]
			}
		}
		wins += tiedIn * (out + tiedOut/2)
		in += tiedIn
		out += tiedOut
	}
	return wins / in / out
}

// A weightedECE is the same for the expected calibration error.
type weightedECE struct {
	bin  []int     // by row; -1: it does not count
	gaps []float64 // score less whether it is right
}

func newWeightedECE(rows []*Row) *weightedECE {
	e := &weightedECE{bin: make([]int, len(rows)), gaps: make([]float64, len(rows))}
	for i, r := range rows {
		var b Bins
		b.add(r)
		e.bin[i] = slices.IndexFunc(b[:], func(x Bin) bool { return x.N > 0 })
		e.gaps[i] = r.Score - one(r.DomainRank == 1)
	}
	return e
}

func (e *weightedECE) value(drawn []float64) float64 {
	var gaps [len(Bins{})]float64
	var n float64
	for i, b := range e.bin {
		if b >= 0 {
			gaps[b] += drawn[i] * e.gaps[i]
			n += drawn[i]
		}
	}
	var sum float64
	for _, g := range gaps {
		sum += math.Abs(g)
	}
	return sum / n
}
