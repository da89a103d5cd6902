package skillrouter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"skillrouter/index"
	"skillrouter/router"
)

// A Kept is the index that an [Open] left in Options.CacheDir, for programs
// that answer once and end: it is used as it is, without a look at the folders.
type Kept struct {
	File  string    // the index
	Built time.Time // when it was written, or once a day marked as used

	opts Options
	dirs []string
	own  bool // dirs is the index file itself
}

// FindKept returns the index that was kept last of dirs with these opts. With
// none there the error matches [fs.ErrNotExist]: Open makes one. One index file
// by itself is always kept. It reads no folder of skills.
func FindKept(opts *Options, dirs ...string) (*Kept, error) {
	k := &Kept{dirs: dirs}
	if err := k.opts.complete(opts); err != nil {
		return nil, err
	}
	if len(dirs) == 1 && isIndex(dirs[0], &k.opts) {
		info, err := os.Stat(dirs[0])
		if err != nil {
			return nil, fmt.Errorf("skillrouter: %w", err)
		}
		k.File, k.Built, k.own = dirs[0], info.ModTime(), true
		return k, nil
	}
	none := fmt.Errorf("skillrouter: no index of %s is kept in %q: %w", strings.Join(dirs, ", "), k.opts.CacheDir, fs.ErrNotExist)
	if k.opts.CacheDir == "" || len(k.opts.FS) > 0 {
		return nil, none
	}
	files, err := k.opts.keptFiles(dirs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("skillrouter: %w", err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && (k.File == "" || info.ModTime().After(k.Built)) {
			k.File, k.Built = f, info.ModTime()
		} // else another process has just replaced it
	}
	if k.File == "" {
		return nil, none
	}
	return k, nil
}

// Open returns a router over the index. Its Refresh does nothing.
func (k *Kept) Open(ctx context.Context) (*Router, error) {
	ix, err := index.Open(ctx, k.File, k.opts.Embedder)
	if errors.Is(err, fs.ErrNotExist) && !k.own {
		// Another process put a newer one in its place since.
		var again *Kept
		if again, err = FindKept(&k.opts, k.dirs...); err == nil {
			*k = *again
			ix, err = index.Open(ctx, k.File, k.opts.Embedder)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("skillrouter: %w", err)
	}
	o := k.opts.Router
	o.Reload = nil
	r, err := router.New(ix, k.opts.Embedder, &o)
	if err != nil {
		return nil, err
	}
	if !k.own {
		use(k.File)
	}
	return &Router{Router: r, close: func() error { return r.Index().Close() }}, nil
}

// Changed tells whether the folders differ from those that the index was built
// of. It reads folders but no files; ctx may cut that short.
func (k *Kept) Changed(ctx context.Context) (bool, error) {
	if k.own {
		return false, nil
	}
	stamp, err := k.opts.stamp(ctx, k.dirs)
	if err != nil {
		return false, fmt.Errorf("skillrouter: %w", err)
	}
	return k.opts.keptFile(k.dirs, stamp) != k.File, nil
}
