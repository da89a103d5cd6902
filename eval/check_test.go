package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/router"
)

func set(t *testing.T, path, text string) *Set {
	t.Helper()
	s, err := Read(strings.NewReader(text), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheck(t *testing.T) {
	ix := twoDomains(t, router.Options{}).Index()
	dev := set(t, "dev.jsonl", `{"text":"Write a mail","skills":["send-email"],"domains":["mail"]}
{"text":"a","skills":["send-mail"],"domains":["Travel"],"not":["zzzzzzzz"]}
{"text":"write  a mail","oos":true}
`)
	test := set(t, "test.yaml", "- {text: Ｗrite a mail, skills: [send-email]}\n- {text: b, skills: [send-email]}\n")
	talk := set(t, "d.jsonl", `{"id":"1","turns":[{"user":"u"},{"user":"v","domains":["nowhere"]}]}`)
	again := set(t, "e.jsonl", `{"id":"1","turns":[{"user":"u"}]}`)
	err := Check(ix, dev, test, talk, again)
	want := `dev.jsonl:2: the catalog has no skill "send-mail", did you mean "send-email"?
dev.jsonl:2: the catalog has no skill "zzzzzzzz"
dev.jsonl:2: the catalog has no domain "Travel", did you mean "travel"?
dev.jsonl:3: the same text stands in dev.jsonl:1 already
test.yaml:1: the same text stands in dev.jsonl:1 already
d.jsonl:1: turn 2: the catalog has no domain "nowhere"
e.jsonl:1: the same id stands in d.jsonl:1 already`
	if d := cmp.Diff(want, fmt.Sprint(err)); d != "" {
		t.Error(d)
	}
	if got := Drop(ix, dev, test, talk, again); got != 2 || len(dev.Cases) != 2 || len(talk.Dialogues) != 0 {
		t.Errorf("dropped %d, left %v, %v", got, dev.Cases, talk.Dialogues)
	}
	not := set(t, "n.jsonl", `{"text":"a","not":["gone"]}
{"text":"b","skills":["send-email"],"not":["gone","rent-car"]}`)
	if got := Drop(ix, not); got != 1 || len(not.Cases) != 1 || fmt.Sprint(not.Cases[0].Not) != "[rent-car]" {
		t.Errorf("dropped %d, left %+v", got, not.Cases)
	}
	if err := Check(ix, set(t, "a.jsonl", `{"text":"a","skills":["send-email"]}`), talk); err != nil {
		t.Errorf("all is well, got %v", err)
	}
}

// Where no domain is labelled the right ones are those of the skills.
func TestDomainsOf(t *testing.T) {
	ix := twoDomains(t, router.Options{}).Index()
	for _, test := range []struct {
		c    Case
		want []string
	}{
		{Case{Skills: []string{"rent-car", "send-email"}}, []string{"mail", "travel"}},
		{Case{Skills: []string{"rent-car"}, Domains: []string{"mail"}}, []string{"mail"}},
		{Case{OutOfScope: true}, nil},
	} {
		if d := cmp.Diff(test.want, domainsOf(ix, &test.c)); d != "" {
			t.Errorf("%v: %s", test.c, d)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"send-email", "sort-inbox", "天气查询"}
	for _, test := range []struct{ name, want string }{
		{"send-emial", "send-email"},
		{"SEND-EMAIL", "send-email"},
		{"sendemail", "send-email"},
		{"天气查", "天气查询"},
		{"book-flight", ""},
		{"", ""},
	} {
		if got := Nearest(test.name, names); got != test.want {
			t.Errorf("%q: got %q, want %q", test.name, got, test.want)
		}
	}
}
