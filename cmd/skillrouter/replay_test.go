package main

import (
	"strings"
	"testing"

	"skillrouter/eval"
	"skillrouter/router"
)

func TestReplayStepsOnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		name, in string
		turns    int // that are shown
	}{
		{"q ends", "\nq\n", 2},
		{"so does the end of stdin", "\n\n", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runWith(t, c.in, true, nil, "replay", "--step")
			if r.status != 0 {
				t.Fatalf("status %d, stderr: %s", r.status, r.err)
			}
			if got := strings.Count(r.out, "   outcome "); got != c.turns {
				t.Errorf("%d turns, want %d in:\n%s", got, c.turns, r.out)
			}
			if got := strings.Count(r.err, "Enter goes on, q ends: "); got != c.turns {
				t.Errorf("asked %d times, want %d", got, c.turns)
			}
		})
	}
}

func TestReplayFitsTheTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"replay"}, {"replay", "--sweep", "summary-turns=0,3", "--sweep", "max-summaries=15"}, {"replay", "--step"}} {
		r := runWith(t, strings.Repeat("\n", 1000), true, map[string]string{"COLUMNS": "100"}, args...)
		for line := range strings.Lines(r.out) {
			if n := columns(strings.TrimSuffix(line, "\n")); n > 100 {
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
	}
}

func TestWhy(t *testing.T) {
	at := func(name string, rank int, score float32) eval.Standing {
		return eval.Standing{Name: name, Rank: rank, Score: score}
	}
	for _, c := range []struct {
		name string
		turn eval.ReplayedTurn
		want string
	}{
		{
			"another matched",
			eval.ReplayedTurn{Verdict: eval.WrongDomain, Outcome: router.One, Matched: []string{"Travel"}, RightDomain: at("Mail", 2, 0.3)},
			"Travel matched; the right one, Mail, has 0.30 < 0.72 and is number 2",
		},
		{
			"another stayed",
			eval.ReplayedTurn{Verdict: eval.WrongDomain, Outcome: router.Sticky, Visible: []string{"Travel"}, RightDomain: at("Mail", 1, 0.5)},
			"nothing new matched, so what was shown stayed; the right one, Mail, has 0.50 < 0.72 and is number 1",
		},
		{
			"tried before",
			eval.ReplayedTurn{Verdict: eval.NothingMatched, Outcome: router.None, Domains: []eval.Standing{at("Mail", 1, 0.9)}, RightDomain: at("Mail", 1, 0.9)},
			"the right one, Mail, has 0.90 and is number 1, but was left out, as tried in vain",
		},
		{
			"not in the catalog",
			eval.ReplayedTurn{Verdict: eval.NothingMatched, Outcome: router.None, Domains: []eval.Standing{at("Mail", 1, 0.1)}},
			"the best, Mail, has 0.10 < 0.72; no right domain is in the catalog",
		},
		{
			"its line only",
			eval.ReplayedTurn{Verdict: eval.NotShown, Matched: []string{"Travel", "Mail"}, Visible: []string{"Travel"}},
			"Travel, Mail matched, but only its line had room",
		},
		{
			"expired",
			eval.ReplayedTurn{Verdict: eval.NotShown, Outcome: router.Sticky, DomainVisible: true, Loaded: []string{"sort"}},
			"nothing new matched, and only what was loaded before is left of the right domain",
		},
		{
			"another ranks first",
			eval.ReplayedTurn{Verdict: eval.WrongSkill, Candidates: []eval.Standing{at("sort", 1, 0.5)}, RightSkill: at("send", 3, 0.2)},
			"sort ranks first; the right one, send, is number 3",
		},
		{
			"parameters",
			eval.ReplayedTurn{Verdict: eval.MissingParams, Missing: []eval.MissingCall{{Name: "send", Params: []string{"to", "text"}}}},
			"the call of send left out to, text",
		},
		{"well", eval.ReplayedTurn{Verdict: eval.OK}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := why(&c.turn, 0.72); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
