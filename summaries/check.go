package summaries

import (
	"fmt"

	"skillrouter/internal/text"
)

// A Finding is one rule that a summary breaks.
type Finding struct {
	Skill string
	Field string // as in SKILL.md: "summary", "triggers", "not-for", …
	What  string // lower case, no full stop
	Fix   string // what to do
}

// Check returns what in m breaks the rules for summaries (C3 to C6, X9), in the order of
// the fields. A summary that was derived is one finding of its own.
func Check(m *Summary) []Finding {
	var out []Finding
	report := func(field, what, fix string) {
		out = append(out, Finding{Skill: m.Skill, Field: field, What: what, Fix: fix})
	}
	limit := func(field, s string, zh int) {
		if n, most := text.Len(s), text.Limit(s, zh); n > most {
			report(field, fmt.Sprintf("%s has %d characters, at most %d; what is over is not shown", field, n, most), "say it shorter")
		}
	}
	switch {
	case m.Text == "":
		report("summary", "no summary, and none could be derived", "write a summary or a description")
	case m.Derived:
		report("summary", "no summary; one was derived from the description", "write one sentence with capability, scene and limit")
	}
	limit("summary", m.Text, SentenceLimit)
	switch n := len(m.Triggers); {
	case n < MinTriggers:
		report("triggers", fmt.Sprintf("%d triggers, at least %d", n, MinTriggers), "add phrases in users' own words")
	case n > ShownTriggers && !m.Derived:
		report("triggers", fmt.Sprintf("%d triggers, at most %d; the others are matched but not shown", n, ShownTriggers), "put the most frequent ones first, drop the rest")
	}
	if m.NotFor == "" {
		report("not-for", "nothing says what the skill is not for", "add what it cannot do")
	}
	limit("not-for", m.NotFor, SentenceLimit)
	limit("differs-from", m.DiffersFrom, SentenceLimit)
	limit("params", m.Params, ParamsLimit)
	if m.Params == "" && (m.FromSummary || m.Frequent) {
		report("params", "shown with its parameters, but has none", "add params, or remove from-summary and frequent")
	}
	return out
}
