// Package text is how the module reads text: one folded form in which all
// matching is done, words and Han segmentation, lengths counted the same way
// for English and Chinese, cutting, and the removal of characters that a
// reader cannot see. Everything is a pure function, safe for concurrent use
// unless its comment says otherwise.
package text

import (
	_ "embed" // the table below
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s in the form in which all matching is done: compatibility
// decomposition (NFKD), lower case, no combining marks, no straight or curly
// (U+2019) apostrophes, simplified Chinese characters, so that "Café", "cafe"
// and "ＣＡＦＥ" are equal, and so are "審查" and "审查".
// A byte that is not valid UTF-8 becomes U+FFFD; the result is always valid.
// Folding twice changes nothing.
//
// It is the fold of the pipeline that made the built-in embedding table, except
// that the Greek final sigma becomes a plain one, since a word should match in
// capitals too, and that traditional Chinese characters become simplified ones:
// the table knows no Greek and hardly any of those.
func Fold(s string) string {
	if i := unfolded(s); i == len(s) {
		return s
	}
	return string(AppendFold(make([]byte, 0, len(s)), s))
}

// unfolded returns the index of the first byte that folding may change.
func unfolded(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' || c == '\'' {
			return i
		}
	}
	return len(s)
}

// AppendFold appends [Fold] of s to dst. It allocates only where dst has no
// room; the folded form is seldom longer than s.
func AppendFold(dst []byte, s string) []byte {
	// Normalising first and lowering then, as the reference does, is the same
	// as decomposing rune by rune: marks, whose order is all that composition
	// could change, are dropped anyway.
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c < utf8.RuneSelf:
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != '\'' {
				dst = append(dst, c)
			}
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if IsHan(r) {
				dst = utf8.AppendRune(dst, simplify(r))
			} else {
				dst = appendFoldedRune(dst, r, norm.NFKD.PropertiesString(s[i:]))
			}
			i += n
		}
	}
	return dst
}

// simplified holds, for each code point from simplifiedFirst on, two bytes,
// little-endian: the simplified character, 0 where it is the same. Made by
// internal/text/gen from a table of OpenCC.
//
//go:embed simplified.bin
var simplified string

const simplifiedFirst = 0x3400

// simplify returns the simplified character of r, which is Han; r if it is one.
func simplify(r rune) rune {
	i := 2 * int(r-simplifiedFirst)
	if to := rune(simplified[i]) | rune(simplified[i+1])<<8; to != 0 {
		return to
	}
	return r
}

// appendFoldedRune appends the folded form of r, a rune beyond ASCII whose
// normalisation properties are p.
func appendFoldedRune(dst []byte, r rune, p norm.Properties) []byte {
	if r == utf8.RuneError {
		return utf8.AppendRune(dst, r) // an invalid byte, or U+FFFD itself
	}
	if hangulFirst <= r && r <= hangulLast {
		return appendJamo(dst, r)
	}
	full := p.Decomposition()
	if full == nil {
		if p.CCC() != 0 {
			return dst
		}
		return appendLower(dst, r)
	}
	for i := 0; i < len(full); {
		d, n := utf8.DecodeRune(full[i:])
		if d < utf8.RuneSelf || norm.NFKD.Properties(full[i:]).CCC() == 0 {
			dst = appendLower(dst, d)
		}
		i += n
	}
	return dst
}

func appendLower(dst []byte, r rune) []byte {
	switch r = unicode.ToLower(r); {
	case r == '\'' || r == '\u2019':
		return dst
	case r == 'ς':
		r = 'σ'
	case IsHan(r):
		r = simplify(r) // of a compatibility ideograph
	}
	return utf8.AppendRune(dst, r)
}

// Hangul syllables decompose by arithmetic (Unicode, section 3.12); the tables
// of x/text leave them out.
const (
	hangulFirst = 0xAC00
	hangulLast  = 0xD7A3
	jamoL       = 0x1100
	jamoV       = 0x1161
	jamoT       = 0x11A7
	jamoVCount  = 21
	jamoTCount  = 28
)

func appendJamo(dst []byte, r rune) []byte {
	s := r - hangulFirst
	dst = utf8.AppendRune(dst, jamoL+s/(jamoVCount*jamoTCount))
	dst = utf8.AppendRune(dst, jamoV+s%(jamoVCount*jamoTCount)/jamoTCount)
	if t := s % jamoTCount; t != 0 {
		dst = utf8.AppendRune(dst, jamoT+t)
	}
	return dst
}
