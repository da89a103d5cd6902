package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"skillrouter"
)

// scripted is a model that loads a skill and then answers; it keeps the system
// messages that it was given.
type scripted struct{ systems []string }

func (s *scripted) Generate(_ context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if input[0].Role != schema.System {
		return nil, errors.New("the first message is no system message")
	}
	s.systems = append(s.systems, input[0].Content)
	if len(s.systems) > 1 {
		return schema.AssistantMessage("done", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{
		ID: "1", Type: "function", Function: schema.FunctionCall{Name: "skill_load", Arguments: `{"name":"pdf-text"}`},
	}}), nil
}

func (s *scripted) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.New("nothing streams here")
}

func (s *scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }

func TestTurn(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pdf-text"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: pdf-text\ndescription: Extracts text from PDF files.\n---\nRun pdftotext.\n"
	if err := os.WriteFile(filepath.Join(dir, "pdf-text", "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := skillrouter.Open(t.Context(), nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	chat := &scripted{}
	answer, err := turn(t.Context(), r.Router, chat, "turn this PDF into text")
	if err != nil || answer != "done" || len(chat.systems) != 2 {
		t.Fatalf("answer %q in %d steps, error %v", answer, len(chat.systems), err)
	}
	if first := chat.systems[0]; !strings.Contains(first, "pdf-text: Extracts") || strings.Contains(first, "pdftotext") {
		t.Errorf("the first step shows:\n%s", first)
	}
	if second := chat.systems[1]; !strings.Contains(second, "Run pdftotext.") {
		t.Errorf("after the load the step shows:\n%s", second)
	}
}
