// Command prior fits the weights that package index uses for catalogs without
// triggers of their own: on sets of which only names and descriptions are
// indexed, each set counting alike.
//
//	go run ./bench/prior -sets DIR metatool hwu64 clinc150 crosswoz-zh
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/eval"
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
	var samples []index.Sample
	for _, name := range names {
		more, err := sample(e, filepath.Join(sets, name))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		samples = append(samples, more...)
	}
	fmt.Printf("%.2f\n", index.Fit(samples))
	return nil
}

// sample scores the cases of a set over its catalog without triggers.
func sample(e *embed.Static, dir string) ([]index.Sample, error) {
	ctx := context.Background()
	bare, err := withoutTriggers(filepath.Join(dir, "catalog.jsonl"))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(bare))
	catalog, err := definitions.Load(ctx, []definitions.Root{{Path: bare}}, nil)
	if err != nil {
		return nil, err
	}
	ix, err := index.Build(ctx, catalog, e, nil)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "queries-dev.jsonl")
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cases, err := eval.ReadCases(f, path)
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

// withoutTriggers writes the catalog anew without its triggers.
func withoutTriggers(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "prior")
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row map[string]any
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return "", err
		}
		row["triggers"] = []string{}
		if err := json.NewEncoder(&out).Encode(row); err != nil {
			return "", err
		}
	}
	bare := filepath.Join(dir, "catalog.jsonl")
	return bare, os.WriteFile(bare, out.Bytes(), 0o600)
}
