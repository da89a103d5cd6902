package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHookEvent(t *testing.T) {
	for _, c := range []struct {
		name, message string
		want          hookEvent
		wrong         string // part of the error
	}{
		{
			name:    "Claude Code, a prompt",
			message: `{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","permission_mode":"default","hook_event_name":"UserPromptSubmit","prompt":"hello","effort":{"level":"high"}}`,
			want:    hookEvent{session: "s", utterance: "hello", cwd: "/w", name: "UserPromptSubmit"},
		},
		{
			name:    "Codex, inside a subagent",
			message: `{"session_id":"s","turn_id":"1","agent_id":"a7","agent_type":"explorer","transcript_path":null,"cwd":"/w","hook_event_name":"UserPromptSubmit","model":"m","permission_mode":"default","prompt":"hello"}`,
			want:    hookEvent{session: "s", agent: "a7", utterance: "hello", cwd: "/w", name: "UserPromptSubmit"},
		},
		{
			name:    "another client's name for a prompt",
			message: `{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"hello"}`,
			want:    hookEvent{session: "s", utterance: "hello", name: "BeforeAgent"},
		},
		{
			name:    "an empty prompt",
			message: `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":""}`,
			want:    hookEvent{session: "s", name: "UserPromptSubmit"},
		},
		{
			name: "a compaction", message: `{"session_id":"s","hook_event_name":"SessionStart","source":"compact"}`,
			want: hookEvent{session: "s", name: "SessionStart", kind: forgetEvent},
		},
		{
			name: "cleared", message: `{"session_id":"s","hook_event_name":"SessionStart","source":"clear"}`,
			want: hookEvent{session: "s", name: "SessionStart", kind: forgetEvent},
		},
		{
			name: "resumed: the transcript is there", message: `{"session_id":"s","hook_event_name":"SessionStart","source":"resume"}`,
			want: hookEvent{session: "s", name: "SessionStart", kind: otherEvent},
		},
		{
			name: "the end", message: `{"session_id":"s","hook_event_name":"SessionEnd","reason":"logout"}`,
			want: hookEvent{session: "s", name: "SessionEnd", kind: forgetEvent},
		},
		{
			name: "the end of no session", message: `{"hook_event_name":"SessionEnd"}`,
			want: hookEvent{name: "SessionEnd", kind: otherEvent},
		},
		{
			name: "an event that is not ours", message: `{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false}`,
			want: hookEvent{session: "s", name: "Stop", kind: otherEvent},
		},
		{
			name:    "what the generic form has is anything in this one",
			message: `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"hello","session":{"id":1},"agent":{"type":"x"},"utterance":[],"forget":"no"}`,
			want:    hookEvent{session: "s", utterance: "hello", name: "UserPromptSubmit"},
		},
		{
			name: "and the other way round", message: `{"session":"s","utterance":"hello","prompt":{"id":1},"source":["x"],"session_id":7}`,
			want: hookEvent{session: "s", utterance: "hello"},
		},
		{
			name: "generic", message: `{"session":"s","utterance":"hello","cwd":"/w","agent":"helper"}`,
			want: hookEvent{session: "s", agent: "helper", utterance: "hello", cwd: "/w"},
		},
		{name: "generic, a single question", message: `{"utterance":"hello"}`, want: hookEvent{utterance: "hello"}},
		{name: "generic, blank", message: `{"session":"s","utterance":""}`, want: hookEvent{session: "s"}},
		{name: "generic, forget", message: `{"session":"s","forget":true}`, want: hookEvent{session: "s", kind: forgetEvent}},
		{name: "a byte order mark and blanks", message: "\xef\xbb\xbf\r\n {\"utterance\":\"hello\"}\r\n", want: hookEvent{utterance: "hello"}},
		{name: "forget whom", message: `{"forget":true}`, wrong: `without "session"`},
		{name: "nothing", message: " \n", wrong: "sent nothing"},
		{name: "no JSON", message: "turn this PDF into text", wrong: "no JSON of ours"},
		{name: "cut off", message: `{"session_id":"s","hook_ev`, wrong: "no JSON of ours"},
		{name: "two messages", message: `{"utterance":"a"}{"utterance":"b"}`, wrong: "no JSON of ours"},
		{name: "another type", message: `{"hook_event_name":"UserPromptSubmit","prompt":["a"]}`, wrong: "no JSON of ours"},
		{name: "another form", message: `{"text":"hello"}`, wrong: `neither "hook_event_name" nor "utterance"`},
		{name: "null", message: `null`, wrong: `neither "hook_event_name" nor "utterance"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readHookEvent(strings.NewReader(c.message))
			switch {
			case c.wrong != "":
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("got %+v, %v, want an error with %q", got, err, c.wrong)
				}
			case err != nil:
				t.Fatal(err)
			default:
				if diff := cmp.Diff(&c.want, got, cmp.AllowUnexported(hookEvent{})); diff != "" {
					t.Errorf("event (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestHookEventIsBounded(t *testing.T) {
	long := `{"utterance":"` + strings.Repeat("a", maxHookInput) + `"}`
	if _, err := readHookEvent(strings.NewReader(long)); err == nil || !strings.Contains(err.Error(), "over") {
		t.Errorf("got %v", err)
	}
}

// What is read can be written in its form and reads the same again, and no
// error holds text of a prompt that is longer than a character.
func FuzzHookEvent(f *testing.F) {
	for _, s := range []string{
		`{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"hello"}`,
		`{"session_id":"s","hook_event_name":"SessionStart","source":"compact"}`,
		`{"session":"s","utterance":"hello","agent":"x"}`, `{"session":"s","forget":true}`, `{"utterance":"SECRET`, `null`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseHookEvent(data)
		if err != nil {
			if strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the error holds text of the message: %v", err)
			}
			return
		}
		m := map[string]any{"cwd": e.cwd}
		switch {
		case e.name != "":
			m["hook_event_name"], m["session_id"], m["agent_id"], m["prompt"] = e.name, e.session, e.agent, e.utterance
			if e.name == "SessionStart" && e.kind == forgetEvent {
				m["source"] = "compact"
			}
		case e.kind == forgetEvent:
			m["session"], m["agent"], m["forget"] = e.session, e.agent, true
		default:
			m["session"], m["agent"], m["utterance"] = e.session, e.agent, e.utterance
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseHookEvent(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(e, again, cmp.AllowUnexported(hookEvent{})); diff != "" {
			t.Errorf("written and read again (-first +again):\n%s", diff)
		}
	})
}
