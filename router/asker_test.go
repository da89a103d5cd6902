package router_test

import (
	"strings"
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

// What a derived description says of skills that do not exist for the asker
// stays with them.
func TestAllowHidesWhatDescriptionsSay(t *testing.T) {
	f := files{
		"ops/vault-rotate/SKILL.md": skill("vault-rotate", "Rotates the keys of the vault. Use when a vault key leaks.", ""),
		"ops/restart/SKILL.md":      skill("restart", "Restarts a service. Use when a service hangs.", ""),
		"home/cook/SKILL.md":        skill("cook", "Cooks a meal. Use when someone is hungry.", ""),
	}
	r := newRouter(t, build(t, f), &router.Options{Mode: router.Layered, Threshold: 1})
	allow := func(name string) bool { return name != "vault-rotate" }
	for range 2 { // the second time from what was kept
		x, err := r.RouteFor(t.Context(), "the service hangs, restart a service", allow)
		if err != nil {
			t.Fatal(err)
		}
		question, _ := x.Question()
		if said := x.Prompt() + question; strings.Contains(strings.ToLower(said), "vault") || !strings.Contains(said, "Restarts a service") {
			t.Errorf("for someone without vault-rotate:\n%s", said)
		}
	}
	if all := route(t, r, "hello").Prompt(); !strings.Contains(all, "Rotates the keys of the vault") {
		t.Errorf("for someone who sees all:\n%s", all)
	}
}
