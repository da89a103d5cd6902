package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/domains"
	"skillrouter/index"
)

// suggestFlags are the flags of suggest.
type suggestFlags struct {
	all, write, yaml bool
	count            int
}

func (a *app) domainsSuggestCommand() *cobra.Command {
	var flags suggestFlags
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Suggest domains for the skills that are in none",
		Long: `suggest divides the skills that neither a skillrouter.yaml nor themselves nor a
folder puts in a domain: into domains of 5 to 15 that are alike. It tells what the
members of each have in common, which would fit elsewhere nearly as well, and
what to split or merge. Where nearly all skills have a domain, the few that are
left get no new ones: the domain of the skill nearest to each is named.

With --all it divides all skills anew, as if nothing filed them.

With --write the domains are put into the skillrouter.yaml at the root of the
folder that --skills names, of several the last. No line that is there is
changed, domains and members are added only, and running it again adds nothing.
The file goes before folders and metadata, so that with --all it divides the
catalog anew; but --all --write is refused where a skillrouter.yaml names
domains already, because each skill would then be in an old and a new one.
--yaml shows the file as --write would make it.`,
		Example: `  skillrouter domains suggest --skills ./skills
  skillrouter domains suggest --skills ./skills --yaml | less
  skillrouter domains suggest --skills ./skills --write
  skillrouter domains suggest --skills ./skills --all --count 12
  skillrouter domains suggest --skills skills.jsonl --yaml > skillrouter.yaml`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(onlyOne(cmd, "write", "yaml"), onlyOne(cmd, "yaml", "json")); err != nil {
				return err
			}
			if cmd.Flags().Changed("count") && flags.count < 1 {
				return &useError{errors.New("--count must be 1 or more"), helpHint(cmd)}
			}
			return a.with(cmd.Context(), !flags.write, func(c *catalog) error { return a.suggest(cmd.Context(), c, &flags) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&flags.all, "all", false, "divide all skills, also those that have a domain")
	f.IntVar(&flags.count, "count", 0, "suggest `N` domains (default by the number of skills)")
	f.BoolVar(&flags.write, "write", false, "add the domains to the skillrouter.yaml of the folder")
	f.BoolVar(&flags.yaml, "yaml", false, "show the skillrouter.yaml that --write would make")
	return cmd
}

// A suggestion is a proposal and what it is of.
type suggestion struct {
	*domains.Proposal
	skills int    // that were looked at
	kept   int    // that keep their domain
	all    bool   // divided are all skills of the catalog
	lonely []near // the unassigned ones
}

// near is a skill that is in no domain, and the domain of the skill nearest to it; both are
// "" where none is like it.
type near struct {
	Skill  string `json:"skill"`
	Domain string `json:"domain"`
	Like   string `json:"like"`
}

func (a *app) suggest(ctx context.Context, c *catalog, flags *suggestFlags) error {
	if flags.write {
		if err := a.writable(c, flags.all, true); err != nil {
			return err
		}
	}
	s, err := a.propose(ctx, c.Index(), flags)
	if err != nil {
		return err
	}
	switch {
	case flags.yaml:
		return a.showDraft(c, s)
	case flags.write:
		return a.writeDraft(c, s)
	case a.set.json:
		return a.writeSuggestion(s, "", nil)
	}
	a.showSuggestion(s)
	if len(s.Domains) > 0 {
		fmt.Fprintln(a.err, "--write adds the domains to the skillrouter.yaml of the folder, --yaml shows the file")
	}
	return nil
}

// exists tells by place which skills --exclude leaves.
func (a *app) exists(ix *index.Index) func(place int32) bool {
	allow := a.set.allow()
	return func(place int32) bool { return allow == nil || allow(ix.Skills()[place].Name) }
}

// filed tells whether something other than likeness put a skill in a domain.
func filed(ix *index.Index, place int32) bool {
	return slices.ContainsFunc(ix.DomainsOf(place), func(d int32) bool {
		return !ix.Domains()[d].Clustered && ix.Domains()[d].Name != domains.Unassigned
	})
}

// propose divides the skills that flags are about.
func (a *app) propose(ctx context.Context, ix *index.Index, flags *suggestFlags) (*suggestion, error) {
	exists := a.exists(ix)
	chosen := []int32{}
	others := make([]bool, len(ix.Skills())) // those that keep their domain
	kept := 0
	for i := range ix.Skills() {
		place := int32(i)
		switch {
		case ix.Skills()[i].Summary.Manual || !exists(place):
		case flags.all || !filed(ix, place):
			chosen = append(chosen, place)
		default:
			others[i] = true
			kept++
		}
	}
	items := ix.Items(chosen)
	s := &suggestion{skills: len(items), kept: kept, all: flags.all}
	clustered := slices.ContainsFunc(ix.Domains(), func(d domains.Domain) bool { return d.Clustered })
	if few(len(items), kept) && !clustered && flags.count == 0 {
		s.Proposal = &domains.Proposal{}
		for i := range items {
			s.Unassigned = append(s.Unassigned, items[i].Name)
		}
		slices.Sort(s.Unassigned)
	} else {
		s.Proposal = domains.Cluster(items, &domains.ClusterOptions{Domains: flags.count})
	}
	if kept > 0 { // the number of all domains is no matter of these
		s.Advice = slices.DeleteFunc(s.Advice, func(f domains.Finding) bool { return f.Domain == "" })
	}
	vectors := make(map[string][]float32, len(items))
	for i := range items {
		vectors[items[i].Name] = items[i].Vector
	}
	s.lonely = []near{}
	for _, name := range s.Unassigned {
		n := near{Skill: name}
		hits, err := ix.Like(ctx, vectors[name], 1, others)
		if err != nil {
			return nil, err
		}
		if len(hits) > 0 {
			like := hits[0].Skill
			n.Like, n.Domain = ix.Skills()[like].Name, ix.Domains()[ix.DomainsOf(like)[0]].Name
		}
		s.lonely = append(s.lonely, n)
	}
	return s, nil
}

// few tells that skills are too few for domains of their own beside kept others. One in
// twenty may be like no others when a catalog is divided: dividing again is not to make a
// domain of them.
func few(skills, kept int) bool {
	const (
		least = 5 // skills of a domain
		share = 20
	)
	return kept > 0 && (skills < least || skills*share <= skills+kept)
}

// member is a skill of a suggested domain.
type member struct {
	Skill  string `json:"skill"`
	Tag    string `json:"tag"`
	Second string `json:"second"` // another domain that would do, or ""
	Also   bool   `json:"also"`   // it is in Second too
}

// writeSuggestion writes s as JSON, with what was added to a file, if one was written.
func (a *app) writeSuggestion(s *suggestion, file string, added []string) error {
	type domain struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Keywords    []string `json:"keywords"`
		Reason      string   `json:"reason"`
		Members     []member `json:"members"`
	}
	out := struct {
		Skills     int       `json:"skills"`
		Domains    []domain  `json:"domains"`
		Unassigned []near    `json:"unassigned"`
		Advice     []finding `json:"advice"`
		File       string    `json:"file"`
		Added      []string  `json:"added"`
	}{s.skills, []domain{}, s.lonely, []finding{}, file, orEmpty(added)}
	for i := range s.Domains {
		p := &s.Domains[i]
		d := domain{p.Name, p.Description, orEmpty(p.Keywords), p.Reason, []member{}}
		for _, m := range p.Members {
			d.Members = append(d.Members, member(m))
		}
		out.Domains = append(out.Domains, d)
	}
	for _, f := range s.Advice {
		out.Advice = append(out.Advice, newFinding(f))
	}
	return writeJSON(a.out, out, true)
}

// showSuggestion writes s for people.
func (a *app) showSuggestion(s *suggestion) {
	switch {
	case s.skills == 0:
		fmt.Fprintln(a.out, nothingLeft(s))
		return
	case len(s.Domains) == 0:
		a.fill("", "", tooFew(s))
	default:
		what := " that nothing files"
		if s.all {
			what = ", as if nothing filed them"
		}
		fmt.Fprintf(a.out, "%s for %s%s\n", plural(len(s.Domains), "domain"), plural(s.skills, "skill"), what)
	}
	for i := range s.Domains {
		a.showDomain(&s.Domains[i])
	}
	a.showLonely(s)
	if len(s.Advice) > 0 {
		fmt.Fprintln(a.out, "\nadvice")
	}
	for _, f := range s.Advice {
		a.fill("   ", "      ", f.What+": "+f.Fix)
	}
}

func nothingLeft(s *suggestion) string {
	if s.kept == 0 {
		return "no skill to divide"
	}
	return "every skill is filed in a domain; --all divides all anew, as if nothing filed them"
}

// tooFew says why there is no domain for some skills.
func tooFew(s *suggestion) string {
	if s.all {
		return plural(s.skills, "skill") + ": nothing is known of what they are about"
	}
	return plural(s.skills, "skill") + " that nothing files, too few for domains of their own: put each where it belongs, or see --count 1"
}

// showDomain writes the line of layer 1, why, and the members.
func (a *app) showDomain(p *domains.ProposedDomain) {
	line := domains.Line(&domains.Domain{Name: p.Name, Description: p.Description}, len(p.Members), a.set.lang.value)
	fmt.Fprintln(a.out)
	a.fill("", "   ", strings.TrimPrefix(line, "- "))
	a.fill("   why: ", "        ", p.Reason)
	wide := 0
	for _, m := range p.Members {
		wide = max(wide, columns(clean(m.Skill)))
	}
	var t table
	for _, m := range p.Members {
		tag, second := clean(m.Tag), ""
		switch {
		case m.Also:
			second = fmt.Sprintf(" (also in %s)", clean(m.Second))
		case m.Second != "":
			second = fmt.Sprintf(" (or %s?)", clean(m.Second))
		}
		if w := a.width(); w > 0 { // the doubt is worth more than the end of the tag
			tag = cut(tag, w-len("      ")-wide-len("  ")-columns(second))
		}
		t.add(clean(m.Skill), tag+second)
	}
	t.write(a.out, "      ", a.width())
}

// showLonely writes the skills that are in no suggested domain.
func (a *app) showLonely(s *suggestion) {
	if len(s.lonely) == 0 {
		return
	}
	if len(s.Domains) > 0 {
		fmt.Fprintf(a.out, "\nlike no others (%s)\n", plural(len(s.lonely), "skill"))
	}
	var t table
	for _, n := range s.lonely {
		if n.Like == "" {
			t.add(clean(n.Skill), "")
		} else {
			t.add(clean(n.Skill), fmt.Sprintf("nearest: %s, for %s", clean(n.Domain), clean(n.Like)))
		}
	}
	t.write(a.out, "   ", a.width())
}
