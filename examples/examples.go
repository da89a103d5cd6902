// Package examples embeds the example catalog: skills in English and Chinese that are of use as
// they are, the domains they belong to, and utterances to try them with. The command falls back
// to it when no catalog is named, and tests of other packages take it as a small real one.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed all:catalog
var catalog embed.FS

//go:embed utterances.jsonl
var utterances string

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
// keys text, skills (names of the right skills), domains (as skillrouter.yaml names them) and
// oos (true: no skill is right, and both lists are empty). The caller owns the bytes.
func Utterances() []byte {
	return []byte(utterances)
}
