package router

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostNamed is how many skills one utterance may name outright.
const mostNamed = 3

// direct returns the skills that the utterance names outright, in the order it
// names them: the whole utterance is a name; or /name, $name or `name` stands
// in it; or a name with a hyphen or underscore does. A plain word such as
// "build" is not a name here, it is evidence only, and neither is a part of a
// path or address. Skills that were left out count again once named; those the
// asker may not see never do.
func (s *snapshot) direct(utterance string, a *asker) []int32 {
	var named []int32
	add := func(name string) bool {
		i, ok := s.ix.Lookup(name)
		if !ok || a.allow != nil && !a.allow[i] || slices.Contains(a.unread, i) {
			return false
		}
		if !slices.Contains(named, i) && len(named) < mostNamed {
			named = append(named, i)
		}
		return true
	}
	if whole := strings.TrimSpace(utterance); add(whole) || add(strings.TrimLeft(whole, "/$")) {
		return named
	}
	for rest := utterance; rest != ""; {
		if name, after, ok := quoted(rest); ok {
			add(strings.TrimLeft(name, "/$"))
			rest = after
			continue
		}
		// A word is what stands between blanks, punctuation and Han, which is
		// written without blanks.
		n := strings.IndexFunc(rest, func(r rune) bool { return !nameRune(r) && !pathRune(r) })
		switch n {
		case 0:
			_, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
			continue
		case -1:
			n = len(rest)
		}
		word, after := rest[:n], rest[n:]
		rest = after
		if mark := word[0]; mark == '/' || mark == '$' {
			// A name that is marked may have Han in it.
			end := strings.IndexFunc(after, func(r rune) bool { return !nameRune(r) && !isHan(r) })
			if end < 0 {
				end = len(after)
			}
			if end > 0 && add(trimName(word[1:]+after[:end])) {
				rest = after[end:]
				continue
			}
			word = word[1:]
			add(trimName(word))
		} else if name := trimName(word); strings.ContainsAny(name, "-_") {
			add(name) // of a path only the whole would count, and no skill is called so
		}
	}
	return named
}

// quoted splits "`name` rest".
func quoted(s string) (name, after string, ok bool) {
	if s[0] != '`' {
		return "", "", false
	}
	end := strings.IndexAny(s[1:], "`\n")
	if end < 0 || s[1+end] == '\n' {
		return "", "", false
	}
	return strings.TrimSpace(s[1 : 1+end]), s[end+2:], true
}

// trimName cuts the punctuation of running text off a name.
func trimName(s string) string { return strings.TrimRight(strings.TrimLeft(s, "._:"), ".:-_") }

// nameRune tells whether r goes on a name in running text.
func nameRune(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r == ':' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !isHan(r)
}

// pathRune tells whether r makes a path or address of the names beside it, or
// marks one name at its beginning.
func pathRune(r rune) bool { return r == '/' || r == '\\' || r == '@' || r == '$' || r == '~' }

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }
