package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/internal/text"
	"skillrouter/router"
)

// toolsFile is the document of a skill that declares its tools.
const toolsFile = "tools.json"

// A skillTools is what a tools.json says: a list of OpenAI tool definitions,
// or an object {"system_prompt": "…", "tools": […]}.
type skillTools struct {
	tools    []Tool
	prompt   string
	problems []definitions.Problem
}

// names of functions, as endpoints take them.
const toolName = `^[a-zA-Z0-9_-]{1,64}$`

// parseTools reads a tools.json. What is wrong with one tool does not hide the
// others: each problem is located, and the tool left out.
func parseTools(file string, data []byte) skillTools {
	var out skillTools
	clean, hidden := text.Clean(string(data))
	report := func(offset int, severity definitions.Severity, kind, what, fix string) {
		line := 0
		if offset >= 0 {
			line = 1 + strings.Count(clean[:min(offset, len(clean))], "\n")
		}
		out.problems = append(out.problems, definitions.Problem{File: file, Line: line, Severity: severity, Kind: kind, What: what, Fix: fix})
	}
	if len(hidden) > 0 {
		report(-1, definitions.Warning, "hidden-text", "hidden characters were taken out", "take them out of the file")
	}
	list, at := clean, 0
	if strings.HasPrefix(strings.TrimSpace(clean), "{") {
		var object struct {
			SystemPrompt string          `json:"system_prompt"`
			Tools        json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal([]byte(clean), &object); err != nil {
			report(errorOffset(err, 0), definitions.Error, "tools-json", "is no JSON: "+err.Error(), "give a list of tools, or an object with system_prompt and tools")
			return out
		}
		out.prompt = strings.TrimSpace(object.SystemPrompt)
		if len(object.Tools) == 0 {
			return out
		}
		list = string(object.Tools)
		at = strings.Index(clean, list)
	}
	decoder := json.NewDecoder(strings.NewReader(list))
	if t, err := decoder.Token(); err != nil || t != json.Delim('[') {
		report(at, definitions.Error, "tools-json", "is no list of tools", "write [{\"type\": \"function\", \"function\": {…}}]")
		return out
	}
	name := regexp.MustCompile(toolName)
	for decoder.More() {
		from := at + int(decoder.InputOffset())
		from += len(clean[from:]) - len(strings.TrimLeft(clean[from:], " \t\r\n,"))
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			report(errorOffset(err, from), definitions.Error, "tools-json", "is no JSON: "+err.Error(), "mend it; the tools before are used")
			return out
		}
		var t Tool
		err := json.Unmarshal(raw, &t)
		f := &t.Function
		switch {
		case err != nil || t.Type != "function":
			report(from, definitions.Error, "tool-form", "is no tool", "write {\"type\": \"function\", \"function\": {\"name\": …, \"description\": …, \"parameters\": {…}}}")
			continue
		case !name.MatchString(f.Name):
			report(from, definitions.Error, "tool-name", fmt.Sprintf("the tool name %q is not 1 to 64 letters, digits, _ or -", f.Name), "rename the tool and its function")
			continue
		case isSkillTool(f.Name):
			report(from, definitions.Error, "tool-name", fmt.Sprintf("the tool name %q is one by which skills are handled", f.Name), "rename the tool and its function")
			continue
		case slices.ContainsFunc(out.tools, func(o Tool) bool { return o.Function.Name == f.Name }):
			report(from, definitions.Error, "tool-twice", fmt.Sprintf("the tool %q is declared twice", f.Name), "keep one; the first is used")
			continue
		}
		if f.Parameters, err = parameters(f.Parameters); err != nil {
			report(from, definitions.Error, "tool-parameters", fmt.Sprintf("parameters of %q: %v", f.Name, err), "write a JSON Schema with \"type\": \"object\"")
			continue
		}
		if strings.TrimSpace(f.Description) == "" {
			report(from, definitions.Note, "tool-description", fmt.Sprintf("the tool %q has no description", f.Name), "say what it does and when to call it")
		}
		out.tools = append(out.tools, t)
	}
	if _, err := decoder.Token(); err != nil { // of the list's end
		report(len(clean), definitions.Error, "tools-json", "is no JSON: the list has no end", "close it with ]; the tools before are used")
	} else if after := strings.TrimLeft(list[decoder.InputOffset():], " \t\r\n"); after != "" {
		report(at+len(list)-len(after), definitions.Error, "tools-json", "is no JSON: text after the list", "take it out; the tools of the list are used")
	}
	return out
}

// parameters checks that a schema is one of an object, and makes it compact.
func parameters(schema json.RawMessage) (json.RawMessage, error) {
	if len(schema) == 0 || string(schema) == "null" {
		return json.RawMessage(noParameters), nil
	}
	var object map[string]any // a struct would take "Type" for "type"
	if json.Unmarshal(schema, &object) != nil {
		return nil, errors.New("is no object")
	}
	switch kind, has := object["type"]; {
	case !has:
		return nil, errors.New("type is missing, not object")
	case kind != "object":
		return nil, fmt.Errorf("type is %v, not object", kind)
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, schema)
	return compact.Bytes(), err
}

func errorOffset(err error, otherwise int) int {
	if e, ok := err.(*json.SyntaxError); ok && otherwise == 0 { //nolint:errorlint // encoding/json returns it as it is
		return int(e.Offset)
	}
	return otherwise
}

// isSkillTool tells whether a tool is one by which skills are handled.
func isSkillTool(name string) bool {
	switch name {
	case toolLoad, toolSelectDocs, toolExtension, toolLoadDomain, toolLoadNamed, toolUnload, toolList, toolSearch, toolStatus, toolReadFile:
		return true
	}
	return false
}

// bind leaves out the tools that no function is there for.
func (t skillTools) bind(file string, funcs map[string]Func) skillTools {
	bound := skillTools{prompt: t.prompt, problems: slices.Clone(t.problems)}
	for _, tool := range t.tools {
		name := tool.Function.Name
		if funcs[name] != nil {
			bound.tools = append(bound.tools, tool)
			continue
		}
		bound.problems = append(bound.problems, definitions.Problem{
			File: file, Severity: definitions.Warning, Kind: "tool-unbound",
			What: fmt.Sprintf("no function is bound to the tool %q: it is left out", name),
			Fix:  fmt.Sprintf("set Options.Funcs[%q]", name),
		})
	}
	return bound
}

// hasTools tells whether a skill declares tools.
func hasTools(s *definitions.Skill) bool {
	return slices.ContainsFunc(s.Docs, func(d definitions.Doc) bool { return d.Name == toolsFile && d.Text })
}

// documents are the names of the documents of a skill that can be shown: its
// tools.json is no reading matter.
func documents(s *definitions.Skill) []string {
	var names []string
	for _, d := range s.Docs {
		if d.Text && d.Name != toolsFile {
			names = append(names, d.Name)
		}
	}
	return names
}

// unshowable are the names of a skill's files that are no text, or too long.
func unshowable(s *definitions.Skill) []string {
	var names []string
	for _, d := range s.Docs {
		if !d.Text {
			names = append(names, d.Name)
		}
	}
	return names
}

// toolsOf returns the bound tools of a skill, read once a turn.
func (k *Kit) toolsOf(ctx context.Context, now *router.Route, s *definitions.Skill) skillTools {
	if !hasTools(s) {
		return skillTools{}
	}
	return k.texts.tools(s.Name+"\x00"+s.Hash, func() skillTools {
		file := strings.TrimSuffix(s.File, "SKILL.md") + toolsFile
		data, err := k.doc(ctx, now, s.Name, toolsFile)
		if err != nil {
			return skillTools{problems: []definitions.Problem{{File: file, Severity: definitions.Error, Kind: "unreadable", What: err.Error(), Fix: "check the file"}}}
		}
		return parseTools(file, data).bind(file, k.o.Funcs)
	})
}
