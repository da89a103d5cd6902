package eval

import (
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// FlatTokens estimates the tokens of the summaries of all skills at once that
// exist for allow, all if it is nil: what a prompt without layers holds.
func FlatTokens(ix *index.Index, allow func(name string) bool) int {
	n := 0
	for i := range ix.Skills() {
		if s := &ix.Skills()[i]; inFlat(s, allow) {
			n += lineQuarters(&s.Summary)
		}
	}
	return tokens(n)
}

// inFlat tells whether a prompt without layers shows a skill.
func inFlat(s *index.Skill, allow func(name string) bool) bool {
	return !s.Summary.Manual && (allow == nil || allow(s.Name))
}

// lineQuarters is that of the line of a summary, with its end.
func lineQuarters(m *summaries.Summary) int {
	return quarters(string(summaries.AppendLine(nil, m))) + 1
}

// quarters is the estimate in quarters of a token, which add up.
func quarters(s string) int { return text.TokenQuarters(s) }

func tokens(quarters int) int { return (quarters + 3) / 4 }
