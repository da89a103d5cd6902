package embed

import (
	"strings"
	"testing"
)

const (
	english = "please help me book a cheap flight to london for next friday" // 12 words
	chinese = "帮我订一张明天去北京机票"                                                 // 12 characters
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmbed(b *testing.B) {
	e := newTest(b)
	for _, c := range []struct{ name, text string }{
		{"en", english},
		{"zh", chinese},
		{"mixed", "帮我把 PDF 转成 Word，谢谢"},
		{"en-8KiB", strings.Repeat(english+" ", 8<<10/len(english))},
		{"one-word-8KiB", strings.Repeat("a", 8<<10)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]float32, 0, dim)
			for b.Loop() {
				dst = e.AppendEmbed(dst[:0], c.text)
			}
		})
	}
}

func BenchmarkTokens(b *testing.B) {
	e := newTest(b)
	for _, c := range []struct{ name, text string }{{"en", english}, {"zh", chinese}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var s scratch
			for b.Loop() {
				e.vocab.appendTokens(s.tokens[:0], []byte(c.text))
			}
		})
	}
}
