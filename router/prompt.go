package router

import (
	"fmt"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// phrases are the fixed words of a prompt in one language.
type phrases struct {
	index     string // heads layer 1
	choose    string // ends it: how to come to summaries
	nearest   string // with the nearest domains
	available string // heads the summaries
	domain    string // heads the summaries of one domain
	fallback  string // of a domain that is shown because nothing matched
	more      string // with the number of skills that were cut
	also      string // heads domains that matched but did not fit
	gone      string // with loaded skills that do not exist any more
	use       string // how to come to a definition
	ready     string // with the skills that need none

	comma, or string // between alternatives, and before the last
	about     string // an alternative and its description
	ask       string // a question about several domains
	askOne    string // about one
}

func phrasesIn(lang string) *phrases {
	if lang == "zh" {
		return &phrases{
			index: "技能领域：", choose: "按名称选择一个领域，即可查看其中的技能。", available: "可用技能：", domain: "可用技能（%s）：", fallback: "可用技能（通用领域 %s）：",
			nearest: "没有领域与当前请求直接匹配；如果确实需要技能，最接近的领域是：%s。",
			more:    "（此领域另有 %d 个技能）", also: "同样匹配但未展开的领域：", gone: "以下技能已被删除，不再可用：%s。",
			use:   "摘要只说明技能何时适用；使用某个技能之前，先按名称加载它的完整定义（定义已在下文给出的除外）。",
			ready: "无需加载定义即可使用：%s。",
			comma: "、", or: "，还是 ", about: "%s（%s）", ask: "您想做的是哪一类：%s？", askOne: "您想做的是 %s，还是别的？",
		}
	}
	return &phrases{
		index: "Skill domains:", choose: "Choose a domain by name to see its skills.", available: "Available skills:", domain: "Available skills (%s):", fallback: "Available skills (general domain %s):",
		nearest: "No domain matches the request directly. If it needs a skill at all, the nearest domains are: %s.",
		more:    "(and %d more skills in this domain)", also: "Also matching, skills not listed:", gone: "Deleted and no longer available: %s.",
		use:   "A summary only says when a skill fits. Before using a skill, load its full definition by name, unless it stands below.",
		ready: "Usable without loading: %s.",
		comma: ", ", or: " or ", about: "%s (%s)", ask: "Is this about %s?", askOne: "Is this about %s, or something else?",
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
	layers := r.Layers()
	var b block
	b.add("", layers.Index)
	b.add("", layers.Summaries)
	b.add("", layers.Definitions)
	return b.String()
}

// IndexText returns layer 1 alone: a line for each domain, as it stands in Prompt
// under its heading. It is the same in all turns while catalog and asker are,
// and "" where all summaries are shown at once.
func (r *Route) IndexText() string {
	if r.Flat {
		return ""
	}
	return r.layer1()
}

func (r *Route) layer1() string {
	if r.allow != nil {
		return r.snapshot.indexText(r.allow)
	}
	return r.snapshot.layer1
}

// Layers are the parts of a prompt, each "" or ending in one line end. Joined
// by blank lines they are the whole, see [Route.Prompt].
type Layers struct {
	Index       string // the domains; the same in each turn while catalog and Allow are; "" for a flat catalog
	Summaries   string // what the turn shows of the domains, and notes on the turn
	Definitions string // what is loaded
}

// Layers returns the parts of the prompt, for hosts that place them apart.
func (r *Route) Layers() Layers {
	s := r.snapshot
	lang := s.opts.Lang
	layer1 := r.layer1()
	if lang == "" {
		lang = language(layer1)
	}
	p := phrasesIn(lang)
	var one, two, three block
	if !r.Flat {
		if layer1 != "" {
			one.add(p.index, layer1+"\n"+p.choose)
		}
		if len(r.nearest) > 0 {
			two.add("", fmt.Sprintf(p.nearest, list(r.Nearest(), p.comma)))
		}
	}
	if len(r.gone) > 0 {
		two.add("", fmt.Sprintf(p.gone, list(r.gone, p.comma)))
	}
	for _, sec := range r.shown {
		head := p.available
		switch {
		case sec.domain >= 0 && r.fallback:
			head = fmt.Sprintf(p.fallback, oneLine(s.ix.Domains()[sec.domain].Name))
		case sec.domain >= 0:
			head = fmt.Sprintf(p.domain, oneLine(s.ix.Domains()[sec.domain].Name))
		}
		var lines []byte
		for _, m := range r.Summaries[sec.from:sec.to] {
			lines = append(summaries.AppendLine(lines, m), '\n')
		}
		if sec.more > 0 {
			lines = fmt.Appendf(lines, p.more, sec.more)
		}
		two.add(head, string(lines))
	}
	if len(r.Lines) > 0 {
		var lines []string
		for _, name := range r.Lines {
			if d, ok := s.ix.LookupDomain(name); ok {
				domain := s.ix.Domains()[d]
				domain.Description = s.description(d, r.allow)
				lines = append(lines, domains.Line(&domain, s.allowed(d, r.allow), s.opts.Lang))
			}
		}
		two.add(p.also, strings.Join(lines, "\n"))
	}
	if len(r.Summaries) > 0 {
		use := p.use
		var ready []string
		for _, m := range r.Summaries {
			if m.FromSummary {
				ready = append(ready, m.Skill)
			}
		}
		if len(ready) > 0 {
			use += "\n" + fmt.Sprintf(p.ready, list(ready, p.comma))
		}
		two.add("", use)
	}
	for _, d := range r.Loaded {
		three.add("", definitions.Render(d, definitions.RenderOptions{Extension: slices.Contains(r.Extended, d.Name)}))
	}
	return Layers{one.String(), two.String(), three.String()}
}

// A block is parts of a prompt with a blank line between them.
type block struct{ strings.Builder }

// add adds a part, whose head, if it has one, stands above it; none without a
// body.
func (b *block) add(head, body string) {
	body = strings.TrimRight(body, "\n")
	if body == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	if head != "" {
		b.WriteString(head)
		b.WriteByte('\n')
	}
	b.WriteString(body)
	b.WriteByte('\n')
}

// list joins names of a catalog.
func list(names []string, comma string) string {
	safe := make([]string, len(names))
	for i, n := range names {
		safe[i] = oneLine(n)
	}
	return strings.Join(safe, comma)
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
		alternatives[i] = oneLine(n)
		if about := oneLine(r.snapshot.description(d, r.allow)); about != "" {
			alternatives[i] = fmt.Sprintf(p.about, alternatives[i], text.Cut(about, text.Limit(about, questionLimit)))
		}
	}
	if len(alternatives) == 1 {
		return fmt.Sprintf(p.askOne, alternatives[0])
	}
	last := len(alternatives) - 1
	return fmt.Sprintf(p.ask, strings.Join(alternatives[:last], p.comma)+p.or+alternatives[last])
}

// questionLimit is how many characters of a domain's description a question
// shows, for Chinese; of others three times as many.
const questionLimit = 20

// oneLine makes catalog text safe to stand inside a line.
func oneLine(s string) string {
	s, _ = text.Clean(s)
	return definitions.Escape(strings.Join(strings.Fields(s), " "))
}
