package text

import "unicode/utf8"

// Terms returns the lexical terms of s in text order, repeats included: words
// and numbers of the folded text, English words stemmed ([EachTerm] says how),
// and of each run of Han characters every character and every pair of
// neighbours.
func Terms(s string) []string {
	terms := []string{}
	EachTerm(AppendFold(nil, s), func(term []byte) {
		terms = append(terms, string(term))
	})
	return terms
}

// EachTerm calls yield with each lexical term of folded, which must be the
// result of [Fold] or [AppendFold], in text order and without allocating.
//
// A term is a part of folded, valid only until yield returns. Where a stem ends
// in another letter than the word did ("cities" and "city" both give "citi"),
// that byte of folded is changed during the call of yield and restored after
// it: folded must not be read by anyone else meanwhile, and holds what it held
// when EachTerm returns.
//
// Words of ASCII letters are stemmed by steps 1 and 5 of Porter's algorithm (An
// algorithm for suffix stripping, Program 14(3), 1980): plurals, -ed, -ing,
// final y and final e. Derivations such as -ation stay apart.
func EachTerm(folded []byte, yield func(term []byte)) { eachTerm(folded, true, yield) }

// EachKey is [EachTerm] without the single characters of longer runs of Han,
// which stand in so many words that they tell little: for lexical indexes.
func EachKey(folded []byte, yield func(term []byte)) { eachTerm(folded, false, yield) }

func eachTerm(folded []byte, singles bool, yield func(term []byte)) {
	run := 0 // Han characters before i
	for i := 0; i < len(folded); {
		r, n := utf8.DecodeRune(folded[i:])
		if !IsHan(r) {
			run = 0
		}
		switch {
		case IsHan(r):
			next, m := utf8.DecodeRune(folded[i+n:])
			if singles || run == 0 && !IsHan(next) {
				yield(folded[i : i+n])
			}
			if IsHan(next) {
				yield(folded[i : i+n+m])
			}
			run++
			i += n
		case isWord(r):
			end := wordEnd(folded, i)
			yieldStem(folded[i:end], yield)
			i = end
		default:
			i += n
		}
	}
}

// wordEnd returns where the word that begins at i ends.
func wordEnd(folded []byte, i int) int {
	for i < len(folded) {
		r, n := utf8.DecodeRune(folded[i:])
		if IsHan(r) || !isWord(r) {
			break
		}
		i += n
	}
	return i
}

func yieldStem(word []byte, yield func(term []byte)) {
	n, last := stem(word)
	kept := word[n-1]
	word[n-1] = last
	yield(word[:n])
	word[n-1] = kept
}
