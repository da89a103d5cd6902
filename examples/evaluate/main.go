// Command evaluate measures how well a catalog's skills are found: it routes
// labelled utterances and prints the rates with their 95 % intervals.
//
//	go run ./examples/evaluate                                # the built-in catalog and utterances
//	go run ./examples/evaluate ./skills utterances.jsonl      # your own
//
// A line of utterances is {"text": "…", "skills": ["…"], "domains": ["…"]}, or
// {"text": "…", "oos": true} for one that no skill serves. "skillrouter eval"
// tells more of the same.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"skillrouter"
	"skillrouter/eval"
	"skillrouter/examples"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var opts skillrouter.Options
	dir, path, data := "examples", "utterances.jsonl", examples.Utterances()
	switch len(args) {
	case 0:
		opts.FS = map[string]fs.FS{dir: examples.Catalog()}
	case 2:
		dir, path = args[0], args[1]
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return err
		}
	default:
		return errors.New("usage: evaluate [SKILLS UTTERANCES]")
	}
	cases, err := eval.Read(bytes.NewReader(data), path)
	if err != nil {
		return err
	}
	r, err := skillrouter.Open(ctx, &opts, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := eval.Check(r.Index(), cases); err != nil { // labels that the catalog does not have
		return err
	}
	report, err := eval.Run(ctx, r.Router, cases.Cases, nil)
	if err != nil {
		return err
	}
	c := report.Conditions
	fmt.Fprintf(out, "%d utterances, %d of them out of scope; %d skills in %d domains, threshold %.2f, embedder %s\n",
		report.N, report.OutOfScope, c.Skills, c.Domains, c.Threshold, c.Embedder)
	intervals := eval.Intervals(report.Rows)
	for _, figure := range eval.Kinds() {
		x, ok := intervals[figure.Name] // of rates that there are rows for
		if !ok {
			continue
		}
		fmt.Fprintf(out, "%5.1f %%  %5.1f to %5.1f  %s: %s\n", 100*figure.Of(report.Figures), 100*x[0], 100*x[1], figure.Name, figure.What)
	}
	for _, note := range report.Notes() {
		fmt.Fprintln(out, note)
	}
	return nil
}
