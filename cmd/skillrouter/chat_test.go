package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/router"
)

func TestSince(t *testing.T) {
	event := func(turn int) router.Event { return router.Event{Turn: turn, Rule: "match", Names: []string{"d"}} }
	events := func(turns ...int) (out []router.Event) {
		for _, n := range turns {
			out = append(out, event(n))
		}
		return out
	}
	for _, c := range []struct {
		name              string
		before, now, want []router.Event
	}{
		{"first look", nil, events(1, 2), events(1, 2)},
		{"more came", events(1, 2), events(1, 2, 3), events(3)},
		{"nothing came", events(1, 2), events(1, 2), nil},
		{"the oldest were lost", events(1, 2, 3), events(2, 3, 4), events(4)},
		{"all were lost", events(1, 2), events(7, 8), events(7, 8)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := since(c.before, c.now)
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventLine(t *testing.T) {
	for _, c := range []struct {
		e    router.Event
		want string
	}{
		{router.Event{From: router.Domains, To: router.Summaries, Rule: "match", Names: []string{"A", "B"}}, "match: domains → summaries (A, B)"},
		{router.Event{From: router.Summaries, To: router.Summaries, Rule: "sticky"}, "sticky"},
		{
			router.Event{From: router.Definitions, To: router.Summaries, Rule: "reject", Names: []string{"x"}, Reason: "too\nslow"},
			"reject: definitions → summaries (x): too slow",
		},
	} {
		if got := eventLine(c.e); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
