// Package eval measures how well a router finds what labelled utterances need.
//
// [ReadCases] reads utterances with their right skills and domains, [Run]
// routes them and returns a [Report]. [ReadDialogues] reads whole dialogues,
// [Replay] routes each in a session and returns a [ReplayReport] that also
// tells what every turn showed, what it cost and where it went astray.
package eval

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"skillrouter/router"
)

// A Case is one labelled utterance.
type Case struct {
	Text       string   `json:"text"`
	Skills     []string `json:"skills"`  // right ones, any of which is a hit
	Domains    []string `json:"domains"` // right ones
	OutOfScope bool     `json:"oos"`     // no skill serves it; then Skills and Domains are empty
	Kind       string   `json:"kind"`    // free, to report by
}

// maxLine bounds a line of a file of cases.
const maxLine = 1 << 20

// ReadCases reads one JSON object a line; keys that it does not know are
// ignored. path names the source in errors, which give the line.
func ReadCases(r io.Reader, path string) ([]Case, error) {
	var cases []Case
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var c Case
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, plainly(err))
		}
		switch {
		case c.Text == "":
			return nil, fmt.Errorf("%s:%d: no text", path, n)
		case c.OutOfScope != (len(c.Skills) == 0 && len(c.Domains) == 0):
			return nil, fmt.Errorf("%s:%d: oos is %v, but there are %d skills and %d domains", path, n, c.OutOfScope, len(c.Skills), len(c.Domains))
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%s: no case", path)
	}
	return cases, nil
}

// plainly says of JSON of the wrong type where it is and what belongs there.
func plainly(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	want, named := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false", reflect.Slice: "a list",
	}[wrong.Type.Kind()]
	if !named {
		want = "an object"
	}
	if wrong.Field == "" {
		return fmt.Errorf("the line is of type %s: it must be %s", wrong.Value, want)
	}
	return fmt.Errorf("%s is of type %s: it must be %s", wrong.Field, wrong.Value, want)
}

// A Report holds shares from 0 to 1; those of in-scope cases are of the
// in-scope cases only, those of out-of-scope cases of the others, and 0 where
// there are none. Skills are ranked before the threshold.
type Report struct {
	N          int `json:"n"`
	InScope    int `json:"in_scope"`
	OutOfScope int `json:"out_of_scope"`

	DomainHit1 float64 `json:"domain_hit@1"`
	SkillHit1  float64 `json:"skill_hit@1"`
	SkillHit5  float64 `json:"skill_hit@5"`

	// At the threshold, in scope: one or two domains with a right one among
	// them; three and more with a right one; only wrong ones; none.
	RightMatch float64 `json:"right_match_rate"`
	WideMatch  float64 `json:"wide_match_rate"`
	WrongMatch float64 `json:"wrong_match_rate"`
	NoMatch    float64 `json:"no_match_rate"`
	Returned   float64 `json:"domains_returned_mean"` // of cases that matched

	AbstainRecall float64 `json:"abstain_recall"` // out of scope: matched nothing
	AbstainAUROC  float64 `json:"abstain_auroc"`  // of the best domain's score, in scope against out
	ECE           float64 `json:"ece"`            // of the best domain's score, 15 bins, all cases

	LatencyP50 time.Duration `json:"latency_p50_ns"`
}

// Run routes every case by itself, outside a session. It fails without cases
// and when ctx ends.
func Run(ctx context.Context, r *router.Router, cases []Case) (*Report, error) {
	if len(cases) == 0 {
		return nil, errors.New("eval: no case")
	}
	rep := &Report{N: len(cases)}
	var (
		scores, scoresOut []float64
		took              []time.Duration
		bins              calibrationBins
		returned, matched int
	)
	for i := range cases {
		c := &cases[i]
		start := time.Now()
		route, err := r.Route(ctx, c.Text)
		took = append(took, time.Since(start))
		if err != nil {
			return nil, fmt.Errorf("eval: case %d: %w", i+1, err)
		}
		top := route.Top()
		bins.add(float64(top.Score), slices.Contains(c.Domains, top.Name))
		var names []string
		if route.Matched() {
			for _, d := range route.Domains {
				if d.Matched {
					names = append(names, d.Name)
				}
			}
		}
		if c.OutOfScope {
			rep.OutOfScope++
			scoresOut = append(scoresOut, float64(top.Score))
			if len(names) == 0 {
				rep.AbstainRecall++
			}
			continue
		}
		rep.InScope++
		scores = append(scores, float64(top.Score))
		if slices.Contains(c.Domains, top.Name) {
			rep.DomainHit1++
		}
		switch rank := firstRight(route.Candidates, c.Skills); {
		case rank == 0:
			rep.SkillHit1++
			rep.SkillHit5++
		case rank > 0 && rank < 5:
			rep.SkillHit5++
		}
		right := slices.ContainsFunc(names, func(n string) bool { return slices.Contains(c.Domains, n) })
		switch {
		case len(names) == 0:
			rep.NoMatch++
		case !right:
			rep.WrongMatch++
		case len(names) <= 2:
			rep.RightMatch++
		default:
			rep.WideMatch++
		}
		if len(names) > 0 {
			matched++
			returned += len(names)
		}
	}
	share := func(x *float64, n int) { *x /= float64(max(n, 1)) }
	for _, x := range []*float64{&rep.DomainHit1, &rep.SkillHit1, &rep.SkillHit5, &rep.RightMatch, &rep.WideMatch, &rep.WrongMatch, &rep.NoMatch} {
		share(x, rep.InScope)
	}
	share(&rep.AbstainRecall, rep.OutOfScope)
	rep.Returned = float64(returned) / float64(max(matched, 1))
	rep.AbstainAUROC = auroc(scores, scoresOut)
	rep.ECE = bins.error()
	slices.Sort(took)
	rep.LatencyP50 = took[len(took)/2]
	return rep, nil
}

// firstRight is the place of the first right candidate, -1 if there is none.
func firstRight(ranking []router.Candidate, right []string) int {
	return slices.IndexFunc(ranking, func(c router.Candidate) bool { return slices.Contains(right, c.Name) })
}

// auroc is the probability that a positive scores above a negative, ties
// counting half (Mann–Whitney); 0 if one side is empty.
func auroc(positives, negatives []float64) float64 {
	if len(positives) == 0 || len(negatives) == 0 {
		return 0
	}
	sorted := slices.Clone(negatives)
	slices.Sort(sorted)
	var wins float64
	for _, p := range positives {
		below, _ := slices.BinarySearch(sorted, p)
		upTo := below
		for upTo < len(sorted) && sorted[upTo] == p {
			upTo++
		}
		wins += float64(below) + float64(upTo-below)/2
	}
	return wins / float64(len(positives)) / float64(len(negatives))
}

// calibrationBins sums up scores and outcomes in equal bins, for the expected
// calibration error (Naeini et al., 2015).
type calibrationBins struct {
	n      [15]int
	scores [15]float64
	right  [15]int
	total  int
}

func (b *calibrationBins) add(score float64, right bool) {
	i := min(int(score*float64(len(b.n))), len(b.n)-1)
	b.n[i]++
	b.total++
	b.scores[i] += score
	if right {
		b.right[i]++
	}
}

func (b *calibrationBins) error() float64 {
	var sum float64
	for i, n := range b.n {
		if n > 0 {
			gap := b.scores[i] - float64(b.right[i])
			sum += max(gap, -gap)
		}
	}
	return sum / float64(max(b.total, 1))
}
