package definitions

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxNesting bounds lists and maps inside each other in front matter.
const maxNesting = 16

// A field is one key of front matter with its value.
type field struct {
	key   string // as written
	line  int    // in the file
	value *yaml.Node
	raw   string // the value's source lines, when it had to be read as text or is no scalar
}

// fields reads front matter whose first line is line number base of the file.
// When YAML refuses the whole, each top-level key is read by itself, and one
// whose value is no YAML is taken as the plain text it was meant to be. It
// returns nil when src holds no key at all.
func fields(src string, base int, r *report) []field {
	var doc yaml.Node
	err := yaml.Unmarshal([]byte(src), &doc)
	if err == nil {
		return mapping(&doc, src, base, r)
	}
	if tabbed := spaceTabs(src); tabbed != src {
		r.add(Warning, "tab", base+firstDiff(src, tabbed), "a tab indents the front matter", "use blanks")
		return fields(tabbed, base, r)
	}
	return recoverFields(src, base, true, r)
}

// mapping lists the keys of front matter that YAML has read.
func mapping(doc *yaml.Node, src string, base int, r *report) []field {
	if len(doc.Content) == 0 {
		return nil
	}
	top := doc.Content[0]
	if !allowed(top, base-1, 1, r) || top.Kind != yaml.MappingNode {
		return nil
	}
	return pairs(top, strings.Split(src, "\n"), base)
}

// pairs lists the keys of a mapping. lines are its source, if the source of
// values that are no scalars is wanted, the first of them number base.
func pairs(m *yaml.Node, lines []string, base int) []field {
	out := make([]field, 0, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		f := field{key: key.Value, line: key.Line, value: value}
		if value.Kind != yaml.ScalarNode {
			f.raw = source(lines, m, i, base)
		}
		out = append(out, f)
	}
	return out
}

// source returns the source text of the value of a mapping's i-th node, from
// behind its key to the line of the next key.
func source(lines []string, m *yaml.Node, i, base int) string {
	from, to := m.Content[i].Line-base, len(lines)
	if i+2 < len(m.Content) {
		to = m.Content[i+2].Line - base
	}
	if from < 0 || to > len(lines) || to <= from {
		return ""
	}
	_, part, _ := strings.Cut(strings.Join(lines[from:to], "\n"), ":")
	return strings.TrimSpace(part)
}

// allowed refuses what untrusted front matter has no use for: aliases and
// anchors (they expand without bound), tags, and deep nesting. It adds shift to
// the line of every node, so that they count in the file.
func allowed(n *yaml.Node, shift, depth int, r *report) bool {
	n.Line += shift
	line := n.Line
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.refuse("alias", line, "aliases not allowed: the front matter uses a YAML alias or anchor (* or &)", "write the value out, or in quotes if it is text")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.refuse("tag", line, fmt.Sprintf("the front matter uses a YAML tag (%s)", n.Tag), "take it away, or put the value in quotes if it is text")
		return false
	case depth > maxNesting && n.Kind != yaml.ScalarNode:
		r.refuse("nesting", line, fmt.Sprintf("the front matter is nested more than %d levels deep", maxNesting), "flatten it")
		return false
	}
	for _, c := range n.Content {
		if !allowed(c, shift, depth+1, r) {
			return false
		}
	}
	return true
}

// recoverFields reads each key at the margin of broken front matter by itself.
// With deep, it goes on so in the map below a key.
func recoverFields(src string, base int, deep bool, r *report) []field {
	lines := strings.Split(src, "\n")
	var out []field
	for i := 0; i < len(lines); {
		key := keyOf(lines[i])
		end := i + 1
		for end < len(lines) && keyOf(lines[end]) == "" {
			end++
		}
		if key != "" {
			f, ok := recoverField(key, lines[i:end], base+i, deep, r)
			if r.refused {
				return nil
			}
			if ok {
				out = append(out, f)
			}
		}
		i = end
	}
	return out
}

// recoverField reads the lines of one key.
func recoverField(key string, lines []string, line int, deep bool, r *report) (field, bool) {
	var doc yaml.Node
	err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &doc)
	if err == nil && len(doc.Content) == 1 && len(doc.Content[0].Content) == 2 {
		if !allowed(doc.Content[0], line-1, 1, r) {
			return field{}, false
		}
		return pairs(doc.Content[0], lines, line)[0], true
	}
	_, first, _ := strings.Cut(lines[0], ":")
	first = strings.TrimSpace(first)
	if isAlias(first) || err != nil && strings.Contains(err.Error(), "unknown anchor") && !strings.HasPrefix(first, "*") {
		r.refuse("alias", line, "aliases not allowed: "+key+" is a YAML alias (*)", "write the value out, or in quotes if it is text")
		return field{}, false
	}
	if first == "" && deep {
		if sub, ok := nested(lines[1:], line+1, r); ok {
			return field{key: key, line: line, value: sub}, !r.refused
		}
	}
	if normalKey(key) == "name" && (strings.HasPrefix(first, "[") || strings.HasPrefix(first, "{")) {
		r.refuse("bad-yaml", line, fmt.Sprintf("front matter: name is not valid YAML: %s", reason(err)), "write the name as plain text")
		return field{}, false
	}
	value := plainValue(first, lines[1:])
	if colon := strings.Contains(value, ": ") || strings.HasSuffix(value, ":"); colon && !strings.HasPrefix(first, `"`) && !strings.HasPrefix(first, "'") {
		r.add(Warning, "unquoted-colon", line, "unquoted colon in "+key+"; the whole text is used", "put the value in quotes")
	} else if _, own := ownKeys()[normalKey(key)]; !own {
		r.add(Warning, "bad-yaml", line, fmt.Sprintf("front matter: %s is not valid YAML (%s); it is passed over", key, reason(err)), "mend it: other tools refuse the whole file")
	} else {
		r.add(Warning, "bad-yaml", line, fmt.Sprintf("front matter: %s is not valid YAML (%s); it is read as plain text", key, reason(err)), "put the value in quotes, with \\\" for quotes inside")
	}
	return field{key: key, line: line, raw: value, value: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: line, Style: yaml.DoubleQuotedStyle}}, true
}

// nested recovers a map below a key, such as metadata.
func nested(lines []string, line int, r *report) (*yaml.Node, bool) {
	indent := -1
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if n := len(l) - len(strings.TrimLeft(l, " ")); indent < 0 || n < indent {
			indent = n
		}
	}
	if indent <= 0 {
		return nil, false
	}
	flush := make([]string, len(lines))
	for i, l := range lines {
		flush[i] = l[min(indent, len(l)):]
	}
	subs := recoverFields(strings.Join(flush, "\n"), line, false, r)
	if r.refused {
		return nil, true
	}
	if len(subs) == 0 {
		return nil, false
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range subs {
		m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: f.key, Line: f.line}, f.value)
	}
	return m, true
}

// plainValue is the text that a broken value was meant to be: its first line
// and the ones it goes on in, without the quotes around it.
func plainValue(first string, rest []string) string {
	sep := " "
	if strings.HasPrefix(first, "|") && len(first) <= 3 {
		first, sep = "", "\n"
	} else if strings.HasPrefix(first, ">") && len(first) <= 3 {
		first = ""
	}
	parts := make([]string, 0, len(rest)+1)
	for _, l := range append([]string{first}, rest...) {
		if l = strings.TrimSpace(l); l != "" {
			parts = append(parts, l)
		}
	}
	value := strings.Join(parts, sep)
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return value
	}
	quote := value[0]
	value = value[1:]
	if n := len(value); n > 0 && value[n-1] == quote && !strings.HasSuffix(value, `\"`) {
		value = value[:n-1]
	}
	if quote == '\'' {
		return strings.ReplaceAll(value, "''", "'")
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\t`, "\t").Replace(value)
}

// isAlias reports whether a value is a YAML alias and nothing else.
func isAlias(value string) bool {
	name, ok := strings.CutPrefix(value, "*")
	return ok && name != "" && !strings.ContainsAny(name, " \t*,.:;!?")
}

// reason is a YAML error without the library's prefix and its line number,
// which counts from the wrong line.
func reason(err error) string {
	if err == nil {
		err = errors.New("not a key with a value")
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		_, text, _ = strings.Cut(rest, ": ")
	}
	return text
}

// spaceTabs turns tabs that indent lines into two blanks each.
func spaceTabs(src string) string {
	lines := strings.Split(src, "\n")
	for i, l := range lines {
		body := strings.TrimLeft(l, " \t")
		if lead := l[:len(l)-len(body)]; body != "" && strings.Contains(lead, "\t") {
			lines[i] = strings.ReplaceAll(lead, "\t", "  ") + body
		}
	}
	return strings.Join(lines, "\n")
}

// firstDiff is the number of the first line, from 0, in which a and b differ.
func firstDiff(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			return strings.Count(a[:i], "\n")
		}
	}
	return 0
}
