package skillrouter

import (
	"context"
	"fmt"
	"time"

	"skillrouter/index"
	"skillrouter/internal/watch"
)

// WatchOptions say how edits are followed. The zero value is the default.
type WatchOptions struct {
	Quiet   time.Duration        // an edit counts once no other came for so long; 0 means 300 ms
	Poll    time.Duration        // between looks without a sign of an edit, or longer where a look takes long; 0 means 10 s, negative none
	Changed func(*index.Changes) // called after each change, when the new index is in use; nil: not
	Failed  func(error)          // called when something is wrong, once as long as it stays the same; what was in use stays so; nil: not
}

func (o *WatchOptions) complete() WatchOptions {
	var w WatchOptions
	if o != nil {
		w = *o
	}
	if w.Changed == nil {
		w.Changed = func(*index.Changes) {}
	}
	if w.Failed == nil {
		w.Failed = func(error) {}
	}
	return w
}

// run calls look at each sign of an edit until ctx ends, the error of which it
// returns.
func (o *WatchOptions) run(ctx context.Context, places []string, look func(ctx context.Context) error) error {
	var last string // what failed
	tell := func(err error) {
		if s := err.Error(); s != last && ctx.Err() == nil {
			last = s
			o.Failed(err)
		}
	}
	w := &watch.Options{Quiet: o.Quiet, Poll: o.Poll, Unheard: func(err error) {
		o.Failed(fmt.Errorf("skillrouter: watch: edits are found by looking now and then: %w", err))
	}}
	return watch.Run(ctx, places, w, func(ctx context.Context) {
		if err := look(ctx); err != nil {
			tell(err)
			return
		}
		last = ""
	})
}

// Watch follows the edits of what Open was given, folders, .jsonl catalogs or a
// saved index, and lets each be a Refresh, until ctx ends; it returns the error
// of ctx. Roots of Options.FS tell of nothing: they are polled. Routes under way
// finish on their index. Options.LastGood keeps skills whose files are broken
// for a while.
func (r *Router) Watch(ctx context.Context, opts *WatchOptions) error {
	o := opts.complete()
	return o.run(ctx, r.dirs, func(ctx context.Context) error {
		before := r.Index()
		changed, err := r.Refresh(ctx)
		if changed {
			o.Changed(index.Compare(before, r.Index()))
		}
		return err
	})
}

// WatchReindex is [Reindex] at each edit of dirs, until ctx ends, the error of
// which it returns. Those who have the file open see each new one by their own
// Refresh or Watch. After the first run, made is called with what became of each
// that changed something.
func WatchReindex(ctx context.Context, path string, opts *ReindexOptions, w *WatchOptions, made func(*Reindexed), dirs ...string) error {
	var r ReindexOptions
	if opts != nil {
		r = *opts
	}
	places := dirs
	if len(places) == 0 {
		ix, err := index.Open(ctx, path, nil)
		if err != nil {
			return fmt.Errorf("skillrouter: %w", err)
		}
		places = ix.Places()
		r.as(ix)
		if err := ix.Close(); err != nil {
			return err
		}
	}
	o := w.complete()
	return o.run(ctx, places, func(ctx context.Context) error {
		done, err := Reindex(ctx, path, &r, places...)
		if err != nil {
			return err
		}
		if done.Written {
			made(done)
			o.Changed(done.Changes)
		}
		return done.Index.Close()
	})
}
