package main

import (
	"fmt"
	"strings"

	"skillrouter/router"
)

// How much of a route fits on one screen.
const (
	shownDomains    = 5
	shownCandidates = 5
	shownSummaries  = 10
)

// outcome says in plain words what a route came to.
func outcome(r *router.Route) string {
	switch r.Outcome {
	case router.Empty:
		return "nothing to route: the utterance holds no word"
	case router.Direct:
		var names []string
		for _, c := range r.Candidates {
			if c.Named {
				names = append(names, clean(c.Name))
			}
		}
		return "named outright: " + strings.Join(names, ", ")
	case router.One:
		return "one domain matches: " + strings.Join(matched(r), ", ")
	case router.Several:
		names := matched(r)
		return fmt.Sprintf("%s match: %s", plural(len(names), "domain"), strings.Join(names, ", "))
	case router.Pair:
		return "two domains match together: " + strings.Join(matched(r), ", ")
	case router.Sticky:
		return "nothing new matches: what was shown stays"
	case router.Clarify:
		return fmt.Sprintf("nothing reaches %.2f, but something is near", r.Threshold)
	case router.None:
		if len(r.Domains) == 0 {
			return "nothing matches: there is no domain"
		}
		return "nothing matches; nearest: " + strings.Join(cleanAll(r.Nearest()), ", ")
	default:
		return string(r.Outcome)
	}
}

// writeRoute writes a route to be read on one screen.
func (a *app) writeRoute(c *catalog, r *router.Route, explain bool) {
	fmt.Fprintln(a.out, outcome(r))
	if explain {
		fmt.Fprintf(a.out, "rule %s\n", rule(r))
	}
	if r.Degraded {
		fmt.Fprintln(a.out, "degraded: the embedder gave no vector, only words were compared")
	}
	if r.Clipped {
		fmt.Fprintln(a.out, "clipped: of this long utterance only head and tail were looked at")
	}
	a.writeDomains(r, explain)
	a.writeCandidates(r, explain)
	if explain {
		a.writeFound(c, r)
	}
	if q, ok := r.Question(); ok {
		fmt.Fprintf(a.out, "\nto ask the user: %s\n", clean(q))
	}
	a.writeShown(r)
	if explain {
		ix := c.Index()
		scores := "by a built-in prior: the catalog has few phrases"
		if n := fittedOn(c, r); n > 0 {
			scores = fmt.Sprintf("fitted on %s of the catalog", plural(n, "phrase"))
		}
		fmt.Fprintf(a.out, "\nscores %s\nover %s in %s, embedder %s, index %.12s\n",
			scores, plural(len(ix.Skills()), "skill"), plural(len(ix.Domains()), "domain"), ix.EmbedderID(), ix.Fingerprint())
	}
}

func (a *app) writeDomains(r *router.Route, all bool) {
	if len(r.Domains) == 0 {
		return
	}
	hidden := 0
	t := table{right: []int{1, 3}}
	t.add("", "score", "", "margin", fmt.Sprintf("domain (threshold %.2f)", r.Threshold))
	for i, d := range r.Domains {
		if i >= shownDomains && !all && !d.Matched && !d.Fallback {
			hidden++
			continue
		}
		mark, name := "", clean(d.Name)
		if d.Matched {
			mark = "✓"
		}
		switch {
		case d.Excluded:
			name += " (tried already)"
		case d.Fallback:
			name += " (fallback)"
		}
		t.add(mark, fmt.Sprintf("%.2f", d.Score), bar(float64(d.Score)), fmt.Sprintf("%+.2f", d.Margin), name)
	}
	fmt.Fprintln(a.out)
	t.write(a.out, "", a.width())
	if hidden > 0 {
		fmt.Fprintf(a.out, "   and %s (--explain shows all)\n", plural(hidden, "more domain"))
	}
}

func (a *app) writeCandidates(r *router.Route, all bool) {
	if len(r.Candidates) == 0 {
		return
	}
	most := min(shownCandidates, len(r.Candidates))
	if all {
		most = len(r.Candidates)
	}
	t := table{right: []int{1, 2, 3, 4}}
	head := []string{"", "evidence", "similar", "words", "phrase"}
	if all {
		t.right, head = append(t.right, 5), append(head, "not for")
	}
	t.add(append(head, "skill", "domain")...)
	for _, x := range r.Candidates[:most] {
		if r.Outcome == router.Direct && !x.Named && x.Evidence == 0 {
			continue // when a skill is named, the others may not have been looked at
		}
		mark := ""
		if x.Named {
			mark = "✓"
		}
		cells := []string{mark, part(x.Evidence), part(x.Similarity), part(x.Lexical), part(x.Phrase)}
		if all {
			cells = append(cells, part(x.Against))
		}
		t.add(append(cells, clean(x.Name), clean(x.Domain))...)
	}
	fmt.Fprintln(a.out)
	t.write(a.out, "", a.width())
}

// part is a part of the evidence; one that is 0 says nothing.
func part(v float32) string {
	switch s := fmt.Sprintf("%.2f", v); {
	case v == 0:
		return "-"
	case s == "-0.00":
		return "0.00"
	default:
		return s
	}
}

// writeFound tells which keywords and triggers stand in the utterance.
func (a *app) writeFound(c *catalog, r *router.Route) {
	found := keywords(c, r)
	var t table
	for _, d := range r.Domains {
		if in := found[d.Name]; len(in) > 0 {
			t.add("keywords", clean(d.Name), strings.Join(cleanAll(in), ", "))
		}
	}
	found = triggers(c, r)
	for _, x := range r.Candidates {
		if in := found[x.Name]; len(in) > 0 {
			t.add("triggers", clean(x.Name), strings.Join(cleanAll(in), ", "))
		}
	}
	if len(t.rows) > 0 {
		fmt.Fprintln(a.out, "\nfound in the utterance:")
		t.write(a.out, "   ", a.width())
	}
}

// writeShown tells what an agent would see below the index.
func (a *app) writeShown(r *router.Route) {
	for _, s := range r.Loaded {
		fmt.Fprintf(a.out, "\nloaded: the definition of %s\n", clean(s.Name))
	}
	switch {
	case len(r.Summaries) > 0 && r.Flat:
		fmt.Fprintf(a.out, "\nshown, flat: all %s\n", plural(len(r.Summaries), "summary"))
	case len(r.Summaries) > 0 && r.Outcome != router.Sticky && !r.Matched():
		fmt.Fprintf(a.out, "\nshown: %s of the fallback domain\n", plural(len(r.Summaries), "summary"))
	case len(r.Summaries) > 0:
		fmt.Fprintf(a.out, "\nshown: %s\n", plural(len(r.Summaries), "summary"))
	case len(r.Loaded) == 0 && len(r.Domains) > 0 && r.Outcome != router.Direct:
		fmt.Fprintln(a.out, "\nshown: only the index of domains")
	}
	var t table
	for _, m := range r.Summaries[:min(shownSummaries, len(r.Summaries))] {
		t.add(clean(m.Skill), clean(m.Text))
	}
	t.write(a.out, "   ", a.width())
	if more := len(r.Summaries) - shownSummaries; more > 0 {
		fmt.Fprintf(a.out, "   and %d more (--prompt shows all)\n", more)
	}
	if len(r.Lines) > 0 {
		fmt.Fprintf(a.out, "   also matching, by their line only: %s\n", strings.Join(cleanAll(r.Lines), ", "))
	}
}
