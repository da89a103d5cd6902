package skillrouter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"skillrouter/cache/vectors"
	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/index"
	"skillrouter/internal/atomicfile"
	"skillrouter/internal/lockfile"
)

// ReindexOptions say how an index file is made or brought up to date. The zero
// value is the default. Of Options, Router and Built are not used; CacheDir
// holds what makes the next run short: vectors of embedders that take their
// time, and in which state the folders were.
type ReindexOptions struct {
	Options
	Afresh  bool                // build also where nothing seems to have changed, and over the index of another embedder
	Bundle  bool                // the file holds the definitions too, for where the folders are not; of an update, as before if no dirs are given
	DryRun  bool                // tell what would be done, without embedding or writing
	Waiting func(holder string) // told once who else is at the file, before waiting for it; nil: do not wait
}

// A Reindexed is what became of an index file.
type Reindexed struct {
	Index   *index.Index   // as it is in the file; nil after a dry run
	Changes *index.Changes // against the file as it was; nil if nothing changed
	Work    index.Work     // what it took; after a dry run, what it would take
	Tokens  int            // of a dry run: about what the texts to embed have; Work.Waited is then what they would take by the pace of the last run, 0 if there was none
	Old     error          // why the file that was there is of no use; nil if it is, or if there was none
	Written bool
}

// An InUseError says that another process is making the same index file.
type InUseError struct {
	Path   string
	Holder string // the process, its machine, and since when
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s: %s is at work on it", e.Path, e.Holder)
}

// Hint says what to do.
func (e *InUseError) Hint() string { return "--wait waits for it; a process that died holds nothing" }

// An EmbedderError says that an index file has vectors of another embedder.
type EmbedderError struct{ Path, Has, Want string }

func (e *EmbedderError) Error() string {
	return fmt.Sprintf("%s: its vectors are of the embedder %q, not of %q: it is left as it is", e.Path, e.Has, e.Want)
}

// Hint says what to do.
func (e *EmbedderError) Hint() string {
	return "name the embedder it was built with, or replace it: skillrouter index build --out " + e.Path
}

// An EmptyError says that there is nothing to index.
type EmptyError struct{ Dirs []string }

func (e *EmptyError) Error() string {
	return fmt.Sprintf("no skill in %s: nothing was written", strings.Join(e.Dirs, ", "))
}

// Hint says what to do.
func (e *EmptyError) Hint() string {
	return "`skillrouter list --problems` with the same --skills tells what was found"
}

// Reindex brings the index file at path up to date with dirs, which Open takes
// in the same way, or makes it; without dirs, with those that it was built
// from. The file is replaced at once, and only if something changed: who has it
// open goes on, a run that fails or is killed leaves the old one, and texts that
// it embedded are not embedded again. Its bytes are those of a build afresh.
//
// Errors: [InUseError], [EmbedderError], [EmptyError]; [io/fs.ErrNotExist] for
// a dir that is missing, lest an unmounted disk empties an index; and those of
// the embedder. The caller closes Reindexed.Index.
func Reindex(ctx context.Context, path string, opts *ReindexOptions, dirs ...string) (*Reindexed, error) {
	r := &reindex{path: path}
	if opts != nil {
		r.ReindexOptions = *opts
	}
	if r.Embedder == nil {
		e, err := embed.New()
		if err != nil {
			return nil, fmt.Errorf("skillrouter: %w", err)
		}
		r.Embedder = e
	}
	done, err := r.run(ctx, dirs)
	if err != nil {
		return nil, fmt.Errorf("skillrouter: %w", err)
	}
	return done, nil
}

type reindex struct {
	ReindexOptions
	path string
	old  *index.Index // nil if there is none of use
	out  Reindexed
}

func (r *reindex) run(ctx context.Context, dirs []string) (_ *Reindexed, err error) {
	if !r.DryRun {
		release, err := r.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, release()) }()
		if err := sweepTorn(r.path); err != nil {
			return nil, err
		}
	}
	if err := r.openOld(ctx); err != nil {
		return nil, err
	}
	roots, err := r.rootsOf(dirs)
	if err != nil {
		return nil, err
	}
	scan, err := definitions.Look(ctx, roots, &definitions.Options{Depth: r.Depth, Orders: r.Orders, LastGood: r.LastGood})
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	stamp := scan.Stamp()
	remembers := r.LastGood == nil || r.LastGood.Len() > 0 // else the files are read once to be remembered
	if r.old != nil && !r.Afresh && remembers && r.seen(stamp) {
		r.out.Index = r.old
		return &r.out, nil
	}
	c, err := scan.Load(ctx)
	if err != nil {
		return nil, err
	}
	if len(c.Skills) == 0 {
		return nil, &EmptyError{c.Source().Roots()}
	}
	if err := r.update(ctx, c); err != nil || r.DryRun {
		return &r.out, err
	}
	if r.out.Written {
		if err := r.out.Index.WriteFile(r.path); err != nil {
			return nil, errors.Join(err, r.out.Index.Close())
		}
	}
	r.note(stamp, c)
	return &r.out, nil
}

// lock takes the file for this process.
func (r *reindex) lock(ctx context.Context) (release func() error, err error) {
	path := filepath.Join(filepath.Dir(r.path), "."+filepath.Base(r.path)+".lock")
	var waiting func(lockfile.Holder)
	if r.Waiting != nil {
		waiting = func(h lockfile.Holder) { r.Waiting(h.String()) }
	}
	l, err := lockfile.Acquire(ctx, path, waiting)
	var held *lockfile.HeldError
	switch {
	case errors.As(err, &held):
		return nil, &InUseError{r.path, held.Holder.String()}
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", r.path, err)
	}
	return l.Release, nil
}

// openOld opens the file that is there. One that is no index is not written
// over; one that is torn, or of another version, is.
func (r *reindex) openOld(ctx context.Context) error {
	if _, err := os.Stat(r.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !index.IsFile(r.path) {
		return fmt.Errorf("%s is no index: it is not written over", r.path)
	}
	old, err := index.Open(ctx, r.path, nil)
	var form *index.FormatError
	switch {
	case errors.As(err, &form):
		r.out.Old = err
		return nil
	case err != nil:
		return err
	}
	if have, want := old.EmbedderID(), r.Embedder.ID(); have != want && !r.Afresh {
		return errors.Join(&EmbedderError{r.path, have, want}, old.Close())
	}
	r.old = old
	return nil
}

// rootsOf returns the roots of dirs, or those of the old index with its depth
// and orders.
func (r *reindex) rootsOf(dirs []string) ([]definitions.Root, error) {
	if len(dirs) == 0 {
		switch {
		case r.out.Old != nil:
			return nil, fmt.Errorf("%w: and so it is not known of which folders it was built", r.out.Old)
		case r.old == nil:
			return nil, fmt.Errorf("%s: %w: name the folders to build it of", r.path, fs.ErrNotExist)
		}
		if r.old.Source() == nil {
			return nil, fmt.Errorf("%s does not say of which folders it was built: name them", r.path)
		}
		r.as(r.old)
		dirs = r.old.Places()
	}
	for _, d := range dirs {
		if r.FS[d] != nil {
			continue
		}
		if index.IsFile(d) {
			return nil, fmt.Errorf("%s is an index: name the folders that it was built of", d)
		}
		if _, err := os.Stat(d); err != nil {
			return nil, err
		}
	}
	return r.roots(dirs), nil
}

// as takes over how an index was made, where o does not say.
func (o *ReindexOptions) as(ix *index.Index) {
	source := ix.Source()
	if source == nil {
		return
	}
	if o.Depth == 0 {
		o.Depth = source.Depth()
	}
	o.Orders = max(o.Orders, source.Orders())
	o.Bundle = o.Bundle || ix.Bundled()
}

// update makes the new index, or after a dry run only tells of it.
func (r *reindex) update(ctx context.Context, c *definitions.Catalog) (err error) {
	kept, closeKept, err := r.vectors()
	if err != nil {
		return err
	}
	defer func() {
		if e := closeKept(); e != nil && r.out.Work.Unkept == nil {
			r.out.Work.Unkept = e
		}
	}()
	o := &index.Options{Progress: r.Progress, Vectors: kept, Bundle: r.Bundle, Work: &r.out.Work}
	if r.DryRun {
		old := r.old
		if r.Afresh {
			old = nil
		}
		plan, err := index.PlanUpdate(ctx, old, c, r.Embedder, o)
		if err != nil {
			return err
		}
		r.out.Changes, r.out.Work, r.out.Tokens = plan.Changes, plan.Work, plan.Tokens
		r.out.Work.Waited = time.Duration(plan.Work.Embedded) * r.pace()
		return r.closeOld()
	}
	if r.Afresh {
		r.out.Index, err = index.Build(ctx, c, r.Embedder, o)
	} else {
		r.out.Index, r.out.Changes, err = index.Update(ctx, r.old, c, r.Embedder, o)
	}
	r.notePace()
	if err != nil || r.out.Index == r.old {
		return err
	}
	if r.Afresh {
		r.out.Changes = index.Compare(r.old, r.out.Index)
	}
	r.out.Written = true
	return r.closeOld()
}

func (r *reindex) closeOld() error {
	if r.old == nil {
		return nil
	}
	return r.old.Close()
}

// vectors opens the cache of vectors, if the embedder has use for one.
func (o *Options) vectors() (kept index.Vectors, closeKept func() error, err error) {
	if _, ok := o.Embedder.(index.AppendEmbedder); ok || o.CacheDir == "" {
		return nil, func() error { return nil }, nil
	}
	c, err := vectors.Open(filepath.Join(o.CacheDir, "vectors"), nil)
	if err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}

// A state is what is known of an index file: while the folders have the stamp
// and the file the checksum, nothing needs to be read.
type state struct {
	Stamp    string
	Checksum []byte
}

// stateFile is where the state of the index file is kept.
func (r *reindex) stateFile() string {
	full, err := filepath.Abs(r.path)
	if err != nil {
		full = r.path
	}
	return filepath.Join(r.CacheDir, "state", short(full)+".json")
}

// seen tells whether the file was made of the folders as they are.
func (r *reindex) seen(stamp string) bool {
	if r.CacheDir == "" || len(r.FS) > 0 || r.Bundle { // of documents, which a bundle has, the stamp tells nothing
		return false
	}
	data, err := os.ReadFile(r.stateFile())
	var s state
	if err != nil || json.Unmarshal(data, &s) != nil || s.Stamp != r.full(stamp) {
		return false
	}
	sum, err := checksum(r.path)
	return err == nil && bytes.Equal(sum, s.Checksum)
}

// full is the stamp with all else that the index depends on.
func (r *reindex) full(stamp string) string {
	return fmt.Sprintf("%s %d %d %s", stamp, r.Depth, r.Orders, r.Embedder.ID())
}

// fresh is the age up to which a file may change again without another time.
const fresh = 2 * time.Second

// note keeps the state. Where that cannot be done, the next run reads the
// folders; where a file is so new that it may change within one tick of the
// clock, it has to.
func (r *reindex) note(stamp string, c *definitions.Catalog) {
	if r.CacheDir == "" || len(r.FS) > 0 || r.Bundle {
		return
	}
	for i := range c.Skills {
		if time.Since(c.Skills[i].ModTime) < fresh {
			return
		}
	}
	sum, err := checksum(r.path)
	if err != nil {
		return
	}
	data, err := json.Marshal(state{r.full(stamp), sum})
	if err != nil {
		return
	}
	r.keep(r.stateFile(), data)
}

// keep writes a file of what is known. Without it the next run is longer.
func (r *reindex) keep(path string, data []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	_ = atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// paceTexts is how many texts a run must have embedded to tell how long one
// takes.
const paceTexts = 32

func (r *reindex) paceFile() string {
	return filepath.Join(r.CacheDir, "state", short(r.Embedder.ID())+".pace")
}

// notePace keeps how long a text took.
func (r *reindex) notePace() {
	if w := r.out.Work; r.CacheDir != "" && w.Embedded >= paceTexts && w.Waited > 0 {
		r.keep(r.paceFile(), []byte((w.Waited / time.Duration(w.Embedded)).String()))
	}
}

// pace is how long a text took in the last run; 0 if there was none.
func (r *reindex) pace() time.Duration {
	if r.CacheDir == "" {
		return 0
	}
	data, err := os.ReadFile(r.paceFile())
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(string(data))
	if err != nil {
		return 0
	}
	return d
}

// checksum returns the last bytes of an index file, which are its checksum, and
// its size.
func checksum(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sum := make([]byte, 32)
	if _, err := f.ReadAt(sum, info.Size()-32); err != nil {
		return nil, err
	}
	return fmt.Appendf(sum, " %d", info.Size()), nil
}
