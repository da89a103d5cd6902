package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/sashabaranov/go-openai"

	"skillrouter"
	"skillrouter/agent"
)

// Several calls in one answer, in pieces, with the indexes that endpoints give.
func TestRunStreamsParallelCalls(t *testing.T) {
	for name, index := range map[string]func(call int) *int{
		"from 0": nil,
		"from 1": func(call int) *int { call++; return &call },
		"all 0":  func(int) *int { return new(int) },
		"none":   func(int) *int { return nil },
	} {
		e := newEndpoint(t,
			calls(call("1", "load_skill", `{"name":"calculator"}`), call("2", "load_skill", `{"name":"search"}`)),
			calls(call("3", "calculate", `{"expression":"6*7"}`), call("4", "search_web", `{"query":"北京天气"}`)),
			says("42, 晴"),
		)
		e.index = index
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{Strategy: agent.Toolset, Funcs: funcs()})
		result, err := agent.Run(t.Context(), e.client, h.Kit, nil, worked, &agent.RunOptions{Model: "test", Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range result.Messages {
			got = append(got, m.Role+" "+m.ToolCallID+" "+m.Content)
		}
		want := []string{
			"user  " + worked, "assistant  ", "tool 1 loaded: calculator", "tool 2 loaded: search",
			"assistant  ", "tool 3 42", "tool 4 北京今天晴，25 度。", "assistant  42, 晴",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("index %s: messages (-want +got):\n%s", name, diff)
		}
	}
}

func TestRunEnds(t *testing.T) {
	again := calls(call("1", "load_skill", `{"name":"calculator"}`))
	t.Run("too many steps", func(t *testing.T) {
		e := newEndpoint(t, again, again, again, again)
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{Strategy: agent.Toolset})
		result, err := agent.Run(t.Context(), e.client, h.Kit, nil, worked, &agent.RunOptions{Model: "test", MaxSteps: 3})
		if !errors.Is(err, agent.ErrSteps) || result.Steps != 3 || len(result.Messages) != 7 || result.Usage.TotalTokens != 45 {
			t.Errorf("%v, %+v", err, result)
		}
	})
	t.Run("cancelled by a tool", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		e := newEndpoint(t, calls(call("1", "stop", `{}`)), says("not asked"))
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{
			Tools: []agent.Tool{{Type: "function", Function: agent.Function{Name: "stop"}}},
			Funcs: map[string]agent.Func{"stop": func(context.Context, json.RawMessage) (string, error) { cancel(); return "", nil }},
		})
		result, err := agent.Run(ctx, e.client, h.Kit, nil, "stop", &agent.RunOptions{Model: "test"})
		if !errors.Is(err, context.Canceled) || result.Steps != 1 || len(e.requests) != 1 {
			t.Errorf("%v, %+v", err, result)
		}
	})
	t.Run("cancelled while the model answers", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		e := newEndpoint(t, says("a long answer"))
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", nil)
		_, err := agent.Run(ctx, e.client, h.Kit, nil, "go", &agent.RunOptions{Model: "test", Stream: true, Piece: func(string) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the endpoint fails, and is asked again", func(t *testing.T) {
		e := newEndpoint(t, again, says("done"))
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{Strategy: agent.Toolset, Mode: agent.Once})
		e.fail = 1
		result, err := agent.Run(t.Context(), e.client, h.Kit, nil, worked, &agent.RunOptions{Model: "test"})
		var apiError *openai.APIError
		if !errors.As(err, &apiError) || result.Steps != 0 || len(result.Messages) != 1 || !strings.HasPrefix(err.Error(), "agent: step 1: ") {
			t.Errorf("%v, %+v", err, result)
		}
	})
	t.Run("no answer at all", func(t *testing.T) {
		e := newEndpoint(t, agent.Message{Role: agent.RoleAssistant})
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", nil)
		if _, err := agent.Run(t.Context(), e.client, h.Kit, nil, "go", &agent.RunOptions{Model: "test", Stream: true}); err == nil || !strings.Contains(err.Error(), "the stream was empty") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("before the run", func(t *testing.T) {
		e := newEndpoint(t)
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", nil)
		broken := errors.New("folder gone")
		_, err := agent.Run(t.Context(), e.client, h.Kit, nil, "go", &agent.RunOptions{Before: func(context.Context) error { return broken }})
		if !errors.Is(err, broken) || len(e.requests) > 0 {
			t.Errorf("got %v", err)
		}
	})
}

func TestRunAdjusts(t *testing.T) {
	e := newEndpoint(t, says("hello"))
	h := newHost(t, newRouter(t, build(t, small()), nil), "main", nil)
	past := []agent.Message{{Role: agent.RoleUser, Content: "hi"}, {Role: agent.RoleAssistant, Content: "hello"}}
	result, err := agent.Run(t.Context(), e.client, h.Kit, past, "again", &agent.RunOptions{
		Model: "test", Adjust: func(r *openai.ChatCompletionRequest) { r.MaxCompletionTokens = 7 },
	})
	if err != nil || result.Answer != "hello" || len(past) != 2 || len(result.Messages) != 4 {
		t.Errorf("%v, %+v", err, result)
	}
	if !strings.Contains(string(e.requests[0]), `"max_completion_tokens":7`) {
		t.Errorf("request: %s", e.requests[0])
	}
}

// A folder that was added is seen by the next run.
func TestRunSeesNewFolders(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, f *fstest.MapFile) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first/SKILL.md", skillFile("first", "Does a first thing.", "Do it.\n"))
	r, err := skillrouter.Open(t.Context(), nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	e := newEndpoint(t, says("one"), calls(call("1", "skill_load", `{"skill":"second"}`)), says("two"))
	h := newHost(t, r.Router, "main", nil)
	opts := &agent.RunOptions{Model: "test", Before: func(ctx context.Context) error {
		_, err := r.Refresh(ctx)
		return err
	}}
	first, err := agent.Run(t.Context(), e.client, h.Kit, nil, "hello", opts)
	if err != nil {
		t.Fatal(err)
	}
	write("second/SKILL.md", skillFile("second", "Does a second thing.", "Do that.\n"))
	if _, err := agent.Run(t.Context(), e.client, h.Kit, first.Messages, "hello again", opts); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, true} {
		if got := strings.Contains(text(e.request(i)), "- second: Does a second thing"); got != want {
			t.Errorf("request %d tells of it: %v", i+1, got)
		}
	}
	if got := shows(e.request(2), "second"); len(got) != 1 {
		t.Errorf("it was not loaded:\n%s", text(e.request(2)))
	}
}
