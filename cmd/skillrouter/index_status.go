package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/definitions"
	"skillrouter/index"
)

func (a *app) indexStatusCommand() *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use:   "status FILE",
		Short: "Tell what is in an index file, and whether it is stale",
		Long: `status tells what an index FILE holds, how old it is and by which embedder it was
made, and compares it with the folders that it was built of: a skill is stale if
its file was added, changed or removed since. It also tells where only settings
(skillrouter.yaml, notes of domains) changed. --quick leaves that out.`,
		Example: `  skillrouter index status skills.idx
  skillrouter index status skills.idx --quick --json`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			start := time.Now()
			ix, err := index.Open(cmd.Context(), args[0], nil)
			if err != nil {
				return err
			}
			opened := time.Since(start)
			var f folders
			if !quick {
				if f, err = compare(cmd.Context(), ix); err != nil {
					return errors.Join(err, ix.Close())
				}
			}
			return errors.Join(a.reportStatus(ix, args[0], opened, &f), ix.Close())
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "do not look whether the folders changed")
	return cmd
}

// folders are what an index was built of, as they are now.
type folders struct {
	looked  bool
	missing string   // the first that is not here; "" if all are
	stale   []string // skills that were added, changed or removed
	changed bool     // these, settings or notes of domains are others
}

// compare looks at the folders of an index.
func compare(ctx context.Context, ix *index.Index) (folders, error) {
	f := folders{looked: true}
	source := ix.Source()
	if source == nil {
		return folders{}, nil
	}
	var roots []definitions.Root
	for _, p := range ix.Places() {
		if _, err := os.Stat(p); err != nil {
			f.missing = p
			return f, nil
		}
		roots = append(roots, definitions.Root{Path: p})
	}
	c, err := definitions.Load(ctx, roots, &definitions.Options{Depth: source.Depth(), Orders: source.Orders()})
	if err != nil {
		return f, err
	}
	for i := range ix.Skills() {
		s := &ix.Skills()[i]
		if now, ok := c.Skill(s.Name); !ok || now.Hash != s.Hash || now.Ref != s.Ref {
			f.stale = append(f.stale, s.Name)
		}
	}
	for i := range c.Skills {
		if _, ok := ix.Lookup(c.Skills[i].Name); !ok {
			f.stale = append(f.stale, c.Skills[i].Name)
		}
	}
	slices.Sort(f.stale)
	f.changed = !ix.IsOf(c)
	return f, nil
}

func (f *folders) String() string {
	switch n := len(f.stale); {
	case f.missing != "":
		return clean(f.missing) + " is not here"
	case n == 0 && f.changed:
		return "no skill is stale, but settings or notes of domains changed"
	case n == 0:
		return "as they were: no skill is stale"
	default:
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		s := fmt.Sprintf("%s %s stale: %s", plural(n, "skill"), verb, strings.Join(cleanAll(f.stale[:min(n, shownNames)]), ", "))
		if more := n - shownNames; more > 0 {
			s += fmt.Sprintf(" and %d more", more)
		}
		return s
	}
}

func (a *app) reportStatus(ix *index.Index, file string, opened time.Duration, f *folders) error {
	figures, info, err := newIndexFigures(file, ix)
	if err != nil {
		return err
	}
	if a.set.json {
		return writeJSON(a.out, struct {
			indexFigures
			Built   time.Time `json:"built"`
			Seconds float64   `json:"seconds"` // to open it
			Bundle  bool      `json:"bundle"`
			Places  []string  `json:"places"`
			Missing string    `json:"missing,omitempty"` // the first of places that is not here
			Stale   []string  `json:"stale"`             // null if that was not looked at, or could not be
			Changed *bool     `json:"changed"`           // skills, settings or notes of domains; null as stale is
		}{figures, info.ModTime().UTC().Truncate(time.Second), opened.Seconds(), ix.Bundled(), notNil(ix.Places()), f.missing, f.list(), f.differ()}, true)
	}
	fmt.Fprintf(a.out, "%s: %s, built %s ago, opened in %s\n", clean(file), size(figures.Bytes), age(time.Since(info.ModTime())), took(opened))
	var t table
	figures.add(&t)
	where := "in the folders"
	if ix.Bundled() {
		where = "in the file"
	}
	t.add("definitions", where)
	if f.looked {
		t.add("folders", f.String())
	}
	t.write(a.out, "   ", a.width())
	return nil
}

// differ tells whether an index of the folders would be another; nil if that is
// not known.
func (f *folders) differ() *bool {
	if !f.looked || f.missing != "" {
		return nil
	}
	return &f.changed
}

// list is the stale skills; nil if it is not known which are.
func (f *folders) list() []string {
	if !f.looked || f.missing != "" {
		return nil
	}
	return notNil(f.stale)
}
