package definitions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// orders finds text that gives orders to the agent that reads it. strong is
// looked for everywhere; weak only in the short texts that stand in a prompt
// unasked, for a body may well say "you must always".
type orders struct {
	level        Level
	strong, weak []pattern
}

// A pattern is a regular expression that is tried where a stem stands, which
// is many times faster over bodies than searching with it.
type pattern struct {
	stems []string // lower case
	re    *regexp.Regexp
}

// newOrders compiles the patterns. They are few and narrow: a flag that is
// often wrong is not read.
func newOrders(level Level) *orders {
	const (
		adverb = `(?:(?:all|any|every|of|the|these|those|your|my|other|and)\s+){0,3}`
		what   = `(?:instructions?|prompts?|rules|guidelines|directives|orders|system\s+(?:message|prompt))\b`
		cnAll  = `(?:所有|一切|全部|任何)?`
	)
	at := func(re string, stems ...string) pattern {
		return pattern{stems, regexp.MustCompile(`^(?i:` + re + `)`)}
	}
	return &orders{
		level: level,
		strong: []pattern{
			at(`\w+\s+`+adverb+`(?:previous|prior|earlier|above|preceding|existing|original)\s+`+adverb+what,
				"ignore ", "disregard ", "forget ", "override ", "bypass "),
			at(`\w+\s+`+adverb+`system\s+(?:message|prompt|instructions?)\b`,
				"ignore ", "disregard ", "forget ", "override ", "bypass ", "reveal ", "leak "),
			at(`(?:do\s+not|don['’]?t|never)\s+(?:tell|inform|(?:mention|reveal|show)\s+(?:this|it)\s+to)\s+the\s+user\b`,
				"do not ", "dont ", "don't ", "don’t ", "never "),
			at(`without\s+(?:telling|informing|the\s+knowledge\s+of)\s+the\s+user\b`, "without "),
			at(`(?:\p{Han}{2})(?:掉|了)?(?:你|您)?(?:的)?`+cnAll+`(?:之前|以前|先前|此前|前面|以上|上述|上面|原有|原来)(?:给你|收到)?(?:的)?`+cnAll+`(?:的)?(?:系统)?(?:指令|指示|提示词?|规则|命令|要求|设定)`,
				"忽略", "无视", "忘记", "忘掉", "忽視", "無視"),
			at(`(?:不要|不得|切勿|别)(?:告诉|告知|通知|透露给)用户`, "不要", "不得", "切勿", "别"),
			at(`\p{Han}{2}(?:你|您)?(?:的)?系统提示词?`, "泄露", "透露", "忽略", "无视"),
		},
		weak: []pattern{
			at(`you\s+(?:must|should|have\s+to|are\s+required\s+to)\s+always\b`, "you "),
			at(`always\s+(?:call|select|choose|pick|prefer|load|use|invoke|run)\s+this\s+(?:skill|tool)\s+(?:first|instead|over|before|for\s+(?:every|any|all))\b`, "always "),
			at(`(?:never|do\s+not)\s+(?:use|call|select|load|invoke)\s+(?:any\s+)?other\s+(?:skills?|tools?)\b`, "never ", "do not "),
			at(`system\s+prompt\s*:`, "system "),
			at(`you\s+are\s+now\s+(?:a|an|in)\b`, "you are now "),
			at(`(?:你|您)(?:必须|一定要|务必)(?:始终|总是|永远|每次都|首先)`, "你", "您"),
			at(`(?:不要|不得|禁止)(?:使用|调用|选择)(?:任何)?(?:其他|其它|别的)(?:技能|工具)`, "不要", "不得", "禁止"),
		},
	}
}

// find returns the first match of p in s that ok accepts, "" for none. lower
// is s in lower case, byte for byte.
func (p *pattern) find(s, lower string, ok func(at int) bool) string {
	for _, stem := range p.stems {
		for from := 0; ; {
			i := strings.Index(lower[from:], stem)
			if i < 0 {
				break
			}
			from += i
			inWord := from > 0 && isLetter(stem[0]) && isLetter(s[from-1])
			if m := p.re.FindString(s[from:min(len(s), from+200)]); m != "" && !inWord && ok(from) {
				return m
			}
			from += len(stem)
		}
	}
	return ""
}

// check reports orders in s as its level says.
func (o *orders) check(s *Skill, r *report) {
	short := []string{s.Name, s.Description, s.Summary, s.NotFor, s.DiffersFrom, s.Params}
	short = append(append(short, s.Triggers...), s.Domains...)
	for _, t := range short {
		if o.checkShort(t, r) {
			return
		}
	}
	for _, body := range []string{s.Core, s.Extension} {
		lower := asciiLower(body)
		var fences []int
		for _, p := range o.strong {
			m := p.find(body, lower, func(at int) bool {
				if fences == nil {
					fences = fencesOf(body)
				}
				n, _ := slices.BinarySearch(fences, at)
				return n%2 == 0 && !quoted(body, at)
			})
			if m != "" {
				o.tell(m, "the body", r)
				return
			}
		}
	}
}

// checkShort reports an order in a text that stands in prompts unasked.
func (o *orders) checkShort(t string, r *report) bool {
	m := o.inShort(t)
	if m != "" {
		o.tell(m, "a text that stands in prompts", r)
	}
	return m != ""
}

// inShort returns the first order in a text that stands in prompts unasked.
func (o *orders) inShort(t string) string {
	lower := asciiLower(t)
	for _, patterns := range [][]pattern{o.strong, o.weak} {
		for _, p := range patterns {
			if m := p.find(t, lower, func(int) bool { return true }); m != "" {
				return m
			}
		}
	}
	return ""
}

// OrderFinder returns a function that returns what in a short text gives
// orders to the agent that reads it, "" for nothing, as [Load] looks for it in
// skills. Making one costs some regular expressions; it is safe for concurrent
// use.
func OrderFinder() func(text string) string { return newOrders(Flag).inShort }

// fencesOf returns where code fences open and close. What stands between them
// is an example: skills about security are full of orders.
func fencesOf(body string) []int {
	fences := []int{}
	at, fence := 0, ""
	for line := range strings.SplitAfterSeq(body, "\n") {
		next := nextFence(fence, strings.TrimSpace(line))
		if (next == "") != (fence == "") {
			fences = append(fences, at)
		}
		fence, at = next, at+len(line)
	}
	return fences
}

// quoted reports whether text at an offset of a body is quoted, or stands in
// a table.
func quoted(body string, at int) bool {
	const look = 300 // bytes; a line may be as long as the file
	line := body[max(0, at-look):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	return strings.ContainsAny(line, "\"`“‘「『《|") || strings.HasSuffix(line, "'")
}

func (o *orders) tell(what, where string, r *report) {
	said := fmt.Sprintf("%s gives orders to the agent: %s", where, quote(strings.Join(strings.Fields(what), " ")))
	const fix = "read the file before you trust it; say what the skill does, not what the agent must obey"
	switch o.level {
	case Block:
		r.refuse("orders", 0, said+" (blocked)", fix)
	case Warn:
		r.add(Warning, "orders", 0, said, fix)
	case Flag:
		r.add(Note, "orders", 0, said, fix)
	}
}

// asciiLower lowers A to Z only, so that offsets stay.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
