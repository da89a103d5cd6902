package agent

import (
	"fmt"
	"strings"

	"skillrouter/definitions"
)

// FullLoad is the prompt of an agent that shows every skill whole, all the
// time. It is what routing is compared with, and for nothing else.
func FullLoad(repo Repository) (string, error) {
	var parts []string
	for _, m := range repo.Summaries() {
		s, err := repo.Get(m.Skill)
		if err != nil {
			return "", fmt.Errorf("agent: %w", err)
		}
		parts = append(parts, "## Skill: "+s.Name+"\n\n"+strings.Trim(definitions.Escape(s.Body()), "\n"))
	}
	if len(parts) == 0 {
		return "", nil
	}
	return "# Available Skills\n\n" + strings.Join(parts, "\n\n---\n\n"), nil
}
