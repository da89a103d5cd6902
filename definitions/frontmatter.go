package definitions

import (
	"fmt"
	"strings"
)

// A document is a file cut into front matter and body. Both have "\n" as line
// ends.
type document struct {
	found     bool   // whether there is front matter
	front     string // the lines between the marks
	frontLine int    // number of front's first line
	body      string
	mark      string // the closing mark's line
	open      bool   // there is no closing mark
}

// split cuts text at lines that are exactly "---". What is common and clear
// is accepted with a note: blanks around the mark, a late start, a fence
// around the file, key lines without marks, a missing closing mark. Whatever
// is not front matter is body: no byte is lost but the marks and, for a
// fenced file, the fence's first line.
func split(text string, r *report) document {
	lines := strings.SplitAfter(text, "\n")
	first := 0
	for first < len(lines) && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	if first == len(lines) {
		return document{body: text}
	}
	switch line := strings.TrimSpace(lines[first]); {
	case line == "---":
		if first > 0 {
			r.add(Note, "late-front-matter", first+1, "blank lines stand before the front matter", "let the file begin with ---")
		}
		return between(lines, first, "", r)
	case isFence(line) && first+1 < len(lines) && strings.TrimSpace(lines[first+1]) == "---":
		r.add(Warning, "fenced-front-matter", first+1, "the file begins with a code fence, the front matter inside it is used", "take the fence away")
		return between(lines, first+1, "", r)
	case isFrontKey(lines[first]):
		return unmarked(lines, first, r)
	}
	if at := lateStart(lines, first); at >= 0 {
		r.add(Warning, "late-front-matter", at+1, "text stands before the front matter", "let the file begin with ---")
		return between(lines, at, strings.Join(lines[:at], ""), r)
	}
	return document{body: text}
}

// between cuts at the opening mark lines[open] and the closing one after it;
// before is text that goes to the front of the body.
func between(lines []string, open int, before string, r *report) document {
	if strings.TrimRight(lines[open], "\n") != "---" {
		r.add(Note, "marker-blanks", open+1, "blanks stand around the opening ---", "write just ---")
	}
	end := closing(lines, open+1, r)
	d := document{found: true, frontLine: open + 2}
	if end < 0 {
		d.open = true
		end = proseStart(lines[open+1:], false) + open + 1
		if end == open+1 {
			// A rule at the top of a plain Markdown file.
			return document{body: strings.Join(lines, "")}
		}
		r.add(Error, "unterminated", open+1, "the front matter has no closing ---; its key lines are used", "add a line --- below the last key")
		d.front, d.body = strings.Join(lines[open+1:end], ""), before+strings.Join(lines[end:], "")
		return d
	}
	d.front, d.mark, d.body = strings.Join(lines[open+1:end], ""), lines[end], before+strings.Join(lines[end+1:], "")
	return d
}

// closing returns the index of the closing mark, -1 for none. An indented
// mark may be text of a block scalar, so it counts only when there is no
// better one.
func closing(lines []string, from int, r *report) int {
	loose := -1
	for i := from; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\n")
		if line == "---" {
			return i
		}
		if loose < 0 && (line == "..." || len(line) > 2 && strings.Trim(line, " \t-") == "" && strings.Contains(line, "---")) {
			loose = i
		}
	}
	if loose >= 0 {
		r.add(Note, "marker-form", loose+1, fmt.Sprintf("the front matter is closed by %q", strings.TrimRight(lines[loose], "\n")), "write just ---")
	}
	return loose
}

// unmarked takes key lines at the top of a file without marks as its front
// matter; they end at a blank line, a heading or a mark.
func unmarked(lines []string, first int, r *report) document {
	end := first
	for end < len(lines) {
		line := strings.TrimSpace(lines[end])
		if line == "" || line == "---" || strings.HasPrefix(line, "#") {
			break
		}
		end++
	}
	r.add(Warning, "unmarked-front-matter", first+1, "the front matter has no --- around it; the key lines at the top are used", "put a line --- above and below them")
	d := document{found: true, frontLine: first + 1, front: strings.Join(lines[first:end], "")}
	if end < len(lines) && strings.TrimSpace(lines[end]) == "---" {
		d.mark = lines[end]
		end++
	}
	d.body = strings.Join(lines[end:], "")
	return d
}

// lateLines is how far down a file its front matter may begin: far enough for
// a licence comment or a title, not for an example in a text about skills.
const lateLines = 20

// lateStart finds a mark followed by a name or description in the first lines
// of a file, outside code fences, that has a closing mark; -1 for none.
func lateStart(lines []string, first int) int {
	fenced := false
	for i := first; i+1 < len(lines) && i < lateLines; i++ {
		line := strings.TrimSpace(lines[i])
		if isFence(line) {
			fenced = !fenced
		}
		if fenced || line != "---" || !isFrontKey(lines[i+1]) {
			continue
		}
		for _, later := range lines[i+2:] {
			if strings.TrimRight(later, " \t\n") == "---" {
				return i
			}
		}
	}
	return -1
}

// proseStart returns the index of the first line that cannot belong to front
// matter: at the margin and neither key, list item nor comment. With
// afterBlank it must follow a blank line, for a long value may go on at the
// margin; a heading above it belongs to it. It returns len(lines) when there
// is none.
func proseStart(lines []string, afterBlank bool) int {
	blank := false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			blank = true
			continue
		case line[0] == ' ' || line[0] == '\t':
		case blank && !afterBlank && isHeading(trimmed):
			return i
		case strings.HasPrefix(trimmed, "#"):
			continue
		case strings.HasPrefix(trimmed, "- ") || trimmed == "-":
		case keyOf(line) != "":
		case !afterBlank || blank:
			for i > 0 && (strings.TrimSpace(lines[i-1]) == "" || lines[i-1][0] == '#') {
				i--
			}
			return i
		}
		blank = false
	}
	return len(lines)
}

// keyOf returns the key of a line "key: value" or "key:" at the margin, "" for
// any other line.
func keyOf(line string) string {
	end := strings.IndexByte(line, ':')
	if end <= 0 || end > 64 || end+1 < len(line) && line[end+1] != ' ' && line[end+1] != '\t' && line[end+1] != '\n' {
		return ""
	}
	key := strings.TrimRight(line[:end], " ")
	if n := len(key); n > 2 && (key[0] == '"' || key[0] == '\'') && key[n-1] == key[0] {
		key = key[1 : n-1]
	}
	for i := range len(key) {
		c := key[i]
		if c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return ""
		}
	}
	if key == "" || key[0] == '-' {
		return ""
	}
	return key
}

// isFrontKey reports whether a line sets the name or the description.
func isFrontKey(line string) bool {
	key := keyOf(line)
	return key == "name" || key == "description"
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// isHeading reports whether a trimmed line is a Markdown heading.
func isHeading(line string) bool {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	return n >= 1 && n <= 6 && len(line) > n && (line[n] == ' ' || line[n] == '\t')
}

// normalEnds turns CRLF and lone CR into LF.
func normalEnds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
