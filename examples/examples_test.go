package examples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"skillrouter/internal/text"
)

const skillCount = 24

// frontMatter is what this catalog writes; it is decoded strictly, so that a misspelt key fails.
type frontMatter struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Metadata    struct {
		Summary     string   `yaml:"summary"`
		Triggers    list     `yaml:"triggers"`
		NotFor      string   `yaml:"not-for"`
		DiffersFrom string   `yaml:"differs-from"`
		Params      string   `yaml:"params"`
		Domains     []string `yaml:"domains"`
		FromSummary bool     `yaml:"from-summary"`
		Frequent    bool     `yaml:"frequent"`
		Manual      bool     `yaml:"manual"`
	} `yaml:"metadata"`
}

// A list is written as a YAML list or as one string with "|".
type list []string

func (l *list) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]string)(l))
	}
	for _, part := range strings.Split(node.Value, "|") {
		*l = append(*l, strings.TrimSpace(part))
	}
	return nil
}

type domain struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Keywords    []string `yaml:"keywords"`
	Fallback    bool     `yaml:"fallback"`
	Folder      string   `yaml:"folder"`
	Skills      []string `yaml:"skills"`
}

type skill struct {
	frontMatter
	file, folder, body string
}

// readSkills returns the skills of fsys by name, and what is wrong with those that are not readable.
func readSkills(fsys fs.FS) (map[string]skill, []string) {
	skills := map[string]skill{}
	var problems []string
	err := fs.WalkDir(fsys, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "SKILL.md" {
			return err
		}
		s, err := readSkill(fsys, file)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", file, err))
			return nil
		}
		if other, ok := skills[s.Name]; ok {
			problems = append(problems, fmt.Sprintf("%s: name %s is taken by %s", file, s.Name, other.file))
		}
		skills[s.Name] = s
		return nil
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	return skills, problems
}

func readSkill(fsys fs.FS, file string) (skill, error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return skill{}, err
	}
	parts := strings.SplitN(string(data), "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		return skill{}, fmt.Errorf("no front matter between two --- lines")
	}
	s := skill{file: file, folder: path.Base(path.Dir(path.Dir(file))), body: parts[2]}
	decoder := yaml.NewDecoder(strings.NewReader(parts[1]))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s.frontMatter); err != nil {
		return skill{}, err
	}
	return s, nil
}

func readDomains(t *testing.T, fsys fs.FS) []domain {
	t.Helper()
	data, err := fs.ReadFile(fsys, "skillrouter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Domains []domain `yaml:"domains"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatalf("skillrouter.yaml: %v", err)
	}
	return file.Domains
}

// members maps each domain name to its skills, sorted: those of its folder and those it names.
func members(domains []domain, skills map[string]skill) map[string][]string {
	all := map[string][]string{}
	for _, d := range domains {
		all[d.Name] = slices.Clone(d.Skills)
		for name, s := range skills {
			if s.folder == d.Folder {
				all[d.Name] = append(all[d.Name], name)
			}
		}
		slices.Sort(all[d.Name])
		all[d.Name] = slices.Compact(all[d.Name])
	}
	return all
}

func TestCatalogSkills(t *testing.T) {
	skills, problems := readSkills(Catalog())
	for _, problem := range problems {
		t.Error(problem)
	}
	if got, want := len(skills), skillCount; got != want {
		t.Errorf("got %d skills, want %d", got, want)
	}
	plain := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	extended, manual := 0, 0
	for name, s := range skills {
		if folder := path.Base(path.Dir(s.file)); name != folder || !plain.MatchString(name) {
			t.Errorf("%s: got name %q, want that of the folder, of a-z, 0-9 and hyphens", s.file, name)
		}
		m := s.Metadata
		if got, limit := text.Len(m.Summary), text.Limit(m.Summary, 50); got == 0 || got > limit {
			t.Errorf("%s: summary has %d characters, want 1 to %d", s.file, got, limit)
		}
		// Longer descriptions are what other tools cut; 100 Chinese characters are the lint's limit.
		if got, limit := text.Len(s.Description), text.Limit(s.Description, 100); got == 0 || got > limit {
			t.Errorf("%s: description has %d characters, want 1 to %d", s.file, got, limit)
		}
		if got := len(m.Triggers); got < 3 || got > 5 {
			t.Errorf("%s: got %d triggers, want 3 to 5", s.file, got)
		}
		if m.NotFor == "" {
			t.Errorf("%s: not-for is empty", s.file)
		}
		if m.Frequent && m.Params == "" {
			t.Errorf("%s: a frequent skill has no parameter hint", s.file)
		}
		// A difference is told from a skill that exists, else the reader looks for it in vain.
		if first, _, _ := strings.Cut(m.DiffersFrom, " "); m.DiffersFrom != "" {
			if _, ok := skills[first]; !ok {
				t.Errorf("%s: differs-from begins with %q, want the name of a skill", s.file, first)
			}
		}
		if lines := strings.Count(s.body, "\n"); lines < 35 || lines > 120 {
			t.Errorf("%s: body has %d lines, want 35 to 120", s.file, lines)
		}
		if strings.Contains(s.body, "\n<!-- extended -->\n") {
			extended++
		}
		if m.Manual {
			manual++
		}
	}
	if extended < 3 {
		t.Errorf("%d skills have an extension, want at least 3", extended)
	}
	if manual != 1 {
		t.Errorf("%d skills are manual, want 1", manual)
	}
}

func TestCatalogTriggersAreUnique(t *testing.T) {
	skills, _ := readSkills(Catalog())
	owner := map[string]string{}
	for name, s := range skills {
		for _, trigger := range s.Metadata.Triggers {
			key := text.Fold(trigger)
			if other, ok := owner[key]; ok {
				t.Errorf("trigger %q belongs to %s and %s", trigger, other, name)
			}
			owner[key] = name
		}
	}
}

func TestCatalogDomains(t *testing.T) {
	skills, _ := readSkills(Catalog())
	domains := readDomains(t, Catalog())
	belongs := map[string][]string{}
	fallbacks := 0
	for _, d := range domains {
		if d.Description == "" || len(d.Keywords) == 0 {
			t.Errorf("domain %s: description or keywords are missing", d.Name)
		}
		if d.Fallback {
			fallbacks++
		}
		names := members(domains, skills)[d.Name]
		if len(names) < 5 || len(names) > 15 {
			t.Errorf("domain %s: got %d skills, want 5 to 15", d.Name, len(names))
		}
		for _, name := range names {
			if _, ok := skills[name]; !ok {
				t.Errorf("domain %s: member %s is no skill", d.Name, name)
			}
			belongs[name] = append(belongs[name], d.Name)
		}
	}
	if got, want := len(domains), 5; got != want {
		t.Errorf("got %d domains, want %d", got, want)
	}
	if fallbacks != 1 {
		t.Errorf("%d domains are fallbacks, want 1", fallbacks)
	}
	two := 0
	for name, s := range skills {
		if len(belongs[name]) == 0 {
			t.Errorf("%s belongs to no domain", name)
		}
		if len(belongs[name]) == 2 {
			two++
		}
		// What a skill says of its domains must not contradict skillrouter.yaml.
		if own := slices.Sorted(slices.Values(s.Metadata.Domains)); len(own) > 0 {
			if diff := cmp.Diff(slices.Sorted(slices.Values(belongs[name])), own); diff != "" {
				t.Errorf("%s: domains differ from skillrouter.yaml (-file +skill):\n%s", name, diff)
			}
		}
	}
	if two != 2 {
		t.Errorf("%d skills are in two domains, want 2", two)
	}
}

func TestCatalogDocuments(t *testing.T) {
	for _, file := range []string{
		"software-engineering/company-api/client-example.ts",
		"software-engineering/company-api/api-reference.md",
		"software-engineering/code-review/guide.md",
		"software-engineering/code-review/reference.txt",
		"software-engineering/react-codestyle/examples/good-component.tsx",
		"software-engineering/react-codestyle/examples/bad-component.tsx",
	} {
		skillFile := strings.Join(strings.Split(file, "/")[:2], "/") + "/SKILL.md"
		body, err := fs.ReadFile(Catalog(), skillFile)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Stat(Catalog(), file); err != nil {
			t.Error(err)
		}
		if name := strings.TrimPrefix(file, path.Dir(skillFile)+"/"); !bytes.Contains(body, []byte(name)) {
			t.Errorf("%s does not name its document %s", skillFile, name)
		}
	}
}

func TestUtterances(t *testing.T) {
	skills, _ := readSkills(Catalog())
	member := members(readDomains(t, Catalog()), skills)
	lines := bytes.Split(bytes.TrimSpace(Utterances()), []byte("\n"))
	outOfScope, twoNeeds, chinese := 0, 0, 0
	for i, line := range lines {
		var u struct {
			Text    string   `json:"text"`
			Skills  []string `json:"skills"`
			Domains []string `json:"domains"`
			OOS     bool     `json:"oos"`
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&u); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if u.Text == "" || u.OOS != (len(u.Skills) == 0) || u.OOS != (len(u.Domains) == 0) {
			t.Errorf("line %d: text, skills, domains and oos do not agree: %s", i+1, line)
		}
		for _, name := range u.Skills {
			if _, ok := skills[name]; !ok {
				t.Errorf("line %d: %s is no skill", i+1, name)
			}
			if !slices.ContainsFunc(u.Domains, func(d string) bool { return slices.Contains(member[d], name) }) {
				t.Errorf("line %d: %s is in none of %q", i+1, name, u.Domains)
			}
		}
		for _, d := range u.Domains {
			if !slices.ContainsFunc(u.Skills, func(name string) bool { return slices.Contains(member[d], name) }) {
				t.Errorf("line %d: domain %q is unknown or holds none of %q", i+1, d, u.Skills)
			}
		}
		if u.OOS {
			outOfScope++
		}
		if len(u.Skills) > 1 {
			twoNeeds++
		}
		if text.HanShare(u.Text) > 0 {
			chinese++
		}
	}
	got := [4]int{len(lines), outOfScope, twoNeeds, chinese}
	if want := [4]int{30, 4, 3, 15}; got != want {
		t.Errorf("got %v utterances, out of scope, with two needs, Chinese or mixed; want %v", got, want)
	}
}

func TestUtterancesOwned(t *testing.T) {
	first := Utterances()
	want := bytes.Clone(first)
	first[0] = 'x'
	if diff := cmp.Diff(want, Utterances()); diff != "" {
		t.Errorf("changing the result changed the next one (-want +got):\n%s", diff)
	}
}
