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
	items := make([]domains.Item, len(left.Members))
	for i, name := range left.Members {
		p := place[name]
		items[i] = domains.Item{
			Name: name, Summary: &ix.skills[p].Summary, Description: ix.skills[p].Description, Vector: b.centroids[p],
		}
	}
	proposal := domains.Cluster(items, nil)
	for _, p := range proposal.Domains {
		d := domains.Domain{Name: p.Name, Description: p.Description, Keywords: p.Keywords, Clustered: true}
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
