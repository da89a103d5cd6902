package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"

	"skillrouter"
	"skillrouter/agent"
	"skillrouter/examples"
	"skillrouter/examples/tools"
)

// The two calls in a loop whose model is played by hand: it loads a skill and
// calls its function.
func Example() {
	ctx := context.Background()
	r, err := skillrouter.Open(ctx, &skillrouter.Options{FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	s, err := r.Session("user-42", nil)
	if err != nil {
		log.Fatal(err)
	}
	kit, err := agent.New(s, &agent.Options{
		System: "You are a helpful agent.",
		Funcs: map[string]agent.Func{
			"calculate": func(ctx context.Context, arguments json.RawMessage) (string, error) {
				return tools.Call(ctx, "calculate", arguments)
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	utterance := "how much is 20% off 350"
	route, err := s.Route(ctx, utterance)
	if err != nil {
		log.Fatal(err)
	}
	history := []agent.Message{{Role: agent.RoleUser, Content: utterance}}
	model := []agent.ToolCall{
		{ID: "1", Type: "function", Function: agent.FunctionCall{Name: "skill_load", Arguments: `{"skill":"calculator"}`}},
		{ID: "2", Type: "function", Function: agent.FunctionCall{Name: "calculate", Arguments: `{"expression":"350*0.8"}`}},
	}
	for _, call := range model {
		request := agent.Request{Messages: history}
		receipt, err := kit.Prepare(route, &request)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(request.Messages), "messages, loaded:", receipt.Loaded)

		answer := agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{call}} // of the model
		history = append(history, answer, kit.Call(ctx, call))
		fmt.Println(call.Function.Name, "→", history[len(history)-1].Content)
	}
	// Output:
	// 2 messages, loaded: []
	// skill_load → loaded: calculator
	// 4 messages, loaded: [{calculator turn [] false 526 system}]
	// calculate → 280
}
