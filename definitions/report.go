package definitions

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
