package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/eval"
	"skillrouter/router"
)

// anEvaluation has rows of which all is made up, so that a change of scores
// does not change it.
func anEvaluation(t *testing.T) *evaluation {
	t.Helper()
	tree := fstest.MapFS{}
	for path, about := range map[string]string{
		"Mail/send-email": "Sends emails with attachments.", "Mail/sort-inbox": "Sorts the emails of an inbox.", "出行/订机票": "查询并预订机票；出差、旅行时用；不含火车票",
	} {
		tree[path+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + filepath.Base(path) + "\ndescription: " + about + "\n---\nBody.\n")}
	}
	r, err := skillrouter.Open(t.Context(), &skillrouter.Options{FS: map[string]fs.FS{"cat": tree}}, "cat")
	if err != nil {
		t.Fatal(err)
	}
	ranked := func(names ...string) (list []eval.Standing) {
		for i, n := range names {
			list = append(list, eval.Standing{Name: n, Rank: i + 1, Score: 0.9 - 0.25*float32(i)})
		}
		return list
	}
	mail, travel := []string{"Mail"}, []string{"出行"}
	rows := []*eval.Row{
		{
			Case:    &eval.Case{Text: "write a mail to ann", Skills: []string{"send-email"}, Kind: "plain"},
			Domains: mail, Best: ranked("Mail", "出行"), Score: 0.9, Matched: mail, Ranked: ranked("send-email", "sort-inbox"),
			DomainRank: 1, SkillRank: 1, Found: 1, Shown: true, FlatRank: 1, FlatShown: true,
		},
		{
			Case:    &eval.Case{Text: "tidy up my letters", Skills: []string{"sort-inbox"}, Not: []string{"send-email"}, Kind: "indirect"},
			Domains: mail, Best: ranked("Mail", "出行"), Score: 0.8, Matched: mail, Ranked: ranked("send-email", "sort-inbox"),
			DomainRank: 1, SkillRank: 2, Found: 1, Shown: true, FlatRank: 2, FlatShown: true,
		},
		{
			Case:    &eval.Case{Text: "下周二去上海，帮我看看怎么走", Skills: []string{"订机票"}, Kind: "indirect"},
			Domains: travel, Best: ranked("Mail", "出行"), Score: 0.5, Outcome: router.Clarify, Abstained: true, Ranked: ranked("sort-inbox", "订机票"),
			DomainRank: 2, SkillRank: 2, Found: 1, FlatRank: 2, FlatShown: true, Asked: []string{"Mail", "出行"},
		},
		{
			Case:    &eval.Case{Text: "北京到深圳的航班", Skills: []string{"订机票"}, Kind: "plain"},
			Domains: travel, Best: ranked("Mail", "出行"), Score: 0.75, Matched: mail, Ranked: ranked("send-email", "订机票"),
			DomainRank: 2, SkillRank: 2, Found: 1, FlatRank: 2, FlatShown: true,
		},
		{Case: &eval.Case{Text: "what is love", OutOfScope: true, Kind: "oos"}, Best: ranked("Mail"), Score: 0.1, Abstained: true, Ranked: ranked("send-email")},
		{Case: &eval.Case{Text: "sing a song", OutOfScope: true, Kind: "oos"}, Best: ranked("Mail"), Score: 0.8, Matched: mail, Ranked: ranked("send-email")},
	}
	for i, r := range rows {
		r.Case.File, r.Case.Line = "cases.jsonl", i+1
		r.Took, r.Tokens, r.FlatTokens, r.AllTokens = time.Duration(i+1)*10*time.Microsecond, 300, 200, 2000
	}
	e := &evaluation{
		files: []string{"cases.jsonl"}, places: []string{"skills"}, index: r.Index(),
		cases: &eval.Report{Figures: eval.Measure(rows), Rows: rows}, intervals: eval.Intervals(rows),
		conditions: eval.Conditions{
			Skills: 3, Domains: 2, Index: "0123456789abcdef", Embedder: "words/8", Threshold: 0.72, Cap: 25, Mode: "layered",
			Chinese: 1. / 3, Version: "1.0", Latency: "a route with its embedding, one after the other",
		},
	}
	e.cases.Conditions = e.conditions
	e.turns, e.turnIntervals = eval.MeasureTurns([]eval.ReplayedDialogue{
		{Turns: []eval.ReplayedTurn{{Position: eval.First, DomainHit: true, DomainVisible: true}, {Position: eval.Kept, DomainHit: true}}},
		{Turns: []eval.ReplayedTurn{{Position: eval.First, AloneHit: true}, {Position: ""}}},
	})
	e.replay = &eval.ReplayReport{Layered: 400, Flat: 2000, CacheSaving: 0.6}
	return e
}

func TestEvaluationGolden(t *testing.T) {
	for _, c := range []struct {
		name     string
		terminal bool
		details  bool
	}{{"eval", false, false}, {"eval_details", false, true}, {"eval_terminal", true, false}} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{out: &writer{w: &out}, env: func(string) string { return "" }, tty: terminals{out: c.terminal}}
			a.writeEvaluation(anEvaluation(t), c.details)
			for _, line := range strings.Split(out.String(), "\n") {
				if n := columns(line); c.terminal && n > defaultWidth && !strings.Contains(line, "\x1b") {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
			file := filepath.Join("testdata", "golden", c.name+".txt")
			if *update {
				if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), out.String()); d != "" {
				t.Errorf("go test -update rewrites it:\n%s", d)
			}
		})
	}
}
