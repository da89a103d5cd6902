package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Cut returns s if it has at most n characters as [Len] counts them, and
// otherwise its beginning and "…", together at most n. It cuts at the end of a
// clause if one lies in the last third, else at the end of a word or after a
// Han character; what separates the cut clause from the next is dropped. A word
// is cut inside only when it is the first and alone too long; a character with
// its marks, a flag or a joined emoji never is. An n of 0 or less gives "".
func Cut(s string, n int) string {
	if Len(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	room := n - 1
	used, end, clause := 0, 0, 0
	for i := 0; i < len(s); {
		size := unit(s[i:])
		used += Len(s[i : i+size])
		if used > room {
			break
		}
		i += size
		end = i
		if 3*used >= 2*room && endsClause(s, i) {
			clause = i
		}
	}
	head := s[:end]
	if clause > 0 {
		head = s[:clause]
	}
	head = strings.TrimRightFunc(head, isSeparator)
	if head == "" {
		head = cutWord(s, room)
	}
	return head + ellipsis
}

// cutWord returns as many whole characters of s as have room.
func cutWord(s string, room int) string {
	used, end := 0, 0
	for end < len(s) {
		size := cluster(s[end:])
		used += Len(s[end : end+size])
		if used > room {
			break
		}
		end += size
	}
	return strings.TrimRightFunc(s[:end], isSeparator)
}

// unit returns the length of what s begins with and Cut keeps whole: a word
// with the apostrophes, hyphens, dots and commas inside it ("don't", "2.5",
// "Node.js"), or one character.
func unit(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if !spaced(r) {
		return cluster(s)
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case spaced(r), unicode.IsMark(r):
		case strings.ContainsRune("'\u2019-_.,:@", r):
			if next, _ := utf8.DecodeRuneInString(s[n+size:]); !spaced(next) {
				return n
			}
		default:
			return n
		}
		n += size
	}
	return n
}

// spaced reports whether r belongs to a word of a script that puts spaces
// between words.
func spaced(r rune) bool {
	return isWord(r) && (r < 0x0E00 || !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// cluster returns the length of the character that s begins with, as a reader
// sees it: with its marks, skin tone, joined emoji and flag parts. It is the
// part of Unicode's grapheme clusters (UAX #29) that occurs in descriptions.
func cluster(s string) int {
	first, n := utf8.DecodeRuneInString(s)
	flag := isRegional(first)
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case flag && isRegional(r):
			flag = false
		case r == zwj && n+size < len(s):
			_, joined := utf8.DecodeRuneInString(s[n+size:])
			size += joined
		case unicode.IsMark(r), isSkinTone(r), isTag(r), r == zwj, r == zwnj:
		default:
			return n
		}
		n += size
	}
	return n
}

// endsClause reports whether a clause of s ends at i.
func endsClause(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	switch r {
	case '，', '。', '；', '：', '！', '？', '、', '—', '–', '\n':
		return true
	case ',', ';', ':', '!', '?', '.':
		next, _ := utf8.DecodeRuneInString(s[i:])
		return unicode.IsSpace(next) && (r != '.' || !abbreviated(s[:i-1], s[i:]))
	}
	return false
}

// isSeparator reports whether r is dropped before an ellipsis.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(",;:.!?，。；：！？、…—–-(（[【「『“‘", r)
}
