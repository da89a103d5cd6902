package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences splits s into sentences in text order: at the full stops, question
// and exclamation marks of Latin and Chinese text and at line ends. White space
// around them and the marks of list items, headings and quotations before them
// ("-", "1.", "一、", "##", ">") are dropped, final punctuation and closing
// quotation marks stay; empty ones are left out. A point inside a number, a
// file name or after a common abbreviation ends nothing.
func Sentences(s string) []string {
	sentences := []string{}
	for line := range strings.Lines(s) {
		line = trimMarker(strings.TrimSpace(line))
		for line != "" {
			n := sentence(line)
			if one := strings.TrimSpace(line[:n]); strings.ContainsFunc(one, isWord) {
				sentences = append(sentences, one)
			}
			line = strings.TrimSpace(line[n:])
		}
	}
	return sentences
}

// sentence returns the length of the first sentence of a line.
func sentence(line string) int {
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
		case '.', '!', '?':
			if r == '.' && abbreviated(line[:i], line[end:]) {
				continue
			}
		default:
			continue
		}
		end += closing(line[end:])
		if next, _ := utf8.DecodeRuneInString(line[end:]); end == len(line) || unicode.IsSpace(next) || r >= utf8.RuneSelf {
			return end
		}
	}
	return len(line)
}

// closing returns the length of the punctuation that still belongs to a
// sentence after its end mark.
func closing(s string) int {
	return len(s) - len(strings.TrimLeft(s, ".!?。！？…\"')]”’）」』】》"))
}

// abbreviated reports whether the point between before and after belongs to an
// abbreviation or to the number of a list item, so that no sentence ends there.
func abbreviated(before, after string) bool {
	word := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	word = strings.TrimLeft(word, "([\"'“‘")
	switch strings.ToLower(word) {
	case "e.g", "i.e", "eg", "ie", "cf", "vs", "approx", "incl", "resp", "mr", "mrs", "ms", "dr", "st", "prof", "fig", "a.k.a":
		return true
	case "etc", "no", "a.m", "p.m", "u.s", "inc", "ltd", "co":
		// These end a sentence as well, unless it plainly goes on.
		next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, unicode.IsSpace))
		return unicode.IsLower(next) || unicode.IsDigit(next)
	}
	return word == before && word != "" && strings.Trim(word, "0123456789") == ""
}

// trimMarker cuts the marks of list items, headings and quotations off the
// beginning of a line, nested ones too.
func trimMarker(line string) string {
	for {
		n := marker(line)
		if n == 0 {
			return line
		}
		line = strings.TrimSpace(line[n:])
	}
}

// marker returns the length of the mark that line begins with.
func marker(line string) int {
	r, n := utf8.DecodeRuneInString(line)
	switch {
	case strings.ContainsRune("•·●○■▪◦‣", r):
		return n
	case r == '-', r == '*', r == '+', r == '>', r == '#':
		rest := strings.TrimLeft(line, line[:n])
		if rest == "" || r == '>' || unicode.IsSpace(rune(rest[0])) {
			return len(line) - len(rest)
		}
		return 0
	case r == '（', r == '(':
		if m := ordinal(line[n:]); m > 0 {
			if c, size := utf8.DecodeRuneInString(line[n+m:]); c == '）' || c == ')' {
				return n + m + size
			}
		}
		return 0
	}
	m := ordinal(line)
	if m == 0 {
		return 0
	}
	switch c, size := utf8.DecodeRuneInString(line[m:]); c {
	case '、', '）', '．':
		return m + size
	case '.', ')':
		if rest := line[m+size:]; rest == "" || rest[0] == ' ' || rest[0] == '\t' {
			return m + size
		}
	}
	return 0
}

// ordinal returns the length of the number of a list item, up to three digits
// or Chinese numerals.
func ordinal(s string) int {
	end, count := 0, 0
	for i, r := range s {
		if !strings.ContainsRune("0123456789一二三四五六七八九十", r) {
			break
		}
		if count++; count > 3 {
			return 0
		}
		end = i + utf8.RuneLen(r)
	}
	return end
}
