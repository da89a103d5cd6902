package main

import (
	"bytes"

	"skillrouter/router"
)

// claudeCodeAnswer is what Claude Code takes from a hook.
type claudeCodeAnswer struct {
	Output struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// hookJSON is an answer for programs.
type hookJSON struct {
	Turn    int         `json:"turn"`
	Outcome string      `json:"outcome"`
	Context string      `json:"context"` // "" for nothing to add
	Skills  []hookSkill `json:"skills"`
}

// A hookSkill is one that the context names. Its standing is "named" by the
// utterance, "new" to the client, known to it and fitting "again", or "perhaps".
type hookSkill struct {
	Name     string `json:"name"`
	Standing string `json:"standing"`
	Path     string `json:"path"` // "" for a skill that is no file
}

// write puts the context in the client's form; nothing to add is nothing.
func (h *hook) write(e *hookEvent, r *router.Route, c *hookContext) ([]byte, error) {
	format := h.format.value
	switch {
	case (format == "" || format == "auto") && e.name != "":
		format = "claude-code"
	case (format == "" || format == "auto") && h.set.json:
		format = "json"
	}
	text := c.String()
	var b bytes.Buffer
	switch {
	case format == "json":
		out := hookJSON{r.Turn, string(r.Outcome), text, []hookSkill{}}
		for _, part := range []struct {
			standing string
			names    []string
		}{{"named", c.named}, {"new", c.fresh}, {"again", c.again}, {"perhaps", c.perhaps}} {
			for _, name := range part.names {
				path, _ := c.ix.Locate(name)
				out.Skills = append(out.Skills, hookSkill{name, part.standing, path})
			}
		}
		err := writeJSON(&b, out, false)
		return b.Bytes(), err
	case text == "":
		return nil, nil
	case format == "claude-code":
		var out claudeCodeAnswer
		if out.Output.Event = e.name; e.name == "" {
			out.Output.Event = "UserPromptSubmit"
		}
		out.Output.Context = text
		err := writeJSON(&b, out, false)
		return b.Bytes(), err
	default:
		return []byte(text), nil
	}
}
