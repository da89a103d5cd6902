package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	zwnj = '\u200C'
	zwj  = '\u200D'

	blackFlag = '\U0001F3F4' // begins the flag of England and the like
	tagFirst  = 0xE0000
	tagLast   = 0xE007F
	tagEnd    = '\U000E007F'
)

// Clean removes what a reader cannot see but a model reads: tag characters,
// directional controls, zero-width characters, variation selectors that select
// nothing, fillers, and control characters other than newline and tab. "\r\n"
// and "\r" become "\n", an invalid byte U+FFFD. Kept are the selectors, joiners and tags
// of emoji and flags, and joiners between letters of scripts that write with
// them.
//
// hidden says what was removed, in text order, nil for nothing: a run of tag
// characters or of superfluous variation selectors as the ASCII it spells, any
// other character once as its number ("U+200B"). Line ends and invalid bytes
// are not reported.
func Clean(s string) (clean string, hidden []string) {
	first := strings.IndexFunc(s, suspicious)
	if first < 0 {
		return s, nil
	}
	var b strings.Builder
	b.Grow(len(s))
	prev := utf8.RuneError // the last rune kept
	if first > 0 {
		b.WriteString(s[:first])
		prev, _ = utf8.DecodeLastRuneInString(s[:first])
	}
	for i := first; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case !suspicious(r), r == utf8.RuneError:
			b.WriteRune(r)
			prev = r
		case r == '\r':
			if !strings.HasPrefix(s[i+n:], "\n") {
				b.WriteByte('\n')
				prev = '\n'
			}
		case isTag(r):
			n = tagRun(s[i:])
			if prev == blackFlag && isSubdivision(s[i:i+n]) {
				b.WriteString(s[i : i+n])
				prev = tagEnd
			} else {
				hidden = append(hidden, decodeTags(s[i:i+n]))
			}
		case isSelector(r) && selects(prev, r), r == zwj && joins(prev, s[i+n:]), r == zwnj && shapes(prev, s[i+n:]):
			b.WriteRune(r)
			prev = r
		case isSelector(r):
			n = selectorRun(s[i:])
			hidden = append(hidden, decodeSelectors(s[i:i+n]))
		default:
			if name := fmt.Sprintf("U+%04X", r); !slices.Contains(hidden, name) {
				hidden = append(hidden, name)
			}
		}
		i += n
	}
	return b.String(), hidden
}

// suspicious reports whether r is one that Clean must look at.
func suspicious(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7F:
		return false
	case r < 0xA0, r == utf8.RuneError:
		return true
	case r < 0x300:
		return r == 0xAD
	}
	return isSelector(r) || isInvisible(r)
}

// isInvisible reports whether r, at or above U+0300, has no shape of its own and
// no effect that a description needs: Unicode's Default_Ignorable_Code_Point
// without the variation selectors, and the directional and annotation controls.
func isInvisible(r rune) bool {
	switch {
	case r == 0x034F, r == 0x061C, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x180E,
		0x200B <= r && r <= 0x200F, 0x202A <= r && r <= 0x202E, 0x2060 <= r && r <= 0x206F,
		r == 0x3164, r == 0xFEFF, r == 0xFFA0, 0xFFF0 <= r && r <= 0xFFFB,
		0x1BCA0 <= r && r <= 0x1BCA3, 0x1D173 <= r && r <= 0x1D17A, 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return false
}

func isTag(r rune) bool { return tagFirst <= r && r <= tagLast }

func tagRun(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !isTag(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// isSubdivision reports whether tags spell a region such as "gbeng" and end:
// two letters, one to four letters or digits, and the cancel tag (UTS #51,
// annex C). More would be room for a message.
func isSubdivision(tags string) bool {
	code, ended := strings.CutSuffix(tags, string(tagEnd))
	code = decodeTags(code)
	if !ended || len(code) < 3 || len(code) > 6 {
		return false
	}
	for i := range len(code) {
		c := code[i]
		if (c < 'a' || c > 'z') && (i < 2 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// decodeTags returns the ASCII that tag characters spell; the few that stand for
// none are left out, and if nothing is left the first is named by its number.
func decodeTags(tags string) string {
	var b strings.Builder
	for _, r := range tags {
		if c := r - tagFirst; ' ' <= c && c <= '~' {
			b.WriteByte(byte(c))
		}
	}
	if b.Len() == 0 && tags != "" {
		r, _ := utf8.DecodeRuneInString(tags)
		return fmt.Sprintf("U+%04X", r)
	}
	return b.String()
}

// isSelector reports whether r is one of the 256 variation selectors.
func isSelector(r rune) bool {
	return 0xFE00 <= r && r <= 0xFE0F || 0xE0100 <= r && r <= 0xE01EF
}

// selects reports whether the selector r has something to select from in prev:
// one of the first 16 after any visible character, the others only after Han.
// A second selector in a row never has: a run of them carries bytes.
func selects(prev, r rune) bool {
	if r > 0xFFFF {
		return unicode.Is(unicode.Han, prev)
	}
	return prev > ' ' && prev != utf8.RuneError && !suspicious(prev) && !unicode.IsSpace(prev)
}

func selectorRun(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !isSelector(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// decodeSelectors returns the bytes that a run of selectors carries, the nth
// selector standing for byte n-1, if they are printable text, else the number
// of the first.
func decodeSelectors(run string) string {
	var carried []byte
	for _, r := range run {
		if r <= 0xFFFF {
			carried = append(carried, byte(r-0xFE00))
		} else {
			carried = append(carried, byte(r-0xE0100+16))
		}
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if !utf8.Valid(carried) || strings.ContainsFunc(string(carried), unprintable) {
		r, _ := utf8.DecodeRuneInString(run)
		return fmt.Sprintf("U+%04X", r)
	}
	return string(carried)
}

// joins reports whether a zero-width joiner between prev and rest makes one
// emoji of two or shapes letters.
func joins(prev rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return isEmojiPart(prev) && isEmoji(next) || shapes(prev, rest)
}

// shapes reports whether prev and the beginning of rest are letters of the
// scripts from U+0600 to U+1AFF, which are those that write with joiners: Arabic
// and its relatives, Mongolian, those of India and South-East Asia.
func shapes(prev rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return isJoining(prev) && isJoining(next)
}

func isJoining(r rune) bool {
	return 0x0600 <= r && r <= 0x1AFF && !suspicious(r) && unicode.In(r, unicode.Letter, unicode.Mark)
}

// isEmoji covers Unicode's Extended_Pictographic: symbols, and the arrows among
// the mathematical ones.
func isEmoji(r rune) bool {
	return r != utf8.RuneError && unicode.Is(unicode.So, r) || 0x2190 <= r && r <= 0x21FF
}

// isEmojiPart reports whether an emoji may end in r.
func isEmojiPart(r rune) bool {
	return isEmoji(r) || isSkinTone(r) || r == 0xFE0F || r == tagEnd
}

func isSkinTone(r rune) bool { return 0x1F3FB <= r && r <= 0x1F3FF }

func isRegional(r rune) bool { return 0x1F1E6 <= r && r <= 0x1F1FF }
