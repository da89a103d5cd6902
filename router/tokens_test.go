package router_test

import (
	"strings"
	"testing"

	"skillrouter/router"
)

func TestTokens(t *testing.T) {
	words := func(s string) int { return len(strings.Fields(s)) }
	r := newRouter(t, exampleCatalog(t), &router.Options{Tokens: words})
	d := newDialogue(t, r, nil)
	x := d.say(office)
	got := x.Tokens()
	if got.Estimated || got.Index == 0 || got.Summaries == 0 || got.Definitions != 0 || got.Total() != words(x.Prompt()) {
		t.Errorf("got %+v for a prompt of %d words", got, words(x.Prompt()))
	}
	d.load("email-draft")
	now, err := d.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := d.Prompt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if now.Definitions == 0 || now.Index != got.Index || now.Summaries != got.Summaries || now.Total() != words(prompt) {
		t.Errorf("after a load: got %+v, before %+v", now, got)
	}
	if e := route(t, newRouter(t, exampleCatalog(t), nil), office).Tokens(); !e.Estimated || e.Total() < len(x.Prompt())/8 {
		t.Errorf("the estimate: got %+v for %d bytes", e, len(x.Prompt()))
	}
}

// With Sliding a match renews the turns of a domain's summaries.
func TestSliding(t *testing.T) {
	for _, sliding := range []bool{false, true} {
		d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Sliding: sliding}), nil)
		d.say(office)  // turn 1
		d.say(queries) // 2
		d.say(queries)
		d.say(office) // 4: renews it
		d.say(queries)
		d.say(queries)
		d.say(queries)
		x := d.say(office) // 8: four turns after the match, seven after the load
		if hit := len(x.Hits) > 0 && len(x.New) == 0; hit != sliding {
			t.Errorf("sliding %v: new %v, hits %v", sliding, x.New, x.Hits)
		}
	}
}

// With SessionDefinitions a definition outlives its task.
func TestSessionDefinitions(t *testing.T) {
	for _, keep := range []bool{false, true} {
		d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{SessionDefinitions: keep}), nil)
		d.say(office)
		d.load("email-draft")
		d.do("EndTask", d.EndTask(t.Context()))
		st := d.state()
		if st.Task || len(st.Loaded) == 1 != keep {
			t.Errorf("keep %v: task %v, loaded %v", keep, st.Task, st.Loaded)
		}
		// Another subject ends a task, too.
		d.load("email-draft")
		x := d.say(queries)
		if len(x.Loaded) == 1 != keep {
			t.Errorf("keep %v: after a switch the prompt holds %d definitions", keep, len(x.Loaded))
		}
	}
}
