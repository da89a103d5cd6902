package definitions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// A Source reads skills again. It holds no body and no open file, and is safe
// for concurrent use.
type Source struct {
	roots    []Root
	settings settings
	stamp    [sha256.Size]byte
	bundled  bool // the roots are those of a bundle
	closed   atomic.Bool
}

// Read parses the file of ref anew. Which copy wins is not decided again. The
// error matches [fs.ErrNotExist] when the skill is gone; it names the problem
// when the file is refused now.
func (s *Source) Read(ctx context.Context, ref Ref) (*Skill, error) {
	if ref.Root < 0 || ref.Root >= len(s.roots) {
		return nil, fmt.Errorf("definitions: no root %d: %w", ref.Root, fs.ErrNotExist)
	}
	switch list := strings.EqualFold(path.Ext(s.roots[ref.Root].Path), ".jsonl"); {
	case isJSONL(s.roots[ref.Root]):
		return s.readLine(ctx, ref)
	case list && s.bundled && !s.closed.Load():
		return s.readBundledLine(ref)
	}
	t, c, err := s.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer t.close()
	done := t.read(ctx, c, &s.settings)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !done.ok {
		return nil, refusal(done.problems, c.file())
	}
	return &done.skill, nil
}

// Path returns where on disk the SKILL.md of ref lies, for programs that read it
// themselves; ok is false for a skill that is no file there: of a .jsonl catalog
// or of an [fs.FS]. It is absolute if the root's is, and nothing is looked at.
func (s *Source) Path(ref Ref) (path string, ok bool) {
	if ref.Root < 0 || ref.Root >= len(s.roots) || s.roots[ref.Root].FS != nil || isJSONL(s.roots[ref.Root]) {
		return "", false
	}
	return filepath.Join(s.roots[ref.Root].Path, filepath.FromSlash(ref.Dir), "SKILL.md"), true
}

// refusal makes an error of the problem that refused a file.
func refusal(problems []Problem, file string) error {
	for _, p := range problems {
		if p.Refused {
			return fmt.Errorf("definitions: %s; %s", p, p.Fix)
		}
	}
	return fmt.Errorf("definitions: %s: refused", file)
}

// open finds the file of ref in freshly opened roots, which the caller closes.
func (s *Source) open(ctx context.Context, ref Ref) (*tree, *candidate, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.closed.Load() {
		return nil, nil, fmt.Errorf("definitions: the source is closed: %w", fs.ErrClosed)
	}
	t, _ := openTree(s.roots, s.settings.LinkRoots)
	label := s.roots[ref.Root].Path
	c := &candidate{ref: ref, name: "SKILL.md", folder: folderOf(label, ref.Dir), display: join(label, ref.Dir)}
	name := ref.Dir
	if name == "" {
		name = "."
	}
	dir, _, err := t.at(ref.Root, name)
	if err == nil {
		c.dir = dir
		c.at, c.info, err = t.resolve(spot{dir.place, path.Join(dir.path, c.name)})
	}
	if err == nil && !c.info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		t.close()
		return nil, nil, fmt.Errorf("definitions: %s: %w", c.file(), err)
	}
	return t, c, nil
}

// Doc returns the text of a document of the skill at ref, as it is in the
// file. name must be one that [Skill.Docs] would list now, with Text set;
// anything else, paths out of the folder among it, is an error that matches
// [fs.ErrNotExist] or says why the document cannot be given.
func (s *Source) Doc(ctx context.Context, ref Ref, name string) ([]byte, error) {
	if ref.Root < 0 || ref.Root >= len(s.roots) || isJSONL(s.roots[ref.Root]) {
		return nil, fmt.Errorf("definitions: no document %q: %w", name, fs.ErrNotExist)
	}
	t, c, err := s.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer t.close()
	l, err := t.list(ctx, c.dir, c.name, c.display, &report{})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(l.docs, func(d Doc) bool { return d.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("definitions: %s: no document %q: %w", c.display, name, fs.ErrNotExist)
	}
	at, _, err := t.resolve(spot{c.dir.place, path.Join(c.dir.path, name)})
	if err != nil {
		return nil, fmt.Errorf("definitions: %s: %w", join(c.display, name), err)
	}
	data, err := readFile(at, maxDoc)
	switch {
	case err != nil:
		return nil, fmt.Errorf("definitions: %s: %w", join(c.display, name), err)
	case len(data) > maxDoc:
		return nil, fmt.Errorf("definitions: %s: over %d bytes, too large to be given to an agent", join(c.display, name), maxDoc)
	case !isText(data, false):
		return nil, fmt.Errorf("definitions: %s: is no UTF-8 text", join(c.display, name))
	}
	return data, nil
}

// Changed reports whether any SKILL.md, skillrouter.yaml or .jsonl catalog of
// the roots appeared, vanished, or changed its size or time since [Load]. It
// reads folders but no files.
func (s *Source) Changed(ctx context.Context) (bool, error) {
	if s.closed.Load() {
		return false, fmt.Errorf("definitions: the source is closed: %w", fs.ErrClosed)
	}
	t, errs := openTree(s.roots, s.settings.LinkRoots)
	defer t.close()
	walks, err := t.walkAll(ctx, s.roots, &s.settings)
	if err != nil {
		return false, err
	}
	return t.stamp(s.roots, walks, errs) != s.stamp, nil
}

// Close ends the use of s; reading after it is an error.
func (s *Source) Close() error {
	s.closed.Store(true)
	return nil
}

// walkAll walks every root that is open.
func (t *tree) walkAll(ctx context.Context, roots []Root, o *settings) ([]*walker, error) {
	walks := make([]*walker, len(roots))
	for i := range roots {
		if t.places[i] == nil {
			continue
		}
		walks[i] = &walker{tree: t, root: i, label: roots[i].Path, settings: o}
		if err := walks[i].walk(ctx); err != nil {
			return nil, err
		}
	}
	return walks, nil
}

// stamp is a digest of names, sizes and times of all that Load reads, and of
// what is wrong with what it does not, so that a Source need not remember them.
func (t *tree) stamp(roots []Root, walks []*walker, errs []error) [sha256.Size]byte {
	h := sha256.New()
	put := func(root int, name string, info fs.FileInfo) {
		fmt.Fprintf(h, "%d %q", root, name)
		if info != nil {
			fmt.Fprintf(h, " %d %d", info.Size(), info.ModTime().UnixNano())
		}
		_, _ = io.WriteString(h, "\n") // a hash never fails
	}
	for i, r := range roots {
		if isJSONL(r) {
			info, err := statJSONL(r.Path)
			if err != nil {
				info = nil
			}
			put(i, r.Path, info)
			continue
		}
		if errs[i] != nil || walks[i] == nil {
			continue
		}
		for _, c := range walks[i].found {
			put(i, c.file()+" "+c.problem.Kind, c.info)
		}
		for _, p := range walks[i].problems {
			put(i, p.File+" "+p.Kind, nil)
		}
		switch _, info, err := t.at(i, settingsFile); {
		case err == nil:
			put(i, settingsFile+" "+info.Mode().Type().String(), info)
		case !errors.Is(err, fs.ErrNotExist):
			put(i, settingsFile+" "+err.Error(), nil)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// readFile reads a file whole, and one byte more than most if it is larger.
func readFile(at spot, most int64) ([]byte, error) {
	f, err := at.place.fsys.Open(at.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotFile
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	_, err = b.ReadFrom(io.LimitReader(f, most+1))
	return b.Bytes(), err
}
