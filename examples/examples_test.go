package examples

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"skillrouter/definitions"
	"skillrouter/examples/tools"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

const (
	skillCount  = 64
	domainCount = 8
)

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
	extended, manual, chinese := 0, 0, 0
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
		if text.HanShare(s.body) > 0.5 {
			chinese++
		}
	}
	if extended < 3 {
		t.Errorf("%d skills have an extension, want at least 3", extended)
	}
	if manual != 2 {
		t.Errorf("%d skills are manual, want 2", manual)
	}
	if chinese < skillCount/3 || chinese > 2*skillCount/5 {
		t.Errorf("%d skills are in Chinese, want about a third of %d", chinese, skillCount)
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
		if len(names) < 5 || len(names) > 12 {
			t.Errorf("domain %s: got %d skills, want 5 to 12", d.Name, len(names))
		}
		for _, name := range names {
			if _, ok := skills[name]; !ok {
				t.Errorf("domain %s: member %s is no skill", d.Name, name)
			}
			belongs[name] = append(belongs[name], d.Name)
		}
	}
	if got, want := len(domains), domainCount; got != want {
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
	if two != 8 {
		t.Errorf("%d skills are in two domains, want 8", two)
	}
}

// The catalog loads with the library's own reader and breaks none of its rules.
func TestCatalogLoads(t *testing.T) {
	c, err := definitions.Load(context.Background(), []definitions.Root{{Path: "examples", FS: Catalog()}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := definitions.Counts{Found: skillCount, Loaded: skillCount}
	if diff := cmp.Diff(want, c.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	for _, p := range c.Problems {
		if p.Severity > definitions.Note {
			t.Error(p)
		}
	}
	for i := range c.Skills {
		m := summaries.Of(&c.Skills[i], nil)
		for _, f := range summaries.Check(&m) {
			t.Errorf("%s: %s: %s", f.Skill, f.Field, f.What)
		}
		line := string(summaries.AppendLine(nil, &m))
		if strings.Contains(line, "…") || len(m.Triggers) > 2 && !strings.Contains(line, m.Triggers[2]) {
			t.Errorf("the line is cut: %s", line)
		}
	}
}

// Of each pair that is easily confused, both say how they differ.
func TestCatalogPairs(t *testing.T) {
	skills, _ := readSkills(Catalog())
	for _, pair := range pairs() {
		for i, name := range pair {
			if other := pair[1-i]; !strings.HasPrefix(skills[name].Metadata.DiffersFrom, other+" ") {
				t.Errorf("%s: got differs-from %q, want it to begin with %s", name, skills[name].Metadata.DiffersFrom, other)
			}
		}
	}
}

// pairs returns the skills that the confusable utterances are about.
func pairs() [][2]string {
	return [][2]string{
		{"text-summary", "text-rewrite"},
		{"csv-cleanup", "csv-summary"},
		{"pdf-text-extract", "pdf-merge-split"},
		{"email-draft", "newsletter"},
		{"social-post", "xiaohongshu-post"},
		{"weekly-report", "self-review"},
	}
}

// Every document is named in the body of its skill, else no agent would ask for it.
func TestCatalogDocuments(t *testing.T) {
	skills, _ := readSkills(Catalog())
	documented := map[string]bool{}
	err := fs.WalkDir(Catalog(), ".", func(file string, d fs.DirEntry, err error) error {
		parts := strings.SplitN(file, "/", 3)
		if err != nil || d.IsDir() || len(parts) < 3 || parts[2] == "SKILL.md" || parts[2] == "tools.json" {
			return err
		}
		documented[parts[1]] = true
		if !strings.Contains(skills[parts[1]].body, "`"+parts[2]+"`") {
			t.Errorf("%s does not name its document %s", parts[1], parts[2])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(documented), 10; got != want {
		t.Errorf("%d skills have documents, want %d", got, want)
	}
}

// Each function that a skill declares is implemented, by its name and with its arguments, and
// each that is implemented is declared once.
func TestCatalogTools(t *testing.T) {
	skills, _ := readSkills(Catalog())
	var declared []string
	withTools := 0
	for name, s := range skills {
		data, err := fs.ReadFile(Catalog(), path.Join(path.Dir(s.file), "tools.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		withTools++
		if s.Metadata.FromSummary {
			t.Errorf("%s is to be used from its summary, but its functions come with its definition", name)
		}
		for _, d := range readTools(t, name, data) {
			declared = append(declared, d.Name)
			if !strings.Contains(s.body, "`"+d.Name+"`") {
				t.Errorf("%s does not name its function %s", name, d.Name)
			}
			checkArguments(t, d)
		}
	}
	if withTools != 6 {
		t.Errorf("%d skills have tools.json, want 6", withTools)
	}
	slices.Sort(declared)
	if diff := cmp.Diff(tools.Names(), declared); diff != "" {
		t.Errorf("functions (-implemented +declared):\n%s", diff)
	}
}

// A declaration is the function of one OpenAI tool definition.
type declaration struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  struct {
		Type       string                    `json:"type"`
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
		Additional bool                      `json:"additionalProperties"`
	} `json:"parameters"`
}

func readTools(t *testing.T, name string, data []byte) []declaration {
	t.Helper()
	var file []struct {
		Type     string      `json:"type"`
		Function declaration `json:"function"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		t.Fatalf("%s: tools.json: %v", name, err)
	}
	var all []declaration
	for _, tool := range file {
		f := tool.Function
		if tool.Type != "function" || f.Description == "" || f.Parameters.Type != "object" || f.Parameters.Additional {
			t.Errorf("%s: %s is no closed function with a description and an object of parameters", name, f.Name)
		}
		all = append(all, f)
	}
	return all
}

// checkArguments calls a function with nothing, with null for all that is declared, and with all
// that is declared plus one more: it must miss what is required, know what is declared, and refuse
// the rest.
func checkArguments(t *testing.T, d declaration) {
	t.Helper()
	call := func(arguments map[string]any) error {
		data, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tools.Call(context.Background(), d.Name, data)
		return err
	}
	all := map[string]any{}
	for name, schema := range d.Parameters.Properties {
		switch schema["type"] {
		case "string":
			all[name] = "2025-03-31"
		case "number", "integer":
			all[name] = 4
		case "boolean":
			all[name] = false
		case "array":
			all[name] = []string{}
		default:
			t.Errorf("%s: %s has the type %v", d.Name, name, schema["type"])
		}
	}
	for _, name := range d.Parameters.Required {
		without := maps.Clone(all)
		delete(without, name)
		if err := call(without); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q is missing", name)) {
			t.Errorf("%s without %s: got error %v", d.Name, name, err)
		}
	}
	// Values may be refused, names not.
	if err := call(all); err != nil && (strings.Contains(err.Error(), "unknown field") || strings.Contains(err.Error(), "is missing")) {
		t.Errorf("%s with all it declares: %v", d.Name, err)
	}
	all["surplus"] = true
	if err := call(all); err == nil || !strings.Contains(err.Error(), `unknown field "surplus"`) {
		t.Errorf("%s with one more than it declares: got error %v", d.Name, err)
	}
}

// needs checks that the domains of a label are those of its skills, all of them, once.
func needs(member map[string][]string, skills, domains []string) error {
	var want []string
	for _, name := range skills {
		known := false
		for d, names := range member {
			if slices.Contains(names, name) {
				known = true
				want = append(want, d)
			}
		}
		if !known {
			return fmt.Errorf("%s is no skill", name)
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(domains)); !slices.Equal(got, slices.Compact(want)) {
		return fmt.Errorf("got domains %q, want those of %q: %q", got, skills, want)
	}
	return nil
}

// trigger returns which skill has s as a trigger, or "".
func trigger(skills map[string]skill, s string) string {
	for name, k := range skills {
		if slices.ContainsFunc(k.Metadata.Triggers, func(t string) bool { return text.Fold(t) == text.Fold(s) }) {
			return name
		}
	}
	return ""
}

func TestUtterances(t *testing.T) {
	skills, _ := readSkills(Catalog())
	member := members(readDomains(t, Catalog()), skills)
	lines := bytes.Split(bytes.TrimSpace(Utterances()), []byte("\n"))
	kinds, served, seen, chinese := map[string]int{}, map[string]int{}, map[string]int{}, 0
	// What scores are calibrated with must not be what they are tried with.
	background := map[string]bool{}
	for _, s := range index.Background() {
		background[text.Fold(s)] = true
	}
	for i, line := range lines {
		var u struct {
			Text    string   `json:"text"`
			Skills  []string `json:"skills"`
			Domains []string `json:"domains"`
			OOS     bool     `json:"oos"`
			Kind    string   `json:"kind"`
			Not     string   `json:"not"`
			Near    string   `json:"near"`
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&u); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if u.Text == "" || u.Skills == nil || u.Domains == nil {
			t.Errorf("line %d: text, skills or domains are missing: %s", i+1, line)
		}
		if other, ok := seen[text.Fold(u.Text)]; ok {
			t.Errorf("line %d says the same as line %d", i+1, other)
		}
		seen[text.Fold(u.Text)] = i + 1
		if background[text.Fold(u.Text)] {
			t.Errorf("line %d: %q is in the background of the calibration", i+1, u.Text)
		}
		if err := needs(member, u.Skills, u.Domains); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
		if owner := trigger(skills, u.Text); owner != "" {
			t.Errorf("line %d: %q is a trigger of %s", i+1, u.Text, owner)
		}
		kinds[u.Kind]++
		wantSkills := map[string]int{"plain": 1, "indirect": 1, "confusable": 1, "two-needs": 2, "near-miss": 0, "oos": 0}
		if n, ok := wantSkills[u.Kind]; !ok || n != len(u.Skills) || u.OOS != (n == 0) {
			t.Errorf("line %d: kind %q with %d skills and oos %v", i+1, u.Kind, len(u.Skills), u.OOS)
		}
		if _, ok := skills[u.Near]; ok != (u.Kind == "near-miss") || !ok && u.Near != "" {
			t.Errorf("line %d: kind %q and near %q", i+1, u.Kind, u.Near)
		}
		if u.Kind == "confusable" != isPair(u.Skills, u.Not) || u.Kind != "confusable" && u.Not != "" {
			t.Errorf("line %d: kind %q, skills %q and not %q", i+1, u.Kind, u.Skills, u.Not)
		}
		for _, name := range u.Skills {
			served[name]++
		}
		if text.HanShare(u.Text) > 0 {
			chinese++
		}
	}
	want := map[string]int{"plain": 64, "indirect": 56, "confusable": 24, "two-needs": 24, "near-miss": 24, "oos": 48}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if chinese != len(lines)/2 {
		t.Errorf("%d of %d utterances are Chinese or mixed, want half", chinese, len(lines))
	}
	for name, s := range skills {
		least := 2
		if s.Metadata.Manual {
			least = 1 // by its name only
		}
		if served[name] < least {
			t.Errorf("%d utterances need %s, want at least %d", served[name], name, least)
		}
	}
}

// isPair reports whether skills is one of a confusable pair and other the other.
func isPair(skills []string, other string) bool {
	return slices.ContainsFunc(pairs(), func(p [2]string) bool {
		return slices.Equal(skills, p[:1]) && other == p[1] || slices.Equal(skills, p[1:]) && other == p[0]
	})
}

func TestDialogues(t *testing.T) {
	skills, _ := readSkills(Catalog())
	member := members(readDomains(t, Catalog()), skills)
	lines := bytes.Split(bytes.TrimSpace(Dialogues()), []byte("\n"))
	ids, events, chinese := map[string]bool{}, map[string]int{}, 0
	for i, line := range lines {
		var d struct {
			ID    string `json:"id"`
			Turns []struct {
				User    string   `json:"user"`
				Domains []string `json:"domains"`
				Skills  []string `json:"skills"`
				Event   string   `json:"event"`
			} `json:"turns"`
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&d); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if d.ID == "" || ids[d.ID] {
			t.Errorf("line %d: the id %q is empty or taken", i+1, d.ID)
		}
		ids[d.ID] = true
		if n := len(d.Turns); n < 4 || n > 12 {
			t.Errorf("%s: %d turns, want 4 to 12", d.ID, n)
		}
		var before []string // what the turns so far needed last
		whole := ""
		for j, turn := range d.Turns {
			whole += turn.User
			events[turn.Event]++
			if turn.User == "" || turn.Skills == nil || turn.Domains == nil {
				t.Errorf("%s: turn %d: user, skills or domains are missing", d.ID, j+1)
			}
			if err := needs(member, turn.Skills, turn.Domains); err != nil {
				t.Errorf("%s: turn %d: %v", d.ID, j+1, err)
			}
			if owner := trigger(skills, turn.User); owner != "" {
				t.Errorf("%s: turn %d: %q is a trigger of %s", d.ID, j+1, turn.User, owner)
			}
			same, none := slices.Equal(before, turn.Skills), len(turn.Skills) == 0
			var fits bool
			switch turn.Event {
			case "":
				fits = j == 0 && !none
			case "follow-up", "load":
				fits = same && !none
			case "switch":
				fits = !same && !none && j > 0
			case "stall":
				fits = none && j > 0
			case "task-end":
				fits = none && j == len(d.Turns)-1
			}
			if !fits {
				t.Errorf("%s: turn %d: event %q with %q after %q", d.ID, j+1, turn.Event, turn.Skills, before)
			}
			if !none {
				before = turn.Skills
			}
		}
		if text.HanShare(whole) > 0.3 {
			chinese++
		}
	}
	if len(lines) != 24 || chinese != 12 {
		t.Errorf("got %d dialogues, %d of them Chinese; want 24 and 12", len(lines), chinese)
	}
	for _, event := range []string{"load", "follow-up", "switch", "stall", "task-end"} {
		if events[event] < 10 {
			t.Errorf("%d turns have the event %q, want at least 10", events[event], event)
		}
	}
}

func TestResultsOwned(t *testing.T) {
	for name, f := range map[string]func() []byte{"Utterances": Utterances, "Dialogues": Dialogues} {
		first := f()
		want := bytes.Clone(first)
		first[0] = 'x'
		if diff := cmp.Diff(want, f()); diff != "" {
			t.Errorf("%s: changing the result changed the next one (-want +got):\n%s", name, diff)
		}
	}
}
