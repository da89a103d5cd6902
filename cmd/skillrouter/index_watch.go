package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/definitions"
	"skillrouter/index"
)

func (a *app) indexWatchCommand() *cobra.Command {
	var poll time.Duration
	cmd := &cobra.Command{
		Use:   "watch FILE",
		Short: "Keep an index file up to date while its folders are edited",
		Long: `watch brings an index FILE up to date, as update does, and again at each edit of
the folders that it was built of, or those of --skills, until it is interrupted.
Edits are told by the system and looked for every --poll in any case. While a
SKILL.md is broken, the skill stays as it was, and the problem is told.

Programs that have the file open see each new one by their own refresh.`,
		Example: `  skillrouter index watch skills.idx
  skillrouter index watch skills.idx --skills /opt/skills --skills ./skills --json`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.watch(cmd.Context(), args[0], poll) },
	}
	cmd.Flags().DurationVar(&poll, "poll", 10*time.Second, "`TIME` between looks without a sign of an edit")
	return cmd
}

func (a *app) watch(ctx context.Context, file string, poll time.Duration) error {
	if poll <= 0 {
		return &useError{errors.New("--poll must be above 0"), "edits are seen at once on most disks, whatever it is"}
	}
	for _, place := range a.set.skills {
		if err := checkPlace(place); err != nil {
			return &failure{fmt.Errorf("--skills %s: %w", place, err), "name a folder of skills or a .jsonl catalog"}
		}
	}
	e, err := a.embedder(ctx)
	if err != nil {
		return err
	}
	o := &skillrouter.ReindexOptions{
		Options: skillrouter.Options{
			Depth: int(a.set.depth), Orders: a.set.level(), Embedder: e, CacheDir: a.cacheDir(), LastGood: definitions.NewLastGood(),
		},
		Waiting: func(holder string) { fmt.Fprintf(a.err, "waiting for %s\n", clean(holder)) },
	}
	told := map[string]bool{} // problems
	made := func(r *skillrouter.Reindexed) {
		a.tellWatched(file, r)
		a.tellNewProblems(r.Index, told)
	}
	w := &skillrouter.WatchOptions{Poll: poll, Failed: func(err error) {
		fmt.Fprintf(a.err, "%s: left as it is: %s\n", clean(file), clean(strings.TrimPrefix(err.Error(), "skillrouter: ")))
	}}
	fmt.Fprintf(a.err, "watching what %s is built of; ctrl-C ends it\n", clean(file))
	err = skillrouter.WatchReindex(ctx, file, o, w, made, a.set.skills...)
	if errors.Is(err, context.Canceled) {
		return a.out.err // being interrupted is how it ends
	}
	return err
}

// tellWatched writes what an edit came to, in one line.
func (a *app) tellWatched(file string, r *skillrouter.Reindexed) {
	c := newChanges(r.Changes)
	now := time.Now()
	if a.set.json {
		_ = writeJSON(a.out, struct { // the app's writer keeps the error
			Time        time.Time `json:"time"`
			File        string    `json:"file"`
			Fingerprint string    `json:"fingerprint"`
			Skills      int       `json:"skills"`
			Embedded    int       `json:"embedded"`
			Changes     *changes  `json:"changes"`
		}{now.UTC().Truncate(time.Second), file, r.Index.Fingerprint(), len(r.Index.Skills()), r.Work.Embedded, c}, false)
		return
	}
	var t table
	c.add(&t)
	var parts []string
	for _, row := range t.rows {
		parts = append(parts, strings.Join(row, " "))
	}
	fmt.Fprintf(a.out, "%s  %s, %s: %s\n", now.Format("15:04:05"), clean(file), plural(len(r.Index.Skills()), "skill"), strings.Join(parts, "; "))
}

// tellNewProblems writes the problems that refuse or keep back a skill and were not
// told before.
func (a *app) tellNewProblems(ix *index.Index, told map[string]bool) {
	now := map[string]bool{}
	for _, p := range ix.Problems() {
		if p.Severity != definitions.Error {
			continue
		}
		line := p.String()
		if now[line] = true; !told[line] {
			fmt.Fprintf(a.err, "%s\n", clean(line))
		}
	}
	clear(told)
	for line := range now {
		told[line] = true
	}
}
