package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing to do", "refund order 12", "refund order 12"},
		{"accents and full width", "Café ＣＡＦＥ", "cafe cafe"},
		{"marks that follow", "e\u0301\u0327", "e"},
		{"dotted capital", "İstanbul", "istanbul"},
		{"ligature", "ﬁle ﬂow", "file flow"},
		{"apostrophes", "Don't don\u2019t don\uFF07t", "dont dont dont"},
		{"full-width digits", "２０２６年", "2026年"},
		{"kelvin sign", "\u212Aelvin", "kelvin"},
		{"fractions and circles", "½ ①", "1\u20442 1"},
		{"Hangul becomes letters", "한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"},
		{"half-width kana loses its mark", "ｶﾞ", "カ"},
		{"Chinese punctuation", "中文，测试。", "中文,测试。"},
		{"title case digraph", "ǅ", "dz"},
		{"vowel signs stay", "हिन्दी", "\u0939\u093f\u0928\u0926\u0940"},
		{"final sigma", "ΟΔΟΣ οδος", "οδοσ οδοσ"},
		{"hidden characters are not folding's business", "a\u200bb", "a\u200bb"},
		{"invalid bytes", "a\xff\xe4\xb8b", "a\uFFFD\uFFFD\uFFFDb"},
		{"traditional Chinese", "幫我審查這個合併請求", "帮我审查这个合并请求"},
		{"of two simplified characters the common one", "頭髮 發現", "头发 发现"},
		{"a compatibility ideograph", "\uf900", "岂"},
		{"what both scripts have", "显著 于是", "显著 于是"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Fold(c.in); got != c.want {
				t.Errorf("Fold(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// referenceFold is what the pipeline of the embedding table does, by whole
// strings, with the final sigma and the simplified characters of [Fold].
func referenceFold(s string) string {
	s = norm.NFKD.String(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(s, "\uFFFD"))))
	var b strings.Builder
	for _, r := range s {
		if r != '\'' && r != '\u2019' && norm.NFKD.PropertiesString(string(r)).CCC() == 0 {
			if IsHan(r) {
				r = simplify(r)
			}
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "ς", "σ")
}

func TestFoldEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		s := string(r)
		got := Fold(s)
		if want := referenceFold(s); got != want {
			t.Errorf("Fold(%U) = %+q, want %+q", r, got, want)
		}
		if again := Fold(got); again != got {
			t.Errorf("Fold(Fold(%U)) = %+q, want %+q", r, again, got)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "Café, don’t", "İ ﬁ ½ ２", "한국어 ｶﾞ", "退款 數據", "e\u0301\u0327x", "\u1112\u1161\u11ab", "a\xffb", "ΑΣ Σ", "a\u0346\u0301'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Fold(s)
		if !utf8.ValidString(got) {
			t.Errorf("Fold(%+q) = %+q, not valid UTF-8", s, got)
		}
		if again := Fold(got); again != got {
			t.Errorf("Fold(Fold(%+q)) = %+q, want %+q", s, again, got)
		}
		if appended := string(AppendFold([]byte("x"), s)); appended != "x"+got {
			t.Errorf("AppendFold(x, %+q) = %+q, want x and %+q", s, appended, got)
		}
		// Two things of the whole-string reference are no part of the form: x/text
		// breaks rows of more than 30 marks with U+034F, and makes of an invalid
		// sequence one replacement or several.
		if !utf8.ValidString(s) {
			return
		}
		without := func(s string) string { return strings.ReplaceAll(s, "\u034F", "") }
		if want := referenceFold(s); without(got) != without(want) {
			t.Errorf("Fold(%+q) = %+q, want %+q", s, got, want)
		}
	})
}

func TestAppendFoldDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 256)
	for _, s := range []string{"Book a FLIGHT, don't wait", "帮我把PDF转成Word，谢谢。", "naïve ＣＡＦＥ 한국어 ﬁ"} {
		if got := testing.AllocsPerRun(50, func() { dst = AppendFold(dst[:0], s) }); got != 0 {
			t.Errorf("AppendFold(%q) allocates %v times, want 0", s, got)
		}
	}
}
