package embed

import (
	"unicode/utf8"

	"skillrouter/internal/text"
)

// appendTokens appends the tokens of folded text in text order. A run of a–z is
// one token if the vocabulary has it, else its pieces; a digit alone is itself,
// a longer number "<num>"; of a run of Han characters every substring that the
// vocabulary has is a token, by where it begins, shorter first. Nothing else
// counts.
func (v *vocabulary) appendTokens(dst []token, folded []byte) []token {
	for i := 0; i < len(folded); {
		switch c := folded[i]; {
		case isLetter(c):
			end := i + 1
			for end < len(folded) && isLetter(folded[end]) {
				end++
			}
			dst = v.appendWord(dst, folded[i:end])
			i = end
		case isDigit(c):
			end := i + 1
			for end < len(folded) && isDigit(folded[end]) {
				end++
			}
			t := v.number
			if end == i+1 {
				t = v.digits[c-'0']
			}
			if t >= 0 {
				dst = append(dst, token(t))
			}
			i = end
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(folded[i:])
			if text.IsHan(r) {
				dst = v.appendHan(dst, folded[i:])
			}
			i += n
		}
	}
	return dst
}

// appendWord appends the token of word, or its pieces.
func (v *vocabulary) appendWord(dst []token, word []byte) []token {
	if len(word) <= longestWord {
		h := hashWord
		for _, c := range word {
			h = hash(h, uint32(c))
		}
		if t, ok := v.find(h, word, false); ok {
			return append(dst, t)
		}
	}
	for p := 0; p < len(word); {
		t, n := v.longest(word[p:], p > 0)
		if n == 0 {
			p++ // no piece begins with this letter
			continue
		}
		dst = append(dst, t)
		p += n
	}
	return dst
}

// longest returns the longest token that rest, the part of a word that is left,
// begins with, and its length; 0 if there is none. A single letter counts only
// as the last of the word.
func (v *vocabulary) longest(rest []byte, piece bool) (t token, n int) {
	var hashes [longestWord + 1]uint32 // of the first n letters
	hashes[0] = hashWord
	if piece {
		hashes[0] = hashPiece
	}
	most := min(len(rest), longestWord)
	for n := range most {
		hashes[n+1] = hash(hashes[n], uint32(rest[n]))
	}
	for n := most; n > 1 || n == len(rest); n-- {
		if t, ok := v.find(hashes[n], rest[:n], piece); ok {
			return t, n
		}
	}
	return 0, 0
}

// appendHan appends the Chinese tokens that rest begins with.
func (v *vocabulary) appendHan(dst []token, rest []byte) []token {
	h, end := hashWord, 0
	for range longestHan {
		r, n := utf8.DecodeRune(rest[end:])
		if !text.IsHan(r) {
			break
		}
		h = hash(h, uint32(r))
		end += n
		if t, ok := v.find(h, rest[:end], false); ok {
			dst = append(dst, t)
		}
	}
	return dst
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
