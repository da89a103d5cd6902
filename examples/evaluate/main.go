// Command evaluate measures how well a catalog's skills are found: it routes
// labelled utterances and prints the figures.
//
//	go run ./examples/evaluate                                # the built-in catalog and utterances
//	go run ./examples/evaluate ./skills utterances.jsonl      # your own
//
// A line of utterances is {"text": "…", "skills": ["…"], "domains": ["…"]}, or
// {"text": "…", "oos": true} for one that no skill serves.
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
	cases, err := eval.ReadCases(bytes.NewReader(data), path)
	if err != nil {
		return err
	}
	r, err := skillrouter.Open(ctx, &opts, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	report, err := eval.Run(ctx, r.Router, cases, nil)
	if err != nil {
		return err
	}
	ix := r.Index()
	fmt.Fprintf(out, "%d utterances, %d of them out of scope; %d skills in %d domains, embedder %s\n",
		report.N, report.OutOfScope, len(ix.Skills()), len(ix.Domains()), ix.EmbedderID())
	for _, figure := range []struct {
		share eval.Number
		what  string
	}{
		{report.SkillHit1, "have a right skill first"},
		{report.SkillHit5, "have one among the first five"},
		{report.DomainHit1, "have a right domain first"},
		{report.RightMatch, "match one or two domains, a right one among them"},
		{report.WrongMatch, "match only wrong ones"},
		{report.NoMatch, "match nothing"},
		{report.AbstainRecall, "of those out of scope match nothing"},
	} {
		fmt.Fprintf(out, "%5.1f %%  %s\n", 100*figure.share, figure.what)
	}
	return nil
}
