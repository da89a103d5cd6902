package agent

import (
	"encoding/json"

	"github.com/sashabaranov/go-openai"
)

// OpenAI returns the request for go-openai.
func (r *Request) OpenAI() openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: r.Model, Stream: r.Stream}
	for _, m := range r.Messages {
		out.Messages = append(out.Messages, m.OpenAI())
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, t.OpenAI())
	}
	if r.ToolChoice != "" {
		out.ToolChoice = r.ToolChoice
	}
	return out
}

// OpenAI returns the message for go-openai. Parts that it does not know are
// left out by it.
func (m Message) OpenAI() openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: m.Role, Content: m.Content, Name: m.Name, ToolCallID: m.ToolCallID, ReasoningContent: m.Reasoning}
	if len(m.Parts) > 0 {
		var parts []openai.ChatMessagePart
		if err := json.Unmarshal(m.Parts, &parts); err == nil {
			out.Content, out.MultiContent = "", parts
		}
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, c.OpenAI())
	}
	return out
}

// OpenAI returns the call for go-openai.
func (c ToolCall) OpenAI() openai.ToolCall {
	return openai.ToolCall{ID: c.ID, Type: openai.ToolType(c.Type), Function: openai.FunctionCall(c.Function)}
}

// OpenAI returns the tool for go-openai.
func (t Tool) OpenAI() openai.Tool {
	f := &openai.FunctionDefinition{Name: t.Function.Name, Description: t.Function.Description, Strict: t.Function.Strict}
	f.Parameters = json.RawMessage(noParameters)
	if len(t.Function.Parameters) > 0 {
		f.Parameters = t.Function.Parameters
	}
	return openai.Tool{Type: openai.ToolType(t.Type), Function: f}
}

// FromOpenAI returns a message of go-openai.
func FromOpenAI(m openai.ChatCompletionMessage) Message {
	out := Message{Role: m.Role, Content: m.Content, Name: m.Name, ToolCallID: m.ToolCallID, Reasoning: m.ReasoningContent}
	if len(m.MultiContent) > 0 {
		if parts, err := json.Marshal(m.MultiContent); err == nil {
			out.Parts = parts
		}
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, CallFromOpenAI(c))
	}
	return out
}

// CallFromOpenAI returns a call of go-openai.
func CallFromOpenAI(c openai.ToolCall) ToolCall {
	kind := string(c.Type)
	if kind == "" {
		kind = "function"
	}
	return ToolCall{ID: c.ID, Type: kind, Function: FunctionCall(c.Function)}
}
