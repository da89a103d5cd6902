package router

import (
	"skillrouter/index"
	"skillrouter/internal/text"
)

// A Trace explains a route: what its scores were made from, and which rule
// fired.
type Trace struct {
	Rule      Outcome
	Threshold float64
	Domains   []DomainTrace // as [Route].Domains
	Terms     []string      // of the utterance, in the form in which words are compared, each once
	Flat      bool
	Degraded  bool
	Clipped   bool

	Embedder       string // its ID
	CatalogSkills  int    // of the whole catalog, manual ones among them
	CatalogDomains int
	Generation     uint64 // see [Router.Generation]
	Fingerprint    string // see [index.Index.Fingerprint]
	Fitted         int    // phrases of the catalog that the scores were fitted on; 0: the prior that is built in
}

// A DomainTrace is a domain of a route and what stands for it in the utterance.
type DomainTrace struct {
	Domain
	Keywords []string // keywords of the domain that stand in the utterance
	Triggers []string // triggers of its skills that do, for those that exist for the asker
}

// Trace explains the route. It is worked out when it is called, from the index
// that the route was made on; routing pays nothing for it.
func (r *Route) Trace() Trace {
	ix := r.snapshot.ix
	t := Trace{
		Rule: r.Outcome, Threshold: r.Threshold, Domains: make([]DomainTrace, len(r.Domains)),
		Flat: r.Flat, Degraded: r.Degraded, Clipped: r.Clipped,
		Embedder: ix.EmbedderID(), CatalogSkills: len(ix.Skills()), CatalogDomains: len(ix.Domains()),
		Generation: r.snapshot.generation, Fingerprint: ix.Fingerprint(), Fitted: r.curve().Phrases,
	}
	seen := map[string]bool{}
	for _, term := range text.Terms(r.Utterance) {
		if !seen[term] {
			seen[term] = true
			t.Terms = append(t.Terms, term)
		}
	}
	places := make(map[int32]*DomainTrace, len(r.Domains))
	for i, d := range r.Domains {
		t.Domains[i].Domain = d
		if place, ok := ix.LookupDomain(d.Name); ok {
			places[place] = &t.Domains[i]
		}
	}
	for _, c := range ix.Contained(r.Utterance) {
		if c.Domain >= 0 {
			if d := places[c.Domain]; d != nil {
				d.Keywords = append(d.Keywords, c.Phrase)
			}
			continue
		}
		if r.allow != nil && !r.allow[c.Skill] {
			continue
		}
		for _, place := range ix.DomainsOf(c.Skill) {
			if d := places[place]; d != nil {
				d.Triggers = append(d.Triggers, c.Phrase)
			}
		}
	}
	return t
}

// curve is the map from evidence to scores that the route was made with.
func (r *Route) curve() *index.Curve {
	c := r.snapshot.ix.Calibration()
	without := r.snapshot.opts.Without
	switch {
	case r.Degraded || r.Outcome == Direct || without&index.Semantic != 0:
		return &c.Lexical
	case without&index.Lexical != 0:
		return &c.Semantic
	default:
		return &c.Full
	}
}
