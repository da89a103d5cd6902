package router

import (
	"context"
	"slices"

	"skillrouter/index"
)

// Limits are the options that decide what comes of scores and do not change
// them. As in [Options] zero means the number that is in force, see
// [Router.InForce], and a negative one off.
type Limits struct {
	Threshold    float64
	MaxSummaries int
	MaxDomains   int
}

// RouteWithin routes one utterance as routers would that differ in nothing but
// limits: one route for each, in that order, with the scores of all made only
// once. It is for measuring what limits do; else it is as [Router.RouteFor].
// The error tells of limits that no router takes.
func (r *Router) RouteWithin(ctx context.Context, utterance string, limits []Limits, allow func(name string) bool) ([]*Route, error) {
	s := r.current.Load()
	others := make([]*snapshot, len(limits))
	for i := range limits {
		var err error
		if others[i], err = s.within(&limits[i]); err != nil {
			return nil, err
		}
	}
	a := &asker{allow: s.mask(allow)}
	routes := make([]*Route, len(limits))
	for {
		route, scores, err := r.score(ctx, s, utterance, a)
		if err != nil {
			return nil, err
		}
		again := false
		for i, other := range others {
			routes[i] = route.decided(other, scores, a)
			again = again || routes[i].Outcome == Direct && !r.read(routes[i], a)
		}
		if scores != nil {
			scores.Release()
		}
		if !again {
			return routes, nil
		}
		// As if they had not been named.
	}
}

// within is s with other limits.
func (s *snapshot) within(l *Limits) (*snapshot, error) {
	other := *s
	own := Options{Threshold: l.Threshold, MaxSummaries: l.MaxSummaries, MaxDomains: l.MaxDomains}.complete(s.ix.Routing())
	if l.Threshold != 0 {
		other.opts.Threshold = own.Threshold
	}
	if l.MaxSummaries != 0 {
		other.opts.MaxSummaries = own.MaxSummaries
	}
	if l.MaxDomains != 0 {
		other.opts.MaxDomains = own.MaxDomains
	}
	return &other, other.opts.check()
}

// decided is r, which is not decided yet, within the limits of s.
func (r *Route) decided(s *snapshot, scores *index.Scores, a *asker) *Route {
	route := *r
	route.snapshot, route.Threshold, route.named = s, s.opts.Threshold, slices.Clone(r.named)
	if scores != nil {
		route.decide(scores, a)
	}
	return &route
}
