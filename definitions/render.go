package definitions

import (
	"strings"

	"skillrouter/internal/text"
)

// RenderOptions says what of a skill [Render] writes beside its core.
type RenderOptions struct {
	Extension bool      // the part after "<!-- extended -->" too
	Docs      []DocText // documents, in this order
}

// A DocText is a document with its text, as [Source.Doc] returns it.
type DocText struct {
	Name string
	Text string
}

// Render returns the text of layer 3:
//
//	[Loaded] name
//
//	body
//	[Doc] guide.md
//	text of the document
//
// It always holds the whole core. Marks that would close or forge a block are
// escaped (see [Escape]), hidden characters are taken out. Equal input gives
// equal bytes.
func Render(s *Skill, opts RenderOptions) string {
	var b strings.Builder
	body := s.Core
	if opts.Extension {
		body = s.Body()
	}
	b.WriteString("[Loaded] ")
	b.WriteString(oneLine(s.Name))
	b.WriteString("\n\n")
	b.WriteString(content(body))
	for _, d := range opts.Docs {
		b.WriteString("[Doc] ")
		b.WriteString(oneLine(d.Name))
		b.WriteString("\n")
		b.WriteString(content(d.Text))
	}
	return b.String()
}

// content is text made safe, without blank lines around it, ending in one
// line end; "" stays "".
func content(s string) string {
	s, _ = text.Clean(normalEnds(s))
	s = strings.TrimRight(strings.TrimLeft(s, "\n"), " \t\n")
	if s == "" {
		return ""
	}
	s = Escape(s)
	// A line of the text must not pass for one of our own heads.
	for _, head := range []string{"[Loaded] ", "[Doc] ", "[More] "} {
		if strings.HasPrefix(s, head) {
			s = `\` + s
		}
		s = strings.ReplaceAll(s, "\n"+head, "\n\\"+head)
	}
	return s + "\n"
}

// oneLine keeps a name from starting a line of its own.
func oneLine(s string) string {
	return Escape(strings.Join(strings.Fields(s), " "))
}

// Escape makes catalog text safe to stand inside a block of a prompt: in a
// closing tag that could end one of ours, such as </skill_system> or </skill>,
// the "<" becomes "&lt;". Other text, HTML among it, is unchanged.
func Escape(s string) string {
	var b strings.Builder
	done := 0
	for i := strings.Index(s, "<"); i >= 0; {
		if closesBlock(s[i+1:]) {
			b.WriteString(s[done:i])
			b.WriteString("&lt;")
			done = i + 1
		}
		next := strings.Index(s[i+1:], "<")
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// closesBlock reports whether s, which follows a "<", goes on as the closing
// tag of a block that prompts use.
func closesBlock(s string) bool {
	s = strings.TrimLeft(s, " \t\n")
	s, ok := strings.CutPrefix(s, "/")
	if !ok {
		return false
	}
	s = strings.TrimLeft(s, " \t\n")
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] == '-' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	name := strings.ReplaceAll(strings.ToLower(s[:n]), "-", "_")
	switch name {
	case "skill", "skills", "available_skills", "system", "system_reminder", "system_prompt":
		return true
	}
	return strings.HasPrefix(name, "skill_")
}
