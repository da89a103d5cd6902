package definitions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A place is a folder that files are read from: a root, or a further one that
// links may lead into. On disk all reading goes through os.Root, which never
// leaves it.
type place struct {
	root int    // index of the root; -1 for a place that only links lead to
	base string // real path; "" for an fs.FS
	fsys fs.FS
}

// A spot is a file or folder of a place by its real path: no part is a link.
type spot struct {
	place *place
	path  string // as fs.ValidPath takes it
}

// key tells spots apart across places that overlap.
func (s spot) key() string {
	if s.place.base != "" {
		return filepath.Join(s.place.base, filepath.FromSlash(s.path))
	}
	return fmt.Sprintf("%d:%s", s.place.root, s.path)
}

// below reports whether s lies in the folder dir.
func (s spot) below(dir spot) bool {
	if s.place.base == "" || dir.place.base == "" {
		return s.place == dir.place && (dir.path == "." || strings.HasPrefix(s.path, dir.path+"/"))
	}
	_, ok := inside(dir.key(), s.key())
	return ok
}

// A tree holds the open places of one Load or Read.
type tree struct {
	places []*place // the roots, in order; nil for one that is missing or a .jsonl
	extra  []*place
	opened []*os.Root
}

var (
	errOutside = errors.New("it leads out of the roots")
	errCycle   = errors.New("it leads to itself")
	errNotFile = errors.New("it is not a file")
)

// openTree opens the roots that are folders. A root that cannot be opened is
// nil in places; its error stands in errs.
func openTree(roots []Root, linkRoots []string) (t *tree, errs []error) {
	t = &tree{places: make([]*place, len(roots))}
	errs = make([]error, len(roots))
	for i, r := range roots {
		switch {
		case r.FS != nil:
			t.places[i] = &place{root: i, fsys: r.FS}
		case !isJSONL(r):
			t.places[i], errs[i] = t.open(r.Path, i)
		}
	}
	for _, dir := range linkRoots {
		if p, err := t.open(dir, -1); err == nil {
			t.extra = append(t.extra, p)
		}
	}
	return t, errs
}

func (t *tree) open(dir string, root int) (*place, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	base, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	t.opened = append(t.opened, r)
	return &place{root: root, base: base, fsys: r.FS()}, nil
}

func (t *tree) close() {
	for _, r := range t.opened {
		_ = r.Close() // nothing was written
	}
}

// resolve follows the link at s, and those it leads to, to a file or folder
// of one of the places. We do it ourselves because os.Root refuses links from
// one root into another; opening what we found goes through the owner's
// os.Root all the same, so a link swapped in meanwhile leads nowhere.
func (t *tree) resolve(s spot) (spot, fs.FileInfo, error) {
	if s.place.base == "" {
		return resolveFS(s)
	}
	real, err := filepath.EvalSymlinks(s.key())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), "too many links") {
			err = errCycle
		}
		return spot{}, nil, err
	}
	var owner *place
	var rest string
	for _, p := range append(append([]*place{}, t.places...), t.extra...) {
		if p == nil || p.base == "" || owner != nil && len(p.base) <= len(owner.base) {
			continue
		}
		if below, ok := inside(p.base, real); ok {
			owner, rest = p, below
		}
	}
	if owner == nil {
		return spot{}, nil, errOutside
	}
	to := spot{owner, filepath.ToSlash(rest)}
	info, err := fs.Stat(owner.fsys, to.path)
	return to, info, err
}

// inside returns the path of name below base, both real.
func inside(base, name string) (string, bool) {
	rel, err := filepath.Rel(base, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// maxLinks is how many links resolveFS follows from one.
const maxLinks = 40

// resolveFS is resolve in an fs.FS, out of which no link leads. A file system
// that does not tell where links lead follows them itself.
func resolveFS(s spot) (spot, fs.FileInfo, error) {
	fsys := s.place.fsys
	links, ok := fsys.(fs.ReadLinkFS)
	if !ok {
		info, err := fs.Stat(fsys, s.path)
		return s, info, err
	}
	done, todo, hops := ".", strings.Split(s.path, "/"), 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if done == "." {
				return spot{}, nil, errOutside
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		info, err := links.Lstat(next)
		if err != nil {
			return spot{}, nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if hops++; hops > maxLinks {
			return spot{}, nil, errCycle
		}
		target, err := links.ReadLink(next)
		if err != nil {
			return spot{}, nil, err
		}
		if path.IsAbs(target) {
			return spot{}, nil, errOutside
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	info, err := fs.Stat(fsys, done)
	return spot{s.place, done}, info, err
}

// at returns the spot of a slash path below a root, links followed.
func (t *tree) at(root int, name string) (spot, fs.FileInfo, error) {
	if root < 0 || root >= len(t.places) || t.places[root] == nil {
		return spot{}, nil, fs.ErrNotExist
	}
	if !fs.ValidPath(name) {
		return spot{}, nil, fs.ErrInvalid
	}
	return t.resolve(spot{t.places[root], name})
}

// cause is an error without the path that the caller names anyway.
func cause(err error) string {
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.As(err, &pe):
		return pe.Err.Error()
	}
	return err.Error()
}

// isJSONL reports whether a root is a .jsonl catalog.
func isJSONL(r Root) bool {
	return r.FS == nil && strings.EqualFold(filepath.Ext(r.Path), ".jsonl")
}

// skipped reports whether a folder is never entered.
func skipped(name string) bool { return name == ".git" || name == "node_modules" }

// skillFile returns the name of the file that makes a folder a skill:
// SKILL.md, or for want of it one that differs in case only (exact is false).
func skillFile(entries []fs.DirEntry) (name string, exact bool) {
	for _, e := range entries {
		switch {
		case e.Name() == "SKILL.md":
			return e.Name(), true
		case name == "" && !e.IsDir() && strings.EqualFold(e.Name(), "SKILL.md"):
			name = e.Name()
		}
	}
	return name, false
}
