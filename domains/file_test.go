package domains

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/summaries"
)

func TestMerge(t *testing.T) {
	yes, no := true, false
	first := &File{
		Domains: []FileDomain{
			{Name: "Text", Description: "old", Keywords: []string{"k"}, Folders: []string{"text"}, Skills: []string{"a"}},
			{Name: "Data"},
		},
		Skills:  map[string]summaries.Override{"a": {Summary: "s", NotFor: "n", Manual: &yes}},
		Routing: Routing{Threshold: 0.7, MaxDomains: 2, Calibration: Calibration{Slope: 2, Shift: 1}},
	}
	second := &File{
		Domains: []FileDomain{
			{Name: "Files"},
			{Name: "TEXT", Description: "new", Fallback: true, Folders: []string{"docs"}, Skills: []string{"b"}},
		},
		Skills:  map[string]summaries.Override{"a": {Summary: "t", Manual: &no}, "b": {Params: "p"}},
		Routing: Routing{MaxDomains: -1, Mode: "flat", Calibration: Calibration{Slope: 1.5, Embedder: "e"}},
	}
	want := &File{
		Domains: []FileDomain{
			{Name: "Text", Description: "new", Keywords: []string{"k"}, Fallback: true, Folders: []string{"text", "docs"}, Skills: []string{"a", "b"}},
			{Name: "Data"},
			{Name: "Files"},
		},
		Skills:  map[string]summaries.Override{"a": {Summary: "t", NotFor: "n", Manual: &no}, "b": {Params: "p"}},
		Routing: Routing{Threshold: 0.7, MaxDomains: -1, Mode: "flat", Calibration: Calibration{Slope: 1.5, Embedder: "e"}},
	}
	if diff := cmp.Diff(want, Merge(first, nil, second), unplaced()); diff != "" {
		t.Errorf("Merge differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a"}, first.Domains[0].Skills); diff != "" {
		t.Errorf("Merge changed its argument:\n%s", diff)
	}
	if got := Merge(); got == nil || len(got.Domains) != 0 {
		t.Errorf("Merge() = %+v, want an empty file", got)
	}
}
