package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"skillrouter/agent"
	"skillrouter/router"
)

// tenTurns is a dialogue that changes its subject now and then.
func tenTurns() []string {
	return []string{
		"write an email to decline the offer", "make it shorter", "and a bit friendlier",
		"明天北京会下雨吗", "那后天呢", "draft the minutes of yesterday's meeting",
		"turn this PDF into text", "go on", "write a commit message for my change", "please review this pull request",
	}
}

// BenchmarkPrefix runs a dialogue of ten turns of two requests each, of which
// the second has a skill loaded, and reports what share of the bytes of a
// request stood in the one before, from its beginning: what an endpoint's
// prompt cache can serve. Tools come first, as endpoints put them. The longer
// the answers, the more a system message that changes costs.
func BenchmarkPrefix(b *testing.B) {
	for _, length := range []int{50, 2000} {
		for name, strategy := range map[string]agent.Strategy{"system-message": agent.SystemMessage, "tool-result": agent.ToolResult, "toolset": agent.Toolset} {
			b.Run(fmt.Sprintf("%s/answers=%d", name, length), func(b *testing.B) {
				var equal, total, requests int
				for range b.N {
					equal, total, requests = tenTurnsOf(b, strategy, strings.Repeat("words ", length/6))
				}
				b.ReportMetric(100*float64(equal)/float64(total), "%equal")
				b.ReportMetric(float64(total)/float64(requests), "bytes/request")
			})
		}
	}
	b.Run("all-loaded", func(b *testing.B) {
		var full string
		for range b.N {
			var err error
			if full, err = agent.FullLoad(layered(b)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(full)), "bytes/request")
	})
}

// tenTurnsOf counts bytes, and those of them that stood in the request before,
// of all requests but the first.
func tenTurnsOf(b *testing.B, strategy agent.Strategy, answer string) (equal, total, requests int) {
	h := newHost(b, newRouter(b, layered(b), nil), "main", &agent.Options{System: "You are a helpful agent.", Strategy: strategy, Extras: []string{"skill_load"}})
	var last []byte
	ask := func() {
		r, _ := h.step()
		now := bytesOf(b, r)
		if last != nil {
			equal, total, requests = equal+common(last, now), total+len(now), requests+1
		}
		last = now
	}
	for _, utterance := range tenTurns() {
		h.say(utterance)
		ask()
		if c := h.route.Candidates; len(c) > 0 {
			h.call("skill_load", `{"skill":"`+c[0].Name+`"}`)
		}
		ask()
		h.answer(answer)
	}
	return equal, total, requests
}

func bytesOf(t testing.TB, r agent.Request) []byte {
	t.Helper()
	tools, err := json.Marshal(r.Tools)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := json.Marshal(r.Messages)
	if err != nil {
		t.Fatal(err)
	}
	return append(tools, messages...)
}

// common is how many bytes b has from a's beginning.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func BenchmarkPrepare(b *testing.B) {
	for name, strategy := range map[string]agent.Strategy{"system-message": agent.SystemMessage, "tool-result": agent.ToolResult, "toolset": agent.Toolset, "path": agent.Path} {
		b.Run(name, func(b *testing.B) {
			h := newHost(b, newRouter(b, layered(b), nil), "main", &agent.Options{Strategy: strategy, Extras: []string{"skill_load"}})
			h.say(office)
			h.call("skill_load", `{"skill":"email-draft"}`)
			b.ReportAllocs()
			for b.Loop() {
				h.step()
			}
		})
	}
}

// BenchmarkOff is Prepare of an agent without skills.
func BenchmarkOff(b *testing.B) {
	h := newHost(b, newRouter(b, build(b, nil), nil), "main", &agent.Options{System: "Be brief."})
	h.past = []agent.Message{{Role: agent.RoleSystem, Content: "Be brief."}}
	h.say("hello")
	request := agent.Request{Messages: h.past}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Prepare(h.route, &request); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	h := newHost(b, newRouter(b, layered(b), &router.Options{}), "main", &agent.Options{Funcs: funcs()})
	h.say("how much is 20% off 350")
	for _, c := range []agent.ToolCall{call("1", "skill_load", `{"skill":"calculator"}`), call("2", "calculate", `{"expression":"350*0.8"}`)} {
		b.Run(c.Function.Name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if m := h.Call(b.Context(), c); m.Content == "" {
					b.Fatal(fmt.Sprint(m))
				}
			}
		})
	}
}
