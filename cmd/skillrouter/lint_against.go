package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"skillrouter"
	"skillrouter/keeper"
)

// compare leaves in a report what a change brought: the findings that the catalog before it
// does not have, and the texts that lead elsewhere since.
func (a *app) compare(ctx context.Context, c *catalog, flags *lintFlags, report *keeper.Report) error {
	base, err := a.openBase(ctx, flags.against)
	if err != nil {
		return err
	}
	old, err := a.look(ctx, base, flags)
	if err != nil {
		return errors.Join(err, base.Close())
	}
	moved, err := keeper.Compare(ctx, base.Router.Router, c.Router.Router, flags.utterances, a.set.allow())
	if err := errors.Join(err, base.Close()); err != nil {
		return err
	}
	report.Findings = slices.Concat(moved.Findings(c.Index()), report.New(old))
	slices.SortStableFunc(report.Findings, func(x, y keeper.Finding) int { return int(y.Severity) - int(x.Severity) })
	flags.change = moved
	if !flags.sarif && !a.set.json {
		a.writeAgainst(moved, flags)
	}
	return nil
}

// openBase opens the catalog that another is compared with.
func (a *app) openBase(ctx context.Context, place string) (*catalog, error) {
	if err := checkPlace(place); err != nil {
		return nil, &failure{fmt.Errorf("--against %s: %w", place, err), "name a folder of skills, a .jsonl catalog or a saved index"}
	}
	base := &catalog{places: []string{place}}
	return base, a.openPlaces(ctx, base, &skillrouter.Options{Router: a.set.options(), Depth: int(a.set.depth), Orders: a.set.level()})
}

// writeAgainst says what a change is and what it did, in two or three lines.
func (a *app) writeAgainst(c *keeper.Comparison, flags *lintFlags) {
	named := func(list []string, word string) string {
		s := fmt.Sprintf("%d %s", len(list), word)
		switch {
		case len(list) > shownFindings:
			s += fmt.Sprintf(" (%s and %d more)", strings.Join(cleanAll(list[:shownFindings]), ", "), len(list)-shownFindings)
		case len(list) > 0:
			s += " (" + strings.Join(cleanAll(list), ", ") + ")"
		}
		return s
	}
	a.fill("", "   ", fmt.Sprintf("against %s, of skills: %s, %s, %s", flags.against, named(c.Added, "added"), named(c.Removed, "removed"), named(c.Edited, "changed")))
	triggers, utterances := 0, 0
	for _, m := range c.Taken {
		if m.Asked {
			utterances++
		} else {
			triggers++
		}
	}
	a.fill("   ", "      ", fmt.Sprintf("%s asked: %d led to their skill before and lead to another now", plural(c.Triggers, "trigger"), triggers))
	if flags.cases != "" {
		a.fill("   ", "      ", fmt.Sprintf("%s asked: %d led to a right skill before and do not now", plural(c.Utterances, "utterance"), utterances))
	}
	a.fill("   ", "      ", fmt.Sprintf("%d that led elsewhere before lead to a right skill now", c.Gained))
	fmt.Fprintln(a.out)
}

// A lintChange is a comparison as JSON has it; the texts that moved are findings.
type lintChange struct {
	Added      []string `json:"added"`
	Removed    []string `json:"removed"`
	Changed    []string `json:"changed"`
	Triggers   int      `json:"triggers"`
	Utterances int      `json:"utterances"`
	Moved      int      `json:"moved"`
	Gained     int      `json:"gained"`
}

func newLintChange(c *keeper.Comparison) *lintChange {
	if c == nil {
		return nil
	}
	return &lintChange{orEmpty(c.Added), orEmpty(c.Removed), orEmpty(c.Edited), c.Triggers, c.Utterances, len(c.Taken), c.Gained}
}
