package definitions

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
)

// lineName names a line of a .jsonl catalog in a bundle.
func lineName(ref Ref) string { return ref.Dir + ".json" }

// Bundle returns the files of the catalog's skills as a zip archive, to be
// opened by [OpenBundle] where the roots are not: each SKILL.md or line of a
// list, and the documents that are text. Equal files give equal bytes. It fails
// when ctx ends, and when a file is no longer what was loaded.
func (c *Catalog) Bundle(ctx context.Context) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range c.Skills {
		if err := c.source.bundle(ctx, z, &c.Skills[i]); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// bundle adds the files of a skill to z.
func (s *Source) bundle(ctx context.Context, z *zip.Writer, skill *Skill) error {
	put := func(name string, data []byte) error {
		w, err := z.Create(path.Join(strconv.Itoa(skill.Ref.Root), name)) // without a time: equal files, equal bytes
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	data, err := s.raw(ctx, skill.Ref)
	switch {
	case err != nil:
		return err
	case hash(data) != skill.Hash:
		return fmt.Errorf("definitions: %s changed while it was read: try again", skill.File)
	case isJSONL(s.roots[skill.Ref.Root]):
		return put(lineName(skill.Ref), data)
	}
	if err := put(path.Join(skill.Ref.Dir, "SKILL.md"), data); err != nil {
		return err
	}
	for _, d := range skill.Docs {
		if !d.Text {
			continue
		}
		text, err := s.Doc(ctx, skill.Ref, d.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone by now
		}
		if err != nil {
			return err
		}
		if err := put(path.Join(skill.Ref.Dir, d.Name), text); err != nil {
			return err
		}
	}
	return nil
}

// raw returns the bytes of a SKILL.md, or of a line of a list.
func (s *Source) raw(ctx context.Context, ref Ref) ([]byte, error) {
	if isJSONL(s.roots[ref.Root]) {
		_, line, err := s.findLine(ctx, ref)
		return line, err
	}
	t, c, err := s.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer t.close()
	data, err := readFile(c.at, maxFile)
	if err != nil {
		return nil, fmt.Errorf("definitions: %s: %w", c.file(), err)
	}
	if before, ok := s.settings.LastGood.recall(ref); ok && !slices.Equal(before, data) {
		return before, nil // it is broken just now
	}
	return data, nil
}

// OpenBundle returns what reads the skills of a bundle. roots are the paths that
// [Load] had, by which problems and files are named; they need not exist. A nil
// opts means the zero [Options].
func OpenBundle(bundle []byte, roots []string, opts *Options) (*Source, error) {
	z, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, fmt.Errorf("definitions: the bundle: %w", err)
	}
	inside := make([]Root, len(roots))
	for i, r := range roots {
		below, err := fs.Sub(z, strconv.Itoa(i))
		if err != nil {
			return nil, fmt.Errorf("definitions: the bundle: %w", err)
		}
		inside[i] = Root{Path: r, FS: below}
	}
	s, err := NewSource(inside, opts)
	if err != nil {
		return nil, err
	}
	s.bundled = true
	return s, nil
}

// readBundledLine reads a line of a list from a bundle.
func (s *Source) readBundledLine(ref Ref) (*Skill, error) {
	root := s.roots[ref.Root]
	label := join(root.Path, "")
	line, err := strconv.Atoi(ref.Dir)
	if err != nil {
		return nil, fmt.Errorf("definitions: no line %q: %w", ref.Dir, fs.ErrNotExist)
	}
	data, err := fs.ReadFile(root.FS, lineName(ref))
	if err != nil {
		return nil, fmt.Errorf("definitions: %s: %w", label, err)
	}
	r := &report{file: label}
	skill, _, ok := parseLine(data, line, map[string]int{}, &s.settings, r)
	if !ok {
		return nil, refusal(r.problems, label)
	}
	skill.Ref, skill.File = ref, label+":"+ref.Dir
	return &skill, nil
}
