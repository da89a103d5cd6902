package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/domains"
	"skillrouter/internal/atomicfile"
	"skillrouter/keeper"
)

func (a *app) summariesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "summaries",
		Short: "Draft and check the summaries of a catalog",
		Long: `summaries helps to write what layer 2 shows of a skill: one sentence of at most 50
characters (150 letters) with capability, scene and limit, three to five triggers in
users' words, what it is not for, and what sets it apart from a skill like it.`,
		Example: `  skillrouter summaries draft --skills ./skills
  skillrouter summaries draft --skills ./skills --write
  skillrouter summaries check --skills ./skills`,
		Args: verbsOnly, RunE: help,
	}
	cmd.AddCommand(a.summariesDraftCommand(), a.summariesCheckCommand())
	return cmd
}

func (a *app) summariesDraftCommand() *cobra.Command {
	var write, yaml bool
	cmd := &cobra.Command{
		Use:   "draft",
		Short: "Draft what the authors of skills did not write",
		Long: `draft makes, by rules, a start for the summaries that are missing: the sentence from
the description, the parameters from tools.json, the difference from a skill that is
easily taken for it, and whether the summary suffices to call the skill (from-summary:
one tool with at most three simple parameters). Comments say what rules cannot know and
you have to, triggers above all: words of the description stand there to start from, but
only what users say makes routing better.

It shows the lines that would be added to the skillrouter.yaml of the folder; --write
adds them. No line that is there is changed, a skill that the file has is left as it is,
so what you edited stays, and drafting again adds nothing.`,
		Example: `  skillrouter summaries draft --skills ./skills
  skillrouter summaries draft --skills ./skills --write
  skillrouter summaries draft --skills skills.jsonl --yaml > skillrouter.yaml`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := onlyOne(cmd, "write", "yaml", "json"); err != nil {
				return err
			}
			return a.with(cmd.Context(), !write, func(c *catalog) error { return a.draftSummaries(cmd.Context(), c, write, yaml) })
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "add the drafts to the skillrouter.yaml of the folder")
	cmd.Flags().BoolVar(&yaml, "yaml", false, "show the skillrouter.yaml that --write would make")
	return cmd
}

func (a *app) draftSummaries(ctx context.Context, c *catalog, write, yaml bool) error {
	if write {
		if err := a.writable(c, false, true); err != nil {
			return err
		}
	}
	loaded, err := a.load(ctx, c)
	if err != nil {
		return err
	}
	if loaded == nil {
		return &failure{fmt.Errorf("%s is a saved index: there are no definitions to draft from", c.lastPlace()), "name the folders that it was built of with --skills"}
	}
	defer loaded.Source().Close()
	drafts, err := keeper.DraftSummaries(ctx, c.Index(), &keeper.LintOptions{Catalog: loaded, Allow: a.set.allow()})
	if err != nil {
		return err
	}
	if a.set.json {
		return a.writeDraftsJSON(drafts)
	}
	return a.putDrafts(c, drafts, write, yaml)
}

// putDrafts shows what drafts add to the skillrouter.yaml of c, all of it with yaml, and
// adds it with write.
func (a *app) putDrafts(c *catalog, drafts []domains.SkillDraft, write, yaml bool) error {
	file := &draftFile{path: settingsFile}
	if !c.builtIn && isFolder(c.lastPlace()) {
		var err error
		if file, err = readDraftFile(c.lastPlace()); err != nil {
			return err
		}
	}
	text, err := domains.DraftSkills(drafts, file.text)
	switch {
	case errors.Is(err, domains.ErrNotExtended):
		return &failure{fmt.Errorf("%s: %w: nothing was written", file.path, err), "correct the file, or draft over a copy of the folder without it"}
	case err != nil:
		return err
	case yaml:
		_, err := a.out.Write(text)
		return err
	}
	added := addedLines(string(file.text), string(text))
	if len(added) == 0 {
		fmt.Fprintf(a.out, "%s: nothing to add\n", clean(file.path))
		return nil
	}
	if write {
		err := atomicfile.Replace(file.path, file.mode, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
		if err != nil {
			return fmt.Errorf("writing %s: %w", file.path, err)
		}
	}
	said := "would be added"
	if write {
		said = "added"
	}
	fmt.Fprintf(a.out, "%s: %s %s\n", clean(file.path), plural(len(added), "line"), said)
	for _, line := range added {
		line = "+ " + line
		if w := a.width(); w > 0 {
			line = cut(line, w)
		}
		fmt.Fprintln(a.out, strings.TrimRight(line, " "))
	}
	if write {
		fmt.Fprintln(a.err, "edit them as you like; `skillrouter summaries check` tells what is left to do")
	} else {
		fmt.Fprintln(a.err, "--write adds them")
	}
	return nil
}

func (a *app) writeDraftsJSON(drafts []domains.SkillDraft) error {
	type drafted struct {
		Skill       string   `json:"skill"`
		Summary     string   `json:"summary"`
		Suggested   []string `json:"suggested_triggers"`
		NotFor      string   `json:"not_for"`
		DiffersFrom string   `json:"differs_from"`
		Params      string   `json:"params"`
		FromSummary bool     `json:"from_summary"`
		Notes       []string `json:"notes"`
	}
	out := []drafted{}
	for i := range drafts {
		o := &drafts[i].Override
		out = append(out, drafted{
			drafts[i].Skill, o.Summary, orEmpty(drafts[i].Triggers), o.NotFor, o.DiffersFrom, o.Params,
			o.FromSummary != nil && *o.FromSummary, orEmpty(drafts[i].Notes),
		})
	}
	return writeJSON(a.out, out, true)
}

func (a *app) summariesCheckCommand() *cobra.Command {
	flags := lintFlags{failOn: word{value: "warning", of: []string{"error", "warning", "note"}}, only: summaryRules()}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Tell what is to be said about the summaries",
		Long: `check looks at what layer 2 shows: the length of summaries, triggers (three to five,
in users' words, of one skill alone), what skills are not for, and skills that are alike
without saying how they differ. It is lint for these rules alone.

The exit status is 1 when a finding is as severe as --fail-on or worse, else 0.`,
		Example: `  skillrouter summaries check --skills ./skills --all
  skillrouter summaries check --skills ./skills --fail-on note`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), true, func(c *catalog) error { return a.lint(cmd.Context(), c, &flags) })
		},
	}
	cmd.Flags().Var(&flags.failOn, "fail-on", "the least severity that makes the exit status 1: error, warning or note")
	cmd.Flags().BoolVar(&flags.all, "all", false, "show all findings of a rule, also silenced ones")
	return cmd
}

// summaryRules are the rules about layer 2.
func summaryRules() []string {
	return []string{
		"no-description", "derived-summary", "long-summary", "long-field", "cut-difference", "no-not-for", "no-params", "few-triggers", "many-triggers",
		"unsaid-trigger", "shared-trigger", "lost-trigger", "generic-trigger", "confusable", "same-summary",
	}
}
