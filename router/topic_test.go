package router_test

import (
	"slices"
	"testing"

	"skillrouter/router"
)

// A short utterance that says little by itself belongs to what came before.
func TestFollowUpsStayInTheirDomain(t *testing.T) {
	ix := exampleCatalog(t)
	for _, test := range []struct {
		first, then, domain string
	}{
		{"what will the weather be in Hangzhou tomorrow", "and on Sunday?", "Data queries"},
		{"明天北京会下雨吗", "那后天呢", "Data queries"},
		{"write a commit message for my changes", "a bit shorter", "Software engineering"},
	} {
		d := newDialogue(t, newRouter(t, ix, nil), nil)
		if got := d.say(test.first).Top().Name; got != test.domain {
			t.Fatalf("%s: got %s", test.first, got)
		}
		with := d.say(test.then)
		if with.Top().Name != test.domain || with.Top().Context <= 0 {
			t.Errorf("%s, then %s: got %+v, want %s", test.first, test.then, with.Top(), test.domain)
		}

		// Off, each utterance is scored by itself; and so it is after a task.
		alone := newDialogue(t, newRouter(t, ix, &router.Options{Alone: true}), nil)
		alone.say(test.first)
		ended := newDialogue(t, newRouter(t, ix, nil), nil)
		ended.say(test.first)
		ended.do("EndTask", ended.EndTask(t.Context()))
		own := route(t, newRouter(t, ix, nil), test.then)
		for name, x := range map[string]*router.Route{"off": alone.say(test.then), "after the task": ended.say(test.then)} {
			if x.Top() != own.Top() && !(x.Top().Name == own.Top().Name && x.Top().Score == own.Top().Score) {
				t.Errorf("%s, %s: got %+v, want %+v", test.then, name, x.Top(), own.Top())
			}
		}
	}
}

// Another subject that is clear is heard at once.
func TestClearUtterancesChangeTheSubject(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	for _, turn := range []struct{ utterance, domain string }{
		{"what will the weather be in Hangzhou tomorrow", "Data queries"},
		{"write an email to decline the offer", "Office & communication"},
		{"review the code of this pull request for bugs", "Software engineering"},
		{"明天北京会下雨吗", "Data queries"},
	} {
		if x := d.say(turn.utterance); x.Top().Name != turn.domain {
			t.Errorf("%s: got %+v, want %s", turn.utterance, x.Top(), turn.domain)
		}
	}
}

// Words without a subject keep what is there, however often they are said.
func TestSayingNothingKeepsTheSubject(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), &router.Options{SummaryTurns: 20})
	for _, word := range []string{"go on", "ok", "and then?", "yes please", "thanks!", "继续", "好的，然后呢？", "嗯 ok"} {
		d := newDialogue(t, r, nil)
		d.do("End", d.End(t.Context()))
		first := d.say("write a commit message for my changes")
		for range 6 {
			x := d.say(word)
			if x.Outcome != router.Sticky || !slices.Equal(x.Summaries, first.Summaries) {
				t.Errorf("%s in turn %d: %s, shows other summaries: %v", word, x.Turn, x.Outcome, !slices.Equal(x.Summaries, first.Summaries))
			}
		}
		// What was said first is still the subject.
		if x := d.say("a bit shorter"); x.Top().Name != "Software engineering" {
			t.Errorf("%s six times: then the subject is %s", word, x.Top().Name)
		}
	}
}

// A load and a choice say what the dialogue is about.
func TestDecisionsSetTheSubject(t *testing.T) {
	ix := exampleCatalog(t)
	for name, decide := range map[string]func(d dialogue){
		"Load":   func(d dialogue) { d.load("git-commit") },
		"Choose": func(d dialogue) { d.do("Choose", d.Choose(t.Context(), "Software engineering")) },
	} {
		d := newDialogue(t, newRouter(t, ix, nil), nil)
		d.say("what will the weather be in Hangzhou tomorrow")
		decide(d)
		if x := d.say("a bit shorter please"); x.Top().Name != "Software engineering" {
			t.Errorf("after %s: got %+v", name, x.Top())
		}
	}
}

// Where nothing is left to keep, words without a subject match nothing: the
// user is asked, and what they then match because of the turns before is shown.
func TestSayingNothingWithNothingShown(t *testing.T) {
	r := newRouter(t, build(t, crowd(5, 3, 3)), &router.Options{Mode: router.Layered, SummaryTurns: 1})
	d := newDialogue(t, r, nil)
	d.say("invoice")
	for _, want := range []router.Outcome{router.Clarify, router.One} {
		x := d.say("yes")
		if x.Top().Score < float32(x.Threshold) {
			t.Fatalf("turn %d: %s has %.2f only: this shows nothing", x.Turn, x.Top().Name, x.Top().Score)
		}
		if x.Outcome != want || x.Top().Matched != (want == router.One) {
			t.Errorf("turn %d is %s, want %s: %+v", x.Turn, x.Outcome, want, x.Top())
		}
	}
}

// A flat catalog shows all there is: words without a subject raise no question.
func TestSayingNothingInAFlatCatalog(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Mode: router.Flat}), nil)
	first := d.say("Compress the images on our landing page")
	for _, word := range []string{"ok go on", "好的，继续", "thanks"} {
		x := d.say(word)
		if q, asks := x.Question(); x.Outcome != router.Sticky || asks || len(x.Summaries) != len(first.Summaries) {
			t.Errorf("%s: %s, shows %d summaries, asks %q", word, x.Outcome, len(x.Summaries), q)
		}
	}
}
