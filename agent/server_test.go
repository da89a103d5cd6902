package agent_test

import (
	"strings"
	"testing"

	"skillrouter/agent"
)

// Hosts that hand the texts over themselves tell failures from results.
func TestHandleAndSearch(t *testing.T) {
	h := newHost(t, newRouter(t, layered(t), nil), "main", &agent.Options{Extras: []string{agent.SearchSkills}})
	h.say("write a git commit message")
	best, err := h.Search(t.Context(), "write a git commit message")
	if err != nil || len(best) == 0 {
		t.Fatalf("found %v, error %v", best, err)
	}
	shown, err := h.Handle(t.Context(), agent.SearchSkills, `{"query":"write a git commit message"}`)
	if err != nil || !strings.HasPrefix(shown, "- "+best[0].Skill+": ") || strings.Count(shown, "\n") != len(best)-1 {
		t.Errorf("search_skills shows %q, error %v; found %d, first %s", shown, err, len(best), best[0].Skill)
	}
	for tool, args := range map[string]string{"skill_load": `{"skill":"nothing"}`, agent.SearchSkills: `{}`, "read_file": `{"path":"x"}`, "other": `{}`} {
		if result, err := h.Handle(t.Context(), tool, args); err == nil || strings.HasPrefix(err.Error(), "error: ") {
			t.Errorf("%s: result %q, error %v", tool, result, err)
		}
	}
}
