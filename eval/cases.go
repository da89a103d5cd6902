package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A Case is one labelled utterance. It says at least one of: the right skills,
// the right domains, that it is out of scope, which skills must not come
// first, that a question is expected. Without Domains the right ones are those
// of Skills. In a file a list of one name may be the name itself.
type Case struct {
	Text       string   `json:"text"`
	Skills     []string `json:"skills,omitempty"`   // right ones, best first: any of them is a hit
	Domains    []string `json:"domains,omitempty"`  // right ones
	OutOfScope bool     `json:"oos,omitempty"`      // no skill serves it; then Skills and Domains are empty
	Not        []string `json:"not,omitempty"`      // skills that look right and are wrong
	Question   bool     `json:"question,omitempty"` // the user should be asked

	// Free, to report by.
	ID    string `json:"id,omitempty"`
	Lang  string `json:"lang,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Split string `json:"split,omitempty"`

	File string `json:"-"` // it was read from
	Line int    `json:"-"` // in File, from 1
}

// InScope tells whether some skill or domain is right.
func (c *Case) InScope() bool { return len(c.Skills) > 0 || len(c.Domains) > 0 }

// A Set is what one file holds: cases, or dialogues.
type Set struct {
	File      string
	Cases     []Case
	Dialogues []Dialogue
	Unused    []string // keys of its objects that say nothing here, sorted
}

// maxLine bounds a line of a file of cases, maxFile one that is YAML.
const (
	maxLine = 1 << 20
	maxFile = 64 << 20
)

// Read reads one object a line of JSON or, if the path ends in .yaml or .yml, a
// YAML list of the same objects. An object with the key turns is a
// [Dialogue], others are a [Case]; one file holds one sort. path names the
// source in errors. What is wrong with lines comes as one [CasesError] of all.
func Read(r io.Reader, path string) (*Set, error) {
	s := &setReader{set: &Set{File: path}, unused: map[string]bool{}}
	var err error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		err = s.yaml(r)
	default:
		err = s.lines(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(s.wrong.Problems) == 0 && len(s.set.Cases) == 0 && len(s.set.Dialogues) == 0 {
		s.wrong.add(path, 0, "it is empty: a line is a case, such as {\"text\": \"…\", \"skills\": [\"…\"]}, or a dialogue with turns")
	}
	if len(s.wrong.Problems) > 0 {
		return nil, &s.wrong
	}
	s.set.Unused = slices.Sorted(maps.Keys(s.unused))
	return s.set, nil
}

// ReadCases reads cases as [Read] does, and fails for dialogues.
func ReadCases(r io.Reader, path string) ([]Case, error) {
	s, err := Read(r, path)
	if err != nil {
		return nil, err
	}
	if len(s.Cases) == 0 {
		return nil, fmt.Errorf("%s: these are dialogues, not cases", path)
	}
	return s.Cases, nil
}

// A Problem is something wrong with a file of cases.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1; 0: the file as a whole
	What string `json:"what"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.What
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
}

// A CasesError says what is wrong with files of cases, all of it, in the order
// of the files.
type CasesError struct{ Problems []Problem }

// told is how many problems the text of an error tells.
const told = 20

// Error tells the first problems, one a line.
func (e *CasesError) Error() string {
	var lines []string
	for _, p := range e.Problems[:min(told, len(e.Problems))] {
		lines = append(lines, p.String())
	}
	if more := len(e.Problems) - told; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func (e *CasesError) add(file string, line int, format string, args ...any) {
	e.Problems = append(e.Problems, Problem{file, line, fmt.Sprintf(format, args...)})
}

// A setReader reads one file.
type setReader struct {
	set    *Set
	unused map[string]bool
	wrong  CasesError
	ids    map[string]int // of dialogues
}

func (s *setReader) lines(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(line)) > 0 {
			s.object(line, n)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes", maxLine)
	} else if err != nil {
		return err
	}
	return nil
}

func (s *setReader) yaml(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("it is larger than %d bytes: write cases as JSON lines", maxFile)
	}
	var doc, more yaml.Node
	docs := yaml.NewDecoder(bytes.NewReader(data))
	if err := docs.Decode(&doc); errors.Is(err, io.EOF) { // empty
		return nil
	} else if err != nil {
		return err
	}
	if err := docs.Decode(&more); err == nil {
		s.wrong.add(s.set.File, more.Line, "a second YAML document: put all cases into one list")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode {
		s.wrong.add(s.set.File, list.Line, "it must be a list of cases: - text: …")
		return nil
	}
	for _, n := range list.Content {
		if aliased(n) {
			s.wrong.add(s.set.File, n.Line, "a YAML alias: write it out")
			continue
		}
		var v any
		if err := n.Decode(&v); err != nil {
			s.wrong.add(s.set.File, n.Line, "%v", err)
			continue
		}
		line, err := json.Marshal(v)
		if err != nil {
			s.wrong.add(s.set.File, n.Line, "%v", err)
			continue
		}
		s.object(line, n.Line)
	}
	return nil
}

// aliased tells whether n holds an alias: a few lines of them stand for more
// than any memory holds.
func aliased(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, aliased)
}

// object reads one case or dialogue.
func (s *setReader) object(data []byte, n int) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		s.wrong.add(s.set.File, n, "%v", plainly(err))
		return
	}
	var err error
	has := func(key string) bool { _, ok := keys[key]; return ok }
	switch {
	case has("turns"):
		err = s.dialogue(data, n)
	case has("text"):
		err = s.single(keys, n)
	default:
		err = errors.New("neither text nor turns: it must be a case with a text, or a dialogue with turns")
	}
	if err != nil {
		s.wrong.add(s.set.File, n, "%v", err)
		return
	}
	for k := range keys {
		if !known(k) {
			s.unused[k] = true
		}
	}
}

// known tells whether an object may have a key. JSON matches without case.
func known(key string) bool {
	return slices.ContainsFunc([]string{
		"text", "skills", "domains", "oos", "not", "question", "id", "lang", "kind", "split", "turns", "index",
	}, func(k string) bool { return strings.EqualFold(k, key) })
}

func (s *setReader) single(keys map[string]json.RawMessage, n int) error {
	for _, k := range []string{"skills", "domains", "not"} {
		if name := keys[k]; len(name) > 0 && name[0] == '"' {
			keys[k] = slices.Concat([]byte("["), name, []byte("]"))
		}
	}
	data, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	var c Case
	if err := json.Unmarshal(data, &c); err != nil {
		return plainly(err)
	}
	c.File, c.Line = s.set.File, n
	if err := c.check(); err != nil {
		return err
	}
	if len(s.set.Dialogues) > 0 {
		return errors.New("a case among dialogues: put them in files of their own")
	}
	s.set.Cases = append(s.set.Cases, c)
	return nil
}

func (c *Case) check() error {
	right := len(c.Skills) + len(c.Domains)
	switch {
	case strings.TrimSpace(c.Text) == "":
		return errors.New("no text")
	case slices.Contains(slices.Concat(c.Skills, c.Domains, c.Not), ""):
		return errors.New("an empty name of a skill or domain")
	case c.OutOfScope && right > 0:
		return fmt.Errorf("oos is true, but there are %d skills and %d domains", len(c.Skills), len(c.Domains))
	case !c.OutOfScope && right == 0 && !c.Question && len(c.Not) == 0:
		return errors.New("no label: skills, domains, oos, not or question must say what is right")
	}
	for i, skill := range c.Skills {
		if slices.Contains(c.Skills[:i], skill) {
			return fmt.Errorf("the skill %q stands twice", skill)
		}
		if slices.Contains(c.Not, skill) {
			return fmt.Errorf("the skill %q is right and must not be", skill)
		}
	}
	for i, domain := range c.Domains {
		if slices.Contains(c.Domains[:i], domain) {
			return fmt.Errorf("the domain %q stands twice", domain)
		}
	}
	return nil
}

func (s *setReader) dialogue(data []byte, n int) error {
	var d Dialogue
	if err := json.Unmarshal(data, &d); err != nil {
		return plainly(err)
	}
	d.Line = n
	if err := d.check(); err != nil {
		return err
	}
	if first, ok := s.ids[d.ID]; ok {
		return fmt.Errorf("the id %q is that of line %d", d.ID, first)
	}
	if len(s.set.Cases) > 0 {
		return errors.New("a dialogue among cases: put them in files of their own")
	}
	if s.ids == nil {
		s.ids = map[string]int{}
	}
	s.ids[d.ID] = n
	s.set.Dialogues = append(s.set.Dialogues, d)
	return nil
}

// plainly says of JSON of the wrong type where it is and what belongs there.
func plainly(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	want, named := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false", reflect.Slice: "a list",
	}[wrong.Type.Kind()]
	if !named {
		want = "an object"
	}
	if wrong.Field == "" {
		return fmt.Errorf("the line is of type %s: it must be %s", wrong.Value, want)
	}
	return fmt.Errorf("%s is of type %s: it must be %s", wrong.Field, wrong.Value, want)
}
