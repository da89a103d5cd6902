package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSolve(t *testing.T) {
	a := [4][4]float64{{4, 1, 0, 2}, {1, 5, 1, 0}, {0, 1, 3, 1}, {2, 0, 1, 6}}
	want := [4]float64{1, -2, 3, 0.5}
	var b [4]float64
	for i := range 4 {
		for j := range 4 {
			b[i] += a[i][j] * want[j]
		}
	}
	got := solve(a, b)
	for i := range 4 {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("got %v, want %v", got, want)
			break
		}
	}
}

// drawn returns samples whose answers follow w.
func drawn(r *rand.Rand, n int, w [4]float64) []Sample {
	samples := make([]Sample, n)
	c := Curve{Deviation: [2]float32{1, 1}}
	for i := range samples {
		x := c.Features(Other, float32(4*r.NormFloat64()), float32(2*r.NormFloat64()))
		samples[i] = Sample{Features: x, Right: r.Float64() < logistic(x, w), Weight: 1}
	}
	return samples
}

func TestFitFindsTheWeights(t *testing.T) {
	for _, want := range [][4]float64{{1, 0.8, 0.5, -1}, {0.3, 2, 0.1, -3}, prior()} {
		got := Fit(drawn(rand.New(rand.NewPCG(5, 5)), 40_000, want))
		for i := range 4 {
			if math.Abs(got[i]-want[i]) > 0.15 {
				t.Errorf("got %.2f, want %.2f", got, want)
				break
			}
		}
	}
	if got := Fit(nil); got != prior() {
		t.Errorf("no samples: got %v, want the prior", got)
	}
}

// What would be negative is 0, and the others are the best beside it.
func TestFitKeepsWeightsAboveZero(t *testing.T) {
	samples := drawn(rand.New(rand.NewPCG(6, 6)), 20_000, [4]float64{-1, 1, 0.5, 0.5})
	w := Fit(samples)
	if w[0] != 0 || w[1] <= 0 || w[2] <= 0 {
		t.Fatalf("got %v", w)
	}
	best := lossOf(samples, w)
	for i := 1; i < 4; i++ {
		for _, d := range []float64{-0.01, 0.01} {
			other := w
			other[i] += d
			if lossOf(samples, other) < best {
				t.Errorf("weight %d by %v is better", i, d)
			}
		}
	}
}

func TestFitStaysFinite(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	sets := map[string][]Sample{"separable": nil, "all right": nil, "all wrong": nil, "heavy": nil}
	for i := range 500 {
		x := [4]float64{r.NormFloat64(), 0, 0, 1}
		sets["separable"] = append(sets["separable"], Sample{x, x[0] > 0, 1})
		sets["all right"] = append(sets["all right"], Sample{x, true, 1})
		sets["all wrong"] = append(sets["all wrong"], Sample{x, false, 1})
		sets["heavy"] = append(sets["heavy"], Sample{[4]float64{1e3 * x[0], 1e3, -1e3, 1}, i%2 == 0, 1e6})
	}
	for range 200 {
		name := fmt.Sprint("random ", r.Uint32())
		for range 1 + r.IntN(30) {
			x := [4]float64{8*r.Float64() - 4, 20 * r.Float64(), 0, 1}
			sets[name] = append(sets[name], Sample{x, r.IntN(3) == 0, math.Exp(6 * r.NormFloat64())})
		}
	}
	for name, samples := range sets {
		w := Fit(samples)
		for i, x := range w {
			if math.IsNaN(x) || math.Abs(x) > 1e5 || i < 3 && x < 0 {
				t.Errorf("%s: got %v", name, w)
				break
			}
		}
		if before, after := lossOf(samples, prior()), lossOf(samples, w); after > before {
			t.Errorf("%s: the loss rose from %v to %v", name, before, after)
		}
	}
}

func TestScoresRiseWithEvidence(t *testing.T) {
	for name, ix := range map[string]*Index{"prior": build(t, office(), builtIn(t)), "fitted": buildMany(t, 120, builtIn(t))} {
		c := ix.Calibration()
		for _, c := range []Curve{c.Full, c.Semantic, c.Lexical} {
			if !c.sound() || (c.Phrases > 0) != (name == "fitted") {
				t.Errorf("%s: got %+v", name, c)
			}
			for _, margin := range []float32{-3, -0.2, 0, 0.2, 3} {
				before := float32(-1)
				for e := float32(-10); e < 10; e += 0.05 {
					s := c.score(Other, e, margin)
					if s < before || s < 0 || s > 1 {
						t.Errorf("%s: evidence %v, margin %v: score %v after %v", name, e, margin, s, before)
					}
					before = s
				}
			}
			before := float32(-1)
			for m := float32(-5); m < 5; m += 0.05 {
				s := c.score(Other, c.Mean[Other], m)
				if s < before {
					t.Errorf("%s: margin %v: score %v after %v", name, m, s, before)
				}
				before = s
			}
		}
	}
}

// builderOf is a builder at the point where it calibrates.
func builderOf(tb testing.TB, ix *Index, b *builder) *builder {
	tb.Helper()
	b.ix = ix
	if err := b.group(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err := b.embed(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	b.cluster()
	if err := b.embedDomains(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err := b.words(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err := ix.finish(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return b
}

// A phrase that nothing else says is worth much less when it is held out.
func TestHeldOutPhrasesAreLeftOut(t *testing.T) {
	fsys := office()
	fsys["home/odd/SKILL.md"] = only(office(), "home/cat-sitter/SKILL.md")["home/cat-sitter/SKILL.md"]
	fsys["home/odd/SKILL.md"].Data = []byte("---\nname: odd\ndescription: Something at home.\nmetadata:\n  triggers: [quantum zebra parade, home things]\n---\n")
	for _, e := range []Embedder{builtIn(t), &words{dim: 64}} {
		ix := &Index{embedder: e.ID()}
		b := builderOf(t, ix, &builder{catalog: load(t, fsys), embedder: e})
		odd := 0
		for _, at := range b.places() {
			p := b.hold(at)
			q := &Query{Utterance: p.utterance, Vector: p.vector}
			own := func(leave *held) SkillScore {
				s := ix.scores.Get().(*Scores)
				defer s.Release()
				s.collect(q, leave, false)
				for _, x := range s.Skills {
					if x.Skill == int32(at.i) {
						return x
					}
				}
				t.Fatalf("%s is not among the skills", ix.skills[at.i].Name)
				return SkillScore{}
			}
			with, without := own(nil), own(&p.held)
			if without.Evidence >= with.Evidence || without.Lexical >= with.Lexical || without.Similarity >= with.Similarity {
				t.Errorf("%s: %q: with %+v, without %+v", e.ID(), p.utterance, with, without)
			}
			if p.utterance == "quantum zebra parade" {
				odd++
				if without.Lexical != 0 || without.Phrase > nearPhrase || without.Evidence > with.Evidence/2 {
					t.Errorf("%s: %q: with %+v, without %+v", e.ID(), p.utterance, with, without)
				}
			}
		}
		if odd != 1 {
			t.Errorf("the odd phrase was held %d times", odd)
		}
	}
}

func TestPlaces(t *testing.T) {
	e := &words{dim: 8}
	fsys := office()
	fsys["home/one/SKILL.md"] = only(office(), "home/cat-sitter/SKILL.md")["home/cat-sitter/SKILL.md"]
	fsys["home/one/SKILL.md"].Data = []byte("---\nname: one\ndescription: Has one trigger.\nmetadata:\n  triggers: [lonely]\n---\n")
	b := builderOf(t, &Index{}, &builder{catalog: load(t, fsys), embedder: e})
	var got []string
	for _, at := range b.places() {
		got = append(got, b.ix.skills[at.i].Name+": "+b.phrases[at.i][at.k].text)
	}
	all := strings.Join(got, "\n")
	if len(got) != 5*3 || strings.Contains(all, "lonely") || strings.Contains(all, "alarm") {
		t.Errorf("got %d:\n%s", len(got), all)
	}

	// Too many: the same ones each time, whatever stands beside them.
	big := builderOf(t, &Index{}, &builder{catalog: loadMany(t, 800), embedder: e})
	some := big.places()
	if len(some) != mostPositives {
		t.Errorf("got %d of %d", len(some), 3*800)
	}
	seen := map[place]bool{}
	for _, p := range some {
		if seen[p] || !big.phrases[p.i][p.k].trigger {
			t.Errorf("%v is there twice, or no trigger", p)
		}
		seen[p] = true
	}
}

// An embedder that holds everything for near leaves no stranger: all are kept.
func TestStrangers(t *testing.T) {
	same := &words{dim: 8, spoil: func(v [][]float32) ([][]float32, error) {
		for i := range v {
			clear(v[i])
			v[i][0] = 1
		}
		return v, nil
	}}
	for _, e := range []Embedder{same, &words{dim: 64}} {
		b := builderOf(t, &Index{}, &builder{catalog: load(t, office()), embedder: e})
		got, err := b.strangers(t.Context())
		if err != nil || len(got) != len(Background()) {
			t.Errorf("got %d of %d, error %v", len(got), len(Background()), err)
		}
		if err := b.calibrate(t.Context()); err != nil || !b.ix.calibration.Full.sound() {
			t.Errorf("got %+v, error %v", b.ix.calibration.Full, err)
		}
	}
	// What a trigger says is no stranger to it.
	fsys := office()
	u := Background()[40]
	fsys["home/cat-sitter/SKILL.md"].Data = []byte("---\nname: cat-sitter\ndescription: Cats.\nmetadata:\n  triggers: [\"" + u + "\", cats]\n---\n")
	b := builderOf(t, &Index{}, &builder{catalog: load(t, fsys), embedder: builtIn(t)})
	got, err := b.strangers(t.Context())
	for _, q := range got {
		if q.Utterance == u {
			t.Errorf("%q is taken for a stranger", u)
		}
	}
	if err != nil || len(got) < len(Background())/2 {
		t.Errorf("got %d, error %v", len(got), err)
	}
}

func TestBackgroundIsVaried(t *testing.T) {
	seen := map[string]bool{}
	for _, u := range Background() {
		if seen[u] || u == "" || strings.HasPrefix(u, "#") {
			t.Errorf("%q is there twice, or no utterance", u)
		}
		seen[u] = true
	}
	if len(seen) < 400 {
		t.Errorf("got %d", len(seen))
	}
}

func TestLanguageOf(t *testing.T) {
	for s, want := range map[string]Language{
		"draft a mail": Other, "给客户写邮件": Chinese, "帮我 review 一下这个 PR": Chinese, "what does 你好 mean in English": Other, "": Other, "42": Other,
	} {
		if got := LanguageOf(s); got != want {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	}
}

// Over English skills strangers who speak Chinese reach less evidence, so the
// same evidence says more for a Chinese utterance; and they do not weigh in the
// fit of English phrases.
func TestStrangersOfEachLanguage(t *testing.T) {
	e := builtIn(t)
	c := build(t, flat(), e).Calibration().Full
	if c.Mean[Chinese] >= c.Mean[Other] {
		t.Fatalf("means %v: strangers in English should reach more over English skills", c.Mean)
	}
	if zh, en := c.score(Chinese, c.Mean[Other], 0), c.score(Other, c.Mean[Other], 0); zh <= en {
		t.Errorf("the same evidence scores %v in Chinese and %v in English", zh, en)
	}
	b := builderOf(t, &Index{}, &builder{catalog: loadMany(t, 120), embedder: e})
	var positives []positive
	for _, at := range b.places() {
		positives = append(positives, b.hold(at))
	}
	all, err := b.strangers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	english := slices.DeleteFunc(slices.Clone(all), func(q Query) bool { return LanguageOf(q.Utterance) == Chinese })
	with, err := b.ix.newCurve(t.Context(), positives, all, 0)
	if err != nil {
		t.Fatal(err)
	}
	without, err := b.ix.newCurve(t.Context(), positives, english, 0)
	if err != nil {
		t.Fatal(err)
	}
	if with.Weights != without.Weights || len(english) == len(all) {
		t.Errorf("weights %v with Chinese strangers, %v without", with.Weights, without.Weights)
	}
}
