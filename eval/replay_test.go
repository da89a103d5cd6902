package eval

import (
	"context"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/cache"
	"skillrouter/examples"
	"skillrouter/router"
)

func TestPosition(t *testing.T) {
	for _, test := range []struct {
		name        string
		before, now []string
		want        string
	}{
		{"not labelled", []string{"a"}, nil, ""},
		{"first", nil, []string{"a"}, First},
		{"same", []string{"a"}, []string{"a"}, Kept},
		{"one in common", []string{"a", "b"}, []string{"b", "c"}, Kept},
		{"none in common", []string{"a"}, []string{"b"}, Switched},
	} {
		if got := position(test.before, test.now); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestJudge(t *testing.T) {
	named := func(names ...string) (ranking []router.Candidate) {
		for _, n := range names {
			ranking = append(ranking, router.Candidate{Name: n})
		}
		return ranking
	}
	labelled := func(row ReplayedTurn) ReplayedTurn {
		row.Position, row.WantDomains, row.WantSkills = First, []string{"Mail"}, []string{"send"}
		return row
	}
	for _, test := range []struct {
		name   string
		row    ReplayedTurn
		route  router.Route
		loaded []string
		want   Verdict
	}{
		{"not labelled", ReplayedTurn{Visible: []string{"Mail"}}, router.Route{Outcome: router.One}, nil, ""},
		{
			"right",
			labelled(ReplayedTurn{Matched: []string{"Mail"}, Visible: []string{"Mail"}, Skills: []string{"send", "sort"}}),
			router.Route{Outcome: router.One, Candidates: named("fly", "send", "sort")},
			nil, OK,
		},
		{
			"another first",
			labelled(ReplayedTurn{Matched: []string{"Mail"}, Visible: []string{"Mail"}, Skills: []string{"send", "sort"}}),
			router.Route{Outcome: router.One, Candidates: named("sort", "send")},
			nil, WrongSkill,
		},
		{
			"what stuck is not ranked",
			labelled(ReplayedTurn{Visible: []string{"Mail"}, Skills: []string{"send", "sort"}}),
			router.Route{Outcome: router.Sticky, Candidates: named("sort", "send")},
			nil, OK,
		},
		{
			"cut",
			labelled(ReplayedTurn{Matched: []string{"Mail"}, Visible: []string{"Mail"}, Skills: []string{"sort"}}),
			router.Route{Outcome: router.One, Candidates: named("sort", "send")},
			nil, NotShown,
		},
		{
			"its line only",
			labelled(ReplayedTurn{Matched: []string{"Travel", "Mail"}, Visible: []string{"Travel"}, Skills: []string{"fly"}}),
			router.Route{Outcome: router.Several, Candidates: named("fly", "send")},
			nil, NotShown,
		},
		{
			"elsewhere",
			labelled(ReplayedTurn{Matched: []string{"Travel"}, Visible: []string{"Travel"}, Skills: []string{"fly"}}),
			router.Route{Outcome: router.One, Candidates: named("fly", "send")},
			nil, WrongDomain,
		},
		{
			"stuck elsewhere",
			labelled(ReplayedTurn{Visible: []string{"Travel"}, Skills: []string{"fly"}}),
			router.Route{Outcome: router.Sticky, Candidates: named("send", "fly")},
			nil, WrongDomain,
		},
		{
			"a match that is not heard",
			labelled(ReplayedTurn{Matched: []string{"Mail"}, Visible: []string{"Travel"}, Skills: []string{"fly"}}),
			router.Route{Outcome: router.Sticky, Candidates: named("send", "fly")},
			nil, WrongDomain,
		},
		{"asked", labelled(ReplayedTurn{}), router.Route{Outcome: router.Clarify, Candidates: named("send")}, nil, NothingMatched},
		{
			"loaded",
			labelled(ReplayedTurn{}),
			router.Route{Outcome: router.Direct, Candidates: named("send", "fly")},
			[]string{"send"},
			OK,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			(&replayer{}).judge(&test.row, &test.route, test.loaded)
			if test.row.Verdict != test.want {
				t.Errorf("got %q, want %q", test.row.Verdict, test.want)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	required := func(skill, tool string) []string {
		if (skill == "" || skill == "send") && tool == "send_mail" {
			return []string{"to", "text"}
		}
		return nil
	}
	call := func(json string) Call {
		var c Call
		if err := c.UnmarshalJSON([]byte(json)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, test := range []struct {
		name    string
		call    Call
		verdict Verdict // of the route
		want    Verdict
		missing []string
	}{
		{"all passed", call(`{"skill":"send","name":"send_mail","arguments":{"to":"a","text":""}}`), OK, OK, nil},
		{"one left out", call(`{"name":"send_mail","arguments":{"to":"a"}}`), OK, MissingParams, []string{"text"}},
		{"null is nothing", call(`{"name":"send_mail","arguments":{"to":null,"text":"b"}}`), OK, MissingParams, []string{"to"}},
		{"all left out", call(`{"name":"send_mail","arguments":"no JSON"}`), OK, MissingParams, []string{"to", "text"}},
		{"of another skill", call(`{"skill":"fly","name":"book"}`), OK, WrongSkill, nil},
		{"the route was wrong before", call(`{"name":"send_mail"}`), WrongDomain, WrongDomain, []string{"to", "text"}},
		{"an unknown tool", call(`{"name":"x"}`), OK, OK, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &replayer{report: &ReplayReport{}, opts: ReplayOptions{Required: required}}
			row := ReplayedTurn{Verdict: test.verdict}
			p.calls(&row, &Turn{Skills: []string{"send"}, Calls: []Call{test.call}})
			var missing []string
			for _, m := range row.Missing {
				missing = append(missing, m.Params...)
			}
			if row.Verdict != test.want || !slices.Equal(missing, test.missing) || p.report.Calls != 1 || p.report.Incomplete != min(1, len(missing)) {
				t.Errorf("got %q, missing %q, %d of %d calls incomplete", row.Verdict, missing, p.report.Incomplete, p.report.Calls)
			}
		})
	}
}

// twoDomains is a router over six skills, each of which its name leads to.
func twoDomains(t *testing.T, opts router.Options) *skillrouter.Router {
	t.Helper()
	catalog := fstest.MapFS{}
	for path, about := range map[string]string{
		"mail/send-email": "Sends emails with attachments.", "mail/sort-inbox": "Sorts the emails of an inbox.", "mail/draft-email": "Drafts emails from notes.",
		"travel/book-flight": "Books flights between cities.", "travel/find-hotel": "Finds hotels near a place.", "travel/rent-car": "Rents cars at an airport.",
	} {
		name := path[strings.IndexByte(path, '/')+1:]
		catalog[path+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + about + "\n---\n# " + name + "\n\n" + about + "\n")}
	}
	opts.Mode = router.Layered
	r, err := skillrouter.Open(context.Background(), &skillrouter.Options{Router: opts, FS: map[string]fs.FS{"skills": catalog}}, "skills")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// The layers, caches and figures of one dialogue in which skills are named
// outright, so that no score decides.
func TestReplay(t *testing.T) {
	ctx := context.Background()
	store, err := cache.NewSessions(nil)
	if err != nil {
		t.Fatal(err)
	}
	meter := NewMeter(store)
	r := twoDomains(t, router.Options{Store: meter})
	mail, flight := Turn{User: "/send-email", Domains: []string{"mail"}, Skills: []string{"send-email"}}, Turn{User: "/book-flight", Domains: []string{"travel"}, Skills: []string{"book-flight"}}
	dialogues := []Dialogue{
		{ID: "a", Index: r.Index().Fingerprint()[:8], Turns: []Turn{mail, mail, flight, {User: "...", Event: EventTaskEnd}}},
		{ID: "b", Index: "another", Turns: []Turn{{User: "/rent-car", Domains: []string{"mail", "post"}, Skills: []string{"stamp"}}}},
	}
	rep, err := Replay(ctx, r.Router, dialogues, &ReplayOptions{Play: true, Meter: meter})
	if err != nil {
		t.Fatal(err)
	}
	type turn struct {
		Position, Layer string
		Verdict         Verdict
		Loaded          []string
		Events          []string
		Anew            bool
	}
	var got []turn
	for _, d := range rep.Replayed {
		for _, x := range d.Turns {
			got = append(got, turn{x.Position, x.Layer, x.Verdict, x.Loaded, x.Events, x.NewTokens > 0})
		}
	}
	want := []turn{
		{First, "definitions", OK, []string{"send-email"}, []string{"task-begin", "direct", "use"}, true},
		{Kept, "definitions", OK, []string{"send-email"}, []string{"direct", "use"}, false},
		{Switched, "definitions", OK, []string{"book-flight"}, []string{"switch", "task-begin", "direct", "use"}, true},
		{"", "domains", "", []string{}, []string{"empty", "task-end"}, false},
		{First, "definitions", WrongDomain, []string{"rent-car"}, []string{"task-begin", "direct"}, true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if rep.Replayed[0].OtherIndex || !rep.Replayed[1].OtherIndex {
		t.Error("only the second was recorded over another index")
	}
	if rep.Dialogues != 2 || rep.Turns != 5 || rep.Labelled != 4 || rep.First != 2 || rep.Kept != 1 || rep.Switched != 1 {
		t.Errorf("got %d dialogues, %d turns, %d labelled: %d first, %d kept, %d switched", rep.Dialogues, rep.Turns, rep.Labelled, rep.First, rep.Kept, rep.Switched)
	}
	if rep.SkillVisible != 0.75 || rep.SkillRecall != 0.75 || rep.DomainVisible != 0.75 || rep.MatchedOnly != 0.75 || rep.StickyShare != 0 || rep.SwitchDetected != 1 || rep.FalseSwitch != 0 {
		t.Errorf("shares: %+v", rep)
	}
	if d := cmp.Diff(map[router.Outcome]int{router.Direct: 4, router.Empty: 1}, rep.Outcomes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Verdict]int{OK: 3, WrongDomain: 1}, rep.Verdicts); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]string{{"post"}, {"stamp"}}, [][]string{rep.UnknownDomains, rep.UnknownSkills}); d != "" {
		t.Error(d)
	}
	if rep.StateMax == 0 || rep.StateMean == 0 || rep.StateMean > float64(rep.StateMax) {
		t.Errorf("state bytes: mean %v, at most %d", rep.StateMean, rep.StateMax)
	}
	if store.Len() != 0 {
		t.Errorf("%d sessions are left", store.Len())
	}

	if _, err := Replay(ctx, r.Router, nil, nil); err == nil {
		t.Error("no dialogues: want an error, not a report of nothing")
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := Replay(ended, r.Router, dialogues, nil); err == nil {
		t.Error("ctx has ended: want its error")
	}
}

// Figures of real dialogues fit together, whatever the scores are.
func TestReplayExamples(t *testing.T) {
	ctx := context.Background()
	dialogues, err := ReadDialogues(strings.NewReader(string(examples.Dialogues())), "dialogues.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var reports []*ReplayReport
	for _, test := range []struct {
		name   string
		router router.Options
		play   bool
	}{{name: "routed"}, {name: "played", play: true}, {name: "no cache", router: router.Options{SummaryTurns: -1}}, {name: "flat", router: router.Options{Mode: router.Flat}}} {
		t.Run(test.name, func(t *testing.T) {
			r, err := skillrouter.Open(ctx, &skillrouter.Options{Router: test.router, FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			rep, err := Replay(ctx, r.Router, dialogues, &ReplayOptions{Play: test.play})
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, rep)
			verdicts := 0
			for _, n := range rep.Verdicts {
				verdicts += n
			}
			if rep.First+rep.Kept+rep.Switched != rep.Labelled || verdicts != rep.Labelled || rep.First != len(dialogues) {
				t.Errorf("%d labelled turns: %d first, %d kept, %d switched, %d with a verdict", rep.Labelled, rep.First, rep.Kept, rep.Switched, verdicts)
			}
			whole := (rep.DomainHit1First*float64(rep.First) + rep.DomainHit1Kept*float64(rep.Kept) + rep.DomainHit1Switched*float64(rep.Switched)) / float64(rep.Labelled)
			if math.Abs(whole-rep.DomainHit1) > 1e-9 {
				t.Errorf("the parts of %v make %v", rep.DomainHit1, whole)
			}
			if rep.MatchedOnly+rep.StickyShare > rep.DomainVisible+1e-9 || rep.SkillVisible > rep.DomainVisible+1e-9 || rep.SkillRecall > rep.SkillVisible+1e-9 {
				t.Errorf("shares: %+v", rep)
			}
			if rep.LoadedCached > rep.LoadedUncached || rep.IndexTokens <= 0 {
				t.Errorf("tokens: %+v", rep)
			}
			if got, want := float64(FlatTokens(r.Index(), nil)), rep.Flat-rep.Definitions; got < want-1e-9 || got >= want+1 {
				t.Errorf("%v tokens flat, the report has %v", got, want)
			}
			if got := FlatTokens(r.Index(), func(string) bool { return false }); got != 0 {
				t.Errorf("%v tokens flat of no skill", got)
			}
			for _, d := range rep.Replayed {
				for _, x := range d.Turns {
					if (x.Verdict == OK) && !x.SkillVisible || x.SkillVisible && !x.DomainVisible {
						t.Errorf("%s, turn %d: %+v", d.ID, x.Turn, x)
					}
				}
			}
		})
	}
	routed, played, uncached, flat := reports[0], reports[1], reports[2], reports[3]
	if routed.CacheSaving < 0.2 || uncached.CacheSaving > 0.01 {
		t.Errorf("the cache saves %v, without it %v", routed.CacheSaving, uncached.CacheSaving)
	}
	if routed.Layered > routed.Flat/2 {
		t.Errorf("%v tokens layered, %v flat", routed.Layered, routed.Flat)
	}
	if played.Definitions < 10*routed.Definitions {
		t.Errorf("the played host loaded %v tokens of definitions, without it %v", played.Definitions, routed.Definitions)
	}
	if flat.DomainVisible < 0.99 || flat.Summaries < routed.Summaries {
		t.Errorf("flat shows all: %+v", flat.DomainVisible)
	}
}

func BenchmarkReplay(b *testing.B) {
	ctx := context.Background()
	r, err := skillrouter.Open(ctx, &skillrouter.Options{FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
	if err != nil {
		b.Fatal(err)
	}
	dialogues, err := ReadDialogues(strings.NewReader(string(examples.Dialogues())), "dialogues.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Replay(ctx, r.Router, dialogues, nil); err != nil {
			b.Fatal(err)
		}
	}
}
