package keeper_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/index"
	"skillrouter/keeper"
	"skillrouter/router"
)

// exampleIndex is the index of one skill.
func exampleIndex(ctx context.Context) (*index.Index, *definitions.Catalog, *embed.Static) {
	fsys := fstest.MapFS{"commits/SKILL.md": {Data: []byte("---\nname: commits\ndescription: Git commit message 规范文档\n---\nbody\n")}}
	catalog, err := definitions.Load(ctx, []definitions.Root{{Path: "skills", FS: fsys}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	e, err := embed.New()
	if err != nil {
		log.Fatal(err)
	}
	ix, err := index.Build(ctx, catalog, e, nil)
	if err != nil {
		log.Fatal(err)
	}
	return ix, catalog, e
}

func ExampleLint() {
	ctx := context.Background()
	ix, catalog, e := exampleIndex(ctx)
	report, err := keeper.Lint(ctx, ix, &keeper.LintOptions{Catalog: catalog, Embedder: e})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Severity >= definitions.Warning && f.Skill != "" {
			fmt.Printf("%s: %s: %s\n", f.File, f.Rule, f.What)
		}
	}
	// Output:
	// skills/commits/SKILL.md: no-when: the description says what but not when
}

// A usage file is fed by the sessions of a router, and read for the health of its catalog.
func ExampleUsage() {
	ctx := context.Background()
	ix, catalog, e := exampleIndex(ctx)
	dir, err := os.MkdirTemp("", "usage")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "usage.jsonl")

	usage, err := keeper.OpenUsage(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := router.New(ix, e, &router.Options{Observer: usage})
	if err != nil {
		log.Fatal(err)
	}
	session, err := r.Session("user-42", nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.Load(ctx, "commits"); err != nil {
		log.Fatal(err)
	}
	if err := usage.Close(); err != nil {
		log.Fatal(err)
	}

	history, err := keeper.ReadUsage(path)
	if err != nil {
		log.Fatal(err)
	}
	health, err := keeper.ReadHealth(ctx, ix, history, &keeper.HealthOptions{Catalog: catalog})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(health.Skills[0].Skill, health.Skills[0].Loaded)
	// Output: commits 1
}
