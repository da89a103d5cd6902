// Package keeper helps whoever keeps a catalog of skills: most wrong routes come from the
// catalog's own words.
//
// [Lint] looks at a catalog and says what in it leads to wrong routes, what other tools
// refuse and what no agent will ever read: each finding with its rule, a reason and what to
// do. [WriteSARIF] writes findings for code hosts and editors, [WriteHTML] for a browser,
// with a map of domains and skills. [Compare] tells what a change of a catalog does to the
// skills that were there before.
//
// [Export], [DraftSummaries] and package domains lead from a flat list of skills to layers;
// [Enrich] has a chat model write what rules cannot.
//
// A [Usage] notes what sessions do with skills, as the observer of a router; [ReadHealth]
// tells which are used, which are not, and what the figures are signs of.
//
// Reading order: rules.go, lint.go, then one file for each kind of thing that is looked at;
// against.go; params.go, draft.go, enrich.go; usage.go, health.go.
package keeper
