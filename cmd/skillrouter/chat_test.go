package main

import (
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/eval"
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

func TestASavedDialogueIsLabelledByWhatFitted(t *testing.T) {
	t.Chdir(t.TempDir())
	a := &app{out: &writer{w: io.Discard}, err: io.Discard, env: func(string) string { return "" }}
	err := a.with(t.Context(), true, func(c *catalog) error {
		s, err := c.Session("chat", nil)
		if err != nil {
			return err
		}
		blank, err := c.RouteFor(t.Context(), "", nil)
		if err != nil {
			return err
		}
		ch := &chat{a: a, c: c, s: s, blank: blank}
		for _, line := range []string{
			"/load git-commit", // before all turns
			"hello", "/load pdf-text-extract", "/load csv-cleanup", "/use csv-cleanup",
			"and so on", "/reject pdf-text-extract", "/use csv-cleanup", "/use calculator", "/reject calculator",
			"zzz", "/reject csv-cleanup", "/choose Data queries",
			"/pdf-text-extract", "/end",
		} {
			if _, err := ch.line(t.Context(), line); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
		}
		both := []string{"File operations", "Data queries"}
		want := []savedTurn{
			{User: "hello", Domains: both, Skills: []string{"csv-cleanup"}, Event: eval.EventLoad},
			{User: "and so on", Domains: both, Skills: []string{"csv-cleanup"}, Event: eval.EventFollowUp},
			{User: "zzz", Domains: []string{"Data queries"}, Skills: []string{}},
			{User: "/pdf-text-extract", Domains: []string{"Text processing", "File operations"}, Skills: []string{"pdf-text-extract"}, Event: eval.EventTaskEnd},
		}
		sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		if diff := cmp.Diff(want, ch.dialogue("x").Turns, sorted); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheRuleOfWhatStaysDespiteItsScore(t *testing.T) {
	r := &router.Route{Outcome: router.Sticky, Threshold: 0.72, Domains: []router.Domain{{Name: "A", Score: 0.8, Matched: true}}}
	if got, want := rule(r), "sticky: A has 0.80 ≥ 0.72, but nothing new is asked for"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Domains = []router.Domain{{Name: "A", Score: 0.6}}
	if got, want := rule(r), "sticky: the best domain, A, has 0.60 < 0.72, so what was shown stays"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r = &router.Route{Outcome: router.Clarify, Threshold: 0.72, Domains: []router.Domain{{Name: "A", Score: 0.8}}}
	if got, want := rule(r), "clarify: the utterance says nothing, what A has, 0.80, is of the turns before, but near enough to ask"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
