package text

import "testing"

func TestTokens(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{{"", 0}, {"a", 1}, {"abcd", 1}, {"abcde", 2}, {"查天气", 3}, {"查 PDF", 2}, {"天，", 2}, {"\xff", 1}} {
		if got := Tokens(test.text); got != test.want {
			t.Errorf("%q: got %d, want %d", test.text, got, test.want)
		}
	}
}
