package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/agent"
	"skillrouter/router"
)

const (
	office = "write an email to decline the offer"
	follow = "go on"
)

// shows tells which of the skills a request has in full.
func shows(r agent.Request, skills ...string) []string {
	var out []string
	for _, s := range skills {
		if strings.Contains(text(r), "[Loaded] "+s+"\n") {
			out = append(out, s)
		}
	}
	return out
}

func (h *host) wantShown(what string, want ...string) {
	h.t.Helper()
	r, _ := h.step()
	got := shows(r, "git-commit", "email-draft", "code-review", "meeting-minutes")
	if !slices.Equal(got, want) {
		h.t.Errorf("%s: the request shows %q, want %q", what, got, want)
	}
}

func layeredHost(t *testing.T, opts *agent.Options) *host {
	t.Helper()
	return newHost(t, newRouter(t, layered(t), nil), "main", opts)
}

// Rule a: lives nest: once, turn, task, session.
func TestLivesNest(t *testing.T) {
	for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult} {
		t.Run("strategy="+string(strategy), func(t *testing.T) {
			h := layeredHost(t, &agent.Options{Strategy: strategy})
			h.say("/code-review") // the router loads it, for the task
			h.must("loaded: git-commit", "skill_load", `{"skill":"git-commit","mode":"once"}`)
			h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`)
			h.must("loaded: meeting-minutes", "skill_load", `{"skill":"meeting-minutes","mode":"session"}`)
			h.wantShown("the request after", "git-commit", "email-draft", "code-review", "meeting-minutes")
			h.must("not loaded: nothing", "unload_skill", `{"name":"nothing"}`)
			h.wantShown("the next request", "email-draft", "code-review", "meeting-minutes")
			h.answer("done")
			h.say(follow)
			h.wantShown("the next turn", "code-review", "meeting-minutes")
			if err := h.Session().EndTask(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.wantShown("after the task", "meeting-minutes")
			if err := h.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.wantKeys()
			h.past = nil
			h.say(follow)
			h.wantShown("after the session")
		})
	}
}

// Rule b: skill_load is for the turn, load_skill for the session until
// unload_skill, what the router loads for the task.
func TestModesOfLoads(t *testing.T) {
	h := layeredHost(t, &agent.Options{Extras: []string{"load_skill"}})
	h.say("/code-review")
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`)
	h.must("loaded: git-commit", "load_skill", `{"name":"git-commit"}`)
	_, receipt := h.step()
	modes := map[string]agent.Mode{}
	for _, s := range receipt.Loaded {
		modes[s.Skill] = s.Mode
	}
	want := map[string]agent.Mode{"code-review": agent.Task, "email-draft": agent.Turn, "git-commit": agent.Session}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	h.must("unloaded: git-commit", "unload_skill", `{"name":"git-commit"}`)
	h.wantShown("after unloading", "email-draft", "code-review")
	if snap := h.Snapshot(); len(snap.ActiveSkills) > 0 {
		t.Errorf("the snapshot still has %q", snap.ActiveSkills)
	}
}

// Rule c: when a turn's key is cleared the text stays cached until the task
// ends, so that loading it again is a hit.
func TestReloadInTaskIsAHit(t *testing.T) {
	h := layeredHost(t, nil)
	h.say(office)
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`)
	h.step()
	h.say(follow)
	h.wantShown("the next turn")
	hits := func() int {
		st, err := h.Session().State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.Definitions.Hits
	}
	before := hits()
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`)
	if got := hits(); got != before+1 {
		t.Errorf("%d hits, then %d", before, got)
	}
	h.wantShown("loaded again", "email-draft")
	if err := h.Session().EndTask(t.Context()); err != nil {
		t.Fatal(err)
	}
	before = hits()
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`)
	if got := hits(); got != before {
		t.Errorf("after the task: %d hits, then %d", before, got)
	}
}

// Rule d: the end of a task, here by another subject, drops what is loaded but
// for what is loaded for the session.
func TestTaskEndSparesSession(t *testing.T) {
	h := layeredHost(t, nil)
	h.say(office)
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`)
	h.must("loaded: meeting-minutes", "skill_load", `{"skill":"meeting-minutes","mode":"session"}`)
	h.wantShown("the request after", "email-draft", "meeting-minutes")
	h.say("明天北京会下雨吗")
	h.wantShown("with another subject", "meeting-minutes")
	h.wantKeys("temp:skill:loaded:main/meeting-minutes=1", "temp:skill:mode:main/meeting-minutes=session")
	if diff := cmp.Diff([]string{"meeting-minutes"}, h.inSession()); diff != "" {
		t.Errorf("in the session (-want +got):\n%s", diff)
	}
	for range 8 { // nor do turns without a decision unload it
		h.say(follow)
	}
	h.wantShown("eight turns later", "meeting-minutes")
}

// Rule e: summaries that expire unload nothing.
func TestExpiryUnloadsNothing(t *testing.T) {
	h := layeredHost(t, nil)
	h.say(office)
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft","mode":"session"}`)
	for range 6 {
		h.say(follow)
	}
	st, err := h.Session().State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Alive) > 0 {
		t.Errorf("alive after six turns: %q", st.Alive)
	}
	h.wantShown("after six turns", "email-draft")
}

// Rule f: once is shown once, also when the same request is asked again, and
// its text is cached until the task ends.
func TestOnceSurvivesARetry(t *testing.T) {
	for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult} {
		t.Run("strategy="+string(strategy), func(t *testing.T) {
			h := layeredHost(t, &agent.Options{Strategy: strategy, Mode: agent.Once, Extras: []string{agent.SkillStatus}})
			h.say(office)
			h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`)
			first, receipt := h.step()
			if len(h.State().Scan("temp:skill:loaded:")) > 0 {
				t.Errorf("it is still loaded: %q", h.keys())
			}
			if receipt.Loaded[0].Mode != agent.Once {
				t.Errorf("receipt: %+v", receipt.Loaded)
			}
			again, _ := h.step() // the endpoint failed
			if diff := cmp.Diff(asJSON(t, first), asJSON(t, again)); diff != "" {
				t.Errorf("the same request (-first +again):\n%s", diff)
			}
			if len(shows(first, "email-draft")) == 0 {
				t.Error("it is not shown at all")
			}
			h.must("loaded:\n- email-draft (once)", "skill_status", `{}`) // the request that called shows it
			h.wantShown("the next request")
		})
	}
}

// Rule g: the end of the session drops everything.
func TestSessionEndDropsAll(t *testing.T) {
	h := layeredHost(t, nil)
	h.say("/code-review")
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft","mode":"session"}`)
	h.step()
	if err := h.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := h.State().Scan(""); len(left) > 0 {
		t.Errorf("left in the state: %q", left)
	}
	if left := h.inSession(); len(left) > 0 {
		t.Errorf("left in the session: %q", left)
	}
}

// Clearing is once a turn: what is loaded within it survives its requests.
func TestTurnClearsOnce(t *testing.T) {
	h := layeredHost(t, nil)
	h.say(office)
	h.must("loaded: email-draft", "skill_load", `{"skill":"email-draft"}`) // before the first request
	for range 3 {
		h.wantShown("a request of the turn", "email-draft")
	}
	if got := string(h.State().Get("temp:skill_turn_cleared:main")); got != "1" {
		t.Errorf("the flag is %q", got)
	}
	h.say(follow)
	h.step()
	var causes []string
	for _, c := range h.State().Changes() {
		causes = append(causes, c.Cause)
	}
	if diff := cmp.Diff([]string{"turn", "skill_load", "turn", "turn"}, causes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// The least recent go: a use counts, equally recent ones go by the alphabet.
func TestMostLoaded(t *testing.T) {
	h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{MaxLoadedSkills: 2, Funcs: funcs()})
	h.say("hello there")
	h.must("loaded: calculator", "skill_load", `{"skill":"calculator"}`)
	h.must("loaded: search", "skill_load", `{"skill":"search"}`)
	h.must("2", "calculate", `{"expression":"1+1"}`)
	h.must("loaded: code-review", "skill_load", `{"skill":"code-review","docs":["guide.md"]}`)
	r, receipt := h.step()
	if got := shows(r, "calculator", "code-review", "search"); !slices.Equal(got, []string{"calculator", "code-review"}) {
		t.Errorf("shown: %q", got)
	}
	if !slices.Equal(receipt.Cleared, []string{"search"}) || receipt.LeftOut[0].Skill != "search" {
		t.Errorf("receipt: %+v", receipt)
	}
	h.wantKeys("temp:skill:docs:main/code-review=[\"guide.md\"]", "temp:skill:loaded:main/calculator=1", "temp:skill:loaded:main/code-review=1")

	// Three that were loaded by one change are equally recent.
	h = newHost(t, newRouter(t, build(t, small()), nil), "other", &agent.Options{MaxLoadedSkills: 2})
	h.say("/search /code-review /calculator")
	h.say("use `search`, `code-review` and `calculator`")
	for _, name := range []string{"search", "code-review", "calculator"} {
		if _, err := h.Session().Load(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	delta := agent.Delta{}
	for _, name := range []string{"search", "code-review", "calculator"} {
		for k, v := range agent.LoadDelta("other", agent.LoadArgs{Skill: name, Mode: agent.Session}) {
			delta[k] = v
		}
	}
	h.State().Commit(agent.Change{Agent: "other", Cause: "resume", Skills: []string{"search", "code-review", "calculator"}, Delta: delta})
	r, _ = h.step()
	if got := shows(r, "calculator", "code-review", "search"); !slices.Equal(got, []string{"calculator", "code-review"}) {
		t.Errorf("equally recent: shown %q", got)
	}
}

// Two agents of one session never see each other's loads.
func TestTwoAgents(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	var state agent.State
	a := newHost(t, r, "a", &agent.Options{State: &state})
	b := newHost(t, r, "a/b", &agent.Options{State: &state, MaxLoadedSkills: 1})
	a.say("hello")
	b.say("hello")
	a.must("loaded: calculator", "skill_load", `{"skill":"calculator"}`)
	a.must("loaded: code-review", "skill_load", `{"skill":"code-review"}`)
	b.must("loaded: search", "skill_load", `{"skill":"search"}`)
	for _, test := range []struct {
		h    *host
		want []string
	}{{a, []string{"calculator", "code-review"}}, {b, []string{"search"}}} {
		request, _ := test.h.step()
		if got := shows(request, "calculator", "code-review", "search"); !slices.Equal(got, test.want) {
			t.Errorf("shown %q, want %q", got, test.want)
		}
	}
	b.say("next") // clears the turn of b alone
	b.step()
	a.wantKeys("temp:skill:loaded:a/calculator=1", "temp:skill:loaded:a/code-review=1")
}

// Keys without an agent become those of the agent that reads them first.
func TestMigration(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	var state agent.State
	state.Commit(agent.Change{Cause: "old", Delta: agent.Delta{
		"temp:skill:loaded:code-review": []byte("1"), "temp:skill:docs:code-review": []byte(`["guide.md"]`),
		"temp:skill:loaded:gone": []byte("1"),
	}})
	a := newHost(t, r, "a", &agent.Options{State: &state, Mode: agent.Session})
	b := newHost(t, r, "b", &agent.Options{State: &state, Mode: agent.Session})
	a.say("hello")
	b.say("hello")
	request, receipt := a.step()
	if got := shows(request, "code-review"); len(got) != 1 || !strings.Contains(text(request), "[Doc] guide.md\nBe kind.") {
		t.Errorf("shown %q:\n%s", got, text(request))
	}
	if !slices.Equal(receipt.Cleared, []string{"gone"}) {
		t.Errorf("cleared %q", receipt.Cleared)
	}
	if request, _ = b.step(); len(shows(request, "code-review")) > 0 {
		t.Error("the second agent sees it, too")
	}
	a.wantKeys("temp:skill:docs:a/code-review=[\"guide.md\"]", "temp:skill:loaded:a/code-review=1")
}

// Snapshot and resume: skills of the session and their documents, nothing else.
func TestResume(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	h := newHost(t, r, "main", nil)
	if got := asJSON(t, h.Snapshot()); got != "{\n \"active_skills\": []\n}" {
		t.Errorf("an empty snapshot: %s", got)
	}
	h.say("hello")
	h.must("loaded: code-review", "skill_load", `{"skill":"code-review","docs":["guide.md"],"mode":"session"}`)
	h.must("loaded: search", "skill_load", `{"skill":"search","mode":"session","include_all_docs":true}`)
	h.must("loaded: calculator", "skill_load", `{"skill":"calculator"}`)
	data, err := json.Marshal(h.Snapshot())
	if want := `{"active_skills":["code-review","search"],"docs":{"code-review":["guide.md"],"search":["*"]}}`; err != nil || string(data) != want {
		t.Errorf("snapshot %s, %v, want %s", data, err, want)
	}
	if err := h.End(t.Context()); err != nil {
		t.Fatal(err)
	}

	var snap agent.Snapshot
	if err := json.Unmarshal([]byte(`{"active_skills":["no-such","code-review","search"],"docs":{"code-review":["guide.md"],"search":["*"]}}`), &snap); err != nil {
		t.Fatal(err)
	}
	h = newHost(t, r, "main", nil)
	gone, err := h.Resume(t.Context(), snap)
	if err != nil || !slices.Equal(gone, []string{"no-such"}) {
		t.Errorf("gone %q, %v", gone, err)
	}
	if st, err := h.Session().State(t.Context()); err != nil || st.Task {
		t.Errorf("resuming began a task: %v, %v", st.Task, err)
	}
	h.say("and now for something else")
	request, _ := h.step()
	if got := shows(request, "code-review", "search", "calculator"); !slices.Equal(got, []string{"code-review", "search"}) || !strings.Contains(text(request), "[Doc] guide.md\n") {
		t.Errorf("shown %q:\n%s", got, text(request))
	}
	if got := h.Snapshot(); !slices.Equal(got.ActiveSkills, []string{"code-review", "search"}) {
		t.Errorf("snapshot again: %q", got.ActiveSkills)
	}
}

// Another process of the same session, with a state of its own: what is loaded
// for the session stays so, what was loaded for the turn is gone.
func TestOtherProcess(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	h := newHost(t, r, "main", nil)
	h.say("hello")
	h.must("loaded: search", "skill_load", `{"skill":"search","mode":"session"}`)
	h.must("loaded: calculator", "skill_load", `{"skill":"calculator"}`)
	there := newHost(t, r, "main", nil)
	there.say("hello again")
	request, receipt := there.step()
	modes := map[string]agent.Mode{}
	for _, s := range receipt.Loaded {
		modes[s.Skill] = s.Mode
	}
	if diff := cmp.Diff(map[string]agent.Mode{"search": agent.Session}, modes); diff != "" {
		t.Errorf("modes (-want +got):\n%s\n%s", diff, text(request))
	}
}

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
			h.must("error: skill not found", "read_file", `{"path":"skills/code/deploy/SKILL.md"}`)
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

// A skill that is deleted while it is loaded loses its key with the next turn,
// and the prompt says so.
func TestDeletedWhileLoaded(t *testing.T) {
	files := small()
	first := build(t, files)
	less := fstest.MapFS{}
	for name, f := range files {
		if !strings.HasPrefix(name, "web/search/") {
			less[name] = f
		}
	}
	second := build(t, less)
	r := newRouter(t, first, &router.Options{Reload: reload(second)})
	h := newHost(t, r, "main", nil)
	h.say("hello")
	h.must("loaded: search", "skill_load", `{"skill":"search","mode":"session"}`)
	if _, err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantShownIn("search", true) // a turn finishes on its index
	h.say("hello again")
	request, receipt := h.step()
	if !strings.Contains(text(request), "Deleted and no longer available: search.") || len(shows(request, "search")) > 0 || !slices.Equal(receipt.Cleared, []string{"search"}) {
		t.Errorf("cleared %q:\n%s", receipt.Cleared, text(request))
	}
	h.wantKeys()
}

func (h *host) wantShownIn(skill string, want bool) {
	h.t.Helper()
	r, _ := h.step()
	if got := len(shows(r, skill)) > 0; got != want {
		h.t.Errorf("%s shown: %v", skill, got)
	}
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

func TestNewRefuses(t *testing.T) {
	r := newRouter(t, build(t, small()), nil)
	s, err := r.Session("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context, *agent.Request) error { return errors.New("not called") }
	for want, opts := range map[string]*agent.Options{
		`Strategy "best"`:                   {Strategy: "best"},
		`Mode "task"`:                       {Mode: agent.Task},
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
