package keeper

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillrouter/definitions"
)

// A Parameter is one of a skill's tool.
type Parameter struct {
	Tool     string // "" where the skill's params name it
	Name     string
	Type     string // as its schema says; "" if nothing does
	Required bool
}

// Simple tells whether a value can be given from a hint alone: a text, a number, yes or no.
func (p *Parameter) Simple() bool {
	switch p.Type {
	case "", "string", "number", "integer", "boolean":
		return true
	}
	return false
}

// Parameters returns those of a skill, by tool and name, required ones first: what its
// tools.json declares or, without one, what its params name. It fails where tools.json
// cannot be read; a skill without either has none.
func Parameters(ctx context.Context, source *definitions.Source, s *definitions.Skill) ([]Parameter, error) {
	has := slices.ContainsFunc(s.Docs, func(d definitions.Doc) bool { return d.Name == toolsFile })
	if !has {
		var out []Parameter
		depth := 0 // what stands in brackets explains a parameter
		for _, name := range strings.FieldsFunc(s.Params, func(r rune) bool {
			switch r {
			case '(', '[', '（':
				depth++
			case ')', ']', '）':
				depth--
			}
			return depth <= 0 && strings.ContainsRune(",;，、；", r)
		}) {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, Parameter{Name: name})
			}
		}
		return out, nil
	}
	data, err := source.Doc(ctx, s.Ref, toolsFile)
	if err != nil {
		return nil, fmt.Errorf("keeper: %s of %s: %w", toolsFile, s.Name, err)
	}
	out, err := parseTools(data)
	if err != nil {
		return nil, fmt.Errorf("keeper: %s of %s: %w", toolsFile, s.Name, err)
	}
	return out, nil
}

const toolsFile = "tools.json"

// parseTools reads the parameters of OpenAI tool definitions.
func parseTools(data []byte) ([]Parameter, error) {
	var tools []struct {
		Function struct {
			Name       string `json:"name"`
			Parameters struct {
				Properties map[string]struct {
					Type any `json:"type"`
				} `json:"properties"`
				Required []string `json:"required"`
			} `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal(data, &tools); err != nil {
		return nil, err
	}
	var out []Parameter
	for _, t := range tools {
		p := t.Function.Parameters
		names := slices.Sorted(maps.Keys(p.Properties))
		slices.SortStableFunc(names, func(a, b string) int {
			return rank(slices.Contains(p.Required, a)) - rank(slices.Contains(p.Required, b))
		})
		for _, name := range names {
			kind, ok := p.Properties[name].Type.(string)
			if !ok {
				kind = "any" // several types, or a schema by reference
			}
			out = append(out, Parameter{t.Function.Name, name, kind, slices.Contains(p.Required, name)})
		}
	}
	return out, nil
}

func rank(required bool) int {
	if required {
		return 0
	}
	return 1
}

// hint writes parameters as a summary shows them: the optional ones in brackets.
func hint(params []Parameter) string {
	var out []string
	for _, p := range params {
		name := p.Name
		if p.Tool != "" && !p.Required {
			name = "[" + name + "]"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// callable tells whether a skill can be called from its summary alone (D6): it has one tool,
// at most three parameters, all simple, and little to read beside.
func callable(params []Parameter, s *definitions.Skill, tokens int) bool {
	const (
		most  = 3
		short = 400 // tokens of a core
	)
	if len(params) == 0 || len(params) > most || tokens > short || s.Extension != "" {
		return false
	}
	for i := range params {
		if !params[i].Simple() || params[i].Tool == "" || params[i].Tool != params[0].Tool {
			return false
		}
	}
	return true
}
