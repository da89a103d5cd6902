package router

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A stub embeds as it is told.
type stub struct {
	calls  int
	answer func(ctx context.Context) ([][]float32, error)
}

func (*stub) ID() string { return "stub/2" }

func (s *stub) Embed(ctx context.Context, _ []string) ([][]float32, error) {
	s.calls++
	return s.answer(ctx)
}

func fine(context.Context) ([][]float32, error) { return [][]float32{{1, 0}}, nil }

func broken(context.Context) ([][]float32, error) { return nil, errors.New("no answer") }

func TestGuardedRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, answer := range map[string][][]float32{
		"another dimension": {{1, 0, 0}},
		"an empty vector":   {{}},
		"no vector":         {},
		"two vectors":       {{1, 0}, {1, 0}},
		"not a number":      {{nan, 0}},
		"infinity":          {{0, inf}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(&stub{answer: func(context.Context) ([][]float32, error) { return answer, nil }}, 0)
			if v, err := g.vector(t.Context(), "x", 2); v != nil || err == nil {
				t.Errorf("got %v, %v; want no vector and an error", v, err)
			}
			if v, err := g.vector(t.Context(), "x", 2); v != nil || err != nil {
				t.Errorf("the second time: got %v, %v; want no vector and no news", v, err)
			}
		})
	}
	g := newGuarded(&stub{answer: func(context.Context) ([][]float32, error) { return [][]float32{{0, 0}}, nil }}, 0)
	if v, err := g.vector(t.Context(), "x", 2); v == nil || err != nil {
		t.Errorf("zeros, for a text that the embedder knows nothing of: got %v, %v", v, err)
	}
}

func TestBreaker(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &stub{answer: broken}
	g := newGuarded(s, 0)
	g.now = func() time.Time { return now }
	ask := func(want bool, calls int, when string) {
		t.Helper()
		if v, _ := g.vector(t.Context(), "x", 2); (v != nil) != want {
			t.Errorf("%s: a vector: %v, want %v", when, v != nil, want)
		}
		if s.calls != calls {
			t.Errorf("%s: %d calls, want %d", when, s.calls, calls)
		}
	}
	ask(false, 1, "a failure")
	now = now.Add(breakerTime - 1)
	ask(false, 1, "before the time is over")
	now = now.Add(1)
	ask(false, 2, "a trial that fails")
	ask(false, 2, "after it")
	s.answer = fine
	ask(false, 2, "mended, but not tried")
	now = now.Add(breakerTime)
	ask(true, 3, "a trial that succeeds")
	ask(true, 4, "closed again")
}

// While one call tries an embedder that failed, the others do not wait for it.
func TestBreakerTriesOnce(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &stub{answer: broken}
	g := newGuarded(s, 0)
	g.now = func() time.Time { return now }
	if v, _ := g.vector(t.Context(), "x", 2); v != nil {
		t.Fatal("a vector of a broken embedder")
	}
	now = now.Add(breakerTime)
	s.answer = func(ctx context.Context) ([][]float32, error) {
		if ok, _ := g.ask(); ok {
			t.Error("a second call is allowed during the trial")
		}
		return fine(ctx)
	}
	if v, _ := g.vector(t.Context(), "x", 2); v == nil {
		t.Error("no vector of the trial")
	}
}

// A caller that gives up opens no breaker and keeps a trial open.
func TestBreakerAndCancelledCallers(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &stub{}
	g := newGuarded(s, -1)
	g.now = func() time.Time { return now }
	give := func() {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		s.answer = func(ctx context.Context) ([][]float32, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if v, err := g.vector(ctx, "x", 2); v != nil || err != nil {
			t.Fatalf("cancelled: got %v, %v", v, err)
		}
	}
	give()
	s.answer = fine
	if v, _ := g.vector(t.Context(), "x", 2); v == nil {
		t.Error("a cancelled caller opened the breaker")
	}
	s.answer = broken
	if v, err := g.vector(t.Context(), "x", 2); v != nil || err == nil {
		t.Fatalf("broken: got %v, %v", v, err)
	}
	now = now.Add(breakerTime)
	give() // the trial
	s.answer = fine
	if v, _ := g.vector(t.Context(), "x", 2); v == nil {
		t.Error("a cancelled trial kept the breaker open")
	}
}

// Not even an embedder that does not heed its context holds up a turn.
func TestGuardedDoesNotWait(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	g := newGuarded(&stub{answer: func(context.Context) ([][]float32, error) {
		<-hang
		return fine(context.Background())
	}}, time.Millisecond)
	if v, err := g.vector(t.Context(), "x", 2); v != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v; want a deadline exceeded", v, err)
	}
}

func TestClip(t *testing.T) {
	for name, s := range map[string]string{
		"short":            "a request",
		"at the limit":     strings.Repeat("x", longest),
		"ASCII":            "head" + strings.Repeat("x", 30_000) + "tail",
		"Han":              strings.Repeat("报告", 10_000),
		"Han, off by one":  "x" + strings.Repeat("报告", 10_000),
		"Han, off by two":  "xx" + strings.Repeat("报告", 10_000),
		"emoji":            "x" + strings.Repeat("🙂", 5_000),
		"no runes at all":  strings.Repeat("\x80", 20_000) + " words",
		"continuation end": strings.Repeat("words ", 5_000) + strings.Repeat("\x80", 20_000),
	} {
		got, cut := clip(s)
		if cut != (len(s) > longest) {
			t.Errorf("%s: cut = %v", name, cut)
		}
		if !cut {
			if got != s {
				t.Errorf("%s: changed", name)
			}
			continue
		}
		if len(got) > longest+2*utf8.UTFMax || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid: %v", name, len(got), utf8.ValidString(got))
		}
		if head, tail, _ := strings.Cut(got, "\n"); !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Errorf("%s: not head and tail", name)
		}
	}
}

func TestSays(t *testing.T) {
	for _, test := range []struct {
		utterance, name string
		want            bool
	}{
		{"the data domain please", "data", true},
		{"a database please", "data", false},
		{"metadata", "data", false},
		{"metadata or data", "data", true},
		{"请看数据查询", "数据查询", true},
		{"用data查询", "data", true},
		{"office & communication!", "office & communication", true},
		{"anything", "", false},
	} {
		if got := says(test.utterance, test.name); got != test.want {
			t.Errorf("says(%q, %q) = %v", test.utterance, test.name, got)
		}
	}
}
