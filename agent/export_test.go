package agent

import (
	"encoding/json"

	"skillrouter/definitions"
)

// ParseTools is parseTools, for fuzzing.
func ParseTools(file string, data []byte) ([]Tool, []definitions.Problem) {
	t := parseTools(file, data)
	return t.tools, t.problems
}

// Arguments is object, for fuzzing.
func Arguments(text string) (json.RawMessage, error) { return object(text) }
