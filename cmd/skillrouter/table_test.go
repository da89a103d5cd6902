package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		name, s string
		want    int
	}{
		{"nothing", "", 0},
		{"Latin", "résumé", 6},
		{"Latin with combining marks", "re\u0301sume\u0301", 6},
		{"Han", "天气 ok", 7},
		{"full width punctuation", "（a）", 5},
		{"bar and dots", "█·…✓", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := columns(c.s); got != c.want {
				t.Errorf("columns(%q) = %d, want %d", c.s, got, c.want)
			}
		})
	}
}

func TestTableAlignsHan(t *testing.T) {
	tab := table{right: []int{0}}
	tab.add("1.00", "天气", "查询天气")
	tab.add("-0.5", "weather-query", "looks up the weather of tomorrow")
	var b strings.Builder
	tab.write(&b, " ", 40)
	want := " 1.00  天气           查询天气\n" +
		" -0.5  weather-query  looks up the weat…\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "plain", "多门店零售商需求预测、安全库存优化", "mixed 天气 and e\u0301", strings.Repeat("x", 99)} {
		f.Add(s, 20)
		f.Add(s, 13)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		if !utf8.ValidString(s) || most < 12 {
			t.Skip()
		}
		got := cut(s, most)
		if n := columns(got); n > most {
			t.Errorf("cut(%q, %d) = %q takes %d columns", s, most, got, n)
		}
		rest, short := strings.CutSuffix(got, "…")
		if got != s && (!short || !strings.HasPrefix(s, rest)) {
			t.Errorf("cut(%q, %d) = %q is not a beginning of it", s, most, got)
		}
	})
}

func TestCleanKeepsTerminalsSafe(t *testing.T) {
	if got, want := clean("a\x1b[31m b\r\nc\u202e\tü"), "a[31m b c ü"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		terminal       bool
	}{
		{"fits", "one two", "> one two\n", true},
		{"wraps between words", "one two three four", "> one two\n..three\n..four\n", true},
		{"wraps Chinese anywhere", "查询城市的实时天气", "> 查询城市\n..的实时天\n..气\n", true},
		{"keeps long words whole", "a skillrouter.yaml b", "> a\n..skillrouter.yaml\n..b\n", true},
		{"says nothing", "", "> \n", true},
		{"one line where nobody looks", "one two three four", "> one two three four\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			a := &app{out: &writer{w: &b}, env: func(string) string { return "10" }, tty: terminals{out: c.terminal}}
			a.fill("> ", "..", c.in)
			if diff := cmp.Diff(c.want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
