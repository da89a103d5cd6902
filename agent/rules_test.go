package agent_test

import (
	"encoding/json"
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

// What is unloaded is gone from the next request, wherever it stood: only the
// short confirmation of its load stays.
func TestUnloadedIsGone(t *testing.T) {
	for _, strategy := range []agent.Strategy{agent.SystemMessage, agent.ToolResult, agent.Toolset} {
		h := newHost(t, newRouter(t, build(t, small()), nil), "main", &agent.Options{Strategy: strategy, Funcs: funcs(), Extras: []string{"load_skill"}})
		h.say("hello")
		h.must("loaded: calculator", "load_skill", `{"name":"calculator"}`)
		with, _ := h.step()
		if len(shows(with, "calculator")) == 0 || !slices.Contains(toolNames(with), "calculate") {
			t.Errorf("%q: loaded, not shown:\n%s", strategy, text(with))
		}
		h.must("unloaded: calculator", "unload_skill", `{"name":"calculator"}`)
		for _, utterance := range []string{"", "hello again"} {
			if utterance != "" {
				h.say(utterance)
			}
			r, receipt := h.step()
			if len(shows(r, "calculator")) > 0 || slices.Contains(toolNames(r), "calculate") || len(receipt.Loaded) > 0 || !strings.Contains(text(r), "loaded: calculator\n") {
				t.Errorf("%q: unloaded, shown:\n%s", strategy, text(r))
			}
		}
		h.must("error: tool not available: calculate: no loaded skill has it; load the skill that does", "calculate", `{"expression":"1+1"}`)
		h.wantKeys()
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
	if diff := cmp.Diff([]string{"turn", "skill_load", "turn"}, causes); diff != "" {
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
