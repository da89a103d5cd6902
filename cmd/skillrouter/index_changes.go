package main

import (
	"fmt"
	"strings"

	"skillrouter/index"
)

// changes are what is different in an index, as --json has them.
type changes struct {
	Added    []string `json:"added"`
	Changed  []string `json:"changed"`
	Removed  []string `json:"removed"`
	Moved    []move   `json:"moved"`
	Refiled  []move   `json:"refiled"`
	Embedder string   `json:"embedder_before,omitempty"`
}

// A move is a skill of which the file, or the domains, are others.
type move struct {
	Skill string   `json:"skill"`
	From  []string `json:"from"`
	To    []string `json:"to"`
}

func newChanges(c *index.Changes) *changes {
	if c == nil {
		return nil
	}
	moves := func(ms []index.Move) []move {
		out := make([]move, len(ms))
		for i, m := range ms {
			out[i] = move{m.Skill, notNil(m.From), notNil(m.To)}
		}
		return out
	}
	return &changes{notNil(c.Added), notNil(c.Changed), notNil(c.Removed), moves(c.Moved), moves(c.Refiled), c.Embeds}
}

// notNil makes an empty list one in JSON.
func notNil(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// How many names, and how many moves, stand in one line of changes.
const (
	shownNames = 12
	shownMoves = 3
)

// add adds the changes to a table.
func (c *changes) add(t *table) {
	list := func(what string, names []string, most int) {
		if len(names) == 0 {
			return
		}
		line := fmt.Sprintf("%d: %s", len(names), strings.Join(cleanAll(names[:min(len(names), most)]), ", "))
		if more := len(names) - most; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		t.add(what, line)
	}
	told := func(ms []move) []string {
		var out []string
		for _, m := range ms {
			out = append(out, fmt.Sprintf("%s (%s → %s)", m.Skill, strings.Join(m.From, " + "), strings.Join(m.To, " + ")))
		}
		return out
	}
	if c.Embedder != "" {
		t.add("embedder", "another; it was "+clean(c.Embedder))
	}
	list("added", c.Added, shownNames)
	list("changed", c.Changed, shownNames)
	list("removed", c.Removed, shownNames)
	list("moved", told(c.Moved), shownMoves)
	list("refiled", told(c.Refiled), shownMoves)
	if len(t.rows) == 0 {
		t.add("changed", "no skill: settings, domains or problems")
	}
}
