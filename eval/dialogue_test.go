package eval

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadDialogues(t *testing.T) {
	for _, test := range []struct {
		name, text, err string
		want            []Dialogue
	}{
		{
			name: "two",
			text: `{"id":"a","index":"12ab","turns":[{"user":"hi","domains":[],"skills":[]},{"user":"send it","domains":["Mail"],"skills":["send"],"event":"load","more":1}]}` +
				"\n\n" + `{"id":"b","turns":[{"user":"bye","event":"task-end"}]}` + "\n",
			want: []Dialogue{
				{ID: "a", Index: "12ab", Turns: []Turn{
					{User: "hi", Domains: []string{}, Skills: []string{}},
					{User: "send it", Domains: []string{"Mail"}, Skills: []string{"send"}, Event: EventLoad},
				}},
				{ID: "b", Turns: []Turn{{User: "bye", Event: EventTaskEnd}}},
			},
		},
		{
			name: "calls",
			text: `{"id":"a","turns":[{"user":"u","calls":[{"skill":"s","name":"f","arguments":{"x":1}},` +
				`{"type":"function","function":{"name":"g","arguments":"{\"y\":null}"}},{"name":"h"},{"name":"i","arguments":"{\"cut"},{"name":"j","arguments":null}]}]}`,
			want: []Dialogue{{ID: "a", Turns: []Turn{{User: "u", Calls: []Call{
				{Skill: "s", Name: "f", Arguments: map[string]json.RawMessage{"x": json.RawMessage("1")}},
				{Name: "g", Arguments: map[string]json.RawMessage{"y": json.RawMessage("null")}},
				{Name: "h"},
				{Name: "i"},
				{Name: "j"},
			}}}}},
		},
		{name: "broken line", text: `{"id":"a","turns":[{"user":"u"}]}` + "\n{", err: "d.jsonl:2: unexpected end"},
		{name: "a number for an id", text: `{"id":1,"turns":[{"user":"u"}]}`, err: "d.jsonl:1: id is of type number: it must be a string"},
		{name: "a turn that is text", text: `{"id":"a","turns":["u"]}`, err: "d.jsonl:1: turns is of type string: it must be an object"},
		{name: "no id", text: `{"turns":[{"user":"u"}]}`, err: "d.jsonl:1: no id"},
		{name: "same id", text: `{"id":"a","turns":[{"user":"u"}]}` + "\n" + `{"id":"a","turns":[{"user":"u"}]}`, err: `d.jsonl:2: the id "a" is that of line 1`},
		{name: "no turns", text: `{"id":"a"}`, err: "d.jsonl:1: neither text nor turns"},
		{name: "no user", text: `{"id":"a","turns":[{"user":"u"},{"text":"u"}]}`, err: `d.jsonl:1: dialogue "a", turn 2: no user`},
		{name: "skills alone", text: `{"id":"a","turns":[{"user":"u","skills":["s"]}]}`, err: "turn 1: skills, but no domains"},
		{name: "unknown event", text: `{"id":"a","turns":[{"user":"u","event":"end"}]}`, err: `turn 1: the event "end" is none of ["load"`},
		{name: "call without a name", text: `{"id":"a","turns":[{"user":"u","calls":[{}]}]}`, err: "d.jsonl:1: a call without a name"},
		{name: "arguments that are a list", text: `{"id":"a","turns":[{"user":"u","calls":[{"name":"f","arguments":[1]}]}]}`, err: `arguments of "f": they are no object`},
		{name: "a call of a number", text: `{"id":"a","turns":[{"user":"u","calls":[{"name":3}]}]}`, err: "d.jsonl:1: call.name is of type number: it must be a string"},
		{name: "cases", text: `{"text":"a","oos":true}`, err: "d.jsonl: these are cases, not dialogues"},
		{name: "turns that are none", text: `{"id":"a","turns":[]}`, err: `d.jsonl:1: dialogue "a": no turns`},
		{name: "empty", text: "\n", err: "d.jsonl: it is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadDialogues(strings.NewReader(test.text), "d.jsonl")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Dialogue{}, "Line")); d != "" {
				t.Error(d)
			}
		})
	}
}

// What is read holds what the report relies on, and says where it does not.
func FuzzReadDialogues(f *testing.F) {
	f.Add(`{"id":"a","turns":[{"user":"u","domains":["d"],"skills":["s"],"event":"stall","calls":[{"name":"f","arguments":"{}"}]}]}`)
	f.Add(`{"id":"a","turns":[{"user":"u"}]}` + "\n" + `{"id":"b"}`)
	f.Add("\ufeff{}")
	f.Fuzz(func(t *testing.T, text string) {
		dialogues, err := ReadDialogues(strings.NewReader(text), "d.jsonl")
		if err != nil {
			if len(dialogues) > 0 || !strings.HasPrefix(err.Error(), "d.jsonl:") {
				t.Fatalf("%d dialogues with the error %q", len(dialogues), err)
			}
			return
		}
		ids := map[string]bool{}
		for _, d := range dialogues {
			if d.ID == "" || ids[d.ID] || len(d.Turns) == 0 {
				t.Fatalf("accepted: %+v", d)
			}
			ids[d.ID] = true
			for _, turn := range d.Turns {
				if turn.User == "" || len(turn.Skills) > 0 && len(turn.Domains) == 0 {
					t.Fatalf("accepted: %+v", turn)
				}
				for _, c := range turn.Calls {
					if c.Name == "" {
						t.Fatalf("accepted: %+v", turn)
					}
				}
			}
		}
	})
}
