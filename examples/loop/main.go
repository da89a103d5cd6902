// Command loop is an agent's loop over Prepare and Call with nothing but
// net/http: what to do where no client library is wanted.
//
//	OPENAI_BASE_URL=http://localhost:11434/v1 go run ./examples/loop qwen3 "156*23?"
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"

	"skillrouter"
	"skillrouter/agent"
	"skillrouter/examples"
	"skillrouter/examples/tools"
)

func main() {
	if len(os.Args) != 3 || os.Getenv("OPENAI_BASE_URL") == "" {
		log.Fatal("usage: OPENAI_BASE_URL=… loop MODEL UTTERANCE")
	}
	answer, err := ask(context.Background(), os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_KEY"), os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}

// ask is one turn of an agent.
func ask(ctx context.Context, base, key, model, utterance string) (string, error) {
	r, err := skillrouter.Open(ctx, &skillrouter.Options{FS: map[string]fs.FS{"examples": examples.Catalog()}}, "examples")
	if err != nil {
		return "", err
	}
	defer r.Close()
	session, err := r.Session("loop", nil)
	if err != nil {
		return "", err
	}
	kit, err := agent.New(session, &agent.Options{System: "You are a helpful assistant.", Funcs: map[string]agent.Func{
		"calculate": func(ctx context.Context, a json.RawMessage) (string, error) { return tools.Call(ctx, "calculate", a) },
	}})
	if err != nil {
		return "", err
	}

	// The loop.
	route, err := session.Route(ctx, utterance)
	if err != nil {
		return "", err
	}
	history := []agent.Message{{Role: agent.RoleUser, Content: utterance}}
	for range 10 {
		request := agent.Request{Model: model, Messages: history}
		if _, err := kit.PrepareContext(ctx, route, &request); err != nil {
			return "", err
		}
		answer, err := complete(ctx, base, key, &request)
		if err != nil {
			return "", err
		}
		history = append(history, answer)
		if len(answer.ToolCalls) == 0 {
			return answer.Content, nil
		}
		for _, call := range answer.ToolCalls {
			history = append(history, kit.Call(ctx, call))
		}
	}
	return "", errors.New("no answer after ten steps")
}

// complete is one model call.
func complete(ctx context.Context, base, key string, request *agent.Request) (agent.Message, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return agent.Message{}, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return agent.Message{}, err
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return agent.Message{}, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return agent.Message{}, err
	}
	if response.StatusCode != http.StatusOK {
		return agent.Message{}, fmt.Errorf("%s: %s", response.Status, data)
	}
	var completion struct {
		Choices []struct{ Message agent.Message }
	}
	if err := json.Unmarshal(data, &completion); err != nil {
		return agent.Message{}, err
	}
	if len(completion.Choices) == 0 {
		return agent.Message{}, fmt.Errorf("no answer in %s", data)
	}
	return completion.Choices[0].Message, nil
}
