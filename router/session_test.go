package router_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/index"
	"skillrouter/router"
)

// Utterances for the example catalog.
const (
	office   = "write an email to decline the offer"
	queries  = "明天北京会下雨吗"
	vague    = "help me with this document" // near a threshold of 0.9
	offTopic = "how far can a flea jump"
	follow   = "go on"
)

// Each row of the table in the documentation of Session, in its order.
func TestSessionTable(t *testing.T) {
	ctx := t.Context()
	strict := &router.Options{Threshold: 0.98}
	for _, test := range []struct {
		name  string
		opts  *router.Options
		steps func(d dialogue) *router.Route // the last one matters; nil: no Route
		rule  string
		to    router.Layer
		check func(t *testing.T, d dialogue, x *router.Route, st router.State)
	}{
		{
			"a domain matches", nil, func(d dialogue) *router.Route { return d.say(office) },
			"match", router.Summaries,
			func(t *testing.T, _ dialogue, x *router.Route, st router.State) {
				want := []string{"Office & communication"}
				if !cmp.Equal(st.Domains, want) || !cmp.Equal(st.Alive, want) || len(x.New) != 5 || len(x.Hits) > 0 {
					t.Errorf("visible %q, alive %q, new %q, hits %q", st.Domains, st.Alive, x.New, x.Hits)
				}
			},
		},
		{
			"a skill is named", nil, func(d dialogue) *router.Route { return d.say("/git-commit") },
			"direct", router.Definitions,
			func(t *testing.T, _ dialogue, x *router.Route, st router.State) {
				if !st.Task || !cmp.Equal(st.Loaded, []string{"git-commit"}) || !cmp.Equal(x.New, []string{"git-commit"}) {
					t.Errorf("task %v, loaded %q, new %q", st.Task, st.Loaded, x.New)
				}
			},
		},
		{
			"no match, summaries alive", nil, func(d dialogue) *router.Route { d.say(office); return d.say(follow) },
			"sticky", router.Summaries,
			func(t *testing.T, _ dialogue, x *router.Route, _ router.State) {
				if len(x.Hits) != 5 || len(x.New)+len(x.Unloaded) > 0 {
					t.Errorf("hits %q, new %q, unloaded %q", x.Hits, x.New, x.Unloaded)
				}
			},
		},
		{
			"no match, a definition loaded", nil, func(d dialogue) *router.Route { d.say("/git-commit"); return d.say(follow) },
			"sticky", router.Definitions,
			func(t *testing.T, _ dialogue, x *router.Route, _ router.State) {
				if _, ok := x.Question(); ok || !cmp.Equal(loaded(x), []string{"git-commit"}) || len(x.Nearest()) > 0 {
					t.Errorf("a question: %v, loaded %q, nearest %q", ok, loaded(x), x.Nearest())
				}
			},
		},
		{
			"no words", nil, func(d dialogue) *router.Route { d.say(office); return d.say("  ") },
			"empty", router.Summaries,
			func(t *testing.T, _ dialogue, x *router.Route, _ router.State) {
				if len(x.Hits) != 5 {
					t.Errorf("hits %q", x.Hits)
				}
			},
		},
		{
			"no match, near", strict, func(d dialogue) *router.Route { return d.say(vague) },
			"clarify", router.Domains,
			func(t *testing.T, _ dialogue, x *router.Route, _ router.State) {
				if _, ok := x.Question(); !ok || len(x.Summaries) > 0 {
					t.Errorf("a question: %v, shown %q", ok, shown(x))
				}
			},
		},
		{
			"no match, near, asked before", strict, func(d dialogue) *router.Route { d.say(vague); return d.say(vague) },
			"none", router.Summaries, // of the fallback domain
			func(t *testing.T, _ dialogue, x *router.Route, st router.State) {
				if _, ok := x.Question(); ok || !cmp.Equal(st.Domains, []string{"Text processing"}) {
					t.Errorf("a question: %v, visible %q", ok, st.Domains)
				}
			},
		},
		{
			"no match", nil, func(d dialogue) *router.Route { return d.say(offTopic) },
			"none", router.Summaries,
			func(t *testing.T, _ dialogue, x *router.Route, _ router.State) {
				if len(x.Nearest()) != 3 {
					t.Errorf("nearest %q", x.Nearest())
				}
			},
		},
		{
			"Choose", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.do("Choose", d.Choose(ctx, "File operations"))
				return nil
			},
			"choose", router.Summaries,
			func(t *testing.T, _ dialogue, _ *router.Route, st router.State) {
				if !cmp.Equal(st.Domains, []string{"File operations"}) {
					t.Errorf("visible %q", st.Domains)
				}
			},
		},
		{
			"Load", nil, func(d dialogue) *router.Route { d.say(office); d.load("email-draft"); return nil },
			"load", router.Definitions,
			func(t *testing.T, d dialogue, _ *router.Route, st router.State) {
				if p := d.prompt(); !st.Task || strings.Count(p, "[Loaded] email-draft\n") != 1 || !strings.Contains(p, "- email-draft:") {
					t.Errorf("task %v, prompt:\n%s", st.Task, p)
				}
			},
		},
		{
			"LoadDomain", nil, func(d dialogue) *router.Route {
				_, err := d.LoadDomain(ctx, "File operations", "a survey of all file skills")
				d.do("LoadDomain", err)
				return nil
			},
			"load-domain", router.Definitions,
			func(t *testing.T, _ dialogue, _ *router.Route, st router.State) {
				if e := st.Events[len(st.Events)-1]; len(st.Loaded) != 4 || e.Reason != "a survey of all file skills" {
					t.Errorf("loaded %q, reason %q", st.Loaded, e.Reason)
				}
			},
		},
		{
			"Use", nil, func(d dialogue) *router.Route {
				d.say(queries)
				d.do("Use", d.Use(ctx, "weather-query"))
				return nil
			},
			"use", router.Summaries, nil,
		},
		{
			"Reject", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.load("email-draft")
				d.do("Reject", d.Reject(ctx, "email-draft", "no addressee"))
				return nil
			},
			"reject", router.Summaries,
			func(t *testing.T, d dialogue, _ *router.Route, st router.State) {
				if p := d.prompt(); strings.Contains(p, "- email-draft:") || strings.Contains(p, "[Loaded]") || !cmp.Equal(st.LeftOut, []string{"email-draft"}) {
					t.Errorf("left out %q, prompt:\n%s", st.LeftOut, p)
				}
				x := d.say(follow)
				if !cmp.Equal(x.Unloaded, []string{"email-draft"}) {
					t.Errorf("unloaded %q", x.Unloaded)
				}
			},
		},
		{
			"Reject of a skill that was named", nil, func(d dialogue) *router.Route {
				d.say("/git-commit")
				d.do("Reject", d.Reject(ctx, "git-commit", ""))
				return nil
			},
			"reject", router.Summaries,
			func(t *testing.T, _ dialogue, _ *router.Route, st router.State) {
				if !cmp.Equal(st.Domains, []string{"Software engineering"}) || slices.Contains(st.Skills, "git-commit") || len(st.Skills) != 4 {
					t.Errorf("visible %q: %q", st.Domains, st.Skills)
				}
			},
		},
		{
			"definitions stall", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.load("email-draft")
				d.do("Use", d.Use(ctx, "email-draft"))
				d.say(follow)
				d.say(follow)
				return d.say(follow)
			},
			"sticky", router.Summaries,
			func(t *testing.T, _ dialogue, x *router.Route, st router.State) {
				if !slices.Contains(rules(x.Events), "stalled") || !cmp.Equal(st.LeftOut, []string{"email-draft"}) || !cmp.Equal(x.Unloaded, []string{"email-draft"}) {
					t.Errorf("events %q, left out %q, unloaded %q", rules(x.Events), st.LeftOut, x.Unloaded)
				}
			},
		},
		{
			"summaries stall", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.do("Use", d.Use(ctx, "email-draft"))
				d.say(follow)
				d.say(follow)
				return d.say(office)
			},
			"none", router.Summaries,
			func(t *testing.T, _ dialogue, x *router.Route, st router.State) {
				if !cmp.Equal(rules(x.Events), []string{"stalled", "none"}) || x.Events[0].To != router.Domains || !cmp.Equal(st.LeftOut, []string{"Office & communication"}) {
					t.Errorf("events %+v, left out %q", x.Events, st.LeftOut)
				}
				if slices.Contains(x.Nearest(), "Office & communication") || !slices.ContainsFunc(x.Domains, func(d router.Domain) bool {
					return d.Name == "Office & communication" && d.Excluded && !d.Matched
				}) {
					t.Errorf("nearest %q, domains %+v", x.Nearest(), x.Domains)
				}
			},
		},
		{
			"EndTask", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.load("email-draft")
				d.do("EndTask", d.EndTask(ctx))
				return nil
			},
			"task-end", router.Summaries,
			func(t *testing.T, d dialogue, _ *router.Route, st router.State) {
				if st.Task || len(st.Loaded) > 0 || strings.Contains(d.prompt(), "[Loaded]") {
					t.Errorf("task %v, loaded %q, prompt:\n%s", st.Task, st.Loaded, d.prompt())
				}
			},
		},
		{
			"EndTask with nothing visible", nil, func(d dialogue) *router.Route {
				d.load("email-draft")
				d.do("EndTask", d.EndTask(ctx))
				return nil
			},
			"task-end", router.Domains, nil,
		},
		{
			"a match elsewhere", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.load("email-draft")
				return d.say(queries)
			},
			"match", router.Summaries,
			func(t *testing.T, d dialogue, x *router.Route, st router.State) {
				if !slices.Contains(rules(x.Events), "switch") || st.Task || len(st.Loaded)+len(x.Loaded) > 0 || !slices.Contains(x.Unloaded, "email-draft") || strings.Contains(x.Prompt(), "[Loaded]") {
					t.Errorf("events %q, task %v, loaded %q, unloaded %q", rules(x.Events), st.Task, st.Loaded, x.Unloaded)
				}
			},
		},
		{
			"a match in the task's domain", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.load("email-draft")
				return d.say(office)
			},
			"match", router.Definitions,
			func(t *testing.T, _ dialogue, x *router.Route, st router.State) {
				if !st.Task || !cmp.Equal(loaded(x), []string{"email-draft"}) {
					t.Errorf("task %v, loaded %q", st.Task, loaded(x))
				}
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDialogue(t, newRouter(t, exampleCatalog(t), test.opts), nil)
			x := test.steps(d)
			st := d.state()
			last := st.Events[len(st.Events)-1]
			if last.Rule != test.rule || last.To != test.to || st.Layer != test.to {
				t.Errorf("ends by %q in %s (layer %s), want %q in %s\n%+v", last.Rule, last.To, st.Layer, test.rule, test.to, st.Events)
			}
			if x != nil && (x.Prompt() != d.prompt() || x.Turn != st.Turn) {
				t.Errorf("turn %d, state %d; the prompts differ: %s", x.Turn, st.Turn, cmp.Diff(x.Prompt(), d.prompt()))
			}
			if test.check != nil {
				test.check(t, d, x, st)
			}
		})
	}
}

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
	x := d.say(follow)
	if x.Outcome == router.Sticky || !slices.Contains(rules(x.Events), "expired") || len(x.Unloaded) != 5 {
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
	if st := d.state(); x.Outcome != router.Empty || st.Layer != router.Domains || len(x.Summaries) > 0 || len(x.Unloaded) != 5 {
		t.Errorf("%s, layer %s, shown %q, unloaded %q", x.Outcome, st.Layer, shown(x), x.Unloaded)
	}
}

// What is alive but out of sight is a hit when it comes back.
func TestComesBack(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(office)
	if x := d.say(queries); len(x.Unloaded) != 5 || len(x.New) != 6 {
		t.Errorf("unloaded %q, new %q", x.Unloaded, x.New)
	}
	if x := d.say(office); len(x.Hits) != 5 || len(x.New) > 0 {
		t.Errorf("hits %q, new %q", x.Hits, x.New)
	}
	if st := d.state(); st.Summaries.Hits != 1 || st.Summaries.Misses != 2 {
		t.Errorf("counts %+v", st.Summaries)
	}
}

func TestLoad(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	ctx := t.Context()
	var missing *index.NotFoundError
	if _, err := d.Load(ctx, "no-such-skill"); !errors.As(err, &missing) {
		t.Errorf("Load of an unknown skill: %v", err)
	}
	d.load("duplicate-cleanup") // manual: by name only
	d.load("git-commit")
	d.load("git-commit")
	if p := d.prompt(); strings.Count(p, "[Loaded] git-commit\n") != 1 || strings.Count(p, "[Loaded] duplicate-cleanup\n") != 1 {
		t.Errorf("prompt:\n%s", p)
	}
	if st := d.state(); st.Definitions.Hits != 1 || st.Definitions.Misses != 2 {
		t.Errorf("counts %+v", st.Definitions)
	}
}

func TestLoadDomainRefuses(t *testing.T) {
	d := newDialogue(t, newRouter(t, build(t, crowd(65, 3)), nil), nil)
	for _, test := range []struct{ domain, reason, want string }{
		{"weather", " ", "needs a reason"},
		{"invoice", "all of it", "has 65 skills"},
		{"nothing", "all of it", "domain not found"},
	} {
		if _, err := d.LoadDomain(t.Context(), test.domain, test.reason); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("LoadDomain(%q, %q): %v, want %q", test.domain, test.reason, err, test.want)
		}
	}
	if st := d.state(); len(st.Loaded)+len(st.Events) > 0 {
		t.Errorf("loaded %q, events %+v", st.Loaded, st.Events)
	}
	all, err := d.LoadDomain(t.Context(), "weather", strings.Repeat("because ", 100))
	if err != nil || len(all) != 3 || all[0].Name != "weather-00" || all[2].Name != "weather-02" {
		t.Errorf("loaded %v: %v", all, err)
	}
	st := d.state()
	if reason := st.Events[len(st.Events)-1].Reason; len(reason) > 300 || !strings.HasPrefix(reason, "because") {
		t.Errorf("the reason is kept as %q", reason)
	}
}

// One that is among many is evicted for the next, the one used last stays.
func TestMostLoaded(t *testing.T) {
	d := newDialogue(t, newRouter(t, build(t, crowd(64, 3)), nil), nil)
	if _, err := d.LoadDomain(t.Context(), "invoice", "all"); err != nil {
		t.Fatal(err)
	}
	d.do("Use", d.Use(t.Context(), "invoice-00"))
	d.load("weather-00")
	st := d.state()
	if len(st.Loaded) != 64 || slices.Contains(st.Loaded, "invoice-01") || !slices.Contains(st.Loaded, "invoice-00") || !slices.Contains(rules(st.Events), "evicted") {
		t.Errorf("%d loaded: %q\n%q", len(st.Loaded), st.Loaded, rules(st.Events))
	}
	if x := d.say(" "); !cmp.Equal(x.Unloaded, []string{"invoice-01"}) {
		t.Errorf("unloaded %q", x.Unloaded)
	}
}

func TestChooseRefuses(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), nil)
	d := newDialogue(t, r, &router.SessionOptions{Allow: func(name string) bool { return name == "git-commit" }})
	var missing *router.DomainNotFoundError
	for _, domain := range []string{"Office & communication", "nothing"} {
		if err := d.Choose(t.Context(), domain); !errors.As(err, &missing) || missing.Hint() == "" {
			t.Errorf("Choose(%q): %v", domain, err)
		}
	}
	d.do("Choose", d.Choose(t.Context(), "Software engineering"))
	if got := d.state().Skills; !cmp.Equal(got, []string{"git-commit"}) {
		t.Errorf("visible %q", got)
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
		for range 2 {
			x := d.say(office)
			if slices.Contains(shown(x), "email-draft") || len(x.Summaries) != 4 {
				t.Errorf("shown %q", shown(x))
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
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Threshold: 0.98}), nil)
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
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Threshold: 0.98}), nil)
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
	if x.Outcome != router.Sticky || strings.Contains(p, "- email-draft:") || strings.Contains(p, "- weekly-report:") || strings.Contains(p, "[Loaded]") || !strings.Contains(p, "(contains 3 skills)") {
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

// The catalog changes within a session (S22, S23).
func TestRefreshWithinSession(t *testing.T) {
	fsys := namesCatalog().fs()
	now := buildFS(t, embedder(t), fsys)
	r := newRouter(t, now, &router.Options{Mode: router.Layered, Threshold: 0.3, Reload: func(context.Context, *index.Index) (*index.Index, error) { return now, nil }})
	d := newDialogue(t, r, nil)
	d.say("use git-commit and pdf-text")
	before := d.prompt()

	f := namesCatalog()
	delete(f, "tools/git-commit/SKILL.md")
	f["files/pdf-text/SKILL.md"] = skill("pdf-text", "Extracts the text of PDF files, in another way. Use when a PDF is to be read.", "")
	f["files/new-one/SKILL.md"] = skill("new-one", "Does something new. Use when it is asked for.", "")
	now = build(t, f)
	if changed, err := r.Refresh(t.Context()); !changed || err != nil {
		t.Fatalf("Refresh: %v, %v", changed, err)
	}
	if got := d.prompt(); got != before {
		t.Errorf("the turn does not finish on its index (-want +got):\n%s", cmp.Diff(before, got))
	}
	if _, err := d.Load(t.Context(), "new-one"); err == nil {
		t.Error("a skill of the next index is there already")
	}
	x := d.say("go on")
	p := x.Prompt()
	if !strings.Contains(p, "Deleted and no longer available: git-commit.") || !strings.Contains(p, "in another way") || strings.Contains(p, "[Loaded] git-commit") {
		t.Errorf("the next turn:\n%s", p)
	}
	if !cmp.Equal(x.Unloaded, []string{"git-commit"}) || !slices.Contains(rules(x.Events), "deleted") || !slices.Contains(rules(x.Events), "changed") {
		t.Errorf("unloaded %q, events %q", x.Unloaded, rules(x.Events))
	}
	if p := d.say("go on").Prompt(); strings.Contains(p, "Deleted") {
		t.Errorf("the turn after it:\n%s", p)
	}
	d.load("new-one")
}

// Summaries whose text changed are dropped, others stick.
func TestRefreshDropsChangedSummaries(t *testing.T) {
	f := crowd(3, 3)
	now := build(t, f)
	r := newRouter(t, now, &router.Options{Mode: router.Layered, Threshold: -1, Reload: func(context.Context, *index.Index) (*index.Index, error) { return now, nil }})
	d := newDialogue(t, r, nil)
	d.say("weather")
	// An override, which leaves the file as it is.
	f["skillrouter.yaml"] = "skills:\n  weather-01: {summary: Says whether it will rain}\n"
	now = build(t, f)
	if changed, err := r.Refresh(t.Context()); !changed || err != nil {
		t.Fatalf("Refresh: %v, %v", changed, err)
	}
	x := d.say(" ")
	if got := d.state().Domains; !cmp.Equal(got, []string{"invoice"}) || !cmp.Equal(x.Events[0].Names, []string{"weather"}) {
		t.Errorf("visible %q, events %+v", got, x.Events)
	}
}

func TestRefresh(t *testing.T) {
	ix := build(t, crowd(3))
	other := buildFS(t, &fake{}, crowd(3).fs())
	limited := crowd(3)
	limited["skillrouter.yaml"] = "routing: {threshold: 0.5}\n"
	var next *index.Index
	var fails error
	r := newRouter(t, ix, &router.Options{Reload: func(_ context.Context, old *index.Index) (*index.Index, error) {
		if next == nil && fails == nil {
			return old, nil
		}
		return next, fails
	}})
	check := func(what string, changed bool, generation uint64, message string) {
		t.Helper()
		got, err := r.Refresh(t.Context())
		if got != changed || r.Generation() != generation || (message == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: changed %v, generation %d, %v", what, got, r.Generation(), err)
		}
		if !changed && r.Index() != ix {
			t.Errorf("%s: another index is in use", what)
		}
	}
	check("nothing new", false, 1, "")
	fails = errors.New("disk on fire")
	check("an error", false, 1, "disk on fire")
	fails, next = nil, other
	check("another embedder", false, 1, "embedder")
	next = build(t, limited)
	check("another index", true, 2, "")
	if route(t, r, "invoice").Threshold != 0.5 {
		t.Error("the numbers of the new catalog do not count")
	}
	none := newRouter(t, ix, nil)
	if changed, err := none.Refresh(t.Context()); changed || err != nil {
		t.Errorf("without Reload: %v, %v", changed, err)
	}
}

// A definition that is newer than the index is shown as it is, and said to be.
func TestStale(t *testing.T) {
	fsys := namesCatalog().fs()
	d := newDialogue(t, newRouter(t, buildFS(t, embedder(t), fsys), nil), nil)
	fsys["tools/git-commit/SKILL.md"].Data = []byte(skill("git-commit", "Writes commit messages, better ones.", ""))
	d.load("git-commit")
	if st := d.state(); !slices.Contains(rules(st.Events), "stale") || !strings.Contains(d.prompt(), "better ones") {
		t.Errorf("events %q, prompt:\n%s", rules(st.Events), d.prompt())
	}
}

func TestBeginTask(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	for range 2 {
		d.do("BeginTask", d.BeginTask(t.Context()))
	}
	if st := d.state(); !st.Task || !cmp.Equal(rules(st.Events), []string{"task-begin"}) {
		t.Errorf("task %v, events %q", st.Task, rules(st.Events))
	}
	d.say(office)
	d.say(queries) // no skill, no domain of the task
	if st := d.state(); !st.Task {
		t.Error("a task without a skill ended by a match")
	}
}

func TestEnd(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	d.say(office)
	d.load("email-draft")
	d.do("End", d.End(t.Context()))
	if diff := cmp.Diff(router.State{Layer: router.Domains}, d.state(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("after End (-want +got):\n%s", diff)
	}
	d.do("End", d.End(t.Context()))
	if x := d.say(follow); x.Turn != 1 || x.Outcome == router.Sticky {
		t.Errorf("turn %d is %s", x.Turn, x.Outcome)
	}
}

// Sessions of other IDs or agents share nothing, whatever stands in a name.
func TestSessionsShareNothing(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), nil)
	if _, err := r.Session("", nil); err == nil {
		t.Error("an empty ID is accepted")
	}
	var ds []dialogue
	for _, x := range [][2]string{{"a", ""}, {"a", "b"}, {"a/b", ""}, {"a%2Fb", ""}, {"a", "b/main"}, {"a/b", "main/main"}, {"%", "/"}, {"/", "%"}, {"%2F", ""}} {
		s, err := r.Session(x[0], &router.SessionOptions{Agent: x[1]})
		if err != nil {
			t.Fatal(err)
		}
		ds = append(ds, dialogue{t, s})
	}
	for i, d := range ds {
		if st := d.state(); st.Turn != 0 {
			t.Errorf("session %d begins in turn %d", i, st.Turn)
		}
		d.say(office)
		d.load("git-commit")
	}
	s, err := r.Session("a", &router.SessionOptions{Agent: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if st := (dialogue{t, s}).state(); st.Turn != 1 || !cmp.Equal(st.Loaded, []string{"git-commit"}) {
		t.Errorf("the same session again: turn %d, loaded %q", st.Turn, st.Loaded)
	}
}

// Without a cache routes are the same, only everything shown counts as new.
func TestNoCacheCountsNew(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{SummaryTurns: -1}), nil)
	for turn, u := range []string{office, follow, office} {
		if x := d.say(u); len(x.New) != 5 || len(x.Hits) > 0 {
			t.Errorf("turn %d: new %q, hits %q", turn+1, x.New, x.Hits)
		}
	}
}

func TestEventScore(t *testing.T) {
	x := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil).say(office)
	if e := x.Events[len(x.Events)-1]; e.Score != x.Top().Score || math.Abs(float64(e.Score)) < 0.72 {
		t.Errorf("event %+v, best domain %+v", e, x.Top())
	}
}

func TestLayerString(t *testing.T) {
	for l, want := range map[router.Layer]string{router.Domains: "domains", router.Summaries: "summaries", router.Definitions: "definitions", 7: "layer(7)"} {
		if got := fmt.Sprint(l); got != want {
			t.Errorf("%d is %q, want %q", int(l), got, want)
		}
	}
}

// A route and a definition are shared, so a session must not change them.
func TestRouteDoesNotChange(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	x := d.say(office)
	prompt, events, names := x.Prompt(), len(x.Events), slices.Clone(shown(x))
	d.load("email-draft")
	d.do("Reject", d.Reject(t.Context(), "weekly-report", ""))
	d.say(queries)
	if x.Prompt() != prompt || len(x.Events) != events || !cmp.Equal(shown(x), names) {
		t.Error("an earlier route has changed")
	}
}
