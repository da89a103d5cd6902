package summaries

import (
	"strings"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// labels are the fixed words of a line in one language.
type labels struct {
	open, triggers, shut string // around the list of triggers
	comma                string // between triggers
	not, differs, params string // before a note, opening bracket included
	close                string // closing bracket of a note
}

func labelsFor(m *Summary) labels {
	if chinese(m.Text) {
		return labels{open: " [", triggers: "触发词：", shut: "]", comma: "、", not: "（不适用：", differs: "（区别：", params: "（参数：", close: "）"}
	}
	return labels{open: " [", triggers: "triggers: ", shut: "]", comma: ", ", not: " (not for: ", differs: " (differs: ", params: " (params: ", close: ")"}
}

// AppendLine appends the line of layer 2 that shows m, without a line end:
//
//	"- name: sentence [triggers: a, b, c] (not for: …) (differs: …) (params: …)"
//
// with Chinese words for a Chinese sentence. The sentence is cut to [SentenceLimit], the
// whole to [LineLimit]: the triggers after the third go first, then the parameters, then
// the difference, then the first triggers; "not for" is kept longest, because it is what
// tells similar skills apart. Parameters show when m is Frequent or FromSummary. Hidden
// characters are taken out and the tags of prompt blocks are escaped, which may lengthen
// the line.
func AppendLine(dst []byte, m *Summary) []byte {
	l := labelsFor(m)
	sentence := line(m.Text)
	sentence = text.Cut(sentence, text.Limit(sentence, SentenceLimit))
	head := "- " + line(m.Skill) + ": " + sentence
	room := text.Limit(sentence, LineLimit) - text.Len(head)

	not := note(&room, l.not, m.NotFor, l.close, SentenceLimit)
	reserve := l.length(m.Triggers[:min(MinTriggers, len(m.Triggers))])
	if reserve > room {
		reserve = 0
	}
	room -= reserve
	differs := note(&room, l.differs, m.DiffersFrom, l.close, SentenceLimit)
	params := ""
	if m.Frequent || m.FromSummary {
		params = note(&room, l.params, m.Params, l.close, ParamsLimit)
	}
	dst = append(dst, definitions.Escape(head)...)
	dst = l.appendTriggers(dst, m.Triggers, room+reserve)
	dst = append(dst, not...)
	dst = append(dst, differs...)
	return append(dst, params...)
}

// note returns a note with its label, cut to limit and to the room that is left, which it
// takes; "" where less than a few words of it would remain.
func note(room *int, label, s, end string, limit int) string {
	const fewest = 8
	s = line(s)
	frame := text.Len(label) + text.Len(end)
	if s == "" || *room-frame < min(fewest, text.Len(s)) {
		return ""
	}
	s = text.Cut(s, min(*room-frame, text.Limit(s, limit)))
	*room -= frame + text.Len(s)
	return label + definitions.Escape(s) + end
}

// length returns how many characters the list of triggers takes; 0 for none.
func (l *labels) length(triggers []string) int {
	if len(triggers) == 0 {
		return 0
	}
	n := text.Len(l.open) + text.Len(l.triggers) + text.Len(l.shut) + (len(triggers)-1)*text.Len(l.comma)
	for _, t := range triggers {
		n += text.Len(line(t))
	}
	return n
}

// appendTriggers appends the first triggers that fit in room.
func (l *labels) appendTriggers(dst []byte, triggers []string, room int) []byte {
	shown := min(ShownTriggers, len(triggers))
	for shown > 0 && l.length(triggers[:shown]) > room {
		shown--
	}
	if shown == 0 {
		return dst
	}
	dst = append(append(dst, l.open...), l.triggers...)
	for i, t := range triggers[:shown] {
		if i > 0 {
			dst = append(dst, l.comma...)
		}
		dst = append(dst, definitions.Escape(line(t))...)
	}
	return append(dst, l.shut...)
}

// Text returns the text of m that is embedded: "name: sentence; trigger, trigger".
func Text(m *Summary) string {
	s := m.Skill + ": " + m.Text
	if len(m.Triggers) > 0 {
		s += "; " + strings.Join(m.Triggers, ", ")
	}
	return s
}
