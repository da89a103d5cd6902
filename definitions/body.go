package definitions

import (
	"slices"
	"strings"

	"skillrouter/internal/text"
)

const (
	maxHeadings = 24
	maxUses     = 16
	maxLead     = 1024    // counted characters of a lead
	maxPlain    = 8 << 10 // bytes of a paragraph that are looked at; a line may be as long as the file
	maxLink     = 1 << 10 // bytes of a Markdown link
)

// splitBody cuts a body at the first line "<!-- extended -->" outside code
// fences. Without such a line all of it is core.
func splitBody(body string) (core, extension string) {
	if !strings.Contains(body, "<!--") {
		return body, ""
	}
	fence, at := "", 0
	for line := range strings.SplitAfterSeq(body, "\n") {
		trimmed := strings.TrimSpace(line)
		fence = nextFence(fence, trimmed)
		if fence == "" && isExtensionMark(trimmed) {
			return body[:at], body[at+len(line):]
		}
		at += len(line)
	}
	return body, ""
}

func isExtensionMark(line string) bool {
	inner, ok := strings.CutPrefix(line, "<!--")
	if !ok {
		return false
	}
	inner, ok = strings.CutSuffix(inner, "-->")
	return ok && strings.EqualFold(strings.TrimSpace(inner), "extended")
}

// nextFence follows code fences: fence is the open one before a trimmed line,
// "" for none, the result the one after it. A fence is closed by one of the
// same sign that is at least as long and stands alone.
func nextFence(fence, line string) string {
	if !isFence(line) {
		return fence
	}
	run := line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	if fence == "" {
		return run
	}
	if run[0] == fence[0] && len(run) >= len(fence) && run == line {
		return ""
	}
	return fence
}

// An outline is what routing uses of a body.
type outline struct {
	lead     string
	headings []string
	uses     []string
}

// A reader goes through a body line by line.
type reader struct {
	outline
	paragraph []string // lines of the paragraph being read
	item      string   // the list item being read
	firstItem string   // a lead for want of prose
	useLevel  int      // level of the "when to use" heading we are below; 0: none
}

// outlineOf reads a body's lead, headings and uses.
func outlineOf(body string) outline {
	var b reader
	fence, comment := "", false
	for line := range strings.SplitSeq(skipSecondFront(body), "\n") {
		trimmed := strings.TrimSpace(line)
		was := fence
		if fence = nextFence(fence, trimmed); fence != "" || was != "" {
			b.flush()
			continue
		}
		if comment || strings.HasPrefix(trimmed, "<!--") {
			b.flush()
			comment = !strings.Contains(trimmed, "-->")
			continue
		}
		b.line(line, trimmed)
	}
	b.flush()
	if b.lead == "" {
		b.lead = b.firstItem
	}
	// Copies, so that an outline does not keep the body in memory.
	b.lead = strings.Clone(text.Cut(b.lead, maxLead))
	return b.outline
}

// skipSecondFront drops a second front matter block at the top of a body; it
// is left behind by tools that put their own in front.
func skipSecondFront(body string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(body, " \t\n"), "---\n")
	if !ok {
		return body
	}
	head, after, ok := strings.Cut(rest, "\n---\n")
	if first, _, _ := strings.Cut(rest, "\n"); !ok || keyOf(first) == "" || len(head) > 8<<10 {
		return body
	}
	return after
}

// line takes the next line outside fences and comments.
func (b *reader) line(line, trimmed string) {
	if isHeading(trimmed) {
		b.flush()
		b.heading(trimmed)
		return
	}
	for strings.HasPrefix(trimmed, ">") {
		trimmed = strings.TrimSpace(trimmed[1:])
	}
	if trimmed == "" || isDecoration(trimmed) {
		b.flush()
		return
	}
	if item, ok := listItem(trimmed); ok {
		b.flush()
		b.item = item
		return
	}
	indented := line[0] == ' ' || line[0] == '\t'
	switch {
	case b.item != "":
		if len(b.item) < maxPlain {
			b.item += " " + trimmed
		}
	case strings.HasPrefix(line, "    ") || line[0] == '\t':
		// Indented code, or a paragraph of a list item.
	case !indented || len(b.paragraph) > 0 || len(line)-len(trimmed) < 4:
		b.paragraph = append(b.paragraph, trimmed)
	}
}

// heading takes a heading.
func (b *reader) heading(line string) {
	name := strings.TrimLeft(line, "#")
	level := len(line) - len(name)
	name = plain(strings.TrimRight(strings.TrimSpace(name), "# "))
	if name == "" {
		return
	}
	if level <= 3 && len(b.headings) < maxHeadings {
		b.headings = append(b.headings, strings.Clone(name))
	}
	switch yes, no := useHeading(name); {
	case no:
		b.useLevel = 0
	case yes:
		b.useLevel = level
	case level <= b.useLevel:
		b.useLevel = 0
	}
}

// flush ends the paragraph or list item being read.
func (b *reader) flush() {
	if item := plain(b.item); item != "" {
		if b.firstItem == "" {
			b.firstItem = item
		}
		if b.useLevel > 0 {
			b.use(item)
		}
	}
	b.item = ""
	if len(b.paragraph) == 0 {
		return
	}
	lines := b.paragraph
	b.paragraph = nil
	whole := plain(strings.Join(lines, " "))
	if whole == "" || len(lines) > 1 && !slices.ContainsFunc(lines, func(l string) bool { return !isKeyLine(l) }) {
		return
	}
	if b.lead == "" {
		b.lead = whole
	}
	if b.useLevel > 0 {
		for _, s := range text.Sentences(whole) {
			b.use(s)
		}
	}
}

func (b *reader) use(s string) { b.uses = addUse(b.uses, s) }

// addUse adds one use to uses. Headings of lists, and items that say when not
// to use the skill, are left out.
func addUse(uses []string, s string) []string {
	s = strings.TrimSpace(strings.TrimLeft(s, "✅✓✔️☑ "))
	if s == "" || len(uses) >= maxUses || slices.Contains(uses, s) || strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") {
		return uses
	}
	folded := text.Fold(s)
	for _, no := range []string{"❌", "✗", "🚫", "do not ", "dont ", "not ", "never ", "avoid ", "请勿", "不要", "勿", "不适用", "避免"} {
		if strings.HasPrefix(folded, no) {
			return uses
		}
	}
	return append(uses, strings.Clone(s))
}

// addUses adds the uses of a text: a list, or sentences.
func addUses(uses []string, s string) []string {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if item, ok := listItem(line); ok {
			uses = addUse(uses, plain(item))
			continue
		}
		for _, sentence := range text.Sentences(plain(line)) {
			uses = addUse(uses, sentence)
		}
	}
	return uses
}

// useHeading reports whether a heading says that what follows tells when to
// use the skill, or when not to.
func useHeading(name string) (yes, no bool) {
	name = text.Fold(name)
	for _, s := range []string{
		"when to use", "when to apply", "when to activate", "when to invoke", "when to trigger", "when to call", "when to run",
		"when should", "when you should", "use when", "use this when", "use this skill", "use case", "trigger phrase", "trigger word",
		"trigger condition", "trigger keyword", "activation", "使用场景", "使用場景", "适用场景", "適用場景", "应用场景", "應用場景",
		"何时使用", "何時使用", "什么时候", "什麼時候", "何时", "触发", "觸發", "使用时机", "使用時機", "适用于", "適用於", "适用范围", "用例",
	} {
		yes = yes || strings.Contains(name, s)
	}
	yes = (yes || name == "triggers" || name == "trigger") && !strings.HasPrefix(name, "how ")
	for _, s := range []string{" not ", "dont", "avoid", "不", "勿", "避免"} {
		no = no || strings.Contains(" "+name+" ", s)
	}
	return yes && !no, no && (yes || strings.Contains(name, "use"))
}

// isDecoration reports whether a trimmed line carries no prose: a rule, a
// table, an image or badge, an HTML tag, a callout mark.
func isDecoration(line string) bool {
	switch line[0] {
	case '|', '<':
		return true
	case '-', '=', '*', '_':
		if len(line) > 2 && strings.Trim(line, line[:1]+" ") == "" {
			return true
		}
	}
	if strings.HasPrefix(line, "[!") {
		return true
	}
	return strings.HasPrefix(line, "![") && plain(line) == ""
}

// listItem returns the text of a line that is a list item.
func listItem(line string) (string, bool) {
	var rest string
	switch {
	case len(line) > 2 && strings.ContainsRune("-*+", rune(line[0])) && (line[1] == ' ' || line[1] == '\t'):
		rest = line[2:]
	case strings.HasPrefix(line, "• "):
		rest = strings.TrimPrefix(line, "• ")
	default:
		digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
		if digits == 0 || digits > 3 || len(line) < digits+2 || line[digits] != '.' && line[digits] != ')' || line[digits+1] != ' ' {
			return "", false
		}
		rest = line[digits+2:]
	}
	rest = strings.TrimSpace(rest)
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		rest = strings.TrimPrefix(rest, box)
	}
	return rest, rest != ""
}

// isKeyLine reports whether a line is like "**Version**: 1.0": data about the
// file rather than prose.
func isKeyLine(line string) bool {
	line = strings.TrimLeft(line, "*_ ")
	key, _, ok := strings.Cut(line, ":")
	if !ok {
		key, _, ok = strings.Cut(line, "：")
	}
	return ok && len(strings.Fields(key)) <= 3 && len(key) <= 40
}

// plain takes Markdown's marks from a line: emphasis, code, links, images,
// HTML tags.
func plain(s string) string {
	if len(s) > maxPlain {
		s = strings.ToValidUTF8(s[:maxPlain], "")
	}
	if !strings.ContainsAny(s, "*_`[<\\") {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '`':
		case '*':
			if i > 0 && i+1 < len(s) && s[i-1] == ' ' && s[i+1] == ' ' {
				b.WriteByte(c)
			}
		case '_':
			if i > 0 && i+1 < len(s) && isWord(s[i-1]) && isWord(s[i+1]) {
				b.WriteByte(c)
			}
		case '\\':
			if i+1 < len(s) && strings.IndexByte("\\`*_[]<>#|", s[i+1]) >= 0 {
				i++
			}
			b.WriteByte(s[i])
		case '<':
			if n := strings.IndexByte(s[i:min(len(s), i+200)], '>'); n > 1 && (isLetter(s[i+1]) || s[i+1] == '/') {
				i += n
				continue
			}
			b.WriteByte(c)
		case '!':
			if _, n := link(s[i+1:]); n > 0 {
				i += n
				continue
			}
			b.WriteByte(c)
		case '[':
			label, n := link(s[i:])
			if n == 0 {
				b.WriteByte(c)
				continue
			}
			b.WriteString(strings.Trim(label, "*`_"))
			i += n - 1
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// link reads "[label](target)" at the start of s and returns its length, 0 for
// none.
func link(s string) (label string, length int) {
	s = s[:min(len(s), maxLink)]
	end := strings.Index(s, "](")
	if end < 0 || s[0] != '[' || strings.Contains(s[1:end], "[") {
		return "", 0
	}
	stop := strings.IndexByte(s[end:], ')')
	if stop < 0 {
		return "", 0
	}
	return s[1:end], end + stop + 1
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c >= 0x80 }
