package router

import "testing"

func TestSaysNothing(t *testing.T) {
	for utterance, want := range map[string]bool{
		"go on": true, "Thanks!": true, "好的，继续": true, "ok, then the next": true,
		"thanks, that is all": true, "谢谢，就这些": true,
		"": false, "…": false, "go on with the invoice": false, "继续写报告": false,
	} {
		if got := (&Route{Utterance: utterance}).SaysNothing(); got != want {
			t.Errorf("%q: got %v, want %v", utterance, got, want)
		}
	}
}
