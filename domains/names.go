package domains

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter/internal/text"
)

// naming gives the groups of a proposal distinct names.
type naming struct {
	v     *vocabulary
	items []Item
	taken map[string]bool // folded
}

// name returns a name for a group, made of its members' own words: one term that most
// members have, or two that together reach more of them. about is what [vocabulary.about]
// found, han whether the name is to be Chinese. why lists the terms of the name.
func (n *naming) name(group []int, about []weighed, han bool) (name string, why []weighed) {
	const (
		tried  = 12
		enough = 0.5 // share of the members that one term reaches well enough
	)
	candidates := n.candidates(group, about, han)
	candidates = candidates[:min(tried, len(candidates))]
	for i := range candidates {
		first := &candidates[i]
		if float64(len(first.members)) >= enough*float64(len(group)) {
			if name := n.take(title(first.surface())); name != "" {
				return name, []weighed{*first}
			}
		}
		for _, second := range n.seconds(group, candidates, first) {
			if name := n.take(join(first, second, han)); name != "" {
				return name, []weighed{*first, *second}
			}
		}
		if name := n.take(title(first.surface())); name != "" {
			return name, []weighed{*first}
		}
	}
	if len(candidates) > 0 {
		first := &candidates[0]
		if name := n.telling(group, title(first.surface())+": "); name != "" {
			return name, []weighed{*first}
		}
	}
	return n.fallback(group), nil
}

// telling tells a group from others of the same prefix by its first member whose name is
// no jargon.
func (n *naming) telling(group []int, prefix string) string {
	for _, i := range group {
		if len(insiders(spoken(n.items[i].Name))) > 0 {
			continue
		}
		if name := n.take(prefix + spoken(n.items[i].Name)); name != "" {
			return name
		}
	}
	return ""
}

// fallback names a group that has nothing in common after a member, or by number.
func (n *naming) fallback(group []int) string {
	for _, i := range group {
		if name := n.take(title(spoken(n.items[i].Name))); name != "" {
			return name
		}
	}
	for i := 2; ; i++ {
		if name := n.take(fmt.Sprintf("Other skills %d", i)); name != "" {
			return name
		}
	}
}

// spoken returns a skill's name as words.
func spoken(name string) string {
	return oneLine(strings.NewReplacer("-", " ", "_", " ").Replace(name))
}

// take returns name if no other domain has it, else "".
func (n *naming) take(name string) string {
	key := text.Fold(name)
	if name == "" || n.taken[key] || key == Unassigned || utf8.RuneCountInString(name) > maxName {
		return ""
	}
	n.taken[key] = true
	return name
}

// How the scores of candidates are put together.
const (
	nearness   = 0.1 // what a term counts for that is near to no member by meaning
	conceptFit = 1.5 // how well a concept does in a name
	reaching   = 0.3 // share of the members that a concept must reach
)

// candidates returns the terms that may stand in a name, best first. Where some reach a
// quarter of the members, those that reach less are left out.
func (n *naming) candidates(group []int, about []weighed, han bool) []weighed {
	var out []weighed
	for _, w := range about {
		share := float64(len(w.members)) / float64(len(group))
		factor := 0.0
		switch {
		case w.words == conceptWords:
			if share >= reaching {
				factor = conceptFit
			}
			if han {
				t := *w.term
				t.surfaces = map[string]int{t.chinese: 1}
				w.term = &t
			}
		case han:
			if !absorbed(&w, about) {
				factor = n.hanFit(&w)
			}
		default:
			factor = n.latinFit(&w, group)
		}
		if factor > 0 {
			w.score *= factor * (nearness + n.v.reach(&w, group)) * math.Sqrt(share)
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b weighed) int { return cmp.Compare(b.score, a.score) })
	few := func(w weighed) bool { return 4*len(w.members) < len(group) }
	if slices.ContainsFunc(out, func(w weighed) bool { return !few(w) }) {
		out = slices.DeleteFunc(out, few)
	}
	return out
}

// absorbed reports whether a Chinese term is hardly ever there without a longer one.
func absorbed(w *weighed, about []weighed) bool {
	return slices.ContainsFunc(about, func(long weighed) bool {
		return long.words == 0 && len(long.key) > len(w.key) && strings.Contains(long.key, w.key) && 4*len(long.members) >= 3*len(w.members)
	})
}

// latinFit says how well a term does in an English name; 0: not at all.
func (n *naming) latinFit(w *weighed, group []int) float64 {
	if w.words == 0 {
		return 0
	}
	surface := w.surface()
	words := strings.Fields(strings.ToLower(surface))
	lastWord := words[len(words)-1]
	all := float64(len(w.members)) >= 0.8*float64(len(group))
	for _, word := range words {
		if jargon(word) || strings.ContainsAny(word, ".+#'’") || !ascii(word) {
			return 0
		}
	}
	if describing(lastWord) || w.words == 1 && (vagueAlone(lastWord) || commonVerb(lastWord)) {
		return 0
	}
	if w.words == 2 && (commonVerb(words[0]) || words[0] == words[1]) {
		return 0
	}
	if !all && (n.strange(surface) || n.brand(w, words, group)) {
		return 0
	}
	// A noun ends phrases; what mostly stands before another word describes it.
	tail := float64(w.last+1) / float64(w.seen+2)
	fit := 0.4 + tail
	if w.words == 2 {
		fit *= 1.5
		if vagueAlone(words[0]) && vagueAlone(lastWord) {
			fit *= 0.8
		}
	}
	return fit
}

// brand reports whether a term is a proper name, or a skill's own one that others take
// from it.
func (n *naming) brand(w *weighed, words []string, group []int) bool {
	if w.words == 1 && w.proper() && !common(words[0]) {
		return true
	}
	if w.words == 2 {
		for _, word := range words {
			if id, ok := n.v.ids[text.Terms(word)[0]]; ok && n.v.terms[id].proper() && !common(word) {
				return true
			}
		}
	}
	for _, m := range w.members {
		if strings.EqualFold(n.items[group[m]].Name, strings.Join(words, "-")) && len(w.members) < 3 {
			return true
		}
	}
	return false
}

// strange reports whether a word of a surface is an abbreviation that is not in everyone's
// mouth, or spelled as only products are.
func (n *naming) strange(surface string) bool {
	for _, word := range strings.Fields(surface) {
		upper, digits := 0, 0
		for i, r := range word {
			if unicode.IsUpper(r) && i > 0 {
				upper++
			}
			if unicode.IsDigit(r) {
				digits++
			}
		}
		if (upper > 0 || digits > 0) && !common(strings.ToLower(word)) {
			return true
		}
	}
	return false
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// common reports whether a word, in lower case, is one that everyone knows although it is
// written with capitals.
func common(word string) bool {
	switch word {
	case "ai", "api", "apis", "pdf", "pdfs", "html", "css", "sql", "ui", "ux", "seo", "hr", "it", "dna", "rna", "3d", "2d", "usb", "csv", "json", "xml", "url", "vpn", "gps", "iot", "tv", "ci", "crm", "faq", "gif", "svg", "wifi", "sms", "vr", "ar", "pr", "b2b", "saas", "ios", "mri", "ecg", "gdpr", "hipaa", "iso",
		"web", "internet", "english", "chinese", "excel", "word", "bayesian", "markdown", "linux", "windows", "android", "python", "javascript", "typescript", "java", "email", "git", "kubernetes", "docker":
		return true
	}
	return false
}

// hanFit says how well a term does in a Chinese name; 0: not at all.
func (n *naming) hanFit(w *weighed) float64 {
	if w.words != 0 || hanFiller(w.key) || !w.whole() {
		return 0
	}
	for _, word := range hanJargon() {
		if strings.Contains(w.key, word) {
			return 0
		}
	}
	runes := []rune(w.key)
	// A run of two words of which one is a filler says what the other says.
	if len(runes) == 4 && hanFiller(string(runes[:2])) && hanFiller(string(runes[2:])) {
		return 0.3
	}
	if len(runes) == 3 {
		return 0.6
	}
	if len(runes) == 4 {
		return 1.2
	}
	return 1
}

// seconds returns the terms that reach a part of the members that first does not, best
// first: a quarter of all and at least two.
func (n *naming) seconds(group []int, candidates []weighed, first *weighed) []*weighed {
	const weakest = 0.25 // of the score of first
	var out []*weighed
	gains := make(map[int]float64)
	for i := range candidates {
		w := &candidates[i]
		if w.id == first.id || overlaps(w, first) || !shortEnough(w, first) || w.score < weakest*first.score {
			continue
		}
		more := 0
		for _, m := range w.members {
			if !slices.Contains(first.members, m) {
				more++
			}
		}
		if 4*more < len(group) || more < 2 {
			continue
		}
		gains[w.id] = w.score * float64(more) / float64(len(w.members))
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b *weighed) int { return cmp.Compare(gains[b.id], gains[a.id]) })
	return out
}

// shortEnough reports whether two terms make a name of at most four words.
func shortEnough(a, b *weighed) bool {
	x, y := a.surface(), b.surface()
	return len(strings.Fields(x))+len(strings.Fields(y)) <= 3 && !strings.Contains(x+y, "与")
}

// overlaps reports whether two terms share a word.
func overlaps(a, b *weighed) bool {
	x, y := strings.ToLower(a.surface()), strings.ToLower(b.surface())
	if !ascii(x) || !ascii(y) {
		return strings.ContainsAny(x, y)
	}
	for _, x := range strings.Fields(x) {
		for _, y := range strings.Fields(y) {
			if x == y || len(x) > 4 && len(y) > 4 && (strings.HasPrefix(x, y[:5]) || strings.HasPrefix(y, x[:5])) {
				return true
			}
		}
	}
	return false
}

// join makes a name of two terms.
func join(first, second *weighed, han bool) string {
	if han {
		return first.surface() + "与" + second.surface()
	}
	return title(first.surface()) + " and " + uncapital(second.surface())
}

// title returns a surface with a capital at its start, unless it is one such as iOS.
func title(surface string) string {
	w, _, _ := strings.Cut(surface, " ")
	r, size := utf8.DecodeRuneInString(w)
	if strings.ToLower(w[size:]) != w[size:] {
		return surface
	}
	return string(unicode.ToUpper(r)) + surface[size:]
}

// uncapital returns a surface of several words with a small letter at its start, unless it
// is one that keeps its capitals.
func uncapital(surface string) string {
	w, _, _ := strings.Cut(surface, " ")
	r, size := utf8.DecodeRuneInString(w)
	if strings.ToLower(w[size:]) != w[size:] {
		return surface
	}
	return string(unicode.ToLower(r)) + surface[size:]
}
