// Command reindex builds the indexes of several catalogs in one run, as a
// nightly job does: one file each, written only where something changed; a
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

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/index"
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
	e, err := embed.New()
	if err != nil {
		return err
	}
	var failed []error
	for _, catalog := range args[1:] {
		if err := reindex(ctx, e, catalog, args[0], out); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", catalog, err))
		}
	}
	return errors.Join(failed...)
}

func reindex(ctx context.Context, e index.Embedder, catalog, dir string, out io.Writer) error {
	info, err := os.Stat(catalog)
	if err != nil {
		return err
	}
	name := filepath.Base(catalog)
	if !info.IsDir() {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	c, err := definitions.Load(ctx, []definitions.Root{{Path: catalog}}, nil)
	if err != nil {
		return err
	}
	ix, err := index.Build(ctx, c, e, nil)
	if err != nil {
		return err
	}
	defer ix.Close()
	path := filepath.Join(dir, name+".idx")
	what := "unchanged"
	if old, err := index.Open(ctx, path, e); err != nil || old.Fingerprint() != ix.Fingerprint() {
		what = "written"
		if err := ix.WriteFile(path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s %s: %d skills in %d domains, %d problems\n", path, what, len(ix.Skills()), len(ix.Domains()), len(ix.Problems()))
	return err
}
