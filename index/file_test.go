package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/definitions"
)

// sign puts the right checksum under the body of a file.
func sign(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

func unsigned(file []byte) []byte { return file[:len(file)-sha256.Size] }

func TestReadBackRoutesAlike(t *testing.T) {
	for _, e := range []Embedder{builtIn(t), &words{dim: 32}} {
		for name, ix := range map[string]*Index{"office": build(t, office(), e), "many": buildMany(t, 120, e)} {
			path := filepath.Join(t.TempDir(), "x.idx")
			if err := ix.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			read, err := Open(t.Context(), path, e)
			if err != nil {
				t.Fatal(err)
			}
			if err := read.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, file) {
				t.Errorf("%s: written again, the bytes are others, error %v", name, err)
			}
			if read.Fingerprint() != ix.Fingerprint() || read.EmbedderID() != e.ID() {
				t.Errorf("%s: got %s by %s", name, read.Fingerprint(), read.EmbedderID())
			}
			for _, d := range []string{
				cmp.Diff(ix.Skills(), read.Skills()), cmp.Diff(ix.Domains(), read.Domains()), cmp.Diff(ix.Problems(), read.Problems()),
				cmp.Diff(ix.Routing(), read.Routing()), cmp.Diff(ix.Counts(), read.Counts()), cmp.Diff(ix.Shadowed(), read.Shadowed()),
				cmp.Diff(ix.Calibration(), read.Calibration()), cmp.Diff(ix.Summaries(), read.Summaries()),
			} {
				if d != "" {
					t.Errorf("%s: -written +read\n%s", name, d)
				}
			}
			us := utterances()
			for i := range ix.skills {
				us = append(us, ix.skills[i].Summary.Triggers...)
			}
			for _, u := range us {
				for _, without := range []Parts{0, Lexical, Semantic, Phrases} {
					q := ask(t, e, u)
					q.Without = without
					ds, ss := score(ix, q)
					readDs, readSs := score(read, q)
					if d := cmp.Diff(ds, readDs) + cmp.Diff(ss, readSs); d != "" {
						t.Errorf("%s, %q: -written +read\n%s", name, u, d)
					}
				}
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	e := &words{dim: 16}
	good := encode(t, build(t, office(), e))
	other := bytes.Clone(unsigned(good))
	binary.LittleEndian.PutUint32(other[len(magic):], version+1)
	older := bytes.Clone(unsigned(good))
	binary.LittleEndian.PutUint32(older[len(magic):], 0)
	changed := bytes.Clone(good)
	changed[len(good)/2] ^= 1
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":          {nil, "not an index"},
		"text":           {[]byte("# Notes\n" + strings.Repeat("words ", 50)), "not an index"},
		"beginning only": {good[:len(magic)], "not an index"},
		"torn":           {good[:len(good)-100], "checksum"},
		"torn in a part": {good[:200], "checksum"},
		"longer":         {append(bytes.Clone(good), 0), "checksum"},
		"changed":        {changed, "checksum"},
		"newer":          {sign(other), fmt.Sprintf("format %d", version+1)},
		"older":          {sign(older), "format 0"},
	} {
		path := filepath.Join(t.TempDir(), "x.idx")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		ix, err := Open(t.Context(), path, e)
		var format *FormatError
		if ix != nil || !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a FormatError with %q", name, err, c.want)
			continue
		}
		if format.Path != path || !strings.Contains(err.Error(), path) || !strings.Contains(format.Hint(), path) {
			t.Errorf("%s: %v, hint %q: want the file in both", name, err, format.Hint())
		}
	}

	path := filepath.Join(t.TempDir(), "x.idx")
	if _, err := Open(t.Context(), path, e); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, &words{dim: 24})
	var format *FormatError
	if !errors.As(err, &format) || !strings.Contains(err.Error(), "words/16") || !strings.Contains(err.Error(), "words/24") {
		t.Errorf("another embedder: got %v", err)
	}
	if _, err := Open(t.Context(), path, nil); err != nil {
		t.Errorf("no embedder to compare: got %v", err)
	}
}

// TestCheckRefuses signs what is wrong, so that only check can find it.
func TestCheckRefuses(t *testing.T) {
	e := &words{dim: 16}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, spoil := range map[string]func(ix *Index){
		"no dimension":        func(ix *Index) { ix.rows.dim = 0 },
		"other dimension":     func(ix *Index) { ix.rows.dim = 8 },
		"absurd dimension":    func(ix *Index) { ix.rows.dim = 1 << 62 },
		"negative dimension":  func(ix *Index) { ix.rows.dim = -16 },
		"a row less":          func(ix *Index) { ix.rows.rows = ix.rows.rows[16:] },
		"a scale less":        func(ix *Index) { ix.texts.scale = ix.texts.scale[1:] },
		"a scale is NaN":      func(ix *Index) { ix.phrases.scale[2] = nan },
		"a scale is huge":     func(ix *Index) { ix.rows.scale[2] = 1e30 },
		"a scale is negative": func(ix *Index) { ix.rows.scale[2] = -0.001 },
		"a domain row less": func(ix *Index) {
			ix.domainRows.rows, ix.domainRows.scale = ix.domainRows.rows[16:], ix.domainRows.scale[1:]
		},
		"phrases do not begin":     func(ix *Index) { ix.phraseStarts[0] = 1 },
		"phrases fall":             func(ix *Index) { ix.phraseStarts[2] = ix.phraseStarts[3] + 1 },
		"phrases end early":        func(ix *Index) { ix.phraseStarts[len(ix.skills)]-- },
		"phrases negative":         func(ix *Index) { ix.phraseStarts[1] = -1 },
		"a phrase start less":      func(ix *Index) { ix.phraseStarts = ix.phraseStarts[:len(ix.phraseStarts)-1] },
		"a weight is NaN":          func(ix *Index) { ix.lexicon.weights[5] = nan },
		"a weight is infinite":     func(ix *Index) { ix.lexicon.weights[5] = inf },
		"an idf is NaN":            func(ix *Index) { ix.lexicon.idf[0] = nan },
		"an idf is negative":       func(ix *Index) { ix.lexicon.idf[0] = -1 },
		"an idf less":              func(ix *Index) { ix.lexicon.idf = ix.lexicon.idf[1:] },
		"a doc is no skill":        func(ix *Index) { ix.lexicon.docs[0] = int32(len(ix.skills)) },
		"a doc is negative":        func(ix *Index) { ix.lexicon.docs[0] = -1 },
		"a doc less":               func(ix *Index) { ix.lexicon.docs = ix.lexicon.docs[1:] },
		"starts beyond":            func(ix *Index) { ix.lexicon.starts[1] = math.MaxInt32 },
		"no starts":                func(ix *Index) { ix.lexicon.starts = nil },
		"a member is unknown":      func(ix *Index) { ix.domains[0].Members = append(ix.domains[0].Members, "nobody") },
		"a member twice":           func(ix *Index) { ix.domains[0].Members = append(ix.domains[0].Members, ix.domains[0].Members[0]) },
		"a member is manual":       func(ix *Index) { ix.domains[0].Members = append(ix.domains[0].Members, "alarm") },
		"a domain twice":           func(ix *Index) { ix.domains[1].Name = ix.domains[0].Name },
		"a domain without name":    func(ix *Index) { ix.domains[1].Name = "" },
		"a skill twice":            func(ix *Index) { ix.skills[1].Name, ix.skills[1].Summary.Skill = ix.skills[0].Name, ix.skills[0].Name },
		"a skill without name":     func(ix *Index) { ix.skills[1].Name, ix.skills[1].Summary.Skill = "", "" },
		"another summary":          func(ix *Index) { ix.skills[1].Summary.Skill = ix.skills[0].Name },
		"a skill more":             func(ix *Index) { ix.skills = append(ix.skills, Skill{Name: "more"}) },
		"a curve without scale":    func(ix *Index) { ix.calibration.Semantic.Deviation[Chinese] = 0 },
		"a curve upside down":      func(ix *Index) { ix.calibration.Lexical.Weights[0] = -1 },
		"a curve out of all bound": func(ix *Index) { ix.calibration.Full.Weights[3] = 1e300 },
		"no calibration":           func(ix *Index) { ix.calibration = Calibration{} },
	} {
		ix := build(t, office(), e)
		spoil(ix)
		path := filepath.Join(t.TempDir(), "x.idx")
		if err := ix.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		read, err := Open(t.Context(), path, e)
		var format *FormatError
		if read != nil || !errors.As(err, &format) {
			t.Errorf("%s: got index %v, error %v; want a FormatError", name, read != nil, err)
		}
	}
}

// A term must be in order: the file could not be written back otherwise.
func TestCheckRefusesTermsOutOfOrder(t *testing.T) {
	ix := build(t, office(), &words{dim: 16})
	terms := make([]uint64, len(ix.lexicon.idf))
	if err := ix.check(16, terms); err == nil {
		t.Error("terms that are all 0: want an error")
	}
}

func TestWriteFileLeavesTheOldOne(t *testing.T) {
	ix := build(t, office(), &words{dim: 16})
	dir := t.TempDir()
	path := filepath.Join(dir, "x.idx")
	if err := ix.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	broken := build(t, office(), &words{dim: 16})
	broken.calibration.Full.Weights[0] = math.NaN() // JSON has no such number
	if err := broken.WriteFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("an index that cannot be written: got %v, want an error with the path", err)
	}
	if err := ix.WriteFile(filepath.Join(dir, "missing", "x.idx")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: got %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ix.WriteFile(filepath.Join(dir, "folder")); err == nil {
		t.Error("over a folder: want an error")
	}

	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the old file was changed, error %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, error %v", entries, err)
	}
}

func TestIsFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.idx")
	if err := build(t, office(), &words{dim: 8}).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte(magic[:5]), 0o600); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{path: true, short: false, dir: false, filepath.Join(dir, "none"): false} {
		if got := IsFile(p); got != want {
			t.Errorf("IsFile(%s): got %v, want %v", p, got, want)
		}
	}
}

// FuzzDecode flips a byte: the checksum must tell. With the checksum mended
// the rest must do: what decode takes, scores and is written back as it was.
func FuzzDecode(f *testing.F) {
	e := &words{dim: 8}
	good := encode(f, build(f, office(), e))
	body := unsigned(good)
	jsonEnd := len(magic) + 12 + int(binary.LittleEndian.Uint64(body[len(magic)+4:]))
	for _, at := range []int{0, len(magic), len(magic) + 4, len(magic) + 12, jsonEnd - 20, jsonEnd, jsonEnd + 3, jsonEnd + 70, len(body) - 1} {
		f.Add(uint32(at), byte(0xFF), false)
		f.Add(uint32(at), byte(1), true)
	}
	f.Add(uint32(len(good)-1), byte(7), false)
	u := &Query{Utterance: "merge these PDFs 订酒店", Vector: make([]float32, 8)}
	u.Vector[1] = 1
	f.Fuzz(func(t *testing.T, at uint32, flip byte, mend bool) {
		if flip == 0 {
			return
		}
		data := bytes.Clone(good)
		if mend {
			data = bytes.Clone(body)
		}
		data[int(at)%len(data)] ^= flip
		if mend {
			data = sign(data)
		}
		ix, err := decode(data, here)
		if err != nil {
			return
		}
		if !mend {
			t.Fatalf("byte %d changed by %#x: not noticed", at, flip)
		}
		if ix.finish(t.Context()) != nil {
			return
		}
		s := ix.Score(u)
		defer s.Release()
		for _, d := range s.Domains {
			if !(d.Score >= 0 && d.Score <= 1) {
				t.Errorf("byte %d changed by %#x: domain %d has score %v", at, flip, d.Domain, d.Score)
			}
		}
		again, err := decode(encode(t, ix), here)
		if err != nil {
			t.Fatalf("byte %d changed by %#x: written back, it is refused: %v", at, flip, err)
		}
		a, _ := json.Marshal(ix.skills)
		b, _ := json.Marshal(again.skills)
		if !bytes.Equal(a, b) || !bytes.Equal(encode(t, ix), encode(t, again)) {
			t.Errorf("byte %d changed by %#x: written back, it is another", at, flip)
		}
	})
}

// FuzzDecodeBytes takes any body: it must not allocate more than it was given.
func FuzzDecodeBytes(f *testing.F) {
	body := unsigned(encode(f, build(f, only(office()), &words{dim: 8})))
	f.Add(body[len(magic)+4:])
	f.Add([]byte{})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, '{', '}'})
	f.Add(append([]byte{2, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, make([]byte, 16*8+4)...))
	f.Fuzz(func(t *testing.T, parts []byte) {
		head := binary.LittleEndian.AppendUint32([]byte(magic), version)
		ix, err := decode(sign(append(head, parts...)), here)
		if err != nil {
			return
		}
		if err := ix.finish(t.Context()); err == nil {
			ix.Score(&Query{Utterance: "hello"}).Release()
		}
	})
}

func TestOpenStopsWithItsContext(t *testing.T) {
	e := &words{dim: 8}
	path := filepath.Join(t.TempDir(), "x.idx")
	if err := build(t, office(), e).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ix, err := Open(ctx, path, e)
	var format *FormatError
	if ix != nil || !errors.Is(err, context.Canceled) || errors.As(err, &format) {
		t.Errorf("got index %v, error %v", ix != nil, err)
	}
}

// Folders given by a relative path are found from anywhere, and where they
// were moved to together with the file.
func TestRelativeFolders(t *testing.T) {
	e := &words{dim: 8}
	base, other := t.TempDir(), t.TempDir()
	if err := os.CopyFS(filepath.Join(base, "work", "skills"), office()); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(base, "work"))
	c, err := definitions.Load(t.Context(), []definitions.Root{{Path: "skills"}, {Path: other}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := Build(t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := ix.Locate("no such skill"); ok {
		t.Errorf("a skill that is not there is located at %q", at)
	}
	if at, ok := build(t, office(), e).Locate("trains"); ok {
		t.Errorf("a skill of an fs.FS is located at %q", at)
	}
	if err := os.Mkdir("kept", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ix.WriteFile(filepath.Join("kept", "x.idx")); err != nil {
		t.Fatal(err)
	}
	reads := func(path string) *Index {
		t.Helper()
		ix, err := Open(t.Context(), path, e)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"trains", "hotels"} {
			if _, err := ix.Get(name); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if at, ok := ix.Locate(name); !ok || !filepath.IsAbs(at) {
				t.Errorf("%s: %s is located at %q, %v", path, name, at, ok)
			} else if _, err := os.Stat(at); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if roots := ix.source.Roots(); roots[1] != other {
			t.Errorf("%s: the absolute folder is %s", path, roots[1])
		}
		return ix
	}
	reads(filepath.Join("kept", "x.idx"))
	t.Chdir(base)
	reads(filepath.Join("work", "kept", "x.idx"))
	reads(filepath.Join(base, "work", "kept", "x.idx"))

	// Opened by an absolute path and written beside: the same bytes.
	path := filepath.Join(base, "work", "kept", "x.idx")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(base, "work", "kept", "y.idx")
	if err := reads(path).WriteFile(again); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(again); err != nil || !bytes.Equal(got, want) {
		t.Errorf("written again, the bytes are others, error %v", err)
	}
	if err := reads(path).WriteFile(filepath.Join(base, "z.idx")); err != nil {
		t.Fatal(err)
	}
	reads(filepath.Join(base, "z.idx"))

	if err := os.Rename(filepath.Join(base, "work"), filepath.Join(base, "moved")); err != nil {
		t.Fatal(err)
	}
	reads(filepath.Join(base, "moved", "kept", "x.idx"))
}
