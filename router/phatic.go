package router

import (
	"slices"
	"strings"
	"unicode"

	"skillrouter/internal/text"
)

// SaysNothing tells whether the utterance has no word of its own subject, as "go
// on" or "thanks" have none: what it is similar to by itself means nothing.
func (r *Route) SaysNothing() bool { return saysNothing(r.Utterance) }

// saysNothing tells whether an utterance has no word of its own subject: "go
// on", "yes please", "好的，继续". In a dialogue it belongs to what went before,
// whatever it happens to be similar to.
func saysNothing(utterance string) bool {
	folded := text.Fold(utterance)
	words := strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		if r := []rune(w)[0]; text.IsHan(r) {
			if w = trimFollowUps(w); w != "" {
				return false
			}
			continue
		}
		if !slices.Contains(followUps(), w) && !text.Stop([]byte(w)) {
			return false
		}
	}
	return len(words) > 0
}

// followUps are words that ask for more of the same, or answer a question,
// beside the function words of package text.
func followUps() []string {
	return []string{
		"go", "ahead", "continue", "ok", "okay", "yes", "yeah", "yep", "no", "nope", "sure", "fine", "great", "good", "right", "correct",
		"please", "thanks", "thank", "next", "more", "again", "also", "then", "now", "done", "perfect", "cool", "nice", "keep", "going",
	}
}

// trimFollowUps takes such words out of a run of Han characters.
func trimFollowUps(run string) string {
	for _, w := range []string{
		"继续", "接着", "然后", "好的", "好吧", "好", "是的", "是", "对", "不", "没", "嗯", "行", "可以", "谢谢", "多谢", "再来", "下一步", "还有", "就这样", "就这些",
		"吧", "呢", "吗", "了", "的", "啊", "呀", "哦", "请", "你", "我", "那", "也",
	} {
		run = strings.ReplaceAll(run, w, "")
	}
	return run
}
