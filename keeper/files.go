package keeper

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// file looks at the file of one skill: the size of its core (D11), its links, and keys that
// other tools refuse (complaint 50).
func (l *linter) file(s *subject) {
	d := s.definition
	most := l.o.CoreTokens
	if most == 0 {
		most = defaultCore
	}
	if n := text.Tokens(d.Core); most > 0 && n > most {
		l.about(s, "long-core", fmt.Sprintf("the definition has some %d tokens, at most %d", n, most), "")
	}
	if len(d.Foreign) > 0 {
		l.about(s, "foreign-keys", "keys at the top that the specification does not have: "+few(d.Foreign), "")
	}
	if s.line == 0 {
		l.links(s)
	}
}

// links reports links to files that are not there.
func (l *linter) links(s *subject) {
	docs := make(map[string]bool)
	for _, d := range s.definition.Docs {
		docs[d.Name] = true
		for dir := path.Dir(d.Name); dir != "." && !docs[dir]; dir = path.Dir(dir) {
			docs[dir] = true
		}
	}
	seen := make(map[string]bool)
	for _, to := range l.linksOf(s.definition.Body()) {
		name := path.Clean(to)
		switch {
		case seen[name] || name == "." || name == "SKILL.md" || docs[name]:
		case name == ".." || strings.HasPrefix(name, "../"):
			l.about(s, "outside-link", "the body links to "+quote(to)+", out of the skill's folder", "")
		default:
			fix := ""
			for _, d := range s.definition.Docs {
				if path.Base(d.Name) == path.Base(name) || strings.EqualFold(d.Name, name) {
					fix = "write " + d.Name
					break
				}
			}
			l.about(s, "broken-link", "the body links to "+quote(to)+", which is not there", fix)
		}
		seen[name] = true
	}
}

// linksOf returns the relative paths that Markdown links of a body lead to, outside code.
func (l *linter) linksOf(body string) []string {
	var out []string
	fence := ""
	for line := range strings.Lines(body) {
		trimmed := strings.TrimSpace(line)
		if mark := fenceOf(trimmed); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else if trimmed == mark {
				fence = ""
			}
			continue
		}
		if fence != "" || strings.HasPrefix(line, "    ") && !strings.HasPrefix(trimmed, "-") && !strings.HasPrefix(trimmed, "*") && !startsWithDigit(trimmed) {
			continue
		}
		for _, m := range l.link.FindAllStringSubmatch(l.code.ReplaceAllString(line, ""), -1) {
			if to := relative(m[1]); to != "" {
				out = append(out, to)
			}
		}
	}
	return out
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// fenceOf returns the mark of a line that opens or closes a code block, "" for others.
func fenceOf(line string) string {
	for _, c := range "`~" {
		if n := len(line) - len(strings.TrimLeft(line, string(c))); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func markdownLink() *regexp.Regexp {
	return regexp.MustCompile(`!?\[[^\]\n]*\]\(<?([^()<>\s]+)>?(?:\s+"[^"\n]*")?\)`)
}

// linkInCode matches code in backticks that holds a whole link: an example.
func linkInCode() *regexp.Regexp { return regexp.MustCompile("`[^`]*\\]\\([^`]*`") }

// relative returns the path of a link below the skill's folder, "" if it leads elsewhere or
// stands for one to be filled in.
func relative(to string) string {
	to, _, _ = strings.Cut(to, "#")
	to, _, _ = strings.Cut(to, "?")
	switch {
	case to == "", strings.HasPrefix(to, "/"), strings.HasPrefix(to, "~"), strings.Contains(to, ":"), strings.ContainsAny(to, "{}$*<>|\\…"),
		strings.HasPrefix(to, "www."), strings.Contains(to, "@"), strings.Contains(to, "..."):
		return ""
	}
	if path.Ext(to) == "" && !strings.HasSuffix(to, "/") && !strings.HasPrefix(to, "./") && !strings.HasPrefix(to, "../") {
		return "" // "url", "link", "image": an example
	}
	switch strings.ToLower(strings.TrimSuffix(path.Base(to), path.Ext(to))) {
	case "url", "link", "path", "image", "file", "example", "placeholder":
		return ""
	}
	if plain, err := url.PathUnescape(to); err == nil {
		to = plain
	}
	return to
}

// documents reports documents that nothing mentions, and those that are there twice.
func (l *linter) documents(ctx context.Context) error {
	if l.o.Catalog == nil {
		return nil
	}
	for i := range l.skills {
		s := &l.skills[i]
		if s.definition == nil || len(s.definition.Docs) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		texts := l.texts(ctx, s)
		l.dead(s, texts)
		l.double(s, texts)
	}
	return nil
}

// texts reads the documents of a skill that an agent may be given.
func (l *linter) texts(ctx context.Context, s *subject) map[string]string {
	const most = 400 // documents; a skill with more is a repository
	out := make(map[string]string)
	source := l.o.Catalog.Source()
	for _, d := range s.definition.Docs {
		if !d.Text || len(out) == most {
			continue
		}
		if data, err := source.Doc(ctx, s.Ref, d.Name); err == nil {
			out[d.Name] = string(data)
		}
	}
	return out
}

// dead reports documents that neither the body nor a document that is mentioned leads to:
// by its path, its name, its name without ending as code imports it, or its folder.
func (l *linter) dead(s *subject, texts map[string]string) {
	alive := make(map[string]bool)
	reading := []string{s.definition.Body()}
	for len(reading) > 0 {
		from := reading[0]
		reading = reading[1:]
		for _, d := range s.definition.Docs {
			if !alive[d.Name] && mentions(from, d.Name) {
				alive[d.Name] = true
				reading = append(reading, texts[d.Name])
			}
		}
	}
	var dead []string
	for _, d := range s.definition.Docs {
		if !alive[d.Name] && d.Text && !furniture(d.Name) {
			dead = append(dead, d.Name)
		}
	}
	if len(dead) == 0 {
		return
	}
	what := "nothing mentions the document " + quote(dead[0])
	if len(dead) > 1 {
		what = fmt.Sprintf("nothing mentions %d documents: %s", len(dead), few(dead))
	}
	l.about(s, "dead-document", what, "")
}

// mentions tells whether a text leads to a document.
func mentions(from, name string) bool {
	base := path.Base(name)
	if strings.Contains(from, base) {
		return true
	}
	if stem := strings.TrimSuffix(base, path.Ext(base)); len(stem) > 3 && word(from, stem) {
		return true
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if strings.Contains(from, dir+"/") || strings.Contains(from, path.Base(dir)+"/") || word(from, path.Base(dir)) && strings.Contains(dir, "/") {
			return true
		}
	}
	return false
}

// word tells whether w stands in s by itself.
func word(s, w string) bool {
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		i := strings.Index(s[from:], w)
		if i < 0 {
			return false
		}
		from += i
		before, after := []rune(s[max(0, from-4):from]), []rune(s[from+len(w):min(len(s), from+len(w)+4)])
		if (len(before) == 0 || !inside(before[len(before)-1])) && (len(after) == 0 || !inside(after[0])) {
			return true
		}
		from += len(w)
	}
}

// furniture tells files that stand in a folder for people and tools, not for agents.
func furniture(name string) bool {
	base := strings.ToLower(path.Base(name))
	if strings.HasPrefix(base, ".") || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || base == "tools.json" || base == "skill.md" {
		return true
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch stem {
	case "license", "licence", "notice", "copying", "readme", "changelog", "contributing", "authors", "security", "code_of_conduct", "__init__", "package", "package-lock",
		"pyproject", "requirements", "makefile", "dockerfile", "go", "cargo", "tsconfig", "conftest", "setup", "uv", "yarn", "pnpm-lock", "poetry", "metadata", "_meta", "plugin", "skill", "skills", "agents", "claude", "gemini":
		return true
	}
	return strings.HasPrefix(base, "license") || strings.HasPrefix(base, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") ||
		strings.HasPrefix(base, "readme") || strings.Contains(name, "tests/") || strings.Contains(name, "evals/") || strings.HasPrefix(name, "agents/")
}

// double reports documents with the same bytes.
func (l *linter) double(s *subject, texts map[string]string) {
	first := make(map[[sha256.Size]byte]string)
	for _, d := range s.definition.Docs {
		data := strings.TrimSpace(texts[d.Name])
		const least = 40 // bytes; empty files are equal for a reason
		if len(data) < least || furniture(d.Name) {
			continue
		}
		sum := sha256.Sum256([]byte(data))
		if other, ok := first[sum]; ok {
			l.about(s, "double-document", fmt.Sprintf("%s holds the same as %s", quote(d.Name), quote(other)), "")
			continue
		}
		first[sum] = d.Name
	}
}

// names reports names that look like another's, or mix alphabets (complaint 31, cc-audit#139).
func (l *linter) names() {
	first := make(map[string]*subject)
	for i := range l.skills {
		s := &l.skills[i]
		form := skeleton(s.Name)
		if other, ok := first[form]; ok && other.Name != s.Name && text.Fold(other.Name) != text.Fold(s.Name) {
			f := s.finding("look-alike", fmt.Sprintf("the name %q looks like %q (%s)", s.Name, other.Name, other.file), "")
			f.Others, f.Severity = []string{other.Name}, definitions.Error
			l.add(f)
			continue
		}
		if _, ok := first[form]; !ok {
			first[form] = s
		}
		if letters := foreignLetters(s.Name); letters != "" {
			f := s.finding("look-alike", fmt.Sprintf("the name %q holds letters that look like Latin ones: %s", s.Name, letters), "")
			f.Severity = definitions.Error
			l.add(f)
		}
	}
}

// lookAlikes are letters that look like Latin ones, from Unicode's confusables (UTS 39).
func lookAlikes() (from, to []rune) {
	return []rune("аеорсухіјѕԁԛԝһӏАВЕКМНОРСТХІЈЅοανικρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧɡıⅼ"), []rune("aeopcyxijsdqwhlABEKMHOPCTXIJSoavikptuxABEZHIKMNOPTYXgil")
}

// skeleton is name as the eye takes it.
func skeleton(name string) string {
	from, to := lookAlikes()
	same := make(map[rune]rune, len(from))
	for i, r := range from {
		same[r] = to[i]
	}
	var b strings.Builder
	for _, r := range name {
		if latin, ok := same[r]; ok {
			r = latin
		}
		switch r = unicode.ToLower(r); r {
		case '0':
			r = 'o'
		case '1', '|':
			r = 'l'
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), "rn", "m")
}

// foreignLetters returns the letters of a name that look like Latin ones beside which they
// stand, as "а (U+0430)".
func foreignLetters(name string) string {
	from, _ := lookAlikes()
	if !strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && unicode.IsLetter(r) }) {
		return ""
	}
	var out []string
	for _, r := range name {
		if strings.ContainsRune(string(from), r) {
			out = append(out, fmt.Sprintf("%c (U+%04X)", r, r))
		}
	}
	return strings.Join(out, ", ")
}
