package domains

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/summaries"
)

func someDrafts() []SkillDraft {
	yes := true
	return []SkillDraft{
		{Skill: "read: rows", Override: summaries.Override{Summary: "Reads rows; on request", Triggers: []string{"read rows", "true", "读取, 行"}, FromSummary: &yes, Params: "file"}, Notes: []string{"no limit is said"}, Triggers: []string{"a row", "b: c"}},
		{Skill: "empty"},
		{Skill: "write", Override: summaries.Override{Summary: "Writes rows", NotFor: "#charts"}},
	}
}

func TestDraftSkills(t *testing.T) {
	const added = `  # Drafted by skillrouter: edit as you like.
  "read: rows":
    # no limit is said
    # triggers: [a row, "b: c"]
    summary: "Reads rows; on request"
    triggers: [read rows, "true", "读取, 行"]
    params: file
    from-summary: true
  write:
    summary: Writes rows
    not-for: "#charts"
`
	tests := []struct{ name, existing, want string }{
		{"no file", "", "skills:\n" + added},
		{"other parts", "# mine\nrouting: {threshold: 0.7} # why\n", "# mine\nrouting: {threshold: 0.7} # why\n\nskills:\n" + added},
		{"no skill yet", "skills:\nrouting: {threshold: 0.7}\n", "skills:\n" + added + "routing: {threshold: 0.7}\n"},
		{
			"an edited skill stays", "skills:\n  write: {summary: mine} # edited\n\n# below\nrouting: {}\n",
			"skills:\n  write: {summary: mine} # edited\n" + added[:strings.Index(added, "  write")] + "\n# below\nrouting: {}\n",
		},
		{"line ends of its own", "routing: {threshold: 0.7}\r\n", "routing: {threshold: 0.7}\r\n" + strings.ReplaceAll("\nskills:\n"+added, "\n", "\r\n")},
	}
	for _, test := range tests {
		got, err := DraftSkills(someDrafts(), []byte(test.existing))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		again, err := DraftSkills(someDrafts(), got)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: drafting again changes the file (%v):\n%s", test.name, err, again)
		}
	}
	for _, existing := range []string{"skills: {a: {summary: b}}\n", "skills: [a]\n", "domains: [\n"} {
		if _, err := DraftSkills(someDrafts(), []byte(existing)); !errors.Is(err, ErrNotExtended) {
			t.Errorf("%q: got %v, want ErrNotExtended", existing, err)
		}
	}
}

// FuzzDraftSkills checks that all bytes of a file stay, and that what is added is read as
// it was meant.
func FuzzDraftSkills(f *testing.F) {
	f.Add("", "a", "b: c", "not")
	f.Add("skills:\n  a: {summary: x}\n", "b", "#x", "'")
	f.Add("# c\ndomains:\n- name: d\n", "k: v", "true", "0x1")
	f.Fuzz(func(t *testing.T, existing, name, summary, not string) {
		out, err := DraftSkills([]SkillDraft{{Skill: name, Override: summaries.Override{Summary: summary, NotFor: not}}}, []byte(existing))
		if err != nil {
			return
		}
		rest := string(out)
		for line := range strings.Lines(existing) {
			line = strings.TrimRight(line, "\r\n")
			i := strings.Index(rest, line)
			if i < 0 {
				t.Fatalf("line %q of %q is lost in %q", line, existing, out)
			}
			rest = rest[i+len(line):]
		}
	})
}
