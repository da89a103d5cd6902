package text

import (
	"unicode"
	"unicode/utf8"
)

// chineseShare is the [HanShare] from which a text counts as Chinese: names of
// products and file formats stay Latin in a Chinese sentence.
const chineseShare = 0.3

// lettersPerHan is how many Latin letters say what one Han character says, by
// which limits given in Han characters are stretched for other text.
const lettersPerHan = 3

// IsHan reports whether r is a Chinese character of U+3400–U+9FFF, the range
// that the built-in embedder and the lexical index segment by character.
func IsHan(r rune) bool {
	return 0x3400 <= r && r <= 0x9FFF
}

// HanShare returns which share of the letters of s is Han, 0 to 1; 0 for a text
// without letters.
func HanShare(s string) float64 {
	han, letters := 0, 0
	for _, r := range s {
		switch {
		case IsHan(r):
			han++
			letters++
		case unicode.IsLetter(r):
			letters++
		}
	}
	if letters == 0 {
		return 0
	}
	return float64(han) / float64(letters)
}

// Len returns the length of s as all limits count it: code points that are not
// white space.
func Len(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// Limit returns how long s may be, in the characters of [Len], where a Chinese
// text may have zh: zh itself if s is Chinese (three tenths of its letters or
// more are Han), otherwise 3·zh.
func Limit(s string, zh int) int {
	if HanShare(s) >= chineseShare {
		return zh
	}
	return lettersPerHan * zh
}

// Words counts the words of s: each Han character is one, and so is each run of
// other letters and digits. Apostrophes do not end a word, hyphens do.
func Words(s string) int {
	n, inside := 0, false
	for i, r := range s {
		switch {
		case IsHan(r):
			n++
			inside = false
		case isWord(r):
			if !inside {
				n++
			}
			inside = true
		case inside && isApostrophe(r) && startsWord(s[i+utf8.RuneLen(r):]):
		default:
			inside = false
		}
	}
	return n
}

// isWord reports whether r belongs to a word: letters, numbers and their marks,
// Han included.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// startsWord reports whether s begins with a letter or digit that is not Han.
func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isWord(r) && !IsHan(r)
}

func isApostrophe(r rune) bool {
	return r == '\'' || r == '\u2019' || r == '\uFF07'
}
