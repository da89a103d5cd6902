package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const testKey = "sk-test-0123456789"

// A reply answers one request, whose texts are given.
type reply func(w http.ResponseWriter, texts []string)

// A request is what the server saw.
type request struct {
	Path          string
	Authorization string
	Model         string
	Dimensions    int
	Texts         []string
}

// A scripted server answers the n-th request with the n-th reply, and further
// ones with the last.
type scripted struct {
	*httptest.Server

	mu          sync.Mutex
	replies     []reply
	requests    []request
	connections int
}

func serve(t *testing.T, replies ...reply) *scripted {
	t.Helper()
	s := &scripted{replies: replies}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	s.Config.ErrorLog = quiet()
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.connections++
			s.mu.Unlock()
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) answer(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model          string
		Input          []string
		Dimensions     int
		EncodingFormat string `json:"encoding_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.EncodingFormat != "" {
		http.Error(w, "unexpected request", http.StatusTeapot)
		return
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, request{r.URL.Path, r.Header.Get("Authorization"), body.Model, body.Dimensions, body.Input})
	do := s.replies[min(n, len(s.replies)-1)]
	s.mu.Unlock()
	do(w, body.Input)
}

// seen returns the requests so far.
func (s *scripted) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// texts returns the texts of each request so far.
func (s *scripted) texts() [][]string {
	var all [][]string
	for _, r := range s.seen() {
		all = append(all, r.Texts)
	}
	return all
}

// vectorOf is what the test server makes of a text: of three values, and of
// length 2.
func vectorOf(text string) []float32 {
	angle := float32(len(text)%7) / 7
	return []float32{2 * angle, 0, 2 * float32(math.Sqrt(float64(1-angle*angle)))}
}

// good answers as it should.
func good(w http.ResponseWriter, texts []string) {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = item(i, vectorOf(text))
	}
	data(items...)(w, texts)
}

func item(index int, vector any) string {
	v, err := json.Marshal(vector)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, index, v)
}

// data answers with the items, whatever was asked.
func data(items ...string) reply {
	return body(200, `{"object":"list","data":[`+strings.Join(items, ",")+"]}\n")
}

// body answers with a status, a body, and headers as pairs.
func body(status int, text string, headers ...string) reply {
	return func(w http.ResponseWriter, _ []string) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

// cut sends the beginning of a longer answer and closes the connection.
func cut(text string) reply {
	return func(w http.ResponseWriter, _ []string) {
		w.Header().Set("Content-Length", "10000")
		fmt.Fprint(w, text)
	}
}

// reset closes the connection without an answer.
func reset(w http.ResponseWriter, _ []string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0) // RST rather than FIN
	}
	_ = conn.Close()
}

// A fakeClock stands still and notes how long it was asked to sleep.
type fakeClock struct {
	mu     sync.Mutex
	slept  []time.Duration
	before func() // called before each sleep
}

func fakeNow() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func (c *fakeClock) clock() clock {
	return clock{
		now: fakeNow,
		sleep: func(ctx context.Context, d time.Duration) error {
			if c.before != nil {
				c.before()
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.slept = append(c.slept, d)
			return ctx.Err()
		},
		jitter: func() float64 { return 0.5 },
	}
}

// open returns an embedder of s that has learnt nothing by a request, and its
// clock.
func open(t *testing.T, s *scripted, change func(o *Options)) (*Embedder, *fakeClock) {
	t.Helper()
	o := &Options{BaseURL: s.URL + "/v1", Key: testKey, Model: "m", Dimensions: 3}
	if change != nil {
		change(o)
	}
	c := &fakeClock{}
	e, err := newEmbedder(t.Context(), o, c.clock())
	if err != nil {
		t.Fatalf("newEmbedder: %v", err)
	}
	return e, c
}
