package main

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// changeOf shows how the file of that name changes as a unified diff, "" if it
// does not.
func changeOf(name string, before, after []byte) string {
	_, change, _ := bytes.Cut(diff.Diff(name, before, name, after), []byte("\n")) // its first line names a command
	return string(change)
}
