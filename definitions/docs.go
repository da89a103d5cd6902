package definitions

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxDoc   = 256 << 10 // bytes of a document that is given to an agent
	maxDocs  = 2_000     // documents of a skill that are listed
	docSniff = 512       // bytes looked at to tell text from binary
)

// A listing is what stands in a skill's folder beside its SKILL.md.
type listing struct {
	docs   []Doc
	nested []string // SKILL.md files further down, slash paths below the folder
}

// list goes through the folder at dir, which display names for people. It
// does not follow links to folders; links to files are documents when they
// stay in the folder.
func (t *tree) list(ctx context.Context, dir spot, own, display string, r *report) (listing, error) {
	var l listing
	more := 0
	var walk func(name string) error
	walk = func(name string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := fs.ReadDir(dir.place.fsys, path.Join(dir.path, name))
		if err != nil {
			r.problems = append(r.problems, Problem{File: join(display, name), Severity: Warning, Kind: "unreadable", What: "the folder cannot be read: " + cause(err), Fix: "check its permissions"})
			return nil
		}
		skill, _ := skillFile(entries)
		for _, e := range entries {
			child := path.Join(name, e.Name())
			if e.IsDir() {
				if !skipped(e.Name()) {
					if err := walk(child); err != nil {
						return err
					}
				}
				continue
			}
			if name == "" && e.Name() == own {
				continue
			}
			if name != "" && e.Name() == skill {
				l.nested = append(l.nested, child)
			}
			if len(l.docs) == maxDocs {
				more++
				continue
			}
			doc, ok := t.doc(dir, child, e, display, r)
			if ok {
				l.docs = append(l.docs, doc)
			}
		}
		return nil
	}
	err := walk("")
	if more > 0 {
		r.add(Warning, "many-documents", 0, fmt.Sprintf("the folder holds over %d documents; %d are left out", maxDocs, more), "move what no agent reads out of the folder")
	}
	slices.SortFunc(l.docs, func(a, b Doc) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(l.nested)
	return l, err
}

// doc describes the document at name below dir.
func (t *tree) doc(dir spot, name string, e fs.DirEntry, display string, r *report) (Doc, bool) {
	at := spot{dir.place, path.Join(dir.path, name)}
	if e.Type()&fs.ModeSymlink != 0 {
		target, info, err := t.resolve(at)
		if err == nil && info.IsDir() {
			r.problems = append(r.problems, Problem{File: join(display, name), Severity: Note, Kind: "link-document", What: "a link to a folder inside a skill is not followed", Fix: "put the folder there itself"})
			return Doc{}, false
		}
		if err == nil && !target.below(dir) {
			err = errOutside
		}
		if err == nil && !info.Mode().IsRegular() {
			err = errNotFile // opening a pipe would wait for ever
		}
		if err != nil {
			r.problems = append(r.problems, Problem{File: join(display, name), Severity: Warning, Kind: "link-document", What: "the document is a link that cannot be followed: " + cause(err), Fix: "put the file itself into the skill's folder"})
			return Doc{}, false
		}
		at = target
	} else if !e.Type().IsRegular() {
		return Doc{}, false
	}
	d := Doc{Name: name}
	f, err := at.place.fsys.Open(at.path)
	if err != nil {
		return d, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return d, false
	}
	if d.Size = info.Size(); d.Size > maxDoc {
		return d, true
	}
	head, err := io.ReadAll(io.LimitReader(f, docSniff))
	d.Text = err == nil && isText(head, d.Size > docSniff)
	return d, true
}

// isText reports whether data is UTF-8 without NUL; when cut, its last rune
// may be torn.
func isText(data []byte, cut bool) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	if cut {
		for n := 0; n < utf8.UTFMax-1 && len(data) > 0 && !utf8.Valid(data); n++ {
			data = data[:len(data)-1]
		}
	}
	return utf8.Valid(data)
}

// mentioned returns the names of docs that body mentions: by path, or by file
// name when no other document has the same one.
func mentioned(body string, docs []Doc) []string {
	if len(docs) == 0 {
		return nil
	}
	bases := map[string]int{}
	for _, d := range docs {
		bases[path.Base(d.Name)]++
	}
	words := map[string]bool{}
	collect := func(split func(rune) bool) {
		for w := range strings.FieldsFuncSeq(body, split) {
			w = strings.TrimPrefix(strings.TrimRight(w, ".,;:/"), "./")
			w, _, _ = strings.Cut(w, "#")
			words[w] = true
		}
	}
	// Latin names end where other letters begin; other names end at blanks and marks.
	collect(func(c rune) bool {
		return c > 0x7f || !isWord(byte(c)) && !strings.ContainsRune("._-/#", c)
	})
	collect(func(c rune) bool {
		return strings.ContainsRune(" \t\n()[]<>\"'`“”‘’「」《》，。；：、", c)
	})
	var out []string
	for _, d := range docs {
		base := path.Base(d.Name)
		if words[d.Name] || bases[base] == 1 && strings.Contains(base, ".") && words[base] {
			out = append(out, d.Name)
		}
	}
	return out
}
