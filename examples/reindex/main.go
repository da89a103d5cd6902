// Command reindex keeps the indexes of several catalogs up to date in one run,
// as a nightly job does: one file each, written only where something changed; a
// catalog that fails does no harm to the others.
//
//	go run ./examples/reindex OUT ./skills ./team-skills
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"skillrouter"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("usage: reindex OUT CATALOG …")
	}
	// With Options.Embedder an endpoint embeds, and CacheDir keeps what it was paid for.
	opts := &skillrouter.ReindexOptions{Waiting: func(holder string) { log.Printf("waiting for %s", holder) }}
	var failed []error
	for _, catalog := range args[1:] {
		name := strings.TrimSuffix(filepath.Base(catalog), ".jsonl")
		if err := reindex(ctx, filepath.Join(args[0], name+".idx"), opts, catalog, out); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", catalog, err))
		}
	}
	return errors.Join(failed...)
}

func reindex(ctx context.Context, path string, opts *skillrouter.ReindexOptions, catalog string, out io.Writer) error {
	r, err := skillrouter.Reindex(ctx, path, opts, catalog)
	if err != nil {
		return err
	}
	defer r.Index.Close()
	what := "unchanged"
	if c := r.Changes; c != nil {
		what = fmt.Sprintf("written, %d added, %d changed, %d removed", len(c.Added), len(c.Changed), len(c.Removed))
	}
	_, err = fmt.Fprintf(out, "%s %s: %d skills in %d domains, %d problems\n",
		path, what, len(r.Index.Skills()), len(r.Index.Domains()), len(r.Index.Problems()))
	return err
}
