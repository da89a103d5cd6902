// Command accuracy measures routing on labelled sets and prints a table.
//
// A set is a folder with catalog.jsonl (or, by -catalogs, a folder of skills of
// the same name) and queries-dev.jsonl:
//
//	go run ./bench/accuracy -sets DIR [-catalogs DIR] [name ...]
//
// With -markdown FILE it writes a page instead, of every set at any depth below
// -sets, with the figures of peers that bench/peers wrote (-peers FILE).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"skillrouter"
	"skillrouter/eval"
	"skillrouter/router"
)

func main() {
	sets := flag.String("sets", "", "folder of sets")
	catalogs := flag.String("catalogs", "", "folder of skill folders that go before a set's catalog.jsonl")
	queries := flag.String("queries", "queries-dev.jsonl", "file of cases in each set")
	threshold := flag.Float64("threshold", 0, "threshold; 0 means the default")
	asJSON := flag.Bool("json", false, "print one JSON object a set")
	markdown := flag.String("markdown", "", "write a page to this file instead")
	peers := flag.String("peers", "", "with -markdown: what bench/peers wrote")
	commit := flag.String("commit", "", "with -markdown: what is measured")
	flag.Parse()
	if *markdown != "" {
		if err := writePage(*markdown, *sets, *catalogs, *queries, *threshold, *peers, *commit, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "accuracy:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*sets, *catalogs, *queries, *threshold, *asJSON, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run(sets, catalogs, queries string, threshold float64, asJSON bool, names []string) error {
	if len(names) == 0 {
		found, err := filepath.Glob(filepath.Join(sets, "*", queries))
		if err != nil {
			return err
		}
		for _, f := range found {
			names = append(names, filepath.Base(filepath.Dir(f)))
		}
	}
	if !asJSON {
		fmt.Printf("%-16s %6s %5s  %6s %6s %6s  %6s %6s %6s %6s %5s  %6s %6s %5s %7s\n", "set", "skills", "n",
			"dom@1", "hit@1", "hit@5", "right", "wide", "wrong", "none", "ret", "oos", "auroc", "ece", "p50")
	}
	for _, name := range names {
		catalog := filepath.Join(sets, name, "catalog.jsonl")
		if catalogs != "" {
			if dir := filepath.Join(catalogs, name); isDir(dir) {
				catalog = dir
			}
		}
		rep, skills, err := measure(catalog, filepath.Join(sets, name, queries), threshold)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if asJSON {
			if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"set": name, "skills": skills, "report": rep.Figures}); err != nil {
				return err
			}
			continue
		}
		p := func(x eval.Number) string {
			if !x.Known() {
				return "-"
			}
			return fmt.Sprintf("%.1f", 100*x)
		}
		fmt.Printf("%-16s %6d %5d  %6s %6s %6s  %6s %6s %6s %6s %5.2f  %6s %6s %5s %7s\n", name, skills, rep.N,
			p(rep.DomainHit1), p(rep.SkillHit1), p(rep.SkillHit5), p(rep.RightMatch), p(rep.WideMatch), p(rep.WrongMatch),
			p(rep.NoMatch), rep.Returned, p(rep.AbstainRecall), p(rep.AbstainAUROC), p(rep.ECE), fmt.Sprintf("%.0fµs", rep.LatencyP50))
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func measure(catalog, queries string, threshold float64) (*eval.Report, int, error) {
	ctx := context.Background()
	r, cases, err := load(ctx, catalog, queries, threshold)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	rep, err := eval.Run(ctx, r.Router, cases, nil)
	return rep, len(r.Index().Skills()), err
}

// load reads the cases of a set and opens its catalog.
func load(ctx context.Context, catalog, queries string, threshold float64) (*skillrouter.Router, []eval.Case, error) {
	f, err := os.Open(queries)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	cases, err := eval.ReadCases(f, queries)
	if err != nil {
		return nil, nil, err
	}
	r, err := skillrouter.Open(ctx, &skillrouter.Options{Router: router.Options{Threshold: threshold}}, catalog)
	return r, cases, err
}
