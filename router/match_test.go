package router_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter/index"
	"skillrouter/router"
)

func TestOutcomes(t *testing.T) {
	ix := exampleCatalog(t)
	r := newRouter(t, ix, nil)
	for _, test := range []struct {
		utterance string
		want      router.Outcome
		domains   []string
	}{
		{"write an email to decline the offer", router.One, []string{"Office & communication"}},
		{"明天北京会下雨吗", router.One, []string{"Data queries"}},
		{"帮我整理一下这些数据", router.Several, []string{"Data queries", "File operations"}},
		{"how far can a flea jump", router.None, nil},
		{"/git-commit", router.Direct, []string{"Software engineering"}},
		{"", router.Empty, nil},
		{" \t\n", router.Empty, nil},
		{"\x00", router.Empty, nil},
		{"🙂 !?", router.Empty, nil},
	} {
		x := route(t, r, test.utterance)
		if x.Outcome != test.want {
			t.Errorf("%q is %s, want %s", test.utterance, x.Outcome, test.want)
		}
		if diff := cmp.Diff(test.domains, matched(x)); diff != "" {
			t.Errorf("%q: matched domains (-want +got):\n%s", test.utterance, diff)
		}
		if got, want := x.Matched(), len(test.domains) > 0; got != want {
			t.Errorf("%q: Matched() = %v", test.utterance, got)
		}
		if x.Turn != 0 || x.Degraded || x.Clipped || x.Flat || x.Threshold != 0.72 || x.Utterance != test.utterance {
			t.Errorf("%q: %+v", test.utterance, x)
		}
	}
}

// A score that equals the threshold matches.
func TestThresholdIsInclusive(t *testing.T) {
	ix := exampleCatalog(t)
	const utterance = "help me with this document"
	top := route(t, newRouter(t, ix, nil), utterance).Top()
	for _, test := range []struct {
		threshold float64
		want      bool
	}{
		{float64(top.Score), true},
		{float64(math.Nextafter32(top.Score, 0)), true},
		{float64(math.Nextafter32(top.Score, 1)), false},
		{-1, true},
	} {
		x := route(t, newRouter(t, ix, &router.Options{Threshold: test.threshold, MaxDomains: 1}), utterance)
		if got := x.Top().Matched; got != test.want {
			t.Errorf("score %v, threshold %v: matched %v", top.Score, test.threshold, got)
		}
	}
	// 0.7 as a float32 is below 0.7.
	if x := route(t, newRouter(t, ix, &router.Options{Threshold: -1}), utterance); len(matched(x)) != len(ix.Domains()) {
		t.Errorf("without a threshold %d of %d domains match", len(matched(x)), len(ix.Domains()))
	}
}

// The best two match together where neither does alone, if they are close.
func TestPair(t *testing.T) {
	ix := exampleCatalog(t)
	for _, test := range []struct {
		utterance string
		close     bool
	}{
		{"help me with the numbers", true},
		{"find the numbers", false},
	} {
		x := route(t, newRouter(t, ix, nil), test.utterance)
		one, two := x.Domains[0].Score, x.Domains[1].Score
		if one >= 0.72 || one+two < 0.72 || test.close != (two >= one/2) {
			t.Fatalf("%q: scores %v and %v: another utterance is needed", test.utterance, one, two)
		}
		var want []string
		if test.close {
			want = []string{x.Domains[0].Name, x.Domains[1].Name}
		}
		if diff := cmp.Diff(want, matched(x)); diff != "" || (x.Outcome == router.Pair) != test.close || x.Matched() != test.close {
			t.Errorf("%q: %s, matched (-want +got):\n%s", test.utterance, x.Outcome, diff)
		}
		if test.close && len(x.Summaries) == 0 {
			t.Errorf("%q: no summaries of the pair", test.utterance)
		}
		above := float64(min(1, one+two+0.01))
		for name, opts := range map[string]router.Options{"one domain at most": {MaxDomains: 1}, "both below": {Threshold: above}} {
			if x := route(t, newRouter(t, ix, &opts), test.utterance); x.Matched() {
				t.Errorf("%q, %s: %s", test.utterance, name, x.Outcome)
			}
		}
	}
}

// Reach is the highest threshold at which an utterance matches.
func TestReach(t *testing.T) {
	ix := exampleCatalog(t)
	for _, most := range []int{0, 1} {
		for i, u := range exampleUtterances {
			if i%3 != 0 {
				continue
			}
			r := newRouter(t, ix, &router.Options{MaxDomains: most})
			reach := route(t, r, u).Reach()
			at := func(threshold float32) bool {
				if threshold > 1 {
					return false
				}
				return route(t, newRouter(t, ix, &router.Options{Threshold: float64(threshold), MaxDomains: most}), u).Matched()
			}
			if reach > 0 && !at(reach) || reach < 1 && at(math.Nextafter32(reach, 2)) {
				t.Errorf("%q, at most %d domains: reach %v, matches there %v, above it %v", u, most, reach, at(reach), at(math.Nextafter32(reach, 2)))
			}
		}
	}
	if got := route(t, newRouter(t, ix, nil), "/git-commit").Reach(); got != 1 {
		t.Errorf("a skill that is named: %v", got)
	}
	if got := route(t, newRouter(t, ix, nil), " ").Reach(); got != 0 {
		t.Errorf("nothing said: %v", got)
	}
}

func TestMaxDomains(t *testing.T) {
	x := route(t, newRouter(t, exampleCatalog(t), &router.Options{Threshold: -1, MaxDomains: 2}), "write an email")
	if got := matched(x); len(got) != 2 || x.Outcome != router.Several || got[0] != x.Domains[0].Name || got[1] != x.Domains[1].Name {
		t.Errorf("%s, matched %q, of %+v", x.Outcome, got, x.Domains)
	}
	if x := route(t, newRouter(t, exampleCatalog(t), &router.Options{Threshold: -1, MaxDomains: 1}), "write an email"); x.Outcome != router.One {
		t.Errorf("one domain at most: %s", x.Outcome)
	}
}

// What is shown never exceeds the bound: the best domain is cut, one that does
// not fit whole gives its line, a smaller one behind it may still fit.
func TestMaxSummaries(t *testing.T) {
	for _, test := range []struct {
		name  string
		sizes []int
		max   int
		shown []int // of the domains, best first
		more  int
		lines int
	}{
		{"all fit", []int{10, 10, 5}, 0, []int{10, 10, 5}, 0, 0},
		{"the first is too large", []int{30}, 0, []int{25}, 5, 0},
		{"the first takes all", []int{30, 4}, 0, []int{25}, 5, 1},
		{"the second does not fit", []int{15, 15, 6}, 0, []int{15, 6}, 0, 1},
		{"a bound of its own", []int{15, 15}, 10, []int{10}, 5, 1},
		{"no bound", []int{30, 30}, -1, []int{30, 30}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			ix := build(t, crowd(test.sizes...))
			r := newRouter(t, ix, &router.Options{Threshold: -1, MaxSummaries: test.max, Mode: router.Layered, MaxDomains: len(test.sizes)})
			// The triggers of the first domain, then fewer of each next one.
			utterance := "invoice invoice matters, invoice number x"
			x := route(t, r, utterance)
			sizes := map[string]int{}
			for d, n := range test.sizes {
				sizes[[]string{"invoice", "weather", "garden"}[d]] = n
			}
			if x.Domains[0].Name != "invoice" {
				t.Fatalf("the best domain is %s", x.Domains[0].Name)
			}
			counts, lines := map[string]int{}, slices.Clone(x.Lines)
			seen := map[string]bool{}
			for _, name := range shown(x) {
				if seen[name] {
					t.Errorf("%s stands twice", name)
				}
				seen[name] = true
				topic, _, _ := strings.Cut(name, "-")
				counts[topic]++
			}
			for topic, n := range counts {
				if n != sizes[topic] && topic != "invoice" {
					t.Errorf("%d of %d skills of %s", n, sizes[topic], topic)
				}
			}
			if want := test.shown[0]; counts["invoice"] != want {
				t.Errorf("%d skills of the best domain, want %d", counts["invoice"], want)
			}
			sum := 0
			for _, n := range test.shown {
				sum += n
			}
			// Which of two equal domains comes second is the scores' business.
			if len(x.Summaries) != sum && test.name != "the second does not fit" || len(lines) != test.lines {
				t.Errorf("%d summaries and lines %q, want %d and %d lines", len(x.Summaries), lines, sum, test.lines)
			}
			if got, want := strings.Contains(x.Prompt(), fmt.Sprintf("(and %d more skills", test.more)), test.more > 0; got != want {
				t.Errorf("a line with %d more: %v\n%s", test.more, got, x.Prompt())
			}
			for _, d := range lines {
				if !strings.Contains(x.Prompt(), "Also matching, skills not listed:\n- "+d) {
					t.Errorf("no line of %s:\n%s", d, x.Prompt())
				}
			}
		})
	}
}

// A skill in two domains counts and stands once, with the better one.
func TestSkillInTwoDomains(t *testing.T) {
	f := crowd(3, 3)
	f["invoice/both/SKILL.md"] = skill("both", "Handles invoice and weather. Use when invoice or weather matters come up.", "metadata:\n  domains: [invoice, weather]\n")
	ix := build(t, f)
	x := route(t, newRouter(t, ix, &router.Options{Threshold: -1, Mode: router.Layered, MaxSummaries: 7}), "weather matters")
	if len(x.Summaries) != 7 || len(x.Lines) != 0 {
		t.Fatalf("%q and lines %q", shown(x), x.Lines)
	}
	if p := x.Prompt(); strings.Count(p, "- both:") != 1 || strings.Index(p, "- both:") > strings.Index(p, "("+x.Domains[1].Name+")") {
		t.Errorf("not once with %s:\n%s", x.Domains[0].Name, p)
	}
}

func TestFlat(t *testing.T) {
	ix := build(t, crowd(3, 3))
	for _, test := range []struct {
		mode router.Mode
		want bool
	}{{router.Auto, true}, {router.Layered, false}, {router.Flat, true}} {
		x := route(t, newRouter(t, ix, &router.Options{Mode: test.mode}), "weather matters")
		if x.Flat != test.want || test.want && len(x.Summaries) != 6 || x.Top().Name != "weather" || x.Top().Score == 0 {
			t.Errorf("mode %q: flat %v, %d summaries, best %+v", test.mode, x.Flat, len(x.Summaries), x.Top())
		}
		if got := strings.Contains(x.Prompt(), "Skill domains"); got == test.want {
			t.Errorf("mode %q: an index in the prompt: %v", test.mode, got)
		}
	}
}

func TestNothingMatches(t *testing.T) {
	ix := exampleCatalog(t)
	x := route(t, newRouter(t, ix, nil), "how far can a flea jump")
	if _, ok := x.Question(); ok || x.Outcome != router.None {
		t.Errorf("outcome %s, with a question: %v", x.Outcome, ok)
	}
	if diff := cmp.Diff([]string{x.Domains[0].Name, x.Domains[1].Name, x.Domains[2].Name}, x.Nearest()); diff != "" {
		t.Errorf("nearest (-want +got):\n%s", diff)
	}
	for _, d := range x.Domains {
		if got, want := d.Fallback, d.Name == "Text processing"; got != want || d.Matched {
			t.Errorf("%s is a fallback: %v; matched: %v", d.Name, got, d.Matched)
		}
	}
	if want := members(t, ix, "Text processing"); !same(shown(x), want) {
		t.Errorf("shown %q, want the skills of the fallback domain: %q", shown(x), want)
	}
}

func TestQuestion(t *testing.T) {
	ix := exampleCatalog(t)
	for _, test := range []struct{ name, utterance, lang, begin, middle string }{
		{"English", "help me with this document", "", "Is this about Text processing (summarise", " or File operations ("},
		{"Chinese", "帮我整理一下这些数据", "", "您想做的是哪一类：Data queries（look up", "，还是 File operations（"},
		{"forced", "help me with this document", "zh", "您想做的是哪一类：Text", "，还是 File"},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := route(t, newRouter(t, ix, nil), test.utterance).Top().Score
			above := float64(math.Nextafter32(top, 2))
			if above > 1 {
				t.Fatalf("the score %v leaves nothing above it", top)
			}
			r := newRouter(t, ix, &router.Options{Threshold: above, MaxDomains: 1, Lang: test.lang})
			x := route(t, r, test.utterance)
			q, ok := x.Question()
			if x.Outcome != router.Clarify || !ok || !strings.HasPrefix(q, test.begin) || !strings.Contains(q, test.middle) {
				t.Errorf("%s: %q", x.Outcome, q)
			}
			if len(x.Summaries) > 0 || x.Matched() {
				t.Errorf("beside a question: %q, matched: %v", shown(x), x.Matched())
			}
		})
	}
}

// Who says thanks is not asked what is wanted, whatever that is near to.
func TestNoQuestionAfterSmallTalk(t *testing.T) {
	ix := exampleCatalog(t)
	for _, utterance := range []string{"thanks, that is all", "ok", "谢谢，就这些"} {
		above := float64(math.Nextafter32(route(t, newRouter(t, ix, nil), utterance).Top().Score, 2))
		x := route(t, newRouter(t, ix, &router.Options{Threshold: above, MaxDomains: 1}), utterance)
		if q, ok := x.Question(); ok || x.Outcome != router.None || len(x.Nearest()) == 0 {
			t.Errorf("%q: %s, asked %q", utterance, x.Outcome, q)
		}
	}
}

func TestAllow(t *testing.T) {
	ix := exampleCatalog(t)
	r := newRouter(t, ix, nil)
	allow := func(name string) bool { return name != "email-draft" && name != "git-commit" }
	x, err := r.RouteFor(t.Context(), "write an email to decline the offer", allow)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range x.Candidates {
		if !allow(c.Name) {
			t.Errorf("%s is a candidate", c.Name)
		}
	}
	p := x.Prompt()
	for _, name := range []string{"- email-draft:", "- git-commit:"} {
		if strings.Contains(p, name) {
			t.Errorf("the prompt holds %q", name)
		}
	}
	// Two domains have one skill less, the others are as they were.
	hidden := map[string]int{"Office & communication": 1, "Software engineering": 1}
	for _, d := range ix.Domains() {
		line := fmt.Sprintf("- %s (contains %d skills)", d.Name, len(members(t, ix, d.Name))-hidden[d.Name])
		if !strings.Contains(p, line) {
			t.Errorf("the prompt lacks %q:\n%s", line, p)
		}
	}
	none, err := r.RouteFor(t.Context(), "write an email", func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if none.Outcome != router.None || none.Prompt() != "" || len(none.Domains)+len(none.Candidates)+len(none.Nearest()) > 0 || none.Top() != (router.Domain{}) {
		t.Errorf("nobody's skills: %+v\n%s", none, none.Prompt())
	}
}

func TestManual(t *testing.T) {
	x := route(t, newRouter(t, exampleCatalog(t), nil), "find identical files and move surplus copies aside")
	for _, c := range x.Candidates {
		if c.Name == "duplicate-cleanup" {
			t.Error("a manual skill is a candidate")
		}
	}
	if strings.Contains(x.Prompt(), "- duplicate-cleanup") {
		t.Error("a manual skill is in the prompt")
	}
}

// H20: with no skills the prompt is empty and routing works.
func TestEmptyCatalog(t *testing.T) {
	for _, mode := range []router.Mode{router.Auto, router.Layered} {
		r := newRouter(t, build(t, files{}), &router.Options{Mode: mode})
		for _, u := range []string{"", "write an email", "/git-commit"} {
			x := route(t, r, u)
			if x.Prompt() != "" || x.Matched() || len(x.Domains) > 0 {
				t.Errorf("mode %q, %q: %+v\n%s", mode, u, x, x.Prompt())
			}
		}
		d := newDialogue(t, r, nil)
		if x := d.say("write an email"); x.Outcome != router.None || d.prompt() != "" {
			t.Errorf("mode %q: in a session %s\n%s", mode, x.Outcome, d.prompt())
		}
		if _, err := d.Load(t.Context(), "git-commit"); err == nil {
			t.Error("Load of a skill that is not there succeeds")
		}
		if err := d.Choose(t.Context(), "Office"); err == nil {
			t.Error("Choose of a domain that is not there succeeds")
		}
	}
}

func TestNoEmbedding(t *testing.T) {
	e := &fake{}
	r, err := router.New(buildFS(t, e, namesCatalog().fs()), e, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.calls.Store(0)
	for _, u := range []string{"", "  ", "!?", "🙂", "\x00", "build", "/build it", "use git-commit"} {
		if route(t, r, u); e.calls.Load() != 0 {
			t.Errorf("%q was embedded", u)
			e.calls.Store(0)
		}
	}
	if route(t, r, "build it"); e.calls.Load() != 1 {
		t.Errorf("%d calls for one utterance", e.calls.Load())
	}
}

func TestLongUtterance(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), nil)
	x := route(t, r, strings.Repeat("2026-01-01 12:00:00 INFO nothing of note happened here\n", 550)+"write an email to my boss about this log")
	if !x.Clipped || x.Degraded || len(x.Domains) == 0 {
		t.Errorf("clipped: %v, degraded: %v, %d domains", x.Clipped, x.Degraded, len(x.Domains))
	}
	if x := route(t, r, "write an email"); x.Clipped {
		t.Error("a short utterance is clipped")
	}
}

// Whatever the embedder does, the turn goes on by words.
func TestDegraded(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(context.Context, [][]float32) ([][]float32, error)
	}{
		{"an error", func(context.Context, [][]float32) ([][]float32, error) { return nil, errors.New("status 500") }},
		{"another dimension", func(_ context.Context, v [][]float32) ([][]float32, error) { return [][]float32{v[0][:7]}, nil }},
		{"not a number", func(_ context.Context, v [][]float32) ([][]float32, error) {
			v[0][0] = float32(math.NaN())
			return v, nil
		}},
		{"it hangs", func(ctx context.Context, _ [][]float32) ([][]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &fake{}
			r, err := router.New(buildFS(t, e, crowd(5, 5).fs()), e, &router.Options{EmbedTimeout: time.Millisecond, Mode: router.Layered})
			if err != nil {
				t.Fatal(err)
			}
			e.answer = test.answer
			x := route(t, r, "weather matters")
			if !x.Degraded || x.Top().Name != "weather" {
				t.Errorf("degraded: %v, best %+v", x.Degraded, x.Top())
			}
			e.calls.Store(0)
			if x := route(t, r, "weather matters"); !x.Degraded || e.calls.Load() != 0 {
				t.Errorf("right after it: degraded %v after %d calls, want true after none", x.Degraded, e.calls.Load())
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if x, err := r.Route(ctx, "write an email"); x != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", x, err)
	}
}

func TestNewRefuses(t *testing.T) {
	ix := exampleCatalog(t)
	for _, test := range []struct {
		name string
		ix   *index.Index
		e    index.Embedder
		opts router.Options
		want string
	}{
		{"no index", nil, embedder(t), router.Options{}, "no index"},
		{"no embedder", ix, nil, router.Options{}, "no embedder"},
		{"another embedder", ix, &fake{}, router.Options{}, `embedder "`},
		{"a threshold above 1", ix, embedder(t), router.Options{Threshold: 1.4}, "Threshold 1.4"},
		{"a threshold that is no number", ix, embedder(t), router.Options{Threshold: math.NaN()}, "Threshold"},
		{"a mode", ix, embedder(t), router.Options{Mode: "deep"}, `Mode "deep"`},
		{"a language", ix, embedder(t), router.Options{Lang: "fr"}, `Lang "fr"`},
	} {
		if _, err := router.New(test.ix, test.e, &test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", test.name, err, test.want)
		}
	}
}

// Numbers of the catalog count where the options are silent.
func TestCatalogNumbers(t *testing.T) {
	f := crowd(30, 5)
	f["skillrouter.yaml"] = "routing: {threshold: 0, max-summaries: 10, mode: layered}\n"
	ix := build(t, f)
	if x := route(t, newRouter(t, ix, nil), "weather"); x.Threshold != 0 || len(matched(x)) != 2 || len(x.Summaries) > 10 {
		t.Errorf("threshold %v, %d domains, %d summaries", x.Threshold, len(matched(x)), len(x.Summaries))
	}
	if x := route(t, newRouter(t, ix, &router.Options{Threshold: 0.9, MaxSummaries: -1}), "weather"); x.Threshold != 0.9 {
		t.Errorf("threshold %v, want that of the options", x.Threshold)
	}
}

func TestParts(t *testing.T) {
	e := &fake{}
	ix := buildFS(t, e, crowd(5, 5).fs())
	r, err := router.New(ix, e, &router.Options{Without: index.Semantic})
	if err != nil {
		t.Fatal(err)
	}
	e.calls.Store(0)
	if x := route(t, r, "weather matters"); x.Degraded || e.calls.Load() != 0 || x.Top().Name != "weather" {
		t.Errorf("without vectors: degraded %v, %d calls, best %+v", x.Degraded, e.calls.Load(), x.Top())
	}
}

func TestAdvice(t *testing.T) {
	for _, test := range []struct {
		sizes []int
		want  string
	}{{nil, ""}, {[]int{20}, "flat"}, {[]int{21}, "may do as well"}, {[]int{50}, "may do as well"}, {[]int{51}, ""}} {
		got := router.Advice(build(t, crowd(test.sizes...)))
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%v skills: %q, want %q", test.sizes, got, test.want)
		}
	}
}
