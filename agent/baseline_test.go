package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"skillrouter"
	"skillrouter/agent"
	"skillrouter/router"
)

// thirty is the catalog of a published estimate: 30 skills of 800 characters,
// told by 100 characters each.
func thirty() fstest.MapFS {
	files := fstest.MapFS{}
	for i := range 30 {
		name := fmt.Sprintf("s%02d", i)
		line := "- " + name + ": "
		told := fmt.Sprintf("Task %02d of a kind of its own ", i)
		told += strings.Repeat("x", 100-len(line)-len(told))
		head := "## Skill: " + name + "\n\n"
		body := strings.Repeat("instruct ", 100)[:800-len(head)]
		files[name+"/SKILL.md"] = file("---\nname: " + name + "\ndescription: " + told + "\n---\n" + strings.TrimSpace(body) + ".\n")
	}
	return files
}

// 24,000 characters for each model call when all is loaded; 3,000 and some 200
// of template when skills are told of, and 800 once one is loaded.
func TestFullAgainstProgressive(t *testing.T) {
	ix := build(t, thirty())
	full, err := agent.FullLoad(ix)
	if err != nil {
		t.Fatal(err)
	}
	frame := len("# Available Skills\n\n") + 29*len("\n\n---\n\n")
	if got := len(full) - frame; got < 23_950 || got > 24_050 {
		t.Errorf("all loaded: %d characters", got)
	}
	if !strings.HasPrefix(full, "# Available Skills\n\n## Skill: s00\n\ninstruct ") || strings.Count(full, "\n\n---\n\n## Skill: s") != 29 {
		t.Errorf("the form: %.80q", full)
	}
	h := newHost(t, newRouter(t, ix, &router.Options{Mode: router.Flat}), "main", nil)
	h.say("hello")
	r, _ := h.step()
	told := len(r.Messages[0].Content)
	if told < 3_100 || told > 3_200 {
		t.Errorf("told: %d characters:\n%s", told, r.Messages[0].Content)
	}
	h.must("loaded: s07", "skill_load", `{"skill":"s07"}`)
	r, _ = h.step()
	if got := len(r.Messages[0].Content) - told; got < 780 || got > 820 {
		t.Errorf("one loaded: %d characters more", got)
	}
	if share := float64(len(full)) / float64(told); share < 7 {
		t.Errorf("all loaded is %.1f times what is told", share)
	}
	if empty, err := agent.FullLoad(build(t, fstest.MapFS{})); empty != "" || err != nil {
		t.Errorf("of no skills: %q, %v", empty, err)
	}
}

// Without folders the prompt stays as it is, and nothing is spent on it.
func TestOff(t *testing.T) {
	r, err := skillrouter.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult, agent.Toolset, agent.Path} {
		h := newHost(t, r.Router, "off"+string(strategy), &agent.Options{Strategy: strategy})
		h.past = []agent.Message{{Role: agent.RoleSystem, Content: "Be brief."}}
		h.say("hello")
		request := agent.Request{Model: "test", Messages: h.past, Tools: []agent.Tool{{Type: "function", Function: agent.Function{Name: "own"}}}}
		was := asJSON(t, request)
		for _, route := range []*router.Route{h.route, nil} {
			if _, err := h.Prepare(route, &request); err != nil {
				t.Fatal(err)
			}
			if got := asJSON(t, request); got != was || &request.Messages[0] != &h.past[0] {
				t.Errorf("strategy %q: the request became\n%s", strategy, got)
			}
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = h.Prepare(h.route, &request) }); n != 0 {
			t.Errorf("strategy %q: %v allocations", strategy, n)
		}
		if left := h.State().Scan(""); len(left) > 0 {
			t.Errorf("in the state: %q", left)
		}
	}
	h := newHost(t, r.Router, "base", &agent.Options{
		System: "You are a helpful agent.", Funcs: map[string]agent.Func{"own": nothing}, Tools: []agent.Tool{{Type: "function", Function: agent.Function{Name: "own"}}},
	})
	h.say("hello")
	request := agent.Request{Messages: h.past}
	for range 2 {
		if _, err := h.Prepare(h.route, &request); err != nil {
			t.Fatal(err)
		}
		if got := text(request); got != "── system \nYou are a helpful agent.\n── user \nhello\n" || len(request.Tools) != 1 || request.ToolChoice != "auto" {
			t.Errorf("tools %q, choice %q:\n%s", toolNames(request), request.ToolChoice, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = h.Prepare(h.route, &request) }); n != 0 {
		t.Errorf("with a base prompt: %v allocations", n)
	}
}

// What the host does itself is done without skills, too.
func TestOffRunsProcessors(t *testing.T) {
	for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult, agent.Toolset, agent.Path} {
		h := newHost(t, newRouter(t, build(t, nil), nil), "off"+string(strategy), &agent.Options{
			Strategy: strategy, Funcs: map[string]agent.Func{"own": nothing}, Tools: []agent.Tool{{Type: "function", Function: agent.Function{Name: "own"}}},
			Processors: []agent.Processor{{Name: "place", Stage: agent.StageContext, Process: func(_ context.Context, r *agent.Request) error {
				r.Messages[0].Content = "The user is in Hangzhou."
				return nil
			}}},
		})
		h.say("hello")
		request := agent.Request{Messages: h.past}
		for range 2 {
			if _, err := h.Prepare(h.route, &request); err != nil {
				t.Fatal(err)
			}
			if got := text(request); got != "── system \nThe user is in Hangzhou.\n── user \nhello\n" || len(request.Tools) != 1 {
				t.Errorf("strategy %q: tools %q:\n%s", strategy, toolNames(request), got)
			}
		}
	}
}

// Skills may go away while a request is in use.
func TestOffAfterOn(t *testing.T) {
	r := newRouter(t, build(t, small()), &router.Options{Reload: reload(build(t, fstest.MapFS{}))})
	h := newHost(t, r, "main", &agent.Options{System: "Be brief.", Strategy: agent.ToolResult})
	h.say("hello")
	h.must("loaded: code-review", "skill_load", `{"skill":"code-review"}`)
	request, _ := h.step()
	if _, err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.say("again")
	request.Messages = append(request.Messages, h.past[len(h.past)-1])
	if _, err := h.Prepare(h.route, &request); err != nil {
		t.Fatal(err)
	}
	want := append([]agent.Message{{Role: agent.RoleSystem, Content: "Be brief."}}, h.past...)
	if got := text(request); got != text(agent.Request{Messages: want}) || len(request.Tools) > 0 || request.ToolChoice != "" {
		t.Errorf("tools %q, choice %q:\n%s", toolNames(request), request.ToolChoice, got)
	}
}
