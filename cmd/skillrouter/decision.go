package main

import (
	"skillrouter/router"
	"skillrouter/summaries"
)

// A decision is a route as --json writes it.
type decision struct {
	Utterance  string            `json:"utterance"`
	Outcome    router.Outcome    `json:"outcome"`
	Threshold  float64           `json:"threshold"`
	Matched    bool              `json:"matched"`
	Degraded   bool              `json:"degraded"`
	Clipped    bool              `json:"clipped"`
	Flat       bool              `json:"flat"`
	Domains    []domainScore     `json:"domains"`
	Candidates []candidate       `json:"candidates"`
	Summaries  []summary         `json:"summaries"`
	Lines      []string          `json:"lines"`
	Loaded     []string          `json:"loaded"`
	Question   string            `json:"question"`
	Nearest    []string          `json:"nearest"`
	Prompt     string            `json:"prompt"`
	Catalog    routedOver        `json:"catalog"`
	Explain    *decisionEvidence `json:"explain,omitempty"`
}

type domainScore struct {
	Name     string  `json:"name"`
	Score    float32 `json:"score"`
	Margin   float32 `json:"margin"`
	Matched  bool    `json:"matched"`
	Fallback bool    `json:"fallback"`
}

type candidate struct {
	Name       string  `json:"name"`
	Domain     string  `json:"domain"`
	Evidence   float32 `json:"evidence"`
	Similarity float32 `json:"similarity"`
	Lexical    float32 `json:"lexical"`
	Phrase     float32 `json:"phrase"`
	Against    float32 `json:"against"`
	Named      bool    `json:"named"`
}

// A summary is layer 2 of a skill, as verbs write it.
type summary struct {
	Skill       string   `json:"skill"`
	Text        string   `json:"text"`
	Triggers    []string `json:"triggers"`
	NotFor      string   `json:"not_for"`
	DiffersFrom string   `json:"differs_from"`
	Params      string   `json:"params"`
	FromSummary bool     `json:"from_summary"`
	Frequent    bool     `json:"frequent"`
	Manual      bool     `json:"manual"`
	Derived     bool     `json:"derived"`
}

func newSummary(m *summaries.Summary) summary {
	return summary{
		Skill: m.Skill, Text: m.Text, Triggers: orEmpty(m.Triggers), NotFor: m.NotFor, DiffersFrom: m.DiffersFrom,
		Params: m.Params, FromSummary: m.FromSummary, Frequent: m.Frequent, Manual: m.Manual, Derived: m.Derived,
	}
}

// routedOver says what a route was decided over: no figure without it.
type routedOver struct {
	Skills     int    `json:"skills"`
	Domains    int    `json:"domains"`
	Embedder   string `json:"embedder"`
	Generation uint64 `json:"generation"`
}

// decisionEvidence is what --explain adds.
type decisionEvidence struct {
	Rule     string              `json:"rule"`
	Keywords map[string][]string `json:"keywords"`  // by domain, those that stand in the utterance
	Triggers map[string][]string `json:"triggers"`  // the same by skill, of the candidates
	FittedOn int                 `json:"fitted_on"` // phrases of the catalog that scores are calibrated on; 0: a prior
}

func newDecision(c *catalog, r *router.Route, explain bool) *decision {
	ix := c.Index()
	d := &decision{
		Utterance: r.Utterance, Outcome: r.Outcome, Threshold: r.Threshold, Matched: r.Matched(),
		Degraded: r.Degraded, Clipped: r.Clipped, Flat: r.Flat,
		Domains: []domainScore{}, Candidates: []candidate{}, Summaries: []summary{},
		Lines: orEmpty(r.Lines), Loaded: []string{}, Nearest: orEmpty(r.Nearest()), Prompt: r.Prompt(),
		Catalog: routedOver{len(ix.Skills()), len(ix.Domains()), ix.EmbedderID(), c.Generation()},
	}
	for _, x := range r.Domains {
		d.Domains = append(d.Domains, domainScore{x.Name, x.Score, x.Margin, x.Matched, x.Fallback})
	}
	for _, x := range r.Candidates {
		d.Candidates = append(d.Candidates, candidate{x.Name, x.Domain, x.Evidence, x.Similarity, x.Lexical, x.Phrase, x.Against, x.Named})
	}
	for _, m := range r.Summaries {
		d.Summaries = append(d.Summaries, newSummary(m))
	}
	for _, s := range r.Loaded {
		d.Loaded = append(d.Loaded, s.Name)
	}
	d.Question, _ = r.Question()
	if explain {
		d.Explain = &decisionEvidence{rule(r), keywords(c, r), triggers(c, r), fittedOn(c, r)}
	}
	return d
}
