package domains

import "skillrouter/summaries"

// A File is what one skillrouter.yaml says, or several merged. The zero File says nothing.
type File struct {
	Domains []FileDomain                  // in file order, distinct names
	Skills  map[string]summaries.Override // by skill name
	Routing Routing
}

// A FileDomain is one domain as skillrouter.yaml names it.
type FileDomain struct {
	Name        string
	Description string
	Keywords    []string
	Fallback    bool
	Folders     []string // slash paths below a root; the skills below them are members
	Skills      []string // names of further members
}

// Routing holds a catalog's routing numbers. In each, zero means not given and a negative
// value off, as in the options of the router; Mode is "", "auto", "flat" or "layered".
type Routing struct {
	Threshold    float64 // lowest score kept
	MaxSummaries int     // summaries shown at once
	MaxDomains   int     // domains that may match at once
	SummaryTurns int     // turns a loaded summary stays
	StalledTurns int     // turns without a decision before a layer is left
	IndexLimit   int     // characters of the index text, for Chinese
	Mode         string
}
