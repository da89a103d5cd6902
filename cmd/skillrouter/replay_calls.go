package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"skillrouter/definitions"
	"skillrouter/eval"
	"skillrouter/examples"
	"skillrouter/index"
)

func hasCalls(dialogues []eval.Dialogue) bool {
	for _, d := range dialogues {
		for _, t := range d.Turns {
			if len(t.Calls) > 0 {
				return true
			}
		}
	}
	return false
}

// required tells which parameters tools need, by the tools.json of the skills
// of c; nil if that cannot be known. A file that cannot be read is named on
// stderr.
func (a *app) required(ctx context.Context, c *catalog) (func(skill, tool string) []string, error) {
	roots := make([]definitions.Root, len(c.places))
	for i, place := range c.places {
		roots[i].Path = place
		switch {
		case c.builtIn:
			roots[i].FS = examples.Catalog()
		case index.IsFile(place):
			fmt.Fprintln(a.err, "parameters of calls are not looked at: that needs the folders of the skills, not a saved index")
			return nil, nil
		}
	}
	source, err := definitions.NewSource(roots, &definitions.Options{Depth: int(a.set.depth)})
	if err != nil {
		return nil, err
	}
	defer source.Close()
	type tool struct{ skill, name string }
	needs := map[tool][]string{}
	for _, s := range c.Index().Skills() {
		data, err := source.Doc(ctx, s.Ref, "tools.json")
		var tools []toolDefinition
		if err == nil {
			err = json.Unmarshal(data, &tools)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			fmt.Fprintf(a.err, "tools.json of %s: %s\n", clean(s.Name), clean(err.Error()))
			continue
		}
		for _, t := range tools {
			f := t.Function
			needs[tool{s.Name, f.Name}] = f.Parameters.Required
			if _, taken := needs[tool{"", f.Name}]; !taken {
				needs[tool{"", f.Name}] = f.Parameters.Required
			}
		}
	}
	return func(skill, name string) []string { return needs[tool{skill, name}] }, nil
}

// A toolDefinition is what counts here of an OpenAI tool definition.
type toolDefinition struct {
	Function struct {
		Name       string `json:"name"`
		Parameters struct {
			Required []string `json:"required"`
		} `json:"parameters"`
	} `json:"function"`
}
