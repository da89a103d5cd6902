package index

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kept is Vectors in memory.
type kept struct {
	vectors map[string][]float32
	broken  error
}

func (k *kept) Get(embedder string, texts []string) ([][]float32, error) {
	found := make([][]float32, len(texts))
	for i, t := range texts {
		found[i] = k.vectors[embedder+"\x00"+t]
	}
	return found, k.broken
}

func (k *kept) Put(embedder string, texts []string, vectors [][]float32) error {
	if k.broken != nil {
		return k.broken
	}
	if k.vectors == nil {
		k.vectors = map[string][]float32{}
	}
	for i, t := range texts {
		k.vectors[embedder+"\x00"+t] = vectors[i]
	}
	return nil
}

// inBatches is words that hands its vectors over in batches of three, the last
// first, and fails after some.
type inBatches struct {
	words
	asked map[string]int
	fails int // batches until it fails; negative: never
	skips bool
}

func (e *inBatches) EmbedBatches(ctx context.Context, texts []string, done func(at []int, vectors [][]float32) error) error {
	left := e.fails
	for batch := range slices.Chunk(places(0, len(texts)), 3) {
		if left == 0 {
			return errors.New("the line is dead")
		}
		left--
		slices.Reverse(batch)
		var some []string
		for _, i := range batch {
			some = append(some, texts[i])
			e.asked[texts[i]]++
		}
		vectors, err := e.Embed(ctx, some)
		if err != nil {
			return err
		}
		if e.skips {
			continue
		}
		if err := done(batch, vectors); err != nil {
			return err
		}
	}
	return nil
}

// A build that failed midway goes on where it was: no text is embedded twice,
// and what comes of it is what comes of a build that never failed.
func TestBuildGoesOn(t *testing.T) {
	want := encode(t, build(t, office(), &words{dim: 8}))
	c := load(t, office())
	keep := &kept{}
	e := &inBatches{words: words{dim: 8}, asked: map[string]int{}, fails: 5}
	runs, embedded := 0, 0
	for {
		runs++
		var work Work
		ix, err := Build(t.Context(), c, e, &Options{Vectors: keep, Work: &work})
		embedded += work.Embedded
		if err != nil {
			if !strings.Contains(err.Error(), "the line is dead") || work.Embedded != 15 {
				t.Fatalf("run %d: %v, %+v", runs, err, work)
			}
			continue
		}
		if got := encode(t, ix); !slices.Equal(got, want) {
			t.Error("the index has other bytes than that of one run")
		}
		if embedded != work.Texts || work.Unkept != nil {
			t.Errorf("%d texts were embedded in all, of %+v", embedded, work)
		}
		break
	}
	if runs < 3 {
		t.Errorf("%d runs: nothing failed", runs)
	}
	for text, n := range e.asked {
		if n != 1 {
			t.Errorf("%d times embedded: %q", n, text)
		}
	}
	var work Work
	if _, err := Build(t.Context(), c, e, &Options{Vectors: keep, Work: &work}); err != nil || work.Embedded != 0 || work.Texts == 0 {
		t.Errorf("once more: %v, %+v", err, work)
	}
}

func TestBuildWithoutItsVectors(t *testing.T) {
	broken := errors.New("no such disk")
	for name, e := range map[string]Embedder{"batches": &inBatches{words: words{dim: 8}, asked: map[string]int{}, fails: -1}, "calls": &words{dim: 8}} {
		var work Work
		ix, err := Build(t.Context(), load(t, office()), e, &Options{Vectors: &kept{broken: broken}, Work: &work})
		if err != nil || !errors.Is(work.Unkept, broken) || work.Embedded != work.Texts {
			t.Errorf("%s: %v, %+v", name, err, work)
			continue
		}
		if !slices.Equal(encode(t, ix), encode(t, build(t, office(), &words{dim: 8}))) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

// An embedder that waits for nothing is asked again: that is faster.
func TestAtOnceKeepsNothing(t *testing.T) {
	keep := &kept{}
	var work Work
	if _, err := Build(t.Context(), load(t, office()), &atOnce{words{dim: 8}}, &Options{Vectors: keep, Work: &work}); err != nil {
		t.Fatal(err)
	}
	if len(keep.vectors) != 0 || work.Embedded != work.Texts {
		t.Errorf("%d vectors are kept, %+v", len(keep.vectors), work)
	}
}

func TestProgressCounts(t *testing.T) {
	keep := &kept{}
	e := &inBatches{words: words{dim: 8}, asked: map[string]int{}, fails: 2}
	_, _ = Build(t.Context(), load(t, office()), e, &Options{Vectors: keep}) // six texts
	e.fails = -1
	var dones, totals []int
	progress := func(done, total int) { dones, totals = append(dones, done), append(totals, total) }
	if _, err := Build(t.Context(), load(t, office()), e, &Options{Vectors: keep, Progress: progress}); err != nil {
		t.Fatal(err)
	}
	last := len(dones) - 1
	if !slices.IsSorted(dones) || dones[0] != 6 || dones[last] != totals[last] || len(slices.Compact(totals)) != 1 {
		t.Errorf("done %v of %v", dones, totals)
	}
}

func TestAnEmbedderThatSkips(t *testing.T) {
	e := &inBatches{words: words{dim: 8}, asked: map[string]int{}, fails: -1, skips: true}
	if _, err := Build(t.Context(), load(t, office()), e, nil); err == nil || !strings.Contains(err.Error(), "got no vector") {
		t.Errorf("got %v", err)
	}
	// Vectors that are kept and new ones must be of one length.
	keep := &kept{}
	e = &inBatches{words: words{dim: 8}, asked: map[string]int{}, fails: 3}
	_, _ = Build(t.Context(), load(t, office()), e, &Options{Vectors: keep})
	vectors := maps.Clone(keep.vectors)
	e.fails, e.spoil = -1, func(vectors [][]float32) ([][]float32, error) {
		for i := range vectors {
			vectors[i] = []float32{1}
		}
		return vectors, nil
	}
	if _, err := Build(t.Context(), load(t, office()), e, &Options{Vectors: keep}); err == nil || !strings.Contains(err.Error(), "the first had 8") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(vectors, keep.vectors); diff != "" {
		t.Errorf("what is wrong was kept (-want +got):\n%s", diff)
	}
}
