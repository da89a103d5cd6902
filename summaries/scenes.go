package summaries

import (
	"strings"
	"unicode/utf8"

	"skillrouter/internal/text"
)

// reader reads a clause word by word, in lower case.
type reader struct {
	s   string
	pos int
}

// peek returns the next word without the punctuation after it.
func (r *reader) peek() string {
	rest := strings.TrimLeft(r.s[r.pos:], " ")
	word := rest
	if i := strings.IndexAny(rest, " ,:;\"'“：，、"); i >= 0 {
		word = rest[:i]
	}
	if len(word) > 24 {
		return ""
	}
	return strings.ToLower(word)
}

// next consumes the next word and a comma after it.
func (r *reader) next() {
	rest := r.s[r.pos:]
	blanks := len(rest) - len(strings.TrimLeft(rest, " "))
	word := strings.TrimLeft(rest, " ")
	if i := strings.IndexAny(word, " ,:;\"'“：，、"); i >= 0 {
		word = word[:i]
	}
	r.pos += blanks + len(word)
	if strings.HasPrefix(r.s[r.pos:], ",") {
		r.pos++
	}
}

// skip consumes words as long as accept takes them, at most n.
func (r *reader) skip(n int, accept func(string) bool) {
	for ; n > 0 && accept(r.peek()); n-- {
		r.next()
	}
}

// rest returns what has not been consumed.
func (r *reader) rest() string { return strings.TrimLeft(r.s[r.pos:], " :：,，") }

// scene reports whether clause says when to use the skill, and returns it from the word
// that links it on: "Use this skill when X" gives "when X", "当用户要求X时使用" itself.
func scene(clause string) (rest string, ok bool) {
	if first, _ := utf8.DecodeRuneInString(clause); wide(first) {
		return chineseScene(clause)
	}
	r := reader{s: clause}
	r.skip(4, adverb)
	switch word := r.peek(); {
	case word == "when" || word == "whenever":
		r.next()
		if strings.HasPrefix(r.s[r.pos:], ":") || strings.HasPrefix(r.s[r.pos:], "：") {
			return "when " + r.rest(), r.rest() != ""
		}
		switch r.peek() {
		case "the", "user", "users", "you", "a", "someone", "asked", "to":
			if r.peek() != "to" {
				return "when " + r.rest(), true
			}
			r.next()
			if r.peek() == "use" {
				r.next()
				return "when " + r.rest(), r.rest() != ""
			}
		}
		return "", false
	case word == "ideal" || word == "best" || word == "perfect" || word == "useful" || word == "suitable" || word == "recommended" || word == "essential" || word == "great" || word == "applicable":
		r.next()
		if w := r.peek(); w == "for" || w == "when" || w == "to" {
			return r.rest(), true
		}
		return "", false
	case word == "applies" || word == "triggers" || word == "activates" || word == "trigger" || word == "activate":
		r.next()
	case word == "this" || word == "the":
		r.next()
		r.skip(3, func(w string) bool { return w != "skill" && w != "" && !link(w) })
		if r.peek() != "skill" {
			return "", false
		}
		r.next()
		switch r.peek() {
		case "should", "is", "must", "can":
			r.skip(1, func(string) bool { return true })
			r.skip(1, func(w string) bool { return w == "be" })
			switch r.peek() {
			case "used", "triggered", "activated", "invoked", "applied", "loaded":
				r.next()
			default:
				return "", false
			}
		case "applies", "triggers", "activates":
			r.next()
		default:
			return "", false
		}
	case usage(word):
		r.next()
		r.skip(3, func(w string) bool {
			return w != "" && !link(w) && (w == "this" || w == "the" || w == "skill" || w == "it" || w == "tool" || w == "these" || adverb(w))
		})
		if !link(r.peek()) && word == "use" {
			r.skip(1, func(w string) bool { return w != "" && w != "a" && w != "an" && w != "your" })
			if w := r.peek(); w != "for" && w != "when" && w != "whenever" {
				return "", false
			}
		}
	default:
		return "", false
	}
	r.skip(2, adverb)
	if word := r.peek(); link(word) {
		tail := r
		tail.next()
		if first, _ := utf8.DecodeRuneInString(tail.rest()); wide(first) {
			return tail.rest(), true
		}
		if strings.HasPrefix(tail.s[tail.pos:], ":") && !strings.HasSuffix(tail.peek(), "ing") && tail.peek() != "the" && tail.peek() != "user" {
			word = "for" // "use when: telegram bot, bot api"
		}
		return word + " " + tail.rest(), tail.rest() != ""
	}
	return "", false
}

func adverb(w string) bool {
	switch w {
	case "also", "always", "proactively", "best", "only", "primarily", "automatically", "then", "mandatory", "specifically", "immediately", "you", "should", "must", "particularly", "especially":
		return w != "best"
	}
	return false
}

// usage reports whether w is a verb that says to use a skill.
func usage(w string) bool {
	switch w {
	case "use", "used", "invoke", "apply", "load", "consult", "call", "run", "reach", "read", "trigger", "activate":
		return true
	}
	return false
}

// link reports whether w is a word that a scene begins with.
func link(w string) bool {
	switch w {
	case "when", "whenever", "if", "for", "before", "after", "on", "at", "as", "while", "during", "once", "where", "to":
		return true
	}
	return false
}

// chineseScene is scene for Chinese.
func chineseScene(clause string) (string, bool) {
	for _, w := range [...]string{"使用场景", "适用场景", "触发场景", "何时使用", "使用时机", "触发条件", "触发时机"} {
		if rest, ok := strings.CutPrefix(clause, w); ok {
			return strings.TrimLeft(rest, "：: "), true
		}
	}
	for _, w := range [...]string{"适用于", "适合", "当", "如果", "若", "用户", "每当"} {
		if strings.HasPrefix(clause, w) {
			_, suffix := sceneFrame(clause)
			return clause, suffix != "" || w == "适用于" || w == "适合"
		}
	}
	if _, suffix := sceneFrame(clause); suffix != "" && suffix != "时" {
		return clause, true
	}
	return "", false
}

// sceneFrame splits a Chinese scene before the words that close it: "当用户要求X" and
// "时使用". suffix is "" if nothing closes it.
func sceneFrame(clause string) (inner, suffix string) {
	at := -1
	for _, w := range [...]string{"时使用", "时，使用", "时触发", "时激活", "时调用", "时启用", "时加载", "时应用", "时，应使用", "时务必使用", "时必须使用", "后使用", "时主动使用"} {
		at = max(at, strings.LastIndex(clause, w))
	}
	if at >= 0 {
		return clause[:at], clause[at:]
	}
	if inner, ok := strings.CutSuffix(clause, "时"); ok {
		return inner, "时"
	}
	if inner, ok := strings.CutSuffix(clause, "的场景"); ok {
		return inner, "的场景"
	}
	return clause, ""
}

// sceneText writes a scene in at most limit characters, as a sentence of its own or as
// what follows a capability. ok is false if it cannot be cut to that.
func sceneText(when string, limit int, alone bool) (out string, ok bool) {
	if when == "" {
		return "", false
	}
	if inner, suffix := sceneFrame(when); suffix != "" {
		if lists := quoted(inner); len(lists) > 1 && !strings.Contains(inner, "'、") && !strings.Contains(inner, "\"、") {
			inner = strings.NewReplacer("'", "", "\"", "", "“", "", "”", "").Replace(inner)
		}
		if text.Len(suffix) > 6 {
			suffix = "时使用"
		}
		short, ok := clip(inner, limit-text.Len(suffix))
		return short + suffix, ok && text.Len(short) > 3
	}
	if r, _ := utf8.DecodeRuneInString(when); wide(r) {
		return clip(when, limit)
	}
	verb := "use "
	if alone {
		verb = "Use "
	}
	r := reader{s: when}
	if !link(r.peek()) {
		verb += "for "
	} else if rest, ok := strings.CutPrefix(when, "when "); ok && strings.IndexAny(rest, "\"'“‘") == 0 {
		verb, when = verb+"for ", rest
	}
	short, ok := clip(when, limit-text.Len(verb))
	return verb + short, ok && text.Words(short) > 2
}

// exclusion reports whether clause says what the skill is not for, and returns that.
func exclusion(clause string) (rest string, ok bool) {
	if first, _ := utf8.DecodeRuneInString(clause); wide(first) {
		for _, w := range [...]string{"不适用于", "不适用", "不用于", "不要用于", "不应用于", "请勿用于", "不适合", "不支持", "不处理", "不包括", "不负责", "禁止用于"} {
			if rest, ok := strings.CutPrefix(clause, w); ok {
				rest = strings.TrimLeft(rest, "：:场景 ")
				return strings.TrimSuffix(rest, "时使用"), rest != ""
			}
		}
		for _, w := range [...]string{"不要在", "请勿在", "不要使用"} {
			if strings.HasPrefix(clause, w) {
				return clause, true
			}
		}
		return "", false
	}
	r := reader{s: clause}
	switch r.peek() {
	case "do":
		r.next()
		if r.peek() != "not" {
			return "", false
		}
		r.next()
	case "don't", "don’t", "never":
		r.next()
	case "don": // the apostrophe ends a word
		if !strings.HasPrefix(strings.ToLower(clause), "don't ") {
			return "", false
		}
		r.pos = len("don't")
	case "avoid", "skip":
		r.next()
		if w := r.peek(); w != "for" && w != "when" && w != "using" {
			return "", false
		}
		r.skip(1, func(w string) bool { return w == "using" })
		return exclusionRest(&r)
	case "not":
		r.next()
		r.skip(3, func(w string) bool {
			switch w {
			case "intended", "suitable", "meant", "recommended", "needed", "to", "be", "used", "use", "designed", "applicable", "a", "replacement":
				return true
			}
			return false
		})
		if w := r.peek(); w != "for" && w != "when" {
			return "", false
		}
		return exclusionRest(&r)
	default:
		return "", false
	}
	if !usage(r.peek()) {
		return "", false
	}
	r.next()
	return exclusionRest(&r)
}

// exclusionRest skips "this skill for" and returns what follows.
func exclusionRest(r *reader) (string, bool) {
	r.skip(3, func(w string) bool { return w == "this" || w == "the" || w == "skill" || w == "it" })
	r.skip(1, func(w string) bool { return w == "for" })
	rest := r.rest()
	return rest, rest != ""
}

// alternative reports whether clause sends some needs to another skill: "For deep
// learning use scvi-tools".
func alternative(clause string) bool {
	lower := strings.ToLower(clause)
	if !strings.HasPrefix(lower, "for ") {
		return strings.HasPrefix(lower, "unlike ") || strings.HasPrefix(lower, "distinct from ") || strings.HasPrefix(lower, "different from ") ||
			strings.HasPrefix(clause, "区别于") || strings.HasPrefix(clause, "与其他") || strings.HasPrefix(clause, "不同于")
	}
	i := strings.Index(lower, " use ")
	return i > 0 && i < 100 || strings.Contains(lower, ", see ")
}

// triggerList reports whether clause is a list of triggers, and returns the list.
func triggerList(clause string) (rest string, ok bool) {
	for _, w := range [...]string{"触发词", "触发关键词", "触发短语", "触发语", "触发方式", "触发", "关键词", "触发示例", "常见触发词"} {
		if rest, ok := strings.CutPrefix(clause, w); ok {
			if list := strings.TrimLeft(rest, " "); strings.HasPrefix(list, "：") || strings.HasPrefix(list, ":") || strings.HasPrefix(list, "包括") {
				list = strings.TrimPrefix(list, "包括")
				return strings.TrimLeft(list, "：: "), true
			}
		}
	}
	r := reader{s: clause}
	switch r.peek() {
	case "trigger", "triggers", "keywords", "triggered", "example", "triggering":
	default:
		return "", false
	}
	r.next()
	r.skip(2, func(w string) bool {
		switch w {
		case "words", "word", "phrases", "phrase", "keywords", "terms", "triggers", "requests", "queries":
			return true
		}
		return false
	})
	if strings.HasPrefix(r.s[r.pos:], ":") || strings.HasPrefix(r.s[r.pos:], "：") {
		return r.rest(), r.rest() != ""
	}
	switch r.peek() {
	case "on", "include", "with", "by", "includes", "are":
		r.next()
		r.skip(1, func(w string) bool { return w == "phrases" || w == "keywords" })
		r.skip(1, func(w string) bool { return w == "like" })
		return r.rest(), r.rest() != ""
	}
	return "", false
}

// instruction reports whether s tells the agent how to behave rather than what the skill
// can do.
func instruction(s string) bool {
	for _, w := range [...]string{"始终", "总是", "必须", "详见", "须", "请先", "请勿", "禁止", "注意", "重要", "提问前", "版本"} {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	word, rest, _ := strings.Cut(strings.ToLower(s), " ")
	switch strings.Trim(word, ",:;") {
	case "you":
		return strings.HasPrefix(rest, "must ") || strings.HasPrefix(rest, "should ")
	case "always", "never", "must", "note", "important", "please", "see", "also", "even", "requires", "i", "todo", "mandatory", "critical":
		return true
	}
	return false
}

// unfilled returns s without one layer of filler at its start.
func unfilled(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); wide(first) {
		for _, w := range [...]string{"关键：", "重要：", "【重要】"} {
			if rest, ok := strings.CutPrefix(s, w); ok {
				return rest
			}
		}
		for _, w := range [...]string{"这是一个", "这个", "本", "该", "此", "一个"} {
			rest, ok := strings.CutPrefix(s, w)
			if !ok {
				continue
			}
			for _, noun := range [...]string{"技能", "Skill", "skill"} {
				if rest, ok := strings.CutPrefix(rest, noun); ok {
					rest = strings.TrimLeft(rest, " ，")
					for _, verb := range [...]string{"主要用于", "用于", "可以", "能够", "可", "能", "提供", "帮助用户", "帮助你", "帮助", "涵盖", "是"} {
						if tail, ok := strings.CutPrefix(rest, verb); ok {
							return tail
						}
					}
					return rest
				}
			}
		}
		return s
	}
	r := reader{s: s}
	word := r.peek()
	switch word {
	case "this", "the", "a", "an":
		r.next()
		r.skip(2, func(w string) bool {
			return w != "skill" && w != "" && word != "a" && word != "an" && !link(w) && w != "is"
		})
		if r.peek() != "skill" {
			return s
		}
		r.next()
	case "skill":
		r.next()
		if w := r.peek(); w != "for" && w != "that" && w != "to" && w != "which" {
			return s
		}
	case "helps", "help":
		r.next()
		switch r.peek() {
		case "you", "users", "user", "claude", "agents", "developers", "teams":
		case "to":
		default:
			return s
		}
		r.skip(1, func(w string) bool { return w != "to" })
		r.skip(1, func(w string) bool { return w == "to" })
		return r.rest()
	case "critical", "important":
		r.next()
		if !strings.HasPrefix(r.s[r.pos:], ":") {
			return s
		}
		return r.rest()
	default:
		return s
	}
	r.skip(9, func(w string) bool {
		switch w {
		case "is", "designed", "used", "intended", "meant", "to", "for", "helps", "help", "you", "users", "user", "claude", "agents", "enables", "allows", "lets",
			"provides", "covers", "guides", "through", "teaches", "can", "will", "should", "be", "that", "which", "the":
			return true
		}
		return false
	})
	if rest := r.rest(); rest != "" {
		return rest
	}
	return s
}
