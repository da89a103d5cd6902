package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name     string
		terminal bool
		ago      time.Duration // the work began
		want     string
	}{
		{"a blink on a terminal", true, 0, ""},
		{"on a terminal", true, time.Second, "indexing"},
		{"a blink in a job", false, time.Second, ""},
		{"in a job", false, time.Minute, "indexing: 40 of 100 texts, 0.5 a second, some 120.0 s left\n"},
	} {
		var out bytes.Buffer
		p := (&app{err: &out, tty: terminals{err: c.terminal}}).progress()
		p.first = 10 // were kept
		p.start, p.last = p.start.Add(-c.ago), p.last.Add(-c.ago)
		p.show(40, 100)
		got := out.String()
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if p.end(); c.terminal && c.want != "" && strings.Contains(got, "\n") {
			t.Errorf("%s: the bar takes more than a line: %q", c.name, got)
		}
	}
	if got := left(0, 10, time.Second); got != "" {
		t.Errorf("nothing done: %q", got)
	}
}
