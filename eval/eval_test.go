package eval

import (
	"context"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter"
	"skillrouter/examples"
)

func TestReadCases(t *testing.T) {
	for _, test := range []struct {
		name, text, err string
		want            []Case
	}{
		{
			name: "two", text: `{"text":"a","skills":["x"],"domains":["d"],"extra":1}` + "\n\n" + `{"text":"b","oos":true}` + "\n",
			want: []Case{{Text: "a", Skills: []string{"x"}, Domains: []string{"d"}}, {Text: "b", OutOfScope: true}},
		},
		{name: "broken line", text: `{"text":"a","oos":true}` + "\n{", err: "cases.jsonl:2: unexpected end"},
		{name: "a list", text: `["a"]`, err: "cases.jsonl:1: the line is of type array: it must be an object"},
		{name: "one skill", text: `{"text":"a","skills":"x"}`, err: "cases.jsonl:1: skills is of type string: it must be a list"},
		{name: "out of scope in words", text: `{"text":"a","oos":"yes"}`, err: "cases.jsonl:1: oos is of type string: it must be true or false"},
		{name: "no text", text: `{"oos":true}`, err: "cases.jsonl:1: no text"},
		{name: "neither", text: `{"text":"a"}`, err: "cases.jsonl:1: oos is false"},
		{name: "both", text: `{"text":"a","oos":true,"skills":["x"]}`, err: "cases.jsonl:1: oos is true"},
		{name: "empty", text: "\n", err: "cases.jsonl: no case"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadCases(strings.NewReader(test.text), "cases.jsonl")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAUROC(t *testing.T) {
	for _, test := range []struct {
		name     string
		pos, neg []float64
		want     float64
	}{
		{"apart", []float64{0.8, 0.9}, []float64{0.1, 0.2}, 1},
		{"swapped", []float64{0.1}, []float64{0.2, 0.3}, 0},
		{"one of four wrong", []float64{0.3, 0.9}, []float64{0.1, 0.5}, 0.75},
		{"ties count half", []float64{0.5}, []float64{0.5, 0.5}, 0.5},
		{"no negatives", []float64{0.5}, nil, 0},
	} {
		if got := auroc(test.pos, test.neg); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestCalibrationError(t *testing.T) {
	var b calibrationBins
	if got := b.error(); got != 0 {
		t.Errorf("nothing: got %v, want 0", got)
	}
	for range 4 { // says 0.9, is right three times of four
		b.add(0.9, b.total < 3)
	}
	for range 4 { // says 0.1, is never right
		b.add(0.1, false)
	}
	b.add(1, true) // the last bin holds 1
	if got, want := b.error(), (4*0.15+4*0.1+0)/9; math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The shares of a report add up, and a catalog's own utterances are found.
func TestRun(t *testing.T) {
	ctx := context.Background()
	r, err := skillrouter.Open(ctx, &skillrouter.Options{FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := ReadCases(strings.NewReader(string(examples.Utterances())), "utterances.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Run(ctx, r.Router, cases)
	if err != nil {
		t.Fatal(err)
	}
	if sum := rep.RightMatch + rep.WideMatch + rep.WrongMatch + rep.NoMatch; math.Abs(sum-1) > 1e-9 {
		t.Errorf("the shares of in-scope cases add up to %v", sum)
	}
	if rep.InScope+rep.OutOfScope != rep.N || rep.N != len(cases) {
		t.Errorf("got %d in scope, %d out, %d in all of %d", rep.InScope, rep.OutOfScope, rep.N, len(cases))
	}
	if rep.SkillHit1 > rep.SkillHit5 || rep.SkillHit5 < 0.8 || rep.DomainHit1 < 0.7 {
		t.Errorf("the examples' own utterances should be found, got %+v", rep)
	}

	// Labels that are all wrong give the opposite.
	wrong := []Case{{Text: cases[0].Text, Skills: []string{"none"}, Domains: []string{"none"}}}
	rep, err = Run(ctx, r.Router, wrong)
	if err != nil {
		t.Fatal(err)
	}
	want := &Report{N: 1, InScope: 1}
	if d := cmp.Diff(want, rep, cmpopts.IgnoreFields(Report{}, "WrongMatch", "NoMatch", "Returned", "ECE", "LatencyP50")); d != "" {
		t.Error(d)
	}
	if _, err := Run(ctx, r.Router, nil); err == nil {
		t.Error("no cases: want an error, not a report of nothing")
	}
}
