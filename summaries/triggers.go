package summaries

import (
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// phrases derives triggers, what users say first: listed and quoted phrases, then the
// items of the scenes, then the body's own list of uses, then, while there are too few,
// the name and the capability.
func (p *parts) phrases(s *definitions.Skill) []string {
	c := collector{name: text.Fold(s.Name), seen: make(map[string]bool)}
	for _, list := range p.lists {
		c.quotedOrItems(list)
	}
	for _, clause := range p.when {
		c.addAll(quoted(clause))
	}
	for _, clause := range p.can {
		c.addAll(quoted(clause))
	}
	for _, clause := range p.when {
		if len(quoted(clause)) < 2 {
			c.addAll(sceneItems(clause))
		}
	}
	if len(c.out) < ShownTriggers {
		for _, use := range s.Uses {
			c.addAll(useItems(plain(start(use))))
		}
	}
	if len(c.out) < MinTriggers && len(p.can) > 0 && chinese(p.can[0]) && completeChinese(p.can[0], 0) {
		for _, item := range items(p.can[0], "、，；") {
			if n := text.Len(item); n >= 4 && n <= 10 && len(c.out) < ShownTriggers {
				c.add(item)
			}
		}
	}
	if len(c.out) < MinTriggers {
		if name := strings.NewReplacer("-", " ", "_", " ").Replace(s.Name); text.Words(name) > 1 && text.Words(name) < 6 {
			c.name = ""
			c.add(name)
		}
	}
	if len(c.out) < MinTriggers && len(p.can) > 0 {
		for _, can := range p.can[:1] {
			if short, ok := clip(can, text.Limit(can, 14)); ok && text.Words(short) > 1 {
				c.add(imperative(decapitalised(short)))
			}
		}
	}
	return c.out
}

// imperative turns the "simulates" that a capability may begin with into "simulate".
func imperative(s string) string {
	verb, rest, _ := strings.Cut(s, " ")
	for _, suffix := range [...]string{"sses", "ches", "shes", "xes"} {
		if stem, ok := strings.CutSuffix(verb, "es"); ok && strings.HasSuffix(verb, suffix) {
			return stem + " " + rest
		}
	}
	stem, ok := strings.CutSuffix(verb, "s")
	if !ok || strings.ToLower(verb) != verb || strings.HasSuffix(stem, "s") || strings.HasSuffix(stem, "u") || strings.HasSuffix(stem, "ic") {
		return s
	}
	return stem + " " + rest
}

// collector gathers distinct triggers.
type collector struct {
	name  string // folded; not a trigger, because names are matched anyway
	seen  map[string]bool
	out   []string
	terms [][]string // of each of out
}

// contained reports whether every term of a is one of b.
func contained(a, b []string) bool {
	for _, t := range a {
		if !slices.Contains(b, t) {
			return false
		}
	}
	return true
}

func (c *collector) addAll(phrases []string) {
	for _, s := range phrases {
		c.add(s)
	}
}

// add keeps s if it is something a user says and says something.
func (c *collector) add(s string) {
	s, ok := phrase(s)
	key := text.Fold(s)
	if !ok || len(c.out) == MaxTriggers || c.seen[key] || key == c.name {
		return
	}
	c.seen[key] = true
	terms := text.Terms(s)
	for _, other := range c.terms {
		if contained(terms, other) || contained(other, terms) {
			return
		}
	}
	c.terms = append(c.terms, terms)
	c.out = append(c.out, s)
}

// quotedOrItems adds the quoted phrases of a list of triggers, or else its items.
func (c *collector) quotedOrItems(list string) {
	if phrases := quoted(list); len(phrases) > 1 {
		c.addAll(phrases)
		return
	}
	for _, item := range items(list, ",，、;；|/") {
		c.add(item)
	}
}

// quoted returns what stands in quotes in s.
func quoted(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case '"', '\'', '“', '‘', '「', '『':
			if end := closing(s, i, r); end > 0 {
				_, last := utf8.DecodeLastRuneInString(s[:end])
				inner := s[i+size : end-last]
				if list := strings.Split(inner, "、"); len(list) > 1 && text.Len(slices.MinFunc(list, shorter)) > 2 {
					out = append(out, list...)
				} else {
					out = append(out, inner)
				}
				i = end
				continue
			}
		}
		i += size
	}
	return out
}

func shorter(a, b string) int { return text.Len(a) - text.Len(b) }

// items splits s at marks, and at "or" and "and" at the start of an item, outside of
// quotes and brackets.
func items(s, marks string) []string {
	var out []string
	from := 0
	for i := range outside(s) {
		if i < from {
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '/' && !strings.HasPrefix(s[i:], "/ ") && !strings.HasSuffix(s[:i], " "): // a path or A/B
		case strings.ContainsRune(marks, r):
			out = append(out, s[from:i])
			from = i + size
		case strings.HasPrefix(s[i:], " or "):
			out = append(out, s[from:i])
			from = i + len(" or ")
		}
	}
	return append(out, s[from:])
}

// sceneItems returns the needs that a scene lists, in users' form.
func sceneItems(when string) []string {
	if r, _ := utf8.DecodeRuneInString(when); wide(r) {
		return chineseItems(when)
	}
	s := unbracketed(when)
	if i := strings.Index(s, " - "); i > 0 {
		s = s[:i]
	}
	r := reader{s: s}
	gerunds := true
	r.skip(2, func(w string) bool { gerunds = gerunds && w != "to"; return link(w) })
	var out []string
	for _, item := range items(r.rest(), ",;") {
		if item = need(item); item != "" && !vague(item) {
			out = append(out, item)
		}
	}
	return out
}

// vague reports whether an item of a scene is one word that is a verb or adjective, or too
// common to stand alone: "use when users need to create, visualize, or document software".
func vague(item string) bool {
	word := strings.Trim(item, " .")
	first, _, _ := strings.Cut(strings.ToLower(word), " ")
	switch first {
	case "the", "this", "that", "these", "it", "they", "its", "their", "there", "other", "any", "all", "such", "which", "where", "similar", "both", "your", "even", "them":
		return true
	}
	if strings.ContainsAny(word, " -/") || strings.ToLower(word) != word || text.HanShare(word) > 0 {
		return false
	}
	for _, suffix := range [...]string{"ate", "ize", "ise", "ify"} {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	_, gerund := base(word)
	return gerund || len(word) < 7 || hanging(word)
}

// need turns an item of a scene into what a user says: "the user asks to create a deck",
// "creating a deck" and "you need to create a deck" all become "create a deck"; "" if it
// is about something other than a need.
func need(item string) string {
	item = strings.Trim(item, " .")
	r := reader{s: item}
	r.skip(2, func(w string) bool {
		return w == "or" || w == "and" || w == "when" || w == "whenever" || w == "also" || w == "if"
	})
	switch r.peek() {
	case "the", "a", "user", "users", "you", "someone", "they", "claude", "it", "anyone":
		r.skip(1, func(w string) bool { return w == "the" || w == "a" })
		subject := r.peek()
		if subject != "user" && subject != "users" && subject != "you" && subject != "someone" && subject != "they" && subject != "anyone" {
			r.pos = 0
			break
		}
		r.next()
		verbs := 0
		r.skip(6, func(w string) bool {
			switch w {
			case "asks", "ask", "asking", "wants", "want", "needs", "need", "mentions", "mention", "says", "say", "requests", "request", "is", "are",
				"to", "for", "about", "how", "you", "like", "things", "explicitly", "help", "with", "has", "uploads", "would", "working", "on", "provides", "looking", "trying":
				verbs++
				return true
			}
			return false
		})
		if verbs == 0 {
			return ""
		}
	case "working", "tasks", "task", "dealing":
		r.skip(3, func(w string) bool {
			return w == "working" || w == "tasks" || w == "task" || w == "dealing" || w == "with" || w == "on" || w == "involve" || w == "involving" || w == "require" || w == "requiring"
		})
	case "asked":
		r.skip(3, func(w string) bool { return w == "asked" || w == "to" || w == "about" || w == "for" })
	case "asks", "wants", "needs", "mentions", "says", "requests", "references":
		r.skip(3, func(w string) bool {
			switch w {
			case "asks", "wants", "needs", "mentions", "says", "requests", "references", "to", "for", "about", "how":
				return true
			}
			return false
		})
	}
	rest := r.rest()
	word, tail, more := strings.Cut(rest, " ")
	switch strings.ToLower(word) {
	case "needing", "encountering", "experiencing", "involving", "like", "whether", "requiring", "seeing", "facing", "asking":
		return tail
	case "before", "after", "especially", "particularly", "such", "specific", "tasks", "not":
		return ""
	}
	if verb, ok := base(strings.ToLower(word)); ok && more {
		return verb + " " + tail
	}
	return rest
}

// chineseItems is sceneItems for Chinese: what stands between the verb of asking and the
// words that close the scene.
func chineseItems(when string) []string {
	s, _ := sceneFrame(when)
	for _, w := range [...]string{"适用于", "适合", "当", "每当", "如果", "若", "用户", "有人", "当前", "明确", "涉及"} {
		s = strings.TrimPrefix(s, w)
	}
	for range 3 {
		for _, w := range [...]string{"需要", "要求", "请求", "想要", "希望", "提到", "提及", "询问", "说", "想", "要", "问", "正在", "进行", "涉及"} {
			s = strings.TrimPrefix(s, w)
		}
	}
	return items(s, "，、；,;或")
}

// useItems returns the needs in one item of a body's list of uses.
func useItems(use string) []string {
	if phrases := quoted(use); len(phrases) > 0 {
		return phrases
	}
	if rest, ok := scene(use); ok {
		return sceneItems(rest)
	}
	if _, ok := exclusion(use); ok {
		return nil
	}
	head := use
	for _, mark := range []string{" - ", " — ", " – ", "：", ": "} {
		head, _, _ = strings.Cut(head, mark)
	}
	return []string{need(unbracketed(head))}
}

// phrase returns s in the form of a trigger; ok is false if no user would say it or it
// says too little: a path, a file name, a version, a placeholder, a generic word.
func phrase(s string) (trigger string, ok bool) {
	s = unbracketed(strings.Trim(s, " "))
	s = strings.NewReplacer("[", "", "]", "", "“", "", "”", "", "\"", "", "「", "", "」", "", "『", "", "』", "").Replace(s)
	for _, w := range [...]string{"or ", "and ", "also ", "e.g. ", "e.g., ", "the ", "以及", "或者", "或", "和", "如", "例如", "并", "及", "与"} {
		s = strings.TrimPrefix(s, w)
	}
	s = strings.TrimRight(strings.TrimLeft(s, " ,;:!?'…，。；：！？、-—–"), " .,;:!?'…，。；：！？、-—–")
	for _, w := range [...]string{"用户要求", "用户说", "用户提到", "用户需要", "用户想", "a ", "an "} {
		s = strings.TrimPrefix(s, w)
	}
	for _, w := range [...]string{"时使用", "时", "后", "等场景", "场景", "等", " etc"} {
		if rest := strings.TrimSuffix(s, w); text.Len(rest) > 2 {
			s = strings.TrimRight(rest, " ")
		}
	}
	s = line(s) // what was taken out may leave blanks side by side
	switch n := text.Len(s); {
	case n < 2, n > text.Limit(s, 15), strings.ContainsAny(s, "<>{}$@#=\\*"), strings.HasPrefix(s, "/"), strings.HasPrefix(s, "-"), strings.Contains(s, "://"),
		strings.HasPrefix(s, "相关"), strings.HasPrefix(s, "此技能"), strings.HasPrefix(s, "本技能"), strings.HasPrefix(s, "其他"):
		return "", false
	}
	folded := text.Fold(s)
	words := text.Words(s)
	switch {
	case text.HanShare(s) == 0 && words > 9:
		return "", false
	case !strings.Contains(s, " ") && (fileName(folded) || number(folded) || generic(folded) || text.Stop([]byte(folded))):
		return "", false
	}
	last := folded[strings.LastIndex(folded, " ")+1:]
	if words > 1 && (text.Stop([]byte(last)) && last != "it" && last != "this" && last != "me" && last != "out" && last != "up" && last != "off" && last != "on" && last != "down" && last != "that" && last != "more" && last != "again") {
		return "", false
	}
	return s, true
}

// number reports whether a folded word is a number or a version, such as "v2.1".
func number(word string) bool {
	return strings.Trim(strings.TrimPrefix(word, "v"), "0123456789.,%x+-") == ""
}

// fileName reports whether a folded word is a file name, an extension, a path or an
// identifier, rather than a name such as Next.js.
func fileName(word string) bool {
	if strings.HasPrefix(word, ".") || strings.Contains(word, "_") || strings.Count(word, "/") > 1 || strings.HasSuffix(word, "()") {
		return true
	}
	dot := strings.LastIndexByte(word, '.')
	if dot < 0 {
		return false
	}
	switch word[dot+1:] {
	case "md", "txt", "pdf", "py", "json", "jsonl", "yaml", "yml", "toml", "csv", "tsv", "xlsx", "xls", "docx", "doc", "pptx", "sh", "ts", "tsx", "jsx", "html", "css", "xml",
		"go", "rs", "rb", "java", "ipynb", "mdx", "lock", "cfg", "ini", "log", "sql", "svg", "png", "jpg", "mp4", "mp3", "env":
		return true
	}
	return false
}
