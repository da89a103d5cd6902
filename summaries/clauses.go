package summaries

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter/internal/text"
)

// chinese reports whether s is a Chinese sentence, for what is written around it. The
// share is lower than that for limits: names of products often make up half of one.
func chinese(s string) bool { return text.HanShare(s) >= 0.2 }

// line returns s as one line without hidden characters: runs of white space become one
// blank, and none between two Han characters, where only a line break can have put it.
func line(s string) string {
	s, _ = text.Clean(s)
	fields := strings.Fields(s)
	if len(fields) < 2 {
		return strings.Join(fields, "")
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, f := range fields {
		if i > 0 {
			last, _ := utf8.DecodeLastRuneInString(fields[i-1])
			first, _ := utf8.DecodeRuneInString(f)
			if !wide(last) || !wide(first) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(f)
	}
	return b.String()
}

// wide reports whether r is a Han character or Chinese punctuation.
func wide(r rune) bool {
	return text.IsHan(r) || 0x3000 <= r && r <= 0x303F || 0xFF00 <= r && r <= 0xFF65
}

// plain removes the Markdown and the tags that descriptions hold: emphasis, code marks,
// links (their text stays), and <tags> with what an <example> holds.
func plain(s string) string {
	if i := strings.Index(strings.ToLower(s), "<example"); i >= 0 && len(strings.ToLower(s)) == len(s) {
		s = s[:i]
	}
	if !strings.ContainsAny(s, "*`[<_(") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "**"), strings.HasPrefix(s[i:], "__"):
			i += 2
			continue
		case s[i] == '`':
			i++
			continue
		case s[i] == '(' && i+2 < len(s) && isDigit(s[i+1]) && s[i+2] == ')': // an enumeration in running text
			i += 3
			continue
		case s[i] == '[':
			if end := strings.Index(s[i:], "]("); end > 0 {
				if stop := strings.IndexByte(s[i+end:], ')'); stop > 0 {
					b.WriteString(s[i+1 : i+end])
					i += end + stop + 1
					continue
				}
			}
		case s[i] == '<':
			if end := strings.IndexByte(s[i:], '>'); end > 1 && (s[i+1] == '/' || isLetter(s[i+1])) && !strings.Contains(s[i:i+end], " ") {
				b.WriteByte(' ')
				i += end + 1
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// sentences splits a description at the ends of its sentences, paragraphs and list items.
// Ends inside quotes and brackets do not count. The final mark stays off.
func sentences(s string) []string {
	var out []string
	for paragraph := range strings.SplitSeq(paragraphs(s), "\x00") {
		paragraph = line(paragraph)
		start := 0
		for i := range outside(paragraph) {
			size := sentenceEnd(paragraph, i)
			if size == 0 {
				continue
			}
			out = appendText(out, paragraph[start:i])
			start = i + size
		}
		out = appendText(out, paragraph[start:])
	}
	return out
}

// paragraphs marks the ends of paragraphs and list items by NUL.
func paragraphs(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = strings.TrimSpace(l)
		item := strings.TrimLeft(l, "-*•·+")
		if l == "" || item != l && strings.HasPrefix(item, " ") {
			l = "\x00" + strings.TrimSpace(item)
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}

// appendText appends s without blanks and loose punctuation around it, unless empty.
func appendText(out []string, s string) []string {
	s = strings.TrimLeft(strings.TrimRight(s, " .。;；,，、—–-|>"), " 。;；,，、—–-|>")
	if s = strings.TrimPrefix(s, ". "); s != "" {
		out = append(out, s)
	}
	return out
}

// sentenceEnd returns the length of the mark that ends a sentence at s[i:], or 0.
func sentenceEnd(s string, i int) int {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch r {
	case '。', '！', '？':
		return size
	case '|':
		if i > 0 && s[i-1] == ' ' && strings.HasPrefix(s[i+1:], " ") {
			return size
		}
		return 0
	case '.', '!', '?':
	default:
		return 0
	}
	rest := s[i+1:]
	if rest == "" {
		return size
	}
	if !strings.HasPrefix(rest, " ") {
		next, _ := utf8.DecodeRuneInString(rest)
		if r == '.' && text.IsHan(next) && i > 0 && !isDigit(s[i-1]) {
			return size
		}
		return 0
	}
	word := s[strings.LastIndexAny(s[:i], " (\"'/")+1 : i]
	if r == '.' && (len(word) == 1 || abbreviation(strings.ToLower(word))) {
		return 0
	}
	return size
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func abbreviation(word string) bool {
	switch word {
	case "e.g", "i.e", "vs", "cf", "approx", "incl", "eg", "ie", "no", "resp", "mr", "dr", "st", "u.s":
		return true
	}
	return false
}

// outside yields the byte positions of s that lie outside quotes and brackets. A bracket
// or quote that is never closed opens nothing.
func outside(s string) func(yield func(i int) bool) {
	return func(yield func(i int) bool) {
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if end := closing(s, i, r); end > 0 {
				i = end
				continue
			}
			if !yield(i) {
				return
			}
			i += size
		}
	}
}

// closing returns the position after the quote or bracket that s opens at i with r, or 0.
func closing(s string, i int, r rune) int {
	var end rune
	switch r {
	case '(':
		end = ')'
	case '（':
		end = '）'
	case '[':
		end = ']'
	case '【':
		end = '】'
	case '{':
		end = '}'
	case '“':
		end = '”'
	case '「':
		end = '」'
	case '『':
		end = '』'
	case '《':
		end = '》'
	case '‘':
		end = '’'
	case '"':
		end = '"'
	case '\'':
		return closingApostrophe(s, i)
	default:
		return 0
	}
	from := i + utf8.RuneLen(r)
	depth := 1
	for j, c := range s[from:] {
		switch c {
		case end: // before r, because straight quotes close themselves
			depth--
		case r:
			depth++
		}
		if depth == 0 {
			return from + j + utf8.RuneLen(end)
		}
		if j > 400 { // so that a stray quote hides no more than a sentence or two
			break
		}
	}
	return 0
}

// closingApostrophe is closing for the straight single quote, which is more often an
// apostrophe: it opens only after something that is no word and closes only before such.
func closingApostrophe(s string, i int) int {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if i > 0 && latinWord(before) {
		return 0
	}
	for j := i + 1; j < len(s) && j < i+160; j++ {
		if s[j] != '\'' {
			continue
		}
		after, _ := utf8.DecodeRuneInString(s[j+1:])
		if j > i+1 && (j+1 == len(s) || !latinWord(after)) {
			return j + 1
		}
	}
	return 0
}

func latinWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !text.IsHan(r)
}

// unbracketed returns s without what stands in round brackets of its own, unlike 510(k).
func unbracketed(s string) string {
	if !strings.ContainsAny(s, "(（") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if r == '（' || r == '(' && !latinWord(before) {
			if end := closing(s, i, r); end > 0 {
				i = end
				continue
			}
		}
		b.WriteString(s[i : i+size])
		i += size
	}
	out := line(b.String())
	for _, mark := range []string{",", ".", ";", ":", "，", "。", "；", "、"} {
		out = strings.ReplaceAll(out, " "+mark, mark)
	}
	return out
}

// clip returns the longest start of s of at most n characters that reads as a whole: cut
// at the end of a clause or before a qualifying phrase, never inside a word, a quote or a
// bracket. ok is false if s has no such start of at least a third of n; then the start
// given is cut at a word and ends in "…".
func clip(s string, n int) (start string, ok bool) {
	if text.Len(s) <= n {
		return s, true
	}
	if short := unbracketed(s); short != s {
		if s = short; text.Len(s) <= n {
			return s, true
		}
	}
	best, bestRank := 0, 0
	for i := range outside(s) {
		weight := cutWeight(s, i)
		if weight == 0 {
			continue
		}
		length := text.Len(s[:i])
		if length > n {
			break
		}
		if length*3 < n || !complete(s[:i], weight) {
			continue
		}
		if rank := length*100/n + weight; rank >= bestRank {
			best, bestRank = i, rank
		}
	}
	if best == 0 {
		return text.Cut(s, n), false
	}
	return strings.TrimRight(s[:best], " ,;:，；：、—–-"), true
}

// cutWeight says how good a place s[i] is to cut before it, 0 for none: a clause end is
// worth a third of the length that a cut there may lose.
func cutWeight(s string, i int) int {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch r {
	case ';', '；', '—', '–', '：':
		return 35
	case '，':
		return 30
	case ':':
		if strings.HasPrefix(s[i+1:], " ") {
			return 35
		}
	case ',':
		if strings.HasPrefix(s[i+1:], " ") || i > 0 && s[i-1] >= utf8.RuneSelf {
			return 25
		}
	case '、':
		return 20
	case ' ':
		word, _, _ := strings.Cut(s[i+1:], " ")
		switch {
		case word == "-" || word == "—" || word == "–":
			return 35
		case qualifier(word):
			return 8
		case word == "or" || word == "and":
			return 1
		}
	default:
		rest := s[i:]
		if wide(r) && i > 0 {
			for _, w := range [...]string{"以及", "并且", "并", "或", "及"} {
				if strings.HasPrefix(rest, w) && len(rest) > size {
					return 2
				}
			}
		}
	}
	return 0
}

// complete reports whether start, cut off at a place of that weight, does not hang in the
// air.
func complete(start string, weight int) bool {
	start = strings.TrimRight(start, " ,;:，；：、—–-")
	if chinese(start) {
		return completeChinese(start, weight)
	}
	words := strings.Fields(strings.ToLower(start))
	if len(words) == 0 || hanging(words[len(words)-1]) {
		return false
	}
	for i := len(words) - 1; i >= 0 && !strings.HasSuffix(words[i], ","); i-- {
		if words[i] == "especially" || words[i] == "particularly" {
			return false
		}
	}
	return !danglingList(words)
}

// danglingList reports whether words end in a list of single verbs or adjectives whose
// common object was cut off: "read, write", "use when reading, writing".
func danglingList(words []string) bool {
	i := len(words) - 1
	for i > 0 && strings.HasSuffix(words[i-1], ",") {
		i--
	}
	if i == 0 {
		return true
	}
	before := words[i-1]
	return (link(before) && before != "for" || before == "to" || before == "and" || before == "involve") &&
		(strings.HasSuffix(strings.Trim(words[i], ","), "ing") || before == "to")
}

// completeChinese is complete for Chinese. In the middle of a list no coverb may still wait
// for its verb: "与运动、睡眠数据的关联分析" cannot be cut after 运动.
func completeChinese(start string, weight int) bool {
	last, _ := utf8.DecodeLastRuneInString(start)
	if strings.ContainsRune("的和与或及在将把为从等当", last) {
		return false
	}
	if weight >= 30 {
		return true
	}
	clause := start
	if from := strings.LastIndexAny(start, "，；：。"); from >= 0 {
		clause = strings.TrimLeft(start[from:], "，；：。 ")
	}
	if strings.Contains(clause, "进行") {
		return true
	}
	for _, w := range [...]string{"支持与", "与", "从", "对", "在", "为", "依托", "使用", "面向", "按"} {
		if strings.HasPrefix(clause, w) {
			return false
		}
	}
	for _, w := range [...]string{"将", "把", "针对", "根据", "依据", "围绕", "通过", "基于"} {
		if strings.Contains(clause, w) {
			return false
		}
	}
	return true
}
