package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", []string{}},
		{"punctuation", "?! —", []string{}},
		{"words", "Book a cheap FLIGHT", []string{"book", "a", "cheap", "flight"}},
		{"repeats stay", "go go", []string{"go", "go"}},
		{"names with digits", "K8s co2 gpt-4", []string{"k8s", "co2", "gpt", "4"}},
		{"numbers", "12,000 2.5 ２０２６", []string{"12", "000", "2", "5", "2026"}},
		{"underscores", "order_status", []string{"order", "status"}},
		{"apostrophes", "don't don’t", []string{"dont", "dont"}},
		{"Han", "查订单", []string{"查", "查订", "订", "订单", "单"}},
		{"one character", "退", []string{"退"}},
		{"mixed", "退K8s订单2", []string{"退", "k8s", "订", "订单", "单", "2"}},
		{"no pair over punctuation", "退，款", []string{"退", "款"}},
		{"other scripts are words", "мир データ हिन्दी", []string{"мир", Fold("データ"), Fold("हिन्दी")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Terms(c.in)); diff != "" {
				t.Errorf("Terms(%q) (-want +got):\n%s", c.in, diff)
			}
		})
	}
}

// Words of one line must meet in one stem, words of different lines must not.
func TestStem(t *testing.T) {
	owner := map[string]string{}
	for _, family := range []string{
		"query queries queried querying", "city cities", "copy copies copied copying", "try tries tried trying", "company companies",
		"movie movies", "tie ties", "day days", "key keys", "play plays played playing", "pay pays paying",
		"box boxes", "match matches matched matching", "cache caches cached caching", "search searches", "address addresses", "process processes",
		"status statuses", "bus buses", "virus viruses", "house houses", "analysis", "news", "new",
		"price prices priced pricing", "rate rates rated rating", "code codes coded coding", "schedule schedules scheduled scheduling",
		"create creates created creating", "update updated updating", "table tables", "plan plans planned planning", "plane planes",
		"ship shipping shipped ships", "book books booked booking", "call calls calling", "cancel cancels cancelled cancelling canceled",
		"install installs installed installing", "embed embedding embedded embeddings", "agree agreed agreeing", "need needs", "free",
		"string strings", "thing things", "party parties", "part parts", "story stories", "store stores stored storing", "carry carries", "car cars", "care",
		"open opens opened opening", "format formats formatted formatting", "email emails emailed", "red", "read reads reading", "ready",
	} {
		words := strings.Fields(family)
		want := Terms(words[0])[0]
		if other, taken := owner[want]; taken {
			t.Errorf("%q and %q have the same stem %q", words[0], other, want)
		}
		owner[want] = words[0]
		for _, word := range words[1:] {
			if got := Terms(word)[0]; got != want {
				t.Errorf("stem of %q = %q, want %q as of %q", word, got, want, words[0])
			}
		}
	}
	for _, word := range []string{"a", "us", "the", "k8s", "naïf", strings.Repeat("s", 33)} {
		if got, want := Terms(word)[0], Fold(word); got != want {
			t.Errorf("stem of %q = %q, want the word itself", word, got)
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "Queries, cities & movies!", "agreed bed eed ing ied ies s", "查订单 K8s", "yyyyyyyy", "data\xff", "数据s 数据ing", "sizing hopping fizzed"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded := AppendFold(nil, s)
		before := slices.Clone(folded)
		var each []string
		EachTerm(folded, func(term []byte) { each = append(each, string(term)) })
		if diff := cmp.Diff(before, folded); diff != "" {
			t.Errorf("EachTerm left its input changed (-before +after):\n%s", diff)
		}
		terms := Terms(s)
		if !slices.Equal(terms, each) {
			t.Errorf("Terms(%q) = %q, EachTerm yields %q", s, terms, each)
		}
		words := 0
		for _, term := range terms {
			r, n := utf8.DecodeRuneInString(term)
			if term == "" || !utf8.ValidString(term) || strings.ContainsFunc(term, func(r rune) bool { return !isWord(r) }) {
				t.Errorf("Terms(%q) has %q, want letters and digits", s, term)
			}
			if !IsHan(r) || n == len(term) {
				words++
			}
		}
		if got := Words(string(folded)); got != words {
			t.Errorf("Words(%q) = %d, but it has the terms %q", folded, got, terms)
		}
	})
}

func TestEachTermDoesNotAllocate(t *testing.T) {
	folded := []byte("cities and queries 帮我查订单 booking 12")
	n := 0
	if got := testing.AllocsPerRun(50, func() { EachTerm(folded, func(term []byte) { n += len(term) }) }); got != 0 {
		t.Errorf("EachTerm allocates %v times, want 0", got)
	}
}

func TestStop(t *testing.T) {
	// As words of an utterance, so that a stem which the list forgets is seen.
	for _, s := range []string{
		"I want you to please help me with this", "could you really do anything about the other things",
		"don't why any very only they may before because", "what is it that we have been using", "someone needs everything, its own and more, does anyone", "thanks for these, those, where there were some",
		"请帮我", "我想要", "你们的", "怎么",
	} {
		for _, term := range Terms(s) {
			if !Stop([]byte(term)) {
				t.Errorf("Stop(%q) of %q = false, want true", term, s)
			}
		}
	}
	for _, term := range []string{"一下", "请问", "谢谢"} {
		if !Stop([]byte(term)) {
			t.Errorf("Stop(%q) = false, want true", term)
		}
	}
	for _, term := range []string{"", "refund", "weather", "news", "dai", "12", "订", "会议", "退款", "要闻"} {
		if Stop([]byte(term)) {
			t.Errorf("Stop(%q) = true, want false", term)
		}
	}
}

func TestEachKey(t *testing.T) {
	for in, want := range map[string][]string{
		"合并两个PDF文件": {"合并", "并两", "两个", "pdf", "文件"},
		"车 票":       {"车", "票"},
		"图a":        {"图", "a"},
		"":          nil,
	} {
		var got []string
		EachKey(AppendFold(nil, in), func(term []byte) { got = append(got, string(term)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}
