package text

import "testing"

func BenchmarkAppendFold(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"en", "Please help me book a cheap flight to London for next Friday"},
		{"zh", "帮我订一张明天去北京机票"},
		{"mixed", "帮我把 PDF 转成 Word，谢谢"},
		{"accents", "réserver un vol à Besançon, s'il vous plaît"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]byte, 0, 256)
			for b.Loop() {
				dst = AppendFold(dst[:0], c.text)
			}
		})
	}
}

func BenchmarkEachTerm(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"en", "please help me book a cheap flight to london for next friday"},
		{"zh", "帮我订一张明天去北京机票"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			folded, n := []byte(c.text), 0
			for b.Loop() {
				EachTerm(folded, func(term []byte) { n += len(term) })
			}
		})
	}
}

func BenchmarkClean(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Clean("Refund an order 退款 when the customer asks for the money back, in whole or in part.")
	}
}
