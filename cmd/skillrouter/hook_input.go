package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A hookEvent is what a client tells its hook.
type hookEvent struct {
	session   string // "" for a single question
	agent     string // of several in one session; "" for the main one
	utterance string
	cwd       string // of the client; "" for ours
	name      string // of Claude Code's event, which its answer repeats; "" in the generic form
	kind      eventKind
}

type eventKind int

const (
	promptEvent eventKind = iota // a turn begins
	forgetEvent                  // what was shown is gone from the client's context
	otherEvent                   // nothing to do
)

// A clientMessage is the JSON of Claude Code's form, which Codex and others have
// taken over. hook_event_name is always there.
type clientMessage struct {
	Event     string `json:"hook_event_name"`
	SessionID string `json:"session_id"`
	AgentID   string `json:"agent_id"` // inside a subagent
	Prompt    string `json:"prompt"`
	Source    string `json:"source"` // of SessionStart: startup, resume, clear, compact
	Cwd       string `json:"cwd"`
}

// A hookMessage is the JSON of the generic form.
type hookMessage struct {
	Session   string  `json:"session"`
	Agent     string  `json:"agent"`
	Utterance *string `json:"utterance"`
	Forget    bool    `json:"forget"`
	Cwd       string  `json:"cwd"`
}

// maxHookInput is far above a prompt with a long text pasted in.
const maxHookInput = 8 << 20

// readHookEvent reads one message of a client. What it does not know of is
// ignored: clients add fields.
func readHookEvent(in io.Reader) (*hookEvent, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxHookInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the client's message: %w", err)
	case len(data) > maxHookInput:
		return nil, fmt.Errorf("the client's message has over %d bytes", maxHookInput)
	}
	return parseHookEvent(data)
}

func parseHookEvent(data []byte) (*hookEvent, error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark)) // PowerShell pipes one
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the client sent nothing")
	}
	// The forms are read apart: what one knows of may be anything in the other.
	read := func(into any) error {
		if err := json.Unmarshal(data, into); err != nil {
			return fmt.Errorf("the client's message is no JSON of ours: %w", err)
		}
		return nil
	}
	var form struct {
		Event string `json:"hook_event_name"`
	}
	if err := read(&form); err != nil {
		return nil, err
	}
	if form.Event != "" {
		var m clientMessage
		if err := read(&m); err != nil {
			return nil, err
		}
		return m.event(), nil
	}
	var m hookMessage
	if err := read(&m); err != nil {
		return nil, err
	}
	switch {
	case m.Forget && m.Session == "":
		return nil, errors.New(`the client's message has "forget" without "session"`)
	case m.Forget:
		return &hookEvent{session: m.Session, agent: m.Agent, cwd: m.Cwd, kind: forgetEvent}, nil
	case m.Utterance != nil:
		return &hookEvent{session: m.Session, agent: m.Agent, utterance: *m.Utterance, cwd: m.Cwd}, nil
	default:
		return nil, errors.New(`the client's message has neither "hook_event_name" nor "utterance"`)
	}
}

// event is what the message says. Any event with a prompt begins a turn: clients
// that took the form over have names of their own for it.
func (m *clientMessage) event() *hookEvent {
	e := &hookEvent{session: m.SessionID, agent: m.AgentID, utterance: m.Prompt, cwd: m.Cwd, name: m.Event}
	switch {
	case m.Event == "SessionStart" && (m.Source == "clear" || m.Source == "compact"),
		m.Event == "SessionEnd":
		e.kind, e.utterance = forgetEvent, ""
	case m.Event != "UserPromptSubmit" && m.Prompt == "" || m.Event == "SessionStart":
		e.kind, e.utterance = otherEvent, ""
	}
	if e.kind == forgetEvent && e.session == "" {
		e.kind = otherEvent
	}
	return e
}
