package definitions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"skillrouter/internal/text"
)

const (
	maxFile        = 1 << 20  // bytes of a SKILL.md
	maxFront       = 64 << 10 // bytes of its front matter
	maxName        = 64       // runes of a name
	maxDescription = 1024     // runes of a description in the specification
	maxList        = 64       // triggers or domains that are kept
)

// parse reads the bytes of a SKILL.md. folder is the name of its folder. It
// returns false when the file is refused; r then says why.
func parse(data []byte, folder string, o *settings, r *report) (Skill, bool) {
	s := Skill{Hash: hash(data), Size: int64(len(data))}
	content, ok := decode(data, r)
	if !ok {
		return s, false
	}
	if isLinkText(content) {
		r.refuse("link-text", 1, "the file holds nothing but the path of another: a symbolic link that was checked out as text", "check out with git config core.symlinks true, or put the file there itself")
		return s, false
	}
	d := split(content, r)
	if len(d.front) > maxFront {
		r.refuse("front-matter-size", d.frontLine, fmt.Sprintf("the front matter has %d bytes, at most %d", len(d.front), maxFront), "move text into the body")
		return s, false
	}
	var all []field
	if d.found {
		all = readFront(&d, content, r)
		if r.refused {
			return s, false
		}
	}
	if !d.found {
		r.add(Warning, "no-front-matter", 0, "no front matter: the folder's name and the first paragraph are used", "begin the file with --- and the lines name: and description:, closed by ---")
	}
	s.Core, s.Extension = splitBody(d.body)
	if strings.TrimSpace(d.body) == "" {
		r.add(Warning, "empty-body", 0, "empty body", "say below the front matter how the task is done")
	}
	out := outlineOf(s.Core)
	s.Lead, s.Headings, s.Uses = out.lead, out.headings, out.uses
	fill(&s, all, folder, d.found, o, r)
	if !r.refused {
		o.orders.check(&s, r)
	}
	return s, !r.refused
}

// isLinkText reports whether a file is what git makes of a symbolic link where
// links are switched off.
func isLinkText(content string) bool {
	line := strings.TrimRight(content, "\n")
	return len(line) < 1024 && strings.Contains(line, "/") && strings.EqualFold(path.Ext(line), ".md") && !strings.ContainsAny(line, " \t\n:#")
}

// readFront parses the front matter of d. If it turns out to be prose between
// two rules, or to have lost its closing mark, d is corrected.
func readFront(d *document, content string, r *report) []field {
	var doc yaml.Node
	var all []field
	if err := yaml.Unmarshal([]byte(d.front), &doc); err == nil {
		all = mapping(&doc, d.front, d.frontLine, r)
	} else {
		if !d.open {
			d.cutProse(r)
		}
		all = fields(d.front, d.frontLine, r)
	}
	if all == nil && !r.refused && strings.TrimSpace(d.front) != "" {
		*d = document{body: content}
	}
	return all
}

// cutProse ends broken front matter above text that reads like a body: the
// closing mark was forgotten, and a rule further down passes for it.
func (d *document) cutProse(r *report) {
	lines := strings.SplitAfter(d.front, "\n")
	at := proseStart(lines, true)
	if at == len(lines) || keyOf(lines[0]) == "" {
		return
	}
	r.add(Error, "unterminated", d.frontLine+at, "the front matter has no closing --- before this text; the key lines above it are used", "add a line --- below the last key")
	d.front = strings.Join(lines[:at], "")
	d.body = strings.Join(lines[at:], "") + d.mark + d.body
}

// decode checks the bytes of a file and returns its text: without byte order
// mark and hidden characters, with "\n" as line ends.
func decode(data []byte, r *report) (string, bool) {
	if len(data) > maxFile {
		r.refuse("file-size", 0, fmt.Sprintf("the file is over %d bytes", maxFile), "move parts into documents beside it")
		return "", false
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) || looksUTF16(data) {
		r.refuse("utf-16", 0, "the file is UTF-16", "save it as UTF-8")
		return "", false
	}
	data, bom := bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		r.refuse("nul", lineAt(data, i), fmt.Sprintf("NUL byte at offset %d", i), "save the file as UTF-8 text")
		return "", false
	}
	if !utf8.Valid(data) {
		i := invalidAt(data)
		r.refuse("utf-8", lineAt(data, i), fmt.Sprintf("invalid UTF-8 at offset %d", i), "save the file as UTF-8")
		return "", false
	}
	content := string(data)
	if strings.TrimSpace(content) == "" {
		r.refuse("empty", 0, "the file is empty", "write front matter and a body, or take the folder away")
		return "", false
	}
	if bom {
		r.add(Note, "bom", 1, "byte order mark", "save the file without it")
	}
	if strings.Contains(content, "\r") {
		r.add(Note, "line-ends", lineAt(data, bytes.IndexByte(data, '\r')), "line ends are not all LF", "save the file with LF")
		content = normalEnds(content)
	}
	clean, hidden := text.Clean(content)
	if len(hidden) > 0 {
		line := 1
		for l := range strings.SplitSeq(content, "\n") {
			if _, h := text.Clean(l); len(h) > 0 {
				break
			}
			line++
		}
		r.add(Warning, "hidden-unicode", line, "hidden characters, taken out: "+quoteHidden(hidden), hiddenFix)
	}
	if strings.TrimSpace(clean) == "" {
		r.refuse("empty", 0, "the file is empty but for hidden characters", "write front matter and a body, or take the folder away")
		return "", false
	}
	return clean, true
}

// quoteHidden shows what was hidden, at most some of it.
func quoteHidden(hidden []string) string {
	const most = 4
	var b strings.Builder
	for i, h := range hidden[:min(len(hidden), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(h))
	}
	if n := len(hidden) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}

// quote shows text from a file in a message: on one line, escaped, not long.
func quote(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// looksUTF16 tells UTF-16 without byte order mark from text with a stray NUL:
// nearly every second byte of the start is NUL.
func looksUTF16(data []byte) bool {
	head := data[:min(len(data), 64)]
	return len(head) >= 4 && bytes.Count(head, []byte{0})*5 >= len(head)*2
}

func lineAt(data []byte, i int) int { return 1 + bytes.Count(data[:i], []byte("\n")) }

// invalidAt is the offset of the first byte that is no UTF-8.
func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// fill sets the fields of s from front matter. found says whether there was
// any, so that its lack is reported once.
func fill(s *Skill, all []field, folder string, found bool, o *settings, r *report) {
	f := gather(all, r)
	s.Name = f.name(folder, found, o, r)
	if r.refused {
		return
	}
	s.Description = f.text("description")
	switch n := utf8.RuneCountInString(s.Description); {
	case n > maxDescription:
		r.add(Error, "long-description", f.line("description"), fmt.Sprintf("description has %d characters, at most %d", n, maxDescription), "shorten it; it is loaded whole, but other tools cut or refuse it")
	case n == 0:
		if found {
			r.add(Error, "no-description", max(f.line("description"), 1), "description is missing: the first paragraph is used", "add a line description: that says when to use the skill")
		}
		s.Description = s.Lead
	}
	s.Summary, s.NotFor = f.text("summary"), f.text("not-for")
	s.DiffersFrom, s.Params = f.text("differs-from"), f.text("params")
	s.Triggers, s.Domains = f.list("triggers"), f.list("domains")
	s.FromSummary, s.Frequent = f.flag("from-summary"), f.flag("frequent")
	manual, off := f.flag("manual"), f.flag("disable-model-invocation")
	s.Manual = manual || off
	s.LintOff, s.Foreign = f.list("lint-off"), f.foreign
	s.Uses = addUses(s.Uses, f.text("when-to-use"))
}

// name checks the name, or takes the folder's.
func (f *front) name(folder string, found bool, o *settings, r *report) string {
	value, given := f.values["name"]
	name := f.text("name")
	line := f.line("name")
	missing := !given || isNull(value.value)
	switch {
	case missing && o.StrictNames:
		r.refuse("no-name", line, "name is missing", "add a line name: "+folder)
		return ""
	case missing && (folder == "" || folder == "."):
		r.refuse("no-name", line, "name is missing, and there is no folder to name it after", "add a line name: to the front matter")
		return ""
	case missing:
		name, line = folder, 0
		if found {
			r.add(Warning, "no-name", 0, fmt.Sprintf("name is missing: the folder's name %s is used", quote(folder)), "add a line name: "+folder)
		}
	case name == "":
		r.refuse("bad-name", line, "name is empty", "name the skill like its folder: "+folder)
		return ""
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		r.refuse("bad-name", line, fmt.Sprintf("name has %d characters, at most %d", n, maxName), "shorten it")
		return ""
	}
	if i := strings.IndexFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }); i >= 0 {
		r.refuse("bad-name", line, fmt.Sprintf("name %s has a character that cannot be printed", quote(name)), "use a-z, 0-9 and hyphens")
		return ""
	}
	if !plainNameForm(name) {
		r.add(Note, "name-form", line, fmt.Sprintf("name %s is not of the form a-z, 0-9 and single hyphens", quote(name)), "other tools may refuse it")
	}
	if !missing && name != folder && folder != "" {
		r.add(Note, "name-not-folder", line, fmt.Sprintf("name %s is unlike the folder's name %s", quote(name), quote(folder)), "name them alike; the skill goes by its name")
	}
	return name
}

// plainNameForm reports whether a name is of the specification's form.
func plainNameForm(name string) bool {
	for part := range strings.SplitSeq(name, "-") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// folderOf names the folder of a skill: its last element, or for a root that
// is itself a skill the root's own.
func folderOf(root, dir string) string {
	if dir != "" {
		return path.Base(dir)
	}
	if root == "" {
		return ""
	}
	base := path.Base(strings.ReplaceAll(root, `\`, "/"))
	if base == "." || base == "/" || base == ".." {
		return ""
	}
	return base
}
