package router_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/index"
	"skillrouter/router"
)

// Sticky keeps what was visible byte for byte, for five turns from the one in
// which it was loaded, and a hit does not renew it.
func TestSticky(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	first := d.say(office).Prompt()
	for turn := 2; turn <= 5; turn++ {
		if turn == 4 {
			d.say(office) // a hit
			continue
		}
		if x := d.say(follow); x.Outcome != router.Sticky || x.Prompt() != first {
			t.Errorf("turn %d is %s:\n%s", turn, x.Outcome, cmp.Diff(first, x.Prompt()))
		}
	}
	x := d.say(follow) // shows the fallback domain
	ix := exampleCatalog(t)
	gone := without(members(t, ix, "Office & communication"), members(t, ix, "Text processing")...)
	if x.Outcome == router.Sticky || !slices.Contains(rules(x.Events), "expired") || !same(x.Unloaded, gone) {
		t.Errorf("turn 6 is %s, events %q, unloaded %q", x.Outcome, rules(x.Events), x.Unloaded)
	}
}

// What was cut and what did not fit sticks, too.
func TestStickyKeepsWhatWasCut(t *testing.T) {
	r := newRouter(t, build(t, crowd(30, 6)), &router.Options{Threshold: 0.01, MaxDomains: 2})
	d := newDialogue(t, r, nil)
	x := d.say("invoice matters and weather matters")
	if len(x.Lines) != 1 && !strings.Contains(x.Prompt(), "more skills") {
		t.Fatalf("nothing was cut:\n%s", x.Prompt())
	}
	if again := d.say(" "); again.Prompt() != x.Prompt() {
		t.Errorf("(-want +got):\n%s", cmp.Diff(x.Prompt(), again.Prompt()))
	}
}

// Summaries that expired while a blank utterance came leave no layer behind.
func TestEmptyAfterExpiry(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{SummaryTurns: 1}), nil)
	d.say(office)
	x := d.say("")
	if st := d.state(); x.Outcome != router.Empty || st.Layer != router.Domains || len(x.Summaries) > 0 || !same(x.Unloaded, members(t, exampleCatalog(t), "Office & communication")) {
		t.Errorf("%s, layer %s, shown %q, unloaded %q", x.Outcome, st.Layer, shown(x), x.Unloaded)
	}
}

// What is alive but out of sight is a hit when it comes back.
func TestComesBack(t *testing.T) {
	ix := exampleCatalog(t)
	mails, data := members(t, ix, "Office & communication"), members(t, ix, "Data queries")
	d := newDialogue(t, newRouter(t, ix, nil), nil)
	d.say(office)
	// A skill of both domains stays in the prompt.
	if x := d.say(queries); !same(x.Unloaded, without(mails, data...)) || !same(x.New, data) {
		t.Errorf("unloaded %q, new %q", x.Unloaded, x.New)
	}
	if x := d.say(office); !same(x.Hits, mails) || len(x.New) > 0 {
		t.Errorf("hits %q, new %q", x.Hits, x.New)
	}
	if st := d.state(); st.Summaries.Hits != 1 || st.Summaries.Misses != 2 {
		t.Errorf("counts %+v", st.Summaries)
	}
}

// What was left out counts again: for each reason of its own.
func TestLeftOutCountsAgain(t *testing.T) {
	ctx := t.Context()
	stalled := func(t *testing.T, opts *router.Options) dialogue {
		d := newDialogue(t, newRouter(t, exampleCatalog(t), opts), nil)
		d.say(office)
		d.do("Use", d.Use(ctx, "email-draft"))
		d.say(follow)
		d.say(follow)
		if x := d.say(office); slices.Contains(matched(x), "Office & communication") {
			t.Fatal("the domain was not left out")
		}
		return d
	}
	t.Run("the user names the domain", func(t *testing.T) {
		d := stalled(t, nil)
		if x := d.say(office + " with office & communication"); !slices.Contains(matched(x), "Office & communication") {
			t.Errorf("%s, matched %q", x.Outcome, matched(x))
		}
	})
	t.Run("another domain matches", func(t *testing.T) {
		d := stalled(t, nil)
		d.say(queries)
		if x := d.say(office); !slices.Contains(matched(x), "Office & communication") {
			t.Errorf("%s, matched %q", x.Outcome, matched(x))
		}
	})
	t.Run("the task ends", func(t *testing.T) {
		d := stalled(t, nil)
		d.do("EndTask", d.EndTask(ctx))
		if x := d.say(office); !slices.Contains(matched(x), "Office & communication") {
			t.Errorf("%s, matched %q", x.Outcome, matched(x))
		}
	})
	t.Run("five turns pass", func(t *testing.T) {
		d := stalled(t, nil) // the first of five
		for turn := 2; turn <= 5; turn++ {
			if x := d.say(office); slices.Contains(matched(x), "Office & communication") {
				t.Errorf("counts in turn %d", turn)
			}
		}
		if x := d.say(office); !slices.Contains(matched(x), "Office & communication") {
			t.Errorf("does not count in turn 6: %s", x.Outcome)
		}
	})
	t.Run("the user names the skill", func(t *testing.T) {
		d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
		d.say(office)
		d.do("Reject", d.Reject(ctx, "email-draft", ""))
		if x := d.say("then email-draft after all"); !cmp.Equal(loaded(x), []string{"email-draft"}) || len(d.state().LeftOut) > 0 {
			t.Errorf("loaded %q, left out %q", loaded(x), d.state().LeftOut)
		}
	})
	t.Run("not by a match of the same domain", func(t *testing.T) {
		d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
		d.say(office)
		d.do("Reject", d.Reject(ctx, "email-draft", ""))
		want := without(members(t, exampleCatalog(t), "Office & communication"), "email-draft")
		for range 2 {
			x := d.say(office)
			if !same(shown(x), want) {
				t.Errorf("shown %q, want %q", shown(x), want)
			}
			for _, c := range x.Candidates {
				if c.Name == "email-draft" {
					t.Error("a rejected skill is a candidate")
				}
			}
		}
	})
}

// A domain each skill of which was rejected does not match any more.
func TestRejectAll(t *testing.T) {
	f := crowd(2, 5)
	d := newDialogue(t, newRouter(t, build(t, f), &router.Options{Mode: router.Layered, Threshold: 0.01, MaxDomains: 1}), nil)
	if x := d.say("invoice matters"); !cmp.Equal(matched(x), []string{"invoice"}) {
		t.Fatalf("matched %q", matched(x))
	}
	for _, name := range []string{"invoice-00", "invoice-01"} {
		d.do("Reject", d.Reject(t.Context(), name, ""))
	}
	if st := d.state(); st.Layer != router.Domains || len(st.Domains) > 0 {
		t.Errorf("layer %s, visible %q", st.Layer, st.Domains)
	}
	if x := d.say("invoice matters"); slices.Contains(matched(x), "invoice") {
		t.Errorf("%s, matched %q, shown %q", x.Outcome, matched(x), shown(x))
	}
}

// Turns stall only for hosts that tell of decisions, in layer definitions only
// for those that tell of uses.
func TestStallsOnlyForHostsThatDecide(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), &router.Options{SummaryTurns: 20})
	d := newDialogue(t, r, nil)
	d.say(office)
	for range 10 {
		if x := d.say(follow); x.Outcome != router.Sticky {
			t.Fatalf("a host that only calls Route: turn %d is %s", x.Turn, x.Outcome)
		}
	}
	d.load("email-draft")
	for range 10 {
		if x := d.say(follow); len(x.Loaded) != 1 {
			t.Fatalf("a host that never calls Use: turn %d has no definition", x.Turn)
		}
	}
	d.do("Use", d.Use(t.Context(), "email-draft"))
	d.say(follow)
	d.say(follow)
	if x := d.say(follow); len(x.Loaded) != 0 {
		t.Error("a host that calls Use no more: the definition stays")
	}
}

// Another subject, a rejection and the end of a task are no standstill.
func TestStallsStartAnew(t *testing.T) {
	for name, between := range map[string]func(d dialogue){
		"another subject": func(d dialogue) { d.say(queries) },
		"a rejection":     func(d dialogue) { d.do("Reject", d.Reject(t.Context(), "meeting-minutes", "too long")) },
		"a task's end":    func(d dialogue) { d.do("EndTask", d.EndTask(t.Context())) },
	} {
		d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{SummaryTurns: 20}), nil)
		d.say(office)
		d.do("Use", d.Use(t.Context(), "email-draft"))
		d.say(follow) // the first turn without a decision
		d.say(follow) // the second begins
		between(d)
		if x := d.say(follow); slices.Contains(rules(x.Events), "stalled") {
			t.Errorf("%s: backs off all the same", name)
		}
		if !slices.Contains(append(rules(d.say(follow).Events), rules(d.say(follow).Events)...), "stalled") {
			t.Errorf("%s: does not back off any more", name)
		}
	}
}

func TestStalledTurns(t *testing.T) {
	for _, test := range []struct {
		opts router.Options
		want int // turns after the decision's until the session backs off; 0: never
	}{
		{router.Options{}, 3},
		{router.Options{StalledTurns: 1}, 2},
		{router.Options{StalledTurns: 4}, 5},
		{router.Options{StalledTurns: -1}, 0},
		{router.Options{StalledTurns: 4, Stalled: router.Stalled{Summaries: 1}}, 2},
		{router.Options{StalledTurns: 1, Stalled: router.Stalled{Summaries: -1}}, 0},
	} {
		test.opts.SummaryTurns = 20
		d := newDialogue(t, newRouter(t, exampleCatalog(t), &test.opts), nil)
		d.do("End", d.End(t.Context()))
		d.say(office)
		d.do("Use", d.Use(t.Context(), "email-draft"))
		got := 0
		for turn := 1; turn <= 10 && got == 0; turn++ {
			if x := d.say(follow); slices.Contains(rules(x.Events), "stalled") {
				got = turn
			}
		}
		if got != test.want {
			t.Errorf("%+v: backs off in turn %d, want %d", test.opts.Stalled, got, test.want)
		}
	}
}

// Layer 1 has no parent: one question, then the fallback domains, then the
// index; what was tried is not shown again at once, and nothing goes round.
func TestTopNeverLoops(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Threshold: 0.98, MaxDomains: 1}), nil)
	d.say(office)
	d.do("Use", d.Use(t.Context(), "email-draft"))
	questions, fallbacks := 0, 0
	for turn := range 9 {
		x := d.say(vague)
		if _, ok := x.Question(); ok {
			questions++
		}
		if slices.Contains(rules(x.Events), "none") && len(x.Summaries) > 0 {
			fallbacks++
		}
		if len(x.Events) > 6 {
			t.Errorf("turn %d: events %q", turn, rules(x.Events))
		}
	}
	if questions > 1 || fallbacks > 1 {
		t.Errorf("%d questions and %d times the fallback domains in nine turns", questions, fallbacks)
	}
}

// A question comes once for a request, and again for another one.
func TestAskedOnce(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Threshold: 0.98, MaxDomains: 1, Alone: true}), nil)
	asked := func(utterance string) bool {
		_, ok := d.say(utterance).Question()
		return ok
	}
	got := []bool{asked(vague), asked(vague), asked(office), asked(queries), asked(offTopic)}
	if want := []bool{true, false, false, false, false}; !cmp.Equal(got, want) {
		t.Errorf("questions %v, want %v", got, want)
	}
	for range 6 {
		d.say(" ")
	}
	if !asked(vague) {
		t.Error("no question about another request")
	}
}

// Allow is asked anew each turn and at load: what it takes away is gone from
// counts, candidates, what sticks, and the definitions.
func TestAllowIsAskedAnew(t *testing.T) {
	banned := map[string]bool{}
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), &router.SessionOptions{Allow: func(name string) bool { return !banned[name] }})
	d.say(office)
	d.load("email-draft")
	banned["email-draft"], banned["weekly-report"] = true, true
	x := d.say(follow)
	p := x.Prompt()
	line := fmt.Sprintf("- Office & communication (contains %d skills)", len(members(t, exampleCatalog(t), "Office & communication"))-2)
	if x.Outcome != router.Sticky || strings.Contains(p, "- email-draft:") || strings.Contains(p, "- weekly-report:") || strings.Contains(p, "[Loaded]") || !strings.Contains(p, line) {
		t.Errorf("%s:\n%s", x.Outcome, p)
	}
	if st := d.state(); st.Layer != router.Summaries || !slices.Contains(rules(x.Events), "revoked") || len(st.Loaded) > 0 {
		t.Errorf("layer %s, events %q, loaded %q", st.Layer, rules(x.Events), st.Loaded)
	}
	if !slices.Contains(x.Unloaded, "email-draft") || !slices.Contains(x.Unloaded, "weekly-report") {
		t.Errorf("unloaded %q", x.Unloaded)
	}
	var missing *index.NotFoundError
	for what, err := range map[string]error{
		"Load":   func() error { _, err := d.Load(t.Context(), "email-draft"); return err }(),
		"Use":    d.Use(t.Context(), "email-draft"),
		"Reject": d.Reject(t.Context(), "email-draft", ""),
	} {
		if !errors.As(err, &missing) {
			t.Errorf("%s of a skill that does not exist for the asker: %v", what, err)
		}
	}
	banned = map[string]bool{}
	if x := d.say(office); !slices.Contains(shown(x), "email-draft") {
		t.Errorf("allowed again: shown %q", shown(x))
	}
}

// A task of a manual skill ends like any other.
func TestManualTask(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say("/duplicate-cleanup ~/Pictures")
	if x := d.say(follow); !cmp.Equal(loaded(x), []string{"duplicate-cleanup"}) {
		t.Fatalf("loaded %q", loaded(x))
	}
	if x := d.say(office); len(x.Loaded) > 0 || !slices.Contains(rules(x.Events), "switch") {
		t.Errorf("loaded %q, events %q", loaded(x), rules(x.Events))
	}
}

func TestFlatSession(t *testing.T) {
	d := newDialogue(t, newRouter(t, build(t, crowd(3, 3)), nil), nil)
	x := d.say("weather matters")
	if st := d.state(); st.Layer != router.Summaries || len(x.Summaries) != 6 || len(x.New)+len(x.Hits)+len(st.Domains) > 0 {
		t.Errorf("layer %s, %d summaries, new %q, hits %q, domains %q", st.Layer, len(x.Summaries), x.New, x.Hits, st.Domains)
	}
	d.load("weather-00")
	d.do("Use", d.Use(t.Context(), "weather-00"))
	for range 2 {
		d.say(follow)
	}
	if x := d.say(follow); d.state().Layer != router.Summaries || len(x.Summaries) != 5 || !cmp.Equal(x.Unloaded, []string{"weather-00"}) {
		t.Errorf("after a stall: layer %s, %d summaries, unloaded %q", d.state().Layer, len(x.Summaries), x.Unloaded)
	}
}

// From a skill that was named outright a session backs off to the summaries of
// its domain, without it, until it counts again.
func TestNamedSkillStalls(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{SummaryTurns: 20, Stalled: router.Stalled{Summaries: -1}}), nil)
	d.say("/git-commit")
	d.do("Use", d.Use(t.Context(), "git-commit"))
	d.say(follow)
	d.say(follow)
	x := d.say(follow) // the first of five
	want := without(members(t, exampleCatalog(t), "Software engineering"), "git-commit")
	if st := d.state(); st.Layer != router.Summaries || !cmp.Equal(st.Domains, []string{"Software engineering"}) || !same(shown(x), want) || x.Outcome != router.Sticky {
		t.Fatalf("%s, layer %s, visible %q: %q", x.Outcome, st.Layer, st.Domains, shown(x))
	}
	const again = "would you merge this branch as it is? then commit my changes"
	for turn := 2; turn <= 6; turn++ {
		x := d.say(again)
		if !slices.Contains(matched(x), "Software engineering") {
			t.Fatalf("turn %d: %s, matched %q", turn, x.Outcome, matched(x))
		}
		if got, want := slices.Contains(shown(x), "git-commit"), turn == 6; got != want {
			t.Errorf("turn %d: git-commit is shown: %v", turn, got)
		}
	}
}

// A domain that has nothing else to show is none to step back to.
func TestRejectTheOnlySkill(t *testing.T) {
	f := crowd(3)
	f["alone/lone-wolf/SKILL.md"] = skill("lone-wolf", "Howls at the moon. Use at night.", "")
	d := newDialogue(t, newRouter(t, build(t, f), &router.Options{Mode: router.Layered}), nil)
	d.say("/lone-wolf")
	d.do("Reject", d.Reject(t.Context(), "lone-wolf", "it is day"))
	if st := d.state(); st.Layer != router.Domains || len(st.Domains) > 0 {
		t.Errorf("layer %s, visible %q", st.Layer, st.Domains)
	}
}
