package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/agent"
	"skillrouter/definitions"
)

func TestToolsFile(t *testing.T) {
	tool := func(name, rest string) string {
		return `{"type":"function","function":{"name":"` + name + `"` + rest + `}}`
	}
	for _, test := range []struct {
		name, text string
		want       []string // problems
	}{
		{"a list", "[" + tool("f", `,"description":"x"`) + "]", nil},
		{"an object", `{"system_prompt":"Be brief.","tools":[` + tool("f", `,"description":"x","parameters":{"type":"object"}`) + "]}", nil},
		{"a prompt alone", `{"system_prompt":"Be brief."}`, nil},
		{"no JSON", "[\n{", []string{"2: tools-json: is no JSON: unexpected EOF"}},
		{"no object", "{\n\"tools\": [}", []string{"2: tools-json: is no JSON: invalid character '}' looking for beginning of value"}},
		{"not closed", "[\n" + tool("f", `,"description":"x"`) + "\n", []string{"3: tools-json: is no JSON: the list has no end"}},
		{"text after it", "[" + tool("f", `,"description":"x"`) + "]\n\n]", []string{"3: tools-json: is no JSON: text after the list"}},
		{"text after an object", `{"tools":[]}` + "\n{}", []string{"2: tools-json: is no JSON: invalid character '{' after top-level value"}},
		{"no list", `"f"`, []string{"1: tools-json: is no list of tools"}},
		{"no tool", "[\n\n1,\n" + tool("f", `,"description":"x"`) + "]", []string{"3: tool-form: is no tool"}},
		{"another type", `[{"type":"web_search"}]`, []string{"1: tool-form: is no tool"}},
		{"a bad name", "[\n" + tool("a b", "") + "]", []string{`2: tool-name: the tool name "a b" is not 1 to 64 letters, digits, _ or -`}},
		{"a reserved name", "[" + tool("skill_load", "") + "]", []string{`1: tool-name: the tool name "skill_load" is one by which skills are handled`}},
		{"twice", "[" + tool("f", `,"description":"x"`) + ",\n" + tool("f", `,"description":"y"`) + "]", []string{`2: tool-twice: the tool "f" is declared twice`}},
		{"bad parameters", "[" + tool("f", `,"parameters":{"type":"array"}`) + "]", []string{`1: tool-parameters: parameters of "f": type is array, not object`}},
		{"parameters of no type", "[" + tool("f", `,"parameters":{"Type":"object"}`) + "]", []string{`1: tool-parameters: parameters of "f": type is missing, not object`}},
		{"parameters that are no object", "[" + tool("f", `,"parameters":[1]`) + "]", []string{`1: tool-parameters: parameters of "f": is no object`}},
		{"no description", "[" + tool("f", "") + "]", []string{`1: tool-description: the tool "f" has no description`}},
		{"no function", "[" + tool("g", `,"description":"x"`) + "]", []string{`0: tool-unbound: no function is bound to the tool "g": it is left out`}},
		{"hidden text", "[" + tool("f", `,"description":"x`+"\u202e"+`"`) + "]", []string{"0: hidden-text: hidden characters were taken out"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ix := build(t, fstest.MapFS{
				"x/SKILL.md": skillFile("x", "Does x.", "Body.\n"), "x/tools.json": file(test.text),
				"y/SKILL.md": skillFile("y", "Does y.", "Body.\n"),
			})
			problems, err := agent.CheckTools(t.Context(), ix, map[string]agent.Func{"f": nothing})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range problems {
				if p.File != "skills/x/tools.json" {
					t.Errorf("file %q", p.File)
				}
				got = append(got, fmt.Sprintf("%d: %s: %s", p.Line, p.Kind, p.What))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := agent.CheckTools(ended, build(t, small()), nil); err == nil {
		t.Error("an ended context gave no error")
	}
}

// The tools of the examples are all bound to functions of the examples.
func TestExamplesAreBound(t *testing.T) {
	problems, err := agent.CheckTools(t.Context(), layered(t), funcs())
	if err != nil || len(problems) > 0 {
		t.Errorf("%v: %v", err, problems)
	}
}

// Whatever a tools.json holds, what a request gets of it is sound.
func FuzzToolsFile(f *testing.F) {
	f.Add([]byte(calculatorTools))
	f.Add([]byte(`{"system_prompt":"x","tools":[]}`))
	f.Add([]byte("[{\n}]"))
	f.Add([]byte(`[{"type":"function","function":{"name":"f","parameters":{"tYpe":"object"}}}0`))
	f.Add([]byte(`{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{}}}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip()
		}
		tools, problems := agent.ParseTools("tools.json", data)
		var names []string
		for _, tool := range tools {
			var schema map[string]any
			if err := json.Unmarshal(tool.Function.Parameters, &schema); err != nil || schema["type"] != "object" {
				t.Errorf("parameters %s: %v", tool.Function.Parameters, err)
			}
			if slices.Contains(names, tool.Function.Name) || tool.Function.Name == "" {
				t.Errorf("the name %q", tool.Function.Name)
			}
			names = append(names, tool.Function.Name)
		}
		lines := strings.Count(string(data), "\n") + 1
		for _, p := range problems {
			if p.Line < 0 || p.Line > lines || p.What == "" || p.Fix == "" {
				t.Errorf("of %d lines: %+v", lines, p)
			}
		}
		// What was read is written so that it is read again alike.
		again, err := json.Marshal(tools)
		if err != nil {
			t.Fatal(err)
		}
		if len(tools) == 0 {
			return
		}
		same, more := agent.ParseTools("tools.json", again)
		for _, p := range more {
			if p.Severity > definitions.Note {
				t.Errorf("written as %s: %v", again, p)
			}
		}
		if diff := cmp.Diff(asJSON(t, tools), asJSON(t, same)); diff != "" {
			t.Errorf("read again:\n%s", diff)
		}
	})
}
