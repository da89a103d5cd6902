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
// in it; or a name with a hyphen does. A plain word such as "build" is not a
// name here, it is evidence only. Excluded skills count again once named;
// those the asker may not see never do.
func (s *snapshot) direct(utterance string, a *asker) []int32 {
	var named []int32
	add := func(name string) bool {
		i, ok := s.ix.Lookup(name)
		if !ok || a.allow != nil && !a.allow[i] {
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
			add(name)
			rest = after
			continue
		}
		mark := rest[0]
		if mark == '/' || mark == '$' {
			rest = rest[1:]
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return !nameRune(r) })
		if n < 0 {
			n = len(rest)
		}
		if n == 0 {
			_, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
			continue
		}
		name := strings.Trim(rest[:n], ".:-_")
		if mark == '/' || mark == '$' || strings.Contains(name, "-") {
			// A path such as /usr/git-commit names no skill.
			if !strings.HasPrefix(rest[n:], "/") {
				add(name)
			} else if next := strings.IndexFunc(rest, unicode.IsSpace); next > 0 {
				n = next
			}
		}
		rest = rest[n:]
	}
	return named
}

// quoted splits "`name` rest".
func quoted(s string) (name, after string, ok bool) {
	if s[0] != '`' {
		return "", "", false
	}
	end := strings.IndexByte(s[1:], '`')
	if end < 0 {
		return "", "", false
	}
	return strings.TrimSpace(s[1 : 1+end]), s[end+2:], true
}

// nameRune tells whether r goes on a name in running text. Han does not: a
// name stands between Han characters without blanks.
func nameRune(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r == ':' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.Is(unicode.Han, r)
}
