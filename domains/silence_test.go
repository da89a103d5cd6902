package domains

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSilences(t *testing.T) {
	const text = `lint-off:
  - rule: no-not-for
    skills: [a, b]
    reason: they take all
  - {rule: small-domain, domains: Tables | Files}
  - skills: [a]
  - no-when
`
	f, problems := ParseFile("f", []byte(text))
	want := []Silence{
		{Rule: "no-not-for", Skills: []string{"a", "b"}, Reason: "they take all", File: "f", Line: 2},
		{Rule: "small-domain", Domains: []string{"Tables", "Files"}, File: "f", Line: 5},
	}
	if diff := cmp.Diff(want, f.LintOff); diff != "" {
		t.Errorf("silences (-want +got):\n%s", diff)
	}
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{6, 7}, lines); diff != "" {
		t.Errorf("lines of problems (-want +got):\n%s\n%v", diff, problems)
	}
	if _, problems := ParseFile("f", []byte("lint-off: all\n")); len(problems) != 1 || problems[0].Kind != "config-type" {
		t.Errorf("a word in place of a list: got %v", problems)
	}
	if got := Merge(f, f).LintOff; len(got) != 4 {
		t.Errorf("merged with itself there are %d silences, want 4", len(got))
	}
}
