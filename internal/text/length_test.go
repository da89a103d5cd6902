package text

import (
	"math"
	"strings"
	"testing"
)

func TestLen(t *testing.T) {
	for s, want := range map[string]int{
		"":                      0,
		" \t\n\u3000\u00a0":     0,
		"refund an order":       13,
		"查询 订单，退款。":             8,
		"e\u0301":               2,
		"\U0001F1E9\U0001F1EA!": 3,
	} {
		if got := Len(s); got != want {
			t.Errorf("Len(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestIsHan(t *testing.T) {
	for r, want := range map[rune]bool{
		0x33FF: false, 0x3400: true, '中': true, 0x9FFF: true, 0xA000: false, 'a': false, 'カ': false, '한': false, '，': false,
	} {
		if got := IsHan(r); got != want {
			t.Errorf("IsHan(%U) = %t, want %t", r, got, want)
		}
	}
}

func TestHanShare(t *testing.T) {
	for s, want := range map[string]float64{
		"": 0, "12 !，": 0, "refund": 0, "退款": 1, "PDF转文字": 0.5, "退 1, 2": 1, "カ中": 0.5,
	} {
		if got := HanShare(s); math.Abs(got-want) > 1e-12 {
			t.Errorf("HanShare(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name, s string
		want    int
	}{
		{"Chinese", "查询订单状态", 50},
		{"three of ten letters", "把 PDF 转成 Word", 50},
		{"three of eleven", "把 PDF 转成 Words", 150},
		{"English", "query the state of an order", 150},
		{"no letters", "123", 150},
		{"empty", "", 150},
	} {
		if got := Limit(c.s, 50); got != c.want {
			t.Errorf("%s: Limit(%q, 50) = %d, want %d", c.name, c.s, got, c.want)
		}
	}
	if got := Limit("refund", 500); got != 1500 {
		t.Errorf("Limit(refund, 500) = %d, want 1500", got)
	}
}

func TestWords(t *testing.T) {
	for s, want := range map[string]int{
		"":                           0,
		" ?! ":                       0,
		"book a flight":              3,
		"don't stop, don\u2019t":     3,
		"'quoted' words'":            2,
		"text-to-speech v2.5":        5,
		"帮我把PDF转成Word":               7,
		"天'气":                        2,
		"naïve cafe\u0301":           2,
		"K8s":                        1,
		"a\xffb":                     2,
		strings.Repeat("word ", 100): 100,
	} {
		if got := Words(s); got != want {
			t.Errorf("Words(%q) = %d, want %d", s, got, want)
		}
	}
}
