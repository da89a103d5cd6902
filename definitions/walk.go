package definitions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A candidate is a file found that may be a skill.
type candidate struct {
	ref     Ref
	name    string // SKILL.md, or as it is written
	folder  string // what a skill without a name is called
	display string // the folder, for people
	dir     spot   // the folder
	at      spot   // the file, links followed
	info    fs.FileInfo
	linked  bool    // reached by a link
	problem Problem // why it is refused, if Refused is set
}

func (c *candidate) file() string { return join(c.display, c.name) }

// A walker looks for skills below one root.
type walker struct {
	tree     *tree
	root     int
	label    string // the root, for people
	settings *settings

	found    []candidate
	problems []Problem
	visited  map[string]string // key of each folder read → its path, for people
	links    []folder          // links to folders, read when all real folders are
	full     bool              // MaxSkills was reached
	deep     []string          // folders at the bound that have folders below
}

// A folder is to be looked at: where it stands for people and really, and how
// far below the root.
type folder struct {
	dir    string // slash path below the root; "" for the root
	at     spot
	depth  int
	linked bool
}

// walk looks below a root: real folders first, then the ones that links lead
// to, each real folder once. So it ends whatever the links do, and a skill is
// known by its real path if it has one in the root.
func (w *walker) walk(ctx context.Context) error {
	w.visited = map[string]string{}
	if err := w.visit(ctx, folder{at: spot{w.tree.places[w.root], "."}}); err != nil {
		return err
	}
	for len(w.links) > 0 && !w.full {
		slices.SortFunc(w.links, func(a, b folder) int { return strings.Compare(a.dir, b.dir) })
		next := w.links[0]
		w.links = w.links[1:]
		if known, ok := w.visited[next.at.key()]; ok {
			w.add(next.dir, Note, "same-folder", "a link to "+known+", which is read there", "")
			continue
		}
		if err := w.visit(ctx, next); err != nil {
			return err
		}
	}
	if len(w.deep) > 0 {
		w.add(w.deep[0], Note, "depth", fmt.Sprintf("skills are looked for %d levels deep; this folder has folders below it that were not looked at (%d such folders)", w.settings.Depth, len(w.deep)), "raise the depth if skills are there")
	}
	slices.SortFunc(w.found, func(a, b candidate) int {
		return strings.Compare(path.Join(a.ref.Dir, a.name), path.Join(b.ref.Dir, b.name))
	})
	return nil
}

func (w *walker) add(dir string, s Severity, kind, what, fix string) {
	w.problems = append(w.problems, Problem{File: join(w.label, dir), Severity: s, Kind: kind, What: what, Fix: fix})
}

// visit reads a folder and goes on below it unless it is a skill.
func (w *walker) visit(ctx context.Context, f folder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.full {
		return nil
	}
	w.visited[f.at.key()] = join(w.label, f.dir)
	entries, err := fs.ReadDir(f.at.place.fsys, f.at.path)
	if err != nil {
		w.add(f.dir, Warning, "unreadable", "the folder cannot be read: "+cause(err), "check its permissions")
		if len(entries) == 0 {
			return nil
		}
	}
	if name, exact := skillFile(entries); name != "" && f.depth <= w.settings.Depth {
		if w.candidate(f, name, exact, entries) {
			return nil
		}
	}
	for _, e := range entries {
		if skipped(e.Name()) {
			continue
		}
		child := folder{dir: path.Join(f.dir, e.Name()), depth: f.depth + 1, linked: f.linked}
		switch {
		case e.IsDir():
			if f.depth >= w.settings.Depth {
				w.deep = append(w.deep, f.dir)
				return nil
			}
			child.at = spot{f.at.place, path.Join(f.at.path, e.Name())}
			if err := w.visit(ctx, child); err != nil {
				return err
			}
		case e.Type()&fs.ModeSymlink != 0 && !strings.EqualFold(e.Name(), "SKILL.md") && f.depth < w.settings.Depth:
			child.at = spot{f.at.place, path.Join(f.at.path, e.Name())}
			w.link(child)
		}
	}
	return nil
}

// link looks where a link leads and keeps it for later if that is a folder.
func (w *walker) link(f folder) {
	to, info, err := w.tree.resolve(f.at)
	switch {
	case errors.Is(err, errOutside):
		w.add(f.dir, Warning, "link-outside", "a link that leaves the root is not followed", "give the folder that it leads into as a root, or allow links into it")
	case errors.Is(err, errCycle):
		w.add(f.dir, Warning, "link-cycle", "a link that leads to itself", "remove it")
	case err != nil:
		w.add(f.dir, Warning, "dangling-link", "a link that leads nowhere: "+cause(err), "remove or mend it")
	case info.IsDir():
		f.at, f.linked = to, true
		w.links = append(w.links, f)
	}
}

// candidate takes the skill file of a folder. It reports whether the folder
// is a skill, below which no others are looked for.
func (w *walker) candidate(f folder, name string, exact bool, entries []fs.DirEntry) bool {
	c := candidate{
		ref: Ref{w.root, f.dir}, name: name, folder: folderOf(w.label, f.dir), display: join(w.label, f.dir),
		dir: f.at, at: spot{f.at.place, path.Join(f.at.path, name)}, linked: f.linked,
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	switch mode := entries[i].Type(); {
	case !exact:
		c.refuse("case-name", "the file is called "+name+", which is no skill", "rename it to SKILL.md")
	case mode&fs.ModeSymlink != 0:
		c.linked = true
		to, info, err := w.tree.resolve(c.at)
		switch {
		case errors.Is(err, errOutside):
			c.refuse("link-outside", "symlink leaves root: it is not followed", "put the file there itself, or give the folder that it leads into as a root")
		case errors.Is(err, errCycle):
			c.refuse("link-cycle", "the link leads to itself", "put the file there itself")
		case err != nil:
			c.refuse("dangling-link", "the link leads nowhere: "+cause(err), "remove or mend it")
		case !info.Mode().IsRegular():
			c.refuse("link-not-file", "the link leads to no file", "let it lead to a file")
		default:
			c.at, c.info = to, info
		}
	case !mode.IsRegular():
		c.refuse("not-a-file", "SKILL.md is no file", "put a file of that name there")
	default:
		info, err := fs.Stat(c.at.place.fsys, c.at.path)
		if err != nil {
			c.refuse("unreadable", "the file cannot be read: "+cause(err), "check its permissions")
		}
		c.info = info
	}
	w.found = append(w.found, c)
	if len(w.found) == w.settings.MaxSkills {
		w.full = true
		w.add("", Warning, "max-skills", fmt.Sprintf("%d skills were found; no more are looked for", len(w.found)), "raise the bound, or give a folder further down")
	}
	return exact && !entries[i].IsDir()
}

// refuse notes why c is no skill.
func (c *candidate) refuse(kind, what, fix string) {
	c.problem = Problem{File: c.file(), Severity: Error, Kind: kind, What: what, Fix: fix, Refused: true}
}
