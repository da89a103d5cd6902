package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/agent"
	"skillrouter/router"
)

// A skill that is only for people is in no prompt, list or search, and there
// once the user names it.
func TestManual(t *testing.T) {
	files := small()
	files["code/deploy/SKILL.md"] = file("---\nname: deploy-site\ndescription: Deploys the site. Use when the site is to be deployed.\ndisable-model-invocation: true\n---\nDeploy with care.\n")
	ix := build(t, files)
	for _, mode := range []router.Mode{router.Flat, router.Layered} {
		for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult, agent.Toolset, agent.Path} {
			h := newHost(t, newRouter(t, ix, &router.Options{Mode: mode}), "main", &agent.Options{
				Strategy: strategy, Extras: []string{agent.SearchSkills, agent.ListSkills, agent.ReadFile, agent.LoadDomain},
			})
			h.say("the page is ready, is it to be seen by all now?")
			h.call("list_skills", `{"domain":"code"}`)
			h.call("search_skills", `{"query":"deploy the site"}`)
			h.call("skill_load_domain", `{"domain":"code","reason":"a test"}`)
			if r, _ := h.step(); strings.Contains(asJSON(t, r), "deploy-site") || strings.Contains(asJSON(t, r), "Deploy with care") {
				t.Errorf("%s, %q: it is in the request:\n%s", mode, strategy, asJSON(t, r))
			}
			before := len(h.State().Changes())
			h.must("error: skill not found", "read_file", `{"path":"skills/code/deploy/SKILL.md"}`)
			if changes := h.State().Changes()[before:]; len(changes) > 0 {
				t.Errorf("%s, %q: what was refused is noted: %+v", mode, strategy, changes)
			}
			h.say("/deploy-site")
			if strategy == agent.Path {
				h.step()
				h.must("Deploy with care.", "read_file", `{"path":"skills/code/deploy/SKILL.md"}`)
			} else if r, receipt := h.step(); !strings.Contains(text(r), "Deploy with care") {
				t.Errorf("%s, %q: named by the user, not shown: %+v", mode, strategy, receipt)
			}
		}
	}
}

// A tool that two skills declare which the user names is offered once; one
// that the agent has itself keeps its own.
func TestToolTwice(t *testing.T) {
	files := small()
	files["numbers/sums/SKILL.md"] = skillFile("big-sums", "Adds up. Use for sums.", "Add.\n")
	files["numbers/sums/tools.json"] = file(calculatorTools)
	files["numbers/long/SKILL.md"] = skillFile("long-sums", "Adds up much. Use for long sums.", "Add.\n")
	files["numbers/long/tools.json"] = file(calculatorTools)
	r := newRouter(t, build(t, files), nil)
	h := newHost(t, r, "main", &agent.Options{Funcs: funcs(), Extras: []string{agent.LoadDomain}})
	h.say("use `big-sums` and `long-sums`")
	for _, name := range []string{"big-sums", "long-sums"} {
		if _, err := h.Session().Load(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	request, receipt := h.step()
	n := 0
	for _, name := range toolNames(request) {
		if name == "calculate" {
			n++
		}
	}
	if n != 1 || len(receipt.LeftOut) != 1 || receipt.LeftOut[0] != (agent.LeftOut{Skill: "long-sums", What: "tool calculate", Why: "another tool has its name"}) {
		t.Errorf("%d times; left out: %+v", n, receipt.LeftOut)
	}
	h = newHost(t, r, "domain", &agent.Options{Funcs: funcs(), Extras: []string{agent.LoadDomain}})
	h.say("hello")
	h.must(`error: skills "calculator" and "long-sums" both declare the tool "calculate": "long-sums" was not loaded; unload "calculator" first`,
		"skill_load_domain", `{"domain":"numbers","reason":"a test"}`)
	h.wantKeys()

	own := []agent.Tool{{Type: "function", Function: agent.Function{Name: "calculate"}}}
	h = newHost(t, r, "own", &agent.Options{Funcs: funcs(), Tools: own})
	h.say("hello")
	h.must(`error: skill "calculator" declares the tool "calculate", which the agent has itself: it was not loaded`, "skill_load", `{"skill":"calculator"}`)
}

// Loads that fail change nothing.
func TestFailedLoads(t *testing.T) {
	files := small()
	files["numbers/sums/SKILL.md"] = skillFile("sums", "Adds up. Use for sums.", "Add.\n")
	files["numbers/sums/tools.json"] = file(calculatorTools)
	files["code/deploy/SKILL.md"] = file("---\nname: deploy\ndescription: Deploys.\ndisable-model-invocation: true\n---\nDeploy.\n")
	r := newRouter(t, build(t, files), nil)
	s, err := r.Session("x", &router.SessionOptions{Allow: func(name string) bool { return name != "search" }})
	if err != nil {
		t.Fatal(err)
	}
	k, err := agent.New(s, &agent.Options{Funcs: funcs()})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, Kit: k}
	h.say("hello")
	h.step()
	h.must("loaded: calculator", "skill_load", `{"skill":"calculator"}`)
	before := h.keys()
	for _, test := range []struct{ name, tool, arguments, want string }{
		{"unknown", "skill_load", `{"skill":"zzzzzzzzzzzz"}`, "error: skill not found"},
		{"misspelt", "skill_load", `{"skill":"code-reviw"}`, "error: skill not found\nnearest names: code-review"},
		{"not allowed", "skill_load", `{"skill":"search"}`, "error: skill not found"},
		{"for people only", "skill_load", `{"skill":"deploy"}`, "error: skill not found"},
		{"nothing named", "skill_load", `{}`, "error: skill not found"},
		{"no arguments", "skill_load", ``, "error: skill not found"},
		{"no JSON", "skill_load", `calculator`, "error: the arguments are no JSON object"},
		{"another mode", "skill_load", `{"skill":"code-review","mode":"task"}`, `error: mode "task" is not once, turn or session`},
		{"a tool twice", "skill_load", `{"skill":"sums"}`, `error: skills "calculator" and "sums" both declare the tool "calculate": "sums" was not loaded; unload "calculator" first`},
		{"documents of what is not loaded", "skill_select_docs", `{"skill":"code-review","docs":["guide.md"]}`, "error: skill not loaded: code-review: load it first"},
		{"documents in another mode", "skill_select_docs", `{"skill":"calculator","mode":"drop"}`, `error: mode "drop" is not add, replace or clear`},
		{"no extension", "skill_extension", `{"skill":"calculator"}`, `error: skill "calculator" has no extension: its definition is whole`},
		{"not offered", "skill_load_domain", `{"domain":"x","reason":"y"}`, "error: tool not available: skill_load_domain"},
		{"a tool of nobody", "no_such_tool", `{}`, "error: tool not available: no_such_tool: no loaded skill has it; load the skill that does"},
		{"a tool of an unloaded skill", "search_web", `{"query":"x"}`, "error: tool not available: search_web: no loaded skill has it; load the skill that does"},
		{"unload what is not loaded", "unload_skill", `{"name":"code-review"}`, "not loaded: code-review"},
	} {
		if got := h.call(test.tool, test.arguments); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if diff := cmp.Diff(before, h.keys()); diff != "" {
			t.Errorf("%s changed the keys (-before +after):\n%s", test.name, diff)
		}
	}
	if got := h.inSession(); !slices.Equal(got, []string{"calculator"}) {
		t.Errorf("in the session: %q", got)
	}

	h.say("please deploy it")
	h.step()
	h.must("loaded: deploy", "skill_load", `{"skill":"deploy"}`) // the user named it
}

// A name is understood as models write it.
func TestLenientNames(t *testing.T) {
	h := newHost(t, newRouter(t, build(t, small()), nil), "main", nil)
	h.say("hello")
	for _, arguments := range []string{
		`{"skill":"code-review"}`, `{"skill":" Code-Review "}`, `{"skill":"/code-review"}`, `{"skill":"2) code-review"}`, `{"skill":"Code Review"}`,
		"Sure! ```json\n{\"skill\": \"code-review\"}\n```", `{"skill":"code-review","docs":"guide.md"}`, `{"name":"code-review"}`,
	} {
		h.must("loaded: code-review", "skill_load", arguments)
	}
	h.must("loaded: code-review\nunknown documents: typo.md, ../SKILL.md; there are: guide.md, reference.txt",
		"skill_load", `{"skill":"code-review","docs":["typo.md","guide.md","../SKILL.md"]}`)
	h.must("documents of code-review: guide.md, reference.txt", "skill_select_docs", `{"skill":"code-review","docs":["reference.txt","guide.md"],"mode":"add"}`)
	h.must("documents of code-review: reference.txt", "skill_select_docs", `{"skill":"code-review","docs":["reference.txt"]}`)
	h.must("documents of code-review: all", "skill_select_docs", `{"skill":"code-review","include_all_docs":true}`)
	h.must("documents of code-review: none", "skill_select_docs", `{"skill":"code-review","mode":"clear"}`)
	h.must("loaded: search\nunknown documents: a.md; there are: none", "skill_load", `{"skill":"search","docs":["a.md"]}`)
	r, receipt := h.step()
	if n := strings.Count(text(r), "[Loaded] code-review"); n != 1 || len(receipt.Loaded) != 2 {
		t.Errorf("loaded %d times: %+v", n, receipt.Loaded)
	}
}

// Files that are no text, or too long, are listed and never shown.
func TestFilesThatAreNotShown(t *testing.T) {
	files := small()
	files["code/code-review/logo.png"] = file("\x89PNG\x00")
	files["code/code-review/data/all.csv"] = file(strings.Repeat("1,2,3\n", 50_000))
	const lists = "[More] files that cannot be shown: data/all.csv, logo.png; extension not shown (load with skill_extension)"
	for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult} {
		h := newHost(t, newRouter(t, build(t, files), nil), "main", &agent.Options{Strategy: strategy, Extras: []string{agent.ReadFile}})
		h.say("hello")
		h.must("loaded: code-review", "skill_load", `{"skill":"code-review","include_all_docs":true}`)
		r, receipt := h.step()
		if got := receipt.Loaded[0].Docs; !slices.Equal(got, []string{"guide.md", "reference.txt"}) || !strings.Contains(text(r), lists) || strings.Contains(text(r), "PNG") || strings.Contains(text(r), "1,2,3") {
			t.Errorf("%q: documents %q:\n%s", strategy, got, text(r))
		}
		h.must("documents of code-review: guide.md\nnot text, or too long to be shown: logo.png\nunknown documents: x.md; there are: guide.md, reference.txt",
			"skill_select_docs", `{"skill":"code-review","docs":["logo.png","guide.md","x.md"]}`)
		for _, name := range []string{"logo.png", "data/all.csv"} {
			if got := h.call("read_file", `{"path":"code-review/`+name+`"}`); !strings.HasPrefix(got, "error: ") || strings.Contains(got, "1,2,3") {
				t.Errorf("read_file: %s", got)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	s, err := r.Session("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context, *agent.Request) error { return errors.New("not called") }
	for want, opts := range map[string]*agent.Options{
		`Strategy "best"`:                   {Strategy: "best"},
		`Mode "always"`:                     {Mode: "always"},
		`there is no tool "skill_unload"`:   {Extras: []string{"skill_unload"}},
		`no function for "f"`:               {Tools: []agent.Tool{{Function: agent.Function{Name: "f"}}}},
		`"skill_load" is the name of a`:     {Tools: []agent.Tool{{Function: agent.Function{Name: "skill_load"}}}},
		`no Process`:                        {Processors: []agent.Processor{{Name: "p", Stage: agent.StageContext}}},
		`is not one of the host's`:          {Processors: []agent.Processor{{Name: "p", Stage: agent.StageContent, Process: nothing}}},
		`"p" is of stage context and stand`: {Processors: []agent.Processor{{Name: "q", Stage: agent.StagePostTool, Process: nothing}, {Name: "p", Stage: agent.StageContext, Process: nothing}}},
	} {
		if _, err := agent.New(s, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %s, got %v", want, err)
		}
	}
	if _, err := agent.New(nil, nil); err == nil {
		t.Error("no session, no error")
	}
}
