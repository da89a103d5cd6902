package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Skills with triggers that share most of their words: what is alike in all
// says nothing, the rest decides.
func cards() []string {
	return []string{
		"bank/card-lost: A card is lost. | i lost my card what do i do | my card is gone | please help i cannot find my bank card | someone took my card",
		"bank/card-order: A new card. | i want to order a card | please send me a new card | can i get a second bank card | how do i apply for a card",
		"bank/card-fee: What a card costs. | why was i charged for my card | is there a fee for the card | how much does a bank card cost me | what do i pay for the card",
		"bank/card-pin: The code of a card. | i forgot the code of my card | change my card pin please | how do i reset the pin of my bank card | my card pin does not work",
		"trip/train-times: When trains go. | when does the next train leave | train times to the coast please | how do i find my train | what time is my train",
		"trip/train-tickets: Tickets for trains. | i want to buy a train ticket | please book me a train | how do i get a cheap train ticket | pay for my train ticket",
	}
}

func TestHeadTellsNeighboursApart(t *testing.T) {
	ix := small(t, cards()...)
	if len(ix.headBias) != len(ix.skills) || ix.heads.len() != len(ix.skills) || ix.wordWeight != weightHead {
		t.Fatalf("%d biases, %d rows, words weigh %v: want a head", len(ix.headBias), ix.heads.len(), ix.wordWeight)
	}
	for utterance, want := range map[string]string{
		"i think my bank card was stolen":          "card-lost",
		"i would like another bank card":           "card-order",
		"are there charges for using my bank card": "card-fee",
		"the code of my bank card is wrong":        "card-pin",
		"at what hour is the train to the coast":   "train-times",
		"reserve a seat on the train for me":       "train-tickets",
	} {
		q := ask(t, builtIn(t), utterance)
		q.Without = Lexical | Phrases
		if _, ss := score(ix, q); ss[0].Name != want {
			t.Errorf("%q: got %v, want %s first", utterance, ss, want)
		}
	}
	again := small(t, cards()...)
	if diff := cmp.Diff(ix.heads, again.heads, cmp.AllowUnexported(matrix{})) + cmp.Diff(ix.headBias, again.headBias); diff != "" {
		t.Errorf("the second head differs: %s", diff)
	}
}

// Where few skills have triggers, or there are too many, centroids rank.
func TestHeadWhereItPays(t *testing.T) {
	poor := cards()
	for i := range poor[:3] {
		poor[i], _, _ = strings.Cut(poor[i], " | ")
	}
	many := slices.Repeat(cards(), headSkills/len(cards())+1)
	for i := range many {
		many[i] = strings.Replace(many[i], "/", fmt.Sprintf("/%d-", i), 1)
	}
	for name, c := range map[string]struct {
		skills []string
		words  float32
	}{
		"few triggers": {poor, weightWords - (weightWords-weightTold)/2},
		"too many":     {many, weightTold},
		"one skill":    {cards()[:1], weightTold},
	} {
		ix := small(t, c.skills...)
		if len(ix.headBias) > 0 || ix.heads.len() > 0 || math.Abs(float64(ix.wordWeight-c.words)) > 1e-6 {
			t.Errorf("%s: a head of %d rows, words weigh %v, want %v", name, ix.heads.len(), ix.wordWeight, c.words)
		}
	}
}

// A fit ends where the gradient does: each skill's expected number of phrases
// is its number of phrases, as far as the penalty lets it.
func TestFitHead(t *testing.T) {
	rows := []headRow{
		{0, []float32{1, 0, 0}, 1},
		{0, []float32{0.8, 0.6, 0}, 2},
		{1, []float32{0, 1, 0}, 1},
		{2, []float32{0, 0, 1}, 1},
		{2, []float32{0, 0.6, 0.8}, 1},
	}
	h, err := fitHead(t.Context(), rows, 3, 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		z := h.logits(nil, r.vector)
		if k := slices.Index(z, slices.Max(z)); k != int(r.skill) {
			t.Errorf("row %d: logits %v, want %d first", i, z, r.skill)
		}
	}
	// At the minimum the biases, which are free, have no slope.
	slope := make([]float64, 3)
	for _, r := range rows {
		z := h.logits(nil, r.vector)
		for k := range z {
			z[k] -= h.bias[k]
		}
		h.surprise(z, r.skill)
		for k, x := range z {
			slope[k] += headFit * float64(r.weight) * float64(x)
		}
	}
	for k, x := range slope {
		if math.Abs(x) > 1e-2 {
			t.Errorf("bias %d has the slope %v at the end", k, x)
		}
	}
	// From the end on there is nothing left to do.
	more, err := fitHead(t.Context(), rows, 3, 5, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range more.weights.Data {
		if math.Abs(float64(w-h.weights.Data[i])) > 1e-2 {
			t.Errorf("weight %d goes on from %v to %v", i, h.weights.Data[i], w)
		}
	}
}

func TestFitHeadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fitHead(ctx, []headRow{{0, []float32{1, 0}, 1}, {1, []float32{0, 1}, 1}}, 2, 5, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The calibration asks heads that have not seen the phrase: by these a skill
// stands lower for its own trigger than by the one that has.
func TestHeldOutHeads(t *testing.T) {
	c := smallCatalog(t, cards()...)
	ix := &Index{}
	b := &builder{ix: ix, catalog: c, embedder: builtIn(t)}
	for _, step := range []func(context.Context) error{b.group, b.embed, b.fitHeads} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var seen, unseen float64
	for at, z := range b.held {
		p := &b.phrases[at.i][at.k]
		unseen += float64(z[at.i])
		var v vector
		v.set(p.vector)
		seen += float64(ix.similarity(at.i, &v))
	}
	if n := float64(len(b.held)); n != 24 || unseen/n > seen/n-0.05 {
		t.Errorf("%v triggers: a skill has %v by the heads without, %v by that with its trigger", n, unseen/n, seen/n)
	}
}

// What a skill is not for speaks against it.
func TestNotFor(t *testing.T) {
	lines := []string{
		"weather/weather-query: Looks up the weather. Rain, wind and temperature of a place.",
		"health/air-check: Measures how clean the air is.",
		"code/unit-tests: Writes unit tests.",
	}
	plain := small(t, lines...)
	lines[0] += " Not for air quality, climate history."
	warned := small(t, lines...)
	if not := notFor(&warned.skills[slices.IndexFunc(warned.skills, func(s Skill) bool { return s.Name == "weather-query" })].Summary); len(not) != 2 {
		t.Fatalf("not for %q, want two things", not)
	}
	lead := func(ix *Index) float32 {
		q := ask(t, builtIn(t), "air quality of a place")
		s := ix.Score(q)
		defer s.Release()
		w, _ := ix.Lookup("weather-query")
		a, _ := ix.Lookup("air-check")
		return s.Evidence(w) - s.Evidence(a)
	}
	if before, after := lead(plain), lead(warned); after >= before {
		t.Errorf("the lead of the skill that is not for it: %v, and %v once it says so", before, after)
	}
}
