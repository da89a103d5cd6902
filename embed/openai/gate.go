package openai

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A gate holds back the requests of a whole run while an endpoint takes no more.
type gate struct {
	mu    sync.Mutex
	until time.Time
}

// close holds requests back until then, or longer if it was so before.
func (g *gate) close(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until.After(g.until) {
		g.until = until
	}
}

// wait returns when the gate is open, also where it is closed for longer
// meanwhile. Its error is that of ctx.
func (g *gate) wait(ctx context.Context, c clock) error {
	var waited time.Time // until when
	for {
		g.mu.Lock()
		until := g.until
		g.mu.Unlock()
		d := until.Sub(c.now())
		if d <= 0 || until.Equal(waited) {
			return ctx.Err()
		}
		// Not all at once, lest the last are refused again.
		if err := c.sleep(ctx, d+time.Duration(c.jitter()*float64(min(d/4, time.Second)))); err != nil {
			return err
		}
		waited = until
	}
}

// mostReset bounds what a header can hold a run back.
const mostReset = 5 * time.Minute

// heed closes the gate when the headers of an answer say that nothing is left of
// a limit, as OpenAI's do and those that follow it: x-ratelimit-remaining-tokens
// and so on, with the time until there is again.
func (g *gate) heed(h http.Header, now time.Time) {
	for _, of := range []string{"Requests", "Tokens"} {
		left, err := strconv.ParseFloat(strings.TrimSpace(h.Get("X-Ratelimit-Remaining-"+of)), 64)
		if err != nil || left > 0 {
			continue
		}
		if d, ok := resetIn(h.Get("X-Ratelimit-Reset-" + of)); ok {
			g.close(now.Add(min(d, mostReset)))
		}
	}
}

// resetIn reads the time until a limit is lifted: "6m0s", "20ms", or seconds.
func resetIn(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if d, err := time.ParseDuration(s); err == nil {
		return d, d > 0
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || !(seconds > 0 && seconds < 24*60*60) { // more is a date
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
