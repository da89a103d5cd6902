package index

import (
	"math/rand/v2"
	"testing"

	"skillrouter/definitions"
)

func TestBodiesAreBounded(t *testing.T) {
	b := newBodies()
	r := rand.New(rand.NewPCG(9, 9))
	sizes := []int64{0, 1000, 20_000, 1 << 20, keptBytes + 1}
	for range 20_000 {
		i := int32(r.IntN(1000))
		s := &definitions.Skill{Size: sizes[r.IntN(len(sizes))]}
		b.put(i, s)
		if got, ok := b.get(i); !ok || got != s {
			t.Fatal("what was put last is not kept")
		}
		var bytes int64
		for _, kept := range b.kept.Values() {
			bytes += kept.Size
		}
		if bytes != b.bytes || b.kept.Len() > keptBodies || bytes > keptBytes && b.kept.Len() > 1 {
			t.Fatalf("kept %d of %d bytes, counted %d", b.kept.Len(), bytes, b.bytes)
		}
	}
	for i := range int32(2 * keptBodies) {
		b.put(i, &definitions.Skill{Size: 1000})
	}
	if b.kept.Len() != keptBodies {
		t.Errorf("kept %d small ones, want %d", b.kept.Len(), keptBodies)
	}
}
