package domains

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// proposal is a small one.
func proposal() *Proposal {
	return &Proposal{
		Domains: []ProposedDomain{
			{
				Name: "Text processing", Description: "rewrite texts: all of them", Keywords: []string{"text", "C#"}, Reason: "2 of 2 mention\ntext",
				Members: []ProposedMember{{Skill: "rewrite", Tag: "rewrite texts"}, {Skill: "Übersetzen: 2", Second: "Files", Also: true}},
			},
			{Name: "true", Members: []ProposedMember{{Skill: "copy", Tag: "copy files", Second: "Text processing"}}},
		},
		Unassigned: []string{"odd"},
	}
}

func TestDraft(t *testing.T) {
	tests := map[string]struct{ existing, want string }{
		"nothing there": {"", `# Proposed by "skillrouter domains suggest": edit as you like.
# Each domain is what one line of the index shows; keywords are matched, never shown.
# Like no others: odd
domains:
  # 2 of 2 mention text
  - name: Text processing
    description: "rewrite texts: all of them"
    keywords: [text, "C#"]
    skills:
      - rewrite # rewrite texts
      - "Übersetzen: 2" # also in Files

  - name: "true"
    skills:
      - copy # copy files; or Text processing?
`},
		"a list, and more after it": {`domains:
- name: Mine   # do not touch
  skills: [ rewrite,
            other ]

# overrides
skills:
  copy: {domains: [Mine]}
`, `domains:
- name: Mine   # do not touch
  skills: [ rewrite,
            other ]
# Proposed by "skillrouter domains suggest": edit as you like.
# 2 of 2 mention text
- name: Text processing
  description: "rewrite texts: all of them"
  keywords: [text, "C#"]
  skills:
    - "Übersetzen: 2" # also in Files

# overrides
skills:
  copy: {domains: [Mine]}
`},
		"a domain of the same name": {`domains:
    - name: TEXT processing
      skills:
        - mine # kept
      keywords: [k]
    - name: Other
      skills: [copy]
`, `domains:
    - name: TEXT processing
      skills:
        - mine # kept
        - rewrite # proposed; rewrite texts
        - "Übersetzen: 2" # proposed; also in Files
      keywords: [k]
    - name: Other
      skills: [copy]
`},
		"a domain of the same name with members in one line": {`domains:
  - name: Text processing
    skills: [mine]
  - name: Other
    skills: [copy]`, `domains:
  # Proposed for the next domain: rewrite, Übersetzen: 2
  - name: Text processing
    skills: [mine]
  - name: Other
    skills: [copy]`},
		"no list": {"routing:\n  mode: flat", `routing:
  mode: flat
domains:
  # Proposed by "skillrouter domains suggest": edit as you like.
  # 2 of 2 mention text
  - name: Text processing
    description: "rewrite texts: all of them"
    keywords: [text, "C#"]
    skills:
      - rewrite # rewrite texts
      - "Übersetzen: 2" # also in Files
  - name: "true"
    skills:
      - copy # copy files; or Text processing?
`},
		"an empty list": {"domains:\nrouting: {mode: flat}\n", `domains:
  # Proposed by "skillrouter domains suggest": edit as you like.
  # 2 of 2 mention text
  - name: Text processing
    description: "rewrite texts: all of them"
    keywords: [text, "C#"]
    skills:
      - rewrite # rewrite texts
      - "Übersetzen: 2" # also in Files
  - name: "true"
    skills:
      - copy # copy files; or Text processing?
routing: {mode: flat}
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Draft(proposal(), []byte(test.existing))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("draft differs (-want +got):\n%s", diff)
			}
			if _, problems := ParseFile("draft", got); len(problems) > 0 {
				t.Errorf("draft has problems: %v", problems)
			}
			again, err := Draft(proposal(), got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(again)); diff != "" {
				t.Errorf("drafting again adds (-first +second):\n%s", diff)
			}
		})
	}
}

func TestDraftOfCluster(t *testing.T) {
	p := Cluster(queries(), nil)
	got, err := Draft(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "draft.golden", string(got))
	found := false
	for _, d := range p.Domains {
		found = found || d.Name == "外部数据查询" && len(d.Members) == 5
	}
	if !found {
		t.Errorf("no domain 外部数据查询 of 5 skills:\n%s", got)
	}
}

func TestDraftRefuses(t *testing.T) {
	for name, existing := range map[string]string{
		"no YAML":             "domains: [",
		"no mapping":          "- a\n",
		"a list in brackets":  "domains: [{name: A, skills: [b]}]\n",
		"anchors":             "domains: &a\n  - name: A\n",
		"the end of the file": "routing: {mode: flat}\n...\n",
	} {
		if got, err := Draft(proposal(), []byte(existing)); !errors.Is(err, ErrNotExtended) {
			t.Errorf("%s: Draft gives %q, %v, want ErrNotExtended", name, got, err)
		}
	}
}

func TestDraftOfNothing(t *testing.T) {
	got, err := Draft(&Proposal{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := ParseFile("draft", got); len(problems) > 0 {
		t.Errorf("draft has problems: %v\n%s", problems, got)
	}
}

// FuzzDraft checks that a draft keeps every line of the file, in order, and what the file
// says.
func FuzzDraft(f *testing.F) {
	for _, s := range []string{
		"", "\ufeff", "# note\n", "domains:\n", "domains:\n- name: A\n  skills:\n  - b\n# c\nrouting:\n  mode: flat\n",
		"domains:\n  - name: Text processing\n    skills:\n      - a\n", "domains:\n  - {name: Text processing}\n", "skills:\r\n  copy:\r\n    summary: |\r\n      x\r\n",
		"domains:\n  - name: A\n    description: |+\n      b\n\n", "{}", "domains: []", "---\ndomains: ~\n",
	} {
		f.Add(s, "Text processing", "rewrite")
	}
	f.Fuzz(func(t *testing.T, existing, domain, skill string) {
		p := proposal()
		p.Domains[0].Name, p.Domains[0].Members[0].Skill = domain, skill
		got, err := Draft(p, []byte(existing))
		if err != nil {
			return
		}
		rest := got
		for line := range strings.Lines(existing) {
			i := bytes.Index(rest, []byte(strings.TrimRight(line, "\n")))
			if i < 0 {
				t.Fatalf("line %q of\n%s\nis not in its place in\n%s", line, existing, got)
			}
			rest = rest[i+len(strings.TrimRight(line, "\n")):]
		}
		before, _ := ParseFile("before", []byte(existing))
		after, _ := ParseFile("after", got)
		if !keeps(before, after) {
			t.Fatalf("draft of\n%s\nsays something else:\n%s", existing, got)
		}
	})
}
