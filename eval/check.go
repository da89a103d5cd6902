package eval

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter/index"
	"skillrouter/internal/text"
)

// Check compares sets with a catalog before anything is measured: labels that
// the catalog does not have can never be right, and an utterance that stands
// twice, in one set or in two, counts double or tells of rows that were fitted
// on. It returns a [CasesError] of all that it found, nil if that is nothing.
// Utterances are compared without case and width, dialogues by id.
func Check(ix *index.Index, sets ...*Set) error { return check(newNames(ix), sets) }

func check(names *names, sets []*Set) error {
	var wrong CasesError
	seen := map[string]string{}
	once := func(file string, line int, what, key string) {
		if first, ok := seen[key]; ok {
			wrong.add(file, line, "%s stands in %s already", what, first)
			return
		}
		seen[key] = fmt.Sprintf("%s:%d", file, line)
	}
	for _, s := range sets {
		for i := range s.Cases {
			c := &s.Cases[i]
			for _, what := range names.unknown(c) {
				wrong.add(s.File, c.Line, "%s", what)
			}
			once(s.File, c.Line, "the same text", "text "+strings.Join(strings.Fields(text.Fold(c.Text)), " "))
		}
		for i := range s.Dialogues {
			d := &s.Dialogues[i]
			for k := range d.Turns {
				t := &d.Turns[k]
				for _, what := range names.unknown(&Case{Skills: t.Skills, Domains: t.Domains}) {
					wrong.add(s.File, d.Line, "turn %d: %s", k+1, what)
				}
			}
			once(s.File, d.Line, "the same id", "id "+d.ID)
		}
	}
	if len(wrong.Problems) == 0 {
		return nil
	}
	return &wrong
}

// Drop takes out of sets the cases and dialogues that name skills or domains
// which the catalog does not have, for a catalog that is only a part of what
// the cases were written for. Of must-not skills that are missing only the name
// is dropped, unless it was all that the case said. It returns how many cases
// and dialogues it took out.
func Drop(ix *index.Index, sets ...*Set) (dropped int) { return drop(newNames(ix), sets) }

func drop(n *names, sets []*Set) (dropped int) {
	for _, s := range sets {
		before := len(s.Cases) + len(s.Dialogues)
		for i := range s.Cases {
			c := &s.Cases[i]
			if kept := slices.DeleteFunc(slices.Clone(c.Not), n.missing); len(kept) > 0 || c.OutOfScope || c.Question || c.InScope() {
				c.Not = kept
			}
		}
		s.Cases = slices.DeleteFunc(s.Cases, func(c Case) bool { return len(n.unknown(&c)) > 0 })
		s.Dialogues = slices.DeleteFunc(s.Dialogues, func(d Dialogue) bool {
			return slices.ContainsFunc(d.Turns, func(t Turn) bool {
				return len(n.unknown(&Case{Skills: t.Skills, Domains: t.Domains})) > 0
			})
		})
		dropped += before - len(s.Cases) - len(s.Dialogues)
	}
	return dropped
}

// names are those of a catalog, or of two that are compared: what one of them
// has is known.
type names struct {
	of              []*index.Index
	skills, domains []string // for suggestions
}

func newNames(of ...*index.Index) *names {
	n := &names{of: of}
	for _, ix := range of {
		for i := range ix.Skills() {
			n.skills = append(n.skills, ix.Skills()[i].Name)
		}
		for i := range ix.Domains() {
			n.domains = append(n.domains, ix.Domains()[i].Name)
		}
	}
	return n
}

// missing tells whether the catalog does not have a skill.
func (n *names) missing(skill string) bool {
	return !slices.ContainsFunc(n.of, func(ix *index.Index) bool { _, ok := ix.Lookup(skill); return ok })
}

func (n *names) missingDomain(domain string) bool {
	return !slices.ContainsFunc(n.of, func(ix *index.Index) bool { _, ok := ix.LookupDomain(domain); return ok })
}

// unknown tells which labels of a case the catalog does not have.
func (n *names) unknown(c *Case) (whats []string) {
	for _, skill := range slices.Concat(c.Skills, c.Not) {
		if n.missing(skill) {
			whats = append(whats, fmt.Sprintf("the catalog has no skill %q%s", skill, suggestion(skill, n.skills)))
		}
	}
	for _, domain := range c.Domains {
		if n.missingDomain(domain) {
			whats = append(whats, fmt.Sprintf("the catalog has no domain %q%s", domain, suggestion(domain, n.domains)))
		}
	}
	return whats
}

// suggestion names the one that was meant, if one is near enough.
func suggestion(name string, of []string) string {
	near := Nearest(name, of)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", near)
}

// Nearest returns the name that differs least from name, without case: by at
// most a third of its letters; "" if none is so near.
func Nearest(name string, of []string) string {
	folded := text.Fold(name)
	best, least := "", max(1, utf8.RuneCountInString(folded)/3)+1
	for _, other := range of {
		if d := text.Distance(folded, text.Fold(other)); d < least {
			best, least = other, d
		}
	}
	return best
}

// domainsOf returns the right domains of a case: its own, else those of its
// skills, in the order of the catalog.
func domainsOf(ix *index.Index, c *Case) []string {
	if len(c.Domains) > 0 || len(c.Skills) == 0 {
		return c.Domains
	}
	var all []string
	for i := range ix.Domains() {
		d := &ix.Domains()[i]
		if slices.ContainsFunc(c.Skills, func(s string) bool { return slices.Contains(d.Members, s) || slices.Contains(d.Manual, s) }) {
			all = append(all, d.Name)
		}
	}
	return all
}
