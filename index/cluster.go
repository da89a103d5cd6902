package index

import (
	"fmt"
	"slices"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/internal/text"
)

// leastClustered is the number of skills without a domain from which they are
// clustered. Fewer fit in one domain, where a name of their own says no more.
const leastClustered = 16

// cluster replaces the domain of the skills that nothing files by domains of
// skills that are alike.
func (b *builder) cluster() {
	ix := b.ix
	at := slices.IndexFunc(ix.domains, func(d domains.Domain) bool { return d.Name == domains.Unassigned })
	if at < 0 || len(ix.domains[at].Members) < leastClustered {
		return
	}
	left := ix.domains[at]
	ix.domains = slices.Delete(ix.domains, at, at+1)
	taken := map[string]bool{}
	for _, d := range ix.domains {
		taken[text.Fold(d.Name)] = true
	}

	place := b.skillPlaces()
	skills := make([]int32, len(left.Members))
	for i, name := range left.Members {
		skills[i] = int32(place[name])
	}
	items := ix.Items(skills) // not the centroids: whoever clusters Items later is to get the same
	proposal := domains.Cluster(items, nil)
	for _, p := range proposal.Domains {
		d := domains.Domain{Name: p.Name, Description: p.Description, Keywords: p.Keywords, Clustered: true, Derived: true}
		if taken[text.Fold(d.Name)] || d.Name == domains.Unassigned {
			d.Name += " (2)" // a domain of that name was there before
		}
		for _, m := range p.Members {
			d.Members = append(d.Members, m.Skill)
		}
		slices.SortFunc(d.Members, func(x, y string) int { return place[x] - place[y] })
		ix.domains = append(ix.domains, d)
	}
	left.Members = proposal.Unassigned
	slices.SortFunc(left.Members, func(x, y string) int { return place[x] - place[y] })
	if len(left.Members)+len(left.Manual) > 0 {
		ix.domains = append(ix.domains, left)
	}
	what := fmt.Sprintf("%d skills that nothing files were put in %d domains by likeness", len(items)-len(left.Members), len(proposal.Domains))
	if n := len(left.Members); n > 0 {
		what += fmt.Sprintf(", %d are like no others", n)
	}
	ix.problems = slices.DeleteFunc(ix.problems, func(p definitions.Problem) bool { return p.Kind == "unassigned" })
	ix.problems = append(ix.problems, definitions.Problem{
		File: ix.skills[place[items[0].Name]].File, Severity: definitions.Note, Kind: "clustered", What: what,
		Fix: "skillrouter domains suggest writes the domains down for you to edit",
	})
	sortProblems(ix.problems)
}

// Items returns the skills at these places, in that order, as [domains.Cluster] and
// [domains.Check] take them: nil means all but the manual ones, in catalog order. A vector
// is the skill's row in the index, new and of unit length; it is zero for a skill of whose
// words the embedder knows none. Summaries belong to the index. A place that Skills does
// not have panics.
func (ix *Index) Items(skills []int32) []domains.Item {
	if skills == nil {
		for i := range ix.skills {
			if !ix.skills[i].Summary.Manual {
				skills = append(skills, int32(i))
			}
		}
	}
	items := make([]domains.Item, len(skills))
	for k, i := range skills {
		s := &ix.skills[i]
		items[k] = domains.Item{Name: s.Name, Summary: &s.Summary, Description: s.Description, Vector: ix.rows.float(int(i))}
	}
	return items
}
