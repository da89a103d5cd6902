package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/router"
	"skillrouter/summaries"
)

const (
	// maxContext is how many characters a client is given. Claude Code and
	// Codex show a model no more than 10,000 of a hook.
	maxContext = 9000
	// fewBest is how many skills are named that a client has seen already, or
	// that perhaps fit.
	fewBest = 3
	// perhapsShare is the share of the threshold from which a domain that does
	// not match is near: that of the router's question, which a hook cannot ask.
	perhapsShare = 0.6
	// leastLike is the similarity below which a skill without a word of the
	// utterance has nothing to do with it, however its domain scores.
	leastLike = 0.2
)

// A hookContext is what the hook gives a client to add to its context. A client
// keeps what it was given before, so only what is new is given whole: the
// domains on the first turn, summaries when they come into the session (again,
// once they have left it, after 5 turns), and of those it has the few that fit
// best by name and file.
type hookContext struct {
	ix      *index.Index
	program string // to look for others with
	places  []string
	phrase  *hookPhrases

	named   []string // skills that the utterance names outright
	fresh   []string // new to the client
	again   []string // known to it, the best
	perhaps []string // of domains that are near, where nothing matches
	more    []string // what a domain has besides
	lines   []string // domains that match but do not fit
	domains string   // layer 1, on the first turn
}

// newHookContext says what of a route a client is to get. alone is the route of
// the same utterance outside the session, for what perhaps fits: it must do so
// without the turns before, which make nearly all fit that went before. It may
// be nil where that makes no sense.
func newHookContext(ix *index.Index, places []string, r, alone *router.Route, allow func(string) bool, lang string) *hookContext {
	c := &hookContext{ix: ix, program: programName(), places: places, phrase: hookPhrasesIn(lang, r)}
	if r.Outcome == router.Empty {
		return c
	}
	if r.Outcome == router.Sticky { // what is shown stays, but another subject may be near
		if !r.Flat {
			c.perhaps = best(alone, nearby(alone), r.Summaries)
		}
		return c
	}
	first := r.Turn <= 1 // 0 outside a session
	if first {
		c.domains = r.IndexText()
	}
	for _, x := range r.Candidates {
		if x.Named {
			c.named = append(c.named, x.Name)
		}
	}
	switch {
	case r.Flat && first:
		c.show(r.Summaries, nil)
	case r.Flat && r.Matched() && len(c.named) == 0:
		c.again = best(r, func(d router.Domain) bool { return d.Matched }, nil)
	case !r.Flat:
		c.show(r.Summaries, r.Hits)
		c.rest(r, allow)
		if !r.Matched() && len(r.Summaries) == 0 {
			c.perhaps = best(alone, nearby(alone), nil)
		}
	}
	return c
}

// show takes over summaries, of which the client has those of known.
func (c *hookContext) show(shown []*summaries.Summary, known []string) {
	for _, m := range shown {
		switch {
		case slices.Contains(c.named, m.Skill):
		case !slices.Contains(known, m.Skill):
			c.fresh = append(c.fresh, m.Skill)
		case len(c.again) < fewBest && len(c.named) == 0:
			c.again = append(c.again, m.Skill)
		}
	}
}

// rest tells what matched and is not shown.
func (c *hookContext) rest(r *router.Route, allow func(string) bool) {
	c.lines = r.Lines
	shown := map[string]bool{}
	for _, m := range r.Summaries {
		shown[m.Skill] = true
	}
	for _, d := range r.Domains {
		at, ok := c.ix.LookupDomain(d.Name)
		if !ok || !d.Matched && !d.Fallback || slices.Contains(r.Lines, d.Name) || r.Outcome == router.Direct {
			continue
		}
		n := 0
		for _, i := range c.ix.Members(at) {
			if name := c.ix.Skills()[i].Name; !shown[name] && (allow == nil || allow(name)) {
				n++
			}
		}
		if n > 0 {
			c.more = append(c.more, fmt.Sprintf(c.phrase.more, n, safe(d.Name)))
		}
	}
}

// nearby tells which domains perhaps fit.
func nearby(r *router.Route) func(router.Domain) bool {
	return func(d router.Domain) bool { return float64(d.Score) >= perhapsShare*r.Threshold }
}

// best returns the few best skills of the domains that are wanted, but none of a
// domain that has one in known, and none that only its domain speaks for.
func best(r *router.Route, wanted func(router.Domain) bool, known []*summaries.Summary) []string {
	var of, names []string
	if r == nil {
		return nil
	}
	for _, d := range r.Domains {
		if wanted(d) {
			of = append(of, d.Name)
		}
	}
	for _, x := range r.Candidates {
		if slices.ContainsFunc(known, func(m *summaries.Summary) bool { return m.Skill == x.Name }) {
			of = slices.DeleteFunc(of, func(name string) bool { return name == x.Domain })
		}
	}
	for _, x := range r.Candidates {
		if len(names) < fewBest && slices.Contains(of, x.Domain) && (x.Similarity >= leastLike || x.Lexical > 0) {
			names = append(names, x.Name)
		}
	}
	return names
}

// empty tells whether there is nothing to add.
func (c *hookContext) empty() bool {
	return len(c.named)+len(c.fresh)+len(c.again)+len(c.perhaps)+len(c.lines) == 0 && c.domains == ""
}

// String is the text for the client, "" for nothing.
func (c *hookContext) String() string {
	if c.empty() {
		return ""
	}
	p := c.phrase
	b := &bounded{room: maxContext}
	if head := p.head; len(c.named)+len(c.fresh)+len(c.again)+len(c.perhaps) > 0 {
		b.add(head)
	} else {
		b.add(p.none)
	}
	c.list(b, p.named, c.named, c.entry)
	c.list(b, p.fresh, c.fresh, c.entry)
	c.list(b, p.again, c.again, c.reminder)
	c.list(b, p.perhaps, c.perhaps, c.entry)
	if len(c.more) > 0 {
		b.add(strings.Join(c.more, "\n"))
	}
	if len(c.lines) > 0 {
		b.add(fmt.Sprintf(p.lines, strings.Join(safeAll(c.lines), p.comma)))
	}
	if c.domains != "" && b.add("\n"+p.domains+"\n"+strings.TrimRight(c.domains, "\n")) {
		b.add(fmt.Sprintf(p.search, c.command("list")))
	}
	return b.String()
}

// list adds skills as far as there is room.
func (c *hookContext) list(b *bounded, head string, names []string, write func(*summaries.Summary) string) {
	for n, name := range names {
		i, ok := c.ix.Lookup(name)
		if !ok {
			continue
		}
		entry := write(&c.ix.Skills()[i].Summary)
		if n == 0 {
			entry = "\n" + head + "\n" + entry
		}
		if !b.add(entry) {
			b.add(fmt.Sprintf(c.phrase.cut, len(names)-n))
			return
		}
	}
}

// entry is a skill with its summary and its file.
func (c *hookContext) entry(m *summaries.Summary) string {
	return string(summaries.AppendLine(nil, m)) + "\n  " + c.where(m.Skill)
}

// reminder is a skill whose summary the client has.
func (c *hookContext) reminder(m *summaries.Summary) string {
	return "- " + safe(m.Skill) + ": " + c.where(m.Skill)
}

// where tells how an agent comes to a definition: by its file, or for want of
// one by a command.
func (c *hookContext) where(name string) string {
	if path, ok := c.ix.Locate(name); ok && safe(path) == path {
		return path
	}
	return c.command("show") + " " + quoteWord(name)
}

// command is a call of this program on the places of the hook: others may not
// be trusted.
func (c *hookContext) command(verb string) string {
	words := []string{c.program, verb}
	for _, p := range c.places {
		words = append(words, "--skills", p)
	}
	return quoteWords(words)
}

// safe makes a name of a catalog, or of a file, safe to stand inside a line.
func safe(s string) string { return definitions.Escape(clean(s)) }

func safeAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = safe(s)
	}
	return out
}

// A bounded is a text of lines that takes only what there is room for.
type bounded struct {
	strings.Builder
	room int
}

// add adds lines whole, if there is room.
func (b *bounded) add(s string) bool {
	n := utf8.RuneCountInString(s) + 1
	if n > b.room {
		return false
	}
	b.room -= n
	b.WriteString(s)
	b.WriteByte('\n')
	return true
}

// hookPhrases are the fixed words of a context in one language.
type hookPhrases struct {
	head, none                   string // its first line; where no skill is named
	named, fresh, again, perhaps string // heads
	more                         string // with how many more a domain has
	lines                        string // with domains
	cut                          string // with how many there was no room for
	domains, search              string
	comma                        string
}

func hookPhrasesIn(lang string, r *router.Route) *hookPhrases {
	if lang == "" {
		of := r.IndexText()
		if of == "" && len(r.Summaries) > 0 {
			of = r.Summaries[0].Text
		}
		if text.HanShare(of) >= 0.3 {
			lang = "zh"
		}
	}
	if lang == "zh" {
		return &hookPhrases{
			head:  "skillrouter 为当前请求提供的技能。这只是背景信息，不是请求：仅在确实合适时使用，使用前先读它的文件。",
			none:  "skillrouter：没有技能明确适合当前请求。这只是背景信息，不是请求。",
			named: "请求中点名的技能：", fresh: "可能合适：", again: "前面列出过、此刻最合适的：", perhaps: "或许合适（没有明确匹配）：",
			more: "（%[2]s 领域另有 %[1]d 个技能）", lines: "同样匹配但未列出的领域：%s。", cut: "（另有 %d 个，因篇幅未列出）",
			domains: "全部技能领域：", search: "查找其他技能：%s --like \"描述\"", comma: "、",
		}
	}
	return &hookPhrases{
		head:  "Skills for this request, from skillrouter. This is context, not a request: use a skill only where it fits, and read its file before you do.",
		none:  "skillrouter: no skill fits this request for sure. This is context, not a request.",
		named: "Named in the request:", fresh: "May fit:", again: "Listed before, and fitting best now:", perhaps: "Perhaps (nothing fits for sure):",
		more: "(and %d more in %s)", lines: "Also matching, not listed: %s.", cut: "(and %d more that there was no room for)",
		domains: "All domains of skills:", search: "To look for others: %s --like \"WHAT IT DOES\"", comma: ", ",
	}
}
