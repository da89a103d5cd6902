package router_test

import (
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
	vague    = "help me with this document" // near a threshold of 0.98
	offTopic = "how far can a flea jump"
	follow   = "go on"
)

// Each row of the table in the documentation of Session, in its order.
func TestSessionTable(t *testing.T) {
	ctx := t.Context()
	strict := &router.Options{Threshold: 0.98, MaxDomains: 1} // no pair
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
				if !cmp.Equal(st.Domains, want) || !cmp.Equal(st.Alive, want) || !same(x.New, members(t, exampleCatalog(t), want[0])) || len(x.Hits) > 0 {
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
				if !same(x.Hits, members(t, exampleCatalog(t), "Office & communication")) || len(x.New)+len(x.Unloaded) > 0 {
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
				if !same(x.Hits, members(t, exampleCatalog(t), "Office & communication")) {
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
				if e := st.Events[len(st.Events)-1]; !same(st.Loaded, members(t, exampleCatalog(t), "File operations")) || e.Reason != "a survey of all file skills" {
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
			"Unload", nil, func(d dialogue) *router.Route {
				d.say(office)
				d.load("email-draft")
				d.do("Unload", d.Unload(ctx, "email-draft"))
				return nil
			},
			"unload", router.Summaries, nil,
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
				want := without(members(t, exampleCatalog(t), "Software engineering"), "git-commit")
				if !cmp.Equal(st.Domains, []string{"Software engineering"}) || !same(st.Skills, want) {
					t.Errorf("visible %q: %q, want %q", st.Domains, st.Skills, want)
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
	want := members(t, exampleCatalog(t), "Office & communication")
	for turn, u := range []string{office, follow, office} {
		if x := d.say(u); !same(x.New, want) || len(x.Hits) > 0 {
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
