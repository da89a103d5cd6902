package index

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/internal/atomicfile"
)

// The file: magic, version, then parts, each with its length before it, the
// first in JSON and the others arrays of numbers, little-endian; last the
// SHA-256 of all before.
const magic = "skillrouter index\n"

// maxFile bounds what Open reads: far above 100,000 skills.
const maxFile = 8 << 30

// meta is the part in JSON.
type meta struct {
	Embedder    string
	Dim         int
	Fingerprint string
	Digest      string
	Roots       []string
	Depth       int
	Orders      definitions.Level
	Bundle      bool // the definitions are the last part
	Skills      []Skill
	Domains     []domains.Domain
	Routing     domains.Routing
	Problems    []definitions.Problem
	Shadowed    []definitions.Shadow
	Counts      definitions.Counts
	Calibration Calibration
	WordWeight  float32
}

// WriteFile writes the index to path, in a folder that must be there: to a file
// beside it first, which is then renamed, so that a failed run leaves the old
// one. Equal indexes give equal bytes.
//
// Folders that were given by a relative path are kept relative to the file:
// both can be moved together, and [Open] finds them from anywhere.
func (ix *Index) WriteFile(path string) error {
	err := atomicfile.Replace(path, 0o644, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(w, 1<<20)
		if err := ix.write(buffered, filepath.Dir(path)); err != nil {
			return err
		}
		return buffered.Flush()
	})
	if err != nil {
		return fmt.Errorf("index: writing %s: %w", path, err)
	}
	return nil
}

// write writes the index as a file in the folder dir.
func (ix *Index) write(w io.Writer, dir string) error {
	sum := sha256.New()
	e := &encoder{w: io.MultiWriter(w, sum)}
	e.raw([]byte(magic))
	e.put(uint32(version))
	m := meta{
		Embedder: ix.embedder, Dim: ix.rows.dim, Fingerprint: ix.fingerprint, Digest: ix.digest, Skills: ix.skills, Domains: ix.domains,
		Routing: ix.routing, Problems: ix.problems, Shadowed: ix.shadowed, Counts: ix.counts,
		Calibration: ix.calibration, WordWeight: ix.wordWeight,
	}
	if ix.source != nil {
		m.Roots, m.Depth, m.Orders = ix.rootsFrom(dir), ix.source.Depth(), ix.source.Orders()
	}
	if m.Bundle = ix.Bundled(); m.Bundle {
		m.Roots = ix.source.Roots() // only names
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	e.part(len(text), text)
	for _, x := range ix.matrices() {
		e.part(len(x.rows), x.rows)
		e.part(len(x.scale), x.scale)
	}
	e.part(len(ix.headBias), ix.headBias)
	e.part(len(ix.phraseStarts), ix.phraseStarts)
	e.part(len(ix.againstStarts), ix.againstStarts)
	terms := make([]uint64, len(ix.lexicon.ids))
	for h, id := range ix.lexicon.ids {
		terms[id] = h
	}
	e.part(len(terms), terms)
	e.part(len(ix.lexicon.idf), ix.lexicon.idf)
	e.part(len(ix.lexicon.starts), ix.lexicon.starts)
	e.part(len(ix.lexicon.docs), ix.lexicon.docs)
	e.part(len(ix.lexicon.weights), ix.lexicon.weights)
	if m.Bundle {
		e.part(len(ix.bundle), ix.bundle)
	}
	if e.err != nil {
		return e.err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// rootsFrom returns the roots, the relative ones as seen from dir.
func (ix *Index) rootsFrom(dir string) []string {
	roots := ix.source.Roots()
	from, err := filepath.Abs(dir)
	for i, r := range roots {
		if err != nil || filepath.IsAbs(r) && !slices.Contains(ix.relative, i) {
			continue
		}
		full, err := filepath.Abs(r)
		if err != nil {
			continue
		}
		roots[i] = full
		if r, err := filepath.Rel(from, full); err == nil { // fails between drives
			roots[i] = filepath.ToSlash(r)
		}
	}
	return roots
}

func (ix *Index) matrices() []*matrix {
	return []*matrix{&ix.rows, &ix.heads, &ix.phrases, &ix.against, &ix.texts, &ix.domainRows, &ix.domainTexts}
}

type encoder struct {
	w   io.Writer
	err error
}

func (e *encoder) raw(p []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(p)
	}
}

func (e *encoder) put(v any) {
	if e.err == nil {
		e.err = binary.Write(e.w, binary.LittleEndian, v)
	}
}

func (e *encoder) part(n int, v any) {
	e.put(uint64(n))
	e.put(v)
}

// A FormatError says that a file is no index that this version, or this
// embedder, can use.
type FormatError struct {
	Path string
	What string // is wrong with it
}

func (e *FormatError) Error() string { return fmt.Sprintf("index: %s: %s", e.Path, e.What) }

// Hint says what to do.
func (e *FormatError) Hint() string {
	return "build it again: skillrouter index build --skills DIR --out " + e.Path
}

// Open reads an index file for use with e, which must be the embedder that it
// was built with; a nil e leaves that to the caller. Definitions are read from
// the folders that it was built from, which need not exist to route, or from the
// file itself if it is a bundle. The
// checksum, every length and every number is checked before anything is
// believed: what is not right is a [FormatError]; a file that is not there
// matches [io/fs.ErrNotExist].
func Open(ctx context.Context, path string, e Embedder) (*Index, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &FormatError{path, "it is not a file"}
	}
	if info.Size() > maxFile {
		return nil, &FormatError{path, fmt.Sprintf("the file has %d bytes, more than any index", info.Size())}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	ix, err := decode(data, folderOf(path))
	if err != nil {
		return nil, &FormatError{path, err.Error()}
	}
	if e != nil && ix.embedder != e.ID() {
		return nil, &FormatError{path, fmt.Sprintf("its vectors are of the embedder %q, not of %q", ix.embedder, e.ID())}
	}
	if err := ix.finish(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &FormatError{path, strings.TrimPrefix(err.Error(), "index: ")}
	}
	return ix, nil
}

// folderOf is the folder that the file at path is in; of a link, that of the file
// that it leads to.
func folderOf(path string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if there, err := filepath.EvalSymlinks(path); err == nil {
			path = there
		}
	}
	return filepath.Dir(path)
}

// IsFile tells whether the file at path begins like an index.
func IsFile(path string) bool {
	// Opening a pipe would wait for ever.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// decode reads what write wrote for a file in the folder dir.
func decode(data []byte, dir string) (*Index, error) {
	if len(data) < len(magic)+4+sha256.Size || !bytes.HasPrefix(data, []byte(magic)) {
		return nil, errors.New("not an index of skillrouter")
	}
	d := &decoder{rest: data[len(magic) : len(data)-sha256.Size]}
	if v := d.uint32(); v != version {
		return nil, fmt.Errorf("the index has format %d, this version of skillrouter reads %d", v, version)
	}
	if sum := sha256.Sum256(data[:len(data)-sha256.Size]); !bytes.Equal(sum[:], data[len(data)-sha256.Size:]) {
		return nil, errors.New("the checksum is wrong: the file is torn or was changed")
	}
	var m meta
	text := part[byte](d)
	if d.err == nil {
		d.err = json.Unmarshal(text, &m)
	}
	ix := &Index{
		embedder: m.Embedder, fingerprint: m.Fingerprint, digest: m.Digest, skills: m.Skills, domains: m.Domains, routing: m.Routing,
		problems: m.Problems, shadowed: m.Shadowed, counts: m.Counts,
		calibration: m.Calibration, wordWeight: m.WordWeight,
		lexicon: &lexicon{skills: len(m.Skills)},
	}
	for _, x := range ix.matrices() {
		x.dim, x.rows, x.scale = m.Dim, part[int8](d), part[float32](d)
	}
	ix.headBias = part[float32](d)
	ix.phraseStarts, ix.againstStarts = part[int32](d), part[int32](d)
	lx := ix.lexicon
	terms := part[uint64](d)
	lx.idf, lx.starts, lx.docs, lx.weights = part[float32](d), part[int32](d), part[int32](d), part[float32](d)
	if m.Bundle {
		ix.bundle = part[byte](d)
	}
	if d.err != nil {
		return nil, d.err
	}
	if len(d.rest) > 0 {
		return nil, fmt.Errorf("%d bytes too many", len(d.rest))
	}
	if err := ix.check(m.Dim, terms); err != nil {
		return nil, err
	}
	lx.ids = make(map[uint64]int32, len(terms))
	for i, h := range terms {
		lx.ids[h] = int32(i)
	}
	if m.Bundle {
		ix.source, d.err = definitions.OpenBundle(ix.bundle, m.Roots, &definitions.Options{Depth: m.Depth, Orders: m.Orders})
		return ix, d.err
	}
	if len(m.Roots) > 0 {
		roots := make([]definitions.Root, len(m.Roots))
		for i, r := range m.Roots {
			roots[i].Path = filepath.FromSlash(r)
			if !filepath.IsAbs(roots[i].Path) {
				roots[i].Path = filepath.Join(dir, roots[i].Path)
				ix.relative = append(ix.relative, i)
			}
		}
		ix.source, d.err = definitions.NewSource(roots, &definitions.Options{Depth: m.Depth, Orders: m.Orders})
	}
	return ix, d.err
}

// maxDim bounds the length of a vector; the longest in use have some thousands.
const maxDim = 1 << 16

// maxHead bounds the numbers of a head, which are in evidence.
const maxHead = 1e3

// check looks at the lengths that fit together, at every number that is a
// place in another array, and that no other can spoil a score.
func (ix *Index) check(dim int, terms []uint64) error {
	n, lx := len(ix.skills), ix.lexicon
	if dim < 0 || dim > maxDim || dim == 0 && n > 0 {
		return fmt.Errorf("vectors of %d dimensions", dim)
	}
	rows := []int{n, len(ix.headBias), -1, -1, n, len(ix.domains), len(ix.domains)}
	for i, x := range ix.matrices() {
		most := float32(0.01) // of a unit vector at most 1/127
		if x == &ix.heads {
			most = maxHead
		}
		if len(x.rows) != dim*x.len() || rows[i] >= 0 && x.len() != rows[i] || !within(x.scale, most) {
			return errors.New("a matrix has the wrong size or numbers")
		}
	}
	switch {
	case len(ix.headBias) != 0 && len(ix.headBias) != n:
		return errors.New("the head has the wrong size")
	case slices.ContainsFunc(ix.headBias, func(x float32) bool { return !(-maxHead <= x && x <= maxHead) }) || !within([]float32{ix.wordWeight}, 10):
		return errors.New("the head or the words have wrong weights")
	case len(ix.phraseStarts) != n+1 || !rising(ix.phraseStarts, ix.phrases.len()) ||
		len(ix.againstStarts) != n+1 || !rising(ix.againstStarts, ix.against.len()):
		return errors.New("the phrases have the wrong size")
	case len(lx.idf) != len(terms) || len(lx.starts) != len(terms)+1 || len(lx.docs) != len(lx.weights) || !rising(lx.starts, len(lx.docs)):
		return errors.New("the words have the wrong size")
	case !within(lx.idf, 1e6) || !within(lx.weights, 1e6):
		return errors.New("the words have wrong weights")
	}
	for i := range terms {
		if i > 0 && terms[i-1] >= terms[i] {
			return errors.New("the words are not in order")
		}
	}
	for _, doc := range lx.docs {
		if doc < 0 || int(doc) >= n {
			return errors.New("a word is of no skill")
		}
	}
	for _, c := range []*Curve{&ix.calibration.Full, &ix.calibration.Semantic, &ix.calibration.Lexical} {
		if n > 0 && !c.sound() {
			return errors.New("the calibration has wrong numbers")
		}
	}
	return nil
}

// within tells whether all xs lie between 0 and most.
func within(xs []float32, most float32) bool {
	for _, x := range xs {
		if !(x >= 0 && x <= most) { // a NaN is not, either
			return false
		}
	}
	return true
}

// rising tells whether xs goes from 0 to last without falling.
func rising(xs []int32, last int) bool {
	var before int32
	for _, x := range xs {
		if x < before {
			return false
		}
		before = x
	}
	return len(xs) > 0 && xs[0] == 0 && int(before) == last
}

type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) uint32() uint32 {
	if len(d.rest) < 4 {
		d.err = io.ErrUnexpectedEOF
		return 0
	}
	v := binary.LittleEndian.Uint32(d.rest)
	d.rest = d.rest[4:]
	return v
}

// part reads the next array.
func part[T byte | int8 | int32 | uint64 | float32](d *decoder) []T {
	var zero T
	size := binary.Size(zero)
	if d.err != nil {
		return nil
	}
	if len(d.rest) < 8 {
		d.err = io.ErrUnexpectedEOF
		return nil
	}
	n := binary.LittleEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	if n > uint64(len(d.rest)/size) {
		d.err = fmt.Errorf("a part of %d items is longer than the file", n)
		return nil
	}
	xs := make([]T, n)
	_, d.err = binary.Decode(d.rest[:int(n)*size], binary.LittleEndian, xs) // cut: []int8 would read on
	d.rest = d.rest[int(n)*size:]
	return xs
}
