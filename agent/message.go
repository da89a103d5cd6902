package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Roles of a [Message].
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// A Request is what one step asks a model: in JSON the body of OpenAI's
// /chat/completions. Embed it in a struct of your own for more parameters.
type Request struct {
	Model      string    `json:"model,omitempty"`
	Messages   []Message `json:"messages"`
	Tools      []Tool    `json:"tools,omitempty"`
	ToolChoice string    `json:"tool_choice,omitempty"` // "" becomes "auto" where there are tools
	Stream     bool      `json:"stream,omitempty"`
}

// A Message is one message of a chat. A message that Prepare put into a
// request, or changed there, is known by it again: it may stand in the next
// request.
type Message struct {
	Role       string
	Content    string
	Parts      json.RawMessage // content as a list of parts, with images and the like; goes before Content
	Name       string
	ToolCalls  []ToolCall
	ToolCallID string // of the call that a tool message answers
	Reasoning  string // what some models want to have back ("reasoning_content")

	host   *Message // as the host wrote it
	placed bool     // put there by Prepare
}

// A ToolCall is a model's call of a tool.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"` // "function"
	Function FunctionCall `json:"function"`
}

// A FunctionCall is the function of a [ToolCall]; Arguments hold JSON.
type FunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// A Tool is a function that a model may call.
type Tool struct {
	Type     string   `json:"type"` // "function"
	Function Function `json:"function"`

	placed bool // put there by Prepare
}

// A Function describes a [Tool]; Parameters are a JSON Schema of an object.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

// wire is a message in JSON.
type wire struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // nil is left out, "" is not
	Name       string     `json:"name,omitempty"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// MarshalJSON writes the message as OpenAI's chat API has it.
func (m Message) MarshalJSON() ([]byte, error) {
	w := wire{Role: m.Role, Content: m.Content, Name: m.Name, Reasoning: m.Reasoning, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID}
	switch {
	case len(m.Parts) > 0:
		w.Content = m.Parts
	case m.Content == "" && len(m.ToolCalls) > 0:
		w.Content = nil
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes, and content that is null.
func (m *Message) UnmarshalJSON(data []byte) error {
	var content json.RawMessage
	w := wire{Content: &content}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*m = Message{Role: w.Role, Name: w.Name, Reasoning: w.Reasoning, ToolCalls: w.ToolCalls, ToolCallID: w.ToolCallID}
	content = bytes.TrimSpace(content)
	switch {
	case len(content) == 0 || string(content) == "null":
		return nil
	case content[0] == '[':
		m.Parts = content
		return nil
	}
	if err := json.Unmarshal(content, &m.Content); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	return nil
}

// history is what the host wrote: without what Prepare put there, and as it
// was where Prepare changed it. It is never the same slice.
func history(messages []Message) []Message {
	own := make([]Message, 0, len(messages))
	for _, m := range messages {
		switch {
		case m.placed:
		case m.host != nil:
			own = append(own, *m.host)
		default:
			own = append(own, m)
		}
	}
	return own
}

// hostTools are the tools that Prepare did not put there.
func hostTools(tools []Tool) []Tool {
	own := make([]Tool, 0, len(tools))
	for _, t := range tools {
		if !t.placed {
			own = append(own, t)
		}
	}
	return own
}
