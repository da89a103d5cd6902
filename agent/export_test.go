package agent

import "skillrouter/definitions"

// ParseTools is parseTools, for fuzzing.
func ParseTools(file string, data []byte) ([]Tool, []definitions.Problem) {
	t := parseTools(file, data)
	return t.tools, t.problems
}
