package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/router"
)

// contextOf is what the hook says to utterances of one session, one by one.
func contextOf(t *testing.T, o *skillrouter.Options, place string, utterances ...string) []*hookContext {
	t.Helper()
	r, err := skillrouter.Open(t.Context(), o, place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	s, err := r.Session("1", nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []*hookContext
	for _, u := range utterances {
		route, err := s.Route(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		var alone *router.Route
		if !route.Matched() && !route.SaysNothing() {
			if alone, err = r.Route(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, newHookContext(r.Index(), []string{place}, route, alone, nil, ""))
	}
	return all
}

func writeFile(t *testing.T, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Clients cut what is longer than 10,000 characters, or show none of it.
func TestContextIsBounded(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, strings.Repeat("folder-with-a-long-name/", 12))
	const n = 40
	for i := range n {
		name := fmt.Sprintf("wash-%02d", i)
		writeFile(t, "---\nname: "+name+"\ndescription: Washes socks of the kind "+strings.Repeat("long ", 40)+". Use when socks are dirty.\n---\n", deep, name, "SKILL.md")
	}
	o := &skillrouter.Options{Depth: -1, Router: router.Options{Mode: router.Flat, MaxSummaries: -1}}
	c := contextOf(t, o, dir, "wash the dirty socks")[0]
	if len(c.fresh) != n {
		t.Fatalf("%d skills are new, want all %d", len(c.fresh), n)
	}
	text := c.String()
	if got := utf8.RuneCountInString(text); got > maxContext || got < maxContext/2 {
		t.Errorf("%d characters, want at most %d, and not much less", got, maxContext)
	}
	shown := strings.Count(text, "\n- wash-")
	if want := fmt.Sprintf("\n(and %d more that there was no room for)\n", n-shown); shown == 0 || !strings.Contains(text, want) {
		t.Errorf("%d are shown; %q is not in:\n%s", shown, want, text)
	}
}

// A skill that is no file is read by a command, on the places of the hook alone.
func TestContextOfALine(t *testing.T) {
	place := writeFile(t, `{"skill": "refund", "domain": "orders", "description": "Pays money back.", "triggers": ["money back"]}`+"\n", t.TempDir(), "my catalog.jsonl")
	c := contextOf(t, nil, place, "I want my money back")[0]
	c.program = "skillrouter"
	if want := "\n  skillrouter show --skills '" + place + "' refund\n"; !strings.Contains(c.String(), want) {
		t.Errorf("%q is not in:\n%s", want, c)
	}
}

func TestContextTurnByTurn(t *testing.T) {
	names := func(c *hookContext) string {
		return fmt.Sprintf("named %v new %v again %v perhaps %d domains %v", c.named, c.fresh, c.again, len(c.perhaps), c.domains != "")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"papers/pdf-text": "Extracts text from PDF files. Use when someone wants to read a scan.\nmetadata:\n  triggers: [read the text of this scan, extract text from a PDF]",
		"papers/pdf-join": "Joins PDF files. Use when several documents are to be one.\nmetadata:\n  triggers: [make one document of these PDF files, merge PDF files]",
		"post/mail-draft": "Drafts e-mails. Use when someone wants to write to a landlord.\nmetadata:\n  triggers: [write a mail to my landlord, draft an e-mail]",
		"post/mail-sort":  "Sorts the inbox. Use when there is too much unread mail.\nmetadata:\n  triggers: [sort my inbox, file the unread mail]",
	} {
		writeFile(t, "---\nname: "+filepath.Base(name)+"\ndescription: "+text+"\n---\n", dir, filepath.FromSlash(name), "SKILL.md")
	}
	o := &skillrouter.Options{Router: router.Options{Mode: router.Layered}}
	var got []string
	for _, c := range contextOf(t, o, dir, "read the text of this scan", "thanks", "merge PDF files", "/mail-sort", "", "draft an e-mail",
		"zzz", "read the text of this scan") {
		got = append(got, names(c))
	}
	want := []string{
		"named [] new [pdf-text pdf-join] again [] perhaps 0 domains true",
		"named [] new [] again [] perhaps 0 domains false",
		"named [] new [] again [pdf-join pdf-text] perhaps 0 domains false",
		"named [mail-sort] new [] again [] perhaps 0 domains false",
		"named [] new [] again [] perhaps 0 domains false",
		"named [] new [mail-draft mail-sort] again [] perhaps 0 domains false",
		"named [] new [] again [] perhaps 0 domains false",
		"named [] new [pdf-text pdf-join] again [] perhaps 0 domains false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// Near, but not there.
	o.Router.Threshold = 1
	c := contextOf(t, o, dir, "read the text of this scan")[0]
	if len(c.perhaps) == 0 || len(c.fresh) > 0 || !strings.Contains(c.String(), "\nPerhaps (nothing fits for sure):\n- pdf-text: ") {
		t.Errorf("%s:\n%s", names(c), c)
	}
	// Two of a domain are shown, and that there are more.
	o.Router.Threshold, o.Router.MaxSummaries = 0, 1
	c = contextOf(t, o, dir, "read the text of this scan")[0]
	if want := "\n(and 1 more in papers)\n"; !strings.Contains(c.String(), want) {
		t.Errorf("%q is not in:\n%s", want, c)
	}
	// Nothing fits: the domains all the same, once.
	o.Router = router.Options{Mode: router.Layered}
	cs := contextOf(t, o, dir, "zzz", "zzz")
	if !strings.HasPrefix(cs[0].String(), "skillrouter: no skill fits this request for sure.") || cs[1].String() != "" {
		t.Errorf("got %q, then %q", cs[0], cs[1])
	}
}
