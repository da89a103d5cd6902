package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sashabaranov/go-openai"

	"skillrouter/agent"
)

// An endpoint plays a model over real HTTP: each request gets the next answer,
// and is kept as it came.
type endpoint struct {
	t        testing.TB
	answers  []agent.Message
	requests []json.RawMessage
	client   *openai.Client
	fail     int                 // how many requests are refused first, with a 500
	index    func(call int) *int // of a call in a stream; nil: its place
}

func newEndpoint(t testing.TB, answers ...agent.Message) *endpoint {
	e := &endpoint{t: t, answers: answers}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	config := openai.DefaultConfig("no-key")
	config.BaseURL = server.URL + "/v1"
	e.client = openai.NewClientWithConfig(config)
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, "no such thing", http.StatusNotFound)
		return
	}
	if e.fail > 0 {
		e.fail--
		http.Error(w, `{"error": {"message": "overloaded"}}`, http.StatusInternalServerError)
		return
	}
	e.requests = append(e.requests, body)
	if len(e.requests) > len(e.answers) {
		http.Error(w, `{"error": {"message": "the script is at its end"}}`, http.StatusBadRequest)
		return
	}
	answer := e.answers[len(e.requests)-1]
	var request agent.Request
	if err := json.Unmarshal(body, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": answer, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta any) {
		data, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": delta}}})
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	for _, r := range answer.Content {
		send(map[string]string{"content": string(r)})
	}
	for i, c := range answer.ToolCalls {
		piece := func(id, name, arguments string) map[string]any {
			p := map[string]any{"index": &i, "type": "function", "function": map[string]string{"name": name, "arguments": arguments}}
			if e.index != nil {
				p["index"] = e.index(i)
			}
			if id != "" {
				p["id"] = id
			}
			return p
		}
		send(map[string]any{"tool_calls": []any{piece(c.ID, c.Function.Name, "")}})
		for _, r := range c.Function.Arguments {
			send(map[string]any{"tool_calls": []any{piece("", "", string(r))}})
		}
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// shown are the requests, readable.
func (e *endpoint) shown() string {
	var b strings.Builder
	for i, body := range e.requests {
		var r agent.Request
		if err := json.Unmarshal(body, &r); err != nil {
			e.t.Fatal(err)
		}
		fmt.Fprintf(&b, "════ request %d, tools %q, choice %q\n%s", i+1, toolNames(r), r.ToolChoice, text(r))
	}
	return b.String()
}

// raw are the requests, byte for byte, one a line.
func (e *endpoint) raw() string {
	var b strings.Builder
	for _, body := range e.requests {
		b.Write(body)
		b.WriteByte('\n')
	}
	return b.String()
}

func (e *endpoint) request(n int) agent.Request {
	e.t.Helper()
	var r agent.Request
	if err := json.Unmarshal(e.requests[n], &r); err != nil {
		e.t.Fatal(err)
	}
	return r
}

func calls(cs ...agent.ToolCall) agent.Message {
	return agent.Message{Role: agent.RoleAssistant, ToolCalls: cs}
}

func says(text string) agent.Message { return agent.Message{Role: agent.RoleAssistant, Content: text} }

const worked = "北京天气怎么样？顺便算 156*23"

// weatherAndSum is the model's side of the flow of skills that are sets of tools.
func weatherAndSum() []agent.Message {
	return []agent.Message{
		calls(call("1", "load_skill", `{"name":"search"}`)),
		calls(call("2", "search_web", `{"query":"北京天气"}`)),
		calls(call("3", "load_skill", `{"name":"calculator"}`)),
		calls(call("4", "calculate", `{"expression":"156*23"}`)),
		says("北京晴，25 度；156×23 = 3588。"),
	}
}

// Five rounds: load search, search, load calculator, calculate, answer.
func TestFlowOfToolsets(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			e := newEndpoint(t, weatherAndSum()...)
			h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{
				System: "You are a helpful agent.", Strategy: agent.Toolset, Funcs: funcs(),
			})
			var pieces strings.Builder
			result, err := agent.Run(t.Context(), e.client, h.Kit, nil, worked, &agent.RunOptions{
				Model: "test", Stream: stream, Piece: func(s string) { pieces.WriteString(s) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if result.Steps != 5 || result.Answer != "北京晴，25 度；156×23 = 3588。" || pieces.String() != result.Answer {
				t.Errorf("%d steps, answer %q, pieces %q", result.Steps, result.Answer, pieces.String())
			}
			want := [][]string{
				{"load_skill", "unload_skill"},
				{"load_skill", "unload_skill", "search_web"},
				{"load_skill", "unload_skill", "search_web"},
				{"load_skill", "unload_skill", "search_web", "calculate"},
				{"load_skill", "unload_skill", "search_web", "calculate"},
			}
			for i := range want {
				if diff := cmp.Diff(want[i], toolNames(e.request(i))); diff != "" {
					t.Errorf("tools of request %d (-want +got):\n%s", i+1, diff)
				}
			}
			last := e.request(4).Messages
			if got := last[len(last)-1]; got.Content != "3588" || got.ToolCallID != "4" {
				t.Errorf("the last result: %+v", got)
			}
			golden(t, "flow-toolset", e.shown())
			golden(t, fmt.Sprintf("flow-toolset-raw-stream=%v", stream), e.raw())
			golden(t, "flow-toolset-tools", asJSON(t, e.request(4).Tools))
		})
	}
}

// The code review: overview, load with all documents, two keys, body and
// documents in the next request, gone with the next utterance.
func TestFlowOfDefinitions(t *testing.T) {
	for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult} {
		t.Run("strategy="+string(strategy), func(t *testing.T) {
			e := newEndpoint(t,
				calls(call("1", "skill_load", `{"skill":"code-review","include_all_docs":true}`)),
				says("Reviewed."), says("You are welcome."),
			)
			h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{System: "You are a helpful agent.", Strategy: strategy})
			var receipts []agent.Receipt
			opts := &agent.RunOptions{Model: "test", Receipt: func(r agent.Receipt, _ []agent.ToolCall) {
				if receipts = append(receipts, r); len(receipts) == 2 {
					h.wantKeys("temp:skill:docs:main/code-review=*", "temp:skill:loaded:main/code-review=1")
				}
			}}
			first, err := agent.Run(t.Context(), e.client, h.Kit, nil, "please review my change", opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := first.Messages[2].Content; got != "loaded: code-review" {
				t.Errorf("the result of the call is %q", got)
			}
			if _, err = agent.Run(t.Context(), e.client, h.Kit, first.Messages, "thank you", opts); err != nil {
				t.Fatal(err)
			}
			h.wantKeys()
			golden(t, "flow-definitions"+string(strategy), e.shown())
			golden(t, "flow-definitions-raw"+string(strategy), e.raw())
			if got := receipts[2].Cleared; !slices.Equal(got, []string{"code-review"}) {
				t.Errorf("cleared with the second utterance: %q", got)
			}
		})
	}
}

// A history that was compacted between two turns, with a summary that covers
// the loaded skill and with one that does not.
func TestFlowOfCompaction(t *testing.T) {
	for _, covered := range []bool{false, true} {
		t.Run(fmt.Sprintf("covered=%v", covered), func(t *testing.T) {
			e := newEndpoint(t,
				calls(call("1", "skill_load", `{"skill":"code-review","docs":["guide.md"],"mode":"session"}`)),
				says("Reviewed."), says("Still the same."),
			)
			h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{
				System: "You are a helpful agent.", Strategy: agent.ToolResult, Covered: func(string) bool { return covered },
			})
			opts := &agent.RunOptions{Model: "test"}
			if _, err := agent.Run(t.Context(), e.client, h.Kit, nil, "please review my change", opts); err != nil {
				t.Fatal(err)
			}
			summary := []agent.Message{{Role: agent.RoleUser, Content: "Summary: a change was reviewed; be kind, look for bugs first."}}
			if _, err := agent.Run(t.Context(), e.client, h.Kit, summary, "and this line?", opts); err != nil {
				t.Fatal(err)
			}
			golden(t, fmt.Sprintf("flow-compaction-covered=%v", covered), e.shown())
		})
	}
}

// Two agents in one session: each sees what it has loaded itself.
func TestFlowOfTwoAgents(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	var state agent.State
	for name, script := range map[string][]agent.Message{
		"planner":  {calls(call("1", "skill_load", `{"skill":"code-review"}`)), says("A plan.")},
		"reviewer": {calls(call("1", "skill_load", `{"skill":"calculator"}`)), says("A review.")},
	} {
		e := newEndpoint(t, script...)
		h := newHost(t, r, name, &agent.Options{State: &state, Funcs: funcs()})
		if _, err := agent.Run(t.Context(), e.client, h.Kit, nil, "go on, then", &agent.RunOptions{Model: "test"}); err != nil {
			t.Fatal(err)
		}
		last := e.request(1)
		mine, others := "code-review", "calculator"
		if name == "reviewer" {
			mine, others = others, mine
		}
		if got := shows(last, mine, others); !slices.Equal(got, []string{mine}) {
			t.Errorf("%s is shown %q", name, got)
		}
	}
	want := map[string][]byte{"temp:skill:loaded:planner/code-review": []byte("1"), "temp:skill:loaded:reviewer/calculator": []byte("1")}
	if diff := cmp.Diff(want, state.Scan("temp:skill:loaded:")); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// Functions that panic, stall and fail: the model is told, the turn goes on.
func TestFlowOfFailingTools(t *testing.T) {
	e := newEndpoint(t,
		calls(call("1", "panics", `{}`), call("2", "stalls", `{}`), call("3", "fails", `{}`), call("4", "no_such_tool", `{}`), call("5", "skill_load", `{"skill":"no such skill"}`)),
		says("I could not do it."),
	)
	h := withTools(t, 10*time.Millisecond, map[string]agent.Func{
		"panics": func(context.Context, json.RawMessage) (string, error) { panic("out of range") },
		"stalls": func(ctx context.Context, _ json.RawMessage) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"fails":  func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no such city") },
	})
	result, err := agent.Run(t.Context(), e.client, h.Kit, nil, "do it", &agent.RunOptions{Model: "test"})
	if err != nil || result.Answer != "I could not do it." {
		t.Errorf("%v, %+v", err, result)
	}
	golden(t, "flow-failing", e.shown())
}
