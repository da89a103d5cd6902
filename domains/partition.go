package domains

import (
	"math"
	"slices"
)

// Sizes of a domain (B4) and how many skills a good one has.
const (
	minMembers  = 5
	maxMembers  = 15
	goodMembers = 10
)

// Counts of domains (B5). Above manySkills a catalog cannot keep to both.
const (
	minDomains = 8
	maxDomains = 15
	manySkills = maxDomains * maxMembers
)

// fewestDomains returns how few of domainCount's domains will do.
func fewestDomains(n, k int) int {
	full := (n + maxMembers - 1) / maxMembers
	if n <= manySkills {
		full = max(full, minDomains)
	}
	return min(k, full)
}

// domainCount returns how many domains n skills make: about a tenth, 8 to 15 where the
// sizes allow it, and above 225 skills as many as a tenth is.
func domainCount(n int) int {
	k := (n + goodMembers/2) / goodMembers
	if n <= manySkills {
		k = min(max(k, minDomains), maxDomains)
	}
	return max(1, min(k, n/minMembers))
}

// partition is a division of rows into groups of bounded size. Rows are unit vectors.
type partition struct {
	rows   [][]float32
	of     []int // group of each row
	groups []group
	fewest int // groups
	least  int // rows of a group, as far as there are enough
	most   int

	near   [][]int // regions whose groups a row may go to, nearest first; nil: all
	region [][]int // region → its groups
}

// group is one part: its rows, their sum and the sum's length.
type group struct {
	rows   []int
	sum    []float32
	length float64
}

// divide divides rows into fewest to k groups, alike within and unlike between, each of
// least to most rows, which must be possible. It maximises the sum of the lengths of the groups' sums, as spherical k-means
// does (Dhillon and Modha 2001): from Ward's hierarchy, by moves and exchanges of single
// rows. Above regionRows rows, regions are made first, and a row only looks at the groups
// of the regions next to it, so that the cost is about linear.
func divide(rows [][]float32, fewest, k, least, most int) *partition {
	p := &partition{rows: rows, of: make([]int, len(rows)), fewest: fewest, least: least, most: most}
	const (
		regionRows = 500 // up to this many, all pairs are looked at
		nearby     = 4   // regions that a row looks at
		passes     = 12
	)
	if len(rows) <= regionRows {
		all := make([]int, len(rows))
		for i := range all {
			all[i] = i
		}
		p.add(p.ward(all, k))
	} else {
		regions, near := regions(rows, (len(rows)+regionRows/4)/(regionRows/2), nearby)
		p.near = near
		for _, members := range regions {
			first := len(p.groups)
			p.add(p.ward(members, max(1, (len(members)*k+len(rows)/2)/len(rows))))
			own := make([]int, 0, len(p.groups)-first)
			for g := first; g < len(p.groups); g++ {
				own = append(own, g)
			}
			p.region = append(p.region, own)
		}
	}
	p.even(k)
	for range passes {
		if !p.improve() {
			break
		}
	}
	p.compact()
	return p
}

// add makes groups of lists of rows.
func (p *partition) add(lists [][]int) {
	for _, list := range lists {
		g := group{sum: make([]float32, len(p.rows[list[0]]))}
		p.groups = append(p.groups, g)
		for _, i := range list {
			p.put(i, len(p.groups)-1)
		}
	}
}

// put adds row i to group b.
func (p *partition) put(i, b int) {
	g := &p.groups[b]
	g.rows = append(g.rows, i)
	p.of[i] = b
	for d, x := range p.rows[i] {
		g.sum[d] += x
	}
	g.length = norm(g.sum)
}

// take removes row i from its group.
func (p *partition) take(i int) {
	g := &p.groups[p.of[i]]
	g.rows = slices.DeleteFunc(g.rows, func(r int) bool { return r == i })
	for d, x := range p.rows[i] {
		g.sum[d] -= x
	}
	g.length = norm(g.sum)
}

// ward merges the rows of members, bottom up, until k groups are left or none can be
// merged without more than p.most rows. Each time it merges the two whose merging adds
// least to the squared distances from the mean (Ward 1963).
func (p *partition) ward(members []int, k int) [][]int {
	n := len(members)
	lists := make([][]int, n)
	cost := make([]float32, n*n) // what merging a and b adds; infinite where too large
	for a := range n {
		lists[a] = []int{members[a]}
		for b := range a {
			c := 1 - dot(p.rows[members[a]], p.rows[members[b]])
			cost[a*n+b], cost[b*n+a] = c, c
		}
	}
	inf := float32(math.Inf(1))
	best := make([]int, n) // cheapest partner of each
	find := func(a int) {
		best[a] = -1
		least := inf
		for b := range n {
			if b != a && lists[b] != nil && cost[a*n+b] < least {
				best[a], least = b, cost[a*n+b]
			}
		}
	}
	for a := range n {
		find(a)
	}
	for left := n; left > k; left-- {
		a := -1
		for b := range n {
			if lists[b] != nil && best[b] >= 0 && (a < 0 || cost[b*n+best[b]] < cost[a*n+best[a]]) {
				a = b
			}
		}
		if a < 0 {
			break
		}
		b := best[a]
		p.link(lists, cost, a, b)
		for c := range n {
			if lists[c] != nil && (c == a || best[c] == a || best[c] == b) {
				find(c)
			} else if lists[c] != nil && best[c] >= 0 && cost[c*n+a] < cost[c*n+best[c]] {
				best[c] = a
			}
		}
	}
	return slices.DeleteFunc(lists, func(list []int) bool { return list == nil })
}

// link merges b into a and updates the costs by the formula of Lance and Williams.
func (p *partition) link(lists [][]int, cost []float32, a, b int) {
	n := len(lists)
	na, nb := len(lists[a]), len(lists[b])
	for c := range n {
		if c == a || c == b || lists[c] == nil {
			continue
		}
		nc := len(lists[c])
		merged := float32(math.Inf(1))
		if na+nb+nc <= p.most {
			merged = (float32(float32(na+nc)*cost[a*n+c]) + float32(float32(nb+nc)*cost[b*n+c]) - float32(float32(nc)*cost[a*n+b])) / float32(na+nb+nc)
		}
		cost[a*n+c], cost[c*n+a] = merged, merged
	}
	lists[a] = append(lists[a], lists[b]...)
	lists[b] = nil
}

// even makes the groups at most k and their sizes right: it dissolves the smallest while
// there are too many, or while it is too small and others will do, and fills the other
// small ones.
func (p *partition) even(k int) {
	for {
		small, count, room := -1, 0, 0
		for b := range p.groups {
			n := len(p.groups[b].rows)
			if n == 0 {
				continue
			}
			count++
			room += p.most - n
			if small < 0 || n < len(p.groups[small].rows) {
				small = b
			}
		}
		n := len(p.groups[small].rows)
		dissolve := count > k || n < p.least && count > p.fewest
		if !dissolve || room-(p.most-n) < n {
			break
		}
		for _, i := range slices.Clone(p.groups[small].rows) {
			to := p.best(i, small)
			if to < 0 {
				to = p.anywhere(i, small)
			}
			p.take(i)
			p.put(i, to)
		}
	}
	for b := range p.groups {
		for n := len(p.groups[b].rows); n > 0 && n < p.least; n++ {
			i := p.spare(b)
			if i < 0 {
				return
			}
			p.take(i)
			p.put(i, b)
		}
	}
}

// spare returns the row that changes to group b at the least cost, of the groups that have
// more than they need; -1 if none has.
func (p *partition) spare(b int) int {
	row, most := -1, math.Inf(-1)
	for i, from := range p.of {
		if from == b || len(p.groups[from].rows) <= p.least {
			continue
		}
		if gain := p.gain(i, b) - p.loss(i); gain > most {
			row, most = i, gain
		}
	}
	return row
}

// best returns the group near row i, other than not, with room and most to gain; -1 if
// there is none.
func (p *partition) best(i, not int) int {
	to, most := -1, math.Inf(-1)
	p.each(i, func(b int) {
		if b == not || len(p.groups[b].rows) == 0 || len(p.groups[b].rows) >= p.most {
			return
		}
		if gain := p.gain(i, b); gain > most {
			to, most = b, gain
		}
	})
	return to
}

// anywhere is best over all groups.
func (p *partition) anywhere(i, not int) int {
	near := p.near
	p.near = nil
	to := p.best(i, not)
	p.near = near
	return to
}

// each calls f with each group that row i may go to.
func (p *partition) each(i int, f func(b int)) {
	if p.near == nil {
		for b := range p.groups {
			f(b)
		}
		return
	}
	for _, r := range p.near[i] {
		for _, b := range p.region[r] {
			f(b)
		}
	}
}

// gain is what the length of group b grows by with row i.
func (p *partition) gain(i, b int) float64 {
	g := &p.groups[b]
	return math.Sqrt(max(0, float64(g.length*g.length)+2*float64(dot(g.sum, p.rows[i]))+1)) - g.length
}

// loss is what the length of the group of row i shrinks by without it.
func (p *partition) loss(i int) float64 {
	g := &p.groups[p.of[i]]
	return g.length - math.Sqrt(max(0, float64(g.length*g.length)-2*float64(dot(g.sum, p.rows[i]))+1))
}

// improve moves every row once to the group that gains most, or exchanges it with a row of
// a group that is full, and reports whether any moved.
func (p *partition) improve() bool {
	const enough = 1e-4 // gains below may be rounding and would go round in circles
	moved := false
	for i := range p.rows {
		from := p.of[i]
		loss := p.loss(i)
		to, other, most := -1, -1, enough
		p.each(i, func(b int) {
			g := &p.groups[b]
			if b == from || len(g.rows) == 0 {
				return
			}
			gain := p.gain(i, b) - loss
			if gain <= most-1 { // an exchange gains less than 1 more
				return
			}
			if len(g.rows) < p.most && len(p.groups[from].rows) > p.least {
				if gain > most {
					to, other, most = b, -1, gain
				}
				return
			}
			if gain < -0.1 {
				return
			}
			for _, j := range g.rows {
				if gain := p.exchange(i, j); gain > most {
					to, other, most = b, j, gain
				}
			}
		})
		if to < 0 {
			continue
		}
		moved = true
		p.take(i)
		if other >= 0 {
			p.take(other)
			p.put(other, from)
		}
		p.put(i, to)
	}
	return moved
}

// exchange is what the lengths of both groups grow by when rows i and j change places.
func (p *partition) exchange(i, j int) float64 {
	a, b := &p.groups[p.of[i]], &p.groups[p.of[j]]
	x, y := p.rows[i], p.rows[j]
	both := 2 - 2*float64(dot(x, y))
	// |a − x + y|² = |a|² − 2a·x + 2a·y + |x − y|²
	after := func(g *group, out, in []float32) float64 {
		return math.Sqrt(max(0, float64(g.length*g.length)-2*float64(dot(g.sum, out))+2*float64(dot(g.sum, in))+both))
	}
	return after(a, x, y) - a.length + after(b, y, x) - b.length
}

// compact removes the groups without rows and puts groups and rows in order.
func (p *partition) compact() {
	order := make([]int, 0, len(p.groups)) // new place → old
	for b := range p.groups {
		if len(p.groups[b].rows) > 0 {
			slices.Sort(p.groups[b].rows)
			order = append(order, b)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return p.groups[a].rows[0] - p.groups[b].rows[0] })
	groups := make([]group, len(order))
	place := make([]int, len(p.groups))
	for b := range place {
		place[b] = -1
	}
	for to, from := range order {
		groups[to] = p.groups[from]
		place[from] = to
		for _, i := range groups[to].rows {
			p.of[i] = to
		}
	}
	p.groups = groups
	for r, list := range p.region {
		kept := list[:0]
		for _, b := range list {
			if place[b] >= 0 {
				kept = append(kept, place[b])
			}
		}
		p.region[r] = kept
	}
}

// affinity is the cosine of row i with the mean of group b, its own left out.
func (p *partition) affinity(i, b int) float64 {
	g := &p.groups[b]
	d, n := float64(dot(g.sum, p.rows[i])), g.length*g.length
	if p.of[i] == b {
		n += 1 - 2*d
		d--
	}
	if n < 1e-6 {
		return 0
	}
	return d / math.Sqrt(n)
}
