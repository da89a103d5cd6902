package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Dialogue is the user's side of one conversation, and what each turn needed.
type Dialogue struct {
	ID    string `json:"id"`
	Index string `json:"index"` // beginning of the fingerprint of the index it was recorded over; "" if unknown
	Turns []Turn `json:"turns"`

	Line int `json:"-"` // in its file, from 1
}

// A Turn is one utterance. It is labelled if it has domains.
type Turn struct {
	User    string   `json:"user"`
	Domains []string `json:"domains"` // right ones
	Skills  []string `json:"skills"`  // right ones
	Event   string   `json:"event"`   // "" or one of the Event constants
	Calls   []Call   `json:"calls"`   // recorded after it
}

// What a recorded turn is beside an utterance.
const (
	EventLoad     = "load"      // the definition of its skill is needed from here on
	EventFollowUp = "follow-up" // what was needed before still is
	EventSwitch   = "switch"    // another skill is needed than before
	EventStall    = "stall"     // the user neither asks nor decides
	EventTaskEnd  = "task-end"  // the user is done
)

// A Call is a recorded call of a tool. In JSON it is an object with the keys
// skill, name and arguments, or a tool call of the OpenAI API; arguments are an
// object, or a string that holds one.
type Call struct {
	Skill     string                     // whose tool it is; "" if that was not recorded
	Name      string                     // of the tool
	Arguments map[string]json.RawMessage // nil if there are none, or none that can be read
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Call) UnmarshalJSON(data []byte) error {
	type call struct {
		Skill     string          `json:"skill"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var x struct {
		call
		Function *call `json:"function"`
	}
	if err := json.Unmarshal(data, &x); err != nil {
		return plainly(err)
	}
	if x.Function != nil {
		x.Name, x.Arguments = x.Function.Name, x.Function.Arguments
	}
	if x.Name == "" {
		return errors.New("a call without a name")
	}
	*c = Call{Skill: x.Skill, Name: x.Name}
	arguments := []byte(x.Arguments)
	if len(arguments) == 0 {
		return nil
	}
	if arguments[0] == '"' {
		var s string
		if err := json.Unmarshal(arguments, &s); err != nil {
			return err
		}
		// What a model wrote need not be JSON: then nothing was passed.
		if json.Unmarshal([]byte(s), &c.Arguments) != nil {
			c.Arguments = nil
		}
		return nil
	}
	if json.Unmarshal(arguments, &c.Arguments) != nil {
		return fmt.Errorf("arguments of %q: they are no object", c.Name)
	}
	return nil
}

// ReadDialogues reads dialogues as [Read] does, and fails for cases. Each
// dialogue has an id of its own and at least one turn, each turn an utterance;
// skills need domains.
func ReadDialogues(r io.Reader, path string) ([]Dialogue, error) {
	s, err := Read(r, path)
	if err != nil {
		return nil, err
	}
	if len(s.Dialogues) == 0 {
		return nil, fmt.Errorf("%s: these are cases, not dialogues: they have no turns", path)
	}
	return s.Dialogues, nil
}

func (d *Dialogue) check() error {
	switch {
	case d.ID == "":
		return errors.New("no id: a line is a dialogue with the keys id and turns")
	case len(d.Turns) == 0:
		return fmt.Errorf("dialogue %q: no turns", d.ID)
	}
	known := []string{EventLoad, EventFollowUp, EventSwitch, EventStall, EventTaskEnd}
	for i, t := range d.Turns {
		switch {
		case t.User == "":
			return fmt.Errorf("dialogue %q, turn %d: no user", d.ID, i+1)
		case len(t.Skills) > 0 && len(t.Domains) == 0:
			return fmt.Errorf("dialogue %q, turn %d: skills, but no domains", d.ID, i+1)
		case t.Event != "" && !slices.Contains(known, t.Event):
			return fmt.Errorf("dialogue %q, turn %d: the event %q is none of %q", d.ID, i+1, t.Event, known)
		}
	}
	return nil
}
