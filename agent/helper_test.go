package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/agent"
	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/examples"
	"skillrouter/examples/tools"
	"skillrouter/index"
	"skillrouter/router"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata, byte by byte.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update rewrites it:\n%s", file, diff)
	}
}

var builtIn = sync.OnceValues(embed.New)

// build makes an index of files, as an in-memory root named "skills".
func build(t testing.TB, files fstest.MapFS) *index.Index {
	t.Helper()
	return buildRoots(t, definitions.Root{Path: "skills", FS: files})
}

func buildRoots(t testing.TB, roots ...definitions.Root) *index.Index {
	t.Helper()
	e, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := definitions.Load(t.Context(), roots, nil)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.Build(t.Context(), catalog, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// exampleCatalog has 62 skills in 8 domains: it is shown in layers.
var exampleCatalog = sync.OnceValues(func() (*index.Index, error) {
	e, err := builtIn()
	if err != nil {
		return nil, err
	}
	catalog, err := definitions.Load(context.Background(), []definitions.Root{{Path: "catalog", FS: examples.Catalog()}}, nil)
	if err != nil {
		return nil, err
	}
	return index.Build(context.Background(), catalog, e, nil)
})

func layered(t testing.TB) *index.Index {
	t.Helper()
	ix, err := exampleCatalog()
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func newRouter(t testing.TB, ix *index.Index, opts *router.Options) *router.Router {
	t.Helper()
	e, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	r, err := router.New(ix, e, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A host is a loop in the hands of a test.
type host struct {
	t testing.TB
	*agent.Kit
	route *router.Route
	past  []agent.Message
}

func newHost(t testing.TB, r *router.Router, agentName string, opts *agent.Options) *host {
	t.Helper()
	s, err := r.Session(t.Name(), &router.SessionOptions{Agent: agentName})
	if err != nil {
		t.Fatal(err)
	}
	k, err := agent.New(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	return &host{t: t, Kit: k}
}

// say begins a turn.
func (h *host) say(utterance string) {
	h.t.Helper()
	route, err := h.Session().Route(h.t.Context(), utterance)
	if err != nil {
		h.t.Fatal(err)
	}
	h.route = route
	h.past = append(h.past, agent.Message{Role: agent.RoleUser, Content: utterance})
}

// step prepares the request of a step.
func (h *host) step() (agent.Request, agent.Receipt) {
	h.t.Helper()
	request := agent.Request{Messages: h.past}
	receipt, err := h.Prepare(h.route, &request)
	if err != nil {
		h.t.Fatal(err)
	}
	return request, receipt
}

// call lets the model call a tool, and returns the result.
func (h *host) call(name, arguments string) string {
	h.t.Helper()
	c := call(fmt.Sprintf("call-%d", len(h.past)), name, arguments)
	m := h.Call(h.t.Context(), c)
	h.past = append(h.past, agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{c}}, m)
	return m.Content
}

// must is call, with the result that must come.
func (h *host) must(want, name, arguments string) {
	h.t.Helper()
	if got := h.call(name, arguments); got != want {
		h.t.Errorf("%s %s: got %q, want %q", name, arguments, got, want)
	}
}

func (h *host) answer(text string) {
	h.past = append(h.past, agent.Message{Role: agent.RoleAssistant, Content: text})
}

// keys are the keys of the agents' loaded skills and what they hold, sorted.
func (h *host) keys() []string {
	var out []string
	for k, v := range h.State().Scan("temp:skill:") {
		out = append(out, k+"="+string(v))
	}
	slices.Sort(out)
	return out
}

func (h *host) wantKeys(want ...string) {
	h.t.Helper()
	if diff := cmp.Diff(want, h.keys()); diff != "" {
		h.t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// inSession are the definitions that the router has in its prompt.
func (h *host) inSession() []string {
	h.t.Helper()
	st, err := h.Session().State(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return st.Loaded
}

func call(id, name, arguments string) agent.ToolCall {
	return agent.ToolCall{ID: id, Type: "function", Function: agent.FunctionCall{Name: name, Arguments: arguments}}
}

// text is all messages of a request.
func text(r agent.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "── %s %s\n%s\n", m.Role, m.ToolCallID, m.Content)
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "→ %s %s(%s)\n", c.ID, c.Function.Name, c.Function.Arguments)
		}
	}
	return b.String()
}

func toolNames(r agent.Request) []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// funcs are those of the example catalog, and a search.
func funcs() map[string]agent.Func {
	all := map[string]agent.Func{
		"search_web": func(_ context.Context, arguments json.RawMessage) (string, error) {
			if !strings.Contains(string(arguments), "北京") {
				return "", errors.New("nothing found")
			}
			return "北京今天晴，25 度。", nil
		},
	}
	for _, name := range tools.Names() {
		all[name] = func(ctx context.Context, arguments json.RawMessage) (string, error) {
			return tools.Call(ctx, name, arguments)
		}
	}
	return all
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// skillFile is a SKILL.md whose summary is written, so that no golden file
// depends on how one is derived.
func skillFile(name, description, body string) *fstest.MapFile {
	sentence, _, _ := strings.Cut(strings.Trim(description, `"`), ".")
	return file("---\nname: " + name + "\ndescription: " + description + "\nmetadata:\n  summary: " + sentence + "\n  triggers: [use " + name + "]\n---\n" + body)
}

const calculatorTools = `[
  {"type": "function", "function": {"name": "calculate", "description": "Works out an expression.",
    "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}}}
]`

// small has two skills with tools and one with documents. It is shown flat.
func small() fstest.MapFS {
	return fstest.MapFS{
		"numbers/calculator/SKILL.md":   skillFile("calculator", "Works out arithmetic. Use when a sum has to be right (算一下).", "Never work it out yourself.\n"),
		"numbers/calculator/tools.json": file(calculatorTools),
		"web/search/SKILL.md":           skillFile("search", "Searches the web for weather and news. Use when facts of today are asked for (天气怎么样).", "Search before you answer.\n"),
		"web/search/tools.json": file(`{"system_prompt": "Name your source.", "tools": [
  {"type": "function", "function": {"name": "search_web", "description": "Searches the web.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}}]}`),
		"code/code-review/SKILL.md": skillFile("code-review", "Reviews code. Use when a change should be looked over.",
			"Look for bugs first.\n<!-- extended -->\nAn example of a review.\n"),
		"code/code-review/guide.md":      file("Be kind.\n"),
		"code/code-review/reference.txt": file("Errors are values.\n"),
		"skillrouter.yaml": file(`domains:
  - {name: numbers, description: works out figures, keywords: [calculate]}
  - {name: web, description: looks things up, keywords: [look up]}
  - {name: code, description: reviews and changes code, keywords: [review]}
`),
	}
}

func reload(ix *index.Index) router.Reload {
	return func(context.Context, *index.Index) (*index.Index, error) { return ix, nil }
}
