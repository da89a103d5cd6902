package openai

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// collect runs EmbedBatches and returns the vectors by text; each must come once.
func collect(t *testing.T, e *Embedder, texts []string) (map[string][]float32, error) {
	t.Helper()
	got := map[string][]float32{}
	inside := false
	err := e.EmbedBatches(t.Context(), texts, func(at []int, vectors [][]float32) error {
		if inside {
			t.Error("done is called twice at once")
		}
		inside = true
		defer func() { inside = false }()
		if len(at) != len(vectors) {
			t.Errorf("%d vectors for %d texts", len(vectors), len(at))
		}
		for i, k := range at {
			if _, twice := got[texts[k]]; twice {
				t.Errorf("text %q came twice", texts[k])
			}
			got[texts[k]] = vectors[i]
		}
		return nil
	})
	return got, err
}

func manyTexts(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i, strings.Repeat("x", i%5))
	}
	return texts
}

// whole is the vector of a text, of length 1.
func whole(text string) []float32 {
	v := vectorOf(text)
	unit(v)
	return v
}

// reversed answers as it should, the last text first.
func reversed(w http.ResponseWriter, texts []string) {
	items := make([]string, 0, len(texts))
	for i, text := range slices.Backward(texts) {
		items = append(items, item(i, vectorOf(text)))
	}
	data(items...)(w, texts)
}

// A storm: most requests fail in one way or another, and still each text has
// its vector in the end, and none was answered twice.
func TestBatchesInAStorm(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 3))
		faults := []reply{
			body(429, `{"error":{"message":"slow down"}}`, "Retry-After", "3"), body(429, "busy"), body(500, "<html>"), body(503, "later", "Retry-After", "1"),
			reset, cut(`{"object":"list","data":[`),
		}
		var mu sync.Mutex
		answered := map[string]int{}
		var replies []reply
		row := 0
		for range 120 {
			if row < 3 && r.IntN(3) > 0 {
				row++
				replies = append(replies, faults[r.IntN(len(faults))])
				continue
			}
			row = 0
			replies = append(replies, func(w http.ResponseWriter, texts []string) {
				mu.Lock()
				for _, s := range texts {
					answered[s]++
				}
				mu.Unlock()
				reversed(w, texts)
			})
		}
		s := serve(t, append(replies, good)...)
		e, _ := open(t, s, func(o *Options) { o.BatchTexts, o.Attempts = 7, 10 })
		texts := append(manyTexts(150), " ", "")
		got, err := collect(t, e, texts)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, text := range texts {
			want := make([]float32, 3)
			if strings.TrimSpace(text) != "" {
				want = whole(text)
			}
			if diff := cmp.Diff(want, got[text]); diff != "" {
				t.Errorf("seed %d: %q (-want +got):\n%s", seed, text, diff)
			}
		}
		for text, n := range answered {
			if n > 1 {
				t.Errorf("seed %d: %d times answered: %q", seed, n, text)
			}
		}
	}
}

// An answer that begins and does not go on is given up, and asked for again.
func TestBatchesWithSlowBodies(t *testing.T) {
	gone := make(chan struct{})
	defer close(gone)
	hangs := func(w http.ResponseWriter, _ []string) {
		fmt.Fprint(w, `{"object":"list","data":[`)
		_ = http.NewResponseController(w).Flush()
		<-gone
	}
	s := serve(t, hangs, hangs, good)
	e, _ := open(t, s, func(o *Options) { o.BatchTexts, o.Timeout, o.Attempts = 7, 50*time.Millisecond, 50 })
	texts := manyTexts(20)
	got, err := collect(t, e, texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if diff := cmp.Diff(whole(text), got[text]); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// What no repetition mends stops the work, with what to do; what was answered
// before is kept.
func TestBatchesStop(t *testing.T) {
	var key *KeyError
	var model *ModelError
	tests := []struct {
		name  string
		fault reply
		is    func(error) bool
		want  string
	}{
		{"a wrong key", body(401, "{}"), func(err error) bool { return errors.As(err, &key) }, ""},
		{"no such model", body(404, `{"error":{"message":"no","code":"model_not_found"}}`), func(err error) bool { return errors.As(err, &model) }, ""},
		{"nothing left to spend", body(429, `{"error":{"message":"no","code":"insufficient_quota"}}`), nil, ""},
		{"another dimension", func(w http.ResponseWriter, texts []string) {
			items := make([]string, len(texts))
			for i := range texts {
				items[i] = item(i, []float32{1, 0})
			}
			data(items...)(w, texts)
		}, nil, "2 values, not 3"},
		{"a vector too few", func(w http.ResponseWriter, texts []string) { good(w, texts[1:]) }, nil, "vectors for"},
		{"one twice", func(w http.ResponseWriter, texts []string) {
			items := make([]string, len(texts))
			for i := range texts {
				items[i] = item(0, vectorOf(texts[i]))
			}
			data(items...)(w, texts)
		}, nil, "two vectors"},
		{"no number", func(w http.ResponseWriter, texts []string) {
			items := make([]string, len(texts))
			for i := range texts {
				items[i] = fmt.Sprintf(`{"index":%d,"embedding":[1e300,0,0]}`, i)
			}
			data(items...)(w, texts)
		}, nil, ""},
		{"NaN", func(w http.ResponseWriter, texts []string) { data(`{"index":0,"embedding":[NaN,0,0]}`)(w, texts) }, nil, "no JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, good, good, test.fault)
			e, clock := open(t, s, func(o *Options) { o.BatchTexts, o.Concurrency = 2, -1 })
			got, err := collect(t, e, manyTexts(20))
			if err == nil || test.is != nil && !test.is(err) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v", err)
			}
			checkHint(t, err)
			if len(got) != 4 || len(s.seen()) != 3 || len(clock.slept) != 0 {
				t.Errorf("%d vectors, %d requests, slept %v", len(got), len(s.seen()), clock.slept)
			}
		})
	}
}

// The limits that headers tell are kept to before the endpoint has to refuse.
func TestBatchesKeepToLimits(t *testing.T) {
	limited := func(headers ...string) reply {
		return func(w http.ResponseWriter, texts []string) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			good(w, texts)
		}
	}
	const left, until = "X-Ratelimit-Remaining-", "X-Ratelimit-Reset-"
	for _, c := range []struct {
		name    string
		headers []string
		want    time.Duration // between requests, without the jitter
	}{
		{"some are left", []string{left + "Requests", "7", until + "Requests", "9s"}, 0},
		{"no request is left", []string{left + "Requests", "0", until + "Requests", "9s"}, 9 * time.Second},
		{"no token is left", []string{left + "Tokens", "0", until + "Tokens", "1m30s"}, 90 * time.Second},
		{"in seconds", []string{left + "Tokens", "0", until + "Tokens", "1.5"}, 1500 * time.Millisecond},
		{"the later one", []string{left + "Tokens", "0", until + "Tokens", "1s", left + "Requests", "0", until + "Requests", "2s"}, 2 * time.Second},
		{"a day is too long", []string{left + "Tokens", "0", until + "Tokens", "24h"}, 5 * time.Minute},
		{"nonsense", []string{left + "Tokens", "0", until + "Tokens", "soon"}, 0},
	} {
		s := serve(t, limited(c.headers...), good)
		e, clock := open(t, s, func(o *Options) { o.BatchTexts, o.Concurrency = 5, -1 })
		if _, err := collect(t, e, manyTexts(10)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var slept time.Duration
		for _, d := range clock.slept {
			slept += d
		}
		if slept < c.want || slept > c.want+time.Second {
			t.Errorf("%s: slept %v, want %v", c.name, slept, c.want)
		}
		// A turn does not wait for it.
		before := len(clock.slept)
		if _, err := e.Embed(t.Context(), []string{"a"}); err != nil || len(clock.slept) != before {
			t.Errorf("%s: a turn slept %v, %v", c.name, clock.slept, err)
		}
	}
}

func TestBatchesPatience(t *testing.T) {
	busy := body(429, "busy", "Retry-After", "90")
	s := serve(t, busy, busy, busy, good)
	e, _ := open(t, s, func(o *Options) { o.Attempts = 2 })
	if got, err := collect(t, e, manyTexts(3)); err != nil || len(got) != 3 {
		t.Errorf("four and a half minutes: %v", err)
	}
	s = serve(t, busy)
	e, _ = open(t, s, func(o *Options) { o.Patience = 4 * time.Minute })
	if _, err := collect(t, e, manyTexts(3)); err == nil || len(s.seen()) != 3 { // a third pause would be beyond it
		t.Errorf("for ever: %v after %d requests", err, len(s.seen()))
	}
	s = serve(t, busy)
	e, _ = open(t, s, func(o *Options) { o.Patience = -1 })
	if _, err := collect(t, e, manyTexts(3)); err == nil || len(s.seen()) != 1 {
		t.Errorf("none: %v after %d requests", err, len(s.seen()))
	}
}

// Who waits sees that others were told of a longer pause meanwhile.
func TestGateClosedAgain(t *testing.T) {
	var g gate
	g.close(fakeNow().Add(4 * time.Second))
	told := false
	c := &fakeClock{before: func() {
		if !told {
			told = true
			g.close(fakeNow().Add(time.Minute))
		}
	}}
	if err := g.wait(t.Context(), c.clock()); err != nil || len(c.slept) != 2 || c.slept[1] < time.Minute {
		t.Errorf("slept %v, %v", c.slept, err)
	}
}

// An error of done, and the end of ctx, end the work.
func TestBatchesEnd(t *testing.T) {
	s := serve(t, good)
	e, _ := open(t, s, func(o *Options) { o.BatchTexts, o.Concurrency = 1, 3 })
	full := errors.New("the disk is full")
	calls := 0
	err := e.EmbedBatches(t.Context(), manyTexts(50), func([]int, [][]float32) error { calls++; return full })
	if !errors.Is(err, full) || len(s.seen()) > 10 || calls > 3 {
		t.Errorf("%v after %d requests and %d calls", err, len(s.seen()), calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = e.EmbedBatches(ctx, manyTexts(50), func([]int, [][]float32) error { cancel(); return nil })
	if !isContextError(err) {
		t.Errorf("cancelled: %v", err)
	}
	if err := e.EmbedBatches(t.Context(), nil, nil); err != nil {
		t.Errorf("no text: %v", err)
	}
}

// Tokens bound a batch too; a text that has more by itself goes alone.
func TestBatchesByTokens(t *testing.T) {
	s := serve(t, good)
	e, _ := open(t, s, func(o *Options) { o.BatchTokens, o.Concurrency = 8, -1 })
	long := strings.Repeat("many words ", 20)
	if _, err := collect(t, e, []string{"one two", "three four", "five six", long, "seven", "eight", "天气怎么样明天", "下雨"}); err != nil {
		t.Fatal(err)
	}
	for _, texts := range s.texts() {
		if slices.Contains(texts, long) && len(texts) > 1 || len(texts) > 4 {
			t.Errorf("a batch of %q", texts)
		}
	}
	if len(s.seen()) < 4 {
		t.Errorf("%d requests", len(s.seen()))
	}
}
