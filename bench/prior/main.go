// Command prior fits the weights that package index uses for catalogs without
// triggers of their own: on the example catalog, whose skills have bodies, and on
// sets, all without their triggers, each counting alike.
//
//	go run ./bench/prior -sets DIR metatool hwu64 clinc150 crosswoz-zh api-bank
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/eval"
	"skillrouter/examples"
	"skillrouter/index"
)

func main() {
	sets := flag.String("sets", "", "folder of sets")
	flag.Parse()
	if err := run(*sets, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "prior:", err)
		os.Exit(1)
	}
}

// perSet is how many utterances a set counts for, so that neither the size of
// a set nor the weights in use now decide.
const perSet = 10_000

// share is the assumed share of utterances that belong to no skill, as in
// package index.
const share = 0.125

func run(sets string, names []string) error {
	e, err := embed.New()
	if err != nil {
		return err
	}
	samples, err := sample(e, definitions.Root{FS: examples.Catalog(), Path: "examples"}, "utterances.jsonl", examples.Utterances())
	if err != nil {
		return fmt.Errorf("the example catalog: %w", err)
	}
	for _, name := range names {
		more, err := ofSet(e, filepath.Join(sets, name))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		samples = append(samples, more...)
	}
	fmt.Printf("%.2f\n", index.Fit(samples))
	return nil
}

// ofSet scores the cases of a set over its catalog without triggers.
func ofSet(e *embed.Static, dir string) ([]index.Sample, error) {
	path := filepath.Join(dir, "queries-dev.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return sample(e, definitions.Root{Path: filepath.Join(dir, "catalog.jsonl")}, path, data)
}

// sample scores the cases in data over the catalog at root, of which only names,
// descriptions and bodies count: what is written for routers is left out.
func sample(e *embed.Static, root definitions.Root, path string, data []byte) ([]index.Sample, error) {
	ctx := context.Background()
	catalog, err := definitions.Load(ctx, []definitions.Root{root}, nil)
	if err != nil {
		return nil, err
	}
	for i := range catalog.Skills {
		s := &catalog.Skills[i]
		s.Summary, s.Triggers, s.NotFor, s.DiffersFrom = "", nil, "", ""
	}
	ix, err := index.Build(ctx, catalog, e, nil)
	if err != nil {
		return nil, err
	}
	cases, err := eval.ReadCases(bytes.NewReader(data), path)
	if err != nil {
		return nil, err
	}
	curve := ix.Calibration().Full
	outside := 0
	for _, c := range cases {
		if c.OutOfScope {
			outside++
		}
	}
	inside := len(cases) - outside
	background := index.Background()
	var asked, strange [2]float64 // by language
	for _, c := range cases {
		asked[index.LanguageOf(c.Text)] += 1 / float64(len(cases))
	}
	for _, u := range background {
		strange[index.LanguageOf(u)]++
	}
	var samples []index.Sample
	add := func(text string, right []string, weight float64) {
		scores := ix.Score(&index.Query{Utterance: text, Vector: e.AppendEmbed(nil, text)})
		defer scores.Release()
		for i, d := range scores.Domains {
			ok := slices.Contains(right, ix.Domains()[d.Domain].Name)
			if i < 2 || ok {
				samples = append(samples, index.Sample{Features: curve.Features(index.LanguageOf(text), d.Evidence, d.Margin), Right: ok, Weight: weight})
			}
		}
	}
	for _, c := range cases {
		if !c.OutOfScope {
			add(c.Text, c.Domains, (1-share)*perSet/float64(inside))
		}
	}
	for _, u := range background {
		l := index.LanguageOf(u)
		add(u, nil, share*perSet*asked[l]/strange[l])
	}
	return samples, nil
}
