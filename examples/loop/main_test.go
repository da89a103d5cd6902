package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"skillrouter/agent"
)

// A model that loads the calculator, calculates, and answers.
func TestAsk(t *testing.T) {
	calls := func(name, arguments string) agent.Message {
		return agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{
			{ID: "1", Type: "function", Function: agent.FunctionCall{Name: name, Arguments: arguments}},
		}}
	}
	script := []agent.Message{
		calls("skill_load", `{"skill":"calculator"}`), calls("calculate", `{"expression":"156*23"}`), {Role: agent.RoleAssistant, Content: "It is 3588."},
	}
	var requests []agent.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request agent.Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/chat/completions" || len(requests) == len(script) {
			http.Error(w, "no such thing", http.StatusBadRequest)
			return
		}
		requests = append(requests, request)
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": script[len(requests)-1]}}})
	}))
	defer server.Close()
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"choices":[]}`)) }))
	defer empty.Close()
	if _, err := ask(t.Context(), empty.URL, "", "test", "hello"); err == nil || err.Error() != `no answer in {"choices":[]}` {
		t.Errorf("an answer without choices: %v", err)
	}
	answer, err := ask(t.Context(), server.URL, "key", "test", "what is 156*23?")
	if err != nil || answer != "It is 3588." {
		t.Fatalf("%q, %v", answer, err)
	}
	last := requests[2]
	if got := last.Messages[len(last.Messages)-1]; got.Role != agent.RoleTool || got.Content != "3588" {
		t.Errorf("the last result: %+v", got)
	}
	if !strings.Contains(last.Messages[0].Content, "[Loaded] calculator") || !slices.ContainsFunc(last.Tools, func(tool agent.Tool) bool { return tool.Function.Name == "calculate" }) {
		t.Errorf("the definition or its tool is not in the request: %+v", last)
	}
	if _, err := ask(t.Context(), server.URL, "key", "test", "again"); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("a refused request: %v", err)
	}
}
