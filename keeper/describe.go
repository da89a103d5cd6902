package keeper

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"skillrouter/definitions"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// Limits of descriptions, in Chinese characters (S7).
const (
	longDescription = 100
	wideDescription = 200  // an error
	longTotal       = 3000 // of all together
	thinDescription = 6
	defaultCore     = 4000 // tokens of a core
	abilities       = 5    // items of a list that may want a scope
)

// appendLine appends the line of layer 2 that shows s.
func appendLine(dst []byte, s *subject) []byte { return summaries.AppendLine(dst, &s.Summary) }

// skill looks at the texts of one skill.
func (l *linter) skill(s *subject) {
	l.describe(s)
	l.summarise(s)
	l.triggersOf(s)
	if s.definition != nil {
		l.file(s)
	}
}

// describe looks at the description: what, when, scope, length (M5 to M8).
func (l *linter) describe(s *subject) {
	d := strings.TrimSpace(s.Description)
	if d == "" || s.definition != nil && s.definition.Description == s.definition.Lead && !written(s) {
		return // package definitions says that there is none
	}
	n := weight(d)
	if placeholder(d) || n < thinDescription {
		l.about(s, "thin-description", fmt.Sprintf("the description says hardly anything: %s", quote(d)), "")
		return
	}
	l.length(s, n)
	p := summaries.Read(&definitions.Skill{Name: s.Name, Description: d})
	when := len(p.When) > 0 || len(p.Lists) > 0 || l.situation.MatchString(d)
	switch items := l.listed(d); {
	case when && len(p.Can) == 0:
		l.about(s, "no-what", "the description says when to use the skill but not what it does", "")
	case when || s.Summary.Manual:
	case items >= abilities:
		l.about(s, "no-scope", fmt.Sprintf("the description lists %d abilities, but not for what task or when", items), "")
	default:
		l.about(s, "no-when", "the description says what but not when", "")
	}
}

// written tells whether the description is one of its author's.
func written(s *subject) bool {
	lead := strings.TrimSpace(s.definition.Lead)
	return lead == "" || !strings.HasPrefix(strings.TrimSpace(s.definition.Core), lead)
}

// length reports a description that is too long (M7, S7). Where a summary is written, this
// product shows that instead, and other tools alone pay.
func (l *linter) length(s *subject, n int) {
	if n <= longDescription {
		return
	}
	zh := text.Limit(s.Description, 1) == 1
	most, chars := longDescription, text.Len(s.Description)
	if !zh {
		most *= 3
	}
	f := s.finding("long-description", fmt.Sprintf("the description has %d characters, at most %d", chars, most), "")
	switch {
	case !s.Summary.Derived:
		f.What += "; a summary is shown in its place, but not by other tools"
		l.note(s, f.Rule, f.What, "")
		return
	case n <= wideDescription:
		f.Severity = definitions.Warning
	default:
		f.Severity = definitions.Error
	}
	l.add(f)
}

// total reports descriptions that are too long together (M9). Where layers are shown, no
// prompt of this product holds them all.
func (l *linter) total() {
	sum, longest := 0, (*subject)(nil)
	for i := range l.skills {
		n := weight(l.skills[i].Description)
		if sum += n; longest == nil || n > weight(longest.Description) {
			longest = &l.skills[i]
		}
	}
	if sum <= longTotal {
		return
	}
	f := Finding{
		Rule: "long-total", Severity: definitions.Warning, Fix: l.rules["long-total"].Fix,
		What: fmt.Sprintf("the descriptions have %d characters together (three letters counted as one), at most %d; the longest is that of %s", sum, longTotal, longest.Name),
	}
	const flat = 20
	if len(l.skills) > flat {
		f.Severity = definitions.Note
		f.What += "; layers spare this product's prompts, tools that list all skills pay"
	}
	l.found = append(l.found, f)
}

// placeholder tells a description that was never written.
func placeholder(d string) bool {
	folded := strings.ToLower(d)
	for _, s := range [...]string{"todo", "tbd", "fixme", "xxx", "lorem ipsum", "[todo", "placeholder", "your description", "description here", "a skill that", "待补充", "待填写", "待完善", "暂无描述"} {
		if strings.HasPrefix(folded, s) && s != "a skill that" {
			return true
		}
	}
	return strings.Contains(folded, "[todo") || strings.Contains(folded, "<description>") || strings.Contains(folded, "replace with description")
}

// situations are the words by which a description says when, for which it needs no
// sentence of its own.
func situations() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(when|whenever|if (you|the|a|an|someone|asked)|asks?|asked|asking|wants?|needs? to|mentions?|says|use (it |this |this skill )?(for|to|on|before|after|during|in|as|at|with)|before|after|while|during|ideal for|useful for|suitable for|triggers?|for (anyone|users|people|teams|those|tasks))\b` +
		`|(当|如果|时使用|时触发|时用|时调用|时加载|场景|适用|适合|用于|用户|需要|想要|要求|触发|提到|每当|前使用|在.{2,40}时|后使用|的时候|使用时机|何时)`)
}

// listed counts the items of the longest list of abilities in d. What stands in brackets,
// and a list that a preposition leads to ("by analysing A, B and C"), is none.
func (l *linter) listed(d string) int {
	most := 0
	for _, sentence := range text.Sentences(l.brackets.ReplaceAllString(d, "")) {
		items := l.between.Split(sentence, -1)
		first := items[0]
		if i := l.lead.FindStringIndex(first); i != nil {
			first = first[i[1]:]
		}
		if l.preposition.MatchString(first) || l.adposition.MatchString(sentence) {
			continue
		}
		words := 0
		for _, item := range items {
			words += text.Words(item)
		}
		const wordy = 6 // words an item, Chinese characters among them
		if words <= wordy*len(items) {
			most = max(most, len(items))
		}
	}
	return most
}

// summarise looks at the summary (C3 to C7).
func (l *linter) summarise(s *subject) {
	if s.Summary.Manual {
		return // it is never shown
	}
	for _, f := range summaries.Check(&s.Summary) {
		switch {
		case f.Field == "summary" && s.Summary.Text == "":
			l.about(s, "no-description", f.What, f.Fix)
		case f.Field == "summary" && strings.HasPrefix(f.What, "no summary"):
			l.about(s, "derived-summary", "no summary is written; one was derived: "+quote(s.Summary.Text), "")
		case f.Field == "summary":
			l.about(s, "long-summary", f.What, f.Fix)
		case f.Field == "not-for" && s.Summary.NotFor == "":
			l.about(s, "no-not-for", f.What, "")
		case f.Field == "params" && s.Summary.Params == "":
			l.about(s, "no-params", f.What, f.Fix)
		case f.Field == "triggers": // triggersOf knows more
		default:
			l.about(s, "long-field", f.What, f.Fix)
		}
	}
	if d := s.Summary.DiffersFrom; d != "" && text.Len(d) <= text.Limit(d, summaries.SentenceLimit) && !bytes.Contains(appendLine(nil, s), []byte(d)) {
		l.about(s, "cut-difference", fmt.Sprintf("the line has no room for the difference %s", quote(d)), "")
	}
}

// quote shows text of a catalog in a message: on one line, not long.
func quote(s string) string {
	s, _ = text.Clean(s)
	s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
