package keeper

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/index"
	"skillrouter/internal/text"
)

// LintOptions says how Lint looks. The zero value is the default.
type LintOptions struct {
	// Catalog is what the index was built from. Nil leaves out what needs bodies, documents
	// or silences: Report.Skipped says so.
	Catalog *definitions.Catalog
	// Embedder is that of the index. Nil leaves out lost-trigger.
	Embedder index.Embedder
	// Languages are those that users write in, as "en", "zh", "ja", "ko", "ru", "ar", "hi",
	// "he", "th" or "el"; nil: nothing is known, and nothing said of them.
	Languages  []string
	CoreTokens int                    // from how many tokens on a core is too long; 0 means 4,000, negative: never
	Allow      func(name string) bool // which skills exist; nil means all
}

// A Finding is something in a catalog that breaks a rule.
type Finding struct {
	Rule     string
	Severity definitions.Severity
	Skill    string   // "" if it is about no single one
	Others   []string // other skills that it is about
	Domain   string   // "" if it is about none
	File     string   // for people; "" if it is about no file
	Line     int      // from 1; 0 means the whole file
	What     string   // lower case, no full stop
	Fix      string   // what to do
	Silenced string   // the reason for not reporting it; "" if it is reported
}

// A Report is what Lint found.
type Report struct {
	Findings []Finding // by severity, worst first, then by rule in the order of Rules, then by place
	Silenced []Finding // the same, not reported
	Skipped  []string  // what was not looked at, and why
	Figures  Figures
}

// Figures measure a catalog.
type Figures struct {
	Skills       int `json:"skills"`
	Domains      int `json:"domains"`
	Written      int `json:"summaries_written"` // skills with a summary of their author's
	Triggers     int `json:"triggers"`          // of all skills, derived ones too
	Descriptions int `json:"description_chars"` // characters of all descriptions, white space not counted; three letters count as one Chinese character
	Index        int `json:"index_chars"`       // the same of the index
	Tokens       int `json:"summary_tokens"`    // of all summaries as shown, estimated
}

// Lint looks at the catalog of ix for what breaks a rule. It fails when the embedder does
// and when ctx ends; whatever is wrong with the catalog is a finding. A nil o means the
// zero LintOptions. Equal catalogs give equal reports.
//
// Each skill is compared with each other: 64 skills take some 60 ms, 5,600 some
// seconds. Documents of the skills are read.
func Lint(ctx context.Context, ix *index.Index, o *LintOptions) (*Report, error) {
	if o == nil {
		o = &LintOptions{}
	}
	l := newLinter(ix, o)
	l.problems()
	l.domains()
	for i := range l.skills {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.skill(&l.skills[i])
	}
	l.total()
	l.names()
	l.triggers()
	if err := l.lost(ctx); err != nil {
		return nil, err
	}
	l.languages()
	if err := l.confusable(ctx); err != nil {
		return nil, err
	}
	if err := l.documents(ctx); err != nil {
		return nil, err
	}
	return l.report(), nil
}

// A subject is a skill that is looked at.
type subject struct {
	*index.Skill
	at         int32              // its place in the index
	definition *definitions.Skill // nil if the catalog is not known
	file       string             // without a line
	line       int                // of a .jsonl catalog
	domains    []int32
	written    bool // its triggers are its author's
}

type linter struct {
	ix      *index.Index
	o       *LintOptions
	rules   map[string]Rule
	order   map[string]int
	skills  []subject
	byName  map[string]*subject
	found   []Finding
	skipped []string

	situation *regexp.Regexp
	unsaid    []unsaidForm
	link      *regexp.Regexp
	code      *regexp.Regexp

	brackets, between, lead, preposition, adposition *regexp.Regexp // of lists, see listed
}

func newLinter(ix *index.Index, o *LintOptions) *linter {
	l := &linter{
		ix: ix, o: o, rules: make(map[string]Rule), order: make(map[string]int), byName: make(map[string]*subject),
		situation: situations(), unsaid: unsaidForms(), link: markdownLink(), code: linkInCode(),
		brackets:    regexp.MustCompile(`\([^)]*\)|（[^）]*）`),
		between:     regexp.MustCompile(`, (?:and |or )?|[、，；]|; | / `),
		lead:        regexp.MustCompile(`.*(?:[:：]|—+|--+|\b(?i:covers|covering|supports|handles)\b)`),
		preposition: regexp.MustCompile(`(?i)\b(using|by|with|against|such as|like|in|on|for|to|across|from|into|through|via|of|between|under|within|preferred|including|includes|include|through)\b|(通过|使用|基于|在|例如|如|针对|利用|包括|包含)| - `),
		adposition:  regexp.MustCompile(`(?i), (using|by|with|against|such as|for|to|leveraging)\b`),
	}
	for i, r := range Rules() {
		l.rules[r.ID], l.order[r.ID] = r, i
	}
	all := ix.Skills()
	overrides := l.overrides()
	for i := range all {
		if o.Allow != nil && !o.Allow(all[i].Name) {
			continue
		}
		s := subject{Skill: &all[i], at: int32(i), domains: ix.DomainsOf(int32(i))}
		s.file, s.line = cutLine(all[i].File)
		if o.Catalog != nil {
			s.definition, _ = o.Catalog.Skill(all[i].Name)
		}
		s.written = s.definition != nil && len(s.definition.Triggers) > 0 || len(overrides.Skills[s.Name].Triggers) > 0
		l.skills = append(l.skills, s)
	}
	for i := range l.skills {
		l.byName[l.skills[i].Name] = &l.skills[i]
	}
	if o.Catalog == nil {
		l.skipped = append(l.skipped, "bodies, documents, keys and written triggers: only the index is there, not its folders")
	}
	if o.Embedder == nil {
		l.skipped = append(l.skipped, "lost-trigger: there is no embedder")
	}
	return l
}

// overrides is what the files of the catalog say, merged.
func (l *linter) overrides() *domains.File {
	var files []*domains.File
	if l.o.Catalog != nil {
		for _, f := range l.o.Catalog.Files {
			parsed, _ := domains.ParseFile(f.Path, f.Data) // its problems are those of the index
			files = append(files, parsed)
		}
	}
	return domains.Merge(files...)
}

// cutLine parts the file of a .jsonl skill into file and line.
func cutLine(file string) (string, int) {
	name, number, ok := cutLast(file, ":")
	if !ok || !strings.EqualFold(filepath.Ext(name), ".jsonl") {
		return file, 0
	}
	line := 0
	if _, err := fmt.Sscanf(number, "%d", &line); err != nil {
		return file, 0
	}
	return name, line
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// add notes a finding with the severity and, if it has none, the fix of its rule.
func (l *linter) add(f Finding) {
	r, ok := l.rules[f.Rule]
	if ok && f.Severity == definitions.Note {
		f.Severity = r.Severity
	}
	f.Fix = cmp.Or(f.Fix, r.Fix)
	l.found = append(l.found, f)
}

// about notes a finding about a skill. A severity below the rule's is given by note.
func (l *linter) about(s *subject, id, what, fix string) { l.add(s.finding(id, what, fix)) }

// note is about with the severity note, whatever the rule's.
func (l *linter) note(s *subject, id, what, fix string) {
	f := s.finding(id, what, cmp.Or(fix, l.rules[id].Fix))
	l.found = append(l.found, f)
}

func (s *subject) finding(id, what, fix string) Finding {
	return Finding{Rule: id, Skill: s.Name, File: s.file, Line: s.line, What: what, Fix: fix}
}

// problems takes over what was odd about files.
func (l *linter) problems() {
	skills := make(map[string]string, len(l.skills))
	for i := range l.skills {
		skills[l.skills[i].file] = l.skills[i].Name
	}
	for _, p := range l.ix.Problems() {
		f := Finding{Rule: p.Kind, Severity: p.Severity, Skill: skills[p.File], File: p.File, Line: p.Line, What: p.What, Fix: p.Fix}
		switch p.Kind {
		case "hidden-characters":
			f.Rule = "hidden-unicode"
		case "unassigned", "clustered":
			continue // the finding on domains says it once
		}
		f.Fix = cmp.Or(f.Fix, l.rules[f.Rule].Fix)
		l.found = append(l.found, f)
	}
}

// domains takes over what is to be said about domains.
func (l *linter) domains() {
	ds := slices.Clone(l.ix.Domains())
	gone := func(name string) bool { return l.byName[name] == nil }
	var all []int32
	for i := range l.skills {
		all = append(all, l.skills[i].at)
	}
	if l.o.Allow != nil {
		for i := range ds {
			ds[i].Members = slices.DeleteFunc(slices.Clone(ds[i].Members), gone)
			ds[i].Manual = slices.DeleteFunc(slices.Clone(ds[i].Manual), gone)
		}
	}
	for _, f := range domains.Check(ds, &domains.CheckOptions{Items: l.ix.Items(all), IndexLimit: l.ix.Routing().IndexLimit}) {
		id := f.Kind
		if id == "no-description" {
			if d, ok := l.ix.LookupDomain(f.Domain); ok && len(ds[d].Members) == 0 {
				continue // it has no line in the index
			}
			id = "bare-domain"
		}
		l.found = append(l.found, Finding{Rule: id, Severity: f.Severity, Domain: f.Domain, What: f.What, Fix: cmp.Or(f.Fix, l.rules[id].Fix)})
	}
}

// report sorts what was found, and silences what is not to be reported.
func (l *linter) report() *Report {
	r := &Report{Skipped: l.skipped, Figures: l.figures()}
	found, silenced := l.silence(l.found)
	for _, list := range [][]Finding{found, silenced} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(
				int(b.Severity)-int(a.Severity), cmp.Compare(l.place(a.Rule), l.place(b.Rule)), strings.Compare(a.Rule, b.Rule),
				strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Skill, b.Skill), strings.Compare(a.Domain, b.Domain),
			)
		})
	}
	r.Findings, r.Silenced = found, silenced
	return r
}

// place is where a rule stands among the others; those of files stand last.
func (l *linter) place(id string) int {
	if i, ok := l.order[id]; ok {
		return i
	}
	return len(l.order)
}

func (l *linter) figures() Figures {
	f := Figures{Skills: len(l.skills)}
	var line []byte
	for i := range l.skills {
		s := &l.skills[i]
		f.Triggers += len(s.Summary.Triggers)
		f.Descriptions += weight(s.Description)
		if !s.Summary.Derived {
			f.Written++
		}
		line = appendLine(line[:0], s)
		f.Tokens += text.Tokens(string(line))
	}
	for i := range l.ix.Domains() {
		if len(l.ix.Domains()[i].Members) > 0 {
			f.Domains++
		}
	}
	full, _ := domains.AppendIndex(nil, l.ix.Domains(), &domains.IndexOptions{Limit: -1})
	f.Index = weight(string(full))
	return f
}

// weight is the length of s in Chinese characters, three letters each.
func weight(s string) int {
	n := text.Len(s)
	if text.Limit(s, 1) == 1 {
		return n
	}
	return (n + 2) / 3
}
