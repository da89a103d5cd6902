package domains

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter/definitions"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// Group files every skill of c in domains, by the first that says something: f (a domain's
// skills and folders, or the override's domains), the skill's own Domains, the nearest
// folder above it that is not called "skills" and does not begin with a dot, else
// [Unassigned]. A skill may be in several domains. Domain names that differ in case only
// are one. A nil f says nothing; sums is by skill name and serves descriptions, nil leaves
// them to f and to c's notes.
//
// The order is that of f, then by name, [Unassigned] last. A domain without members is left
// out. Problems are located: members and overrides of no skill, folders without skills, and,
// where there are other domains, skills in none.
func Group(c *definitions.Catalog, f *File, sums map[string]*summaries.Summary) ([]Domain, []definitions.Problem) {
	if f == nil {
		f = &File{}
	}
	g := grouper{byKey: make(map[string]int), listed: make(map[string][]int)}
	for i := range f.Domains {
		g.declare(&f.Domains[i], i)
	}
	for i := range c.Skills {
		s := &c.Skills[i]
		manual := s.Manual
		if sum := sums[s.Name]; sum != nil {
			manual = sum.Manual
		} else if o := f.Skills[s.Name]; o.Manual != nil {
			manual = *o.Manual
		}
		for _, name := range g.names(s, f) {
			g.add(name, s.Name, manual)
		}
	}
	g.unknown(c, f)
	out := g.sorted(len(f.Domains))
	for i := range out {
		d := &out[i]
		if d.Description == "" {
			d.Description = noted(c.DomainNotes, d.Name)
		}
		if d.Description == "" && d.Name != Unassigned {
			d.Description = Describe(d.Members, sums)
			d.Derived = d.Description != ""
		}
	}
	g.leftover(c, out)
	return out, g.problems
}

// grouper holds the domains while they fill, those of the file first.
type grouper struct {
	domains  []Domain
	byKey    map[string]int   // folded name → index
	listed   map[string][]int // skill name → domains of the file that list it
	folders  []folder
	problems []definitions.Problem
}

// folder says that the skills below a path belong to a domain of the file.
type folder struct {
	path   string
	domain int
	at     position
	used   bool
}

// declare adds a domain of the file.
func (g *grouper) declare(d *FileDomain, i int) {
	g.byKey[text.Fold(d.Name)] = i
	g.domains = append(g.domains, Domain{
		Name: d.Name, Description: d.Description, Keywords: d.Keywords, Fallback: d.Fallback, Written: true,
	})
	for j, p := range d.Folders {
		g.folders = append(g.folders, folder{path: p, domain: i, at: at(d.foldersAt, j)})
	}
	for _, name := range d.Skills {
		g.listed[name] = append(g.listed[name], i)
	}
}

// names returns the names of the domains that s belongs to.
func (g *grouper) names(s *definitions.Skill, f *File) []string {
	var out []string
	for i := range g.folders {
		if strings.HasPrefix(s.Ref.Dir, g.folders[i].path+"/") || s.Ref.Dir == g.folders[i].path {
			g.folders[i].used = true
			out = append(out, g.domains[g.folders[i].domain].Name)
		}
	}
	for _, i := range g.listed[s.Name] {
		out = append(out, g.domains[i].Name)
	}
	out = append(out, f.Skills[s.Name].Domains...)
	if len(out) > 0 {
		return out
	}
	for _, name := range s.Domains {
		if name = oneLine(name); name == "" {
			continue
		}
		if short := firstRunes(name, maxName); short != name {
			g.problems = append(g.problems, definitions.Problem{
				File: s.File, Severity: definitions.Warning, Kind: "long-domain",
				What: fmt.Sprintf("the domain %q has over %d characters and is cut", short, maxName), Fix: "choose a shorter name",
			})
			name = short
		}
		out = append(out, name)
	}
	if len(out) > 0 {
		return out
	}
	for dir := path.Dir(s.Ref.Dir); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if name := path.Base(dir); !strings.EqualFold(name, "skills") && !strings.HasPrefix(name, ".") {
			return []string{firstRunes(name, maxName)}
		}
	}
	return []string{Unassigned}
}

// firstRunes is at most the first n runes of a name: one long name would take
// the room of all others in the index.
func firstRunes(name string, n int) string {
	if utf8.RuneCountInString(name) <= n {
		return name
	}
	return strings.TrimSpace(string([]rune(name)[:n]))
}

// add makes a skill a member of the domain of that name, once.
func (g *grouper) add(name, skill string, manual bool) {
	key := text.Fold(name)
	i, ok := g.byKey[key]
	if !ok {
		i = len(g.domains)
		g.byKey[key] = i
		g.domains = append(g.domains, Domain{Name: name})
	}
	members := &g.domains[i].Members
	if manual {
		members = &g.domains[i].Manual
	}
	// Members come in catalog order, so that a repeat can only be the last one.
	if n := len(*members); n == 0 || (*members)[n-1] != skill {
		*members = append(*members, skill)
	}
}

// unknown reports what f says about skills and folders that the catalog does not have.
func (g *grouper) unknown(c *definitions.Catalog, f *File) {
	report := func(at position, kind, fix, format string, args ...any) {
		g.problems = append(g.problems, definitions.Problem{
			File: at.file, Line: at.line, Severity: definitions.Warning, Kind: kind, What: fmt.Sprintf(format, args...), Fix: fix,
		})
	}
	known := make(map[string]bool, len(c.Skills))
	folded := make(map[string]string)
	for i := range c.Skills {
		known[c.Skills[i].Name] = true
	}
	fix := func(name string) string {
		if len(folded) == 0 {
			for i := range c.Skills {
				folded[loose(c.Skills[i].Name)] = c.Skills[i].Name
			}
		}
		if near, ok := folded[loose(name)]; ok {
			return fmt.Sprintf("write %q", near)
		}
		return "correct the name or remove it"
	}
	for i := range f.Domains {
		d := &f.Domains[i]
		for j, name := range d.Skills {
			if !known[name] {
				report(at(d.skillsAt, j), "unknown-member", fix(name), "domain %q lists skill %q, which is not in the catalog", d.Name, name)
			}
		}
		if g.domains[i].Members == nil && g.domains[i].Manual == nil {
			report(d.at, "empty-domain", "give it skills or a folder, or remove it", "domain %q has no skills", d.Name)
		}
	}
	for _, folder := range g.folders {
		if !folder.used {
			report(folder.at, "unknown-folder", "name a folder below the catalog's root that has skills", "folder %q has no skills", folder.path)
		}
	}
	names := make([]string, 0, len(f.Skills))
	for name := range f.Skills {
		if !known[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		report(f.skillsAt[name], "unknown-skill", fix(name), "fields for skill %q, which is not in the catalog", name)
	}
	slices.SortStableFunc(g.problems, func(a, b definitions.Problem) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
}

// loose is a name as people mistake it for another.
func loose(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(text.Fold(name))
}

// sorted returns the domains that have members; the first n are those of the file.
func (g *grouper) sorted(n int) []Domain {
	rest := g.domains[n:]
	slices.SortFunc(rest, func(a, b Domain) int {
		if byFold := strings.Compare(text.Fold(a.Name), text.Fold(b.Name)); byFold != 0 {
			return byFold
		}
		return strings.Compare(a.Name, b.Name)
	})
	out := slices.DeleteFunc(g.domains, func(d Domain) bool { return len(d.Members) == 0 && len(d.Manual) == 0 })
	if i := slices.IndexFunc(out, func(d Domain) bool { return d.Name == Unassigned }); i >= 0 {
		unassigned := out[i]
		out = append(slices.Delete(out, i, i+1), unassigned)
	}
	return out
}

// leftover reports the skills in no domain, at the first of them, unless no skill is in one.
func (g *grouper) leftover(c *definitions.Catalog, domains []Domain) {
	n := len(domains)
	if n < 2 || domains[n-1].Name != Unassigned {
		return
	}
	names := domains[n-1].Members
	if len(names) == 0 {
		return
	}
	file := ""
	if s, ok := skill(c, names[0]); ok {
		file = s.File
	}
	what := fmt.Sprintf("%d skills are in no domain: %s", len(names), strings.Join(names[:min(3, len(names))], ", "))
	if len(names) > 3 {
		what += ", …"
	}
	if len(names) == 1 {
		what = "skill " + names[0] + " is in no domain"
	}
	g.problems = append(g.problems, definitions.Problem{
		File: file, Severity: definitions.Note, Kind: "unassigned", What: what, Fix: "add metadata.domains, a folder, or an entry in skillrouter.yaml",
	})
}

// skill finds a skill in a catalog, which need not come from Load.
func skill(c *definitions.Catalog, name string) (*definitions.Skill, bool) {
	for i := range c.Skills {
		if c.Skills[i].Name == name {
			return &c.Skills[i], true
		}
	}
	return nil, false
}

// noted returns the catalog's note on a domain.
func noted(notes map[string]string, name string) string {
	if s, ok := notes[name]; ok {
		return bounded(s)
	}
	found := ""
	for n, s := range notes { // at most one spelling, or the least of several
		if text.Fold(n) == text.Fold(name) && (found == "" || s < found) {
			found = s
		}
	}
	return bounded(found)
}

// bounded returns a description as one clean line of at most maxDescription characters.
func bounded(s string) string {
	s, _ = text.Clean(s)
	return text.Cut(oneLine(s), maxDescription)
}
