package router_test

import (
	"testing"

	"skillrouter/router"
)

// A user who names a skill decides, not the host: a host that only calls Route
// is never said to have stalled.
func TestOnlyRouteNeverStalls(t *testing.T) {
	f := crowd(12, 12)
	r := newRouter(t, build(t, f), nil)
	d := newDialogue(t, r, nil)
	if got := d.say("/invoice-00").Outcome; got != router.Direct {
		t.Fatalf("naming a skill: outcome %q", got)
	}
	first := ""
	for turn := range 8 {
		got := d.say("weather matters come up")
		if turn == 0 {
			first = string(got.Outcome)
		}
		if !got.Matched() || string(got.Outcome) != first {
			t.Errorf("turn %d: outcome %q, events %v, want %q as before", got.Turn, got.Outcome, rules(got.Events), first)
		}
	}
}

func TestAdviceCountsInWords(t *testing.T) {
	const want = "1 skill: shown flat, all summaries at once; layers begin to pay above some 50"
	if got := router.Advice(build(t, files{"a/one/SKILL.md": skill("one", "Does one thing.", "")})); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
