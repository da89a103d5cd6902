package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"skillrouter/eval"
	"skillrouter/router"
)

// shownAstray is how many turns of each verdict are told where figures stand
// above them.
const shownAstray = 5

// percent writes a share, "-" where it is one of nothing.
func percent(share float64, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// A figure is a row of the table of figures.
type figure struct {
	label string
	of    func(*eval.ReplayReport) string
}

func figures() []figure {
	type report = *eval.ReplayReport
	shares := func(share func(report) float64, of func(report) int) func(report) string {
		return func(r report) string { return percent(share(r), of(r)) }
	}
	labelled, first := func(r report) int { return r.Labelled }, func(r report) int { return r.First }
	kept, switched := func(r report) int { return r.Kept }, func(r report) int { return r.Switched }
	return []figure{
		{"best domain is right", shares(func(r report) float64 { return r.DomainHit1 }, labelled)},
		{"   of the first turns", shares(func(r report) float64 { return r.DomainHit1First }, first)},
		{"   of those that keep the domain", shares(func(r report) float64 { return r.DomainHit1Kept }, kept)},
		{"   of those that switch", shares(func(r report) float64 { return r.DomainHit1Switched }, switched)},
		{"each utterance alone", shares(func(r report) float64 { return r.AloneHit1 }, labelled)},
		{"   of those that keep the domain", shares(func(r report) float64 { return r.AloneHit1Kept }, kept)},
		{"   of those that switch", shares(func(r report) float64 { return r.AloneHit1Switched }, switched)},
		{"right domain visible", shares(func(r report) float64 { return r.DomainVisible }, labelled)},
		{"   matched in the turn", shares(func(r report) float64 { return r.MatchedOnly }, labelled)},
		{"   stayed from before", shares(func(r report) float64 { return r.StickyShare }, labelled)},
		{"right skill visible", shares(func(r report) float64 { return r.SkillVisible }, labelled)},
		{"   ranked first", shares(func(r report) float64 { return r.SkillHit1 }, labelled)},
		{"   in the first five", shares(func(r report) float64 { return r.SkillHit5 }, labelled)},
		{"switches that were seen", shares(func(r report) float64 { return r.SwitchDetected }, switched)},
		{"kept domains taken for a switch", shares(func(r report) float64 { return r.FalseSwitch }, kept)},
		{"tokens of a prompt, estimated", func(r report) string { return fmt.Sprintf("%.0f", r.Layered) }},
		{"   index, summaries, definitions", func(r report) string {
			return fmt.Sprintf("%.0f + %.0f + %.0f", r.IndexTokens, r.Summaries, r.Definitions)
		}},
		{"   flat: all summaries", func(r report) string { return fmt.Sprintf("%.0f", r.Flat) }},
		{"   flat: all descriptions", func(r report) string { return fmt.Sprintf("%.0f", r.Descriptions) }},
		{"new tokens a turn", func(r report) string { return fmt.Sprintf("%.0f", r.LoadedCached) }},
		{"   if all were brought anew", func(r report) string { return fmt.Sprintf("%.0f", r.LoadedUncached) }},
		{"   saved by the caches", func(r report) string { return percent(r.CacheSaving, r.Turns) }},
		{"bytes of a session", func(r report) string { return fmt.Sprintf("%.0f, at most %d", r.StateMean, r.StateMax) }},
	}
}

// writeFigures writes the figures of all replays side by side.
func (a *app) writeFigures(c *catalog, replays []replayed, played bool) {
	r, ix := replays[0].report, c.Index()
	host := "no host"
	if played {
		host = "a host that loads what is right"
	}
	fmt.Fprintf(a.out, "%s with %s, %d of them Chinese; %s\n", plural(r.Dialogues, "dialogue"), plural(r.Turns, "turn"), han(r), host)
	fmt.Fprintf(a.out, "%d labelled: %d first of their dialogue, %d keep the domain, %d switch\n", r.Labelled, r.First, r.Kept, r.Switched)
	fmt.Fprintf(a.out, "%s in %s, threshold %.2f, embedder %s, index %.12s\n\n",
		plural(len(ix.Skills()), "skill"), plural(len(ix.Domains()), "domain"), replays[0].threshold, ix.EmbedderID(), ix.Fingerprint())
	var t table
	if len(replays) > 1 {
		head := []string{""}
		for i, x := range replays {
			t.right = append(t.right, i+1)
			head = append(head, named(x.name))
		}
		t.add(head...)
	}
	for _, f := range figures() {
		row := []string{f.label}
		for _, x := range replays {
			row = append(row, f.of(x.report))
		}
		t.add(row...)
	}
	if r.Calls > 0 {
		row := []string{"calls without required parameters"}
		for _, x := range replays {
			row = append(row, fmt.Sprintf("%d of %d", x.report.Incomplete, x.report.Calls))
		}
		t.add(row...)
	}
	t.write(a.out, "", 0)
}

func named(settings string) string {
	if settings == "" {
		return "as given"
	}
	return settings
}

// writeSweep writes a line for each setting.
func (a *app) writeSweep(c *catalog, replays []replayed) {
	r, ix := replays[0].report, c.Index()
	fmt.Fprintf(a.out, "%s with %s, %d labelled; %s in %s\n\n",
		plural(r.Dialogues, "dialogue"), plural(r.Turns, "turn"), r.Labelled, plural(len(ix.Skills()), "skill"), plural(len(ix.Domains()), "domain"))
	t := table{right: []int{1, 2, 3, 4, 5, 6, 7, 8}}
	t.add("", "domain", "visible", "skill", "stayed", "switch", "tokens", "new", "saved")
	for _, x := range replays {
		r := x.report
		t.add(named(x.name), percent(r.DomainHit1, r.Labelled), percent(r.DomainVisible, r.Labelled), percent(r.SkillVisible, r.Labelled),
			percent(r.StickyShare, r.Labelled), percent(r.SwitchDetected, r.Switched),
			fmt.Sprintf("%.0f", r.Layered), fmt.Sprintf("%.0f", r.LoadedCached), percent(r.CacheSaving, r.Turns))
	}
	t.write(a.out, "", 0)
	fmt.Fprint(a.out, `
domain: the best one is right; visible: a right domain is; skill: a right skill is;
stayed: a right domain is visible from an earlier turn; switch: a switch of domain
was seen; tokens of a prompt, new ones a turn, and how many of them caches saved
`)
}

// writeComparison writes the figures side by side and which turns differ.
func (a *app) writeComparison(c *catalog, replays []replayed, flags *replayFlags) {
	all := flags.onlyWrong
	if !all {
		a.writeFigures(c, replays, flags.play)
		fmt.Fprintln(a.out)
	}
	for _, x := range replays[1:] {
		var better, worse, other []changedTurn
		for _, ch := range changed(replays[0], x) {
			switch {
			case ch.VisibleAfter && !ch.VisibleBefore:
				better = append(better, ch)
			case ch.VisibleBefore && !ch.VisibleAfter:
				worse = append(worse, ch)
			default:
				other = append(other, ch)
			}
		}
		fmt.Fprintf(a.out, "with %s what is right comes in sight in %s, is lost in %d; %d went otherwise\n", x.name, plural(len(better), "turn"), len(worse), len(other))
		for _, list := range [][]changedTurn{better, worse, other} {
			most := len(list)
			if !all {
				most = min(most, shownAstray)
			}
			for _, ch := range list[:most] {
				a.fill(fmt.Sprintf("   %s → %s: ", ch.Before, ch.After), "      ", fmt.Sprintf("%s, turn %d: %s", ch.ID, ch.Turn, ch.User))
			}
			if more := len(list) - most; more > 0 {
				fmt.Fprintf(a.out, "   and %d more (--only-wrong lists all)\n", more)
			}
		}
	}
}

// writeAstray tells where the replay went wrong, at most so many turns of each
// kind; 0 means all.
func (a *app) writeAstray(r replayed, most int) {
	type place struct {
		id   string
		turn *eval.ReplayedTurn
	}
	found := map[eval.Verdict][]place{}
	for _, d := range r.report.Replayed {
		for i := range d.Turns {
			if t := &d.Turns[i]; astray(t) {
				found[t.Verdict] = append(found[t.Verdict], place{d.ID, t})
			}
		}
	}
	if len(found) == 0 {
		fmt.Fprintln(a.out, "\nno turn went astray")
		return
	}
	for _, v := range []eval.Verdict{eval.WrongDomain, eval.NothingMatched, eval.NotShown, eval.MissingParams, eval.WrongSkill} {
		list := found[v]
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(a.out, "\n%s: %s\n", v, plural(len(list), "turn"))
		n := len(list)
		if most > 0 {
			n = min(n, most)
		}
		for _, x := range list[:n] {
			a.fill(fmt.Sprintf("   %s, turn %d: ", clean(x.id), x.turn.Turn), "      ", x.turn.User)
			a.writeWhy(x.turn, r.threshold)
		}
		if more := len(list) - n; more > 0 {
			fmt.Fprintf(a.out, "   and %d more (--only-wrong lists all)\n", more)
		}
	}
}

// writeWhy tells what a turn wanted, got, and why.
func (a *app) writeWhy(t *eval.ReplayedTurn, threshold float64) {
	a.fill("      why:  ", "            ", why(t, threshold))
	a.fill("      want: ", "            ", wanted(t.WantDomains, t.WantSkills))
	a.fill("      got:  ", "            ", got(t))
}

func wanted(domains, skills []string) string {
	if len(skills) == 0 {
		return list(domains)
	}
	return list(domains) + ": " + list(skills)
}

func list(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(cleanAll(names), ", ")
}

// got is what was visible: the domains and the first skills by rank.
func got(t *eval.ReplayedTurn) string {
	if len(t.Skills) == 0 && len(t.Loaded) == 0 {
		return "only the index"
	}
	const most = 3
	first := slices.Clone(t.Skills[:min(most, len(t.Skills))])
	s := "flat: " + list(first)
	switch {
	case len(first) == 0:
		s = "no summary"
	case len(t.Visible) > 0:
		s = wanted(t.Visible, first)
	}
	if more := len(t.Skills) - len(first); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	if t.Outcome == router.None && len(t.Visible) > 0 {
		s += " (fallback)"
	}
	if len(t.Loaded) > 0 {
		s += "; loaded: " + list(t.Loaded)
	}
	return s
}

// why tells, with its numbers, what made the verdict.
func why(t *eval.ReplayedTurn, threshold float64) string {
	right := "no right domain is in the catalog"
	if d := t.RightDomain; d.Rank > 0 {
		right = fmt.Sprintf("the right one, %s, has %s and is number %d", d.Name, against(d.Score, threshold), d.Rank)
		if d.Score >= float32(threshold) && t.Outcome != router.Sticky {
			right += ", but was left out, as tried in vain"
		}
	}
	switch t.Verdict {
	case eval.WrongDomain:
		switch {
		case t.Outcome == router.Sticky:
			return fmt.Sprintf("nothing new matched, so what was shown stayed; %s", right)
		case len(t.Matched) == 0:
			return fmt.Sprintf("no domain of the skill that was named is right; %s", right)
		default:
			return fmt.Sprintf("%s matched; %s", list(t.Matched), right)
		}
	case eval.NothingMatched:
		if len(t.Domains) == 0 || t.RightDomain.Rank == 1 {
			return right
		}
		return fmt.Sprintf("the best, %s, has %s; %s", t.Domains[0].Name, against(t.Domains[0].Score, threshold), right)
	case eval.NotShown:
		switch {
		case len(t.Visible) > 0 && !t.DomainVisible:
			return fmt.Sprintf("%s matched, but only its line had room", list(t.Matched))
		case len(t.Skills) == 0 && len(t.Loaded) > 0:
			return "nothing new matched, and only what was loaded before is left of the right domain"
		}
		return "the right domain is there, but its right skills were cut, left out or are not in the catalog"
	case eval.WrongSkill:
		if len(t.WrongCalls) > 0 {
			return fmt.Sprintf("a recorded call was of %s", list(t.WrongCalls))
		}
		rank := "the right ones are not among the first 25"
		if s := t.RightSkill; s.Rank > 0 {
			rank = fmt.Sprintf("the right one, %s, is number %d", s.Name, s.Rank)
		}
		if len(t.Candidates) > 0 {
			return fmt.Sprintf("%s ranks first; %s", t.Candidates[0].Name, rank)
		}
		return rank
	case eval.MissingParams:
		var parts []string
		for _, m := range t.Missing {
			parts = append(parts, fmt.Sprintf("the call of %s left out %s", m.Name, list(m.Params)))
		}
		return strings.Join(parts, "; ")
	case eval.OK:
	}
	return ""
}

// against compares a score with the threshold.
func against(score float32, threshold float64) string {
	if score < float32(threshold) {
		return fmt.Sprintf("%.2f < %.2f", score, threshold)
	}
	return fmt.Sprintf("%.2f", score)
}

// writeSteps shows each turn; after each a person may go on or end it.
func (a *app) writeSteps(ctx context.Context, r replayed, onlyWrong, wait bool) error {
	next := func() (string, error, bool) { return "", nil, true }
	if wait {
		var stop func()
		next, stop = iter.Pull2(a.lines(ctx))
		defer stop()
	}
	first := true
	for _, d := range r.report.Replayed {
		for i := range d.Turns {
			t := &d.Turns[i]
			if onlyWrong && !astray(t) {
				continue
			}
			if !first && wait {
				fmt.Fprint(a.err, "Enter goes on, q ends: ")
				line, err, ok := next()
				if err != nil {
					return fmt.Errorf("reading stdin: %w", err)
				}
				if !ok || strings.HasPrefix(strings.TrimSpace(line), "q") {
					return nil
				}
			}
			if !first {
				fmt.Fprintln(a.out)
			}
			first = false
			a.writeStep(d.ID, t, r.threshold)
		}
	}
	return nil
}

// writeStep shows one turn: state, candidates, and how it went.
func (a *app) writeStep(id string, t *eval.ReplayedTurn, threshold float64) {
	note := ""
	for _, s := range []string{t.Position, t.Event} {
		if s != "" && !strings.Contains(note, s) {
			note += ", " + s
		}
	}
	a.fill(fmt.Sprintf("%s, turn %d%s: ", clean(id), t.Turn, note), "   ", t.User)
	task := ""
	if t.Task {
		task = ", in a task"
	}
	fmt.Fprintf(a.out, "   outcome     %s; layer %s%s\n", t.Outcome, t.Layer, task)
	ranked := func(list []eval.Standing) string {
		var parts []string
		for _, x := range list {
			mark := ""
			if slices.Contains(t.WantDomains, x.Name) || slices.Contains(t.WantSkills, x.Name) {
				mark = "*"
			}
			parts = append(parts, fmt.Sprintf("%s%s %.2f", x.Name, mark, x.Score))
		}
		if len(parts) == 0 {
			return "-"
		}
		return strings.Join(parts, ", ")
	}
	const rest = "               "
	a.fill("   domains     ", rest, ranked(t.Domains))
	a.fill("   candidates  ", rest, ranked(t.Candidates))
	a.fill("   visible     ", rest, got(t))
	fmt.Fprintf(a.out, "   skills      %d new, %d kept, %d gone\n", t.New, t.Hits, t.Unloaded)
	fmt.Fprintf(a.out, "   tokens      %d: index %d, summaries %d, definitions %d; %d new; session %s\n",
		t.IndexTokens+t.Summaries+t.Definitions, t.IndexTokens, t.Summaries, t.Definitions, t.NewTokens, size(int64(t.StateBytes)))
	a.fill("   events      ", rest, list(t.Events))
	switch {
	case astray(t):
		fmt.Fprintf(a.out, "   ✗ %s\n", t.Verdict)
		a.writeWhy(t, threshold)
	case t.Verdict == eval.OK:
		a.fill("   ✓ ", "     ", wanted(t.WantDomains, t.WantSkills))
	default:
		fmt.Fprintln(a.out, "   - not labelled")
	}
}
