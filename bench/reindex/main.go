//go:build unix

// Command reindex measures what keeping an index up to date takes: a build, a
// run without a change, runs after 10 files were edited, added and removed, each
// in a process of its own; then how many routes a second there are before,
// during and after a swap, and the longest of them. It works on a copy.
//
//	go run ./bench/reindex [-depth N] [-embed-url URL -embed-model MODEL] CATALOG
//
// CPU time says more than wall time where other work is on the machine.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"skillrouter"
	"skillrouter/embed"
	"skillrouter/embed/openai"
	"skillrouter/index"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "reindex:", err)
		os.Exit(1)
	}
}

// A bench is a copy of a catalog and how it is indexed.
type bench struct {
	dir        string // holds skills, x.idx and cache
	depth      int
	url, model string
}

func run() error {
	var b bench
	flag.IntVar(&b.depth, "depth", 0, "levels of folders looked at; 0 means 6")
	flag.StringVar(&b.url, "embed-url", "", "endpoint to embed with")
	flag.StringVar(&b.model, "embed-model", "", "its model")
	step := flag.String("step", "", "what a process of its own does in this folder")
	flag.Parse()
	ctx := context.Background()
	if *step != "" {
		b.dir = *step
		return b.step(ctx)
	}
	if flag.NArg() != 1 {
		return errors.New("name one catalog of skills in folders")
	}
	dir, err := os.MkdirTemp("", "reindex")
	if err != nil {
		return err
	}
	b.dir = dir
	return errors.Join(b.all(ctx, flag.Arg(0)), os.RemoveAll(dir))
}

func (b *bench) skills() string { return filepath.Join(b.dir, "skills") }

// all measures on a copy of the catalog.
func (b *bench) all(ctx context.Context, catalog string) error {
	if err := os.CopyFS(b.skills(), os.DirFS(catalog)); err != nil {
		return err
	}
	files, err := b.files()
	if err != nil {
		return err
	}
	if len(files) < 40 {
		return fmt.Errorf("%s has %d SKILL.md files, at least 40 are needed", catalog, len(files))
	}
	fmt.Printf("%s: %d SKILL.md files\n%-12s %8s %8s %8s %8s %9s  %s\n", catalog, len(files), "run", "wall s", "cpu s", "peak MB", "texts", "embedded", "changed")
	for _, s := range []struct {
		name string
		edit func() error
	}{
		{"build", func() error { return nil }},
		{"no change", func() error { return nil }},
		{"10 edited", func() error { return each(files[:10], change) }},
		{"10 added", func() error { return each(files[10:20], b.add) }},
		{"10 removed", func() error { return each(files[20:30], os.Remove) }},
	} {
		if err := s.edit(); err != nil {
			return err
		}
		if err := b.measure(s.name); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return b.swap(ctx, files[30:40])
}

// files lists every SKILL.md, spread over the catalog.
func (b *bench) files() ([]string, error) {
	var files []string
	err := filepath.WalkDir(b.skills(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "SKILL.md" {
			files = append(files, path)
			long := time.Now().Add(-time.Hour) // as in a catalog that is not edited right now
			err = errors.Join(os.Chmod(path, 0o644), os.Chtimes(path, long, long))
		}
		return err
	})
	spread := make([]string, 0, len(files))
	for from := range 97 {
		for i := from; i < len(files); i += 97 {
			spread = append(spread, files[i])
		}
	}
	return spread, err
}

func each(files []string, do func(string) error) error {
	for _, f := range files {
		if err := do(f); err != nil {
			return err
		}
	}
	return nil
}

func change(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, "\nOne more sentence about what to do.\n"...), 0o644)
}

func (b *bench) add(file string) error {
	name := fmt.Sprintf("added-%x", file[len(file)-min(len(file), 24):])
	dir := filepath.Join(filepath.Dir(filepath.Dir(file)), name)
	text := fmt.Sprintf("---\nname: %.60s\ndescription: Does what nobody did before, number %s.\n---\nDo it.\n", name, name)
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644))
}

// result is what a process of its own tells.
type result struct {
	Texts, Embedded          int
	Added, Changed, Removed  int
	Written                  bool
	Skills, Domains, Refiled int
}

func (b *bench) options() (*skillrouter.Options, error) {
	o := &skillrouter.Options{Depth: b.depth, CacheDir: filepath.Join(b.dir, "cache")}
	var err error
	if b.model == "" {
		o.Embedder, err = embed.New()
		return o, err
	}
	o.Embedder, err = openai.New(context.Background(), &openai.Options{BaseURL: b.url, Model: b.model, Key: os.Getenv("OPENAI_API_KEY")})
	return o, err
}

// step is one run.
func (b *bench) step(ctx context.Context) error {
	o, err := b.options()
	if err != nil {
		return err
	}
	r, err := skillrouter.Reindex(ctx, filepath.Join(b.dir, "x.idx"), &skillrouter.ReindexOptions{Options: *o}, b.skills())
	if err != nil {
		return err
	}
	c := cmp.Or(r.Changes, &index.Changes{})
	return json.NewEncoder(os.Stdout).Encode(result{
		r.Work.Texts, r.Work.Embedded, len(c.Added), len(c.Changed), len(c.Removed), r.Written,
		len(r.Index.Skills()), len(r.Index.Domains()), len(c.Refiled),
	})
}

func (b *bench) measure(name string) error {
	cmd := exec.Command(os.Args[0], "-step", b.dir, "-depth", fmt.Sprint(b.depth), "-embed-url", b.url, "-embed-model", b.model) //nolint:noctx // it ends with us
	cmd.Stderr = os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	wall := time.Since(start)
	var r result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return err
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	peak := 0.0
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = float64(u.Maxrss) / 1000 // KB on Linux
	}
	fmt.Printf("%-12s %8.2f %8.2f %8.0f %8d %9d  +%d ~%d -%d of %d skills in %d domains, written %v\n", name, wall.Seconds(), cpu.Seconds(), peak,
		r.Texts, r.Embedded, r.Added, r.Changed, r.Removed, r.Skills, r.Domains, r.Written)
	return nil
}

// swap routes without a pause while files are edited and the router refreshes.
func (b *bench) swap(ctx context.Context, edited []string) error {
	o, err := b.options()
	if err != nil {
		return err
	}
	r, err := skillrouter.Open(ctx, o, b.skills())
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var spent []time.Duration
	stop := make(chan struct{})
	var group sync.WaitGroup
	var failed error
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			start := time.Now()
			_, err := r.Route(ctx, "help me to review a pull request and to write its tests")
			mu.Lock()
			spent, failed = append(spent, time.Since(start)), errors.Join(failed, err)
			mu.Unlock()
		}
	})
	phase := func(name string, do func() error) error {
		mu.Lock()
		spent = nil
		mu.Unlock()
		start := time.Now()
		err := do()
		wall := time.Since(start)
		mu.Lock()
		defer mu.Unlock()
		if len(spent) > 0 {
			slices.Sort(spent)
			fmt.Printf("%-12s %6.0f routes a second, p50 %v, longest %v\n", name, float64(len(spent))/wall.Seconds(),
				spent[len(spent)/2].Round(time.Microsecond), spent[len(spent)-1].Round(10*time.Microsecond))
		}
		return err
	}
	wait := func() error { time.Sleep(2 * time.Second); return nil }
	err = errors.Join(
		phase("before", wait),
		phase("during", func() error {
			if err := each(edited, change); err != nil {
				return err
			}
			changed, err := r.Refresh(ctx)
			if err == nil && !changed {
				err = errors.New("the refresh saw no change")
			}
			return err
		}),
		phase("after", wait),
	)
	close(stop)
	group.Wait()
	return errors.Join(err, failed, r.Close())
}
