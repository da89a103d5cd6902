package domains

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// An Item is one skill to be put in a domain.
type Item struct {
	Name        string             // distinct among the items
	Summary     *summaries.Summary // nil: only Name and Description are known
	Description string             // as the skill's author wrote it; may be ""
	Vector      []float32          // what the skill is about, of any length but 0; items without one of the common dimension are unassigned
}

// ClusterOptions says how [Cluster] divides. The zero ClusterOptions goes by the number of skills.
type ClusterOptions struct {
	Domains int // how many; 0 means 8 to 15, as far as 5 skills each allow, and above 225 skills about a tenth of them
}

// A Proposal is a division of skills into domains that a person may take over, see
// [Draft].
type Proposal struct {
	Domains    []ProposedDomain // by name
	Unassigned []string         // names of skills that are like no others, in order
	Advice     []Finding        // what the sizes and likenesses suggest: kinds "split", "merge", "few-domains", "many-domains", "small-domain"
}

// A ProposedDomain is one domain of a [Proposal].
type ProposedDomain struct {
	Name        string // distinct, one to four words, in the language of most members
	Description string // completes "mainly handles: …"
	Keywords    []string
	Members     []ProposedMember // by name; 5 to 15 where there are enough skills
	Reason      string           // what the members have in common
}

// A ProposedMember is a skill in a [ProposedDomain].
type ProposedMember struct {
	Skill  string
	Tag    string // verb and object, "draft contracts", where the skill says so
	Second string // another domain that fits it nearly as well; "" if none does
	Also   bool   // it is in the domain Second too
}

// Cluster divides items into domains of 5 to 15 that are alike in meaning and in what they
// handle. Vectors say what is alike; the mean of each language is taken off them, so that
// Chinese and English skills of one kind meet. Words add to them where they tell a common
// kind of work. A skill that fits a second domain nearly as well is in both while there is
// room.
//
// The result depends on the items only, not on their order. Cost is about linear: some
// seconds for 7,000 skills on one core. A nil o means the zero ClusterOptions.
func Cluster(items []Item, o *ClusterOptions) *Proposal {
	if o == nil {
		o = &ClusterOptions{}
	}
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
	items = slices.CompactFunc(items, func(a, b Item) bool { return a.Name == b.Name })
	c := newClusterer(items)
	if len(c.items) == 0 {
		return c.proposal
	}
	k := domainCount(len(c.items))
	fewest := fewestDomains(len(c.items), k)
	if o.Domains > 0 {
		k = min(o.Domains, len(c.items))
		fewest = k
	}
	least, most := min(minMembers, len(c.items)/k), max(maxMembers, (len(c.items)+k-1)/k)
	c.parts = divide(c.rows, fewest, k, least, most)
	c.expel()
	c.propose(most)
	c.advise()
	return c.proposal
}

// clusterer holds what [Cluster] works on: the items that have a vector.
type clusterer struct {
	items    []Item
	chinese  []bool // whether an item is
	rows     [][]float32
	words    *vocabulary
	parts    *partition
	proposal *Proposal
	place    []int // part → domain of the proposal
}

func newClusterer(all []Item) *clusterer {
	c := &clusterer{proposal: &Proposal{}}
	dims := make(map[int]int)
	dim := 0
	for i := range all {
		n := len(all[i].Vector)
		dims[n]++
		if dims[n] > dims[dim] || dims[n] == dims[dim] && n > dim {
			dim = n
		}
	}
	for _, it := range all {
		if n := norm(it.Vector); len(it.Vector) != dim || !(n > 1e-6) || math.IsInf(n, 0) {
			c.proposal.Unassigned = append(c.proposal.Unassigned, it.Name)
			continue
		}
		c.items = append(c.items, it)
		c.chinese = append(c.chinese, isChinese(said(&it)))
	}
	if len(c.items) == 0 {
		return c
	}
	c.rows = centred(c.items, c.chinese)
	c.words = newVocabulary(c.items, c.rows)
	c.addKinds()
	return c
}

// said is the text that tells an item's language.
func said(it *Item) string {
	if it.Description == "" && it.Summary != nil {
		return it.Summary.Text
	}
	return it.Description
}

// centred returns the items' vectors with what is common to all, and to all of one
// language, taken off, at length 1.
func centred(items []Item, chinese []bool) [][]float32 {
	dim := len(items[0].Vector)
	rows := make([][]float32, len(items))
	// The mean of each language, Chinese second.
	var means [2][]float32
	var count [2]float32
	common := make([]float32, dim)
	for l := range means {
		means[l] = make([]float32, dim)
	}
	language := func(i int) int {
		if chinese[i] {
			return 1
		}
		return 0
	}
	for i := range items {
		rows[i] = slices.Clone(items[i].Vector)
		normalize(rows[i])
		l := language(i)
		count[l]++
		for d, x := range rows[i] {
			means[l][d] += x
			common[d] += x
		}
	}
	// Of a language of few skills, the mean is more of their topics than of the language.
	const few = 20
	for l := range means {
		share := count[l] / (count[l] + few)
		for d := range common {
			all := common[d] / float32(len(items))
			own := all
			if count[l] > 0 {
				own = means[l][d] / count[l]
			}
			means[l][d] = all + float32((own-all)*share)
		}
	}
	for i, row := range rows {
		centre := means[language(i)]
		for d := range row {
			row[d] -= centre[d]
		}
		normalize(row)
	}
	return rows
}

// addKinds lengthens the rows by what kinds of work the items' words tell: rare kinds more.
func (c *clusterer) addKinds() {
	// Measured against the folders of a hand-sorted catalog of 148 skills, where 0.5 to 1.4
	// do about as well: the adjusted Rand index rises from 0.24 to 0.35.
	const weight = 0.7
	ids := c.words.concepts
	for i := range c.rows {
		kinds := make([]float32, len(ids))
		for j, id := range ids {
			if w := c.words.weight(i, id); w > 0 {
				kinds[j] = float32(w * math.Log(float64(len(c.items)+1)/float64(len(c.words.terms[id].holders))))
			}
		}
		normalize(kinds)
		for _, x := range kinds {
			c.rows[i] = append(c.rows[i], x*weight)
		}
		normalize(c.rows[i])
	}
}

// expel takes the items out of their parts that have nothing in common with the others
// there: at most one in twenty, and while the part keeps its least size.
func (c *clusterer) expel() {
	const (
		nothing = 0.02
		share   = 20
	)
	likeness := make([]float64, len(c.rows))
	var odd []int
	for i := range c.rows {
		if likeness[i] = c.parts.affinity(i, c.parts.of[i]); likeness[i] <= nothing {
			odd = append(odd, i)
		}
	}
	slices.SortStableFunc(odd, func(a, b int) int { return cmp.Compare(likeness[a], likeness[b]) })
	for _, i := range odd[:min(len(odd), len(c.rows)/share)] {
		if len(c.parts.groups[c.parts.of[i]].rows) > c.parts.least {
			c.parts.take(i)
			c.proposal.Unassigned = append(c.proposal.Unassigned, c.items[i].Name)
		}
	}
	slices.Sort(c.proposal.Unassigned)
}

// propose makes a domain of each part and sorts them by name.
func (c *clusterer) propose(most int) {
	c.place = make([]int, len(c.parts.groups))
	naming := &naming{v: c.words, items: c.items, taken: make(map[string]bool)}
	domains := make([]ProposedDomain, len(c.parts.groups))
	order := make([]int, len(domains))
	for b := range domains {
		domains[b] = c.domain(naming, b)
		order[b] = b
	}
	c.second(domains, most)
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(domains[a].Name, domains[b].Name) })
	for to, from := range order {
		c.place[from] = to
		d := domains[from]
		slices.SortFunc(d.Members, func(a, b ProposedMember) int { return strings.Compare(a.Skill, b.Skill) })
		c.proposal.Domains = append(c.proposal.Domains, d)
	}
}

// domain describes part b.
func (c *clusterer) domain(n *naming, b int) ProposedDomain {
	group := c.parts.groups[b].rows
	chinese := 0
	for _, i := range group {
		if c.chinese[i] {
			chinese++
		}
	}
	han := 2*chinese > len(group)
	about := c.words.about(group)
	d := ProposedDomain{}
	var why []weighed
	d.Name, why = n.name(group, about, han)
	var gists, others []gist
	for _, i := range group {
		t, ok := tag(&c.items[i])
		if isChinese(t) == han && ok {
			gists = append(gists, newGist(t))
		} else {
			others = append(others, newGist(t))
		}
		d.Members = append(d.Members, ProposedMember{Skill: c.items[i].Name, Tag: t})
	}
	if len(gists) < describeMembers {
		gists = append(gists, others...)
	}
	d.Description = c.description(d.Name, pick(gists, 2*describeMembers), han)
	d.Keywords = keywords(about)
	d.Reason = reason(group, why, d.Keywords)
	return d
}

// description joins as many tags, best first, as leave the index within its limit.
func (c *clusterer) description(name string, tags []string, han bool) string {
	zh, comma := 1, "、"
	if !han {
		zh, comma = 3, ", "
	}
	head := newEntry(&Domain{Name: name, Description: name}, goodMembers, "")
	room := zh*IndexLimit/min(len(c.parts.groups), maxDomains) - head.headLen - head.labelLen
	var out []string
	for i, t := range tags {
		if n := text.Len(t) + 1; len(out) < describeMembers && (n <= room || i == 0) {
			out = append(out, t)
			room -= n
		}
	}
	return strings.Join(out, comma)
}

// keywords returns the words that set a group apart, names of products among them.
func keywords(about []weighed) []string {
	const most = 8
	var out []string
	for i := range about {
		w := &about[i]
		if w.words == conceptWords || w.words == 0 && (hanFiller(w.key) || !w.whole() || absorbed(w, about)) ||
			slices.ContainsFunc(out, func(s string) bool { return within(w.surface(), s) }) {
			continue
		}
		if out = append(out, w.surface()); len(out) == most {
			break
		}
	}
	return out
}

// within reports whether one of two terms is part of the other.
func within(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if ascii(a) {
		a, b = " "+strings.TrimSuffix(a, "s")+" ", " "+strings.TrimSuffix(b, "s")+" "
	}
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// reason says what the members of a group have in common.
func reason(group []int, why []weighed, keywords []string) string {
	var parts []string
	for i := range why {
		w := &why[i]
		verb := "mention"
		if w.words == conceptWords {
			verb = "are about"
		}
		parts = append(parts, fmt.Sprintf("%d of %d %s %s", len(w.members), len(group), verb, w.surface()))
	}
	if len(parts) == 0 {
		parts = append(parts, "similar descriptions")
	}
	if len(keywords) > 0 {
		parts = append(parts, "common words: "+strings.Join(keywords[:min(4, len(keywords))], ", "))
	}
	return strings.Join(parts, "; ")
}

// second finds for each item the next best domain, and makes it a member there too where
// that fits nearly as well as its own and has room.
func (c *clusterer) second(domains []ProposedDomain, most int) {
	const (
		both     = 0.95 // of the likeness to its own
		doubtful = 0.9
		alike    = 0.2 // lowest likeness to be in a second domain
	)
	for b := range domains {
		for m, i := range c.parts.groups[b].rows {
			own := c.parts.affinity(i, b)
			next, best := -1, 0.0
			c.parts.each(i, func(o int) {
				if a := c.parts.affinity(i, o); o != b && a > best {
					next, best = o, a
				}
			})
			if next < 0 || best < doubtful*own {
				continue
			}
			member := &domains[b].Members[m]
			member.Second = domains[next].Name
			if best >= both*own && best >= alike && len(domains[next].Members) < most {
				member.Also = true
				domains[next].Members = append(domains[next].Members, ProposedMember{Skill: member.Skill, Tag: member.Tag, Second: domains[b].Name, Also: true})
			}
		}
	}
}

// advise fills in the advice.
func (c *clusterer) advise() {
	p := c.proposal
	p.Advice = append(p.Advice, counted(len(p.Domains), len(c.items))...)
	for i := range p.Domains {
		d := &p.Domains[i]
		if len(d.Members) < minMembers {
			p.Advice = append(p.Advice, small(d.Name, len(d.Members), ""))
		}
		if len(d.Members) > maxMembers {
			p.Advice = append(p.Advice, large(d.Name, len(d.Members), ""))
		}
	}
	for b := range c.parts.groups {
		c.adviseSplit(b)
		c.adviseMerge(b)
	}
}

// adviseSplit suggests to split a domain whose halves have little in common.
func (c *clusterer) adviseSplit(b int) {
	const apart = 0.25 // cosine of the halves' means
	g := &c.parts.groups[b]
	if len(g.rows) < 2*minMembers {
		return
	}
	rows := make([][]float32, len(g.rows))
	for j, i := range g.rows {
		rows[j] = c.rows[i]
	}
	halves := divide(rows, 2, 2, minMembers, len(rows))
	if len(halves.groups) < 2 || cosine(&halves.groups[0], &halves.groups[1]) > apart {
		return
	}
	name := c.proposal.Domains[c.place[b]].Name
	var first [2][]string
	for h := range first {
		for _, j := range halves.groups[h].rows[:min(3, len(halves.groups[h].rows))] {
			first[h] = append(first[h], c.items[g.rows[j]].Name)
		}
	}
	c.proposal.Advice = append(c.proposal.Advice, Finding{
		Domain: name, Kind: "split", Severity: definitions.Note,
		What: fmt.Sprintf("domain %q is of two kinds: %d skills like %s, and %d like %s", name,
			len(halves.groups[0].rows), strings.Join(first[0], ", "), len(halves.groups[1].rows), strings.Join(first[1], ", ")),
		Fix: "look whether it should be two domains",
	})
}

// adviseMerge suggests to merge a domain with a later one that is much like it where both
// fit in one.
func (c *clusterer) adviseMerge(b int) {
	const alike = 0.7 // cosine of the means
	g := &c.parts.groups[b]
	name := c.proposal.Domains[c.place[b]].Name
	c.parts.each(g.rows[0], func(o int) {
		other := &c.parts.groups[o]
		if o <= b || len(g.rows)+len(other.rows) > maxMembers || cosine(g, other) < alike {
			return
		}
		second := c.proposal.Domains[c.place[o]].Name
		c.proposal.Advice = append(c.proposal.Advice, Finding{
			Domain: name, Kind: "merge", Severity: definitions.Note,
			What: fmt.Sprintf("domains %q and %q are much alike, %d skills together", name, second, len(g.rows)+len(other.rows)),
			Fix:  "look whether they should be one domain",
		})
	})
}

// cosine returns how like two groups are in the mean.
func cosine(a, b *group) float64 {
	if a.length*b.length < 1e-6 {
		return 0
	}
	return float64(dot(a.sum, b.sum)) / (a.length * b.length)
}
