package page

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter/eval"
)

var update = flag.Bool("update", false, "rewrite the golden pages")

// hostile is what a catalog could be called.
const hostile = `<script>alert("1")</script>`

// aPage is a page of a few rows, with names as of the hand that is given.
func aPage(t *testing.T, mail, travel string) *Page {
	t.Helper()
	ranked := func(names ...string) (list []eval.Standing) {
		for i, n := range names {
			list = append(list, eval.Standing{Name: n, Rank: i + 1, Score: 0.9 - 0.2*float32(i)})
		}
		return list
	}
	rows := []*eval.Row{
		{
			Case:    &eval.Case{Text: "write a mail", Skills: []string{"send-email"}, File: "c.jsonl", Line: 1, Kind: "plain"},
			Domains: []string{mail}, Best: ranked(mail, travel), Score: 0.9, Matched: []string{mail}, Ranked: ranked("send-email"),
			DomainRank: 1, SkillRank: 1, Found: 1, Shown: true, FlatRank: 1, FlatShown: true,
		},
		{
			Case:    &eval.Case{Text: "订一张去 " + mail + " 的机票", Skills: []string{"book-flight"}, File: "c.jsonl", Line: 2, Kind: mail},
			Domains: []string{travel}, Best: ranked(mail, travel), Score: 0.6, Abstained: true, Ranked: ranked(mail, "book-flight"),
			DomainRank: 2, SkillRank: 2, Found: 1, FlatRank: 2, FlatShown: true, Asked: []string{mail},
		},
		{
			Case: &eval.Case{Text: "what is love", OutOfScope: true, File: "c.jsonl", Line: 3}, Best: ranked(travel), Score: 0.8,
			Matched: []string{travel}, Ranked: ranked("book-flight"),
		},
	}
	for i, r := range rows {
		r.Took, r.Tokens, r.FlatTokens, r.AllTokens = time.Duration(i+1)*10*time.Microsecond, 300, 200, 2000
	}
	report := &eval.Report{
		Figures: eval.Measure(rows), Rows: rows,
		Conditions: eval.Conditions{Skills: 3, Domains: 2, Index: "0123456789abcdef", Embedder: "words/8", Threshold: 0.72, Cap: 25, Mode: "layered", Chinese: 1. / 3, Version: "1.0", Latency: "a route"},
	}
	return &Page{
		Title: "How well " + mail + " is found", Files: []string{mail + ".jsonl"}, Places: []string{travel}, Conditions: report.Conditions, Notes: report.Notes(),
		Cases: report, Intervals: eval.Intervals(rows), Summary: func(skill string) string { return "what " + skill + " does" },
	}
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	got := written(t, aPage(t, "Mail", "出行"))
	file := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("go test -update rewrites it:\n%s", d)
	}
}

// A page loads nothing and runs nothing, whatever names and texts are.
func TestSelfContained(t *testing.T) {
	for _, name := range []string{hostile, `" onmouseover="alert(1)`, "</style><img src=x onerror=alert(1)>", "]]><svg onload=alert(1)>"} {
		got := written(t, aPage(t, name, "Travel & "+name))
		if !strings.Contains(got, "<svg ") || !strings.Contains(got, "default-src 'none'") {
			t.Fatalf("no plots or policy in %s", got)
		}
		for _, m := range regexp.MustCompile(`<\s*(/?)([a-zA-Z!]+)([^>]*)>`).FindAllStringSubmatch(got, -1) {
			switch tag := strings.ToLower(m[2]); tag {
			case "script", "img", "iframe", "object", "embed", "link", "a", "image", "use", "foreignobject":
				t.Errorf("%q: the page has the element %s", name, m[0])
			}
			// Attributes are quoted; no event handler stands outside of quotes.
			bare := regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(m[3], "")
			if regexp.MustCompile(`(?i)\bon[a-z]+\s*=`).MatchString(bare) || regexp.MustCompile(`(?i)\b(src|href)\s*=`).MatchString(bare) {
				t.Errorf("%q: %s", name, m[0])
			}
		}
		if s := regexp.MustCompile(`url\(|@import|https?://[^"' ]*`).FindAllString(got, -1); len(s) > 0 {
			for _, x := range s {
				if x != "http://www.w3.org/2000/svg" && x != "http://www.w3.org/1999/xlink" {
					t.Errorf("%q: the page refers to %s", name, x)
				}
			}
		}
	}
}

// Parts that there is nothing for are left out.
func TestParts(t *testing.T) {
	empty := written(t, &Page{Title: "Nothing", Conditions: eval.Conditions{Chinese: eval.Measure(nil).ECE}})
	if strings.Contains(empty, "<svg") || strings.Contains(empty, "Worth knowing") || strings.Contains(empty, "NaN") {
		t.Errorf("got %s", empty)
	}
	turns, intervals := eval.MeasureTurns([]eval.ReplayedDialogue{{Turns: []eval.ReplayedTurn{
		{Position: eval.First, DomainHit: true}, {Position: eval.Switched},
	}}})
	got := written(t, &Page{Title: "Turns", Turns: turns, TurnIntervals: intervals})
	for _, want := range []string{"turns that switch</text>", "1 dialogue with 2 turns, 2 of them labelled", "turn_domain_hit@1", "50.0 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "turn_skill_hit@1") || strings.Contains(got, "NaN") {
		t.Errorf("figures of nothing: %s", got)
	}
}
