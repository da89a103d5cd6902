package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/definitions"
	"skillrouter/eval"
	"skillrouter/examples"
	"skillrouter/index"
	"skillrouter/internal/atomicfile"
	"skillrouter/keeper"
)

// lintFlags are the flags of lint.
type lintFlags struct {
	failOn     word
	only       []string
	languages  string
	cases      string
	against    string
	coreTokens int
	all        bool
	rules      bool
	sarif      bool
	html       string

	utterances []keeper.Utterance // of cases
	spoken     []string           // languages of users
	change     *keeper.Comparison // what came of against
}

func (a *app) lintCommand() *cobra.Command {
	flags := lintFlags{failOn: word{value: "warning", of: []string{"error", "warning", "note"}}}
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Tell what in the catalog leads to wrong routes",
		Long: `lint looks at descriptions (what, when, scope, length), summaries, triggers,
domains, bodies and documents, and at skills beside each other: which are alike
without saying how they differ, which triggers lead elsewhere. Each finding has a
rule, a reason and what to do; --rules lists the rules.

A finding that does not matter is silenced with a reason: in the skillrouter.yaml of
the folder

  lint-off:
    - rule: no-not-for
      skills: [pdf-text]        # or domains; neither: all
      reason: it takes any PDF

or in a SKILL.md, below metadata:  lint-off: "no-not-for: it takes any PDF"
Silences without a reason, and those of nothing, are findings themselves.

With --against BASE it tells what a change did: which triggers of others, and which
utterances of --cases, led to the right skill before and lead to another now, and which
findings are new; those that BASE has too are left out.

The exit status is 1 when a finding is as severe as --fail-on or worse, else 0.`,
		Example: `  skillrouter lint --skills ./skills
  skillrouter lint --skills ./skills --only confusable --all
  skillrouter lint --skills ./skills --languages en,zh --fail-on error
  skillrouter lint --skills ./skills --sarif > lint.sarif
  skillrouter lint --skills ./skills --html lint.html
  git worktree add ../before main && skillrouter lint --skills ./skills --against ../before/skills --cases cases.jsonl
  skillrouter lint --rules`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(onlyOne(cmd, "rules", "sarif"), onlyOne(cmd, "json", "sarif"), onlyOne(cmd, "against", "rules")); err != nil {
				return err
			}
			if flags.rules {
				return a.writeRules()
			}
			if err := flags.read(); err != nil {
				return err
			}
			return a.with(cmd.Context(), true, func(c *catalog) error { return a.lint(cmd.Context(), c, &flags) })
		},
	}
	f := cmd.Flags()
	f.Var(&flags.failOn, "fail-on", "the least severity that makes the exit status 1: error, warning or note")
	f.StringArrayVar(&flags.only, "only", nil, "report findings of `RULE` alone; may repeat")
	f.StringVar(&flags.languages, "languages", "", "`LIST` of the languages that users write in, such as en,zh")
	f.StringVar(&flags.cases, "cases", "", "`FILE` of utterances as eval takes it, to tell the languages by, and for --against")
	f.StringVar(&flags.against, "against", "", "`BASE` to compare with: the folder, .jsonl catalog or saved index before a change")
	f.IntVar(&flags.coreTokens, "core-tokens", 0, "how many tokens `N` a definition may have (default 4000)")
	f.BoolVar(&flags.all, "all", false, "show all findings of a rule, also silenced ones")
	f.BoolVar(&flags.sarif, "sarif", false, "write SARIF 2.1.0, for code hosts and editors")
	f.StringVar(&flags.html, "html", "", "write the report with a map of domains and skills to `FILE` too, one page that needs no network")
	f.BoolVar(&flags.rules, "rules", false, "list the rules")
	return cmd
}

// read reads the cases and, by flag or by them, tells the languages of users.
func (f *lintFlags) read() error {
	if f.cases != "" {
		file, err := os.Open(f.cases)
		if err != nil {
			return err
		}
		defer file.Close()
		set, err := eval.Read(file, f.cases)
		if err != nil {
			return err
		}
		for i := range set.Cases {
			f.utterances = append(f.utterances, keeper.Utterance{Text: set.Cases[i].Text, Skills: set.Cases[i].Skills})
		}
		for i := range set.Dialogues {
			for _, t := range set.Dialogues[i].Turns {
				f.utterances = append(f.utterances, keeper.Utterance{Text: t.User, Skills: t.Skills})
			}
		}
	}
	if f.languages == "" {
		texts := make([]string, len(f.utterances))
		for i := range f.utterances {
			texts[i] = f.utterances[i].Text
		}
		f.spoken = keeper.LanguagesOf(texts)
		return nil
	}
	known := keeper.Languages()
	for _, lang := range strings.FieldsFunc(f.languages, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(known, lang) {
			return &useError{fmt.Errorf("--languages %s: unknown language", lang), "known are " + strings.Join(known, ", ")}
		}
		f.spoken = append(f.spoken, lang)
	}
	return nil
}

// load reads the folders of c anew, with bodies and documents; nil for a saved index.
func (a *app) load(ctx context.Context, c *catalog) (*definitions.Catalog, error) {
	if len(c.places) == 1 && !c.builtIn && index.IsFile(c.places[0]) {
		return nil, nil
	}
	var roots []definitions.Root
	for _, place := range c.places {
		root := definitions.Root{Path: place}
		if c.builtIn {
			root.FS = examples.Catalog()
		}
		roots = append(roots, root)
	}
	return definitions.Load(ctx, roots, &definitions.Options{Depth: int(a.set.depth), Orders: a.set.level()})
}

func (a *app) lint(ctx context.Context, c *catalog, flags *lintFlags) error {
	report, err := a.look(ctx, c, flags)
	if err != nil {
		return err
	}
	if flags.against != "" {
		if err := a.compare(ctx, c, flags, report); err != nil {
			return err
		}
	}
	for _, id := range flags.only {
		if !slices.ContainsFunc(keeper.Rules(), func(r keeper.Rule) bool { return r.ID == id }) && !slices.ContainsFunc(report.Findings, func(f keeper.Finding) bool { return f.Rule == id }) {
			return &useError{fmt.Errorf("--only %s: no such rule, and no problem of that kind", id), "`skillrouter lint --rules` lists the rules"}
		}
	}
	if len(flags.only) > 0 {
		other := func(f keeper.Finding) bool { return !slices.Contains(flags.only, f.Rule) }
		report.Findings = slices.DeleteFunc(report.Findings, other)
		report.Silenced = slices.DeleteFunc(report.Silenced, other)
	}
	if flags.html != "" {
		if err := a.writeLintPage(c, report, flags.html); err != nil {
			return err
		}
	}
	switch {
	case flags.sarif:
		err = keeper.WriteSARIF(a.out, report, moduleVersion())
	case a.set.json:
		err = a.writeLintJSON(report, flags.change)
	default:
		a.writeLint(report, flags.all)
	}
	if err != nil {
		return err
	}
	var worst definitions.Severity
	if err := worst.UnmarshalText([]byte(flags.failOn.value)); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Findings, func(f keeper.Finding) bool { return f.Severity >= worst }) {
		return errFindings
	}
	return nil
}

// writeLintPage writes a report to a file as a page.
func (a *app) writeLintPage(c *catalog, report *keeper.Report, path string) error {
	title := "Lint of " + strings.Join(a.short(c.places), ", ")
	const mode = 0o644
	err := atomicfile.Replace(path, mode, func(w io.Writer) error { return keeper.WriteHTML(w, report, c.Index(), title) })
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	fmt.Fprintf(a.err, "wrote %s\n", clean(path))
	return nil
}

// look lints one catalog.
func (a *app) look(ctx context.Context, c *catalog, flags *lintFlags) (*keeper.Report, error) {
	loaded, err := a.load(ctx, c)
	if err != nil {
		return nil, err
	}
	if loaded != nil {
		defer loaded.Source().Close()
	}
	return keeper.Lint(ctx, c.Index(), &keeper.LintOptions{
		Catalog: loaded, Embedder: c.embedder, Languages: flags.spoken, CoreTokens: flags.coreTokens, Allow: a.set.allow(),
	})
}

// writeRules lists the rules.
func (a *app) writeRules() error {
	type listed struct {
		ID       string               `json:"id"`
		Severity definitions.Severity `json:"severity"`
		What     string               `json:"what"`
		Reason   string               `json:"reason"`
		Fix      string               `json:"fix"`
	}
	var rules []listed
	var t table
	for _, r := range keeper.Rules() {
		rules = append(rules, listed(r))
		t.add(r.ID, r.Severity.String(), r.What)
	}
	if a.set.json {
		return writeJSON(a.out, rules, true)
	}
	t.write(a.out, "", a.width())
	fmt.Fprintln(a.out, "\nfurther findings are the problems of files that `skillrouter list --problems` shows, by their kind")
	return nil
}

// A lintFinding is a finding as JSON has it.
type lintFinding struct {
	Rule     string               `json:"rule"`
	Severity definitions.Severity `json:"severity"`
	Skill    string               `json:"skill"`
	Others   []string             `json:"others"`
	Domain   string               `json:"domain"`
	File     string               `json:"file"`
	Line     int                  `json:"line"`
	What     string               `json:"what"`
	Fix      string               `json:"fix"`
	Silenced string               `json:"silenced"`
}

func (a *app) writeLintJSON(r *keeper.Report, change *keeper.Comparison) error {
	list := func(from []keeper.Finding) []lintFinding {
		out := []lintFinding{}
		for _, f := range from {
			f.Others = orEmpty(f.Others)
			out = append(out, lintFinding(f))
		}
		return out
	}
	return writeJSON(a.out, struct {
		severities
		Figures  keeper.Figures `json:"figures"`
		Findings []lintFinding  `json:"findings"`
		Silenced []lintFinding  `json:"silenced"`
		Skipped  []string       `json:"skipped"`
		Against  *lintChange    `json:"against,omitempty"`
	}{lintSeverities(r.Findings), r.Figures, list(r.Findings), list(r.Silenced), orEmpty(r.Skipped), newLintChange(change)}, true)
}

func lintSeverities(found []keeper.Finding) severities {
	var sum severities
	for _, f := range found {
		sum.add(f.Severity)
	}
	return sum
}

// writeLint writes a report for people: by rule, the worst first.
func (a *app) writeLint(r *keeper.Report, all bool) {
	f := r.Figures
	a.fill("", "   ", fmt.Sprintf("%s in %s: %s written, %s; descriptions of %d characters, index of %d (three letters count as one), summaries of %d tokens together",
		plural(f.Skills, "skill"), plural(f.Domains, "domain"), plural(f.Written, "summary"), plural(f.Triggers, "trigger"), f.Descriptions, f.Index, f.Tokens))
	type group struct {
		rule     string
		severity definitions.Severity
	}
	for rest := r.Findings; len(rest) > 0; {
		g := group{rest[0].Rule, rest[0].Severity}
		n := slices.IndexFunc(rest, func(f keeper.Finding) bool { return g != group{f.Rule, f.Severity} })
		if n < 0 {
			n = len(rest)
		}
		a.writeGroup(rest[:n], all)
		rest = rest[n:]
	}
	if all && len(r.Silenced) > 0 {
		fmt.Fprintln(a.out, "\nsilenced")
		for i := range r.Silenced {
			f := &r.Silenced[i]
			a.fill("   ", "      ", fmt.Sprintf("%s %s: %s (%s)", f.Rule, lintPlace(f), f.What, f.Silenced))
		}
	}
	fmt.Fprintln(a.out)
	for _, s := range r.Skipped {
		a.fill("", "   ", "not looked at: "+s)
	}
	end := lintSeverities(r.Findings).String()
	if n := len(r.Silenced); n > 0 {
		end += fmt.Sprintf("; %d silenced", n)
	}
	fmt.Fprintln(a.out, end)
}

// writeGroup writes findings of one rule and severity.
func (a *app) writeGroup(found []keeper.Finding, all bool) {
	first := &found[0]
	rules := keeper.Rules()
	var rule keeper.Rule
	if i := slices.IndexFunc(rules, func(r keeper.Rule) bool { return r.ID == first.Rule }); i >= 0 {
		rule = rules[i]
	}
	head := fmt.Sprintf("%s %s", first.Severity, first.Rule)
	if rule.What != "" {
		head += ": " + rule.What
	}
	fmt.Fprintln(a.out)
	a.fill("", "   ", fmt.Sprintf("%s (%d)", head, len(found)))
	if rule.Reason != "" {
		a.fill("   why: ", "        ", rule.Reason)
	}
	one := !slices.ContainsFunc(found, func(f keeper.Finding) bool { return f.Fix != first.Fix })
	if one && first.Fix != "" {
		a.fill("   fix: ", "        ", first.Fix)
	}
	most := shownFindings
	if first.Severity == definitions.Note {
		most = shownNotes
	}
	if all {
		most = len(found)
	}
	for i := range found[:min(most, len(found))] {
		f := &found[i]
		a.fill("   ", "      ", lintPlace(f)+": "+f.What)
		if !one && f.Fix != "" {
			a.fill("      fix: ", "           ", f.Fix)
		}
	}
	if more := len(found) - most; more > 0 {
		fmt.Fprintf(a.out, "   and %d more (--all shows them)\n", more)
	}
}

// How many findings of a rule are shown.
const (
	shownFindings = 8
	shownNotes    = 3
)

// lintPlace says where a finding is: its file and, unless the file says it, its skill.
func lintPlace(f *keeper.Finding) string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	switch folder := filepath.Base(filepath.Dir(f.File)); {
	case at == "" && f.Skill != "":
		return f.Skill
	case at == "" && f.Domain != "":
		return f.Domain
	case at == "":
		return "catalog"
	case f.Skill != "" && f.Skill != folder:
		return at + ": " + f.Skill
	}
	return at
}
