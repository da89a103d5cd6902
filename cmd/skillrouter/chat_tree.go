package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"skillrouter/router"
)

// A look is what is in the prompt at one moment.
type look struct {
	state  router.State
	skills []string // with a summary in it
	flat   bool     // that is all of them
	tokens router.Tokens
}

// look looks at the session after a route, or nil after a command.
func (ch *chat) look(ctx context.Context, r *router.Route) (look, error) {
	var now look
	var err error
	if now.state, err = ch.s.State(ctx); err != nil {
		return now, err
	}
	if now.tokens, err = ch.s.Tokens(ctx); err != nil {
		return now, err
	}
	switch {
	case ch.blank.Flat: // then a state does not repeat the whole catalog
		now.flat = true
		for _, m := range cmp.Or(r, ch.blank).Summaries {
			if r != nil || !slices.Contains(now.state.LeftOut, m.Skill) {
				now.skills = append(now.skills, m.Skill)
			}
		}
	default:
		now.skills = now.state.Skills
	}
	return now, nil
}

// equal tells whether the same is in the prompt.
func (l *look) equal(before *look) bool {
	return slices.Equal(l.skills, before.skills) && slices.Equal(l.state.Loaded, before.state.Loaded) && l.tokens == before.tokens
}

// How something stands in the prompt beside what was there before.
const (
	fresh = "+"
	kept  = "="
	gone  = "-"
)

// A branch is skills of one domain.
type branch struct {
	domain string
	shown  int // skills of the domain that stand in the prompt, for this or another
	size   int // all of them
	leaves []leaf
}

// A leaf is one skill.
type leaf struct{ mark, name string }

// How much of a tree is shown folded.
const (
	shownFresh    = 4 // new skills of a domain, each with its summary
	shownBranches = 6
)

// tree shows what is in the prompt, layer by layer. r is the route of the turn,
// nil after a command.
func (ch *chat) tree(now *look, r *router.Route, all bool) {
	nDomains := 0
	for i := range ch.c.Index().Domains() {
		if ch.members(i) > 0 {
			nDomains++
		}
	}
	index := plural(nDomains, "domain")
	if now.flat {
		index = "none"
	}
	ch.layer(router.Domains, index, nil, now.tokens.Index, now.tokens.Estimated)

	branches, counts := ch.branches(now, r)
	what := "none"
	switch {
	case now.flat:
		what = fmt.Sprintf("%s, flat", plural(len(now.skills), "skill"))
	case len(now.skills) > 0:
		what = fmt.Sprintf("%s in %s", plural(len(now.skills), "skill"), plural(len(now.state.Domains), "domain"))
	}
	ch.layer(router.Summaries, what, counts, now.tokens.Summaries, now.tokens.Estimated)
	switch {
	case now.flat && counts[fresh]+counts[gone] == 0 && !all: // always the same list
	default:
		ch.branchLines(branches, now, r, all)
	}
	if r != nil && len(r.Lines) > 0 {
		ch.a.fill("     ", "     ", "also matching, by their line only: "+strings.Join(r.Lines, ", "))
	}

	leaves, counts := ch.definitions(now, r)
	what = "none"
	if n := len(now.state.Loaded); n > 0 {
		what = fmt.Sprintf("%d loaded", n)
	}
	ch.layer(router.Definitions, what, counts, now.tokens.Definitions, now.tokens.Estimated)
	for _, mark := range []string{fresh, kept, gone} {
		ch.names(mark, marked(leaves, mark), all)
	}
	ch.total(now)
}

// layer writes the head of a layer: how much of it is there, and what it costs.
func (ch *chat) layer(l router.Layer, what string, counts map[string]int, tokens int, estimated bool) {
	marks, wide := "", 0
	for _, mark := range []string{fresh, kept, gone} {
		if n := counts[mark]; n > 0 {
			note := fmt.Sprintf(" %s%d", mark, n)
			marks += ch.paint(colourOf(mark), note)
			wide += columns(note)
		}
	}
	pad := strings.Repeat(" ", max(1, 40-columns(what)-wide))
	name := l.String()
	if l == router.Domains {
		name = "index" // what the prompt holds of them
	}
	fmt.Fprintf(ch.a.out, "   %d %-12s %s%s%s%7s tokens\n", l, name, what, marks, pad, about(tokens, estimated))
}

// about writes a number of tokens.
func about(tokens int, estimated bool) string {
	if estimated && tokens > 0 {
		return fmt.Sprintf("~%d", tokens)
	}
	return fmt.Sprint(tokens)
}

// total compares what is in the prompt with the summaries of all skills and the
// same definitions.
func (ch *chat) total(now *look) {
	total, flat := now.tokens.Total(), ch.flat+now.tokens.Definitions
	what := "as much as flat"
	switch {
	case now.flat:
		what = "all summaries"
	case flat == 0:
		what = "no skill to show"
	case total < flat:
		what = fmt.Sprintf("%.0f %% less than ~%d flat", 100*(1-float64(total)/float64(flat)), flat)
	case total > flat:
		what = fmt.Sprintf("more than ~%d flat", flat)
	}
	line := fmt.Sprintf("     %-12s %-40s%7s tokens", "total", what, about(total, now.tokens.Estimated))
	fmt.Fprintln(ch.a.out, ch.paint(bold, line))
}

// members counts the skills of a domain that exist here.
func (ch *chat) members(domain int) int {
	ix, allow, n := ch.c.Index(), ch.a.set.allow(), 0
	for _, i := range ix.Members(int32(domain)) {
		if allow == nil || allow(ix.Skills()[i].Name) {
			n++
		}
	}
	return n
}

// branches groups the skills with summaries by domain, those that went last,
// and counts them by their marks.
func (ch *chat) branches(now *look, r *router.Route) ([]branch, map[string]int) {
	order := slices.Clone(now.state.Domains)
	for _, name := range ch.before.state.Domains {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	if now.flat {
		for _, d := range ch.c.Index().Domains() {
			order = append(order, d.Name)
		}
	}
	branches := make([]branch, len(order), len(order)+1)
	for i, name := range order {
		branches[i].domain = name
		if d, ok := ch.c.Index().LookupDomain(name); ok {
			branches[i].size = ch.members(int(d))
			for _, skill := range now.skills {
				if i < len(now.state.Domains) && ch.isIn(skill, name) {
					branches[i].shown++
				}
			}
		}
	}
	branches = append(branches, branch{}) // of no domain that was visible
	counts := map[string]int{}
	add := func(mark, name string, in *branch) {
		in.leaves = append(in.leaves, leaf{mark, name})
		counts[mark]++
	}
	of := func(name string, among []branch) *branch {
		if i := slices.IndexFunc(among, func(b branch) bool { return ch.isIn(name, b.domain) }); i >= 0 {
			return &among[i]
		}
		return &branches[len(branches)-1]
	}
	for _, name := range now.skills {
		b := of(name, branches)
		add(ch.mark(name, b.domain, now, r), name, b)
	}
	for _, name := range ch.before.skills {
		if slices.Contains(now.skills, name) {
			continue
		}
		b := of(name, branches[len(now.state.Domains):]) // of a domain that went, if it can be
		if b.domain == "" {
			b = of(name, branches)
		}
		add(gone, name, b)
	}
	return slices.DeleteFunc(branches, func(b branch) bool { return len(b.leaves) == 0 }), counts
}

func (ch *chat) isIn(skill, domain string) bool {
	ix := ch.c.Index()
	i, ok := ix.Lookup(skill)
	d, known := ix.LookupDomain(domain)
	return ok && known && slices.Contains(ix.DomainsOf(i), d)
}

// mark tells how a summary stands in the prompt. As the caches do, it goes by
// domains: a summary that stood there for another domain is new.
func (ch *chat) mark(name, domain string, now *look, r *router.Route) string {
	stood := slices.Contains(ch.before.skills, name)
	isKept := stood && slices.Contains(ch.before.state.Domains, domain)
	switch {
	case now.flat:
		isKept = stood
	case r == nil: // a state does not tell what a cache served
		isKept = isKept || slices.Contains(ch.before.state.Alive, domain)
	case r.Outcome == router.Direct: // the definition may be what is new
		isKept = isKept || !slices.Contains(r.New, name)
	default:
		isKept = !slices.Contains(r.New, name)
	}
	if isKept {
		return kept
	}
	return fresh
}

// definitions lists those in the prompt, and those that went.
func (ch *chat) definitions(now *look, r *router.Route) (leaves []leaf, counts map[string]int) {
	counts = map[string]int{}
	add := func(mark, name string) {
		leaves = append(leaves, leaf{mark, name})
		counts[mark]++
	}
	for _, name := range now.state.Loaded {
		if slices.Contains(ch.before.state.Loaded, name) || r != nil && r.Outcome == router.Direct && slices.Contains(r.Hits, name) {
			add(kept, name)
		} else {
			add(fresh, name)
		}
	}
	for _, name := range ch.before.state.Loaded {
		if !slices.Contains(now.state.Loaded, name) {
			add(gone, name)
		}
	}
	return leaves, counts
}

func marked(leaves []leaf, mark string) []string {
	var names []string
	for _, l := range leaves {
		if l.mark == mark {
			names = append(names, l.name)
		}
	}
	return names
}

// branchLines writes the skills of layer 2: what is new with its summary, what
// stayed or went by its name.
func (ch *chat) branchLines(branches []branch, now *look, r *router.Route, all bool) {
	most := len(branches)
	if !all {
		most = min(most, shownBranches)
	}
	told := func(b branch) []leaf { // with their summaries
		switch {
		case all:
			return slices.DeleteFunc(slices.Clone(b.leaves), func(l leaf) bool { return l.mark == gone })
		case now.flat:
			return nil
		}
		new := slices.DeleteFunc(slices.Clone(b.leaves), func(l leaf) bool { return l.mark != fresh })
		if len(new) > shownFresh+1 { // one more takes no more room than telling so
			new = new[:shownFresh]
		}
		return new
	}
	wide := 0
	for _, b := range branches[:most] {
		for _, l := range told(b) {
			wide = max(wide, columns(clean(l.name)))
		}
	}
	for _, b := range branches[:most] {
		fmt.Fprintf(ch.a.out, "     %s\n", ch.paint(dim, ch.fit(b.head(r), 5)))
		shown := told(b)
		for _, l := range shown {
			ch.summary(l, wide)
		}
		switch more := len(marked(b.leaves, fresh)) - len(shown); {
		case all:
		case now.flat:
			ch.names(fresh, marked(b.leaves, fresh), all)
		case more > 0:
			fmt.Fprintf(ch.a.out, "       and %d more\n", more)
		}
		if !all {
			ch.names(kept, marked(b.leaves, kept), all)
		}
		ch.names(gone, marked(b.leaves, gone), false)
	}
	if more := len(branches) - most; more > 0 {
		fmt.Fprintf(ch.a.out, "     and %s\n", plural(more, "more domain"))
	}
}

// head names the domain, and how much of it is shown.
func (b *branch) head(r *router.Route) string {
	if b.domain == "" {
		return "no domain"
	}
	head := clean(b.domain)
	if b.shown > 0 && b.shown < b.size {
		head += fmt.Sprintf(", %d of %d", b.shown, b.size)
	}
	if r != nil && slices.ContainsFunc(r.Domains, func(d router.Domain) bool { return d.Name == b.domain && d.Fallback }) {
		head += " (fallback)"
	}
	return head
}

// summary writes a skill with its summary; wide is the room for names.
func (ch *chat) summary(l leaf, wide int) {
	ix, what := ch.c.Index(), ""
	if i, ok := ix.Lookup(l.name); ok {
		what = clean(ix.Skills()[i].Summary.Text)
	}
	name := clean(l.name)
	pad := strings.Repeat(" ", max(0, wide-columns(name)))
	fmt.Fprintf(ch.a.out, "     %s%s  %s\n", ch.paint(colourOf(l.mark), l.mark+" "+name), pad, ch.fit(what, 9+wide))
}

// names writes skills by their names, as many as a line holds or each in one.
func (ch *chat) names(mark string, names []string, all bool) {
	switch {
	case len(names) == 0:
		return
	case all:
		for _, name := range names {
			fmt.Fprintf(ch.a.out, "     %s\n", ch.paint(colourOf(mark), mark+" "+clean(name)))
		}
		return
	}
	wide := ch.a.width()
	if wide == 0 {
		wide = defaultWidth
	}
	line, rest := "     "+mark+" "+clean(names[0]), len(names)-1
	const room = len(" and 1000 more")
	for _, name := range names[1:] {
		name = ", " + clean(name)
		spare := room
		if rest == 1 {
			spare = 0
		}
		if columns(line)+columns(name)+spare > wide {
			break
		}
		line += name
		rest--
	}
	if rest > 0 {
		line += fmt.Sprintf(" and %d more", rest)
	}
	fmt.Fprintln(ch.a.out, ch.paint(colourOf(mark), line))
}

// fit cuts s to what a line of the terminal holds after used columns.
func (ch *chat) fit(s string, used int) string {
	if w := ch.a.width(); w > 0 {
		return cut(s, w-used)
	}
	return s
}

// How a terminal shows things.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
	cyan  = "36"
)

func colourOf(mark string) string {
	return map[string]string{fresh: green, kept: cyan, gone: red}[mark]
}

// paint makes s stand out on a terminal.
func (ch *chat) paint(colour, s string) string {
	if !ch.colour || colour == "" || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}
