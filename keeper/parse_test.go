package keeper

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// FuzzLinks checks that a link that is found stands in the body and leads to a file below
// or beside the skill, never to an address or an absolute path.
func FuzzLinks(f *testing.F) {
	f.Add("[a](docs/a.md) ![b](../b.png \"title\") [c](https://x.y) [d](<e f.md>)")
	f.Add("```\n[a](a.md)\n```\n~~~\n[b](b.md)\n~~~\n[c](%20c.md) `[d](d.md)`")
	l := &linter{link: markdownLink(), code: linkInCode()}
	f.Fuzz(func(t *testing.T, body string) {
		for _, to := range l.linksOf(body) {
			if to == "" || path.IsAbs(to) && !strings.Contains(body, "%") || strings.Contains(to, "\n") && !strings.Contains(body, "%") {
				t.Errorf("%q leads to %q", body, to)
			}
			if !strings.Contains(body, to) && !strings.Contains(body, "%") {
				t.Errorf("%q does not stand in %q", to, body)
			}
		}
	})
}

// FuzzTools checks that the parameters of a tools.json have names, each once for a tool in a
// row, the required ones first.
func FuzzTools(f *testing.F) {
	f.Add([]byte(`[{"function": {"name": "f", "parameters": {"properties": {"a": {"type": "string"}, "b": {"type": ["null"]}}, "required": ["b", "c"]}}}]`))
	f.Add([]byte(`[{}, {"function": null}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		params, err := parseTools(data)
		if err != nil {
			return
		}
		again, err := parseTools(data)
		if err != nil || !slices.Equal(params, again) {
			t.Errorf("read twice %q gives %v and %v, %v", data, params, again, err)
		}
		for _, p := range params {
			if p.Type == "" && !p.Simple() {
				t.Errorf("%+v", p)
			}
		}
	})
}
