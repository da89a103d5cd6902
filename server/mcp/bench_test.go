package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// One call after the other, by the SDK's client in the same process.
func BenchmarkCall(b *testing.B) {
	s := serve(b, folder(b, files), Options{}, nil)
	c := connect(b, s, "", nil)
	for _, call := range []struct {
		tool string
		args object
	}{
		{"route", object{"utterance": "turn this PDF into text"}},
		{"skill_load", object{"skill": "pdf-text"}},
		{"search_skills", object{"query": "join two documents"}},
	} {
		b.Run(call.tool, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				result, err := c.CallTool(b.Context(), &sdk.CallToolParams{Name: call.tool, Arguments: call.args})
				if err != nil || result.IsError {
					b.Fatal(err, result)
				}
			}
		})
	}
}
