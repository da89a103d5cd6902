// Command eino puts skillrouter before each turn of an agent of
// github.com/cloudwego/eino: the system message of each step holds what the
// session shows, and tools let the model go on from there.
//
//	OPENAI_BASE_URL=http://localhost:11434/v1 go -C examples/eino run . ~/.claude/skills qwen3 "156*23?"
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"skillrouter"
	"skillrouter/router"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: OPENAI_BASE_URL=… eino SKILLS MODEL UTTERANCE")
	}
	ctx := context.Background()
	chat, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: os.Getenv("OPENAI_BASE_URL"), APIKey: os.Getenv("OPENAI_API_KEY"), Model: os.Args[2],
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := skillrouter.Open(ctx, nil, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	answer, err := turn(ctx, r.Router, chat, os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}

// turn is one turn of an agent; an agent that goes on keeps session, agent and
// history.
func turn(ctx context.Context, r *router.Router, chat model.ToolCallingChatModel, utterance string) (string, error) {
	session, err := r.Session("eino", nil)
	if err != nil {
		return "", err
	}
	agent, err := newAgent(ctx, session, chat)
	if err != nil {
		return "", err
	}
	if _, err := session.Route(ctx, utterance); err != nil { // begins the turn
		return "", err
	}
	answer, err := agent.Generate(ctx, []*schema.Message{schema.UserMessage(utterance)})
	if err != nil {
		return "", err
	}
	return answer.Content, nil
}

// named are the arguments of the tools.
type named struct {
	Name string `json:"name" jsonschema:"required" jsonschema_description:"Its name, as it is listed."`
}

func newAgent(ctx context.Context, session *router.Session, chat model.ToolCallingChatModel) (*react.Agent, error) {
	// What goes wrong is told to the model, not to eino, which would end the turn.
	load, err := utils.InferTool("skill_load", "Load a skill before you use it: its definition appears in the system message.",
		func(ctx context.Context, a named) (string, error) {
			if _, err := session.Load(ctx, a.Name); err != nil {
				return "error: " + err.Error(), nil
			}
			return "loaded: " + a.Name, nil
		})
	if err != nil {
		return nil, err
	}
	list, err := utils.InferTool("list_skills", "List the skills of a domain: they appear in the system message.",
		func(ctx context.Context, a named) (string, error) {
			if err := session.Choose(ctx, a.Name); err != nil {
				return "error: " + err.Error(), nil
			}
			return "listed: " + a.Name, nil
		})
	if err != nil {
		return nil, err
	}
	return react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: chat,
		ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{load, list}},
		MessageModifier: func(ctx context.Context, history []*schema.Message) []*schema.Message { // before each step
			prompt, err := session.Prompt(ctx)
			if err != nil || prompt == "" {
				return history
			}
			return append([]*schema.Message{schema.SystemMessage(prompt)}, history...)
		},
	})
}
