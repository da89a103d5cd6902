package index

import (
	"math"
	"strings"
	"testing"
)

func sum32(xs []float32) float64 {
	var sum float64
	for _, x := range xs {
		sum += float64(x)
	}
	return sum
}

func TestKeeps(t *testing.T) {
	short, long := keeps("and on Sunday?", 0.3), keeps(strings.Repeat("word ", 40), 0.3)
	if short < 0.9 || short > 1 || long > 0.05 || long < 0 {
		t.Errorf("a short utterance stays with %v, a long one with %v", short, long)
	}
	if unsure, sure := keeps("write a mail", 0.5), keeps("write a mail", 0.95); sure > 0.6*unsure {
		t.Errorf("an utterance that is sure of its own domain stays with %v, one that is not with %v", sure, unsure)
	}
	if han, latin := keeps(strings.Repeat("字", 32), 0), keeps(strings.Repeat("word ", 16), 0); math.Abs(float64(han-latin)) > 1e-5 {
		t.Errorf("32 Han characters say as much as 16 words: got %v and %v", han, latin)
	}
}

func TestScoreWithLast(t *testing.T) {
	e := builtIn(t)
	ix := build(t, flat(), e)
	n := len(ix.Domains())
	cook, _ := ix.Lookup("cook-0")
	kitchen := ix.DomainsOf(cook)[0]
	type standing struct{ alone, score, evidence, context, share float32 }
	scored := func(utterance string, last []float32) (best int32, of map[int32]standing) {
		q := ask(t, e, utterance)
		q.Last = last
		s := ix.Score(q)
		defer s.Release()
		of = map[int32]standing{}
		var shares []float32
		for _, d := range s.Domains {
			of[d.Domain] = standing{d.Alone, d.Score, d.Evidence, d.Context, d.Share}
			shares = append(shares, d.Share)
		}
		if math.Abs(sum32(shares)-1) > 1e-4 {
			t.Errorf("%q: shares add up to %v", utterance, sum32(shares))
		}
		return s.Domains[0].Domain, of
	}
	even := make([]float32, n)
	towards := make([]float32, n)
	for d := range even {
		even[d], towards[d] = 1/float32(n), 0.02/float32(n-1)
	}
	towards[kitchen] = 0.98

	vague := "and with less salt"
	_, without := scored(vague, nil)
	_, evenly := scored(vague, even)
	best, leaning := scored(vague, towards)
	for d, x := range without {
		if x.alone != x.score || x.context != 0 {
			t.Errorf("domain %d without a past: %+v", d, x)
		}
		if y := evenly[d]; math.Abs(float64(x.evidence-y.evidence)) > 1e-5 || y.alone != x.alone {
			t.Errorf("domain %d with even chances: got %+v, want %+v", d, y, x)
		}
	}
	if best != kitchen || leaning[kitchen].score <= without[kitchen].score || leaning[kitchen].alone != without[kitchen].alone {
		t.Errorf("a vague utterance after cooking: best %d, %+v; without %+v", best, leaning[kitchen], without[kitchen])
	}
	// What speaks for itself is heard.
	if best, _ := scored("debug the stack traces of a compiler error", towards); best == kitchen {
		t.Error("a clear utterance after cooking is taken for cooking")
	}
}

// A domain that the dialogue is about is looked at however far the utterance
// is, in a catalog of which only a part is.
func TestLargeCatalogLooksWhereTheDialogueIs(t *testing.T) {
	e := builtIn(t)
	ix := buildMany(t, 1500, e)
	q := ask(t, e, "hm, and that one")
	s := ix.Score(q)
	seen := map[int32]bool{}
	for _, d := range s.Domains {
		seen[d.Domain] = true
	}
	s.Release()
	far := int32(-1)
	for d := range ix.Domains() {
		if !seen[int32(d)] {
			far = int32(d)
		}
	}
	if far < 0 {
		t.Skip("all domains are near")
	}
	q.Last = make([]float32, len(ix.Domains()))
	for d := range q.Last {
		q.Last[d] = 0.1 / float32(len(q.Last)-1)
	}
	q.Last[far] = 0.9
	s = ix.Score(q)
	defer s.Release()
	for _, d := range s.Domains {
		if d.Domain == far {
			return
		}
	}
	t.Error("the domain of the dialogue was not looked at")
}
