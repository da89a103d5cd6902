package domains

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// ErrNotExtended is what [Draft] returns where it cannot add to a file without touching
// what is there.
var ErrNotExtended = errors.New("cannot add to the file without changing it")

// proposedBy marks what Draft adds.
const proposedBy = `Proposed by "skillrouter domains suggest": edit as you like.`

// Draft writes p as a skillrouter.yaml in which comments say why each domain is one and
// which members are doubtful. Existing is the file that is there, or nothing. All its bytes
// stay, in their order: domains that it does not have are added at the end of its list,
// members to a domain of the same name behind those that it lists, each marked. A skill
// that the file puts in a domain by name is left where it is, so that drafting again adds
// nothing; p should not have those that a folder of the file covers. What [ParseFile] reads
// from existing it reads from the result too, and the additions.
//
// The error wraps [ErrNotExtended] where existing cannot be read, or written on: it says
// what to do.
func Draft(p *Proposal, existing []byte) ([]byte, error) {
	d := drafter{p: p, text: existing, placed: make(map[string]bool)}
	before, problems := ParseFile("skillrouter.yaml", existing)
	for _, pr := range problems {
		if pr.Severity == definitions.Error {
			return nil, fmt.Errorf("%w: correct it first: %s", ErrNotExtended, pr)
		}
	}
	for i := range before.Domains {
		for _, s := range before.Domains[i].Skills {
			d.placed[s] = true
		}
	}
	for name, o := range before.Skills {
		if len(o.Domains) > 0 {
			d.placed[name] = true
		}
	}
	out, err := d.draft()
	if err != nil {
		return nil, err
	}
	after, more := ParseFile("skillrouter.yaml", out)
	if len(more) > len(problems) || !keeps(before, after) {
		return nil, fmt.Errorf("%w: draft to another file and copy what you like", ErrNotExtended)
	}
	return out, nil
}

// keeps reports whether after says all that before does.
func keeps(before, after *File) bool {
	if before.Routing != after.Routing || len(before.LintOff) != len(after.LintOff) || len(after.Domains) < len(before.Domains) || len(before.Skills) != len(after.Skills) {
		return false
	}
	for name, o := range before.Skills {
		if !reflect.DeepEqual(o, after.Skills[name]) {
			return false
		}
	}
	for i := range before.Domains {
		b, a := &before.Domains[i], &after.Domains[i]
		if b.Name != a.Name || b.Description != a.Description || b.Fallback != a.Fallback || !slices.Equal(b.Keywords, a.Keywords) ||
			!slices.Equal(b.Folders, a.Folders) || len(a.Skills) < len(b.Skills) || !slices.Equal(b.Skills, a.Skills[:len(b.Skills)]) {
			return false
		}
	}
	return true
}

// drafter puts a proposal into a text.
type drafter struct {
	p      *Proposal
	text   []byte
	placed map[string]bool // skills that the file puts somewhere
	insert []insertion
}

// insertion is text to put before a line, counted from 1.
type insertion struct {
	line int
	text string
}

func (d *drafter) draft() ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(d.text, []byte("\xef\xbb\xbf")))) == 0 {
		return d.fresh(), nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(d.text, &document); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotExtended, err)
	}
	end := bytes.Count(d.text, []byte("\n")) + 1
	if bytes.HasSuffix(d.text, []byte("\n")) {
		end--
	}
	list, next := valueOf(&document, "domains")
	added := d.domains(list)
	switch {
	case added == "":
	case list == nil:
		d.put(end+1, "domains:\n"+indent(added, 2))
	case isNull(list):
		d.put(d.above(list.Line, next, end), indent(added, 2))
	case list.Style&yaml.FlowStyle != 0:
		return nil, fmt.Errorf("%w: line %d: write domains as a list with a line for each, not in brackets", ErrNotExtended, list.Line)
	default:
		d.put(d.above(list.Line, next, end), indent(added, list.Column-1))
	}
	return d.apply(), nil
}

// valueOf returns the value of a key of the document's mapping, and the line of the next
// key, 0 for none.
func valueOf(document *yaml.Node, key string) (value *yaml.Node, next int) {
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, 0
	}
	pairs := document.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Value == key {
			if i+2 < len(pairs) {
				next = pairs[i+2].Line
			}
			return pairs[i+1], next
		}
	}
	return nil, 0
}

// above returns the line before which the end of a block is that begins at line from:
// above the comments that lead to the next key, or after the last line.
func (d *drafter) above(from, next, end int) int {
	if next == 0 {
		return end + 1
	}
	lines := bytes.Split(d.text, []byte("\n"))
	for next-1 > from {
		line := bytes.TrimRight(lines[next-2], " \t\r")
		if len(line) > 0 && line[0] != '#' {
			break
		}
		next--
	}
	return next
}

func (d *drafter) put(line int, s string) { d.insert = append(d.insert, insertion{line, s}) }

// apply returns the text with the insertions.
func (d *drafter) apply() []byte {
	if len(d.insert) == 0 {
		return d.text
	}
	slices.SortStableFunc(d.insert, func(a, b insertion) int { return a.line - b.line })
	crlf := bytes.Contains(d.text, []byte("\r\n"))
	var out bytes.Buffer
	line := 1
	rest := d.text
	for _, in := range d.insert {
		for line < in.line && len(rest) > 0 {
			i := bytes.IndexByte(rest, '\n') + 1
			if i == 0 {
				i = len(rest)
			}
			out.Write(rest[:i])
			rest = rest[i:]
			line++
		}
		s := in.text
		if n := out.Len(); n > 0 && out.Bytes()[n-1] != '\n' {
			s = "\n" + s
		}
		if crlf {
			s = strings.ReplaceAll(s, "\n", "\r\n")
		}
		out.WriteString(s)
	}
	out.Write(rest)
	return out.Bytes()
}

// fresh writes a file of the proposal alone.
func (d *drafter) fresh() []byte {
	var b strings.Builder
	b.Write(d.text) // white space or a byte order mark
	if len(d.text) > 0 && d.text[len(d.text)-1] != '\n' && !bytes.Equal(d.text, []byte("\xef\xbb\xbf")) {
		b.WriteByte('\n')
	}
	b.WriteString("# " + proposedBy + "\n")
	b.WriteString("# Each domain is what one line of the index shows; keywords are matched, never shown.\n")
	for i := range d.p.Advice {
		b.WriteString("# " + remark(d.p.Advice[i].What+": "+d.p.Advice[i].Fix) + "\n")
	}
	if len(d.p.Unassigned) > 0 {
		b.WriteString("# Like no others: " + remark(strings.Join(d.p.Unassigned, ", ")) + "\n")
	}
	b.WriteString("domains:\n")
	for i := range d.p.Domains {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(indent(d.domain(&d.p.Domains[i], d.p.Domains[i].Members), 2))
	}
	if len(d.p.Domains) == 0 {
		return []byte(strings.TrimSuffix(b.String(), "domains:\n") + "domains: []\n")
	}
	return []byte(b.String())
}

// domains returns the domains that the file does not have, without indent, and puts new
// members of those that it has.
func (d *drafter) domains(list *yaml.Node) string {
	var b strings.Builder
	for i := range d.p.Domains {
		pd := &d.p.Domains[i]
		members := slices.DeleteFunc(slices.Clone(pd.Members), func(m ProposedMember) bool { return d.placed[m.Skill] })
		if len(members) == 0 {
			continue
		}
		if node := domainNode(list, pd.Name); node != nil {
			d.extend(node, members)
			continue
		}
		if b.Len() == 0 {
			b.WriteString("# " + proposedBy + "\n")
		}
		b.WriteString(d.domain(pd, members))
	}
	return b.String()
}

// domainNode returns the mapping of the domain of that name in a list, nil if there is none.
func domainNode(list *yaml.Node, name string) *yaml.Node {
	if list == nil {
		return nil
	}
	for _, item := range list.Content {
		for i := 0; i+1 < len(item.Content) && item.Kind == yaml.MappingNode; i += 2 {
			if item.Content[i].Value == "name" && text.Fold(oneLine(item.Content[i+1].Value)) == text.Fold(name) {
				return item
			}
		}
	}
	return nil
}

// extend puts members behind those that a domain of the file lists. Where it lists them in
// one line, or not at all, they are put in comments above it, because that line is not to
// be touched.
func (d *drafter) extend(node *yaml.Node, members []ProposedMember) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		list := node.Content[i+1]
		if node.Content[i].Value != "skills" || list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 {
			continue
		}
		var b strings.Builder
		for _, m := range members {
			b.WriteString(member(m, "proposed"))
		}
		d.put(list.Content[len(list.Content)-1].Line+1, indent(b.String(), list.Column-1))
		return
	}
	var b strings.Builder
	b.WriteString("# Proposed for the next domain:")
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + remark(m.Skill))
	}
	if line := b.String(); !bytes.Contains(d.text, []byte(line)) {
		d.put(node.Line, indent(line+"\n", max(0, node.Column-3)))
	}
}

// domain writes one domain with some of its members, without indent.
func (d *drafter) domain(pd *ProposedDomain, members []ProposedMember) string {
	var b strings.Builder
	if pd.Reason != "" {
		b.WriteString("# " + remark(pd.Reason) + "\n")
	}
	b.WriteString("- name: " + scalar(pd.Name) + "\n")
	if pd.Description != "" {
		b.WriteString("  description: " + scalar(pd.Description) + "\n")
	}
	if len(pd.Keywords) > 0 {
		quoted := make([]string, len(pd.Keywords))
		for i, k := range pd.Keywords {
			quoted[i] = scalar(k)
		}
		b.WriteString("  keywords: [" + strings.Join(quoted, ", ") + "]\n")
	}
	b.WriteString("  skills:\n")
	for _, m := range members {
		b.WriteString("    " + member(m, ""))
	}
	return b.String()
}

// member writes one member with what it does and where else it might be.
func member(m ProposedMember, mark string) string {
	var notes []string
	if mark != "" {
		notes = append(notes, mark)
	}
	if m.Tag != "" {
		notes = append(notes, m.Tag)
	}
	switch {
	case m.Also:
		notes = append(notes, "also in "+m.Second)
	case m.Second != "":
		notes = append(notes, "or "+m.Second+"?")
	}
	s := "- " + scalar(m.Skill)
	if len(notes) > 0 {
		s += " # " + remark(strings.Join(notes, "; "))
	}
	return s + "\n"
}

// remark returns s as the text of a comment: one line, without hidden characters.
func remark(s string) string {
	s, _ = text.Clean(s)
	return oneLine(s)
}

// indent puts n blanks before each line of s that is not empty.
func indent(s string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line != "\n" {
			b.WriteString(strings.Repeat(" ", n))
		}
		b.WriteString(line)
	}
	return b.String()
}

// scalar writes s as YAML text: as it is where nothing in it can mean anything else, in
// quotes otherwise.
func scalar(s string) string {
	s = remark(s)
	plain := s != "" && !strings.HasPrefix(s, " ")
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), r == ' ', i > 0 && (unicode.IsDigit(r) || r == '-' || r == '_' || r == '.' || r == '、'):
		default:
			plain = false
		}
	}
	var v yaml.Node
	if plain && yaml.Unmarshal([]byte(s), &v) == nil && len(v.Content) == 1 && v.Content[0].Tag == "!!str" && v.Content[0].Value == s {
		return s
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == unicode.ReplacementChar }) {
		return strconv.QuoteToASCII(s)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
