package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter"
	"skillrouter/cache"
	"skillrouter/eval"
	"skillrouter/examples"
	"skillrouter/index"
	"skillrouter/router"
)

// evalFlags are the flags of eval and of the verbs below it.
type evalFlags struct {
	cases   []string
	lenient bool
	details bool
	html    string
}

func (e *evalFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&e.cases, "cases", nil, "`FILE` of labelled utterances or dialogues, JSON lines or YAML, - for JSON lines on stdin; may repeat")
	f.BoolVar(&e.lenient, "lenient", false, "leave out cases that name skills or domains which the catalog does not have")
}

func (a *app) evalCommand() *cobra.Command {
	var flags evalFlags
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure how well labelled utterances are routed",
		Long: `eval routes labelled utterances and tells how often the right domains and skills
are found and shown, what matches wrongly or not at all, how well the scores are
calibrated, and what layers cost against showing the best skills of all.

A file of cases holds one JSON object a line, or a YAML list of them:

  {"text": "book a flight to Oslo", "skills": ["book-flight"], "domains": ["Travel"]}
  {"text": "what is love", "oos": true}

skills are right ones, any of which is a hit; without domains theirs are right.
oos: nothing is right. not: skills that must not be first. question: the user
should be asked. kind, lang, split and id are free, to report by. A file with
turns holds dialogues, as replay takes them, and is measured by turn.

Names that the catalog does not have, an utterance that stands twice, in one file
or in two, and cases without a label are errors, all told before anything is
measured. With --lenient cases with unknown names are left out and counted, for a
catalog that is a part of what the cases were written for.

Without --cases the built-in utterances are measured over the example catalog.`,
		Example: `  skillrouter eval
  skillrouter eval --skills ./skills --cases cases.jsonl
  skillrouter eval --skills ./skills --cases cases.jsonl --html report.html
  skillrouter eval gate --skills ./skills --cases cases.jsonl --min domain_hit@1=0.9`,
		Args: casesByFlag,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCases(cmd.Context(), &flags, func(c *catalog, sets []*eval.Set, dropped int) error {
				e, err := a.evaluate(cmd.Context(), c, sets)
				if err != nil {
					return err
				}
				e.dropped = dropped
				return a.reportEvaluation(e, &flags)
			})
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&flags.details, "details", false, "every domain, skill and confused pair, and each utterance that went astray")
	cmd.Flags().StringVar(&flags.html, "html", "", "write the report with plots to `FILE` too, one page that needs no network")
	cmd.AddCommand(a.evalCompareCommand(), a.evalSweepCommand(), a.evalGateCommand())
	return cmd
}

// casesByFlag refuses arguments, and tells where a file of cases belongs.
func casesByFlag(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
			return &useError{fmt.Errorf("unknown argument %q", args[0]), "cases are named by --cases " + args[0]}
		}
	}
	return verbsOnly(cmd, args)
}

// An evaluation is what came of all cases and dialogues; one of them may be
// nil.
type evaluation struct {
	files      []string
	places     []string // of the skills
	dropped    int      // cases that were left out
	conditions eval.Conditions
	index      *index.Index

	cases     *eval.Report
	intervals map[string]eval.Interval

	replay        *eval.ReplayReport
	turns         *eval.TurnFigures
	turnIntervals map[string]eval.Interval
}

// withCases reads and checks the cases and does work on them and the catalog.
func (a *app) withCases(ctx context.Context, flags *evalFlags, work func(c *catalog, sets []*eval.Set, dropped int) error) error {
	checked := func(sets []*eval.Set) func(c *catalog) error {
		return func(c *catalog) error {
			dropped := 0
			if flags.lenient {
				dropped = eval.Drop(c.Index(), sets...)
			}
			if err := a.checkCases(c, sets, dropped); err != nil {
				return err
			}
			return work(c, sets, dropped)
		}
	}
	if len(flags.cases) > 0 {
		sets, err := a.readCases(flags.cases)
		if err != nil {
			return err
		}
		return a.with(ctx, true, checked(sets))
	}
	if len(a.set.skills) > 0 {
		return &useError{errors.New("no --cases: the built-in utterances are for the example catalog"), "name the cases for these skills with --cases FILE"}
	}
	set, err := eval.Read(bytes.NewReader(examples.Utterances()), "utterances.jsonl")
	if err != nil {
		return err
	}
	c := &catalog{places: []string{builtIn}, builtIn: true}
	err = a.openPlaces(ctx, c, &skillrouter.Options{
		Router: a.set.options(), Depth: int(a.set.depth), FS: map[string]fs.FS{builtIn: examples.Catalog()},
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.err, "measuring the built-in utterances over the example catalog; --cases FILE and --skills DIR name your own")
	return errors.Join(checked([]*eval.Set{set})(c), c.Close())
}

// readCases reads all files, and tells of all what is wrong with them.
func (a *app) readCases(files []string) ([]*eval.Set, error) {
	var sets []*eval.Set
	var wrong eval.CasesError
	for _, name := range files {
		set, err := a.readSet(name)
		if found, ok := errors.AsType[*eval.CasesError](err); ok {
			wrong.Problems = append(wrong.Problems, found.Problems...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(set.Unused) > 0 {
			fmt.Fprintf(a.err, "%s: keys that say nothing here: %s\n", clean(name), strings.Join(cleanAll(set.Unused), ", "))
		}
		sets = append(sets, set)
	}
	if len(wrong.Problems) > 0 {
		return nil, a.tellProblems(&wrong)
	}
	return sets, nil
}

func (a *app) readSet(name string) (*eval.Set, error) {
	if name == "-" {
		return eval.Read(a.in, "stdin")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, &failure{err, "--cases names a file of labelled utterances; `skillrouter eval --help` shows its form"}
	}
	defer file.Close()
	return eval.Read(file, name)
}

// checkCases compares the cases with the catalog.
func (a *app) checkCases(c *catalog, sets []*eval.Set, dropped int) error {
	if dropped > 0 {
		fmt.Fprintf(a.err, "left out: %s with names that the catalog does not have\n", plural(dropped, "case"))
	}
	n := 0
	for _, s := range sets {
		n += len(s.Cases) + len(s.Dialogues)
	}
	if n == 0 {
		return &failure{errors.New("no case is left: the catalog has nothing that they name"), "is it the catalog that the cases were written for?"}
	}
	err := eval.Check(c.Index(), sets...)
	if wrong, ok := errors.AsType[*eval.CasesError](err); ok {
		return a.tellProblems(wrong)
	}
	return err
}

// toldProblems is how many problems of cases are told.
const toldProblems = 20

// tellProblems writes what is wrong with cases, a line each.
func (a *app) tellProblems(wrong *eval.CasesError) error {
	for _, p := range wrong.Problems[:min(toldProblems, len(wrong.Problems))] {
		fmt.Fprintln(a.err, clean(p.String()))
	}
	if more := len(wrong.Problems) - toldProblems; more > 0 {
		fmt.Fprintf(a.err, "and %d more\n", more)
	}
	return fmt.Errorf("%s in the cases: nothing was measured", plural(len(wrong.Problems), "problem"))
}

// evaluate measures all cases and dialogues.
func (a *app) evaluate(ctx context.Context, c *catalog, sets []*eval.Set) (*evaluation, error) {
	e := &evaluation{index: c.Index(), places: c.places}
	var cases []eval.Case
	var dialogues []eval.Dialogue
	for _, s := range sets {
		e.files = append(e.files, s.File)
		cases = append(cases, s.Cases...)
		dialogues = append(dialogues, s.Dialogues...)
	}
	m, err := a.measuring(c)
	if err != nil {
		return nil, err
	}
	opts := eval.Options{Allow: a.set.allow(), Version: moduleVersion(), Memo: m.memo}
	e.conditions = eval.ConditionsOf(m.router, &opts)
	if len(cases) > 0 {
		progress := a.progress()
		progress.what, progress.items = "routing", "cases"
		opts.Progress = progress.show
		e.cases, err = eval.Run(ctx, m.router, cases, &opts)
		progress.end()
		if err != nil {
			return nil, err
		}
		e.conditions = e.cases.Conditions
		e.intervals = eval.Intervals(e.cases.Rows)
	}
	if len(dialogues) > 0 {
		e.replay, err = eval.Replay(ctx, m.router, dialogues, &eval.ReplayOptions{Allow: a.set.allow(), Meter: m.meter})
		if err != nil {
			return nil, err
		}
		e.turns, e.turnIntervals = eval.MeasureTurns(e.replay.Replayed)
		if len(cases) == 0 {
			e.conditions.Chinese = eval.Number(float64(han(e.replay)) / float64(e.replay.Turns))
		}
	}
	return e, nil
}

// A measuring is a router to measure with: its sessions are weighed, and an
// endpoint is asked for each text once.
type measuring struct {
	router *router.Router
	memo   *eval.Memo // nil for an embedder that does not wait
	meter  *eval.Meter
}

func (a *app) measuring(c *catalog) (*measuring, error) {
	store, err := cache.NewSessions(nil)
	if err != nil {
		return nil, err
	}
	m := &measuring{meter: eval.NewMeter(store)}
	embedder := c.embedder
	if _, local := embedder.(index.AppendEmbedder); !local {
		m.memo = eval.NewMemo(embedder)
		embedder = m.memo
	}
	o := a.set.options()
	o.Store = m.meter
	m.router, err = router.New(c.Index(), embedder, &o)
	return m, err
}
