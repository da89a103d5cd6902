package keeper_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/keeper"
)

func TestSilences(t *testing.T) {
	const when = "Reads tables. Use when someone asks what a table holds."
	r := lint(t, map[string]string{
		"x/a/SKILL.md": full("a", when, "lint-off: 'no-not-for: takes any table | long-core'"),
		"x/b/SKILL.md": full("b", when),
		"skillrouter.yaml": `lint-off:
  - {rule: derived-summary, reason: not our files}
  - {rule: no-not-for, skills: [c], reason: is gone}
  - {rule: small-domain, domains: [x]}
`,
	}, nil)
	var silenced, said []string
	for _, f := range r.Silenced {
		silenced = append(silenced, f.Rule+" "+f.Skill+": "+f.Silenced)
	}
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Rule, "silence") || f.Rule == "no-not-for" || f.Rule == "derived-summary" || f.Rule == "small-domain" {
			said = append(said, f.Rule+" "+f.Skill+": "+f.What)
		}
	}
	if diff := cmp.Diff([]string{"derived-summary a: not our files", "derived-summary b: not our files", "no-not-for a: takes any table"}, silenced); diff != "" {
		t.Errorf("silenced (-want +got):\n%s", diff)
	}
	want := []string{
		`small-domain : domain "x" has 2 skills, at least 5`,
		"silence-without-reason : lint-off of small-domain has no reason and is not heeded",
		"silence-without-reason a: lint-off of long-core has no reason and is not heeded",
		"silence-unused : lint-off of no-not-for silences nothing",
		"no-not-for b: nothing says what the skill is not for",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// What was not looked at may be there: its silence is not told as one of nothing.
func TestSilencesOfWhatIsNotLookedAt(t *testing.T) {
	files := map[string]string{
		"x/a/SKILL.md": full("a", "Reads tables. Use when someone asks what a table holds.", "not-for: charts"),
		"x/b/SKILL.md": full("b", "Looks up the weather. Use when someone asks for rain."),
		"skillrouter.yaml": `lint-off:
  - {rule: languages, reason: translated before}
  - {rule: no-not-for, skills: [b], reason: any weather}
`,
	}
	unused := func(o *keeper.LintOptions) int {
		n := 0
		for _, f := range lint(t, files, o).Findings {
			if f.Rule == "silence-unused" {
				n++
			}
		}
		return n
	}
	notB := func(name string) bool { return name != "b" }
	if n := unused(&keeper.LintOptions{Allow: notB}); n != 0 {
		t.Errorf("%d silences of nothing, want none", n)
	}
	if n := unused(&keeper.LintOptions{Languages: []string{"en"}}); n != 1 {
		t.Errorf("%d silences of nothing, want that of languages", n)
	}
}
