package keeper

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// Limits of triggers.
const (
	longTrigger    = 12 // words
	longTriggerHan = 24
	generic        = 3 // skills of other domains that have a trigger in their text
	stuffed        = summaries.MaxTriggers
)

// triggersOf looks at the triggers of one skill: their number, and whether a user would say
// them (C5).
func (l *linter) triggersOf(s *subject) {
	if s.Summary.Manual {
		return // reached by name only
	}
	count := len(s.Summary.Triggers)
	if s.written {
		count = max(count, len(s.definitionTriggers()))
	}
	switch {
	case count < summaries.MinTriggers && s.written:
		l.about(s, "few-triggers", fmt.Sprintf("%s, at least %d", number(count, "trigger"), summaries.MinTriggers), "")
	case count < summaries.MinTriggers:
		l.about(s, "few-triggers", fmt.Sprintf("no triggers are written, and the description holds %d, at least %d", count, summaries.MinTriggers), "")
	case count > summaries.ShownTriggers && s.written:
		what := fmt.Sprintf("%d triggers, at most %d", count, summaries.ShownTriggers)
		if count > stuffed {
			l.about(s, "many-triggers", what, "")
		} else {
			l.note(s, "many-triggers", what, "")
		}
	}
	if !s.written {
		return
	}
	for _, t := range s.Summary.Triggers {
		if why := l.whyUnsaid(t, s.Name); why != "" {
			l.about(s, "unsaid-trigger", fmt.Sprintf("no user says %s: %s", quote(t), why), "")
		}
	}
}

// definitionTriggers are those of the file, also those that matching leaves out.
func (s *subject) definitionTriggers() []string {
	if s.definition == nil {
		return nil
	}
	return s.definition.Triggers
}

func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// An unsaidForm is a form of triggers that no user says.
type unsaidForm struct {
	re  *regexp.Regexp
	why string
}

func unsaidForms() []unsaidForm {
	return []unsaidForm{
		{regexp.MustCompile(`[,，、;；].*[,，、;；]`), "it is a list; write each by itself"},
		{regexp.MustCompile(`[{}<>\[\]]|\$\w|__`), "it holds a placeholder"},
		{regexp.MustCompile(`(?i)^(use|used) (this|when|for)\b|^(when|if) (the|a) user\b|^(the )?user (asks|wants|says|needs|mentions|requests)\b|^(当|如果)?用户(要求|说|提到|需要|想|请求)`), "it speaks of the user"},
		{regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)+$`), "it is an identifier"},
	}
}

// whyUnsaid says why no user says a trigger of a skill, "" if one may.
func (l *linter) whyUnsaid(t, name string) string {
	for _, form := range l.unsaid {
		if form.re.MatchString(t) {
			return form.why
		}
	}
	han := text.HanShare(t) >= 0.3
	switch {
	case strings.EqualFold(t, name) && strings.ContainsAny(t, "-_"):
		return "it is the skill's name, which is matched anyway"
	case !han && text.Words(t) > longTrigger, han && text.Len(t) > longTriggerHan:
		return "it is a whole sentence; users say parts of it in other words"
	case text.Len(t) < 2:
		return "it is one character"
	}
	return ""
}

// triggers compares the written triggers of all skills: shared and generic ones.
func (l *linter) triggers() {
	owners := make(map[string][]*subject)
	for i := range l.skills {
		s := &l.skills[i]
		if !s.written || s.Summary.Manual {
			continue
		}
		for _, t := range s.Summary.Triggers {
			key := strings.TrimSpace(text.Fold(t))
			owners[key] = append(owners[key], s)
		}
	}
	texts := l.folded()
	for i := range l.skills {
		s := &l.skills[i]
		if !s.written || s.Summary.Manual {
			continue
		}
		for _, t := range s.Summary.Triggers {
			key := strings.TrimSpace(text.Fold(t))
			all := owners[key]
			if len(all) > 1 && all[0] == s {
				f := s.finding("shared-trigger", fmt.Sprintf("the trigger %s is also that of %s", quote(t), names(all[1:])), "")
				for _, o := range all[1:] {
					f.Others = append(f.Others, o.Name)
				}
				l.add(f)
			}
			if in := l.everywhere(s, key, texts); len(all) == 1 && len(in) >= max(generic, len(l.skills)/50) {
				l.about(s, "generic-trigger", fmt.Sprintf("the trigger %s stands in the text of %d skills of other domains, such as %s", quote(t), len(in), strings.Join(in[:min(3, len(in))], ", ")), "")
			}
		}
	}
}

func names(all []*subject) string {
	var out []string
	for _, s := range all[:min(3, len(all))] {
		out = append(out, s.Name)
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// folded is what each skill says of itself, folded, between blanks.
func (l *linter) folded() []string {
	out := make([]string, len(l.skills))
	for i := range l.skills {
		s := &l.skills[i]
		out[i] = " " + strings.Join(strings.FieldsFunc(text.Fold(summaries.Affirmed(s.Description)+" "+s.Summary.Text+" "+strings.Join(s.Summary.Triggers, " ")), func(r rune) bool {
			return strings.ContainsRune(" \n\t,.;:!?()\"'/，。；：！？（）、“”", r)
		}), " ") + " "
	}
	return out
}

// everywhere names the skills of no common domain that have a short trigger in their text.
func (l *linter) everywhere(s *subject, key string, texts []string) []string {
	if text.HanShare(key) < 0.3 && text.Words(key) > 2 || text.HanShare(key) >= 0.3 && text.Len(key) > 4 {
		return nil // a phrase that long is telling
	}
	find := key
	if text.HanShare(key) < 0.3 {
		find = " " + key + " "
	}
	var in []string
	for i := range l.skills {
		o := &l.skills[i]
		if o == s || slices.ContainsFunc(o.domains, func(d int32) bool { return slices.Contains(s.domains, d) }) {
			continue
		}
		if strings.Contains(texts[i], find) {
			in = append(in, o.Name)
		}
	}
	return in
}

// lost reports the written triggers that lead to another skill.
func (l *linter) lost(ctx context.Context) error {
	if l.o.Embedder == nil {
		return nil
	}
	type asked struct {
		s       *subject
		trigger string
	}
	var all []asked
	for i := range l.skills {
		if s := &l.skills[i]; s.written && !s.Summary.Manual {
			for _, t := range s.Summary.Triggers {
				all = append(all, asked{s, t})
			}
		}
	}
	allow := l.allowed()
	const batch = 256
	for part := range slices.Chunk(all, batch) {
		texts := make([]string, len(part))
		for i := range part {
			texts[i] = part[i].trigger
		}
		vectors, err := l.o.Embedder.Embed(ctx, texts)
		if err != nil {
			return fmt.Errorf("keeper: embedding triggers: %w", err)
		}
		if len(vectors) != len(texts) {
			return fmt.Errorf("keeper: embedding triggers: %d vectors for %d texts", len(vectors), len(texts))
		}
		for i := range part {
			l.lostOne(part[i].s, part[i].trigger, vectors[i], allow)
		}
	}
	return nil
}

// allowed are the skills that exist, as the index takes them.
func (l *linter) allowed() []bool {
	if l.o.Allow == nil {
		return nil
	}
	allow := make([]bool, len(l.ix.Skills()))
	for i := range l.skills {
		allow[l.skills[i].at] = true
	}
	return allow
}

func (l *linter) lostOne(s *subject, trigger string, vector []float32, allow []bool) {
	scores := l.ix.Score(&index.Query{Utterance: trigger, Vector: vector, Allow: allow})
	defer scores.Release()
	own := scores.Evidence(s.at)
	if len(scores.Skills) == 0 || scores.Skills[0].Skill == s.at || scores.Skills[0].Evidence <= own {
		return
	}
	best := &l.ix.Skills()[scores.Skills[0].Skill]
	for _, t := range best.Summary.Triggers {
		if text.Fold(t) == text.Fold(trigger) {
			return // shared-trigger says it
		}
	}
	f := s.finding("lost-trigger", fmt.Sprintf("the trigger %s leads to %s", quote(trigger), best.Name), "")
	f.Others, f.Severity = []string{best.Name}, definitions.Warning
	l.add(f)
}
