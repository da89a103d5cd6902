package index

import (
	"bytes"
	"slices"
	"strings"

	"skillrouter/internal/text"
)

// Dim returns how many values a vector of the embedder has.
func (ix *Index) Dim() int { return ix.rows.dim }

// A Contained is a trigger or keyword that stands in an utterance.
type Contained struct {
	Phrase string // as its author wrote it
	Skill  int32  // whose trigger it is; -1 for a keyword
	Domain int32  // whose keyword it is; -1 for a trigger
}

// Contained returns the triggers and keywords that stand in an utterance and
// so count for it, in the order of skills, then domains. It is for explaining
// scores: [Index.Score] looks for the same by itself.
func (ix *Index) Contained(utterance string) []Contained {
	folded := text.AppendFold(nil, utterance)
	var found []Contained
	ix.lexicon.eachContained(folded, appendHashes(nil, folded), func(c *contained) {
		x := Contained{Skill: c.target, Domain: -1}
		var phrases []string
		if c.target < 0 {
			x.Skill, x.Domain = -1, ^c.target
			phrases = ix.domains[x.Domain].Keywords
		} else {
			phrases = ix.skills[x.Skill].Summary.Triggers
		}
		for _, p := range phrases {
			if bytes.Equal(bytes.TrimSpace(text.AppendFold(nil, p)), c.text) {
				x.Phrase = p
				break
			}
		}
		found = append(found, x)
	})
	slices.SortFunc(found, func(a, b Contained) int {
		switch {
		case a.Domain != b.Domain:
			return int(a.Domain - b.Domain)
		case a.Skill != b.Skill:
			return int(a.Skill - b.Skill)
		default:
			return strings.Compare(a.Phrase, b.Phrase)
		}
	})
	return slices.Compact(found)
}
