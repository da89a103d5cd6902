package index

import (
	"strings"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// A phrase is a text of a skill with a vector of its own.
type phrase struct {
	text    string
	weight  float32 // in the skill's centroid
	trigger bool
	vector  []float32
}

// Bounds of phrases. A skill known by its summary alone loses 30 to 40 points
// of hit@1; more than a dozen phrases gain nothing.
const (
	maxPhrases    = 12   // rows kept of a skill
	maxSentences  = 8    // of a description
	maxPhraseText = 500  // characters of a phrase that are embedded
	maxNotFor     = 6    // parts of what a skill is not for
	headingWeight = 0.3  // many headings are the same in every skill
	maxBodyText   = 2000 // characters of a body that are embedded, as one text
	bodyWeight    = 3    // it says what the description leaves out
	wholeBody     = 1000 // characters from which a body has that weight; a shorter one has less
)

// phrasesOf lists what speaks for a skill, most telling first.
func phrasesOf(s *definitions.Skill, m *summaries.Summary, written bool) []phrase {
	title := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_./:", r) {
			return ' '
		}
		return r
	}, s.Name)
	ps := make([]phrase, 0, 16)
	add := func(s string, weight float32, trigger bool) {
		s = strings.TrimSpace(s)
		if s != "" {
			ps = append(ps, phrase{text: text.Cut(s, maxPhraseText), weight: weight, trigger: trigger})
		}
	}
	description := summaries.Affirmed(s.Description)
	add(title+": "+description, 1, false)
	for _, t := range m.Triggers {
		if written { // a derived trigger stands in the description
			add(t, 1, true)
		}
	}
	if !m.Derived && m.Text != "" {
		add(m.Text, 1, false)
	}
	for _, u := range s.Uses {
		add(u, 1, false)
	}
	if sentences := text.Sentences(description); len(sentences) > 1 {
		for _, t := range sentences[:min(len(sentences), maxSentences)] {
			add(t, 1, false)
		}
	}
	if s.Lead != s.Description {
		add(s.Lead, 1, false)
	}
	for _, h := range s.Headings {
		add(h, headingWeight, false)
	}
	if body := strings.TrimSpace(s.Core); body != "" && s.Core != s.Description {
		weight := bodyWeight * min(1, float32(text.Len(body))/wholeBody)
		ps = append(ps, phrase{text: text.Cut(body, maxBodyText), weight: weight})
	}
	return ps
}

// notFor lists what a skill is said not to be for.
func notFor(m *summaries.Summary) []string {
	var not []string
	for part := range strings.FieldsFuncSeq(m.NotFor, func(r rune) bool { return strings.ContainsRune(",;，、；", r) }) {
		if part = strings.TrimSpace(part); part != "" && len(not) < maxNotFor {
			not = append(not, text.Cut(part, maxPhraseText))
		}
	}
	return not
}

// domainText is what is embedded of a domain itself.
func domainText(d *domains.Domain) string {
	t := d.Name + ": " + d.Description
	if len(d.Keywords) > 0 {
		t += "; " + strings.Join(d.Keywords, ", ")
	}
	return t
}
