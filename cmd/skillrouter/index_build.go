package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/index"
)

// reindexing are the flags of build and update.
type reindexing struct {
	out      string
	wait     bool
	dryRun   bool
	afresh   bool
	bundle   bool
	estimate bool
	price    float64 // per million tokens; 0: not known
	deadline time.Duration
}

// A job is one index file to make.
type job struct {
	file   string
	places []string // nil: those that the file was built from
}

func (a *app) indexBuildCommand() *cobra.Command {
	f := reindexing{afresh: true}
	cmd := &cobra.Command{
		Use:   "build [CATALOG …] --out PATH",
		Short: "Build an index of folders and catalogs",
		Long: `build reads the places of --skills, or the known places, overlays them, and
writes one index file, --out FILE. With CATALOGs as arguments, each gets an index
of its own in the folder --out DIR, named after it; one that fails does no harm to
the others.

What an endpoint (--embed-model) has embedded is kept, also where the build fails
or is killed later: the next one goes on from there. --estimate tells beforehand
how many texts and tokens it would get; only a probe, "hello", is sent to it.`,
		Example: `  skillrouter index build --skills /opt/skills --skills ./skills --out skills.idx
  skillrouter index build --skills ./skills --out big.idx --embed-model text-embedding-3-small --estimate --price-per-million 0.02
  skillrouter index build --skills ./skills --out skills.idx --bundle
  skillrouter index build team-a/skills team-b/skills list.jsonl --out indexes --json`,
		Args: arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.out == "" {
				return &useError{errors.New("no --out: where is the index to be written?"), helpHint(cmd)}
			}
			jobs, err := a.jobs(cmd, args, &f)
			if err != nil {
				return err
			}
			return a.reindex(cmd.Context(), jobs, len(args) > 0, &f)
		},
	}
	f.flags(cmd)
	return cmd
}

func (a *app) indexUpdateCommand() *cobra.Command {
	var f reindexing
	cmd := &cobra.Command{
		Use:   "update FILE …",
		Short: "Bring index files up to date with their folders",
		Long: `update looks at the folders that each index FILE was built of, by size and time
first, then by content, and writes the file anew only if something changed. The
result has the same bytes as one built afresh; of an endpoint's vectors only those
of new texts are asked for. It tells which skills were added, changed, removed,
moved, and which are in other domains now.

With --skills or CATALOGs, and --out, it does what build does, but only where
something changed. A file with vectors of another embedder is left as it is.`,
		Example: `  skillrouter index update skills.idx --dry-run
  skillrouter index update indexes/*.idx --json
  skillrouter index update team-a/skills team-b/skills --out indexes`,
		Args: arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			var jobs []job
			var err error
			switch {
			case f.out != "":
				jobs, err = a.jobs(cmd, args, &f)
			case len(args) == 0:
				return &useError{errors.New("no FILE: which index is to be brought up to date?"), helpHint(cmd)}
			case len(a.set.skills) > 0 && len(args) > 1:
				return &useError{errors.New("--skills goes with one FILE"), helpHint(cmd)}
			default:
				for _, file := range args {
					jobs = append(jobs, job{file, a.set.skills})
				}
			}
			if err != nil {
				return err
			}
			return a.reindex(cmd.Context(), jobs, len(args) > 1 || f.out != "" && len(args) > 0, &f)
		},
	}
	f.flags(cmd)
	return cmd
}

func (f *reindexing) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.out, "out", "", "`PATH` to write: a file, or a folder for the indexes of several CATALOGs")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait if another process is at the same file, rather than fail")
	cmd.Flags().BoolVar(&f.bundle, "bundle", false, "put the definitions and their documents that are text into the file, for where the folders are not")
	cmd.Flags().BoolVar(&f.estimate, "estimate", false, "tell how much there is to embed, without sending a text or writing")
	cmd.Flags().Float64Var(&f.price, "price-per-million", 0, "`PRICE` of a million tokens, for --estimate")
	cmd.Flags().DurationVar(&f.deadline, "deadline", 0, "`TIME` after which to give up, such as 10m; what was embedded is kept (default none)")
	if !f.afresh {
		cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "tell what would change, without embedding or writing")
	}
}

// jobs are the files to make of --skills or, each by itself, of the arguments.
func (a *app) jobs(cmd *cobra.Command, args []string, f *reindexing) ([]job, error) {
	if len(args) == 0 {
		places, err := a.places(false)
		return []job{{f.out, places}}, err
	}
	if len(a.set.skills) > 0 {
		return nil, &useError{errors.New("--skills, which are overlaid, and CATALOGs, which are not, exclude each other"), helpHint(cmd)}
	}
	if info, err := os.Stat(f.out); err == nil && !info.IsDir() {
		return nil, &useError{fmt.Errorf("--out %s is no folder: each CATALOG gets a file in one", f.out), "one index of all: --skills for each, and --out FILE"}
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return nil, err
	}
	var jobs []job
	taken := map[string]string{}
	for _, place := range args {
		full, err := filepath.Abs(place)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(full)
		if strings.EqualFold(filepath.Ext(name), ".jsonl") {
			name = strings.TrimSuffix(name, filepath.Ext(name))
		}
		name += ".idx"
		if other, ok := taken[name]; ok {
			return nil, &useError{fmt.Errorf("%s and %s would both be %s", other, place, name), "build one of them with --skills and --out FILE"}
		}
		taken[name] = place
		jobs = append(jobs, job{filepath.Join(f.out, name), []string{place}})
	}
	return jobs, nil
}

// reindex makes the files, one after the other.
func (a *app) reindex(ctx context.Context, jobs []job, several bool, f *reindexing) error {
	if len(a.set.exclude) > 0 {
		fmt.Fprintln(a.err, "--exclude does nothing here: an index holds every skill; exclude where it is used")
	}
	if f.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.deadline)
		defer cancel()
	}
	e, err := a.embedder(ctx)
	if err != nil {
		return err
	}
	var results []reindexed
	failed := 0
	for _, j := range jobs {
		result, err := a.reindexOne(ctx, &j, e, f)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = &failure{fmt.Errorf("%s: not done within %s: %w", j.name(), f.deadline, err), "what was embedded is kept: run it again to go on"}
		}
		if err != nil && (!several || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			failed++
			result.Error = strings.TrimPrefix(err.Error(), "skillrouter: ")
			a.complain(&ofJob{j.name(), err})
		}
		results = append(results, result)
	}
	if a.set.json {
		var what any = results
		if !several {
			what = results[0]
		}
		if err := writeJSON(a.out, what, true); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &failure{fmt.Errorf("%d of %s failed", failed, plural(len(jobs), "index file")), "the others are complete; those that failed are as they were"}
	}
	return nil
}

// name is what the user called the job.
func (j *job) name() string {
	if len(j.places) == 1 {
		return j.places[0]
	}
	return j.file
}

// An ofJob is the error of one of several jobs.
type ofJob struct {
	name string
	err  error
}

func (e *ofJob) Error() string {
	return e.name + ": " + strings.TrimPrefix(e.err.Error(), "skillrouter: ")
}
func (e *ofJob) Unwrap() error { return e.err }

// A reindexed is what --json tells of an index file.
type reindexed struct {
	indexFigures
	Places   []string  `json:"places"`
	Seconds  float64   `json:"seconds"`
	Written  bool      `json:"written"`
	Texts    int       `json:"texts"`    // different ones that have a vector; 0 if nothing had to be looked at
	Embedded int       `json:"embedded"` // of these, that the embedder was asked for
	Estimate *estimate `json:"estimate,omitempty"`
	Changes  *changes  `json:"changes,omitempty"`
	Error    string    `json:"error,omitempty"`
}

func (a *app) reindexOne(ctx context.Context, j *job, e index.Embedder, f *reindexing) (_ reindexed, err error) {
	start := time.Now()
	progress := a.progress()
	_, local := e.(index.AppendEmbedder)
	progress.slow = !local
	o := &skillrouter.ReindexOptions{
		Options: skillrouter.Options{
			Depth: int(a.set.depth), Orders: a.set.level(), Embedder: e, CacheDir: a.cacheDir(), Progress: progress.show,
		},
		Afresh: f.afresh, Bundle: f.bundle, DryRun: f.dryRun || f.estimate,
	}
	if f.wait {
		o.Waiting = func(holder string) { fmt.Fprintf(a.err, "%s: waiting for %s\n", clean(j.file), clean(holder)) }
	}
	r, err := skillrouter.Reindex(ctx, j.file, o, j.places...)
	progress.end()
	out := reindexed{indexFigures: indexFigures{File: j.file, Embedder: e.ID()}, Places: j.places}
	if err != nil {
		return out, err
	}
	out.Seconds, out.Written = time.Since(start).Seconds(), r.Written
	out.Texts, out.Embedded, out.Changes = r.Work.Texts, r.Work.Embedded, newChanges(r.Changes)
	if r.Old != nil {
		fmt.Fprintf(a.err, "built afresh: %s\n", clean(r.Old.Error()))
	}
	if r.Work.Unkept != nil {
		fmt.Fprintf(a.err, "vectors are not kept for the next run: %s\n", clean(r.Work.Unkept.Error()))
	}
	if o.DryRun {
		out.Estimate = newEstimate(&out, r, f.price)
		a.reportPlan(&out, e, f)
		return out, nil
	}
	defer func() { err = errors.Join(err, r.Index.Close()) }()
	if out.Places == nil {
		out.Places = r.Index.Places()
	}
	if out.indexFigures, _, err = newIndexFigures(j.file, r.Index); err != nil {
		return out, err
	}
	if !a.set.json {
		a.reportReindexed(&out, f)
	}
	a.toLookAt(r.Index, &out)
	return out, nil
}

func (a *app) reportReindexed(r *reindexed, f *reindexing) {
	spent := took(time.Duration(r.Seconds * float64(time.Second)))
	if !r.Written {
		fmt.Fprintf(a.out, "%s: nothing changed, in %s\n", clean(r.File), spent)
		return
	}
	fmt.Fprintf(a.out, "%s: %s in %s\n", clean(r.File), size(r.Bytes), spent)
	var t table
	if !f.afresh {
		r.Changes.add(&t)
	}
	r.add(&t)
	t.write(a.out, "   ", a.width())
}

// An estimate is what embedding would take.
type estimate struct {
	Tokens  int     `json:"tokens"`            // about
	Seconds float64 `json:"seconds,omitempty"` // by the pace of the last run; 0 if there was none
	Price   float64 `json:"price,omitempty"`
}

func newEstimate(out *reindexed, r *skillrouter.Reindexed, price float64) *estimate {
	if out.Changes == nil {
		return &estimate{}
	}
	return &estimate{r.Tokens, r.Work.Waited.Seconds(), price * float64(r.Tokens) / 1e6}
}

func (e *estimate) add(t *table, r *reindexed) {
	t.add("texts", fmt.Sprintf("%d to embed of %d, others are kept", r.Embedded, r.Texts))
	t.add("tokens", fmt.Sprintf("some %d", e.Tokens))
	if e.Seconds > 0 {
		t.add("time", "some "+took(time.Duration(e.Seconds*float64(time.Second)))+", by the pace of the last run")
	}
	if e.Price > 0 {
		t.add("price", fmt.Sprintf("some %.4f", e.Price))
	}
}

func (a *app) reportPlan(r *reindexed, e index.Embedder, f *reindexing) {
	if a.set.json {
		return
	}
	if r.Changes == nil {
		fmt.Fprintf(a.out, "%s: nothing changed\n", clean(r.File))
		return
	}
	fmt.Fprintf(a.out, "%s would be written\n", clean(r.File))
	var t table
	if _, local := e.(index.AppendEmbedder); !local {
		r.Estimate.add(&t, r)
	} else if f.estimate {
		t.add("texts", fmt.Sprintf("%d, embedded here by the built-in embedder: nothing to pay or wait for", r.Texts))
	}
	if f.dryRun {
		r.Changes.add(&t)
	}
	t.write(a.out, "   ", a.width())
}

// toLookAt tells what of a catalog that was indexed is worth a look.
func (a *app) toLookAt(ix *index.Index, r *reindexed) {
	if !r.Written {
		return
	}
	bare := 0
	for _, m := range ix.Summaries() {
		if len(m.Triggers) == 0 {
			bare++
		}
	}
	var look []string
	if r.Problems.Errors+r.Problems.Warnings > 0 {
		look = append(look, fmt.Sprintf("%s (`skillrouter list --problems`)", r.Problems.String()))
	}
	if n := len(ix.Shadowed()); n > 0 {
		look = append(look, fmt.Sprintf("%s shadowed (`skillrouter list --shadowed`)", plural(n, "copy")))
	}
	if bare > 0 {
		look = append(look, fmt.Sprintf("%s without triggers, which are worth most", plural(bare, "skill")))
	}
	if len(look) > 0 {
		fmt.Fprintf(a.err, "to look at, with the same --skills: %s\n", strings.Join(look, "; "))
	}
	a.advise(ix)
}
