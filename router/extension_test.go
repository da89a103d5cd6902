package router_test

import (
	"strings"
	"testing"
)

// The core of a definition is shown at once, the extension on demand, until
// the definition goes.
func TestLoadExtension(t *testing.T) {
	ix := build(t, files{
		"a/deploy/SKILL.md": skill("deploy", "Deploys a service to the cluster", "") + "Core.\n<!-- extended -->\nMany examples.\n",
		"a/whole/SKILL.md":  skill("whole", "Rolls a service back", ""),
	})
	d := newDialogue(t, newRouter(t, ix, nil), nil)
	d.say("deploy the service")
	d.load("deploy")
	if p := d.prompt(); !strings.Contains(p, "Core.") || strings.Contains(p, "Many examples.") {
		t.Errorf("after Load the core alone should be shown, got:\n%s", p)
	}
	if _, err := d.LoadExtension(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	if p := d.prompt(); strings.Count(p, "Core.") != 1 || strings.Count(p, "Many examples.") != 1 {
		t.Errorf("after LoadExtension both should be shown once, got:\n%s", p)
	}
	if x := d.say("go on"); !strings.Contains(x.Prompt(), "Many examples.") {
		t.Error("the extension should stay with its definition")
	}
	if _, err := d.LoadExtension(t.Context(), "whole"); err == nil || !strings.Contains(err.Error(), "no extension") {
		t.Errorf("a skill without one: got error %v", err)
	}
	if st := d.state(); len(st.Loaded) != 1 {
		t.Errorf("after the error: loaded %v", st.Loaded)
	}
	if _, err := d.LoadExtension(t.Context(), "missing"); err == nil {
		t.Error("a skill that is not there: want an error")
	}
	d.do("EndTask", d.EndTask(t.Context()))
	d.load("deploy")
	if p := d.prompt(); strings.Contains(p, "Many examples.") {
		t.Error("in the next task the extension is asked for anew")
	}
}
