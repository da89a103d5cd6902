package summaries

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// Of returns the summary of s. What o gives comes first, then what the skill's author
// wrote; both stand as they are, however long, and [Check] reports what is over a limit.
// What neither gives is derived from the description: the sentence from its capability
// and its scene, the triggers from quoted phrases, lists and "use when" clauses, NotFor
// from its "not for". A nil o overrides nothing.
func Of(s *definitions.Skill, o *Override) Summary {
	if o == nil {
		o = &Override{}
	}
	m := Summary{
		Skill:       s.Name,
		Text:        first(o.Summary, s.Summary),
		NotFor:      first(o.NotFor, s.NotFor),
		DiffersFrom: first(o.DiffersFrom, s.DiffersFrom),
		Params:      first(o.Params, s.Params),
		FromSummary: either(o.FromSummary, s.FromSummary),
		Frequent:    either(o.Frequent, s.Frequent),
		Manual:      either(o.Manual, s.Manual),
		Triggers:    distinct(o.Triggers),
	}
	if len(m.Triggers) == 0 {
		m.Triggers = distinct(s.Triggers)
	}
	if m.Text != "" && m.NotFor != "" && m.DiffersFrom != "" && len(m.Triggers) > 0 {
		return m
	}
	p := parse(s)
	if m.Text == "" {
		m.Text, m.Derived = p.sentence(s), true
	}
	if len(m.Triggers) == 0 {
		m.Triggers = p.phrases(s)
	}
	if m.NotFor == "" {
		m.NotFor = p.not
	}
	if m.DiffersFrom == "" {
		m.DiffersFrom = p.differs
	}
	return m
}

// first returns the first text that is not blank, as one line.
func first(texts ...string) string {
	for _, s := range texts {
		if s = line(s); s != "" {
			return s
		}
	}
	return ""
}

func either(override *bool, written bool) bool {
	if override != nil {
		return *override
	}
	return written
}

// distinct returns the first MaxTriggers texts that differ when folded, as single lines.
func distinct(texts []string) []string {
	var out []string
	seen := make(map[string]bool, len(texts))
	for _, s := range texts {
		s = line(s)
		key := text.Fold(s)
		if s == "" || seen[key] {
			continue
		}
		seen[key] = true
		if out = append(out, s); len(out) == MaxTriggers {
			break
		}
	}
	return out
}

// Gist returns what m's skill can do, without the scene, in at most n characters as S6
// counts them for Chinese; "" if no clause of the sentence is that short.
func Gist(m *Summary, n int) string {
	s := m.Text
	for i := range outside(s) {
		if strings.HasPrefix(s[i:], ";") || strings.HasPrefix(s[i:], "；") || strings.HasPrefix(s[i:], "。") ||
			strings.HasPrefix(s[i:], ". ") {
			s = s[:i]
			break
		}
	}
	if _, ok := scene(s); ok {
		return ""
	}
	s, ok := clip(strings.TrimRight(s, ".。…"), text.Limit(s, n))
	if !ok {
		return ""
	}
	return s
}

// parts is a description taken apart.
type parts struct {
	can      []string // what the skill can do
	when     []string // when to use it: the scene without "use when"
	lists    []string // lists of triggers
	not      string   // what it is not for
	differs  string   // which other skill to take for what
	language string   // text that the limits are taken from
}

// parse takes the description of s apart, or its lead when it has none.
func parse(s *definitions.Skill) parts {
	description := plain(start(s.Description))
	if line(description) == "" {
		description = plain(start(s.Lead))
	}
	p := parts{language: description}
	for _, sentence := range sentences(description) {
		for _, clause := range split(sentence) {
			p.add(clause)
		}
	}
	return p
}

// Parts is a description taken apart. Its texts are those of the author, without markup.
type Parts struct {
	Can     []string // what the skill can do, a clause each
	When    []string // when to use it: the scene without "use"
	Lists   []string // lists of triggers
	NotFor  string   // "" if nothing says so
	Differs string   // which other skill to take for what; "" if nothing says so
}

// Read takes the description of s apart as Of does: its lead where it has none. It knows
// the usual forms of English and Chinese.
func Read(s *definitions.Skill) Parts {
	p := parse(s)
	return Parts{p.can, p.when, p.lists, p.not, p.differs}
}

// Affirmed returns description without the clauses that say what a skill is not
// for, or it as it is if there are none. Whoever compares texts would take what
// they name for what the skill does.
func Affirmed(description string) string {
	var kept []string
	left := false
	for _, sentence := range sentences(plain(start(description))) {
		for _, clause := range split(sentence) {
			if _, not := exclusion(clause); not {
				left = true
			} else {
				kept = append(kept, clause)
			}
		}
	}
	if !left {
		return description
	}
	return strings.Join(kept, ". ")
}

// start returns what of a text is looked at: all of what a description should be at most,
// 1,024 characters, even if Chinese.
func start(s string) string {
	const most = 4 << 10
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// split cuts a sentence where an inner clause begins that says when to use the skill,
// what not to use it for, or lists triggers.
func split(sentence string) []string {
	var out []string
	from := 0
	for i := range outside(sentence) {
		if i <= from {
			continue
		}
		before, rest := sentence[:i], sentence[i:]
		last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
		if !strings.ContainsRune(",;，；、—–-:：)）", last) && !strings.HasSuffix(before, " ") && !wide(last) {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(rest); r == ' ' {
			continue
		}
		_, cut := triggerList(rest)
		if !cut && strings.ContainsRune(",;，；—–-", last) {
			_, isNot := exclusion(rest)
			_, isScene := scene(rest)
			cut = isNot || isScene && !strings.HasPrefix(rest, "或") && !strings.HasPrefix(rest, "用户")
		}
		if cut {
			out = appendText(out, sentence[from:i])
			from = i
		}
	}
	return appendText(out, sentence[from:])
}

// add files one clause.
func (p *parts) add(clause string) {
	if rest, ok := triggerList(clause); ok {
		p.lists = append(p.lists, rest)
		return
	}
	if rest, ok := exclusion(clause); ok {
		if p.not == "" {
			if short, ok := clip(rest, text.Limit(rest, SentenceLimit)); ok {
				p.not = short
			}
		}
		return
	}
	if alternative(clause) {
		if short, ok := clip(clause, text.Limit(clause, SentenceLimit)); ok && p.differs == "" {
			p.differs = short
		}
		return
	}
	if rest, ok := scene(clause); ok {
		p.when = append(p.when, rest)
		return
	}
	if clause = capability(clause); clause != "" {
		p.can = append(p.can, clause)
	}
}

// sentence puts the summary together: capability, then scene, within the limit.
func (p *parts) sentence(s *definitions.Skill) string {
	can := ""
	if len(p.can) > 0 {
		can = p.can[0]
	} else {
		can = leading(s)
	}
	limit := text.Limit(p.language, SentenceLimit)
	out := p.compose(can, limit)
	if l := text.Limit(out, SentenceLimit); l < limit && text.Len(out) > l {
		out = p.compose(can, l)
	}
	if out != "" {
		return out
	}
	if len(s.Headings) > 0 {
		if h := line(plain(s.Headings[0])); h != "" {
			h, _ = clip(h, text.Limit(h, SentenceLimit))
			return h
		}
	}
	name := line(strings.NewReplacer("-", " ", "_", " ").Replace(s.Name))
	return text.Cut(name, text.Limit(name, SentenceLimit))
}

// compose joins the capability and the first scene that fits, or the next capability
// where no scene is given, in at most limit characters.
func (p *parts) compose(can string, limit int) string {
	when := p.scene()
	if can == "" {
		out, ok := sceneText(when, limit, true)
		if !ok {
			out, _ = clip(when, limit)
		}
		return out
	}
	if when == "" {
		short, _ := clip(can, limit)
		for _, more := range p.can[min(1, len(p.can)):] {
			room := limit - text.Len(short) - 1
			if short != can || room < limit/3 || dependent(more) {
				break
			}
			more, ok := clip(more, room)
			if !ok {
				break
			}
			short += joint(short) + decapitalised(more)
			can = short
		}
		return short
	}
	reserve := min(text.Len(when)+8, limit*2/5)
	short, ok := clip(can, limit-reserve)
	if !ok {
		short, _ = clip(can, limit)
	}
	if tail, ok := sceneText(when, limit-text.Len(short)-1, false); ok {
		return short + joint(short) + tail
	}
	short, _ = clip(can, limit)
	return short
}

// scene returns the scene to show: the first that says when or for what, or else the first.
func (p *parts) scene() string {
	for _, when := range p.when {
		r := reader{s: when}
		switch r.peek() {
		case "before", "after", "on", "at", "to", "as":
		default:
			return when
		}
	}
	if len(p.when) > 0 {
		return p.when[0]
	}
	return ""
}

// dependent reports whether a sentence begins with a word that points back to the last.
func dependent(s string) bool {
	word, _, _ := strings.Cut(strings.ToLower(s), " ")
	switch word {
	case "this", "these", "it", "its", "they", "there", "you", "that", "those", "each", "if", "but", "all", "both", "then", "no", "not":
		return true
	}
	return false
}

// joint is what stands between two clauses of a sentence.
func joint(s string) string {
	if chinese(s) {
		return "；"
	}
	return "; "
}

// leading is the capability as the body's lead says it, for descriptions that only say
// when; "" if the lead speaks of anything else.
func leading(s *definitions.Skill) string {
	if line(s.Description) == "" {
		return ""
	}
	all := sentences(plain(start(s.Lead)))
	if len(all) == 0 || chinese(all[0]) != chinese(s.Description) {
		return ""
	}
	for _, rejected := range [...]func(string) (string, bool){triggerList, exclusion, scene} {
		if _, ok := rejected(all[0]); ok {
			return ""
		}
	}
	can := capability(all[0])
	for _, w := range [...]string{"你", "您", "本", "该", "这", "在", "以下", "下面", "如果"} {
		if strings.HasPrefix(can, w) {
			return ""
		}
	}
	for _, w := range [...]string{" always ", " must ", " never ", " instruction", " you "} {
		if strings.Contains(can, w) {
			return ""
		}
	}
	word, _, _ := strings.Cut(strings.ToLower(can), " ")
	switch strings.Trim(word, ",:;'") {
	case "you", "your", "i", "i'm", "we", "if", "this", "these", "it", "the", "when", "before", "after", "all", "there", "follow", "read", "see", "announce", "given",
		"every", "most", "no", "do", "in", "for", "as", "an", "a", "here", "below", "always", "never", "note", "you're", "core", "that":
		return ""
	}
	short, ok := clip(can, text.Limit(can, SentenceLimit)/2)
	if !ok || text.Words(short) < 3 {
		return ""
	}
	return short
}

// capability returns clause without the filler that says that a skill is a skill; "" if
// it says nothing about what the skill can do.
func capability(clause string) string {
	s := clause
	for {
		rest := unfilled(s)
		if rest == s {
			break
		}
		s = rest
	}
	if instruction(s) {
		return ""
	}
	return capitalised(s)
}

// capitalised returns s with its first letter in upper case unless the first word is a
// name such as iOS or k8s.
func capitalised(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if strings.ContainsFunc(word, unusual) {
		return s
	}
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// decapitalised is the reverse, for a clause that follows another.
func decapitalised(s string) string {
	word, _, _ := strings.Cut(s, " ")
	r, size := utf8.DecodeRuneInString(word)
	if size == 0 || strings.ContainsFunc(word[size:], unusual) {
		return s
	}
	return string(unicode.ToLower(r)) + s[size:]
}

// unusual reports whether r does not stand inside ordinary words.
func unusual(r rune) bool {
	return !unicode.IsLower(r) && r != '-' && r != ',' && r != '/'
}
