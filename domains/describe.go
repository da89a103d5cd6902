package domains

import (
	"math"
	"strings"

	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// What a derived description is made of: up to describeMembers capabilities of at most
// describeLength characters each (for Chinese), which keeps ten domains within IndexLimit.
const (
	describeMembers = 3
	describeLength  = 13
)

// Describe derives a description from what the members can do: the capabilities that
// share most with the other members and least with each other, in the language of most.
// sums is by skill name; a member without one says nothing.
func Describe(members []string, sums map[string]*summaries.Summary) string {
	gists, han := gather(members, sums)
	if len(gists) == 0 {
		return ""
	}
	chosen := pick(gists, describeMembers)
	if han {
		return strings.Join(chosen, "、")
	}
	return strings.Join(chosen, ", ")
}

// pick returns up to n texts that share most with all and least with each other.
func pick(gists []gist, n int) []string {
	weights := make(map[string]float64) // term → share of members that have it
	for _, g := range gists {
		for t := range g.terms {
			weights[t] += 1 / float64(len(gists))
		}
	}
	var chosen []string
	covered := make(map[string]bool)
	for len(chosen) < min(n, len(gists)) {
		best, bestScore := -1, 0.0
		for i, g := range gists {
			score := 0.0
			for t := range g.terms {
				if !covered[t] {
					score += math.Round(weights[t] * 1e6) // whole, so that the order of addition cannot matter
				}
			}
			if score /= math.Sqrt(float64(len(g.terms) + 1)); score > bestScore {
				best, bestScore = i, score
			}
		}
		if best < 0 {
			break
		}
		for t := range gists[best].terms {
			covered[t] = true
		}
		chosen = append(chosen, gists[best].text)
	}
	return chosen
}

// gist is a member's capability with its content terms.
type gist struct {
	text  string
	terms map[string]bool
}

// gather returns the members' capabilities in the language of most of them; their names
// where too few have a capability that is short enough.
func gather(members []string, sums map[string]*summaries.Summary) (gists []gist, han bool) {
	var latin, chinese, names []gist
	for _, member := range members {
		sum := sums[member]
		if sum == nil {
			continue
		}
		s := summaries.Gist(sum, describeLength)
		switch {
		case s == "":
			names = append(names, newGist(strings.NewReplacer("-", " ", "_", " ").Replace(member)))
		case isChinese(s):
			chinese = append(chinese, newGist(s))
		default:
			latin = append(latin, newGist(s))
		}
	}
	if len(chinese) > len(latin) {
		return chinese, true
	}
	if len(latin) < 2 {
		latin = append(latin, names...)
	}
	return latin, false
}

func newGist(s string) gist {
	g := gist{text: pithy(s), terms: make(map[string]bool)}
	for _, t := range text.Terms(g.text) {
		if !text.Stop([]byte(t)) {
			g.terms[t] = true
		}
	}
	return g
}

// pithy returns a capability up to the first comma, without a "toolkit for" at its start,
// as long as that leaves more than a word, and with its first verb in lower case.
func pithy(s string) string {
	keep := func(short string) {
		if short = strings.TrimSpace(short); text.Words(short) > 1 {
			s = short
		}
	}
	for _, mark := range [...]string{", ", "、", "，", " - ", " — ", "—"} {
		head, _, _ := strings.Cut(s, mark)
		keep(head)
	}
	words := strings.Fields(s)
	for i, w := range words[:min(4, len(words))] {
		if wrapping(strings.ToLower(w)) && i+2 < len(words) && (words[i+1] == "for" || words[i+1] == "to" || words[i+1] == "of") {
			keep(strings.Join(words[i+2:], " "))
			break
		}
	}
	if word, rest, _ := strings.Cut(s, " "); commonVerb(strings.ToLower(strings.TrimRight(word, ","))) {
		s = strings.ToLower(word) + " " + rest
	}
	return s
}

// wrapping reports whether word is what a skill calls itself rather than what it does.
func wrapping(word string) bool {
	switch word {
	case "approach", "expert", "framework", "guidance", "guide", "knowledge", "library", "reference", "skill", "suite", "toolkit", "tools", "utilities", "workflow", "patterns":
		return true
	}
	return false
}

// commonVerb reports whether word is a verb that capabilities often begin with, which is
// therefore no name.
func commonVerb(word string) bool {
	switch strings.TrimSuffix(word, "s") {
	case "add", "analyze", "apply", "audit", "automate", "build", "check", "clean", "compare", "configure", "conduct", "convert", "create", "creating", "debug", "deploy", "design",
		"collect", "compress", "copy", "crop", "detect", "develop", "diagnose", "download", "draft", "draw", "edit", "execute", "extract", "find", "fix", "format", "generate", "get", "guide", "identify", "implement", "improve", "install",
		"interact", "make", "manage", "master", "merge", "migrate", "monitor", "optimize", "organize", "perform", "plan", "post", "prepare", "produce", "provide", "query", "read", "record", "reduce", "rename", "resize", "research", "review",
		"rewrite", "run", "scan", "schedule", "search", "send", "set", "share", "show", "sign", "sort", "split", "store", "summarize", "test", "track", "transcribe", "translate", "turn", "update", "use", "validate", "verify", "visualize", "write":
		return true
	}
	return false
}

// isChinese reports whether s counts as Chinese for limits.
func isChinese(s string) bool { return text.Limit(s, 1) == 1 }
