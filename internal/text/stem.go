package text

// longestStemmed is how many letters a word that is stemmed has at most: longer
// ones are not English, and the rules look at a word several times.
const longestStemmed = 32

// stem returns the stem of a folded word as the length that stays of it and the
// letter that stands last there; the others are the word's own. Words with
// anything but a–z and the few that the rules would confuse with others stay
// whole; of a word of three letters or more, three stay at least.
func stem(word []byte) (n int, last byte) {
	n = len(word)
	last = word[n-1]
	if n < 3 || n > longestStemmed || !isLower(word) {
		return n, last
	}
	switch string(word) {
	case "news", "embed":
		return n, last
	}
	n = cutPlural(word)
	n, last = cutPast(word[:n])
	if last == 'y' && !isVowel(word, n-2) { // step 1c, only after a consonant
		last = 'i'
	}
	return cutFinal(word[:n], last)
}

func isLower(word []byte) bool {
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// cutPlural is Porter's step 1a, which here leaves -us and -is alone (status,
// analysis) and takes -uses to -us.
func cutPlural(word []byte) int {
	n := len(word)
	if n < 4 || word[n-1] != 's' {
		return n
	}
	switch word[n-2] {
	case 's', 'u', 'i':
		return n
	case 'e':
		if n > 4 && (word[n-3] == 'i' || hasSuffix(word, "uses")) {
			return n - 2
		}
	}
	return n - 1
}

// cutPast is step 1b: -eed, -ed, -ing.
func cutPast(word []byte) (n int, last byte) {
	n = len(word)
	last = word[n-1]
	switch {
	case hasSuffix(word, "eed"):
		if measure(word[:n-3]) > 0 {
			return n - 1, 'e'
		}
		return n, last
	case hasSuffix(word, "ed") && n >= 5 && hasVowel(word[:n-2]):
		n -= 2
	case hasSuffix(word, "ing") && n >= 6 && hasVowel(word[:n-3]):
		n -= 3
	default:
		return n, last
	}
	cut := word[:n]
	last = cut[n-1]
	switch {
	case hasSuffix(cut, "at"), hasSuffix(cut, "bl"), hasSuffix(cut, "iz"),
		measure(cut) == 1 && endsShort(cut):
		return n + 1, 'e' // overwrites the first letter of what was cut off
	case endsDouble(cut) && last != 'l' && last != 's' && last != 'z' && n > 3:
		return n - 1, last
	}
	return n, last
}

// cutFinal is step 5: a final -e, and one l of a final -ll, of a stem that is
// long enough.
func cutFinal(word []byte, last byte) (int, byte) {
	n := len(word)
	if n <= 3 {
		return n, last
	}
	cut := word[:n-1]
	switch last {
	case 'e':
		if m := measure(cut); m > 1 || m == 1 && !endsShort(cut) {
			return n - 1, cut[n-2]
		}
	case 'l':
		if cut[n-2] == 'l' && measure(cut) > 1 {
			return n - 1, 'l'
		}
	}
	return n, last
}

func hasSuffix(word []byte, suffix string) bool {
	return len(word) >= len(suffix) && string(word[len(word)-len(suffix):]) == suffix
}

// isVowel reports whether word[i] is a vowel; y is one after a consonant.
func isVowel(word []byte, i int) bool {
	switch word[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !isVowel(word, i-1)
	}
	return false
}

func hasVowel(word []byte) bool {
	for i := range word {
		if isVowel(word, i) {
			return true
		}
	}
	return false
}

// measure is Porter's m: how many times a vowel is followed by a consonant.
func measure(word []byte) int {
	m, vowel := 0, false
	for i := range word {
		v := isVowel(word, i)
		if vowel && !v {
			m++
		}
		vowel = v
	}
	return m
}

// endsShort is Porter's *o: consonant, vowel, consonant other than w, x, y.
func endsShort(word []byte) bool {
	n := len(word)
	if n < 3 || isVowel(word, n-3) || !isVowel(word, n-2) || isVowel(word, n-1) {
		return false
	}
	c := word[n-1]
	return c != 'w' && c != 'x' && c != 'y'
}

// endsDouble reports whether word ends in the same consonant twice.
func endsDouble(word []byte) bool {
	n := len(word)
	return n >= 2 && word[n-1] == word[n-2] && !isVowel(word, n-1)
}
