package eval

import (
	"cmp"
	"slices"
	"strings"
)

// A Group is the figures of some rows.
type Group struct {
	Name string `json:"name"`
	*Figures
}

// Groups puts rows together by the keys of each and returns the figures of
// each group, by name. A row with several keys is in several groups, one
// without in none.
func Groups(rows []*Row, keys func(*Row) []string) []Group {
	of := map[string][]*Row{}
	for _, r := range rows {
		for _, k := range keys(r) {
			of[k] = append(of[k], r)
		}
	}
	groups := make([]Group, 0, len(of))
	for k, rows := range of {
		groups = append(groups, Group{k, Measure(rows)})
	}
	slices.SortFunc(groups, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	return groups
}

// ByDomain groups by right domains.
func ByDomain(r *Row) []string { return r.Domains }

// BySkill groups by right skills.
func BySkill(r *Row) []string { return r.Case.Skills }

// ByKind groups by what the case says of its kind.
func ByKind(r *Row) []string { return given(r.Case.Kind) }

// ByLang groups by what the case says of its language; where it says nothing,
// into "zh" and "other" by its Han characters.
func ByLang(r *Row) []string {
	switch {
	case r.Case.Lang != "":
		return []string{r.Case.Lang}
	case chinese(r.Case.Text):
		return []string{"zh"}
	default:
		return []string{"other"}
	}
}

// BySplit groups by the part of the cases, such as "dev" or "test".
func BySplit(r *Row) []string { return given(r.Case.Split) }

func given(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// WorstFirst orders groups by a figure, the lowest first, then the larger, then
// by name; those without it go last.
func WorstFirst(groups []Group, of func(*Figures) Number) {
	slices.SortStableFunc(groups, func(a, b Group) int {
		x, y := of(a.Figures), of(b.Figures)
		if x.Known() != y.Known() {
			return cmp.Compare(one(y.Known()), one(x.Known()))
		}
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name))
	})
}

// A Breakdown is groups of one sort, the worst first.
type Breakdown struct {
	Noun   string // what a group is: "domain", "skill", "kind", "language" or "split"
	Groups []Group
}

// Breakdowns returns the groups of each sort of which rows have several: those
// of domains by domain hit@1, the others by skill hit@1.
func Breakdowns(rows []*Row) []Breakdown {
	var all []Breakdown
	for _, x := range []struct {
		noun string
		keys func(*Row) []string
		of   func(*Figures) Number
	}{
		{"domain", ByDomain, func(f *Figures) Number { return f.DomainHit1 }},
		{"skill", BySkill, func(f *Figures) Number { return f.SkillHit1 }},
		{"kind", ByKind, func(f *Figures) Number { return f.SkillHit1 }},
		{"language", ByLang, func(f *Figures) Number { return f.SkillHit1 }},
		{"split", BySplit, func(f *Figures) Number { return f.SkillHit1 }},
	} {
		groups := Groups(rows, x.keys)
		if len(groups) < 2 { // it would say nothing new
			continue
		}
		WorstFirst(groups, x.of)
		all = append(all, Breakdown{x.noun, groups})
	}
	return all
}

// Astray says in words, in English, what of a row is not as it should be, the
// worst of it; "" if nothing is.
func Astray(r *Row) string {
	switch {
	case r.Case.OutOfScope && !r.Abstained:
		return "matches, though nothing should"
	case r.InScope() && !r.Abstained && !r.right():
		return "only wrong domains match"
	case len(r.Ranked) > 0 && slices.Contains(r.Case.Not, r.Ranked[0].Name):
		return "a must-not skill is first"
	case r.InScope() && r.Abstained:
		return "nothing matches"
	case r.hasSkills() && !r.Shown:
		return "no right skill is shown"
	case r.hasSkills() && r.SkillRank != 1:
		return "another skill is first"
	case r.Case.Question && len(r.Asked) == 0:
		return "the user is not asked"
	default:
		return ""
	}
}

// A Confusion is a skill that ranks first where another is right.
type Confusion struct {
	Right string   `json:"right"` // the first right skill
	First string   `json:"first"`
	N     int      `json:"n"`
	Rows  []string `json:"utterances"` // of at most three of them
}

// confusedRows is how many utterances a confusion tells.
const confusedRows = 3

// Confusions returns which skills are taken for which, the most frequent
// first, then by name.
func Confusions(rows []*Row) []Confusion {
	type pair struct{ right, first string }
	of := map[pair]*Confusion{}
	var all []*Confusion
	for _, r := range rows {
		if !r.hasSkills() || r.SkillRank == 1 || len(r.Ranked) == 0 {
			continue
		}
		p := pair{r.Case.Skills[0], r.Ranked[0].Name}
		c := of[p]
		if c == nil {
			c = &Confusion{Right: p.right, First: p.first}
			of[p] = c
			all = append(all, c)
		}
		c.N++
		if len(c.Rows) < confusedRows {
			c.Rows = append(c.Rows, r.Case.Text)
		}
	}
	slices.SortFunc(all, func(a, b *Confusion) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Right, b.Right), strings.Compare(a.First, b.First))
	})
	confusions := make([]Confusion, len(all))
	for i, c := range all {
		confusions[i] = *c
	}
	return confusions
}
