package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	blink     = 300 * time.Millisecond // what is done sooner needs no progress
	quietLine = 30 * time.Second       // between lines where nobody watches
)

// A progress tells how far long work is: on a terminal by a bar with the rate
// and the time left, elsewhere, as in the log of a job, by a line now and then.
type progress struct {
	a     *app
	what  string // that is done: indexing, routing
	items string // of what: texts, cases
	slow  bool   // the embedder takes its time: the bar is shown from the start
	start time.Time
	first int // done when the work was first shown: that was no work
	bar   *progressbar.ProgressBar
	last  time.Time // of a line
}

func (a *app) progress() *progress {
	now := time.Now()
	return &progress{a: a, what: "indexing", items: "texts", start: now, first: -1, last: now}
}

// show tells how many of all are done.
func (p *progress) show(done, total int) {
	now := time.Now()
	if p.first < 0 {
		p.first = done
	}
	switch {
	case p.a.tty.err && (p.slow || now.Sub(p.start) > blink):
		if p.bar == nil {
			p.bar = progressbar.NewOptions(total-p.first, // what was kept says nothing about the rate
				progressbar.OptionSetWriter(p.a.err), progressbar.OptionSetDescription(p.what), progressbar.OptionSetWidth(20),
				progressbar.OptionSetItsString(p.items), progressbar.OptionShowIts(), progressbar.OptionShowCount(),
				progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
				progressbar.OptionUseANSICodes(true))
		}
		_ = p.bar.Set(done - p.first) // a terminal that is gone needs none
	case !p.a.tty.err && now.Sub(p.last) >= quietLine:
		p.last = now
		fmt.Fprintf(p.a.err, "%s: %d of %d %s%s\n", p.what, done, total, p.items, left(done-p.first, total-done, now.Sub(p.start)))
	}
}

// left says how fast so many texts were done in that time, and how long the
// rest will take.
func left(done, rest int, spent time.Duration) string {
	if done <= 0 || spent <= 0 {
		return ""
	}
	rate := float64(done) / spent.Seconds()
	return fmt.Sprintf(", %.1f a second, some %s left", rate, took(time.Duration(float64(rest)/rate*float64(time.Second)).Round(time.Second)))
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear() // a terminal that is gone needs none
		p.bar = nil
	}
}
