package eval

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// counting is an embedder that counts what it is asked for.
type counting struct {
	asked [][]string
	short bool // gives a vector less
	err   error
}

func (c *counting) ID() string { return "counting/1" }

func (c *counting) Embed(_ context.Context, texts []string) ([][]float32, error) {
	c.asked = append(c.asked, texts)
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = []float32{float32(len(t))}
	}
	if c.short {
		vectors = vectors[1:]
	}
	return vectors, c.err
}

func TestMemo(t *testing.T) {
	e := &counting{}
	m := NewMemo(e)
	if m.ID() != e.ID() {
		t.Errorf("got the ID %q", m.ID())
	}
	if err := m.Prepare(t.Context(), []string{"a", "bb", "a"}); err != nil {
		t.Fatal(err)
	}
	v, err := m.Embed(t.Context(), []string{"bb", "ccc", "a"})
	if err != nil || fmt.Sprint(v) != "[[2] [3] [1]]" {
		t.Errorf("got %v, %v", v, err)
	}
	if got := fmt.Sprint(e.asked); got != "[[a bb] [ccc]]" {
		t.Errorf("asked for %s, want each once", got)
	}

	var many []string
	for i := range 2*batch + 1 {
		many = append(many, fmt.Sprint("text ", i))
	}
	e.asked = nil
	if err := m.Prepare(t.Context(), many); err != nil || len(e.asked) != 3 || len(e.asked[2]) != 1 {
		t.Errorf("got %v, asked %d times", err, len(e.asked))
	}

	e.short = true
	if _, err := m.Embed(t.Context(), []string{"x", "y"}); err == nil {
		t.Error("a vector is missing: want an error")
	}
	e.err = errors.New("gone")
	if _, err := m.Embed(t.Context(), []string{"z"}); !errors.Is(err, e.err) {
		t.Errorf("got %v", err)
	}
}
