package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter"
	"skillrouter/cache"
	"skillrouter/eval"
	"skillrouter/examples"
	"skillrouter/internal/text"
	"skillrouter/router"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	step, onlyWrong, play bool
	compare, sweep        []string
}

func (a *app) replayCommand() *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay [FILE]",
		Short: "Route saved dialogues again and tell where they go astray",
		Long: `replay routes each dialogue of FILE in a session of its own and tells how often the
right domains and skills were found and visible, what the prompts cost, and where
turns went astray: wrong domain, wrong skill, nothing matched, or required
parameters that a recorded call left out. Without FILE the built-in dialogues are
replayed over the example catalog; - reads stdin.

FILE holds one dialogue a line, as JSON:

  {"id": "a", "turns": [{"user": "…", "domains": ["Mail"], "skills": ["send-email"]}]}

A turn without domains is routed but not counted. It may have an event ("load",
"follow-up", "switch", "stall", "task-end") and calls, those of tools that were
recorded: {"skill": "…", "name": "…", "arguments": {…}} or as the OpenAI API has
them; what they must hold stands in the tools.json of skills. A dialogue may have
an index, the fingerprint of the one that it was recorded over.

--compare and --sweep replay with other settings: any flags of routing, such as
threshold, max-summaries, summary-turns and mode. Those of loaded definitions,
such as definition-life, change nothing without --play: nothing is loaded then.`,
		Example: `  skillrouter replay
  skillrouter replay dialogues.jsonl --skills ./skills --step
  skillrouter replay dialogues.jsonl --skills ./skills --compare threshold=0.6,max-summaries=15
  skillrouter replay --sweep summary-turns=0,3,5,8 --sweep max-summaries=15,25,40`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(onlyOne(cmd, "step", "compare", "sweep"), onlyOne(cmd, "step", "json"), onlyOne(cmd, "only-wrong", "sweep")); err != nil {
				return err
			}
			return a.replay(cmd.Context(), args, &flags)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&flags.step, "step", false, "show the state and the candidates at each turn; Enter goes on, q ends")
	f.BoolVar(&flags.onlyWrong, "only-wrong", false, "only the turns that went astray, all of them")
	f.BoolVar(&flags.play, "play", false, "play a host whose model is right: it loads the right skills that are visible and ends tasks")
	f.StringArrayVar(&flags.compare, "compare", nil, "`SETTINGS` such as threshold=0.6,mode=flat to set beside those given; may repeat")
	f.StringArrayVar(&flags.sweep, "sweep", nil, "`SETTING` with values, such as summary-turns=0,3,5,8; may repeat, then each with each")
	return cmd
}

func (a *app) replay(ctx context.Context, args []string, flags *replayFlags) error {
	variants, err := a.variants(flags)
	if err != nil {
		return err
	}
	dialogues, err := a.dialogues(args)
	if err != nil {
		return err
	}
	work := func(c *catalog) error {
		opts := eval.ReplayOptions{Play: flags.play, Allow: a.set.allow()}
		if hasCalls(dialogues) {
			if opts.Required, err = a.required(ctx, c); err != nil {
				return err
			}
		}
		replays := make([]replayed, len(variants))
		for i, v := range variants {
			if replays[i], err = replayWith(ctx, c, v, dialogues, opts); err != nil {
				return err
			}
		}
		a.replayNotes(c, dialogues, replays[0].report)
		return a.writeReplays(ctx, c, replays, flags, len(args) == 1 && args[0] == "-")
	}
	if len(args) > 0 {
		return a.with(ctx, false, work)
	}
	c := &catalog{places: []string{builtIn}, builtIn: true}
	err = a.openPlaces(ctx, c, &skillrouter.Options{
		Router: a.set.options(), Depth: int(a.set.depth), FS: map[string]fs.FS{builtIn: examples.Catalog()},
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.err, "replaying the built-in dialogues over the example catalog; a FILE and --skills DIR name your own")
	return errors.Join(work(c), c.Close())
}

// dialogues reads those of the argument, else the built-in ones.
func (a *app) dialogues(args []string) ([]eval.Dialogue, error) {
	switch {
	case len(args) == 0 && len(a.set.skills) > 0:
		return nil, &useError{errors.New("no FILE: the built-in dialogues are for the example catalog"), "name the dialogues for these skills"}
	case len(args) == 0:
		return eval.ReadDialogues(strings.NewReader(string(examples.Dialogues())), "dialogues.jsonl")
	case args[0] == "-":
		return eval.ReadDialogues(a.in, "stdin")
	}
	file, err := os.Open(args[0])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return eval.ReadDialogues(file, args[0])
}

// A variant is settings to replay with.
type variant struct {
	name string // what differs from the flags, "" if nothing does
	set  settings
}

// variants are the settings as given, then those to compare with; or those of a
// sweep.
func (a *app) variants(flags *replayFlags) ([]variant, error) {
	all := []variant{{"", a.set}}
	for _, list := range flags.compare {
		v := all[0]
		for pair := range strings.SplitSeq(list, ",") {
			var err error
			if v, err = v.with(pair); err != nil {
				return nil, &useError{fmt.Errorf("--compare %s: %w", list, err), "such as --compare threshold=0.6,max-summaries=15"}
			}
		}
		all = append(all, v)
	}
	for _, list := range flags.sweep {
		name, values, _ := strings.Cut(list, "=")
		var next []variant
		for _, v := range all {
			for value := range strings.SplitSeq(values, ",") {
				x, err := v.with(name + "=" + value)
				if err != nil {
					return nil, &useError{fmt.Errorf("--sweep %s: %w", list, err), "such as --sweep summary-turns=0,3,5,8"}
				}
				next = append(next, x)
			}
		}
		all = next
	}
	return all, nil
}

// with sets one flag of routing, written NAME=VALUE.
func (v variant) with(pair string) (variant, error) {
	pair = strings.TrimSpace(pair)
	// What the catalog is made of is the same for all.
	set, err := v.set.with([]string{"skills", "depth", "exclude", "json", "no-cache", "embed-model", "embed-url", "embed-prefix"}, pair)
	if err != nil {
		return v, err
	}
	return variant{strings.TrimPrefix(v.name+", "+pair, ", "), set}, nil
}

// with sets flags, each written NAME=VALUE, that are none of fixed.
func (s settings) with(fixed []string, pairs ...string) (settings, error) {
	var other app
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	other.flags(f)
	other.set = s
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if f.Lookup(name) == nil || slices.Contains(fixed, name) {
			var names []string
			f.VisitAll(func(x *pflag.Flag) {
				if !slices.Contains(fixed, x.Name) {
					names = append(names, x.Name)
				}
			})
			return s, fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
		}
		if err := f.Lookup(name).Value.Set(value); err != nil {
			return s, fmt.Errorf("%s=%s: %w", name, value, err)
		}
	}
	return other.set, nil
}

// replayed is what came of a variant.
type replayed struct {
	name      string
	threshold float64
	report    *eval.ReplayReport
}

// replayWith replays the dialogues with the settings of v.
func replayWith(ctx context.Context, c *catalog, v variant, dialogues []eval.Dialogue, opts eval.ReplayOptions) (replayed, error) {
	store, err := cache.NewSessions(nil)
	if err != nil {
		return replayed{}, err
	}
	opts.Meter = eval.NewMeter(store)
	o := v.set.options()
	o.Store = opts.Meter
	r, err := router.New(c.Index(), c.embedder, &o)
	if err != nil {
		return replayed{}, err
	}
	blank, err := r.Route(ctx, "")
	if err != nil {
		return replayed{}, err
	}
	report, err := eval.Replay(ctx, r, dialogues, &opts)
	if err != nil {
		return replayed{}, err
	}
	return replayed{v.name, blank.Threshold, report}, nil
}

// replayNotes tells on stderr where dialogues and catalog do not fit together.
func (a *app) replayNotes(c *catalog, dialogues []eval.Dialogue, r *eval.ReplayReport) {
	other := 0
	first := ""
	for i, d := range r.Replayed {
		if d.OtherIndex {
			if other++; first == "" {
				first = dialogues[i].Index
			}
		}
	}
	if other > 0 {
		fmt.Fprintf(a.err, "%s recorded over another index, %.12s, which is gone: replayed over the current one, %.12s\n",
			were(other, "dialogue"), clean(first), c.Index().Fingerprint())
	}
	for _, x := range []struct {
		noun  string
		names []string
	}{{"domain", r.UnknownDomains}, {"skill", r.UnknownSkills}} {
		if n := len(x.names); n > 0 {
			const most = 5
			list := strings.Join(cleanAll(x.names[:min(n, most)]), ", ")
			if n > most {
				list += ", …"
			}
			fmt.Fprintf(a.err, "the catalog does not have %s of the labels: %s\n", plural(n, x.noun), list)
		}
	}
}

func were(n int, noun string) string {
	if n == 1 {
		return plural(n, noun) + " was"
	}
	return plural(n, noun) + " were"
}

// writeReplays writes what came of all variants.
func (a *app) writeReplays(ctx context.Context, c *catalog, replays []replayed, flags *replayFlags, piped bool) error {
	switch {
	case a.set.json:
		return writeJSON(a.out, newReplayOutput(c, replays, flags), false)
	case len(flags.sweep) > 0:
		a.writeSweep(c, replays)
	case len(replays) > 1:
		a.writeComparison(c, replays, flags)
	case flags.step:
		return a.writeSteps(ctx, replays[0], flags.onlyWrong, a.tty.in && !piped)
	case flags.onlyWrong:
		a.writeAstray(replays[0], 0)
	default:
		a.writeFigures(c, replays, flags.play)
		a.writeAstray(replays[0], shownAstray)
	}
	return nil
}

// han counts the turns in Chinese.
func han(r *eval.ReplayReport) int {
	n := 0
	for _, d := range r.Replayed {
		for i := range d.Turns {
			if text.HanShare(d.Turns[i].User) >= 0.3 {
				n++
			}
		}
	}
	return n
}

// astray tells whether a turn went wrong.
func astray(t *eval.ReplayedTurn) bool { return t.Verdict != "" && t.Verdict != eval.OK }
