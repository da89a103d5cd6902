package router_test

import (
	"slices"
	"testing"

	"skillrouter/router"
)

// What users of such systems reported as routed wrongly, with skills and
// utterances like theirs.
func TestReported(t *testing.T) {
	filler := files{
		"office/expense-report/SKILL.md": skill("expense-report", "Fills in expense reports from receipts. Use when travel costs are to be claimed.", ""),
		"office/meeting-room/SKILL.md":   skill("meeting-room", "Books meeting rooms. Use when a room is needed for a meeting.", ""),
		"travel/train-times/SKILL.md":    skill("train-times", "Looks up train times. Use when someone asks for a connection by rail.", ""),
		"travel/hotel-search/SKILL.md":   skill("hotel-search", "Finds hotels in a city. Use when a room for the night is needed.", ""),
		"kitchen/recipe-finder/SKILL.md": skill("recipe-finder", "Finds recipes for what is in the fridge. Use when someone wants to cook.", ""),
	}
	for _, test := range []struct {
		name      string
		skills    files
		utterance string
		first     string   // the best candidate
		not       []string // skills that must not be shown
	}{
		{
			"one English word in a Chinese request decides nothing",
			files{
				"code/code-review/SKILL.md":   skill("code-review", "Reviews a pull request for bugs and style. Use when changes are to be checked before a merge.", "metadata:\n  triggers: [审查合并请求, review this pull request]\n"),
				"http/request-maker/SKILL.md": skill("request-maker", "Makes HTTP requests with headers and a body. Use when an API is to be called.", ""),
			},
			"帮我审查一下这个 Pull Request", "code-review", nil,
		},
		{
			"a part of a Chinese word decides nothing",
			files{
				"mobile/app-prototype/SKILL.md": skill("app-prototype", "设计手机应用的原型。需要手机界面时使用。", ""),
				"web/landing-page/SKILL.md":     skill("landing-page", "制作落地页。推广产品需要落地页时使用。", ""),
			},
			"给新产品做一个落地页的原型", "landing-page", nil,
		},
		{
			"long lists of common words do not win",
			files{
				"ops/self-check/SKILL.md":       skill("self-check", "Checks the state of the agent itself. Use when the agent misbehaves.", "metadata:\n  triggers: [check, status, progress, reminder, project, state, health, report, list, show, run, test, update, info, help]\n"),
				"office/reminder-note/SKILL.md": skill("reminder-note", "Writes reminders about the progress of projects. Use when someone has to be reminded of a check-in.", ""),
			},
			"a reminder for the progress check-in of the parser project", "reminder-note", nil,
		},
		{"an exact name is first", namesCatalog(), "find_symbol", "find_symbol", nil},
		{
			"small talk matches nothing", namesCatalog(), "thanks, that is all", "",
			[]string{"git-commit", "code-review", "pdf-text"},
		},
		{
			"words in common are not enough", namesCatalog(), "How do I bake bread while the president is on TV?", "",
			[]string{"git-commit", "code-review", "pdf-text"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := files{}
			for _, part := range []files{filler, test.skills} {
				for path, s := range part {
					f[path] = s
				}
			}
			x := route(t, newRouter(t, build(t, f), &router.Options{Mode: router.Layered}), test.utterance)
			if test.first != "" && x.Candidates[0].Name != test.first {
				t.Errorf("%s, best %+v, want %s", x.Outcome, x.Candidates[0], test.first)
			}
			for _, name := range test.not {
				if slices.Contains(shown(x), name) {
					t.Errorf("%s shows %s: %+v", x.Outcome, name, x.Domains)
				}
			}
			if top := x.Top(); len(x.Domains) < 3 || top.Score <= 0 || x.Threshold == 0 {
				t.Errorf("no scores to log: %+v", x.Domains)
			}
		})
	}
}
