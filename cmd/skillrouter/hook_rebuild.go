package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter"
	"skillrouter/index"
	"skillrouter/internal/atomicfile"
)

const (
	// rebuildLimit is how long an index may take to build.
	rebuildLimit = 10 * time.Minute
	// rebuildPause is how long no process is started after one that failed, or
	// where the hook could not tell in time whether it needs one.
	rebuildPause = time.Minute
)

// check finds out whether the folders changed, beside the work, for a bounded
// time. What it returns waits for that, and tells whether a process is to be
// started that builds the index.
func (h *hook) check(kept *skillrouter.Kept, places *hookPlaces) func() bool {
	known := make(chan bool, 1)
	most := h.deadline / hookCheck
	hangs := time.Now().Add(2 * most)
	ctx, cancel := context.WithTimeout(context.Background(), most)
	go func() {
		defer func() {
			if recover() != nil {
				known <- false // the process that builds the index will tell
			}
		}()
		changed, err := kept.Changed(ctx)
		switch {
		case err != nil: // out of time, or the folders cannot be read: that process looks
			known <- h.mayRebuild(places, false)
		case changed:
			known <- h.mayRebuild(places, true)
		default:
			known <- false
		}
	}()
	return func() bool {
		defer cancel()
		select {
		case yes := <-known:
			return yes
		case <-time.After(time.Until(hangs)): // a disk does
			return false
		}
	}
}

// buildName names what is known of the index of some places.
func (a *app) buildName(places *hookPlaces) (string, error) {
	dir, err := a.stateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join(a.rebuildArgs(places), "\x00")))
	return filepath.Join(dir, "builds", hex.EncodeToString(sum[:8])), nil
}

// mayRebuild tells whether a process is to be started: none is at work, and the
// last one did not just fail. Whoever does not know that there is something to
// do waits a while too.
func (h *hook) mayRebuild(places *hookPlaces, sure bool) bool {
	name, err := h.buildName(places)
	if err != nil {
		return false
	}
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) < rebuildPause && (!sure || info.Size() > 0) {
		return false
	}
	if _, err := os.Stat(name + ".lock"); err != nil {
		return true
	}
	lock := flock.New(name + ".lock")
	ok, err := lock.TryLock()
	return ok && err == nil && lock.Close() == nil
}

// rebuildArgs is the command that builds the index of some places.
func (a *app) rebuildArgs(places *hookPlaces) []string {
	args := []string{"hook", "rebuild"}
	for _, dir := range places.dirs {
		args = append(args, "--skills", dir)
	}
	return append(args, given(a.global, "depth", "orders", "embed-model", "embed-url", "embed-prefix")...)
}

// given returns those of the flags named that stood on the command line, as
// arguments. What stands in the environment is there for other processes too.
func given(flags *pflag.FlagSet, names ...string) []string {
	var args []string
	for _, name := range names {
		f := flags.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			args = append(args, "--"+name+"="+v) // a switch takes its value so alone
		}
	}
	return args
}

// startRebuild starts a process that builds the index, and leaves it alone.
func (h *hook) startRebuild(places *hookPlaces) error {
	self, err := self()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, h.rebuildArgs(places)...) //nolint:noctx // it outlives us
	cmd.Dir = string(filepath.Separator)
	detach(cmd)
	if err := cmd.Start(); err != nil { // its streams are the null device: the client waits for ours to close
		return err
	}
	return cmd.Process.Release()
}

// self is the path of this program: that by which it was called, if it is in
// the search path or has a folder, because a package manager may have put a
// link there that outlives a version.
func self() (string, error) {
	running, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return running, nil
	}
	if called, err = filepath.Abs(called); err != nil {
		return running, nil
	}
	one, err1 := os.Stat(called)
	other, err2 := os.Stat(running)
	if err1 != nil || err2 != nil || !os.SameFile(one, other) {
		return running, nil
	}
	return called, nil
}

// programName is how an agent calls this program: by name if that leads here.
func programName() string {
	path, err := self()
	if err != nil {
		return "skillrouter"
	}
	if found, err := exec.LookPath("skillrouter"); err == nil && found == path {
		return "skillrouter"
	}
	return path
}

// hookRebuildCommand is what the hook starts. It says nothing but to the log.
func (a *app) hookRebuildCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rebuild", Short: "Build the index that the hook answers from, if its folders changed", Hidden: true,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			places, err := a.hookPlaces("")
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), rebuildLimit)
			defer cancel()
			return a.rebuild(ctx, places)
		},
	}
}

// rebuild builds the index, unless another process does.
func (a *app) rebuild(ctx context.Context, places *hookPlaces) error {
	name, err := a.buildName(places)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	lock := flock.New(name+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); !ok {
		return err
	}
	defer lock.Close()
	log := a.hookLog()
	start := time.Now()
	built, err := a.buildKept(ctx, places)
	said := ""
	switch {
	case err != nil:
		said = err.Error()
		log.Warn("the index was not built", "error", clean(said))
	case built != nil:
		log.Info("built the index", "skills", len(built.Skills()), "domains", len(built.Domains()), "ms", time.Since(start).Milliseconds())
	}
	// For the hook to see when this was tried last, and whether in vain.
	return errors.Join(err, atomicfile.Replace(name, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, said)
		return err
	}))
}

// buildKept makes the index of the places if they changed since; else it
// returns nil.
func (a *app) buildKept(ctx context.Context, places *hookPlaces) (*index.Index, error) {
	o, err := a.hookOptions(ctx)
	if err != nil {
		return nil, err
	}
	var built *index.Index
	var unkept error
	o.Built = func(ix *index.Index, err error) { built, unkept = ix, err }
	r, err := skillrouter.Open(ctx, o, places.dirs...)
	if err != nil {
		return nil, err
	}
	return built, errors.Join(unkept, r.Close())
}
