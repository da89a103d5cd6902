package index

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/optimize"
)

// A head is a linear classifier of a vector by skill: multinomial logistic
// regression over the phrases of the skills. Where skills have several phrases
// that users would say, it tells neighbours apart better than the centroids do
// (bench/accuracy: +1 to +2 points of hit@1 on CLINC150, BANKING77 and HWU64).
// It is fitted by L-BFGS (Liu and Nocedal, 1989).
type head struct {
	weights blas32.General // skills × dimensions
	bias    []float32      // by skill
}

const (
	headSkills     = 200 // up to so many skills: the cost of a fit grows with skills times phrases
	headTriggers   = 3   // triggers of its own that a skill needs to gain by it
	headShare      = 0.8 // share of the skills that have them
	headFit        = 5   // how much a phrase counts against ½‖weights‖²; 1 to 20 do much the same
	headIterations = 15  // more gain nothing
	headFolds      = 5   // each leaves out a part of every skill's triggers
	foldIterations = 6   // a fold begins near its end, at the head of all phrases
	headUnit       = 0.5 // evidence by which the best skill of a trigger lies above the mean, as the cosines of centroids do
)

// A headRow is one phrase to fit a head on.
type headRow struct {
	skill  int32
	vector []float32
	weight float32
}

// fitHead fits a head for n skills to rows, in at most so many iterations from
// start on; a nil start is zero. It fails only when ctx ends.
func fitHead(ctx context.Context, rows []headRow, n, iterations int, start *head) (*head, error) {
	dim := len(rows[0].vector)
	x := blas32.General{Rows: len(rows), Cols: dim, Stride: dim, Data: make([]float32, len(rows)*dim)}
	for i, r := range rows {
		copy(x.Data[i*dim:], r.vector)
	}
	h := &head{
		weights: blas32.General{Rows: n, Cols: dim, Stride: dim, Data: make([]float32, n*dim)},
		bias:    make([]float32, n),
	}
	residual := blas32.General{Rows: len(rows), Cols: n, Stride: n, Data: make([]float32, len(rows)*n)}
	gradient := blas32.General{Rows: n, Cols: dim, Stride: dim, Data: make([]float32, n*dim)}

	// Loss and slope come together, but are asked for one after the other.
	at, slope := make([]float64, n*dim+n), make([]float64, n*dim+n)
	loss := math.NaN()
	evaluate := func(p []float64) {
		if !math.IsNaN(loss) && slices.Equal(at, p) {
			return
		}
		copy(at, p)
		h.set(p)
		loss = 0
		for _, w := range p[:n*dim] {
			loss += w * w / 2
		}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, x, h.weights, 0, residual)
		bias := slope[n*dim:]
		clear(bias)
		for i, r := range rows {
			z := residual.Data[i*n : (i+1)*n]
			c := headFit * float64(r.weight)
			loss += c * h.surprise(z, r.skill)
			for k := range z {
				z[k] *= float32(c)
				bias[k] += float64(z[k])
			}
		}
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, residual, x, 0, gradient)
		for i, g := range gradient.Data {
			slope[i] = p[i] + float64(g)
		}
	}
	problem := optimize.Problem{
		Func:   func(p []float64) float64 { evaluate(p); return loss },
		Grad:   func(into, p []float64) { evaluate(p); copy(into, slope) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}
	p := make([]float64, n*dim+n)
	if start != nil {
		for i, w := range start.weights.Data {
			p[i] = float64(w)
		}
		for i, b := range start.bias {
			p[n*dim+i] = float64(b)
		}
	}
	result, err := optimize.Minimize(problem, p, &optimize.Settings{MajorIterations: iterations}, &optimize.LBFGS{Linesearcher: &optimize.MoreThuente{}})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if result == nil {
		return nil, fmt.Errorf("fitting the head: %w", err)
	}
	h.set(result.X) // with an err too: a line search that finds no better place is at the end
	return h, nil
}

// set takes weights and biases from p, one after the other.
func (h *head) set(p []float64) {
	for i := range h.weights.Data {
		h.weights.Data[i] = float32(p[i])
	}
	for i := range h.bias {
		h.bias[i] = float32(p[len(h.weights.Data)+i])
	}
}

// surprise turns z, the inner products of a row, into the probabilities of the
// skills less 1 for the right one, and returns the log loss.
func (h *head) surprise(z []float32, right int32) float64 {
	top := float32(math.Inf(-1))
	for k := range z {
		z[k] += h.bias[k]
		top = max(top, z[k])
	}
	own := float64(z[right] - top)
	var sum float64
	for k := range z {
		e := math.Exp(float64(z[k] - top))
		z[k] = float32(e)
		sum += e
	}
	inverse := float32(1 / sum)
	for k := range z {
		z[k] *= inverse
	}
	z[right]--
	return math.Log(sum) - own
}

// logits appends what the head says of v, by skill, to dst.
func (h *head) logits(dst, v []float32) []float32 {
	for k, b := range h.bias {
		dst = append(dst, dotFloat(h.weights.Data[k*h.weights.Stride:(k+1)*h.weights.Stride], v)+b)
	}
	return dst
}

// richShare is the share of the skills that have several triggers of their
// author's; manual ones, which nothing leads to, do not count.
func (b *builder) richShare() (share float32, skills int) {
	rich := 0
	for i := range b.ix.skills {
		m := &b.ix.skills[i].Summary
		if m.Manual {
			continue
		}
		skills++
		if b.written[i] && len(m.Triggers) >= headTriggers {
			rich++
		}
	}
	return float32(rich) / float32(max(skills, 1)), skills
}

// fitHeads decides what words weigh and fits the head, if the catalog is one
// for it, and those that the held-out phrases are asked of: each without a part
// of the triggers. It fails only when ctx ends.
func (b *builder) fitHeads(ctx context.Context) error {
	rich, skills := b.richShare()
	b.ix.wordWeight = weightWords - rich*(weightWords-weightTold)
	if rich < headShare || skills < 2 || skills > headSkills {
		return nil
	}
	b.ix.wordWeight = weightHead
	ix := b.ix
	n, dim := len(ix.skills), ix.rows.dim
	var rows []headRow
	var folds []int // of each row, -1: in all of them
	for i := range b.phrases {
		if ix.skills[i].Summary.Manual {
			continue
		}
		fold := 0
		for k := range b.phrases[i] {
			p := &b.phrases[i][k]
			rows = append(rows, headRow{int32(i), p.vector, p.weight})
			if p.trigger {
				folds = append(folds, fold%headFolds)
				fold++
			} else {
				folds = append(folds, -1)
			}
		}
	}
	all, err := fitHead(ctx, rows, n, headIterations, nil)
	if err != nil {
		return err
	}
	b.held = make(map[place][]float32)
	var above float64
	for fold := range headFolds {
		var some []headRow
		for i, r := range rows {
			if folds[i] != fold {
				some = append(some, r)
			}
		}
		h, err := fitHead(ctx, some, n, foldIterations, all)
		if err != nil {
			return err
		}
		at := 0
		for i := range b.phrases {
			if ix.skills[i].Summary.Manual {
				continue
			}
			for k := range b.phrases[i] {
				if folds[at] == fold {
					z := h.logits(nil, b.phrases[i][k].vector)
					b.held[place{i, k}] = z
					above += float64(slices.Max(z))
				}
				at++
			}
		}
	}
	unit := float32(headUnit * float64(len(b.held)) / max(above, 1))
	ix.heads, ix.headBias = newMatrix(dim, n), make([]float32, n)
	row := make([]float32, dim)
	for i := range n {
		for j := range row {
			row[j] = all.weights.Data[i*dim+j] * unit
		}
		ix.heads.set(i, row)
		ix.headBias[i] = all.bias[i] * unit
	}
	for _, z := range b.held {
		for k := range z {
			z[k] *= unit
		}
	}
	return nil
}
