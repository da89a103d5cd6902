package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/agent"
)

func TestKeys(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{agent.LoadedKey("main", "code-review"), "temp:skill:loaded:main/code-review"},
		{agent.DocsKey("main", "code-review"), "temp:skill:docs:main/code-review"},
		{agent.LoadedPrefix("main"), "temp:skill:loaded:main/"},
		{agent.DocsPrefix("main"), "temp:skill:docs:main/"},
		{agent.LoadedKey("主", "代码审查"), "temp:skill:loaded:主/代码审查"},
		{agent.LoadedKey("a/b", "c%d/e"), "temp:skill:loaded:a%2Fb/c%25d%2Fe"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// A scan of one agent's prefix finds its skills and no other's, whatever the
// names are.
func FuzzKeys(f *testing.F) {
	f.Add("a", "b/c", "a/b", "c")
	f.Add("a%2Fb", "c", "a/b", "c")
	f.Add("主", "代码", "主/", "码")
	f.Fuzz(func(t *testing.T, agentA, skillA, agentB, skillB string) {
		if agentA == "" || agentB == "" || skillA == "" || skillB == "" || agentA == agentB {
			t.Skip()
		}
		var s agent.State
		s.Commit(agent.Change{Agent: agentA, Delta: agent.LoadDelta(agentA, agent.LoadArgs{Skill: skillA})})
		s.Commit(agent.Change{Agent: agentB, Delta: agent.LoadDelta(agentB, agent.LoadArgs{Skill: skillB})})
		want := map[string][]byte{agent.LoadedKey(agentA, skillA): []byte("1")}
		if diff := cmp.Diff(want, s.Scan(agent.LoadedPrefix(agentA))); diff != "" {
			t.Errorf("agent %q (-want +got):\n%s", agentA, diff)
		}
	})
}

func TestDeltas(t *testing.T) {
	load := func(args agent.LoadArgs) map[string][]byte { return agent.LoadDelta("main", args) }
	choose := func(chosen string, args agent.SelectDocsArgs) map[string][]byte {
		args.Skill = "x"
		return agent.SelectDocsDelta("main", args.Over([]byte(chosen)))
	}
	for _, test := range []struct {
		name string
		got  map[string][]byte
		want string
	}{
		{"load", load(agent.LoadArgs{Skill: "x"}), `{"temp:skill:loaded:main/x":"1"}`},
		{"load with all documents", load(agent.LoadArgs{Skill: "x", IncludeAllDocs: true, Docs: []string{"a"}}), `{"temp:skill:docs:main/x":"*","temp:skill:loaded:main/x":"1"}`},
		{"load with documents", load(agent.LoadArgs{Skill: "x", Docs: []string{"b", "a", "b"}}), `{"temp:skill:docs:main/x":"[\"b\",\"a\"]","temp:skill:loaded:main/x":"1"}`},
		{"load for a mode", load(agent.LoadArgs{Skill: "x", Mode: agent.Session}), `{"temp:skill:loaded:main/x":"1","temp:skill:mode:main/x":"session"}`},
		{"load without a name", load(agent.LoadArgs{}), `{}`},
		{"replace", choose(`["a"]`, agent.SelectDocsArgs{Docs: []string{"b"}}), `{"temp:skill:docs:main/x":"[\"b\"]"}`},
		{"replace by none", choose(`["a"]`, agent.SelectDocsArgs{Mode: "replace"}), `{"temp:skill:docs:main/x":null}`},
		{"replace by all", choose(`["a"]`, agent.SelectDocsArgs{IncludeAllDocs: true}), `{"temp:skill:docs:main/x":"*"}`},
		{"add", choose(`["b","a"]`, agent.SelectDocsArgs{Mode: "add", Docs: []string{"a", "c"}}), `{"temp:skill:docs:main/x":"[\"b\",\"a\",\"c\"]"}`},
		{"add to none", choose(``, agent.SelectDocsArgs{Mode: "add", Docs: []string{"a"}}), `{"temp:skill:docs:main/x":"[\"a\"]"}`},
		{"add to all", choose(`*`, agent.SelectDocsArgs{Mode: "add", Docs: []string{"a"}}), `{"temp:skill:docs:main/x":"*"}`},
		{"add to what is no selection", choose(`{`, agent.SelectDocsArgs{Mode: "add", Docs: []string{"a"}}), `{"temp:skill:docs:main/x":"[\"a\"]"}`},
		{"clear", choose(`*`, agent.SelectDocsArgs{Mode: "clear", Docs: []string{"a"}}), `{"temp:skill:docs:main/x":null}`},
		{"unload", agent.UnloadDelta("main", "x"), `{"temp:skill:docs:main/x":null,"temp:skill:loaded:main/x":null,"temp:skill:mode:main/x":null}`},
		{"unload without a name", agent.UnloadDelta("main", ""), `{}`},
		{"select without an agent", agent.SelectDocsDelta("", agent.SelectDocsArgs{Skill: "x"}), `{}`},
	} {
		got, err := json.Marshal(agent.Delta(test.got))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestStateCommits(t *testing.T) {
	var s agent.State
	delta := agent.Delta{"k": []byte("1"), "l": []byte("2")}
	s.Commit(agent.Change{Turn: 1, Agent: "a", Cause: "skill_load", Skills: []string{"x"}, Delta: delta})
	delta["k"][0] = 'x' // the caller's own
	s.Commit(agent.Change{Turn: 2, Agent: "b", Cause: "turn", Delta: agent.Delta{"k": nil, "m": {}}})
	want := map[string][]byte{"l": []byte("2"), "m": {}}
	if diff := cmp.Diff(want, s.Scan("")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if s.Get("k") != nil || s.Get("m") == nil {
		t.Errorf("k %q, m %q", s.Get("k"), s.Get("m"))
	}
	log := asJSON(t, s.Changes())
	if !strings.Contains(log, `"seq": 1`) || !strings.Contains(log, `"k": "1"`) || !strings.Contains(log, `"k": null`) {
		t.Errorf("the log:\n%s", log)
	}
}

// The log of an agent is bounded, and another's activity does not shorten it.
func TestLogIsBounded(t *testing.T) {
	var s agent.State
	s.Commit(agent.Change{Agent: "quiet", Cause: "skill_load", Skills: []string{"x"}})
	for i := range 1000 {
		s.Commit(agent.Change{Agent: "busy", Cause: "use", Skills: []string{fmt.Sprint(i)}})
	}
	all := s.Changes()
	if len(all) != 257 || all[0].Agent != "quiet" || all[1].Seq != 746 || all[256].Seq != 1001 {
		t.Errorf("%d changes, first %+v, second %+v", len(all), all[0], all[1])
	}
}
