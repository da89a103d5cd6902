package domains

import (
	"fmt"
	"sort"
	"strings"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// IndexOptions says how [AppendIndex] writes the index.
type IndexOptions struct {
	Limit int    // characters of the whole text, for Chinese, other text three times as many; 0 means [IndexLimit], negative no limit
	Lang  string // "en" or "zh" forces the language of the fixed words; "" takes each domain's own
	// Count gives the number of skills to show, such as those one agent may use; a domain
	// with none is left out. Nil means len(d.Members).
	Count func(d *Domain) int
}

// shortest is below how many characters, for Chinese, descriptions are left out rather
// than shortened further.
const shortest = 4

// AppendIndex appends layer 1: one [Line] a domain in the order of ds, separated by line
// ends. Where the whole is over the limit, first the longest descriptions are shortened to
// one length, then all are left out, then the list ends in "and N more domains". It returns
// how many domains have a line. The text depends on nothing but the arguments, so that a
// prompt that begins with it can be cached. A nil o means the zero IndexOptions.
func AppendIndex(dst []byte, ds []Domain, o *IndexOptions) (out []byte, shown int) {
	if o == nil {
		o = &IndexOptions{}
	}
	entries := make([]entry, 0, len(ds))
	for i := range ds {
		n := len(ds[i].Members)
		if o.Count != nil {
			n = o.Count(&ds[i])
		}
		if n > 0 {
			entries = append(entries, newEntry(&ds[i], n, o.Lang))
		}
	}
	limit := o.Limit
	if limit == 0 {
		limit = IndexLimit
	}
	x := index{entries: entries, lang: o.Lang}
	whole := x.compose(len(entries), -1)
	if limit < 0 {
		return append(dst, whole...), len(entries)
	}
	most := text.Limit(whole, limit)
	if text.Len(whole) <= most {
		return append(dst, whole...), len(entries)
	}
	fitted, shown := x.fit(most)
	// What was left out may have been the larger, Latin part of a mixed index.
	if now := text.Limit(fitted, limit); now < most && text.Len(fitted) > now {
		fitted, shown = x.fit(now)
	}
	return append(dst, fitted...), shown
}

// Line returns the line of one domain with n skills, without a line end:
//
//   - name (contains N skills), mainly handles: DESCRIPTION
//
// in Chinese for a Chinese domain or lang "zh", in English for lang "en". A description of
// more than 100 characters, three times that if not Chinese, is cut.
func Line(d *Domain, n int, lang string) string {
	const most = 100
	e := newEntry(d, n, lang)
	return e.line(text.Limit(e.description, most))
}

// entry is a domain ready to be written: safe single lines and their lengths.
type entry struct {
	head        string // "- name (contains N skills)"
	label       string // ", mainly handles: "
	description string

	headLen, labelLen, descriptionLen int

	unit int // characters of the description for one Chinese character: 1 or 3
}

func newEntry(d *Domain, n int, lang string) entry {
	e := entry{description: safe(d.Description)}
	name := safe(d.Name)
	if lang == "zh" || lang != "en" && isChinese(name+e.description) {
		e.head = fmt.Sprintf("- %s（包含 %d 个技能）", name, n)
		e.label = "，主要处理："
	} else {
		noun := "skills"
		if n == 1 {
			noun = "skill"
		}
		e.head = fmt.Sprintf("- %s (contains %d %s)", name, n, noun)
		e.label = ", mainly handles: "
	}
	e.headLen, e.labelLen, e.descriptionLen = text.Len(e.head), text.Len(e.label), text.Len(e.description)
	e.unit = text.Limit(e.description, 1)
	return e
}

// safe returns catalog text as one line without hidden characters and without the tags of
// prompt blocks.
func safe(s string) string {
	s, _ = text.Clean(s)
	return definitions.Escape(oneLine(s))
}

// line writes e with a description of at most most characters; negative: any length.
func (e *entry) line(most int) string {
	description := e.description
	if most >= 0 {
		description = text.Cut(description, most)
	}
	if description == "" {
		return e.head
	}
	return e.head + e.label + description
}

// index is layer 1 before it is written.
type index struct {
	entries []entry
	lang    string
}

// compose joins the first n lines, their descriptions cut to most characters (for Chinese;
// negative: whole, 0: none).
func (x *index) compose(n, most int) string {
	var b strings.Builder
	for i := range x.entries[:n] {
		if i > 0 {
			b.WriteByte('\n')
		}
		e := &x.entries[i]
		b.WriteString(e.line(most * e.unit))
	}
	return b.String()
}

// length is at least the length of what compose writes of all lines.
func (x *index) length(most int) int {
	n := 0
	for i := range x.entries {
		e := &x.entries[i]
		n += e.headLen
		if most > 0 && e.description != "" {
			n += e.labelLen + min(e.descriptionLen, most*e.unit)
		}
	}
	return n
}

// fit makes the index fit in most characters.
func (x *index) fit(most int) (fitted string, shown int) {
	if x.length(0) > most {
		return x.cut(most)
	}
	// The longest common length of descriptions that fits.
	n := sort.Search(maxDescription, func(n int) bool { return x.length(n+1) > most })
	if n < shortest {
		n = 0
	}
	return x.compose(len(x.entries), n), len(x.entries)
}

// cut writes as many lines without description as fit, and how many are left out.
func (x *index) cut(most int) (fitted string, shown int) {
	room := most - text.Len(x.more(len(x.entries)))
	if room < 0 {
		return "", 0
	}
	for room >= x.entries[shown].headLen { // ends before the last, because not all fit
		room -= x.entries[shown].headLen
		shown++
	}
	last := x.more(len(x.entries) - shown)
	if shown == 0 {
		return last, 0
	}
	return x.compose(shown, 0) + "\n" + last, shown
}

// more is the last line where n domains are left out.
func (x *index) more(n int) string {
	if x.lang == "zh" || x.lang != "en" && isChinese(x.compose(len(x.entries), 0)) {
		return fmt.Sprintf("另有 %d 个领域", n)
	}
	if n == 1 {
		return "and 1 more domain"
	}
	return fmt.Sprintf("and %d more domains", n)
}
