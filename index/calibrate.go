package index

import (
	"bufio"
	_ "embed" // the utterances below
	"math"
	"strings"

	"skillrouter/internal/text"
)

//go:embed background.txt
var backgroundText string

// Background returns our own utterances that belong to no skill, one a line.
func Background() []string {
	var us []string
	for lines := bufio.NewScanner(strings.NewReader(backgroundText)); lines.Scan(); {
		if l := strings.TrimSpace(lines.Text()); l != "" && !strings.HasPrefix(l, "#") {
			us = append(us, l)
		}
	}
	return us
}

const (
	backgroundShare = 0.125 // assumed share of utterances that belong to no skill, in each language that the phrases are in
	backgroundNear  = 0.8   // similarity to a phrase from which one of ours may belong to a skill after all
	fewPositives    = 50    // below so many phrases the prior stands alone
	mostPositives   = 2000  // phrases asked for, chosen by hash
	priorWeight     = 10    // of the prior, in the curvature of the fit; about what 25 phrases weigh
	rowsEach        = 2     // best domains of an utterance that the fit sees
)

// A Language of an utterance decides which words can be compared, and so how
// much evidence there can be at all: over English skills a Chinese utterance
// has hardly any words, whether it belongs to one or to none.
type Language int

// The languages.
const (
	Other Language = iota // English, and whatever is not Chinese
	Chinese
)

// LanguageOf tells in which language s is mainly written.
func LanguageOf(s string) Language {
	if text.HanShare(s) >= 0.3 {
		return Chinese
	}
	return Other
}

// A Calibration maps evidence to scores, for the parts that may be missing.
type Calibration struct {
	Full, Semantic, Lexical Curve
}

// A Curve is one map from a domain's evidence to the probability that it is
// among the right ones: a logistic function of how far the evidence lies above
// what utterances of no skill reach at their best, and of the margin.
type Curve struct {
	Mean, Deviation [2]float32 // of the best domain's evidence over the background, by language of the utterance
	Weights         [4]float64 // of what Features returns; none but the last is negative
	Phrases         int        // of the catalog it was fitted on; 0: the prior alone
}

// prior is the curve's weights for catalogs without phrases enough. It was
// fitted by bench/prior, without triggers and alike, on the example catalog,
// whose skills have bodies, and on public sets of names and descriptions
// (metatool, hwu64, clinc150, crosswoz-zh, api-bank), with the same background
// and share. Level, lead and lag are in units of the catalog's own background,
// so it carries over from set to set.
func prior() [4]float64 { return [4]float64{0.29, 1.50, 0.39, -1.21} }

// Features are what the logistic function weighs: how far the evidence lies
// above the background, the lead over and the lag behind the best other
// domain, in deviations of the background, and 1.
func (c *Curve) Features(l Language, evidence, margin float32) [4]float64 {
	level := float64((evidence - c.Mean[l]) / c.Deviation[l])
	m := float64(margin / c.Deviation[l])
	x := [4]float64{4 * math.Tanh(level/4), 0, 0, 1} // far above is not much surer than well above
	if m > 0 {
		x[1] = math.Sqrt(m)
	} else {
		x[2] = m
	}
	return x
}

// sound tells whether the curve gives a score for any evidence, and never a
// lower one for more.
func (c *Curve) sound() bool {
	const most = 1e6
	for i, w := range c.Weights {
		if !(math.Abs(w) <= most && (i == 3 || w >= 0)) {
			return false
		}
	}
	for l := range c.Mean {
		if !(math.Abs(float64(c.Mean[l])) <= most && c.Deviation[l] >= 1e-3 && c.Deviation[l] <= most) {
			return false
		}
	}
	return true
}

func (c *Curve) score(l Language, evidence, margin float32) float32 {
	return float32(logistic(c.Features(l, evidence, margin), c.Weights))
}

func logistic(x, w [4]float64) float64 {
	return 1 / (1 + math.Exp(-(x[0]*w[0] + x[1]*w[1] + x[2]*w[2] + x[3]*w[3])))
}

// A Sample is one domain's standing for one utterance, to fit a curve on.
type Sample struct {
	Features [4]float64 // of the curve that is fitted
	Right    bool       // the domain is among the right ones
	Weight   float64    // 1 for one utterance
}

// Fit returns the weights of a curve: penalised maximum likelihood by Newton's
// method. The prior is where it starts and what it is pulled to, so that it is
// finite for any finite samples. More evidence never lowers a score: a weight
// that would be negative is 0, and the others are fitted to that.
func Fit(samples []Sample) [4]float64 {
	w := prior()
	var fixed [4]bool
	for {
		w = newton(samples, w, &fixed)
		lowest := 0
		for i := range 3 {
			if w[i] < w[lowest] {
				lowest = i
			}
		}
		if w[lowest] >= 0 {
			return w
		}
		w[lowest], fixed[lowest] = 0, true
	}
}

// newton returns the weights of least loss, from w on; fixed ones stay.
func newton(samples []Sample, w [4]float64, fixed *[4]bool) [4]float64 {
	loss := lossOf(samples, w)
	for range 50 {
		var gradient [4]float64
		var curvature [4][4]float64
		for i := range 4 {
			gradient[i] = priorWeight * (w[i] - prior()[i])
			curvature[i][i] = priorWeight
		}
		for _, s := range samples {
			p := logistic(s.Features, w)
			off := p
			if s.Right {
				off--
			}
			for i, x := range s.Features {
				gradient[i] += s.Weight * off * x
				for j, y := range s.Features {
					curvature[i][j] += s.Weight * p * (1 - p) * x * y
				}
			}
		}
		for i := range 4 {
			if fixed[i] {
				gradient[i] = 0
				for j := range 4 {
					curvature[i][j], curvature[j][i] = 0, 0
				}
				curvature[i][i] = 1
			}
		}
		step := solve(curvature, gradient)
		if size := math.Abs(step[0]) + math.Abs(step[1]) + math.Abs(step[2]) + math.Abs(step[3]); size < 1e-9 {
			break
		}
		next, less := w, false
		for share := 1.0; share > 1e-6 && !less; share /= 2 { // a whole step may go too far
			for i := range 4 {
				next[i] = w[i] - share*step[i]
			}
			l := lossOf(samples, next)
			if less = l < loss; less {
				w, loss = next, l
			}
		}
		if !less {
			break
		}
	}
	return w
}

// lossOf is what Fit makes small.
func lossOf(samples []Sample, w [4]float64) float64 {
	var loss float64
	for i := range 4 {
		d := w[i] - prior()[i]
		loss += priorWeight / 2 * d * d
	}
	for _, s := range samples {
		z := 0.0
		for i, x := range s.Features {
			z += x * w[i]
		}
		if s.Right {
			z = -z
		}
		loss += s.Weight * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))) // log(1+eᶻ)
	}
	return loss
}

// solve returns x of ax = b by Gaussian elimination; a is positive definite,
// so no pivot vanishes.
func solve(a [4][4]float64, b [4]float64) [4]float64 {
	for i := range 4 {
		for j := i + 1; j < 4; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < 4; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	for i := 3; i >= 0; i-- {
		for k := i + 1; k < 4; k++ {
			b[i] -= a[i][k] * b[k]
		}
		b[i] /= a[i][i]
	}
	return b
}
