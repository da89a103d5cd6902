// Package examples embeds the example catalog: skills in English and Chinese that are of use as
// they are, the domains they belong to, and labelled utterances and dialogues to try them with.
// The command falls back to it when no catalog is named, and tests of other packages take it as
// a small real one. Package tools beside it implements what its tools.json files declare.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed all:catalog
var catalog embed.FS

//go:embed utterances.jsonl
var utterances string

//go:embed dialogues.jsonl
var dialogues string

// Catalog returns the example catalog, rooted where skillrouter.yaml lies: skills are at
// <domain folder>/<skill>/SKILL.md. It is read only and safe for concurrent use.
func Catalog() fs.FS {
	sub, err := fs.Sub(catalog, "catalog")
	if err != nil {
		return catalog // cannot happen: the name is constant and valid
	}
	return sub
}

// Utterances returns labelled utterances for [Catalog] as JSON lines, each an object with the
// keys
//
//   - text;
//   - skills: names of the right skills, two where the utterance holds two needs;
//   - domains: all domains of these skills, as skillrouter.yaml names them;
//   - oos: true where no skill is right, and both lists are empty;
//   - kind: "plain", "indirect", "confusable", "two-needs", "near-miss" or "oos";
//   - not, of a confusable one: the skill that is easily taken for the right one;
//   - near, of a near miss: the skill that it resembles.
//
// The caller owns the bytes.
func Utterances() []byte {
	return []byte(utterances)
}

// Dialogues returns dialogues of 4 to 12 turns for [Catalog] as JSON lines, each an object with
// the keys id and turns. A turn has the keys user (what was said), skills and domains (what the
// turn needs, as in [Utterances]; both empty where it needs nothing) and sometimes event:
//
//   - "load": the full definition of the skill is needed from here on;
//   - "follow-up": what was needed before still is, whether or not the words say so;
//   - "switch": another skill is needed than before;
//   - "stall": the user neither asks nor decides, and what is loaded may stay;
//   - "task-end": the user is done.
//
// The caller owns the bytes.
func Dialogues() []byte {
	return []byte(dialogues)
}
