package definitions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"skillrouter/internal/text"
)

const (
	settingsFile    = "skillrouter.yaml"
	maxSettingsFile = 8 << 20 // bytes; 100,000 overrides of 80 bytes
)

// settings are completed Options.
type settings struct {
	Options
	orders *orders
}

func complete(opts *Options) (settings, error) {
	var s settings
	if opts != nil {
		s.Options = *opts
	}
	s.LinkRoots = slices.Clone(s.LinkRoots)
	if s.Orders < Flag || s.Orders > Block {
		return s, fmt.Errorf("definitions: Orders %d is no level; use Flag, Warn or Block", s.Orders)
	}
	for _, bound := range []struct {
		value *int
		zero  int
	}{{&s.Depth, 6}, {&s.MaxSkills, 200_000}} {
		switch {
		case *bound.value == 0:
			*bound.value = bound.zero
		case *bound.value < 0:
			*bound.value = math.MaxInt
		}
	}
	s.orders = newOrders(s.Orders)
	return s, nil
}

// Load reads every root and overlays them: of two skills of a name the one in
// the later root wins, within a root the first by path. It returns an error
// only when ctx ends, or when opts or a root is wrong by itself; a missing
// root counts as empty, a bad file is a [Problem]. A nil opts means the zero
// [Options]. Equal files give an equal catalog.
func Load(ctx context.Context, roots []Root, opts *Options) (*Catalog, error) {
	s, err := Look(ctx, roots, opts)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Load(ctx)
}

// A Scan is what stands in the folders of some roots; no file was read yet. It
// holds the roots open until Close.
type Scan struct {
	roots    []Root
	settings settings
	tree     *tree
	errs     []error // by root
	walks    []*walker
	stamp    [sha256.Size]byte
}

// Look is the first half of [Load], for those who need to know whether anything
// changed before files are read.
func Look(ctx context.Context, roots []Root, opts *Options) (*Scan, error) {
	o, err := complete(opts)
	if err != nil {
		return nil, err
	}
	for i, r := range roots {
		if r.Path == "" && r.FS == nil {
			return nil, fmt.Errorf("definitions: root %d has neither Path nor FS", i)
		}
	}
	s := &Scan{roots: slices.Clone(roots), settings: o}
	s.tree, s.errs = openTree(roots, o.LinkRoots)
	if s.walks, err = s.tree.walkAll(ctx, s.roots, &s.settings); err != nil {
		s.Close()
		return nil, err
	}
	s.stamp = s.tree.stamp(s.roots, s.walks, s.errs)
	return s, nil
}

// Stamp is what [Source.Stamp] returns for the folders as they were.
func (s *Scan) Stamp() string { return hex.EncodeToString(s.stamp[:]) }

// Close lets go of the roots.
func (s *Scan) Close() { s.tree.close() }

// Load reads the files that were found, as [Load] does.
func (s *Scan) Load(ctx context.Context) (*Catalog, error) {
	roots, o, t, walks, errs := s.roots, s.settings, s.tree, s.walks, s.errs
	o.LastGood.retain(walks)
	c := &Catalog{source: &Source{roots: roots, settings: o, stamp: s.stamp}}
	l := overlay{catalog: c, byName: map[string]int{}, byFile: map[string]int{}}
	for i, r := range roots {
		switch {
		case isJSONL(r):
			if err := l.addJSONL(ctx, i, r.Path, &o); err != nil {
				return nil, err
			}
		case errs[i] != nil:
			c.Problems = append(c.Problems, rootProblem(r.Path, errs[i]))
		default:
			c.Problems = append(c.Problems, walks[i].problems...)
			done, err := t.readAll(ctx, walks[i].found, &o)
			if err != nil {
				return nil, err
			}
			l.addRoot(walks[i].found, done)
			l.addFile(t, i, r.Path)
		}
	}
	l.finish()
	return c, nil
}

// rootProblem says why a root could not be opened.
func rootProblem(name string, err error) Problem {
	p := Problem{File: join(name, ""), Severity: Warning, Kind: "root", Refused: false}
	info, statErr := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Severity, p.Kind, p.What, p.Fix = Note, "missing-root", "the folder does not exist and counts as empty", "make it, or check how it is written"
	case statErr == nil && !info.IsDir():
		p.What, p.Fix = "this is neither a folder nor a .jsonl catalog", "give the folder that the skills stand in"
	default:
		p.What, p.Fix = "the folder cannot be read and counts as empty: "+cause(err), "check its permissions"
	}
	return p
}

// A parsed is what became of a candidate.
type parsed struct {
	skill    Skill
	ok       bool
	nested   []string
	problems []Problem
}

// readAll reads the candidates, some at a time; results are in their order.
func (t *tree) readAll(ctx context.Context, found []candidate, o *settings) ([]parsed, error) {
	out := make([]parsed, len(found))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(found)) {
		group.Go(func() {
			for i := range next {
				out[i] = t.read(ctx, &found[i], o)
			}
		})
	}
	for i := range found {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	return out, ctx.Err()
}

// read reads and parses one candidate and lists its documents.
func (t *tree) read(ctx context.Context, c *candidate, o *settings) parsed {
	r := &report{file: c.file()}
	var p parsed
	if c.problem.Refused {
		r.problems, r.refused = append(r.problems, c.problem), true
	} else {
		data, ok := c.bytes(r)
		p.skill, p.ok = c.parseOrRecall(data, ok, o, r)
	}
	if c.name == "SKILL.md" && c.problem.Kind != "not-a-file" {
		l, err := t.list(ctx, c.dir, c.name, c.display, r)
		if err != nil {
			p.ok = false // ctx ended; the caller looks
		}
		p.nested, p.skill.Docs = l.nested, l.docs
		for _, n := range l.nested {
			r.problems = append(r.problems, Problem{
				File: join(c.display, n), Severity: Note, Kind: "nested",
				What: "nested in the folder of the skill " + c.file() + ": a document of it, no skill of its own",
				Fix:  "move the folder out of the other skill's if it should be one",
			})
		}
	}
	if p.ok {
		s := &p.skill
		s.Ref, s.File, s.ModTime = c.ref, c.file(), c.info.ModTime()
		s.Files = mentioned(s.Body(), s.Docs)
	}
	p.problems = r.problems
	return p
}

// bytes reads the candidate's file, never more of it than is allowed.
func (c *candidate) bytes(r *report) ([]byte, bool) {
	if c.info != nil && c.info.Size() > maxFile {
		r.refuse("file-size", 0, fmt.Sprintf("the file has %d bytes, at most %d", c.info.Size(), maxFile), "move parts into documents beside it")
		return nil, false
	}
	data, err := readFile(c.at, maxFile)
	if err != nil {
		r.refuse("unreadable", 0, "the file cannot be read: "+cause(err), "check its permissions")
		return nil, false
	}
	return data, true
}

// An overlay puts the skills of the roots over each other.
type overlay struct {
	catalog *Catalog
	byName  map[string]int // name → index into Skills
	byFile  map[string]int // key of the real file → index into Skills
	keys    []string       // of each of Skills, its real file
	losses  []loss
}

// addRoot takes the candidates of one root, sorted by path.
func (l *overlay) addRoot(found []candidate, done []parsed) {
	c := l.catalog
	// A file that links lead to as well is known by its own path.
	real := map[string]int{}
	for i := range found {
		key := found[i].at.key()
		if j, ok := real[key]; done[i].ok && (!ok || found[j].linked && !found[i].linked) {
			real[key] = i
		}
	}
	for i := range found {
		p := &done[i]
		c.Problems = append(c.Problems, p.problems...)
		c.Counts.Nested += len(p.nested)
		if !p.ok {
			c.Counts.Refused++
			continue
		}
		key := found[i].at.key()
		if first := real[key]; first != i {
			l.lose(&p.skill, &done[first].skill, true)
			continue
		}
		l.add(p.skill, key)
	}
}

// add overlays one skill. key names its real file, or is "".
func (l *overlay) add(s Skill, key string) {
	c := l.catalog
	i, taken := l.byName[s.Name]
	if j, same := l.byFile[key]; key != "" && same && (!taken || i != j) {
		// Two roots reach one file under two names, for want of a name in it.
		l.lose(&s, &c.Skills[j], true)
		return
	}
	switch {
	case !taken:
		l.byName[s.Name] = len(c.Skills)
		l.byFile[key] = len(c.Skills)
		c.Skills = append(c.Skills, s)
		l.keys = append(l.keys, key)
	case c.Skills[i].Ref.Root == s.Ref.Root:
		l.lose(&s, &c.Skills[i], l.keys[i] == key && key != "")
	default:
		l.lose(&c.Skills[i], &s, l.keys[i] == key && key != "")
		delete(l.byFile, l.keys[i])
		c.Skills[i], l.keys[i] = s, key
		l.byFile[key] = i
	}
}

// A loss is a copy that lost. Who won in the end is known when all roots are
// read.
type loss struct {
	loser    Shadow
	hash     string
	winner   string // name
	sameFile bool
}

func (l *overlay) lose(loser, winner *Skill, sameFile bool) {
	l.losses = append(l.losses, loss{Shadow{Name: loser.Name, File: loser.File, Ref: loser.Ref}, loser.Hash, winner.Name, sameFile})
}

// shadow lists a copy that lost.
func (l *overlay) shadow(x loss) {
	winner := &l.catalog.Skills[l.byName[x.winner]]
	x.loser.Winner, x.loser.SameText = winner.File, x.hash == winner.Hash
	l.catalog.Shadowed = append(l.catalog.Shadowed, x.loser)
	p := Problem{Severity: Note, Kind: "shadowed"}
	p.File, p.Line = cutLine(x.loser.File, x.loser.Ref)
	switch {
	case x.sameFile:
		p.Kind = "same-file"
		p.What = fmt.Sprintf("%s: the same file as %s, used once", x.loser.Name, winner.File)
	case x.loser.Ref.Root != winner.Ref.Root:
		p.What = fmt.Sprintf("%s: this copy is shadowed by %s, whose root comes later", x.loser.Name, winner.File)
	case x.loser.SameText:
		p.What = fmt.Sprintf("%s: this copy is shadowed by %s, which holds the same", x.loser.Name, winner.File)
		p.Fix = "keep one of them"
	default:
		p.Severity = Warning
		p.What = fmt.Sprintf("%s: this copy is shadowed by %s, the first of the name in this root", x.loser.Name, winner.File)
		p.Fix = "rename one of them"
	}
	l.catalog.Problems = append(l.catalog.Problems, p)
}

// cutLine parts the file of a .jsonl skill into file and line.
func cutLine(file string, ref Ref) (string, int) {
	line, err := strconv.Atoi(ref.Dir)
	if name, ok := strings.CutSuffix(file, ":"+ref.Dir); ok && err == nil {
		return name, line
	}
	return file, 0
}

// addFile takes the skillrouter.yaml of a root.
func (l *overlay) addFile(t *tree, root int, label string) {
	name := join(label, settingsFile)
	at, info, err := t.at(root, settingsFile)
	var data []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errNotFile
	default:
		data, err = readFile(at, maxSettingsFile)
	}
	p := Problem{File: name, Severity: Error, Kind: "settings-file"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		p.What, p.Fix = "the file cannot be read and is ignored: "+cause(err), "check where it leads and its permissions"
	case len(data) > maxSettingsFile:
		p.What, p.Fix = fmt.Sprintf("the file is over %d bytes and ignored", maxSettingsFile), "make it shorter"
	default:
		l.catalog.Files = append(l.catalog.Files, File{Root: root, Path: name, Data: data})
		return
	}
	l.catalog.Problems = append(l.catalog.Problems, p)
}

// finish counts, looks for names that are too alike, and sorts the problems.
func (l *overlay) finish() {
	c := l.catalog
	c.byName = l.byName
	for _, x := range l.losses {
		l.shadow(x)
	}
	c.Counts.Loaded, c.Counts.Shadowed = len(c.Skills), len(c.Shadowed)
	c.Counts.Found = c.Counts.Loaded + c.Counts.Shadowed + c.Counts.Refused + c.Counts.Nested
	first := map[string]*Skill{}
	for i := range c.Skills {
		s := &c.Skills[i]
		form := nameForm(s.Name)
		other, taken := first[form]
		if !taken {
			first[form] = s
			continue
		}
		p := Problem{Severity: Warning, Kind: "alike-names", What: fmt.Sprintf("the names %s and %s (%s) are easily taken for each other; both are kept", quote(s.Name), quote(other.Name), other.File), Fix: "rename one of them"}
		p.File, p.Line = cutLine(s.File, s.Ref)
		if strings.EqualFold(s.Name, other.Name) {
			p.Kind, p.What = "case-names", fmt.Sprintf("the names %s and %s (%s) are equal but for case; both are kept", quote(s.Name), quote(other.Name), other.File)
		}
		c.Problems = append(c.Problems, p)
	}
	slices.SortStableFunc(c.Problems, func(a, b Problem) int {
		if n := strings.Compare(a.File, b.File); n != 0 {
			return n
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Kind, b.Kind)
	})
}

// nameForm is a name as a slug: names with the same are easily confused.
func nameForm(name string) string {
	words := strings.FieldsFunc(text.Fold(name), func(c rune) bool { return c < 0x80 && !isWord(byte(c)) })
	return strings.Join(words, "-")
}
