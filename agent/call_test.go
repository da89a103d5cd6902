package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter/agent"
	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/router"
)

// withTools is a kit whose agent has these functions as tools of its own.
func withTools(t *testing.T, timeout time.Duration, own map[string]agent.Func) *host {
	t.Helper()
	opts := &agent.Options{Funcs: own, ToolTimeout: timeout}
	for _, name := range []string{"panics", "leaves", "hangs", "stalls", "fails", "quiet", "echo", "meet"} {
		if own[name] != nil {
			opts.Tools = append(opts.Tools, agent.Tool{Type: "function", Function: agent.Function{Name: name}})
		}
	}
	h := newHost(t, newRouter(t, build(t, small()), nil), "main", opts)
	h.say("hello")
	return h
}

// A function that panics, stalls or fails gets an error result.
func TestFailingFunctions(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	h := withTools(t, 20*time.Millisecond, map[string]agent.Func{
		"panics": func(context.Context, json.RawMessage) (string, error) { panic("out of range") },
		"leaves": func(context.Context, json.RawMessage) (string, error) { runtime.Goexit(); return "", nil },
		"hangs":  func(context.Context, json.RawMessage) (string, error) { <-release; return "too late", nil },
		"stalls": func(ctx context.Context, _ json.RawMessage) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"fails":  func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no such city") },
		"quiet":  func(context.Context, json.RawMessage) (string, error) { return "", nil },
		"echo":   func(_ context.Context, a json.RawMessage) (string, error) { return string(a), nil },
	})
	for _, test := range []struct{ name, arguments, want string }{
		{"panics", `{}`, "error: panics failed: panic: out of range"},
		{"leaves", `{}`, "error: leaves failed: it ended its goroutine"},
		{"hangs", `{}`, "error: hangs gave no result within 20ms"},
		{"stalls", `{}`, "error: stalls gave no result within 20ms"},
		{"fails", `{}`, "error: no such city"},
		{"quiet", `{}`, "(no output)"},
		{"echo", `{"a": 1}`, `{"a": 1}`},
		{"echo", "```json\n{\"a\": 1}\n```", `{"a":1}`},
		{"echo", ``, `{}`},
		{"echo", `a`, "error: echo: the arguments are no JSON object"},
		{"echo", `[1]`, "error: echo: the arguments are no JSON object"},
	} {
		h.must(test.want, test.name, test.arguments)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := h.Call(ended, call("1", "echo", "{}")); got.Content != "error: context canceled" || got.ToolCallID != "1" || got.Role != agent.RoleTool {
		t.Errorf("ended: %+v", got)
	}
}

func TestPanicIsTold(t *testing.T) {
	var told string
	s, err := newRouter(t, build(t, small()), nil).Session("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := agent.New(s, &agent.Options{
		Tools:    []agent.Tool{{Type: "function", Function: agent.Function{Name: "panics"}}},
		Funcs:    map[string]agent.Func{"panics": func(context.Context, json.RawMessage) (string, error) { panic("x") }},
		Panicked: func(tool string, value any, stack []byte) { told = tool + string(stack) },
	})
	if err != nil {
		t.Fatal(err)
	}
	k.Call(t.Context(), call("1", "panics", "{}"))
	if !strings.HasPrefix(told, "panics") || !strings.Contains(told, "call_test.go") {
		t.Errorf("told %q", told)
	}
}

// The calls of one answer: skills are loaded first, functions run at the same
// time, results keep the order.
func TestParallelCalls(t *testing.T) {
	var meeting sync.WaitGroup
	meeting.Add(2)
	h := withTools(t, time.Minute, map[string]agent.Func{
		"meet": func(_ context.Context, a json.RawMessage) (string, error) {
			meeting.Done()
			meeting.Wait() // for the other one
			return string(a), nil
		},
		"calculate": funcs()["calculate"],
	})
	got := h.CallAll(t.Context(), []agent.ToolCall{
		call("1", "meet", `{"n":1}`), call("2", "skill_load", `{"skill":"calculator"}`), call("3", "calculate", `{"expression":"6*7"}`), call("4", "meet", `{"n":4}`),
	})
	want := []string{`1 {"n":1}`, "2 loaded: calculator", "3 42", `4 {"n":4}`}
	for i, m := range got {
		if s := m.ToolCallID + " " + m.Content; s != want[i] {
			t.Errorf("result %d: %q, want %q", i, s, want[i])
		}
	}
}

// Sessions in parallel, and one session whose model calls much at once.
func TestManyAtOnce(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	var state agent.State
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			s, err := r.Session("one", &router.SessionOptions{Agent: name})
			if err != nil {
				t.Error(err)
				return
			}
			k, err := agent.New(s, &agent.Options{State: &state, Funcs: funcs()})
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				route, err := s.Route(t.Context(), worked)
				if err != nil {
					t.Error(err)
					return
				}
				var inner sync.WaitGroup
				for _, skill := range []string{"calculator", "search", "code-review"} {
					inner.Go(func() {
						if m := k.Call(t.Context(), call("1", "skill_load", `{"skill":"`+skill+`"}`)); m.Content != "loaded: "+skill {
							t.Errorf("%s: %s", skill, m.Content)
						}
					})
				}
				inner.Wait()
				request := agent.Request{Messages: []agent.Message{{Role: agent.RoleUser, Content: worked}}}
				receipt, err := k.Prepare(route, &request)
				if err != nil || len(receipt.Loaded) != 3 {
					t.Errorf("agent %s: %+v, %v", name, receipt.Loaded, err)
				}
				for _, l := range receipt.Loaded {
					if l.Mode != agent.Turn {
						t.Errorf("agent %s: %s is loaded for the %s", name, l.Skill, l.Mode)
					}
				}
			}
		})
	}
	all.Wait()
}

// watcher asks the kit from within a call of it.
type watcher struct{ ask func(e router.Event) }

func (w *watcher) Observe(_, _ string, e router.Event) { w.ask(e) }

// No lock is held while a function of the host is called.
func TestObserverMayCall(t *testing.T) {
	w := &watcher{ask: func(router.Event) {}}
	h := newHost(t, newRouter(t, build(t, small()), &router.Options{Observer: w}), "main", &agent.Options{Extras: []string{agent.SkillStatus}, MaxLoadedSkills: 1})
	h.say("hello")
	var seen []string
	w.ask = func(e router.Event) {
		if e.Rule == "load" || e.Rule == "unload" {
			seen = append(seen, e.Rule+" "+h.Call(t.Context(), call("1", "skill_status", "{}")).Content)
		}
	}
	h.must("loaded: calculator", "skill_load", `{"skill":"calculator"}`)
	h.must("loaded: search", "skill_load", `{"skill":"search"}`)
	_, receipt := h.step()
	if len(seen) != 3 || len(receipt.Loaded) != 1 || receipt.Loaded[0].Mode != agent.Turn {
		t.Errorf("seen %q, loaded %+v", seen, receipt.Loaded)
	}
}

// From the domains to skills, by name or by search.
func TestFindingSkills(t *testing.T) {
	h := layeredHost(t, &agent.Options{Extras: []string{agent.SearchSkills, agent.LoadDomain, agent.ReadFile, agent.SkillStatus}})
	h.say("how far can a flea jump")
	if got := h.call("list_skills", `{}`); !strings.HasPrefix(got, "Skill domains:\n- ") {
		t.Errorf("the domains: %s", got)
	}
	if got := h.call("list_skills", `{"domain":"Sure! The answer is 2) Office & communication"}`); !strings.HasPrefix(got, "Available skills (Office & communication):\n- ") {
		t.Errorf("one domain: %s", got)
	}
	if r, _ := h.step(); !strings.Contains(text(r), "- email-draft: ") {
		t.Errorf("the request does not show what was chosen:\n%s", text(r))
	}
	if got := h.call("list_skills", `{"domain":"cooking"}`); !strings.HasPrefix(got, "error: domain not found\nSkill domains:\n") {
		t.Errorf("no such domain: %s", got)
	}
	got := h.call("search_skills", `{"query":"write a git commit message"}`)
	if !strings.HasPrefix(got, "- git-commit: ") || strings.Count(got, "\n") != 7 {
		t.Errorf("search: %s", got)
	}
	h.must("error: the query is empty: say what is to be done", "search_skills", `{"query":" "}`)
	h.must(`error: loading all of domain "Text processing" needs a reason: load single skills instead`, "skill_load_domain", `{"domain":"Text processing"}`)
	if got := h.call("skill_load_domain", `{"domain":"no such","reason":"x"}`); !strings.HasPrefix(got, "error: domain not found\n") {
		t.Errorf("no such domain: %s", got)
	}
	if got := h.call("skill_load_domain", `{"domain":"text processing","reason":"to compare all of them"}`); !strings.HasPrefix(got, "loaded: ") || strings.Count(got, ", ") < 5 {
		t.Errorf("a domain: %s", got)
	}
	last := h.State().Changes()[len(h.State().Changes())-1]
	if last.Cause != "skill_load_domain" || last.Reason != "to compare all of them" || len(last.Delta) != len(last.Skills) {
		t.Errorf("the change: %+v", last)
	}
	if got := h.call("skill_status", `{}`); !strings.HasPrefix(got, "loaded:\n- ") || strings.Count(got, "\n- ") != len(last.Skills) {
		t.Errorf("status: %s", got)
	}
}

// Only files that a skill lists can be read.
func TestReadFile(t *testing.T) {
	h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{Strategy: agent.Path, Funcs: funcs()})
	h.say("hello")
	h.must("Look for bugs first.\nAn example of a review.", "read_file", `{"path":"skills/code/code-review/SKILL.md"}`)
	h.must("Be kind.\n", "read_file", `{"path":"skills/code/code-review/guide.md"}`)
	h.must("Be kind.\n", "read_file", `{"path":"code-review/guide.md"}`)
	h.must("Be kind.\n", "read_file", `{"path":"skills/code/code-review/../code-review/./guide.md"}`)
	for _, path := range []string{"/etc/passwd", "skills/skillrouter.yaml", "../skills", "", "skills/code/code-review", `..\\..\\x`} {
		if got := h.call("read_file", `{"path":"`+path+`"}`); !strings.HasPrefix(got, "error: no such file: ") {
			t.Errorf("%q: %s", path, got)
		}
	}
	h.must("error: no such file: code-review/x.md\nunknown documents: x.md; there are: guide.md, reference.txt", "read_file", `{"path":"code-review/x.md"}`)
	h.must("error: no such file: skills/code/code-review/../../x: only files of skills can be read, by the paths that were given", "read_file", `{"path":"skills/code/code-review/../../x"}`)
	// What was read counts as loaded, and its tools are there; it cannot expire.
	h.must("Name your source.\n\nSearch before you answer.", "read_file", `{"path":"skills/web/search/SKILL.md"}`)
	h.say("hello again")
	r, receipt := h.step()
	if !slices.Equal(toolNames(r), []string{"read_file", "search_web"}) || len(receipt.Loaded) != 2 || receipt.Loaded[0].Where != "history" {
		t.Errorf("tools %q, receipt %+v", toolNames(r), receipt.Loaded)
	}
	if got := h.inSession(); !slices.Equal(got, []string{"code-review", "search"}) {
		t.Errorf("in the session: %q", got)
	}
}

// An agent may read files by itself: what it reads of skills counts all the
// same.
func TestOwnReadFile(t *testing.T) {
	all := funcs()
	all["read_file"] = func(_ context.Context, a json.RawMessage) (string, error) {
		if strings.Contains(string(a), "gone") {
			return "", errors.New("no such file")
		}
		return "file " + string(a), nil
	}
	own := agent.Tool{Type: "function", Function: agent.Function{Name: "read_file", Description: "Reads any file."}}
	h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{Strategy: agent.Path, Funcs: all, Tools: []agent.Tool{own}})
	h.say("hello")
	h.must(`file {"path":"skills/numbers/calculator/SKILL.md"}`, "read_file", `{"path":"skills/numbers/calculator/SKILL.md"}`)
	h.must(`file {"path":"/etc/hosts"}`, "read_file", `{"path":"/etc/hosts"}`)
	h.must("error: no such file", "read_file", `{"path":"skills/web/search/SKILL.md#gone"}`)
	r, receipt := h.step()
	if !slices.Equal(toolNames(r), []string{"read_file", "calculate"}) || r.Tools[0].Function.Description != "Reads any file." || len(receipt.Loaded) != 1 {
		t.Errorf("tools %q, receipt %+v", toolNames(r), receipt.Loaded)
	}
	if err := h.Read(t.Context(), "skills/web/search/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	if got := h.inSession(); !slices.Equal(got, []string{"calculator", "search"}) {
		t.Errorf("in the session: %q", got)
	}
	st, err := h.Session().State(t.Context())
	if err != nil || st.Events[len(st.Events)-1].Rule != "use" {
		t.Errorf("the last event: %+v, %v", st.Events, err)
	}
}

// A repository of the host's, in memory: names and one line each from Summaries,
// bodies only when a skill is needed.
type memory struct {
	*index.Index
	bodies map[string]string
	gets   []string
}

func (m *memory) Get(name string) (*definitions.Skill, error) {
	m.gets = append(m.gets, name)
	return &definitions.Skill{Name: name, File: "memory/" + name, Core: m.bodies[name], Docs: []definitions.Doc{{Name: "notes.md", Text: true}}}, nil
}
func (*memory) Path(name string) (string, error) { return "memory/" + name + "/SKILL.md", nil }

func (*memory) Doc(_ context.Context, skill, name string) ([]byte, error) {
	return []byte("Document " + name + " of " + skill), nil
}

var _ agent.Repository = (*memory)(nil)

func TestRepository(t *testing.T) {
	ix := build(t, small())
	repo := &memory{Index: ix, bodies: map[string]string{"code-review": "From memory.\n"}}
	h := newHost(t, newRouter(t, ix, nil), "main", &agent.Options{Repository: repo})
	h.say("hello")
	h.step()
	if len(repo.gets) > 0 {
		t.Errorf("bodies were read although nothing is loaded: %q", repo.gets)
	}
	h.must("loaded: code-review", "skill_load", `{"skill":"code-review","include_all_docs":true}`)
	for range 3 {
		if r, _ := h.step(); !strings.Contains(text(r), "[Loaded] code-review\n\nFrom memory.\n[Doc] notes.md\nDocument notes.md of code-review") {
			t.Fatalf("request:\n%s", text(r))
		}
	}
	if diff := cmp.Diff([]string{"code-review"}, repo.gets); diff != "" {
		t.Errorf("bodies read (-want +got):\n%s", diff)
	}

	h = newHost(t, newRouter(t, ix, nil), "path", &agent.Options{Repository: repo, Strategy: agent.Path})
	h.say("hello")
	if r, _ := h.step(); !strings.Contains(text(r), `"path": "memory/code-review/SKILL.md"`) {
		t.Errorf("request:\n%s", text(r))
	}
	h.must("From memory.", "read_file", `{"path":"memory/code-review/SKILL.md"}`)
	h.must("Document notes.md of code-review", "read_file", `{"path":"memory/code-review/notes.md"}`)
}

// What a function gets is a JSON object. A model's object reaches it as it is,
// and the same with prose around it.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"a": 1}`, "```json\n{\"docs\": \"x\"}\n```", `[1]`, `{"a":{"b":"}"}}`, "{", "}{"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := agent.Arguments(text)
		if err != nil {
			return
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(got, &fields); err != nil || fields == nil {
			t.Fatalf("%q became %s: %v", text, got, err)
		}
		if trimmed := strings.TrimSpace(text); json.Valid([]byte(trimmed)) && strings.HasPrefix(trimmed, "{") {
			if string(got) != trimmed {
				t.Errorf("%q became %s", text, got)
			}
			again, err := agent.Arguments("Sure, here it is: " + trimmed + " Anything else?")
			if err != nil {
				t.Errorf("%q with prose around it: %v", text, err)
			}
			var same map[string]json.RawMessage
			if err := json.Unmarshal(again, &same); err != nil || len(same) != len(fields) {
				t.Errorf("%q with prose around it became %s", text, again)
			}
		}
	})
}
