package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sashabaranov/go-openai"

	"skillrouter/agent"
)

func TestMessageJSON(t *testing.T) {
	for _, test := range []struct {
		name    string
		message agent.Message
		want    string
	}{
		{"words", agent.Message{Role: "user", Content: "hi", Name: "ann"}, `{"role":"user","content":"hi","name":"ann"}`},
		{"nothing", agent.Message{Role: "tool", ToolCallID: "1"}, `{"role":"tool","content":"","tool_call_id":"1"}`},
		{"calls only", calls(call("1", "f", "{}")), `{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`},
		{"parts", agent.Message{Role: "user", Parts: json.RawMessage(`[{"type":"text","text":"hi"}]`)}, `{"role":"user","content":[{"type":"text","text":"hi"}]}`},
		{"reasoning", agent.Message{Role: "assistant", Content: "a", Reasoning: "b"}, `{"role":"assistant","content":"a","reasoning_content":"b"}`},
	} {
		got, err := json.Marshal(test.message)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.name, got, err, test.want)
		}
		var back agent.Message
		if err := json.Unmarshal(got, &back); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(asJSON(t, test.message), asJSON(t, back)); diff != "" {
			t.Errorf("%s: read back:\n%s", test.name, diff)
		}
		// By way of go-openai it is the same.
		if diff := cmp.Diff(asJSON(t, test.message), asJSON(t, agent.FromOpenAI(test.message.OpenAI()))); diff != "" {
			t.Errorf("%s: by way of go-openai:\n%s", test.name, diff)
		}
	}
	var m agent.Message
	if err := json.Unmarshal([]byte(`{"role":"assistant","content":null}`), &m); err != nil || m.Content != "" {
		t.Errorf("null: %+v, %v", m, err)
	}
	if err := json.Unmarshal([]byte(`{"role":"assistant","content":{"a":1}}`), &m); err == nil {
		t.Error("content that is an object gave no error")
	}
}

// What is read is written so that it is read again alike.
func FuzzMessageJSON(f *testing.F) {
	for _, seed := range []string{
		`{"role":"user","content":"hi"}`, `{"role":"user","content":[{"type":"text"}]}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}`, `{}`, `{"content":""}`, `{"content":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again agent.Message
		if json.Unmarshal(data, &m) != nil {
			t.Skip()
		}
		first, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("%s was read, but cannot be written: %v", data, err)
		}
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%s was written, but cannot be read: %v", first, err)
		}
		if second, err := json.Marshal(again); err != nil || string(second) != string(first) {
			t.Errorf("%s, then %s, %v", first, second, err)
		}
	})
}

// A request is the same to an endpoint, whether go-openai sends it or not.
func TestRequestOpenAI(t *testing.T) {
	h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{System: "Be brief.", Strategy: agent.Toolset, Funcs: funcs()})
	h.say(worked)
	h.must("loaded: calculator", "load_skill", `{"name":"calculator"}`)
	r, _ := h.step()
	r.Model, r.Stream = "test", true
	own, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := json.Marshal(r.OpenAI())
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(own, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(theirs, &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("own and go-openai's (-own +go-openai):\n%s", diff)
	}
	bare := agent.Tool{Type: "function", Function: agent.Function{Name: "f"}}
	if got := asJSON(t, bare.OpenAI().Function.Parameters); got != "{\n \"type\": \"object\",\n \"properties\": {}\n}" {
		t.Errorf("no parameters: %s", got)
	}
	if c := agent.CallFromOpenAI(openai.ToolCall{ID: "1"}); c.Type != "function" {
		t.Errorf("a call without a type: %+v", c)
	}
}
