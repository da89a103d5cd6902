package router

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"skillrouter/index"
)

// Rank ranks the skills of all domains for an utterance, whatever the domains
// score: at most n, best first, those named outright before the others, no
// manual ones but these. Only skills exist that allow approves of; nil means
// all. It is how a catalog without layers would be searched; with more than
// 1,000 skills it costs more than Route, which looks at the nearest domains.
// It fails where the embedder gives no vector, and when ctx ends.
func (r *Router) Rank(ctx context.Context, utterance string, n int, allow func(name string) bool) ([]Candidate, error) {
	s := r.current.Load()
	a := &asker{allow: s.mask(allow)}
	route := &Route{Utterance: utterance, snapshot: s, allow: a.allow, named: s.direct(utterance, a)}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q := index.Query{Utterance: utterance, Allow: a.allow, Without: s.opts.Without, All: true}
	if s.opts.Without&index.Semantic == 0 && len(route.named) == 0 { // as a route does
		clipped, _ := clip(utterance)
		buffer, err := r.embedder.vector(ctx, clipped, s.ix.Dim())
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		case buffer == nil:
			return nil, errors.New("router: the embedder failed just now and is left alone for a while")
		}
		defer r.embedder.put(buffer)
		q.Vector = *buffer
	}
	scores := s.ix.Score(&q)
	defer scores.Release()
	route.rank(scores, max(n, 0))
	return route.Candidates, nil
}

// rank fills Candidates with at most n skills.
func (r *Route) rank(scores *index.Scores, n int) {
	ix := r.snapshot.ix
	ranked := slices.Clone(scores.Skills)
	if n > len(ranked) { // the index ranks no more: the rest by evidence
		seen := make(map[int32]bool, len(ranked))
		for _, x := range ranked {
			seen[x.Skill] = true
		}
		first := len(ranked)
		for i := range ix.Skills() {
			i := int32(i)
			if !seen[i] && !ix.Skills()[i].Summary.Manual && (r.allow == nil || r.allow[i]) {
				ranked = append(ranked, index.SkillScore{Skill: i, Evidence: scores.Evidence(i)})
			}
		}
		slices.SortStableFunc(ranked[first:], func(a, b index.SkillScore) int { return cmp.Compare(b.Evidence, a.Evidence) })
	}
	named := make([]index.SkillScore, 0, len(r.named)+len(ranked))
	for _, i := range r.named {
		x := index.SkillScore{Skill: i}
		if at := slices.IndexFunc(ranked, func(x index.SkillScore) bool { return x.Skill == i }); at >= 0 {
			x = ranked[at]
		}
		named = append(named, x)
	}
	ranked = slices.DeleteFunc(ranked, func(x index.SkillScore) bool { return slices.Contains(r.named, x.Skill) })
	for i, x := range append(named, ranked...) {
		if i == n {
			break
		}
		r.candidate(scores, x, i < len(named))
	}
}
