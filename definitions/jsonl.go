package definitions

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A lineFile is a .jsonl catalog being read.
type lineFile struct {
	file    *os.File
	in      *bufio.Reader
	line    int
	modTime time.Time
}

// openJSONL opens a catalog the operator named; links in its path are theirs.
func openJSONL(name string) (*lineFile, error) {
	info, err := statJSONL(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return &lineFile{file: f, in: bufio.NewReaderSize(f, 64<<10), modTime: info.ModTime()}, nil
}

func statJSONL(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotFile
	}
	return info, err
}

// next returns the next line without its end. A line over the size of a
// SKILL.md is passed over and long is set. It ends with io.EOF.
func (f *lineFile) next() (line []byte, long bool, err error) {
	f.line++
	for {
		part, err := f.in.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > maxFile {
			line, long = nil, true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || long):
			err = nil
		}
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if f.line == 1 {
			line = []byte(strings.TrimPrefix(string(line), "\ufeff"))
		}
		return line, long, err
	}
}

// addJSONL takes the lines of a .jsonl catalog.
func (l *overlay) addJSONL(ctx context.Context, root int, name string, o *settings) error {
	c := l.catalog
	f, err := openJSONL(name)
	if err != nil {
		c.Problems = append(c.Problems, jsonlProblem(name, err))
		return nil
	}
	defer f.file.Close()
	others := map[string]int{}
	own := map[string]bool{} // domains this root has described
	for n := 0; ; {
		data, long, err := f.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.Problems = append(c.Problems, jsonlProblem(name, err))
			break
		}
		if !long && strings.TrimSpace(string(data)) == "" {
			continue
		}
		if n++; n > o.MaxSkills {
			c.Problems = append(c.Problems, Problem{File: join(name, ""), Line: f.line, Severity: Warning, Kind: "max-skills", What: fmt.Sprintf("%d skills were found; no more are looked for", o.MaxSkills), Fix: "raise the bound"})
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r := &report{file: join(name, "")}
		if long {
			r.refuse("file-size", f.line, fmt.Sprintf("the line is over %d bytes", maxFile), "shorten it")
		} else {
			s, note, ok := parseLine(data, f.line, others, o, r)
			if ok {
				s.Ref, s.ModTime = Ref{root, strconv.Itoa(f.line)}, f.modTime
				s.File = join(name, "") + ":" + s.Ref.Dir
				c.Problems = append(c.Problems, r.problems...)
				l.add(s, "")
				if note != "" && len(s.Domains) > 0 && !own[s.Domains[0]] {
					if c.DomainNotes == nil {
						c.DomainNotes = map[string]string{}
					}
					own[s.Domains[0]], c.DomainNotes[s.Domains[0]] = true, note
				}
				continue
			}
		}
		c.Problems = append(c.Problems, r.problems...)
		c.Counts.Refused++
	}
	if len(others) > 0 {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(others)) {
			parts = append(parts, fmt.Sprintf("%s (%d)", quote(k), others[k]))
		}
		c.Problems = append(c.Problems, Problem{File: join(name, ""), Severity: Note, Kind: "unknown-key", What: "keys that are not read, with how often they stand: " + strings.Join(parts, ", ")})
	}
	return nil
}

func jsonlProblem(name string, err error) Problem {
	p := Problem{File: join(name, ""), Severity: Warning, Kind: "root", What: "the catalog cannot be read: " + cause(err), Fix: "check its permissions"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Severity, p.Kind, p.What, p.Fix = Note, "missing-root", "the catalog does not exist and counts as empty", "make it, or check how it is written"
	case errors.Is(err, errNotFile):
		p.Fix = "name a file; a folder of skills must not be called .jsonl"
	}
	return p
}

// parseLine reads one line: skill, domain (one or a list), description,
// triggers, and domain_description, which it returns. Keys it does not know
// are counted in others.
func parseLine(data []byte, line int, others map[string]int, o *settings, r *report) (s Skill, note string, ok bool) {
	s = Skill{Hash: hash(data), Size: int64(len(data))}
	if !utf8.Valid(data) {
		r.refuse("utf-8", line, fmt.Sprintf("invalid UTF-8 at offset %d of the line", invalidAt(data)), "save the file as UTF-8")
		return s, "", false
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		what := "the line is no JSON object"
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			what += ": " + syntax.Error()
		}
		r.refuse("bad-json", line, what, "write one object a line")
		return s, "", false
	}
	if keys == nil {
		r.refuse("bad-json", line, "the line is no JSON object", "write one object a line")
		return s, "", false
	}
	j := jsonLine{keys: keys, line: line, r: r}
	s.Name, s.Description = j.text("skill"), j.text("description")
	s.Domains, s.Triggers = j.list("domain"), j.list("triggers")
	note = j.text("domain_description")
	s.Core = s.Description
	switch n := utf8.RuneCountInString(s.Name); {
	case s.Name == "":
		fix := "add \"skill\": with the name of the skill"
		if _, named := keys["name"]; named {
			fix = "rename the key \"name\" to \"skill\""
		}
		r.refuse("no-name", line, "skill is missing", fix)
	case n > maxName:
		r.refuse("bad-name", line, fmt.Sprintf("skill has %d characters, at most %d", n, maxName), "shorten it")
	case strings.IndexFunc(s.Name, func(c rune) bool { return !unicode.IsPrint(c) }) >= 0:
		r.refuse("bad-name", line, fmt.Sprintf("skill %s has a character that cannot be printed", quote(s.Name)), "use a-z, 0-9 and hyphens")
	}
	if r.refused {
		return s, "", false
	}
	for k := range keys {
		others[k]++
	}
	switch n := utf8.RuneCountInString(s.Description); {
	case n == 0:
		r.add(Error, "no-description", line, s.Name+": description is missing", "add \"description\":, saying when to use the skill")
	case n > maxDescription:
		r.add(Error, "long-description", line, fmt.Sprintf("%s: description has %d characters, at most %d", s.Name, n, maxDescription), "shorten it")
	}
	o.orders.check(&s, r)
	o.orders.checkShort(note, r)
	if r.refused {
		return s, "", false
	}
	for i := range r.problems {
		r.problems[i].Line = line
	}
	return s, note, true
}

// A jsonLine takes values out of the object of a line.
type jsonLine struct {
	keys map[string]json.RawMessage
	line int
	r    *report
}

// text takes a text.
func (j *jsonLine) text(key string) string {
	raw, ok := j.keys[key]
	delete(j.keys, key)
	if !ok || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		j.r.add(Note, "not-text", j.line, key+" is no text; it is taken as it is written", "write it in quotes")
		s = string(raw)
	}
	clean := tidy(s)
	if hidden := hiddenIn(s); len(hidden) > 0 {
		j.r.add(Warning, "hidden-unicode", j.line, key+" has hidden characters, taken out: "+quoteHidden(hidden), hiddenFix)
	}
	return clean
}

// list takes a list, or one text with "|" between the items.
func (j *jsonLine) list(key string) []string {
	var items []string
	var raw []json.RawMessage
	if json.Unmarshal(j.keys[key], &raw) != nil || raw == nil {
		if t := j.text(key); t != "" {
			items = strings.Split(t, "|")
		}
	}
	for _, x := range raw {
		var s string
		if string(x) != "null" && json.Unmarshal(x, &s) != nil {
			if s = string(x); s[0] == '{' || s[0] == '[' {
				j.r.add(Note, "not-text", j.line, "an item of "+key+" is no text and ignored", "write it in quotes")
				continue
			}
		}
		items = append(items, s)
	}
	delete(j.keys, key)
	for _, item := range items {
		if hidden := hiddenIn(item); len(hidden) > 0 {
			j.r.add(Warning, "hidden-unicode", j.line, key+" has hidden characters, taken out: "+quoteHidden(hidden), hiddenFix)
		}
	}
	return j.r.list(key, j.line, items)
}

// readLine is Read for a .jsonl root.
func (s *Source) readLine(ctx context.Context, ref Ref) (*Skill, error) {
	f, data, err := s.findLine(ctx, ref)
	if err != nil {
		return nil, err
	}
	name := join(s.roots[ref.Root].Path, "")
	r := &report{file: name}
	skill, _, ok := parseLine(data, f.line, map[string]int{}, &s.settings, r)
	if !ok {
		return nil, refusal(r.problems, name)
	}
	skill.Ref, skill.ModTime, skill.File = ref, f.modTime, name+":"+ref.Dir
	return &skill, nil
}

// findLine returns the bytes of a line, and where the reading stopped.
func (s *Source) findLine(ctx context.Context, ref Ref) (*lineFile, []byte, error) {
	if s.closed.Load() {
		return nil, nil, fmt.Errorf("definitions: the source is closed: %w", fs.ErrClosed)
	}
	want, err := strconv.Atoi(ref.Dir)
	if err != nil || want < 1 {
		return nil, nil, fmt.Errorf("definitions: no line %q: %w", ref.Dir, fs.ErrNotExist)
	}
	name := s.roots[ref.Root].Path
	f, err := openJSONL(name)
	if err != nil {
		return nil, nil, fmt.Errorf("definitions: %s: %w", join(name, ""), err)
	}
	defer f.file.Close()
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		data, long, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil, nil, fmt.Errorf("definitions: %s: no line %d: %w", join(name, ""), want, fs.ErrNotExist)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("definitions: %s: %w", join(name, ""), err)
		}
		if f.line < want {
			continue
		}
		if long || strings.TrimSpace(string(data)) == "" {
			return nil, nil, fmt.Errorf("definitions: %s: line %d is no skill: %w", join(name, ""), want, fs.ErrNotExist)
		}
		return f, data, nil
	}
}
