package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	const england = "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"
	for _, c := range []struct {
		name, in string
		n        int
		want     string
	}{
		{"fits", "Refund an order.", 14, "Refund an order."},
		{"blanks do not count", "a b c", 3, "a b c"},
		{"clause in the last third", "Refund an order, or a part of it.", 20, "Refund an order…"},
		{"clause too early", "Pay, then wait for the confirmation", 20, "Pay, then wait for the…"},
		{"word", "Refund an order or a part", 10, "Refund an…"},
		{"sentence", "Refund orders. Cancel them too.", 17, "Refund orders…"},
		{"abbreviation is no clause", "Refund orders, e.g. after a return", 18, "Refund orders…"},
		{"Chinese clause", "查询订单状态，支持按手机号查询", 9, "查询订单状态…"},
		{"Chinese character", "查询订单状态支持按手机号查询", 5, "查询订单…"},
		{"word in Chinese", "把文件转成Markdown格式", 9, "把文件转成…"},
		{"hyphens and points hold a word", "see order-status", 9, "see…"},
		{"address is cut at a slash", "https://example.com/a/b/c", 22, "https://example.com/a…"},
		{"first word too long", "Donaudampfschifffahrt", 6, "Donau…"},
		{"open bracket is dropped", "Refund an order (all or part)", 15, "Refund an order…"},
		{"flag", england + england, 8, england + "…"},
		{"half a flag", england, 3, "…"},
		{"family", "ab \U0001F468\u200D\U0001F469\u200D\U0001F467", 5, "ab…"},
		{"letters of regions", "a\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7", 4, "a\U0001F1E9\U0001F1EA…"},
		{"mark", "xe\u0301", 2, "x…"},
		{"one", "refund", 1, "…"},
		{"none", "refund", 0, ""},
		{"negative", "refund", -1, ""},
		{"empty", "", 5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Cut(c.in, c.n); got != c.want {
				t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
			}
		})
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "Refund an order, e.g. by card. No more", "查询订单状态，支持", "\U0001F468\u200D\U0001F469", "e\u0301\u0301", "a-b-c.d", "!!!!!!", "a\xffbc", "\u200d\u200d\u200d"} {
		for _, n := range []int{-1, 0, 1, 3, 10} {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := Cut(s, n)
		if Len(s) <= n {
			if got != s {
				t.Errorf("Cut(%q, %d) = %q, want it unchanged", s, n, got)
			}
			return
		}
		if Len(got) > max(n, 0) {
			t.Errorf("Cut(%q, %d) = %q, which has %d characters", s, n, got, Len(got))
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q, not valid UTF-8", s, n, got)
		}
		head, marked := strings.CutSuffix(got, "…")
		if marked != (n > 0) || !strings.HasPrefix(s, head) {
			t.Errorf("Cut(%q, %d) = %q, want a beginning and …", s, n, got)
		}
		// Inside a word only if it is the first.
		last, _ := utf8.DecodeLastRuneInString(head)
		next, _ := utf8.DecodeRuneInString(s[len(head):])
		if strings.Contains(strings.TrimLeftFunc(head, isSeparator), " ") && spaced(last) && !unicode.IsMark(last) && spaced(next) {
			t.Errorf("Cut(%q, %d) = %q, cut inside a word", s, n, got)
		}
	})
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", " \n\n", nil},
		{"one without an end", "Refund an order", []string{"Refund an order"}},
		{"marks", "Refund it. Really? Yes!", []string{"Refund it.", "Really?", "Yes!"}},
		{"several marks", "Wait... what?! Ok", []string{"Wait...", "what?!", "Ok"}},
		{"Chinese", "查询订单。可以退款吗？可以！谢谢", []string{"查询订单。", "可以退款吗？", "可以！", "谢谢"}},
		{"Chinese commas do not end", "查询，退款；开票。", []string{"查询，退款；开票。"}},
		{"numbers and names", "Use v2.5 of Node.js. See SKILL.md now", []string{"Use v2.5 of Node.js.", "See SKILL.md now"}},
		{"abbreviations", "Cards, e.g. Visa (i.e. credit) vs. cash. Done", []string{"Cards, e.g. Visa (i.e. credit) vs. cash.", "Done"}},
		{"abbreviation that ends", "Orders, bills etc. Then stop. Orders etc. and more", []string{"Orders, bills etc.", "Then stop.", "Orders etc. and more"}},
		{"closing marks stay", "She said \"pay.\" Then (done.) “好。”再", []string{"She said \"pay.\"", "Then (done.)", "“好。”", "再"}},
		{"lines", "first\r\nsecond\n\n third ", []string{"first", "second", "third"}},
		{"list marks", "- one\n* two\n+ three\n• four\n1. five\n2) six\n> seven\n## eight\n- [ ] nine", []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "[ ] nine"}},
		{"nested marks", "> - 1. one", []string{"one"}},
		{"Chinese lists", "一、查询\n（二）退款\n3、开票\n(4) 物流", []string{"查询", "退款", "开票", "物流"}},
		{"not list marks", "-5 degrees\n**bold** text\n3.5 kg\n2026. A year", []string{"-5 degrees", "**bold** text", "3.5 kg", "2026. A year"}},
		{"rules and empty items", "---\n***\n-\n1.\n...", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Sentences(c.in)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || got == nil {
				t.Errorf("Sentences(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"", "a. b", "查询。退款！", "- x\n1. y", "（一）x", "\xff. \xe3\x80", "e.g. etc. 1.", "“好。”"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest := s
		for _, one := range Sentences(s) {
			if one == "" || strings.TrimSpace(one) != one {
				t.Errorf("Sentences(%q) has %q, want it trimmed and not empty", s, one)
			}
			_, after, found := strings.Cut(rest, one)
			if !found {
				t.Fatalf("Sentences(%q) has %q, which does not follow in the text", s, one)
			}
			rest = after
		}
	})
}
