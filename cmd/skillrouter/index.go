package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/index"
)

func (a *app) indexCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Build index files, keep them up to date, or tell what is in one",
		Long: `index keeps a catalog ready to be routed over in one file, which --skills takes
in place of the folders. Definitions are read from the folders, by the paths that
were given when it was built, unless the file is a --bundle, which holds them too.

A file is replaced at once when the new one is complete: who has it open goes on,
and a run that fails or is killed leaves the old one. One process at a time works
on a file; --wait waits for the other.`,
		Example: `  skillrouter index build --skills /opt/skills --out skills.idx
  skillrouter index update skills.idx
  skillrouter index status skills.idx
  skillrouter route --skills skills.idx "turn this PDF into text"`,
		Args: verbsOnly, RunE: help,
	}
	cmd.AddCommand(a.indexBuildCommand(), a.indexUpdateCommand(), a.indexWatchCommand(), a.indexStatusCommand())
	return cmd
}

// indexFigures describe an index file.
type indexFigures struct {
	File        string `json:"file"`
	Embedder    string `json:"embedder"`
	Fingerprint string `json:"fingerprint"`
	Skills      int    `json:"skills"`
	Domains     int    `json:"domains"`
	counts
	Problems severities `json:"problems"`
	Bytes    int64      `json:"bytes"`
}

func newIndexFigures(file string, ix *index.Index) (indexFigures, os.FileInfo, error) {
	info, err := os.Stat(file)
	if err != nil {
		return indexFigures{}, nil, err
	}
	return indexFigures{
		File: file, Embedder: ix.EmbedderID(), Fingerprint: ix.Fingerprint(), Skills: len(ix.Skills()), Domains: len(ix.Domains()),
		counts: newCounts(ix.Counts()), Problems: newSeverities(ix.Problems()), Bytes: info.Size(),
	}, info, nil
}

// add adds the figures to a table.
func (f *indexFigures) add(t *table) {
	t.add("skills", fmt.Sprintf("%d in %s", f.Skills, plural(f.Domains, "domain")))
	t.add("files", f.String())
	t.add("problems", f.Problems.String())
	t.add("embedder", f.Embedder)
	t.add("fingerprint", f.Fingerprint)
}

// age rounds a long time for people.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return plural(max(0, int(d.Seconds())), "second")
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour")
	default:
		return plural(int(d.Hours()/24), "day")
	}
}
