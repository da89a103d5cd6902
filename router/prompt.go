package router

import (
	"fmt"
	"strings"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// phrases are the fixed words of a prompt in one language.
type phrases struct {
	index     string // heads layer 1
	nearest   string // with the nearest domains
	available string // heads the summaries
	domain    string // heads the summaries of one domain
	more      string // with the number of skills that were cut
	also      string // heads domains that matched but did not fit
	fallback  string
	ask, or   string // a question about several domains
	askOne    string // about one
}

func phrasesIn(lang string) *phrases {
	if lang == "zh" {
		return &phrases{
			index: "技能领域：", nearest: "没有直接匹配的领域，最接近的是：%s。", available: "可用技能：", domain: "可用技能（%s）：",
			more: "（另有 %d 个技能）", also: "同样匹配的领域：", fallback: "可用技能（通用领域 %s）：",
			ask: "您想要的是%s？", or: "，还是", askOne: "您想要的是%s，还是别的？",
		}
	}
	return &phrases{
		index: "Skill domains:", nearest: "No domain matches directly; the nearest are: %s.", available: "Available skills:", domain: "Available skills (%s):",
		more: "(and %d more skills)", also: "Also matching:", fallback: "Available skills (general domain %s):",
		ask: "Do you want %s?", or: " or ", askOne: "Do you want %s, or something else?",
	}
}

// language is "zh" for a mainly Chinese text, else "en".
func language(s string) string {
	if text.HanShare(s) >= 0.3 {
		return "zh"
	}
	return "en"
}

// Prompt returns the visible block of the route: the layers, joined, ready to
// stand in a system message. It is "" for a catalog without skills. Equal
// state gives equal bytes; the index comes first, so that prompts of one
// session share their beginning.
func (r *Route) Prompt() string {
	s := r.snapshot
	lang := s.opts.Lang
	layer1 := s.layer1
	if r.allow != nil {
		layer1 = s.indexText(r.allow)
	}
	if lang == "" {
		lang = language(layer1)
	}
	p := phrasesIn(lang)
	var b strings.Builder
	block := func(head, body string) {
		if body == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(head)
		b.WriteByte('\n')
		b.WriteString(strings.TrimRight(body, "\n"))
		b.WriteByte('\n')
	}
	if !r.Flat {
		block(p.index, layer1)
	}
	fallback := r.Outcome == None || r.Outcome == Clarify
	if fallback && !r.Flat && len(r.nearest) > 0 {
		names := r.Nearest()
		for i, n := range names {
			names[i] = oneLine(n)
		}
		b.WriteString("\n" + fmt.Sprintf(p.nearest, strings.Join(names, ", ")) + "\n")
	}
	for i, sec := range r.shown {
		head := p.available
		switch {
		case sec.domain >= 0 && fallback:
			head = fmt.Sprintf(p.fallback, oneLine(s.ix.Domains()[sec.domain].Name))
		case sec.domain >= 0:
			head = fmt.Sprintf(p.domain, oneLine(s.ix.Domains()[sec.domain].Name))
		}
		var lines []byte
		for _, m := range r.Summaries[sec.from:sec.to] {
			lines = append(summaries.AppendLine(lines, m), '\n')
		}
		if i == 0 && r.more > 0 {
			lines = append(lines, fmt.Sprintf(p.more, r.more)...)
		}
		block(head, string(lines))
	}
	if len(r.Lines) > 0 {
		var lines []string
		for _, name := range r.Lines {
			d, _ := s.ix.LookupDomain(name)
			lines = append(lines, domains.Line(&s.ix.Domains()[d], s.allowed(d, r.allow), lang))
		}
		block(p.also, strings.Join(lines, "\n"))
	}
	for _, d := range r.Loaded {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(definitions.Render(d, definitions.RenderOptions{}))
	}
	return b.String()
}

// ask is the question which of the named domains is meant.
func (r *Route) ask(names []string) string {
	lang := r.snapshot.opts.Lang
	if lang == "" {
		lang = language(r.Utterance)
	}
	p := phrasesIn(lang)
	alternatives := make([]string, len(names))
	for i, n := range names {
		d, _ := r.snapshot.ix.LookupDomain(n)
		domain := &r.snapshot.ix.Domains()[d]
		alternatives[i] = oneLine(n)
		if domain.Description != "" {
			about := text.Cut(oneLine(domain.Description), questionLimit)
			if lang == "zh" {
				alternatives[i] += "（" + about + "）"
			} else {
				alternatives[i] += " (" + about + ")"
			}
		}
	}
	if len(alternatives) == 1 {
		return fmt.Sprintf(p.askOne, alternatives[0])
	}
	last := len(alternatives) - 1
	separator := ", "
	if lang == "zh" {
		separator = "、"
	}
	return fmt.Sprintf(p.ask, strings.Join(alternatives[:last], separator)+p.or+alternatives[last])
}

// questionLimit is how many characters of a domain's description a question
// shows.
const questionLimit = 60

// oneLine makes catalog text safe to stand inside a line.
func oneLine(s string) string {
	s, _ = text.Clean(s)
	return definitions.Escape(strings.Join(strings.Fields(s), " "))
}
