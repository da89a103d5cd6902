package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/domains"
	"skillrouter/eval"
	"skillrouter/index"
	"skillrouter/internal/atomicfile"
	"skillrouter/router"
)

// tuneFlags are the flags of tune.
type tuneFlags struct {
	evalFlags
	ruleFlags
	fit, report  []string
	write, force bool
}

func (a *app) tuneCommand() *cobra.Command {
	var flags tuneFlags
	cmd := &cobra.Command{
		Use:   "tune --cases FILE",
		Short: "Fit the threshold and the scores to labelled utterances, and write them down",
		Long: `tune fits two things on one part of the cases and tells what comes of them on the
other, which had no part in it: the cases of --cases are divided in halves by a
hash of their text, always the same; --fit and --report name the parts.

The threshold is the one that eval sweep would recommend, in steps of 0.01 from
0.50 to 0.95; one below that in use only where 20 cases or more are out of scope.
The calibration corrects scores that are too sure or not sure enough: their
log-odds times a slope, plus a shift. It is used only where it helps on rows left
out of its fit, by one part in a hundred and by two standard errors.

The numbers go to routing: in the skillrouter.yaml of the folder that --skills
names, of several the last: nothing else in the file changes. They are shown as a
diff first; --write writes them, and on a terminal tune asks. Where the other part
gets no better, nothing is written but with --force. Each part must have 50 cases
in scope.`,
		Example: `  skillrouter tune --skills ./skills --cases cases.jsonl
  skillrouter tune --skills ./skills --cases cases.jsonl --write
  skillrouter tune --skills ./skills --fit dev.jsonl --report test.jsonl --max-wrong 0.02`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tune(cmd.Context(), &flags) },
	}
	f := cmd.Flags()
	flags.evalFlags.add(f)
	f.StringArrayVar(&flags.fit, "fit", nil, "`FILE` of cases to fit on, with --report in place of --cases; may repeat")
	f.StringArrayVar(&flags.report, "report", nil, "`FILE` of cases to report on; may repeat")
	flags.ruleFlags.add(f)
	f.BoolVar(&flags.write, "write", false, "write the numbers to the skillrouter.yaml of the folder")
	f.BoolVar(&flags.force, "force", false, "write them even where they do not help")
	return cmd
}

// A tuned is a tuning, and the file that it goes to.
type tuned struct {
	*eval.Tuning
	rule        eval.Rule
	files       []string
	dropped     int
	byHash      bool // the cases were divided, not named
	places      []string
	target      *draftFile // nil: no folder to write to
	text        string     // of the file, with the numbers
	written     bool
	fit, report []eval.Case
}

func (a *app) tune(ctx context.Context, flags *tuneFlags) error {
	switch named, parts := len(flags.cases) > 0, len(flags.fit)+len(flags.report) > 0; {
	case named == parts:
		return &useError{errors.New("either --cases, or --fit and --report, must name labelled utterances"), "such as --cases cases.jsonl"}
	case parts && (len(flags.fit) == 0 || len(flags.report) == 0):
		return &useError{errors.New("--fit and --report go together: what is fitted on some cases must be told of others"), "--cases divides the cases itself"}
	}
	rule, err := flags.rule()
	if err != nil {
		return err
	}
	sets, err := a.readCases(slices.Concat(flags.cases, flags.fit, flags.report))
	if err != nil {
		return err
	}
	return a.with(ctx, false, func(c *catalog) error {
		x := &tuned{rule: rule, byHash: len(flags.cases) > 0, places: c.places}
		if flags.lenient {
			x.dropped = eval.Drop(c.Index(), sets...)
		}
		if err := a.checkCases(c, sets, x.dropped); err != nil {
			return err
		}
		cases, files, err := casesOf(sets)
		if err != nil {
			return err
		}
		x.files = files
		if x.byHash {
			x.fit, x.report = eval.Split(cases)
		} else {
			x.fit, _, _ = casesOf(sets[:len(flags.fit)])
			x.report, _, _ = casesOf(sets[len(flags.fit):])
		}
		if err := a.tuneWith(ctx, c, x); err != nil {
			return err
		}
		if err := a.tunedFile(c, x, flags); err != nil {
			return err
		}
		return a.finishTune(x, flags)
	})
}

// tuneWith fits and compares.
func (a *app) tuneWith(ctx context.Context, c *catalog, x *tuned) error {
	m, err := a.measuring(c)
	if err != nil {
		return err
	}
	var embedder index.Embedder = m.memo
	if m.memo == nil {
		embedder = c.embedder
	}
	progress := a.progress()
	progress.what, progress.items = "routing", "cases"
	defer progress.end()
	x.Tuning, err = eval.Tune(ctx, x.fit, x.report, &eval.TuneOptions{
		Options: eval.Options{Allow: a.set.allow(), Version: moduleVersion(), Memo: m.memo, Progress: progress.show},
		Rule:    x.rule,
		New: func(ix *index.Index, threshold float64) (*router.Router, error) {
			if ix == nil {
				ix = c.Index()
			}
			o := a.set.options()
			if threshold > 0 {
				o.Threshold = threshold
			}
			return router.New(ix, embedder, &o)
		},
	})
	if few, ok := errors.AsType[*eval.FewError](err); ok {
		hint := fmt.Sprintf("label %d more; --cases may repeat", eval.LeastInScope-few.Has)
		if x.byHash {
			hint = fmt.Sprintf("label some %d more: the cases are divided in halves; --cases may repeat", 2*(eval.LeastInScope-few.Has))
		}
		return &failure{fmt.Errorf("too few cases to tune with: %w", err), hint}
	}
	return err
}

// numbers are what is to be written.
func (x *tuned) numbers() *domains.Tuning {
	t := &domains.Tuning{}
	if x.Threshold != x.Old {
		t.Threshold = x.Threshold
	}
	before, after := x.Comparison.A.Figures, x.Comparison.B.Figures
	t.Reason = fmt.Sprintf("fitted on %d cases; on %d others right matches %s → %s, wrong ones %s → %s", len(x.fit), len(x.report),
		value(before.RightMatch, true), value(after.RightMatch, true), value(before.WrongMatch, true), value(after.WrongMatch, true))
	if after.AbstainRecall.Known() {
		t.Reason += fmt.Sprintf(", out of scope rejected %s → %s", value(before.AbstainRecall, true), value(after.AbstainRecall, true))
	}
	return t
}

// tunedFile makes the text of the file.
func (a *app) tunedFile(c *catalog, x *tuned, flags *tuneFlags) error {
	if !x.Changes() {
		return nil
	}
	numbers := x.numbers()
	if x.Correction.Slope != 0 {
		numbers.Calibration = c.Index().Recalibrated(x.Correction.Slope, x.Correction.Shift).Routing().Calibration
	}
	var old []byte
	switch place := c.lastPlace(); {
	case len(a.set.skills) == 0 && len(c.places) > 1:
		if flags.write {
			return &useError{fmt.Errorf("which skillrouter.yaml? several folders are used: %s", strings.Join(a.short(c.places), ", ")), "name one with --skills DIR"}
		}
	case !isFolder(place):
		if flags.write {
			return &failure{fmt.Errorf("%s is no folder: no skillrouter.yaml can be put there", place), "without --write tune prints the file and says where it belongs"}
		}
	default:
		file, err := readDraftFile(place)
		if err != nil {
			return err
		}
		x.target, old = file, file.text
	}
	text, err := domains.Tune(old, numbers)
	if err != nil {
		return &failure{fmt.Errorf("%s: %w", x.target.path, err), "the numbers are: " + strings.Join(strings.Fields(numbersInWords(numbers)), " ")}
	}
	x.text = string(text)
	return nil
}

func numbersInWords(t *domains.Tuning) string {
	var s string
	if t.Threshold != 0 {
		s = fmt.Sprintf("threshold: %g", t.Threshold)
	}
	if c := t.Calibration; c.Slope != 0 {
		s += fmt.Sprintf(" calibration: {slope: %g, shift: %g, embedder: %q}", c.Slope, c.Shift, c.Embedder)
	}
	return s
}

// finishTune tells what was found and writes the file if it may.
func (a *app) finishTune(x *tuned, flags *tuneFlags) error {
	if !a.set.json {
		a.writeTuned(x, flags.force)
	}
	wanted := flags.write
	may := x.Changes() && x.target != nil && (x.Improves || flags.force)
	asked := may && !wanted && !a.set.json && a.tty.in && a.tty.out
	if asked {
		var err error
		if wanted, err = a.confirm("Write it?"); err != nil {
			return err
		}
	}
	if may && wanted {
		err := atomicfile.Replace(x.target.path, x.target.mode, func(w io.Writer) error {
			_, err := io.WriteString(w, x.text)
			return err
		})
		if err != nil {
			return fmt.Errorf("writing %s: %w", x.target.path, err)
		}
		x.written = true
	}
	if a.set.json {
		if err := writeJSON(a.out, newTuneOutput(x), false); err != nil {
			return err
		}
	}
	switch {
	case x.written:
		fmt.Fprintf(a.err, "%s: written\n", clean(x.target.path))
	case wanted && x.Changes() && !x.Improves:
		return &failure{errors.New("the other part gets no better: nothing was written"), "--force writes all the same; more cases would tell more"}
	case may && !a.set.json && !asked:
		fmt.Fprintln(a.err, "nothing was written; --write writes it")
	}
	return nil
}
