package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/domains"
	"skillrouter/index"
)

// errFindings makes the exit status 1 when the findings themselves are already written.
var errFindings = errors.New("there are findings")

func (a *app) domainsCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Tell what is to be said about the domains",
		Long: `check looks at the domains that the catalog has: their number, their sizes (5 to
15 skills), their names and descriptions, the length of the index, skills in no
domain, and what is wrong in a skillrouter.yaml. Each finding says what to do.

The exit status is 1 when an error or a warning is among the findings, else 0.`,
		Example: `  skillrouter domains check --skills ./skills
  skillrouter domains check --skills ./skills --json`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), true, func(c *catalog) error { return a.check(c.Index()) })
		},
	}
}

// A located finding may have a place in a skillrouter.yaml.
type located struct {
	finding
	File string `json:"file"`
	Line int    `json:"line"`
}

// check writes the findings on the domains of ix.
func (a *app) check(ix *index.Index) error {
	found := a.findings(ix)
	var sum severities
	for i := range found {
		sum.add(found[i].Severity)
	}
	if err := a.writeFindings(found, sum); err != nil {
		return err
	}
	if sum.Errors+sum.Warnings > 0 {
		return errFindings
	}
	return nil
}

// findings are the problems of each skillrouter.yaml, then what Check says of the domains
// that came of it.
func (a *app) findings(ix *index.Index) []located {
	found := []located{}
	for _, p := range ix.Problems() {
		l := located{finding: finding{"", p.Severity, p.Kind, p.What, p.Fix}, File: p.File, Line: p.Line}
		switch {
		case p.Kind == "clustered":
			l.File, l.Line = "", 0 // that of any of these skills
		case filepath.Base(p.File) != settingsFile:
			continue
		}
		found = append(found, l)
	}
	exists := a.exists(ix)
	all := []int32{} // the manual ones too, which domains list
	for i := range ix.Skills() {
		if exists(int32(i)) {
			all = append(all, int32(i))
		}
	}
	gone := func(name string) bool {
		i, ok := ix.Lookup(name)
		return !ok || !exists(i)
	}
	ds := slices.Clone(ix.Domains())
	for i := range ds {
		d := &ds[i]
		d.Members = slices.DeleteFunc(slices.Clone(d.Members), gone)
		d.Manual = slices.DeleteFunc(slices.Clone(d.Manual), gone)
	}
	options := &domains.CheckOptions{Items: ix.Items(all), IndexLimit: ix.Routing().IndexLimit}
	for _, f := range domains.Check(ds, options) {
		found = append(found, located{finding: newFinding(f)})
	}
	return found
}

func (a *app) writeFindings(found []located, sum severities) error {
	if a.set.json {
		return writeJSON(a.out, struct {
			severities
			Findings []located `json:"findings"`
		}{sum, found}, true)
	}
	for i := range found {
		f := &found[i]
		a.fill("", "   ", fmt.Sprintf("%s: %s: %s", f.where(), f.Severity, f.what()))
		if f.Fix != "" {
			a.fill("   fix: ", "        ", f.Fix)
		}
	}
	if len(found) > 0 {
		fmt.Fprintln(a.out)
	}
	fmt.Fprintln(a.out, sum)
	return nil
}

// where names what a finding is about.
func (f *located) where() string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	case f.File != "":
		return f.File
	case f.Domain != "":
		return f.Domain
	default:
		return "catalog"
	}
}

// what leaves out the name that stands before it.
func (f *located) what() string {
	if rest, ok := strings.CutPrefix(f.What, fmt.Sprintf("domain %q", f.Domain)); ok {
		return strings.TrimLeft(rest, ": ")
	}
	return f.What
}
