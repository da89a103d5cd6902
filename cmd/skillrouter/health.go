package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/keeper"
	"skillrouter/router"
)

// healthFlags are the flags of health.
type healthFlags struct {
	usage    string
	since    string
	least    int
	symptoms bool
	all      bool
}

func (a *app) healthCommand() *cobra.Command {
	flags := healthFlags{least: 10}
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Tell how the skills are used, and what the figures are signs of",
		Long: `health reads the file in which chat, hook, mcp and other hosts note what happens to
skills, and tells: how turns went, the skills used most and least with their
summaries, those never used, those rejected often, summaries older than their
skill's text, and the symptoms that the figures show, each with its cause and cure.
--symptoms shows the whole table.

It proposes which skills to mark frequent, and changes nothing by itself. Each run also
notes the texts as they are now: a text that changes later, while its summary does not,
is told as stale. Nobody's words are in the file.`,
		Example: `  skillrouter health --skills ./skills
  skillrouter health --skills ./skills --since 30d
  skillrouter health --skills ./skills --usage /var/lib/agent/usage.jsonl --json
  skillrouter health --symptoms`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.symptoms {
				return a.writeSymptoms()
			}
			if flags.least < 1 {
				return &useError{errors.New("--least must be 1 or more"), helpHint(cmd)}
			}
			since, err := flags.from(time.Now())
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), false, func(c *catalog) error { return a.health(cmd.Context(), c, &flags, since) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.usage, "usage", "", "`FILE` that the use of skills is noted in (default beside the kept indexes)")
	f.StringVar(&flags.since, "since", "", "count only events of this `TIME`: 30d, 12h, or from a day such as 2026-11-01 on")
	f.IntVar(&flags.least, "least", flags.least, "list the `N` least used skills")
	f.BoolVar(&flags.all, "all", false, "list all skills by use, and all that were never used")
	f.BoolVar(&flags.symptoms, "symptoms", false, "show the table of symptoms, causes and cures")
	return cmd
}

// from is the time from which events count; zero for all.
func (f *healthFlags) from(now time.Time) (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, f.since); err == nil {
		return day, nil
	}
	text := f.since
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 {
			text = ""
		} else {
			text = strconv.Itoa(24*n) + "h"
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return time.Time{}, &useError{fmt.Errorf("--since %s: no time", f.since), "write 30d, 12h, or a day such as 2026-11-01"}
	}
	return now.Add(-d), nil
}

// noteUse has the use of the catalog that is opened next noted, in the file that
// a flag names or the usual one. end ends it: that something was not noted is no
// failure of what was done.
func (a *app) noteUse(named string) (end func()) {
	var noted *keeper.Usage
	a.observe = func(c *catalog) (router.Observer, error) {
		path, err := a.usagePath(c, named)
		if path == "" || err != nil {
			return nil, err
		}
		noted, err = keeper.OpenUsage(path, nil)
		return noted, err
	}
	return func() {
		if noted == nil {
			return
		}
		if err := noted.Close(); err != nil {
			fmt.Fprintf(a.err, "the use of skills is not noted: %v\n", err)
		}
	}
}

// usagePath is the file in which the use of c is noted: what a flag names, else one beside
// the kept indexes, by the places of c; "" for none.
func (a *app) usagePath(c *catalog, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	dir := a.cacheDir()
	if dir == "" || c.builtIn {
		return "", nil
	}
	var places []string
	for _, p := range c.places {
		full, err := filepath.Abs(p)
		if err != nil {
			return "", err
		}
		places = append(places, full)
	}
	sum := sha256.Sum256([]byte(strings.Join(places, "\x00")))
	return filepath.Join(dir, "usage-"+hex.EncodeToString(sum[:8])+".jsonl"), os.MkdirAll(dir, 0o755)
}

func (a *app) health(ctx context.Context, c *catalog, flags *healthFlags, since time.Time) error {
	path, err := a.usagePath(c, flags.usage)
	if err != nil {
		return err
	}
	if path == "" {
		return &useError{errors.New("no usage file: with --no-cache none is kept"), "name one with --usage FILE"}
	}
	loaded, err := a.load(ctx, c)
	if err != nil {
		return err
	}
	if loaded != nil {
		defer loaded.Source().Close()
	}
	history, err := keeper.ReadUsage(path)
	if err != nil {
		return err
	}
	h, err := keeper.ReadHealth(ctx, c.Index(), history, &keeper.HealthOptions{Catalog: loaded, Since: since, Least: flags.least, Allow: a.set.allow()})
	if err != nil {
		return err
	}
	if loaded != nil {
		usage, err := keeper.OpenUsage(path, nil)
		if err != nil {
			return err
		}
		if err := errors.Join(usage.Mark(c.Index(), loaded), usage.Close()); err != nil {
			fmt.Fprintf(a.err, "the texts are not noted: %v\n", err)
		}
	}
	if a.set.json {
		return a.writeHealthJSON(h, path)
	}
	a.writeHealth(h, flags.all, a.short([]string{path})[0])
	return nil
}

// writeSymptoms writes the table of symptoms.
func (a *app) writeSymptoms() error {
	if a.set.json {
		return writeJSON(a.out, symptomsJSON(keeper.Symptoms()), true)
	}
	for _, s := range keeper.Symptoms() {
		a.fill("", "   ", s.Symptom)
		a.fill("   cause: ", "          ", s.Cause)
		a.fill("   cure: ", "         ", s.Cure)
	}
	return nil
}

// writeHealth writes h for people.
func (a *app) writeHealth(h *keeper.Health, all bool, path string) {
	if h.From.IsZero() {
		fmt.Fprintf(a.out, "nothing is noted yet in %s: chat, hook and mcp note the use of skills, and so does a program whose router has a keeper.Usage as observer\n", path)
	} else {
		fmt.Fprintf(a.out, "%s from %s to %s: %d matched, %d kept what was shown, %d asked, %d matched nothing%s\n",
			plural(h.Turns, "turn"), h.From.Format(time.DateOnly), h.To.Format(time.DateOnly), h.Matched, h.Stuck, h.Asked, h.Nothing, stalled(h.Stalled))
	}
	if h.Torn > 0 {
		fmt.Fprintf(a.out, "%s of %s could not be read: passed over\n", plural(h.Torn, "line"), path)
	}
	if len(h.Symptoms) > 0 {
		fmt.Fprintln(a.out, "\nsymptoms")
	}
	for _, s := range h.Symptoms {
		a.fill("   ", "      ", fmt.Sprintf("%s (%s)", s.Symptom, s.Figures))
		a.fill("      cause: ", "             ", s.Cause)
		a.fill("      cure: ", "            ", s.Cure)
	}
	var used []keeper.SkillUse
	for _, u := range h.Skills {
		if u.Times() > 0 || u.Rejected > 0 {
			used = append(used, u)
		}
	}
	most := len(used)
	if !all {
		most = min(most, shownFindings)
	}
	a.writeUses("used most", used[:most])
	a.writeUses("used least: do their summaries say when to use them?", h.Least)
	a.writeUses("rejected often", h.Rejected)
	if len(h.Stale) > 0 {
		fmt.Fprintln(a.out, "\nstale: the text changed after its summary")
		var t table
		for _, s := range h.Stale {
			since := "now"
			if !s.Since.IsZero() {
				since = s.Since.Format(time.DateOnly)
			}
			t.add(clean(s.Skill), since, clean(s.Summary))
		}
		t.write(a.out, "   ", a.width())
	}
	a.writeNames("never used", h.Never, all)
	a.writeNames("used, but not in the catalog any more", h.Gone, all)
	if len(h.Frequent) > 0 {
		a.writeNames("used most of all: metadata.frequent: true would show their parameters with the summary", h.Frequent, true)
	}
}

// stalled says how often sessions backed off, nothing if they did not.
func stalled(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; stalled once"
	}
	return fmt.Sprintf("; stalled %d times", n)
}

func (a *app) writeUses(title string, uses []keeper.SkillUse) {
	if len(uses) == 0 {
		return
	}
	fmt.Fprintf(a.out, "\n%s\n", title)
	t := table{right: []int{1, 2, 3}}
	t.add("", "loaded", "used", "rejected", "last", "")
	for _, u := range uses {
		last := "-"
		if !u.Last.IsZero() {
			last = u.Last.Format(time.DateOnly)
		}
		t.add(clean(u.Skill), strconv.Itoa(u.Loaded), strconv.Itoa(u.Used), strconv.Itoa(u.Rejected), last, clean(u.Summary))
	}
	t.write(a.out, "   ", a.width())
}

func (a *app) writeNames(title string, list []string, all bool) {
	if len(list) == 0 {
		return
	}
	const most = 20
	more := ""
	if n := len(list); !all && n > most {
		list, more = list[:most], fmt.Sprintf(" and %d more (--all shows them)", n-most)
	}
	fmt.Fprintf(a.out, "\n%s\n", title)
	a.fill("   ", "   ", strings.Join(list, ", ")+more)
}

// A useJSON is a skill's use as JSON has it; last is "" for never.
type useJSON struct {
	Skill    string `json:"skill"`
	Summary  string `json:"summary"`
	Loaded   int    `json:"loaded"`
	Used     int    `json:"used"`
	Rejected int    `json:"rejected"`
	Stalled  int    `json:"stalled"`
	Last     string `json:"last_used"`
}

func usesJSON(uses []keeper.SkillUse) []useJSON {
	out := []useJSON{}
	for _, u := range uses {
		out = append(out, useJSON{u.Skill, u.Summary, u.Loaded, u.Used, u.Rejected, u.Stalled, timeJSON(u.Last)})
	}
	return out
}

func timeJSON(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

type symptomJSON struct {
	ID      string `json:"id"`
	Symptom string `json:"symptom"`
	Cause   string `json:"cause"`
	Cure    string `json:"cure"`
	Figures string `json:"figures"`
}

func symptomsJSON(all []keeper.Symptom) []symptomJSON {
	out := []symptomJSON{}
	for _, s := range all {
		out = append(out, symptomJSON(s))
	}
	return out
}

func (a *app) writeHealthJSON(h *keeper.Health, path string) error {
	type staleJSON struct {
		Skill   string `json:"skill"`
		Summary string `json:"summary"`
		Since   string `json:"since"`
	}
	stale := []staleJSON{}
	for _, s := range h.Stale {
		stale = append(stale, staleJSON{s.Skill, s.Summary, timeJSON(s.Since)})
	}
	return writeJSON(a.out, struct {
		File     string        `json:"usage"`
		From     string        `json:"from"`
		To       string        `json:"to"`
		Turns    int           `json:"turns"`
		Matched  int           `json:"matched"`
		Stuck    int           `json:"sticky"`
		Asked    int           `json:"clarified"`
		Nothing  int           `json:"none"`
		Stalled  int           `json:"stalled"`
		Domains  float64       `json:"domains_mean"`
		Symptoms []symptomJSON `json:"symptoms"`
		Skills   []useJSON     `json:"skills"`
		Least    []useJSON     `json:"least_used"`
		Rejected []useJSON     `json:"rejected_often"`
		Stale    []staleJSON   `json:"stale"`
		Never    []string      `json:"never_used"`
		Gone     []string      `json:"gone"`
		Frequent []string      `json:"suggest_frequent"`
		Torn     int           `json:"unreadable_lines"`
	}{
		path, timeJSON(h.From), timeJSON(h.To), h.Turns, h.Matched, h.Stuck, h.Asked, h.Nothing, h.Stalled, h.Domains, symptomsJSON(h.Symptoms),
		usesJSON(h.Skills), usesJSON(h.Least), usesJSON(h.Rejected), stale, orEmpty(h.Never), orEmpty(h.Gone), orEmpty(h.Frequent), h.Torn,
	}, true)
}
