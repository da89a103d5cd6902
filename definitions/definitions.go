// Package definitions reads skills: folders with a SKILL.md (YAML front matter
// and a Markdown body), or lines of a .jsonl catalog.
//
// [Load] walks any number of roots, reads every skill leniently, overlays the
// roots (later wins) and returns a [Catalog]: the skills, every copy that
// lost, and one located [Problem] for whatever was odd. One bad file never
// hides the others. [Source] reads a single skill or document again, so that
// nobody needs to keep the bodies in memory. [Render] writes the text of
// layer 3, which an agent gets once it has chosen a skill.
//
// Files are untrusted data. Links are followed only into the roots, documents
// only inside their skill's folder, YAML aliases, anchors and tags are
// refused, and hidden Unicode is taken out and reported.
//
// The form is that of Agent Skills (https://agentskills.io/specification);
// fields of our own stand under metadata, because other tools refuse unknown
// keys at the top.
package definitions

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// A Root is one place that skills come from. A root that holds a SKILL.md
// itself is that one skill.
type Root struct {
	// Path is a directory or a .jsonl catalog, and how problems name it.
	Path string
	// FS, if not nil, is read instead of the disk; Path is then only a label.
	// Links in it are followed if it implements [fs.ReadLinkFS].
	FS fs.FS
}

// Options says how skills are looked for. The zero value is the default.
type Options struct {
	Depth       int       // levels of folders below a root that are looked at; 0 means 6, negative no bound; 1: only root/*/SKILL.md
	MaxSkills   int       // SKILL.md files looked at per root; 0 means 200,000, negative no bound; reaching it is a problem
	StrictNames bool      // refuse a skill without a name instead of taking its folder's
	Orders      Level     // what happens to text that gives orders to the agent
	LinkRoots   []string  // directories that links may lead into, besides the roots
	LastGood    *LastGood // what a file was before it broke; nil: a broken file is no skill
}

// A Level says what is done about text that gives orders to the agent, such
// as "ignore all previous instructions".
type Level int

// Levels of [Options.Orders].
const (
	Flag  Level = iota // a note; the skill is used
	Warn               // a warning; the skill is used
	Block              // the skill is refused
)

// A Catalog is what [Load] found. It is not changed after that and safe for
// concurrent reading.
type Catalog struct {
	Skills      []Skill           // the winners; an overriding skill stands where the first of its name stood
	Problems    []Problem         // sorted by file, then line
	Shadowed    []Shadow          // every copy that lost, with who won, in the order they were read
	Counts      Counts            // Found = Loaded + Shadowed + Refused + Nested
	DomainNotes map[string]string // domain → its description, from .jsonl catalogs; later roots win
	Files       []File            // skillrouter.yaml of each directory that has one, in the order of the roots

	byName map[string]int
	source *Source
}

// Skill returns the skill of that exact name.
func (c *Catalog) Skill(name string) (*Skill, bool) {
	i, ok := c.byName[name]
	if !ok {
		return nil, false
	}
	return &c.Skills[i], true
}

// Source returns what reads the catalog's skills again. It does not keep the
// catalog in memory.
func (c *Catalog) Source() *Source { return c.source }

// A File is a skillrouter.yaml, as read.
type File struct {
	Root int    // index into the roots given to [Load]
	Path string // for people: root path and file name
	Data []byte
}

// A Ref says where a skill stands, so that [Source] can read it again.
type Ref struct {
	Root int    // index into the roots given to [Load]
	Dir  string // slash path of the folder below the root; "" for a root that is itself a skill; in a .jsonl the line number
}

// A Skill is one definition. Text has normal line ends and no hidden Unicode.
type Skill struct {
	Name        string // 1 to 64 printable runes, unique in a catalog
	Description string // whole, however long; the lead paragraph when none is given
	Ref         Ref
	File        string // for people: root path and file, with slashes; a .jsonl skill ends in ":" and the line
	Hash        string // SHA-256 of the file (or .jsonl line) as read, first 16 bytes in hex
	Size        int64  // bytes of the file (or line)
	ModTime     time.Time

	// From the front matter, under metadata or at the top; "" or nil when not given.
	Summary     string   // layer 2's sentence
	NotFor      string   // what it cannot do
	DiffersFrom string   // what sets it apart from those easily confused with it
	Params      string   // hint on the parameters
	Triggers    []string // phrases of users
	Domains     []string // names of domains it belongs to
	FromSummary bool     // may be called without layer 3
	Frequent    bool     // its parameter hint is shown with the summary
	Manual      bool     // only by name, never routed to; also disable-model-invocation

	Core      string   // the body up to a line "<!-- extended -->"; the whole body when there is none
	Extension string   // the body after that line
	Lead      string   // first paragraph of prose, without markup
	Headings  []string // headings of level 1 to 3, without markup, at most 24
	Uses      []string // items or sentences below a heading such as "When to use", at most 16
	Docs      []Doc    // other files of the folder and below, sorted by name
	Files     []string // names of those Docs that the body mentions
}

// Body returns the whole body without the mark between core and extension.
func (s *Skill) Body() string { return s.Core + s.Extension }

// A Doc is a file beside a SKILL.md.
type Doc struct {
	Name string // slash path below the skill's folder
	Size int64  // bytes
	Text bool   // false: binary, or over 256 KiB; listed, never given to an agent
}

// A Problem is something odd about a file. It is never fatal.
type Problem struct {
	File     string // as in [Skill.File], or a folder
	Line     int    // from 1; 0 means the whole file
	Severity Severity
	Kind     string // short and stable, such as "unquoted-colon", "nested", "link-outside"
	What     string // lower case, no full stop
	Fix      string // what to do; may be ""
	Refused  bool   // the file is no skill of the catalog because of this
}

// String is "path/SKILL.md:3: what".
func (p Problem) String() string {
	if p.Line > 0 {
		return p.File + ":" + strconv.Itoa(p.Line) + ": " + p.What
	}
	return p.File + ": " + p.What
}

// A Severity says how bad a [Problem] is.
type Severity int

// Severities, in rising order.
const (
	Note    Severity = iota // accepted, worth knowing
	Warning                 // accepted, but probably not what was meant
	Error                   // breaks the specification, or is refused
)

// String is "note", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case Note:
		return "note"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// MarshalText lets JSON and YAML show the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Shadow is a copy of a skill that another one won over.
type Shadow struct {
	Name     string
	File     string
	Winner   string // file of the winner
	Ref      Ref
	SameText bool // both files hold the same bytes
}

// Counts adds up what was found: Found = Loaded + Shadowed + Refused + Nested.
type Counts struct {
	Found    int // files called SKILL.md in any case, links among them, and lines of .jsonl catalogs
	Loaded   int // skills of the catalog
	Shadowed int // copies that lost
	Refused  int // files that are no skill, each with a [Problem]
	Nested   int // SKILL.md files inside another skill's folder: its documents
}

// join names the file at a slash path below a root for people.
func join(root, name string) string {
	root = strings.ReplaceAll(root, `\`, "/")
	if root == "" || root == "." && name != "" && name != "." {
		return path.Clean(name)
	}
	return path.Join(root, name)
}
