// Package watch tells when files below some places may have changed: at once,
// where the system tells of it, and every now and then in any case, since it
// does not everywhere (network disks, containers, too many folders).
package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options say how places are watched. The zero value is the default.
type Options struct {
	Quiet   time.Duration // a change is told once no other came for so long; 0 means 300 ms
	Poll    time.Duration // between looks without a sign of a change; 0 means 10 s, negative none
	Unheard func(error)   // told once why the system does not tell of all changes; nil: not
}

const (
	defaultQuiet = 300 * time.Millisecond
	defaultPoll  = 10 * time.Second
	mostQuiet    = 10 // times Quiet that a change is held back while others come
	pollShare    = 50 // times what a look takes that lie between two: at most 2 % of a core
)

// Run calls look whenever something at the places, folders or files, may have
// changed, never twice at once, until ctx ends, the error of which it returns. A
// place that is not there is waited for. When it returns nothing of it is left:
// no goroutine and no open file.
func Run(ctx context.Context, places []string, opts *Options, look func(ctx context.Context)) error {
	w := watcher{quiet: defaultQuiet, poll: defaultPoll, unheard: func(error) {}}
	if opts != nil {
		if opts.Quiet > 0 {
			w.quiet = opts.Quiet
		}
		if opts.Poll != 0 {
			w.poll = opts.Poll
		}
		if opts.Unheard != nil {
			w.unheard = opts.Unheard
		}
	}
	for _, p := range places {
		full, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		w.places = append(w.places, full)
	}
	return w.run(ctx, look)
}

type watcher struct {
	places  []string // absolute
	quiet   time.Duration
	poll    time.Duration
	unheard func(error)
	notify  *fsnotify.Watcher // nil: the system tells of nothing
	told    bool              // unheard was called
}

func (w *watcher) run(ctx context.Context, look func(ctx context.Context)) (err error) {
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		w.notify = nil
		w.fail(err)
	} else {
		defer func() {
			if e := w.notify.Close(); e != nil && ctx.Err() == nil {
				err = e
			}
		}()
	}
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.notify != nil {
		events, errs = w.notify.Events, w.notify.Errors
	}
	timer := time.NewTimer(0) // the first look: something may have changed before we listened
	defer timer.Stop()
	var first time.Time // of the changes that are held back
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-events:
			if !w.concerns(e.Name) {
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			timer.Reset(max(0, min(w.quiet, first.Add(mostQuiet*w.quiet).Sub(now))))
		case err := <-errs:
			w.fail(err)
			timer.Reset(w.quiet) // events may be lost
		case <-timer.C:
			first = time.Time{}
			w.listen() // before the look, so that what comes meanwhile is heard
			start := time.Now()
			look(ctx)
			if w.poll > 0 {
				timer.Reset(max(w.poll, pollShare*time.Since(start)))
			}
		}
	}
}

func (w *watcher) fail(err error) {
	if !w.told {
		w.told = true
		w.unheard(err)
	}
}

// concerns tells whether a path is of a place, or leads to one.
func (w *watcher) concerns(path string) bool {
	return slices.ContainsFunc(w.places, func(p string) bool { return within(path, p) || within(p, path) })
}

// within tells whether path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// listen listens to all folders of the places. Those that vanish are dropped by
// the system.
func (w *watcher) listen() {
	if w.notify == nil {
		return
	}
	heard := map[string]bool{}
	for _, d := range w.notify.WatchList() {
		heard[d] = true
	}
	add := func(dir string) bool {
		if heard[dir] {
			return true
		}
		err := w.notify.Add(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.fail(err)
			return false
		}
		heard[dir] = true
		return true
	}
	for _, p := range w.places {
		// Beside a file or a folder that may be replaced, or is still to come.
		at := filepath.Dir(p)
		for {
			if info, err := os.Stat(at); err == nil && info.IsDir() || at == filepath.Dir(at) {
				break
			}
			at = filepath.Dir(at)
		}
		if !add(at) {
			return
		}
		// What cannot be read shows when it is looked at.
		_ = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
				return nil
			case d.Name() == ".git" || d.Name() == "node_modules":
				return fs.SkipDir
			case !add(path):
				return fs.SkipAll
			}
			return nil
		})
	}
}
