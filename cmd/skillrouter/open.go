package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/embed"
	"skillrouter/embed/openai"
	"skillrouter/examples"
	"skillrouter/index"
)

// builtIn is how the example catalog names itself.
const builtIn = "examples"

// A catalog is what a verb works on.
type catalog struct {
	*skillrouter.Router
	embedder index.Embedder
	places   []string // folders, catalogs or the index file it comes from
	builtIn  bool     // it is the example catalog
}

// with does work on the catalog of the flags, else of the known places, else, if
// that is fine, on the example catalog. It says on stderr which it is.
func (a *app) with(ctx context.Context, fallBack bool, work func(c *catalog) error) error {
	c, err := a.open(ctx, fallBack)
	if err != nil {
		return err
	}
	return errors.Join(work(c), c.Close())
}

func (a *app) open(ctx context.Context, fallBack bool) (*catalog, error) {
	c := &catalog{}
	o := skillrouter.Options{Router: a.set.options(), Depth: int(a.set.depth), Orders: a.set.level()}
	o.Router.Logger = a.log
	var err error
	switch c.places, err = a.places(fallBack); {
	case err != nil:
		return nil, err
	case len(c.places) == 0:
		c.places, c.builtIn = []string{builtIn}, true
		o.FS = map[string]fs.FS{builtIn: examples.Catalog()}
		fmt.Fprintln(a.err, "using the built-in example catalog; --skills DIR names your own")
	}
	return c, a.openPlaces(ctx, c, &o)
}

// places are those of --skills, else the known ones, which it names on stderr;
// it is an error if there are none, unless that is fine.
func (a *app) places(noneIsFine bool) ([]string, error) {
	for _, place := range a.set.skills {
		if err := checkPlace(place); err != nil {
			return nil, &failure{fmt.Errorf("--skills %s: %w", place, err), "name a folder of skills, a .jsonl catalog or a saved index"}
		}
	}
	if len(a.set.skills) > 0 {
		return a.set.skills, nil
	}
	known := a.knownPlaces()
	switch {
	case len(known) > 0:
		fmt.Fprintf(a.err, "using %s\n", strings.Join(a.short(known), ", "))
	case !noneIsFine:
		return nil, &useError{errors.New("no skills: none of the known places exists"), "name a folder with --skills DIR"}
	}
	return known, nil
}

// checkPlace says what is wrong with a place that was named. The library takes
// one that is missing for empty, but here it is a slip of the keyboard.
func checkPlace(place string) error {
	info, err := os.Stat(place)
	var at *fs.PathError
	switch {
	case errors.As(err, &at):
		return at.Err
	case err != nil:
		return err
	case !info.IsDir() && !strings.EqualFold(filepath.Ext(place), ".jsonl") && !index.IsFile(place):
		return errors.New("is no catalog")
	}
	return nil
}

// openPlaces opens the places of c.
func (a *app) openPlaces(ctx context.Context, c *catalog, o *skillrouter.Options) error {
	var err error
	if c.embedder, err = a.embedder(ctx); err != nil {
		return err
	}
	o.Embedder = c.embedder
	if o.CacheDir = a.cacheDir(); c.builtIn {
		o.CacheDir = "" // nothing of it is worth keeping
	}
	start := time.Now()
	progress := a.progress()
	o.Progress = progress.show
	var built *index.Index
	var unkept error
	o.Built = func(ix *index.Index, err error) { built, unkept = ix, err }
	c.Router, err = skillrouter.Open(ctx, o, c.places...)
	progress.end()
	if err != nil {
		return err
	}
	switch {
	case unkept != nil:
		fmt.Fprintf(a.err, "the index is not kept: %v\n", unkept)
	case built != nil && o.CacheDir != "" && len(built.Skills()) > 0:
		fmt.Fprintf(a.err, "built the index of %s in %s, kept in %s\n",
			plural(len(built.Skills()), "skill"), took(time.Since(start)), a.short([]string{o.CacheDir})[0])
	}
	if len(c.Index().Skills()) == 0 {
		fmt.Fprintf(a.err, "no skill was found: `skillrouter list --problems` tells what was\n")
	}
	for _, name := range a.set.exclude {
		if _, ok := c.Index().Lookup(name); !ok {
			fmt.Fprintf(a.err, "--exclude: no skill %q\n", name)
		}
	}
	return nil
}

// embedder is the built-in one, or that of the endpoint of the flags.
func (a *app) embedder(ctx context.Context) (index.Embedder, error) {
	s := &a.set
	switch {
	case s.embedModel != "":
		return openai.New(ctx, &openai.Options{
			BaseURL: cmp.Or(s.embedURL, a.env("OPENAI_BASE_URL")), Key: a.env("OPENAI_API_KEY"), Model: s.embedModel, Prefix: s.embedPrefix,
		})
	case s.embedURL != "" || s.embedPrefix != "":
		return nil, &useError{errors.New("--embed-url and --embed-prefix go with --embed-model"), "name a model of the endpoint with --embed-model"}
	default:
		return embed.New()
	}
}

// vector is the vector of a text.
func (c *catalog) vector(ctx context.Context, text string) ([]float32, error) {
	vectors, err := c.embedder.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// cacheDir is where built indexes are kept, "" if they are not.
func (a *app) cacheDir() string {
	if a.set.noCache {
		return ""
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "" // no home: nowhere to keep anything
	}
	return filepath.Join(dir, "skillrouter")
}

// knownPlaces are the folders where agents keep skills, as far as they exist:
// the user's, then those of the project in the current folder.
func (a *app) knownPlaces() []string {
	return existing(append(a.userPlaces(), projectPlaces("")...))
}

// userPlaces are where agents keep the user's own skills.
func (a *app) userPlaces() []string {
	home := a.env("HOME")
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".agents", "skills"), filepath.Join(home, ".claude", "skills")}
}

// projectPlaces are where agents look for those of the project in dir.
func projectPlaces(dir string) []string {
	var places []string
	for _, p := range []string{".agent/skills", ".agents/skills", ".claude/skills", "skills"} {
		places = append(places, filepath.Join(dir, filepath.FromSlash(p)))
	}
	return places
}

// existing returns the folders among places, each once: in the home folder the
// user's and the project's may be the same.
func existing(places []string) []string {
	var seen []fs.FileInfo
	return slices.DeleteFunc(places, func(p string) bool {
		info, err := os.Stat(p)
		if err != nil || !info.IsDir() || slices.ContainsFunc(seen, func(s fs.FileInfo) bool { return os.SameFile(s, info) }) {
			return true
		}
		seen = append(seen, info)
		return false
	})
}

// short writes paths below the home folder with ~.
func (a *app) short(paths []string) []string {
	out := make([]string, len(paths))
	home := a.env("HOME")
	for i, p := range paths {
		if rest, ok := strings.CutPrefix(p, home+string(filepath.Separator)); ok && home != "" {
			p = "~" + string(filepath.Separator) + rest
		}
		out[i] = clean(p)
	}
	return out
}

// took rounds a time for people.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}
