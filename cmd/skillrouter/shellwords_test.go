package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
		ok   bool
	}{
		{"", nil, true},
		{"  a\tb\n", []string{"a", "b"}, true},
		{`'a b'c "d 'e'" ''`, []string{"a bc", "d 'e'", ""}, true},
		{`a\ b \'c "\"\n\\"`, []string{"a b", "'c", `"\n\`}, true},
		{`'C:\Program Files\x.exe' hook`, []string{`C:\Program Files\x.exe`, "hook"}, true},
		{"'a", nil, false},
		{`a\`, nil, false},
	} {
		got, err := splitWords(c.line)
		if (err == nil) != c.ok {
			t.Errorf("%q: error %v", c.line, err)
		}
		if diff := cmp.Diff(c.want, got); c.ok && diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.line, diff)
		}
	}
	if got, want := quoteWords([]string{"/opt/my tools/sr", "hook", "it's", "", "a=b"}), `'/opt/my tools/sr' hook 'it'\''s' '' a=b`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzQuotedWordsAreReadBack(f *testing.F) {
	f.Add("a\x00b c\x00it's \"so\"\x00\x00\\")
	f.Fuzz(func(t *testing.T, joined string) {
		words := strings.Split(strings.ToValidUTF8(joined, ""), "\x00")
		got, err := splitWords(quoteWords(words))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(words, got); diff != "" {
			t.Errorf("-words +read back\n%s", diff)
		}
	})
}
