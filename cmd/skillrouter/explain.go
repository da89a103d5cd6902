package main

import (
	"fmt"
	"slices"
	"strings"

	"skillrouter/internal/text"
	"skillrouter/router"
)

// rule tells, with its numbers, why a route came out as it did.
func rule(r *router.Route) string {
	best := r.Top()
	switch r.Outcome {
	case router.Empty:
		return "empty: no word in the utterance, nothing was scored"
	case router.Direct:
		return "direct: the utterance is or holds the name of a skill, scores decide nothing"
	case router.One:
		return fmt.Sprintf("one: only %s reaches the threshold, %.2f ≥ %.2f", clean(best.Name), best.Score, r.Threshold)
	case router.Several:
		return fmt.Sprintf("several: %s reach the threshold of %.2f", plural(len(matched(r)), "domain"), r.Threshold)
	case router.Pair:
		return fmt.Sprintf("pair: %s, but the best two are close and reach it together", under(r))
	case router.Sticky:
		if best := r.Top(); best.Matched {
			return fmt.Sprintf("sticky: %s has %.2f ≥ %.2f, but nothing new is asked for", clean(best.Name), best.Score, r.Threshold)
		}
		return fmt.Sprintf("sticky: %s, so what was shown stays", under(r))
	case router.Clarify:
		return fmt.Sprintf("clarify: %s, but near enough to ask", under(r))
	case router.None:
		return fmt.Sprintf("none: %s", under(r))
	default:
		return string(r.Outcome)
	}
}

// fittedOn is how many phrases of the catalog the scores were fitted on; 0 if
// the prior stands alone.
func fittedOn(c *catalog, r *router.Route) int {
	calibration := c.Index().Calibration()
	if r.Degraded {
		return calibration.Lexical.Phrases
	}
	return calibration.Full.Phrases
}

// under says how far the best domain is from the threshold.
func under(r *router.Route) string {
	if len(r.Domains) == 0 {
		return "there is no domain"
	}
	if r.Top().Excluded {
		return fmt.Sprintf("%s was tried already, the others are below the threshold of %.2f", clean(r.Top().Name), r.Threshold)
	}
	if top := r.Top(); top.Score >= float32(r.Threshold) {
		return fmt.Sprintf("the utterance says nothing, what %s has, %.2f, is of the turns before", clean(top.Name), top.Score)
	}
	return fmt.Sprintf("the best domain, %s, has %.2f < %.2f", clean(r.Top().Name), r.Top().Score, r.Threshold)
}

func matched(r *router.Route) []string {
	var names []string
	for _, d := range r.Domains {
		if d.Matched {
			names = append(names, clean(d.Name))
		}
	}
	return names
}

// keywords are the keywords of domains that stand in the utterance.
func keywords(c *catalog, r *router.Route) map[string][]string {
	folded := text.Fold(r.Utterance)
	found := map[string][]string{}
	for _, d := range r.Domains {
		if i, ok := c.Index().LookupDomain(d.Name); ok {
			if in := standing(folded, c.Index().Domains()[i].Keywords); len(in) > 0 {
				found[d.Name] = in
			}
		}
	}
	return found
}

// triggers are those of the candidates that stand in the utterance.
func triggers(c *catalog, r *router.Route) map[string][]string {
	folded := text.Fold(r.Utterance)
	found := map[string][]string{}
	for _, x := range r.Candidates {
		if i, ok := c.Index().Lookup(x.Name); ok {
			if in := standing(folded, c.Index().Skills()[i].Summary.Triggers); len(in) > 0 {
				found[x.Name] = in
			}
		}
	}
	return found
}

func standing(folded string, phrases []string) []string {
	var in []string
	for _, p := range phrases {
		if stands(folded, strings.TrimSpace(text.Fold(p))) && !slices.Contains(in, p) {
			in = append(in, p)
		}
	}
	return in
}

// stands tells whether phrase stands in s, both folded, as the index looks for
// it: not inside an ASCII word, and with two characters and more.
func stands(s, phrase string) bool {
	if len([]rune(phrase)) < 2 {
		return false
	}
	for from := 0; ; {
		i := strings.Index(s[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(phrase)
		cutLeft := i > 0 && inWord(s[i-1]) && inWord(phrase[0])
		cutRight := end < len(s) && inWord(s[end]) && inWord(phrase[len(phrase)-1])
		if !cutLeft && !cutRight {
			return true
		}
		from = i + 1
	}
}

func inWord(b byte) bool {
	return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '_'
}
