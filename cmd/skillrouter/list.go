package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/router"
)

func (a *app) listCommand() *cobra.Command {
	var problems, shadowed bool
	var like string
	number := 10
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the domains, their skills, and what is odd about the catalog",
		Long: `list shows every domain with its skills and their summaries, and adds up the
files that were found: each is loaded, shadowed by another of its name, refused,
or nested in another skill's folder.`,
		Example: `  skillrouter list --skills ./skills
  skillrouter list --problems                 # each with file, line and what to do
  skillrouter list --shadowed                 # copies that lost, and to which file
  skillrouter list --like "pull text out of scans" -n 5`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := onlyOne(cmd, "problems", "shadowed", "like"); err != nil {
				return err
			}
			if number < 1 {
				return &useError{errors.New("-n must be 1 or more"), helpHint(cmd)}
			}
			return a.with(cmd.Context(), true, func(c *catalog) error {
				switch {
				case problems:
					return a.listProblems(c.Index())
				case shadowed:
					return a.listShadowed(c.Index())
				case cmd.Flags().Changed("like"):
					return a.listLike(cmd.Context(), c, like, number)
				}
				if err := a.listSkills(c.Index()); err != nil {
					return err
				}
				a.advise(c.Index())
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&problems, "problems", false, "show what is odd, with file, line and what to do")
	f.BoolVar(&shadowed, "shadowed", false, "show the copies of skills that others won over")
	f.StringVar(&like, "like", "", "show the skills whose summaries are nearest to `TEXT` by their vectors")
	f.IntVarP(&number, "number", "n", number, "how many --like shows")
	return cmd
}

// advise tells when layers do not pay.
func (a *app) advise(ix *index.Index) {
	if advice := router.Advice(ix); advice != "" {
		fmt.Fprintf(a.err, "advice: %s\n", advice)
	}
}

// counts are the figures that each JSON of list begins with.
type counts struct {
	Found    int `json:"found"`
	Loaded   int `json:"loaded"`
	Shadowed int `json:"shadowed"`
	Refused  int `json:"refused"`
	Nested   int `json:"nested"`
}

func newCounts(c definitions.Counts) counts {
	return counts{c.Found, c.Loaded, c.Shadowed, c.Refused, c.Nested}
}

func (c counts) String() string {
	return fmt.Sprintf("found %d: %d loaded, %d shadowed, %d refused, %d nested", c.Found, c.Loaded, c.Shadowed, c.Refused, c.Nested)
}

// severities counts problems.
type severities struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
}

func newSeverities(problems []definitions.Problem) severities {
	var s severities
	for _, p := range problems {
		s.add(p.Severity)
	}
	return s
}

func (s *severities) add(severity definitions.Severity) {
	switch severity {
	case definitions.Error:
		s.Errors++
	case definitions.Warning:
		s.Warnings++
	case definitions.Note:
		s.Notes++
	}
}

func (s severities) String() string {
	var parts []string
	for _, x := range []struct {
		n    int
		noun string
	}{{s.Errors, "error"}, {s.Warnings, "warning"}, {s.Notes, "note"}} {
		if x.n > 0 {
			parts = append(parts, plural(x.n, x.noun))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}

type listedDomain struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Fallback    bool     `json:"fallback"`
	Skills      []string `json:"skills"`
}

type listedSkill struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Domains     []string `json:"domains"`
	File        string   `json:"file"`
	Summary     summary  `json:"summary"`
}

func newListedSkill(ix *index.Index, place int32) listedSkill {
	s := &ix.Skills()[place]
	l := listedSkill{Name: s.Name, Description: s.Description, Domains: []string{}, File: s.File, Summary: newSummary(&s.Summary)}
	for _, d := range ix.DomainsOf(place) {
		l.Domains = append(l.Domains, ix.Domains()[d].Name)
	}
	return l
}

// listSkills writes the domains and skills.
func (a *app) listSkills(ix *index.Index) error {
	allow := a.set.allow()
	exists := func(place int32) bool { return allow == nil || allow(ix.Skills()[place].Name) }
	if a.set.json {
		out := struct {
			counts
			Problems severities     `json:"problems"`
			Domains  []listedDomain `json:"domains"`
			Skills   []listedSkill  `json:"skills"`
		}{counts: newCounts(ix.Counts()), Problems: newSeverities(ix.Problems()), Domains: []listedDomain{}, Skills: []listedSkill{}}
		for i, d := range ix.Domains() {
			l := listedDomain{Name: d.Name, Description: d.Description, Fallback: d.Fallback, Skills: []string{}}
			for _, s := range ix.Members(int32(i)) {
				if exists(s) {
					l.Skills = append(l.Skills, ix.Skills()[s].Name)
				}
			}
			out.Domains = append(out.Domains, l)
		}
		for i := range ix.Skills() {
			if exists(int32(i)) {
				out.Skills = append(out.Skills, newListedSkill(ix, int32(i)))
			}
		}
		return writeJSON(a.out, out, true)
	}
	skills, domains := 0, 0
	for i := range ix.Skills() {
		if exists(int32(i)) {
			skills++
		}
	}
	for i, d := range ix.Domains() {
		var t table
		for _, s := range ix.Members(int32(i)) {
			if exists(s) {
				t.add(clean(ix.Skills()[s].Name), clean(ix.Skills()[s].Summary.Text))
			}
		}
		if len(t.rows) == 0 {
			continue
		}
		domains++
		what := plural(len(t.rows), "skill")
		if d.Fallback {
			what += ", fallback"
		}
		head := fmt.Sprintf("%s (%s)", clean(d.Name), what)
		if d.Description != "" {
			head += ": " + clean(d.Description)
		}
		if w := a.width(); w > 0 {
			head = cut(head, w)
		}
		fmt.Fprintln(a.out, head)
		t.write(a.out, "   ", a.width())
		fmt.Fprintln(a.out)
	}
	a.listManual(ix, exists)
	fmt.Fprintf(a.out, "%s in %s; %s\n", plural(skills, "skill"), plural(domains, "domain"), newCounts(ix.Counts()))
	if problems := ix.Problems(); len(problems) > 0 {
		fmt.Fprintf(a.out, "%s: --problems shows them\n", newSeverities(problems))
	}
	return nil
}

// listManual writes the skills that are never routed to.
func (a *app) listManual(ix *index.Index, exists func(int32) bool) {
	var t table
	for i := range ix.Skills() {
		if m := &ix.Skills()[i].Summary; m.Manual && exists(int32(i)) {
			t.add(clean(m.Skill), clean(m.Text))
		}
	}
	if len(t.rows) > 0 {
		fmt.Fprintf(a.out, "only by name (%s)\n", plural(len(t.rows), "skill"))
		t.write(a.out, "   ", a.width())
		fmt.Fprintln(a.out)
	}
}

type listedProblem struct {
	File     string               `json:"file"`
	Line     int                  `json:"line"`
	Severity definitions.Severity `json:"severity"`
	Kind     string               `json:"kind"`
	What     string               `json:"what"`
	Fix      string               `json:"fix"`
	Refused  bool                 `json:"refused"`
}

func (a *app) listProblems(ix *index.Index) error {
	problems := ix.Problems()
	if a.set.json {
		out := struct {
			counts
			Problems []listedProblem `json:"problems"`
		}{newCounts(ix.Counts()), []listedProblem{}}
		for _, p := range problems {
			out.Problems = append(out.Problems, listedProblem(p))
		}
		return writeJSON(a.out, out, true)
	}
	for _, p := range problems {
		at := clean(p.File)
		if p.Line > 0 {
			at += fmt.Sprintf(":%d", p.Line)
		}
		refused := ""
		if p.Refused {
			refused = ", refused"
		}
		fmt.Fprintf(a.out, "%s: %s%s: %s\n", at, p.Severity, refused, clean(p.What))
		if p.Fix != "" {
			fmt.Fprintf(a.out, "   fix: %s\n", clean(p.Fix))
		}
	}
	if len(problems) > 0 {
		fmt.Fprintln(a.out)
	}
	fmt.Fprintf(a.out, "%s; %s\n", newSeverities(problems), newCounts(ix.Counts()))
	return nil
}

type listedShadow struct {
	Name     string `json:"name"`
	File     string `json:"file"`
	Winner   string `json:"winner"`
	SameText bool   `json:"same_text"`
}

func (a *app) listShadowed(ix *index.Index) error {
	if a.set.json {
		out := struct {
			counts
			Copies []listedShadow `json:"copies"`
		}{newCounts(ix.Counts()), []listedShadow{}}
		for _, s := range ix.Shadowed() {
			out.Copies = append(out.Copies, listedShadow{s.Name, s.File, s.Winner, s.SameText})
		}
		return writeJSON(a.out, out, true)
	}
	for _, s := range ix.Shadowed() {
		same := "another text"
		if s.SameText {
			same = "the same text"
		}
		fmt.Fprintf(a.out, "%s\n   shadowed: %s (%s)\n   in use:   %s\n", clean(s.Name), clean(s.File), same, clean(s.Winner))
	}
	if len(ix.Shadowed()) > 0 {
		fmt.Fprintln(a.out)
	}
	fmt.Fprintln(a.out, newCounts(ix.Counts()))
	return nil
}

// listLike writes the skills whose summaries are nearest to like.
func (a *app) listLike(ctx context.Context, c *catalog, like string, number int) error {
	ix := c.Index()
	var mask []bool
	if allow := a.set.allow(); allow != nil {
		for i := range ix.Skills() {
			mask = append(mask, allow(ix.Skills()[i].Name))
		}
	}
	vector, err := c.vector(ctx, like)
	if err != nil {
		return err
	}
	hits, err := ix.Like(ctx, vector, number, mask)
	if err != nil {
		return err
	}
	if a.set.json {
		type similar struct {
			Similarity float32 `json:"similarity"`
			listedSkill
		}
		out := struct {
			Like   string    `json:"like"`
			Skills []similar `json:"skills"`
		}{like, []similar{}}
		for _, h := range hits {
			out.Skills = append(out.Skills, similar{h.Similarity, newListedSkill(ix, h.Skill)})
		}
		return writeJSON(a.out, out, true)
	}
	if len(hits) == 0 {
		fmt.Fprintln(a.out, "nothing is like it: no word of it is known, or there is no skill")
		return nil
	}
	t := table{right: []int{0}}
	t.add("similar", "skill", "domain", "summary")
	for _, h := range hits {
		domain := ""
		if ds := ix.DomainsOf(h.Skill); len(ds) > 0 {
			domain = clean(ix.Domains()[ds[0]].Name)
		}
		s := &ix.Skills()[h.Skill]
		t.add(fmt.Sprintf("%.2f", h.Similarity), clean(s.Name), domain, clean(s.Summary.Text))
	}
	t.write(a.out, "", a.width())
	return nil
}
