package router

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// maxCandidates bounds Route.Candidates.
const maxCandidates = 25

// Shares of the threshold: from nearShare on, the best domain, though it did not
// match, is worth asking about; from alsoShare on, the others are named with it.
const (
	nearShare = 0.6
	alsoShare = 0.3
)

// closeShare is the share of the best score from which the second is close.
const closeShare = 0.5

// mostNear is how many domains a question or a line about the nearest names.
const mostNear = 3

// An asker is what a route depends on beside the utterance.
type asker struct {
	allow    []bool  // by skill; nil means all
	skills   []int32 // left out
	domains  []int32 // left out
	unread   []int32 // not to be named: their definitions cannot be read
	sticky   []kept  // what to keep if nothing matches
	lines    []string
	fallback bool      // what to keep is of fallback domains
	loaded   bool      // a definition is in the prompt, to keep too
	task     []int32   // domains of the definitions in the prompt
	asked    bool      // a question was asked already
	session  bool      // there is a next turn to remember for
	topics   []topic   // what the dialogue is about
	last     []float32 // by domain: how likely it was after the turn before; nil: nothing is known
	before   []float32 // by domain: how likely it is before the utterance
}

// keeps tells whether something is in the prompt that a follow-up would keep.
func (a *asker) keeps() bool { return len(a.sticky) > 0 || a.loaded }

// kept is what was visible of a domain.
type kept struct {
	domain int32
	skills []int32
	more   int
}

// answer decides and reads the definitions that the utterance asks for.
func (r *Router) answer(ctx context.Context, s *snapshot, utterance string, a *asker) (*Route, error) {
	for {
		route, err := r.match(ctx, s, utterance, a)
		if err != nil || route.Outcome != Direct || r.read(route, a) {
			return route, err
		}
		// As if they had not been named.
	}
}

// read reads the definitions of the skills that a direct route names and keeps
// only those that can be read; it tells whether one can. a knows the others.
func (r *Router) read(route *Route, a *asker) bool {
	ix := route.snapshot.ix
	readable := route.named[:0]
	for _, i := range route.named {
		d, err := ix.Get(ix.Skills()[i].Name)
		if err != nil {
			r.log.Warn("a skill that was named cannot be read", "skill", ix.Skills()[i].Name, "error", err)
			a.unread = append(a.unread, i)
			continue
		}
		readable = append(readable, i)
		route.Loaded = append(route.Loaded, d)
	}
	route.named = readable
	return len(readable) > 0
}

// match decides. Blank and direct utterances cost no embedding.
func (r *Router) match(ctx context.Context, s *snapshot, utterance string, a *asker) (*Route, error) {
	route, scores, err := r.score(ctx, s, utterance, a)
	if err != nil || scores == nil {
		return route, err
	}
	defer scores.Release()
	route.decide(scores, a)
	switch {
	case !a.session || s.opts.Alone:
	case saysNothing(utterance):
		route.topics = a.topics
	default:
		route.topics = topicsOf(s.ix, scores, a.topics, a.last)
	}
	return route, nil
}

// score returns a route that is still to be decided, and its scores, which the
// caller releases; no scores for a blank utterance, whose route is whole.
func (r *Router) score(ctx context.Context, s *snapshot, utterance string, a *asker) (*Route, *index.Scores, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	route := &Route{Utterance: utterance, Threshold: s.opts.Threshold, Flat: s.flat, snapshot: s, allow: a.allow}
	if text.Words(utterance) == 0 {
		route.Outcome = Empty
		route.keep(a)
		return route, nil, nil
	}
	route.named = s.direct(utterance, a)
	var vector []float32
	if s.opts.Without&index.Semantic == 0 && len(route.named) == 0 {
		clipped, cut := clip(utterance)
		route.Clipped = cut
		buffer, err := r.embedder.vector(ctx, clipped, s.ix.Dim())
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err != nil {
			r.log.Warn("embedding failed, routing by words", "embedder", r.embedder.ID(), "error", err)
		}
		if buffer == nil {
			route.Degraded = true
		} else {
			vector = *buffer
			defer r.embedder.put(buffer)
		}
	}
	q := index.Query{Utterance: utterance, Vector: vector, Allow: a.allow, Without: s.opts.Without, Last: a.before}
	return route, s.ix.Score(&q), nil
}

// decide sets the outcome and what is shown.
func (r *Route) decide(scores *index.Scores, a *asker) {
	s := r.snapshot
	ix := s.ix
	r.candidates(scores, a)
	r.Domains = make([]Domain, len(scores.Domains))
	matched := 0
	for i, d := range scores.Domains {
		excluded := r.excluded(d.Domain, a)
		r.Domains[i] = Domain{
			Name: ix.Domains()[d.Domain].Name, Score: d.Score, Evidence: d.Evidence, Margin: d.Margin, Context: d.Context, Excluded: excluded,
			// As float32, in which a score that equals the threshold is equal.
			Matched: !excluded && d.Score >= float32(r.Threshold) && matched < s.opts.MaxDomains,
		}
		if r.Domains[i].Matched {
			matched++
		}
	}
	pair := matched == 0 && s.opts.MaxDomains > 1 && r.pair()
	if pair {
		matched = 2
	}
	switch {
	case len(r.named) > 0:
		r.Outcome = Direct
		for i, d := range scores.Domains {
			r.Domains[i].Matched = slices.ContainsFunc(r.named, func(x int32) bool {
				return slices.Contains(s.domainsOf(x), d.Domain)
			})
		}
		if r.Flat {
			r.showAll(a)
		}
		return
	case matched > 0 && !r.followsUp(scores, a):
		switch {
		case pair:
			r.Outcome = Pair
		case matched > 1:
			r.Outcome = Several
		default:
			r.Outcome = One
		}
	case a.keeps() || r.Flat && a.topics != nil && saysNothing(r.Utterance):
		r.Outcome = Sticky
		r.keep(a)
		return
	default:
		r.miss(scores, a)
		return
	}
	if r.Flat {
		r.showAll(a)
		return
	}
	for i, d := range scores.Domains {
		if r.Domains[i].Matched {
			r.show(d.Domain, scores, a)
		}
	}
}

// pair lets the best two domains match if one of them is likely enough to be
// right, and tells whether it did.
func (r *Route) pair() bool {
	one, two := r.best()
	if two == nil || two.Score < closeShare*one.Score || one.Score+two.Score < float32(r.Threshold) {
		return false
	}
	one.Matched, two.Matched = true, true
	return true
}

// best returns the best two domains that were not tried in vain; nil where there
// are fewer.
func (r *Route) best() (one, two *Domain) {
	for i := range r.Domains {
		switch d := &r.Domains[i]; {
		case d.Excluded:
		case one == nil:
			one = d
		default:
			return one, d
		}
	}
	return one, nil
}

// Reach returns the highest threshold at which the utterance matches a domain:
// the best score or, since one utterance seldom means both, the sum of the best
// two if they are close and two may match; at most 1. Where a skill is named
// outright it is 1, without a domain 0.
func (r *Route) Reach() float32 {
	if r.Outcome == Direct {
		return 1
	}
	one, two := r.best()
	switch {
	case one == nil:
		return 0
	case two == nil || r.snapshot.opts.MaxDomains < 2 || two.Score < closeShare*one.Score:
		return one.Score
	default:
		return min(1, one.Score+two.Score)
	}
}

// excluded tells whether a domain, or each skill of it, was tried in vain.
func (r *Route) excluded(domain int32, a *asker) bool {
	return slices.Contains(a.domains, domain) || len(a.skills) > 0 &&
		!slices.ContainsFunc(r.snapshot.ix.Members(domain), func(i int32) bool { return r.visible(i, a) })
}

// followsUp tells whether nothing new was asked for: the utterance says
// nothing, or the domains that match do so only because of what came before
// and are in the prompt already. A "yes" where a question was asked and nothing
// is in the prompt answers the question.
func (r *Route) followsUp(scores *index.Scores, a *asker) bool {
	if a.session && a.topics != nil && saysNothing(r.Utterance) {
		return a.keeps() || !a.asked
	}
	if a.last == nil {
		return false
	}
	for i, d := range scores.Domains {
		if r.Domains[i].Matched && (d.Alone >= float32(r.Threshold) || !slices.Contains(a.task, d.Domain) &&
			!slices.ContainsFunc(a.sticky, func(k kept) bool { return k.domain == d.Domain })) {
			return false
		}
	}
	return true
}

// miss is what happens when nothing matched: ask once if something is near,
// then show the fallback domains; name the nearest. What "thanks" is near to
// by chance is no question, unless the dialogue makes it likely.
func (r *Route) miss(scores *index.Scores, a *asker) {
	ix := r.snapshot.ix
	r.Outcome = None
	for i := range r.Domains {
		r.Domains[i].Matched = false // what matches says nothing, see followsUp
	}
	r.nearest = r.Domains
	if slices.ContainsFunc(r.Domains, func(d Domain) bool { return d.Excluded }) {
		r.nearest = slices.DeleteFunc(slices.Clone(r.Domains), func(d Domain) bool { return d.Excluded })
	}
	r.nearest = r.nearest[:min(mostNear, len(r.nearest))]
	if len(r.nearest) > 0 && r.nearest[0].Score >= float32(nearShare*r.Threshold) && !a.asked && (a.last != nil || !saysNothing(r.Utterance)) {
		r.Outcome = Clarify
		for _, d := range r.nearest {
			if d.Score >= float32(alsoShare*r.Threshold) {
				r.near++
			}
		}
	}
	if r.Flat {
		r.showAll(a)
		return
	}
	if r.Outcome == Clarify {
		return
	}
	for _, d := range r.snapshot.fallback {
		if r.excluded(d, a) {
			continue
		}
		r.show(d, scores, a)
		r.fallback = true
		for i := range r.Domains {
			if r.Domains[i].Name == ix.Domains()[d].Name {
				r.Domains[i].Fallback = true
			}
		}
	}
}

// candidates copies the ranking of skills; those named outright go first.
func (r *Route) candidates(scores *index.Scores, a *asker) {
	r.Candidates = make([]Candidate, 0, min(maxCandidates, len(r.named)+len(scores.Skills)))
	for _, i := range r.named {
		x := index.SkillScore{Skill: i} // stays so if the skill is manual
		if at := slices.IndexFunc(scores.Skills, func(x index.SkillScore) bool { return x.Skill == i }); at >= 0 {
			x = scores.Skills[at]
		}
		r.candidate(scores, x, true)
	}
	for _, x := range scores.Skills {
		if len(r.Candidates) == maxCandidates {
			break
		}
		if !slices.Contains(r.named, x.Skill) && !slices.Contains(a.skills, x.Skill) {
			r.candidate(scores, x, false)
		}
	}
}

func (r *Route) candidate(scores *index.Scores, x index.SkillScore, named bool) {
	ix := r.snapshot.ix
	c := Candidate{
		Name: ix.Skills()[x.Skill].Name, Evidence: x.Evidence, Similarity: x.Similarity, Lexical: x.Lexical, Phrase: x.Phrase, Against: x.Against, Named: named,
	}
	of := r.snapshot.domainsOf(x.Skill)
	if len(of) > 0 {
		c.Domain = ix.Domains()[of[0]].Name
	}
	for _, d := range scores.Domains { // best first: the first that holds it
		if slices.Contains(of, d.Domain) {
			c.Domain = ix.Domains()[d.Domain].Name
			break
		}
	}
	r.Candidates = append(r.Candidates, c)
}

// choose shows one domain, whose skills nobody scored: in catalog order.
func (r *Route) choose(domain int32, a *asker) {
	r.Domains = []Domain{{Name: r.snapshot.ix.Domains()[domain].Name, Matched: true}}
	if r.Flat {
		r.showAll(a)
		return
	}
	r.show(domain, nil, a)
}

// show adds the summaries of a domain, without those shown already, best
// first. One that does not fit whole gives its line only; the first is always
// given, cut to its best.
func (r *Route) show(domain int32, scores *index.Scores, a *asker) {
	s := r.snapshot
	ix := s.ix
	fresh := make([]int32, 0, len(ix.Members(domain)))
	for _, i := range ix.Members(domain) {
		if r.visible(i, a) && !r.holds(i) {
			fresh = append(fresh, i)
		}
	}
	room := s.opts.MaxSummaries - len(r.Summaries)
	if len(fresh) > room && len(r.Summaries) > 0 {
		r.Lines = append(r.Lines, ix.Domains()[domain].Name)
		return
	}
	if scores != nil {
		slices.SortFunc(fresh, func(i, j int32) int {
			return cmp.Or(cmp.Compare(scores.Evidence(j), scores.Evidence(i)), strings.Compare(ix.Skills()[i].Name, ix.Skills()[j].Name))
		})
	}
	more := max(0, len(fresh)-room)
	fresh = fresh[:len(fresh)-more]
	if len(fresh) == 0 {
		return
	}
	from := len(r.Summaries)
	r.Summaries = slices.Grow(r.Summaries, len(fresh))
	for _, i := range fresh {
		r.Summaries = append(r.Summaries, &ix.Skills()[i].Summary)
	}
	r.shown = append(r.shown, section{domain, from, len(r.Summaries), more})
}

func (r *Route) visible(skill int32, a *asker) bool {
	return (a.allow == nil || a.allow[skill]) && !slices.Contains(a.skills, skill)
}

func (r *Route) holds(skill int32) bool {
	m := &r.snapshot.ix.Skills()[skill].Summary
	return slices.Contains(r.Summaries, m)
}

// showAll shows every summary, in catalog order.
func (r *Route) showAll(a *asker) {
	skills := r.snapshot.ix.Skills()
	r.Summaries = make([]*summaries.Summary, 0, len(skills))
	for i := range skills {
		if m := &skills[i].Summary; !m.Manual && r.visible(int32(i), a) {
			r.Summaries = append(r.Summaries, m)
		}
	}
	r.shown = []section{{domain: -1, to: len(r.Summaries)}}
}

// keep shows what was visible before.
func (r *Route) keep(a *asker) {
	if r.Flat {
		r.showAll(a)
		return
	}
	for _, k := range a.sticky {
		from := len(r.Summaries)
		for _, i := range k.skills {
			if r.visible(i, a) && len(r.Summaries) < r.snapshot.opts.MaxSummaries {
				r.Summaries = append(r.Summaries, &r.snapshot.ix.Skills()[i].Summary)
			}
		}
		if len(r.Summaries) > from {
			r.shown = append(r.shown, section{k.domain, from, len(r.Summaries), k.more})
		}
	}
	r.Lines, r.fallback = a.lines, a.fallback
}
