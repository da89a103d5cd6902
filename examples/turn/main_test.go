package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	in := strings.NewReader("will it rain in Hangzhou tomorrow?\nlook up the weather!\n")
	if err := run(t.Context(), nil, in, &out); err != nil {
		t.Fatal(err)
	}
	first, second, ok := strings.Cut(out.String(), "── turn 2")
	if !ok || !strings.Contains(first, "- weather-query: ") || strings.Contains(first, "[Loaded]") {
		t.Errorf("turn 1 should show the summary and no definition, got:\n%s", first)
	}
	if !strings.Contains(second, "[Loaded] weather-query") {
		t.Errorf("turn 2 should hold the definition, got:\n%s", second)
	}
}
