package domains

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// A Finding is something about domains that breaks a rule or could be better. None keeps
// a catalog from being used.
type Finding struct {
	Domain   string // name; "" for all of them
	Kind     string // short and stable, such as "small-domain"
	Severity definitions.Severity
	What     string // lower case, no full stop
	Fix      string // what to do
}

// CheckOptions says what [Check] knows beside the domains. The zero CheckOptions knows nothing.
type CheckOptions struct {
	Items      []Item // the catalog's skills: for members that do not exist, and to say how to split and where to merge
	IndexLimit int    // characters of the index, as in [IndexOptions]; 0 means [IndexLimit], negative no limit
}

// Check returns what is to be said about the domains of a catalog: first of all of them
// (B3, B5, B9, S47), then of each in order: its size (B4, S46), name (B8), description,
// members that do not exist, and skills without a domain (S45). A nil o means the zero
// CheckOptions.
func Check(ds []Domain, o *CheckOptions) []Finding {
	if o == nil {
		o = &CheckOptions{}
	}
	c := checker{ds: ds, items: make(map[string]*Item, len(o.Items))}
	for i := range o.Items {
		c.items[o.Items[i].Name] = &o.Items[i]
	}
	c.whole(o.IndexLimit)
	for i := range ds {
		c.domain(&ds[i])
	}
	return c.out
}

type checker struct {
	ds    []Domain
	items map[string]*Item
	out   []Finding
}

func (c *checker) report(d *Domain, severity definitions.Severity, kind, fix, format string, args ...any) {
	f := Finding{Kind: kind, Severity: severity, What: fmt.Sprintf(format, args...), Fix: fix}
	if d != nil {
		f.Domain = d.Name
	}
	c.out = append(c.out, f)
}

// whole checks the domains together.
func (c *checker) whole(limit int) {
	seen := make(map[string]bool)
	count, single := 0, 0
	for i := range c.ds {
		d := &c.ds[i]
		for _, m := range d.Members {
			seen[m] = true
		}
		if d.Name != Unassigned && len(d.Members) > 0 {
			count++
			if len(d.Members) == 1 {
				single++
			}
		}
	}
	skills := len(seen)
	switch {
	case skills > 2*maxMembers && count < 3:
		c.report(nil, definitions.Warning, "too-coarse", "divide by what users ask for; domains suggest makes a proposal",
			"%s for %d skills: too coarse to choose by", number(count, "domain"), skills)
	case single > 2 && 2*single > count:
		c.report(nil, definitions.Warning, "too-fine", "put skills that users confuse into one domain; domains suggest makes a proposal",
			"%d of %d domains have one skill: the index is a list of skills", single, count)
	default:
		c.out = append(c.out, counted(count, skills)...)
	}
	full, shown := AppendIndex(nil, c.ds, &IndexOptions{Limit: -1})
	if limit == 0 {
		limit = IndexLimit
	}
	if n, most := text.Len(string(full)), text.Limit(string(full), limit); limit > 0 && n > most {
		_, kept := AppendIndex(nil, c.ds, &IndexOptions{Limit: limit})
		what := fmt.Sprintf("the index has %d characters, at most %d: descriptions are shortened", n, most)
		if kept < shown {
			what = fmt.Sprintf("the index has %d characters, at most %d: %s left out", n, most, number(shown-kept, "domain"))
		}
		c.out = append(c.out, Finding{Kind: "long-index", Severity: definitions.Warning, What: what, Fix: "shorten descriptions, merge domains, or raise routing.index-limit"})
	}
}

// counted is the finding on the number of domains for so many skills, if there is one.
func counted(domains, skills int) []Finding {
	f := Finding{Severity: definitions.Note}
	switch {
	case domains == 0:
		return nil
	case skills > manySkills && domains > maxDomains:
		f.Kind, f.What = "many-domains", fmt.Sprintf("%d skills need more than %d domains: there are %d", skills, maxDomains, domains)
		f.Fix = "divide the catalog, or raise routing.index-limit"
	case domains > maxDomains:
		f.Kind, f.What, f.Fix = "many-domains", fmt.Sprintf("%d domains, at most %d", domains, maxDomains), "merge domains that are alike"
	case domains < minDomains && skills >= minDomains*minMembers:
		f.Kind, f.What, f.Fix = "few-domains", fmt.Sprintf("%s for %d skills, at least %d", number(domains, "domain"), skills, minDomains), "split domains that do several things"
	case domains < minDomains:
		f.Kind, f.What = "few-domains", fmt.Sprintf("%s: %s are too few for %d domains of %d", number(domains, "domain"), number(skills, "skill"), minDomains, minMembers)
		f.Fix = "nothing; up to 20 skills are shown without domains"
	default:
		return nil
	}
	return []Finding{f}
}

// number writes a count with its noun.
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// domain checks one domain.
func (c *checker) domain(d *Domain) {
	n := len(d.Members)
	if d.Name == Unassigned {
		if n > 0 {
			c.report(d, definitions.Error, "unassigned", "give them a domain in skillrouter.yaml, metadata.domains or a folder; domains suggest makes a proposal",
				"%s in no domain: %s", areIn(n), list(d.Members))
		}
		return
	}
	switch {
	case n > 0 && n < minMembers:
		c.out = append(c.out, small(d.Name, n, c.neighbour(d)))
	case n > maxMembers:
		c.out = append(c.out, large(d.Name, n, c.halves(d)))
	case n == 0 && len(d.Manual) > 0:
		c.report(d, definitions.Note, "manual-only", "nothing, or take manual off one of them", "domain %q has manual skills only: it is not in the index", d.Name)
	case n == 0:
		c.report(d, definitions.Warning, "empty-domain", "give it skills, or remove it", "domain %q has no skills", d.Name)
	}
	for _, word := range insiders(d.Name) {
		c.report(d, definitions.Warning, "jargon", "name it in users' words", "domain %q: users do not say %q", d.Name, word)
	}
	if d.Description == "" {
		c.report(d, definitions.Warning, "no-description", "complete: mainly handles: …", "domain %q has no description", d.Name)
	}
	if len(c.items) > 0 {
		for _, m := range slices.Concat(d.Members, d.Manual) {
			if c.items[m] == nil {
				c.report(d, definitions.Warning, "unknown-member", "correct the name or remove it", "domain %q lists skill %q, which is not in the catalog", d.Name, m)
			}
		}
	}
}

func areIn(n int) string {
	if n == 1 {
		return "1 skill is"
	}
	return fmt.Sprintf("%d skills are", n)
}

// list names the first three.
func list(names []string) string {
	s := strings.Join(names[:min(3, len(names))], ", ")
	if len(names) > 3 {
		s += ", …"
	}
	return s
}

// small is the finding on a domain with too few skills; into names the domain that they
// would do best in, "" if that is not known.
func small(name string, n int, into string) Finding {
	fix := "merge it into a domain that is near, or leave it while the catalog is small"
	if into != "" {
		fix = fmt.Sprintf("merge it into %q, or leave it while the catalog is small", into)
	}
	return Finding{
		Domain: name, Kind: "small-domain", Severity: definitions.Warning, Fix: fix,
		What: fmt.Sprintf("domain %q has %s, at least %d", name, number(n, "skill"), minMembers),
	}
}

// large is the finding on a domain with too many skills.
func large(name string, n int, halves string) Finding {
	fix := "split it in two"
	if halves != "" {
		fix += ": " + halves
	}
	return Finding{
		Domain: name, Kind: "large-domain", Severity: definitions.Warning, Fix: fix,
		What: fmt.Sprintf("domain %q has %s, at most %d", name, number(n, "skill"), maxMembers),
	}
}

// neighbour returns the domain that d's members are most like and that has room for them;
// "" if that is not known.
func (c *checker) neighbour(d *Domain) string {
	own := c.mean(d)
	best, most := "", 0.0
	for i := range c.ds {
		o := &c.ds[i]
		if o.Name == d.Name || o.Name == Unassigned || len(o.Members)+len(d.Members) > maxMembers {
			continue
		}
		if m := c.mean(o); len(m) == len(own) && len(m) > 0 {
			if s := float64(dot(own, m)); s > most {
				best, most = o.Name, s
			}
		}
	}
	return best
}

// mean returns the direction that d's members point to; nil if they have no vectors.
func (c *checker) mean(d *Domain) []float32 {
	var sum []float32
	for _, m := range d.Members {
		it := c.items[m]
		if it == nil || len(it.Vector) == 0 || sum != nil && len(sum) != len(it.Vector) {
			continue
		}
		if sum == nil {
			sum = make([]float32, len(it.Vector))
		}
		for i, x := range it.Vector {
			sum[i] += x
		}
	}
	normalize(sum)
	return sum
}

// halves says how d may be split; "" if its members have no vectors.
func (c *checker) halves(d *Domain) string {
	var items []Item
	for _, m := range d.Members {
		if it := c.items[m]; it != nil {
			items = append(items, *it)
		}
	}
	p := Split(d.Name, items)
	if len(p.Domains) < 2 {
		return ""
	}
	var out []string
	for i := range p.Domains {
		var names []string
		for _, m := range p.Domains[i].Members {
			names = append(names, m.Skill)
		}
		out = append(out, fmt.Sprintf("%q with %s", p.Domains[i].Name, list(names)))
	}
	return strings.Join(out, ", ")
}

// Split divides the members of a domain that has become too large into as few domains of
// at most 15 as they need. Each is named "name / …", so that reports over time can put the
// parts together again (B15).
func Split(name string, items []Item) *Proposal {
	p := Cluster(items, &ClusterOptions{Domains: max(2, (len(items)+maxMembers-1)/maxMembers)})
	renamed := make(map[string]string, len(p.Domains))
	for i := range p.Domains {
		d := &p.Domains[i]
		long := part(name, d.Name)
		renamed[d.Name], d.Name = long, long
	}
	for i := range p.Domains {
		for m := range p.Domains[i].Members {
			member := &p.Domains[i].Members[m]
			member.Second = renamed[member.Second]
		}
	}
	p.Advice = nil // the domains of the whole catalog count, not these
	return p
}

// part names a part of a domain within maxName, at the cost of the domain's name.
func part(whole, name string) string {
	const between = " / "
	room := maxName - utf8.RuneCountInString(between+name)
	if runes := []rune(whole); len(runes) > room {
		whole = strings.TrimSpace(string(runes[:max(0, room)]))
	}
	if whole == "" {
		return name
	}
	return whole + between + name
}

// insiders returns the words of a domain's name that only insiders know (B8).
func insiders(name string) []string {
	var out []string
	for _, t := range tokens(name) {
		if !t.han && jargon(strings.ToLower(t.surface)) {
			out = append(out, t.surface)
		}
	}
	for _, w := range hanJargon() {
		if strings.Contains(name, w) {
			out = append(out, w)
		}
	}
	return out
}
