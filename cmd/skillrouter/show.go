package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

func (a *app) showCommand() *cobra.Command {
	var asSummary, asPath, extension bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a skill's definition as an agent gets it",
		Long: `show writes layer 3 of a skill: the core of its definition as it goes into the
prompt, and the names of the documents beside it.`,
		Example: `  skillrouter show code-review
  skillrouter show code-review --summary      # its line of layer 2
  $EDITOR "$(skillrouter show code-review --path --skills ./skills)"`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := onlyOne(cmd, "extension", "summary", "path"); err != nil {
				return err
			}
			return a.with(cmd.Context(), true, func(c *catalog) error {
				return a.show(cmd.Context(), c, args[0], asSummary, asPath, extension)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&extension, "extension", false, "with the part after <!-- extended -->")
	f.BoolVar(&asSummary, "summary", false, "show its line of layer 2 instead")
	f.BoolVar(&asPath, "path", false, "show the path of its file instead")
	return cmd
}

type document struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Text bool   `json:"text"`
}

// show writes one skill.
func (a *app) show(ctx context.Context, c *catalog, name string, asSummary, asPath, extension bool) error {
	ix := c.Index()
	place, ok := ix.Lookup(name)
	if allow := a.set.allow(); !ok || allow != nil && !allow(name) {
		return a.unknown(ctx, c, name)
	}
	skill := &ix.Skills()[place]
	switch {
	case asPath && !a.set.json:
		fmt.Fprintln(a.out, skill.File)
		return nil
	case asSummary && !a.set.json:
		fmt.Fprintf(a.out, "%s\n", summaries.AppendLine(nil, &skill.Summary))
		return nil
	}
	s, err := ix.Get(name)
	if err != nil {
		return err
	}
	if a.set.json {
		out := struct {
			listedSkill
			Hash      string     `json:"hash"`
			Size      int64      `json:"size"`
			Core      string     `json:"core"`
			Extension string     `json:"extension"`
			Documents []document `json:"documents"`
		}{newListedSkill(ix, place), s.Hash, s.Size, s.Core, s.Extension, []document{}}
		for _, d := range s.Docs {
			out.Documents = append(out.Documents, document(d))
		}
		return writeJSON(a.out, out, true)
	}
	if _, err := io.WriteString(a.out, definitions.Render(s, definitions.RenderOptions{Extension: extension})); err != nil {
		return nil // the app's writer keeps the error
	}
	a.showRest(s, extension)
	return nil
}

// showRest tells on stderr what belongs to the skill but was not written.
func (a *app) showRest(s *definitions.Skill, extension bool) {
	if s.Extension != "" && !extension {
		fmt.Fprintf(a.err, "\nextension: %s more, --extension shows them\n", plural(strings.Count(strings.TrimSpace(s.Extension), "\n")+1, "line"))
	}
	if len(s.Docs) == 0 {
		return
	}
	fmt.Fprintln(a.err, "\ndocuments, for an agent to ask for:")
	t := table{right: []int{1}}
	for _, d := range s.Docs {
		note := ""
		if !d.Text {
			note = "no text, or too large: never shown"
		}
		t.add(clean(d.Name), size(d.Size), note)
	}
	t.write(a.err, "   ", 0)
}

// unknown is the error for a name that no skill has, with those that are near.
func (a *app) unknown(ctx context.Context, c *catalog, name string) error {
	err := &index.NotFoundError{Skill: name}
	near, likeErr := nearNames(ctx, c, name, a.set.allow())
	switch {
	case likeErr != nil && errors.Is(likeErr, ctx.Err()):
		return likeErr
	case len(near) == 0:
		return err
	}
	return &failure{err, "did you mean " + strings.Join(near, ", ") + "?"}
}

// nearNames returns up to three names that may have been meant: spelt nearly
// the same or holding it, else like it in meaning.
func nearNames(ctx context.Context, c *catalog, name string, allow func(string) bool) ([]string, error) {
	const (
		most    = 3
		similar = 0.4 // below, summaries have little to do with a name
	)
	type scored struct {
		name     string
		distance int
	}
	var near []scored
	ix := c.Index()
	folded := text.Fold(name)
	letters := utf8.RuneCountInString(folded)
	mask := make([]bool, len(ix.Skills()))
	for i := range ix.Skills() {
		own := ix.Skills()[i].Name
		if mask[i] = allow == nil || allow(own); !mask[i] {
			continue
		}
		other := text.Fold(own)
		d := text.Distance(folded, other)
		if d <= max(letters, utf8.RuneCountInString(other))/3 || letters > 2 && strings.Contains(other, folded) {
			near = append(near, scored{own, d})
		}
	}
	slices.SortStableFunc(near, func(x, y scored) int { return x.distance - y.distance })
	var names []string
	for _, n := range near[:min(most, len(near))] {
		names = append(names, n.name)
	}
	if len(names) > 0 {
		return names, nil
	}
	words := strings.NewReplacer("-", " ", "_", " ").Replace(name)
	vector, err := c.vector(ctx, words)
	if err != nil {
		return nil, err
	}
	hits, err := ix.Like(ctx, vector, most, mask)
	for _, h := range hits {
		if h.Similarity < similar {
			break
		}
		names = append(names, ix.Skills()[h.Skill].Name)
	}
	return names, err
}
