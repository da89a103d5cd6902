package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"skillrouter/agent"
)

// A model that loads a skill for the first line and answers the second at once.
func TestRun(t *testing.T) {
	script := []agent.Message{
		{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{{ID: "1", Type: "function", Function: agent.FunctionCall{Name: "skill_load", Arguments: `{"skill":"calculator"}`}}}},
		{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{{ID: "2", Type: "function", Function: agent.FunctionCall{Name: "calculate", Arguments: `{"expression":"350*0.8"}`}}}},
		{Role: agent.RoleAssistant, Content: "280."},
		{Role: agent.RoleAssistant, Content: "You are welcome."},
	}
	for _, strategy := range []string{"", "tool-result"} {
		n := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/chat/completions" || n == len(script) {
				http.Error(w, "no such thing", http.StatusNotFound)
				return
			}
			n++
			m := script[n-1]
			delta, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": m}}})
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", delta)
		}))
		defer server.Close()
		env := func(name string) string {
			return map[string]string{"OPENAI_BASE_URL": server.URL + "/v1", "OPENAI_MODEL": "test"}[name]
		}
		var out strings.Builder
		err := run(t.Context(), []string{"-v", "-strategy", strategy}, env, strings.NewReader("how much is 20% off 350\n\nthanks"+strings.Repeat(" a lot", 20_000)+"\n"), &out)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"· skill_load {\"skill\":\"calculator\"}\n", "; calculator loaded (turn)\n", "\n280.\n", "\nYou are welcome.\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("strategy %q: no %q in\n%s", strategy, want, out.String())
			}
		}
	}
	long := strings.NewReader(strings.Repeat("x", 16<<20+1))
	if err := run(t.Context(), []string{"-model", "test"}, func(string) string { return "" }, long, nil); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a line that is too long: %v", err)
	}
	if err := run(t.Context(), nil, func(string) string { return "" }, strings.NewReader(""), nil); err == nil || !strings.Contains(err.Error(), "name a model") {
		t.Errorf("without a model: %v", err)
	}
}
