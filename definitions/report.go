package definitions

import (
	"fmt"
	"slices"
)

// A report collects the problems of one file.
type report struct {
	file     string
	problems []Problem
	refused  bool
}

// maxProblems bounds what is said about one file.
const maxProblems = 100

// add notes a problem; line 0 means the whole file.
func (r *report) add(s Severity, kind string, line int, what, fix string) {
	if len(r.problems) >= maxProblems {
		return
	}
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Severity: s, Kind: kind, What: what, Fix: fix})
}

// refuse notes why the file is no skill.
func (r *report) refuse(kind string, line int, what, fix string) {
	r.refused = true
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Severity: Error, Kind: kind, What: what, Fix: fix, Refused: true})
}

// list returns the items of a list tidied, each once, and notes where they are
// too many.
func (r *report) list(key string, line int, items []string) []string {
	var out []string
	for _, item := range items {
		item = tidy(item)
		if item == "" || slices.Contains(out, item) {
			continue
		}
		if len(out) == maxList {
			r.add(Warning, "long-list", line, fmt.Sprintf("%s has %d items; the first %d are used", key, len(items), maxList), "keep those that users say most")
			break
		}
		out = append(out, item)
	}
	return out
}
