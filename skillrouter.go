// Package skillrouter stands before each turn of an agent that has more skills
// than a prompt can hold, and shows it only what the turn needs.
//
// Skills are folders with a SKILL.md. They are shown in three layers: an index
// of domains, the summaries of the domains that an utterance matches, and the
// definition of a skill that is to be used:
//
//	folders ─► definitions ─► summaries ─► domains ─┐
//	                          embed, store ─────────┴─► index ─► router ─► prompt
//
// [Open] makes a [Router] of folders; its Route answers one utterance, its
// Session carries the layers over a dialogue. No key, network or service is
// needed: the embedder, for English and Chinese, is in the binary.
//
// [Reindex] keeps an index file up to date with its folders, for programs that
// open the file.
//
// Reading order: definitions, summaries, domains, embed, store, index, cache,
// router; this package only joins them.
package skillrouter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/index"
	"skillrouter/router"
)

// Options says how skills are found and routed. The zero value is the default.
type Options struct {
	Router   router.Options            // numbers of routing; its Reload is set by Open
	Orders   definitions.Level         // what happens to skills whose text gives orders to the agent
	Depth    int                       // levels of folders below a root that are looked at; 0 means 6, 1: only root/*/SKILL.md
	CacheDir string                    // where indexes that were built are kept, and found again while nothing changed, for 30 days after they were last used, with vectors of embedders that take their time; "" keeps none
	Embedder index.Embedder            // nil means the built-in one
	Progress func(done, total int)     // called now and then while texts are embedded; nil: not
	Built    func(*index.Index, error) // called with each index that was built rather than found, and why it could not be kept; nil: not
	FS       map[string]fs.FS          // roots that are no directories, by the name given to Open
	LastGood *definitions.LastGood     // keeps a skill as it was while its file is broken, for catalogs edited in use; nil: it is gone until then. No kept index is used with it
}

// A Router is a [router.Router] over folders. It is safe for concurrent use.
type Router struct {
	*router.Router
	dirs  []string // those that can be watched
	close func() error
}

// Problems returns what is odd about the catalog in use, sorted by file and
// line. Nothing of it is fatal.
func (r *Router) Problems() []definitions.Problem { return r.Index().Problems() }

// Close ends the use of r.
func (r *Router) Close() error { return r.close() }

// Open returns a router over the skills of dirs: folders, .jsonl catalogs, or
// one index file by itself. Of two skills of a name the one in the later
// folder wins; a folder that is missing counts as empty; with no dirs there
// are no skills. A nil opts means the zero [Options].
//
// Open writes nothing but what Options.CacheDir asks for.
func Open(ctx context.Context, opts *Options, dirs ...string) (*Router, error) {
	var o Options
	if err := o.complete(opts); err != nil {
		return nil, err
	}
	saved := len(dirs) == 1 && isIndex(dirs[0], &o)
	// Before the folders are read, so that a change meanwhile is one to Refresh.
	stamp, err := o.stamp(ctx, dirs)
	if err != nil {
		return nil, fmt.Errorf("skillrouter: %w", err)
	}
	ix, err := load(ctx, &o, dirs, stamp, nil)
	if err != nil {
		return nil, fmt.Errorf("skillrouter: %w", err)
	}
	o.Router.Reload = func(ctx context.Context, old *index.Index) (*index.Index, error) {
		if saved && !isIndex(dirs[0], &o) { // or it would count as a folder without skills
			return nil, fmt.Errorf("%s is no index any more", dirs[0])
		}
		now, err := o.stamp(ctx, dirs)
		if err != nil || now == stamp {
			return old, err
		}
		ix, err := load(ctx, &o, dirs, now, old)
		if err != nil {
			return nil, err
		}
		stamp = now
		if ix == old {
			return old, nil // touched, but the same
		}
		if ix.Fingerprint() == old.Fingerprint() && ix.Counts() == old.Counts() && slices.Equal(ix.Problems(), old.Problems()) {
			return old, ix.Close() // it was kept
		}
		return ix, nil
	}
	r, err := router.New(ix, o.Embedder, &o.Router)
	if err != nil {
		return nil, err
	}
	watched := slices.DeleteFunc(slices.Clone(dirs), func(d string) bool { return o.FS[d] != nil })
	return &Router{r, watched, func() error { return r.Index().Close() }}, nil
}

// complete takes opts over and fills in the embedder.
func (o *Options) complete(opts *Options) error {
	if opts != nil {
		*o = *opts
	}
	if o.Embedder == nil {
		e, err := embed.New()
		if err != nil {
			return fmt.Errorf("skillrouter: %w", err)
		}
		o.Embedder = e
	}
	return nil
}

// load opens the one index file of dirs, or makes an index of folders, whose
// stamp is given, and which had the index old before, if any.
func load(ctx context.Context, o *Options, dirs []string, stamp string, old *index.Index) (*index.Index, error) {
	for _, d := range dirs {
		if !isIndex(d, o) {
			continue
		}
		if len(dirs) > 1 {
			return nil, fmt.Errorf("%s is an index: it cannot be overlaid with others, build one of all folders", d)
		}
		return index.Open(ctx, d, o.Embedder)
	}
	var kept string
	if o.CacheDir != "" && len(o.FS) == 0 && o.LastGood == nil {
		kept = o.keptFile(dirs, stamp)
		if ix, err := index.Open(ctx, kept, o.Embedder); err == nil {
			use(kept)
			return ix, nil
		} // missing, torn or older: it is built again
	}
	catalog, err := definitions.Load(ctx, o.roots(dirs), &definitions.Options{Depth: o.Depth, Orders: o.Orders, LastGood: o.LastGood})
	if err != nil {
		return nil, err
	}
	ix, err := o.build(ctx, old, catalog)
	if err != nil {
		return nil, err
	}
	if kept != "" {
		err = o.keep(ix, dirs, kept) // it serves all the same
	}
	if o.Built != nil && ix != old {
		o.Built(ix, err)
	}
	return ix, nil
}

// build makes the index of the catalog; old itself if nothing changed.
func (o *Options) build(ctx context.Context, old *index.Index, c *definitions.Catalog) (*index.Index, error) {
	kept, closeKept, err := o.vectors()
	if err != nil {
		return nil, err
	}
	ix, _, err := index.Update(ctx, old, c, o.Embedder, &index.Options{Progress: o.Progress, Vectors: kept})
	_ = closeKept() // the vectors are not needed to route
	return ix, err
}

func isIndex(path string, o *Options) bool { return o.FS[path] == nil && index.IsFile(path) }

func (o *Options) roots(dirs []string) []definitions.Root {
	roots := make([]definitions.Root, len(dirs))
	for i, d := range dirs {
		roots[i] = definitions.Root{Path: d, FS: o.FS[d]}
	}
	return roots
}

// stamp changes when anything does that an index of dirs is made of.
func (o *Options) stamp(ctx context.Context, dirs []string) (string, error) {
	if len(dirs) == 1 && isIndex(dirs[0], o) {
		info, err := os.Stat(dirs[0])
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()), nil
	}
	source, err := definitions.NewSource(o.roots(dirs), &definitions.Options{Depth: o.Depth, Orders: o.Orders})
	if err != nil {
		return "", err
	}
	return source.Stamp(ctx)
}

// keptFile is where the index of dirs is kept: the name tells which folders,
// settings and embedder, and in which state the folders were.
func (o *Options) keptFile(dirs []string, stamp string) string {
	return filepath.Join(o.CacheDir, o.keptName(dirs)+"-"+short(stamp)+".idx")
}

func (o *Options) keptName(dirs []string) string {
	absolute := make([]string, len(dirs))
	for i, d := range dirs {
		absolute[i] = d
		if a, err := filepath.Abs(d); err == nil {
			absolute[i] = a
		}
	}
	return short(fmt.Sprintf("%s\x00%d\x00%d\x00%s", strings.Join(absolute, "\x00"), o.Depth, o.Orders, o.Embedder.ID()))
}

// keptFiles are the indexes kept of dirs, in whichever state these were.
func (o *Options) keptFiles(dirs []string) ([]string, error) {
	entries, err := os.ReadDir(o.CacheDir) // no pattern: the folder's name may hold anything
	if err != nil {
		return nil, err
	}
	var files []string
	name := o.keptName(dirs) + "-"
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) && strings.HasSuffix(e.Name(), ".idx") {
			files = append(files, filepath.Join(o.CacheDir, e.Name()))
		}
	}
	return files, nil
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// keep writes the index and removes those of earlier states of the folders.
func (o *Options) keep(ix *index.Index, dirs []string, path string) error {
	if err := os.MkdirAll(o.CacheDir, 0o700); err != nil {
		return fmt.Errorf("keeping the index: %w", err)
	}
	if err := ix.WriteFile(path); err != nil {
		return fmt.Errorf("keeping the index: %w", err)
	}
	old, err := o.keptFiles(dirs)
	if err != nil {
		return fmt.Errorf("keeping the index: %w", err)
	}
	for _, f := range old {
		if f != path {
			_ = os.Remove(f) // another process may have been faster
		}
	}
	sweep(o.CacheDir, keptBytes)
	return nil
}
