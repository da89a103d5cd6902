package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/agent"
)

// Names of the tools served, as package agent has them.
const (
	toolRoute      = "route"
	toolLoad       = "skill_load"
	toolSelectDocs = "skill_select_docs"
	toolExtension  = "skill_extension"
	toolUnload     = "unload_skill"
)

// routeTool is the one tool that package agent does not have: there the host
// routes.
func routeTool() agent.Tool {
	return agent.Tool{Type: "function", Function: agent.Function{
		Name:        toolRoute,
		Description: "Find out which skills fit what the user just said. Call it first, once for each message of the user: it begins a turn and knows the turns before.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"utterance":{"type":"string","description":"What the user said, word for word."}},"required":["utterance"]}`),
	}}
}

// addTools offers the tools.
func (s *Server) addTools() error {
	tools := map[string]agent.Tool{toolRoute: routeTool()}
	for _, t := range agent.SkillTools() {
		tools[t.Function.Name] = t
	}
	return errors.Join(
		addTool(s, tools[toolRoute], s.route),
		addTool(s, tools[toolLoad], s.load),
		addTool(s, tools[toolSelectDocs], s.selectDocs),
		addTool(s, tools[toolExtension], s.extension),
		addTool(s, tools[toolUnload], s.plainly(toolUnload)),
		addTool(s, tools[agent.SearchSkills], s.search),
		addTool(s, tools[agent.ListSkills], s.list),
		addTool(s, tools[agent.SkillStatus], s.status),
		addTool(s, tools[agent.ReadFile], s.plainly(agent.ReadFile)),
	)
}

// A call is one call of a tool, on its way.
type call struct {
	d    *dialogue
	args json.RawMessage
}

// read reads the arguments of a tool of ours; those of package agent are read
// there.
func (c *call) read(into any) error {
	err := json.Unmarshal(c.args, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("the arguments are to be an object, but are of the type %s", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s is to be a %s, not a %s", strings.ToLower(wrong.Field), wrong.Type, wrong.Value)
	case err != nil:
		return fmt.Errorf("the arguments: %w", err)
	}
	return nil
}

// handle lets the agent do it.
func (c *call) handle(ctx context.Context, tool string) (string, error) {
	return c.d.kit.Handle(ctx, tool, string(c.args))
}

// An answer is what a tool says: a struct with a saying in it.
type answer[T any] interface {
	*T
	head() *saying
}

// addTool offers a tool. What do puts into its answer is the structured
// content, and the text of it the content.
func addTool[T any, A answer[T]](s *Server, t agent.Tool, do func(context.Context, *call, A) error) error {
	input, err := withSession(t.Function.Parameters)
	if err != nil {
		return fmt.Errorf("mcp: schema of %s: %w", t.Function.Name, err)
	}
	output, err := jsonschema.For[T](nil)
	if err != nil {
		return fmt.Errorf("mcp: schema of what %s answers: %w", t.Function.Name, err)
	}
	no := false
	s.sdk.AddTool(&sdk.Tool{
		Name: t.Function.Name, Description: t.Function.Description, InputSchema: input, OutputSchema: output,
		// Nothing but the session changes, and nothing outside is asked.
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := s.bound(ctx)
		defer cancel()
		start := time.Now()
		out := A(new(T))
		err := s.call(ctx, request, func(c *call) error { return do(ctx, c, out) }, out.head())
		s.log(ctx, request, time.Since(start), err)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err() // nobody waits for a result
		case err != nil:
			text := s.advise(request, err)
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		default:
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: out.head().Text}}, StructuredContent: out}, nil
		}
	})
	return nil
}

// withSession adds the argument that tells dialogues apart.
func withSession(schema json.RawMessage) (json.RawMessage, error) {
	var object struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required,omitempty"`
	}
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.DisallowUnknownFields() // else it would be lost here
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	object.Properties["session"] = json.RawMessage(`{"type":"string","description":"Leave it out, unless an earlier answer gave you one: then pass that."}`)
	return json.Marshal(object)
}

// call does one call in its dialogue, whose calls are done one after the other.
func (s *Server) call(ctx context.Context, request *sdk.CallToolRequest, do func(*call) error, said *saying) error {
	args := request.Params.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	var named struct{ Session string }
	c := &call{args: args}
	if err := c.read(&named); err != nil {
		return err
	}
	var err error
	if c.d, said.Session, err = s.dialogues.of(request.Session, named.Session); err != nil {
		return err
	}
	if err := c.d.lock(ctx); err != nil {
		return err
	}
	defer c.d.unlock()
	if err := do(c); err != nil {
		return err
	}
	if said.Session != "" && named.Session == "" {
		said.Text += "\n\n" + fmt.Sprintf(s.phrases(said.Text).session, said.Session)
	}
	return nil
}

// advise makes an error one that says what to do.
func (s *Server) advise(request *sdk.CallToolRequest, err error) string {
	text := err.Error()
	for _, at := range []string{"router: ", "agent: ", "mcp: "} {
		text = strings.TrimPrefix(text, at)
	}
	var named struct{ Skill, Name string }
	if json.Unmarshal(request.Params.Arguments, &named) != nil {
		return text
	}
	if name := named.Skill + named.Name; name != "" {
		if _, ok := s.view().hash[name]; !ok {
			text += "\nsearch_skills finds skills by what is to be done, list_skills lists them."
		}
	}
	return text
}

// log notes a call. What was said is noted only on request.
func (s *Server) log(ctx context.Context, request *sdk.CallToolRequest, took time.Duration, err error) {
	if !s.o.Logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := []slog.Attr{slog.String("tool", request.Params.Name), slog.Duration("took", took.Round(time.Microsecond))}
	var said struct{ Utterance, Query string }
	if s.o.LogUtterances && json.Unmarshal(request.Params.Arguments, &said) == nil && said.Utterance+said.Query != "" {
		attrs = append(attrs, slog.String("said", said.Utterance+said.Query))
	}
	if err != nil {
		attrs = append(attrs, slog.Bool("failed", true))
		if s.o.LogUtterances || ctx.Err() != nil { // it may quote what was said
			attrs = append(attrs, slog.String("error", err.Error()))
		}
	}
	s.o.Logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "call", attrs...)
}
