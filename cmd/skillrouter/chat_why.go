package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"skillrouter/router"
)

// shownWhy is how many domains /why tells about.
const shownWhy = 8

// why explains the last route.
func (ch *chat) why() error {
	r := ch.last
	if r == nil {
		return errors.New("/why: nothing was routed yet")
	}
	tr := r.Trace()
	ch.a.fill("", "   ", fmt.Sprintf("turn %d: %s", r.Turn, outcome(r)))
	ch.a.fill("rule ", "   ", rule(r))
	ch.whyDomains(&tr)
	ch.a.writeCandidates(r, ch.all)
	if len(tr.Terms) > 0 {
		fmt.Fprintln(ch.a.out)
		ch.a.fill("words compared: ", "   ", strings.Join(tr.Terms, ", "))
	}
	scores := "by a built-in prior: the catalog has few phrases"
	if tr.Fitted > 0 {
		scores = fmt.Sprintf("fitted on %s of the catalog", plural(tr.Fitted, "phrase"))
	}
	fmt.Fprintf(ch.a.out, "\nscores %s\nover %s in %s, embedder %s, index %.12s\n",
		scores, plural(tr.CatalogSkills, "skill"), plural(tr.CatalogDomains, "domain"), tr.Embedder, tr.Fingerprint)
	return nil
}

// whyDomains writes what the scores of the domains are made of.
func (ch *chat) whyDomains(tr *router.Trace) {
	if len(tr.Domains) == 0 {
		return
	}
	most := len(tr.Domains)
	if !ch.all {
		most = min(most, shownWhy)
	}
	t := table{right: []int{1, 3, 4, 5}}
	t.add("", "score", "", "evidence", "before", "margin", fmt.Sprintf("domain (threshold %.2f)", tr.Threshold))
	before := false
	for _, d := range tr.Domains[:most] {
		mark, name := "", clean(d.Name)
		switch {
		case d.Excluded:
			name += " (tried already)"
		case d.Matched:
			mark = "✓"
		case d.Fallback:
			name += " (fallback)"
		}
		before = before || d.Context != 0
		t.add(mark, fmt.Sprintf("%.2f", d.Score), bar(float64(d.Score)), part(d.Evidence), part(d.Context), fmt.Sprintf("%+.2f", d.Margin), name)
	}
	fmt.Fprintln(ch.a.out)
	t.write(ch.a.out, "", ch.a.width())
	if more := len(tr.Domains) - most; more > 0 {
		fmt.Fprintf(ch.a.out, "   and %s (--all shows all)\n", plural(more, "more domain"))
	}
	if before {
		fmt.Fprintln(ch.a.out, "   before: what of the evidence came from the turns before")
	} else {
		fmt.Fprintln(ch.a.out, "   nothing of it came from the turns before")
	}
	for _, d := range tr.Domains {
		found := slices.Concat(d.Keywords, d.Triggers)
		slices.Sort(found)
		if found = slices.Compact(found); len(found) > 0 {
			ch.a.fill("   found of "+clean(d.Name)+": ", "      ", strings.Join(found, ", "))
		}
	}
}

// state writes all that is known of the session.
func (ch *chat) state(ctx context.Context) error {
	now, err := ch.look(ctx, nil)
	if err != nil {
		return err
	}
	st := &now.state
	task := "none"
	if st.Task {
		task = "under way"
	}
	row := func(label, value string) {
		ch.a.fill(fmt.Sprintf("   %-19s ", label), strings.Repeat(" ", 23), value)
	}
	names := func(label string, names []string) {
		if len(names) == 0 {
			names = []string{"-"}
		}
		row(label, strings.Join(names, ", "))
	}
	row("turn", fmt.Sprint(st.Turn))
	row("layer", st.Layer.String())
	row("task", task)
	names("domains visible", st.Domains)
	if now.flat {
		row("summaries", fmt.Sprintf("flat: all %d", len(now.skills)))
	} else {
		names("summaries", st.Skills)
	}
	names("summaries kept of", st.Alive)
	names("definitions loaded", st.Loaded)
	names("left out", st.LeftOut)
	names("offered", ch.offered)
	estimated := ""
	if now.tokens.Estimated {
		estimated = ", estimated"
	}
	row("tokens", fmt.Sprintf("%d: index %d, summaries %d, definitions %d%s",
		now.tokens.Total(), now.tokens.Index, now.tokens.Summaries, now.tokens.Definitions, estimated))
	if len(st.Events) > 0 {
		fmt.Fprintln(ch.a.out, "   last events")
	}
	for _, e := range st.Events {
		ch.a.fill(fmt.Sprintf("     turn %-3d ", e.Turn), strings.Repeat(" ", 14), eventLine(e))
	}
	return nil
}
