// Package keeper helps whoever keeps a catalog of skills: most wrong routes come from the
// catalog's own words.
//
// [Lint] looks at a catalog and says what in it leads to wrong routes, what other tools
// refuse and what no agent will ever read: each finding with its rule, a reason and what to
// do. [WriteSARIF] writes findings for code hosts and editors.
//
// Reading order: rules.go, lint.go, then one file for each kind of thing that is looked at.
package keeper
