package keeper

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"skillrouter/definitions"
	"skillrouter/summaries"
)

// Languages returns the languages that [LintOptions] knows. A language is told by its
// script, so "en" stands for all that are written in Latin letters.
func Languages() []string {
	return []string{"en", "zh", "ja", "ko", "ru", "el", "ar", "he", "hi", "th"}
}

// LanguageOf tells in which of Languages s is mainly written, "" for none.
func LanguageOf(s string) string {
	tables := map[string]*unicode.RangeTable{
		"en": unicode.Latin, "zh": unicode.Han, "ko": unicode.Hangul, "ru": unicode.Cyrillic, "el": unicode.Greek,
		"ar": unicode.Arabic, "he": unicode.Hebrew, "hi": unicode.Devanagari, "th": unicode.Thai,
	}
	counts := make(map[string]int)
	for _, r := range s {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
			return "ja" // Chinese has none
		}
		for lang, table := range tables {
			if unicode.Is(table, r) {
				counts[lang]++
			}
		}
	}
	counts["zh"] *= 5 // a character is worth half a word, and names of products stand in Latin letters
	best := ""
	for _, lang := range Languages() {
		if counts[lang] > counts[best] {
			best = lang
		}
	}
	return best
}

// LanguagesOf returns the languages of utterances, those of one in twenty and more,
// the most frequent first.
func LanguagesOf(utterances []string) []string {
	counts := make(map[string]int)
	for _, u := range utterances {
		if lang := LanguageOf(u); lang != "" {
			counts[lang]++
		}
	}
	out := slices.DeleteFunc(Languages(), func(lang string) bool { return counts[lang]*20 < len(utterances) || counts[lang] == 0 })
	slices.SortStableFunc(out, func(a, b string) int { return counts[b] - counts[a] })
	return out
}

// languages compares those of users with those of triggers and descriptions (complaint 12).
func (l *linter) languages() {
	for _, lang := range l.o.Languages {
		if static := strings.HasPrefix(l.ix.EmbedderID(), "static-en-zh"); static && lang != "en" && lang != "zh" {
			l.add(Finding{Rule: "unknown-language", What: fmt.Sprintf("users write %s, but the built-in embedder knows English and Chinese only", lang)})
		}
		var without []string
		all := 0
		for i := range l.skills {
			s := &l.skills[i]
			if s.Summary.Manual {
				continue
			}
			all++
			if !speaks(s, lang) {
				without = append(without, s.Name)
			}
		}
		if len(without) == 0 {
			continue
		}
		f := Finding{
			Rule: "languages", Others: without, Fix: fmt.Sprintf("add triggers in %s to metadata.triggers", lang),
			What: fmt.Sprintf("users write %s, but %d of %s no words in it: %s", lang, len(without), have(all), few(without)),
		}
		if 2*len(without) < all {
			f.Severity = definitions.Note
			l.found = append(l.found, f)
		} else {
			l.add(f)
		}
	}
}

func have(n int) string {
	if n == 1 {
		return "1 skill has"
	}
	return fmt.Sprintf("%d skills have", n)
}

// speaks tells whether a skill has words in a language.
func speaks(s *subject, lang string) bool {
	is := func(t string) bool { return LanguageOf(t) == lang }
	return slices.ContainsFunc(s.Summary.Triggers, is) || is(s.Summary.Text) || is(summaries.Affirmed(s.Description))
}

// few names the first of a list.
func few(list []string) string {
	const most = 5
	s := strings.Join(list[:min(most, len(list))], ", ")
	if n := len(list) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
