package text

import "unicode/utf8"

// Tokens estimates how many tokens of a language model a text takes: 1 for a
// Han character, 1 for 4 bytes of other text, rounded up. Tokenizers differ by
// some 30% either way, so it is for comparing texts, not for bills.
func Tokens(s string) int { return (TokenQuarters(s) + 3) / 4 }

// TokenQuarters is the estimate in quarters of a token, which add up over parts
// of a text.
func TokenQuarters(s string) int {
	n := 0
	for _, r := range s {
		if IsHan(r) {
			n += 4
		} else {
			n += utf8.RuneLen(r)
		}
	}
	return n
}
