package domains

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/definitions"
	"skillrouter/summaries"
)

// catalogOf makes a catalog of skills at slash paths; the last element is the name.
func catalogOf(skills ...definitions.Skill) *definitions.Catalog {
	return &definitions.Catalog{Skills: skills}
}

func at1(dir, name string, domains ...string) definitions.Skill {
	return definitions.Skill{Name: name, Ref: definitions.Ref{Dir: dir}, Domains: domains, File: dir + "/SKILL.md"}
}

func sumsOf(c *definitions.Catalog) map[string]*summaries.Summary {
	out := make(map[string]*summaries.Summary)
	for i := range c.Skills {
		m := summaries.Of(&c.Skills[i], nil)
		out[m.Skill] = &m
	}
	return out
}

func TestGroup(t *testing.T) {
	manual := true
	tests := map[string]struct {
		catalog  *definitions.Catalog
		file     *File
		want     []Domain // without descriptions
		problems []string
	}{
		"the file before metadata before folders": {
			catalog: catalogOf(
				at1("text/a", "a", "Meta"), at1("text/b", "b", "Meta"), at1("text/c", "c"), at1("d", "d"),
			),
			file: &File{Domains: []FileDomain{{Name: "Written", Skills: []string{"a"}}}},
			want: []Domain{
				{Name: "Written", Written: true, Members: []string{"a"}},
				{Name: "Meta", Members: []string{"b"}},
				{Name: "text", Members: []string{"c"}},
				{Name: Unassigned, Members: []string{"d"}},
			},
			problems: []string{"d/SKILL.md: skill d is in no domain"},
		},
		"several memberships, each counted once": {
			catalog: catalogOf(at1("text/a", "a", "X", "Y", "x"), at1("text/b", "b")),
			file:    &File{Domains: []FileDomain{{Name: "T", Folders: []string{"text"}, Skills: []string{"b"}}, {Name: "U", Skills: []string{"b"}}}},
			want: []Domain{
				{Name: "T", Written: true, Members: []string{"a", "b"}},
				{Name: "U", Written: true, Members: []string{"b"}},
			},
		},
		"a name that would fill the index is cut": {
			catalog: catalogOf(at1("a", "a", strings.Repeat("字", 64)), at1("b", "b", strings.Repeat("long ", 1000)), at1(strings.Repeat("f", 65)+"/c", "c")),
			want: []Domain{
				{Name: strings.Repeat("f", 64), Members: []string{"c"}},
				{Name: strings.Repeat("long ", 12) + "long", Members: []string{"b"}},
				{Name: strings.Repeat("字", 64), Members: []string{"a"}},
			},
			problems: []string{`b/SKILL.md: the domain "` + strings.Repeat("long ", 12) + `long" has over 64 characters and is cut`},
		},
		"metadata names in any case are one domain": {
			catalog: catalogOf(at1("a", "a", "Data Tools"), at1("b", "b", "data tools", "DATA TOOLS")),
			want:    []Domain{{Name: "Data Tools", Members: []string{"a", "b"}}},
		},
		"nearest folder, neither skills nor hidden": {
			catalog: catalogOf(
				at1("plugins/backend/skills/a", "a"), at1("backend/b", "b"), at1(".agents/skills/c", "c"), at1("plugins/.x/Skills/d", "d"), at1("7", "line-of-a-catalog"), at1("", "root"),
			),
			want: []Domain{
				{Name: "backend", Members: []string{"a", "b"}},
				{Name: "plugins", Members: []string{"d"}},
				{Name: Unassigned, Members: []string{"c", "line-of-a-catalog", "root"}},
			},
			problems: []string{".agents/skills/c/SKILL.md: 3 skills are in no domain: c, line-of-a-catalog, root"},
		},
		"no domains at all is no problem": {
			catalog: catalogOf(at1("a", "a"), at1("b", "b")),
			want:    []Domain{{Name: Unassigned, Members: []string{"a", "b"}}},
		},
		"a folder is not the start of another's name": {
			catalog: catalogOf(at1("text/deep/a", "a"), at1("text-more/b", "b"), at1("text", "c")),
			file:    &File{Domains: []FileDomain{{Name: "T", Folders: []string{"text"}}}},
			want:    []Domain{{Name: "T", Written: true, Members: []string{"a", "c"}}, {Name: "text-more", Members: []string{"b"}}},
		},
		"override's domains": {
			catalog: catalogOf(at1("text/a", "a")),
			file:    &File{Skills: map[string]summaries.Override{"a": {Domains: []string{"Q", "P"}}}},
			want:    []Domain{{Name: "P", Members: []string{"a"}}, {Name: "Q", Members: []string{"a"}}},
		},
		"manual skills are not counted": {
			catalog: catalogOf(at1("x/a", "a"), at1("x/b", "b"), definitions.Skill{Name: "c", Manual: true, Ref: definitions.Ref{Dir: "y/c"}}),
			file:    &File{Skills: map[string]summaries.Override{"b": {Manual: &manual}}},
			want:    []Domain{{Name: "x", Members: []string{"a"}, Manual: []string{"b"}}, {Name: "y", Manual: []string{"c"}}},
		},
		"keywords and fallback are kept": {
			catalog: catalogOf(at1("x/a", "a")),
			file:    &File{Domains: []FileDomain{{Name: "X", Keywords: []string{"k"}, Fallback: true}}},
			want:    []Domain{{Name: "X", Keywords: []string{"k"}, Fallback: true, Written: true, Members: []string{"a"}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, problems := Group(tt.catalog, tt.file, nil)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Domain{}, "Description", "Derived"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("domains differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, located(problems), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupLocatesProblems(t *testing.T) {
	file, problems := ParseFile("root/skillrouter.yaml", []byte(`domains:
  - name: Kept
    skills:
      - a
      - Pdf_Text
      - nobody
  - name: Hollow
    folder: nowhere
skills:
  b:
    summary: not there
`))
	if len(problems) > 0 {
		t.Fatal(located(problems))
	}
	_, problems = Group(catalogOf(at1("a", "a"), at1("x/pdf-text", "pdf-text")), Merge(file), nil)
	want := []string{
		`root/skillrouter.yaml:5: domain "Kept" lists skill "Pdf_Text", which is not in the catalog`,
		`root/skillrouter.yaml:6: domain "Kept" lists skill "nobody", which is not in the catalog`,
		`root/skillrouter.yaml:7: domain "Hollow" has no skills`,
		`root/skillrouter.yaml:8: folder "nowhere" has no skills`,
		`root/skillrouter.yaml:11: fields for skill "b", which is not in the catalog`,
	}
	if diff := cmp.Diff(want, located(problems)); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
	if got, want := problems[0].Fix, `write "pdf-text"`; got != want {
		t.Errorf("fix = %q, want %q", got, want)
	}
}

func TestGroupDescriptions(t *testing.T) {
	c := catalogOf(
		definitions.Skill{Name: "a", Ref: definitions.Ref{Dir: "charts/a"}, Description: "Draw bar charts from tables. Use when plotting."},
		definitions.Skill{Name: "b", Ref: definitions.Ref{Dir: "charts/b"}, Description: "Toolkit for pie charts of shares, with labels. Use when plotting."},
		definitions.Skill{Name: "c", Ref: definitions.Ref{Dir: "会议/c"}, Description: "整理会议录音。当用户要求时使用。"},
		definitions.Skill{Name: "d", Ref: definitions.Ref{Dir: "会议/d"}, Description: "生成会议纪要，分配待办。当用户要求时使用。"},
		definitions.Skill{Name: "e", Ref: definitions.Ref{Dir: "noted/e"}, Description: "Something."},
		definitions.Skill{Name: "f", Ref: definitions.Ref{Dir: "w/f"}, Description: "Something."},
	)
	c.DomainNotes = map[string]string{"Noted": "what the\ncatalog\u200b says", "W": "not this"}
	file := &File{Domains: []FileDomain{{Name: "w", Description: "as written", Folders: []string{"w"}}}}
	got := make(map[string]string)
	domains, _ := Group(c, file, sumsOf(c))
	for _, d := range domains {
		got[d.Name] = d.Description
	}
	want := map[string]string{
		"charts": "draw bar charts from tables, pie charts of shares",
		"会议":     "整理会议录音、生成会议纪要",
		"noted":  "what the catalog says",
		"w":      "as written",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("descriptions differ (-want +got):\n%s", diff)
	}
}

func BenchmarkGroup(b *testing.B) {
	c := &definitions.Catalog{}
	for i := range 10_000 {
		name := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		c.Skills = append(c.Skills, definitions.Skill{
			Name: name, Ref: definitions.Ref{Dir: "domain-" + name[:2] + "/" + name}, Description: "Draw " + name + " charts from tables. Use when plotting.",
		})
	}
	sums := sumsOf(c)
	b.ReportAllocs()
	for b.Loop() {
		Group(c, nil, sums)
	}
}
