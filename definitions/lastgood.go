package definitions

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// A LastGood remembers the text of each SKILL.md as it was when it last could
// be read, for those who live through the edits of a catalog: while a file is
// broken, [Load] and [Source.Read] give the skill as it was, with the problem. A
// file that is gone is gone, and a list (.jsonl) has only what it holds now. One
// LastGood goes with one list of roots; it keeps texts compressed, 23 MB for the
// 52 MB of 7,087 files. It is safe for concurrent use.
type LastGood struct {
	mu    sync.Mutex
	texts map[Ref]kept
}

// kept is a text, compressed, with the hash of what it is made of.
type kept struct {
	hash string
	data []byte
}

// NewLastGood returns one that remembers nothing yet.
func NewLastGood() *LastGood { return &LastGood{texts: map[Ref]kept{}} }

// Len returns how many files are remembered.
func (l *LastGood) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.texts)
}

// remember keeps a text that could be read.
func (l *LastGood) remember(ref Ref, hash string, data []byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.texts[ref].hash == hash {
		return
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // errs only for a level that does not exist
	_, _ = w.Write(data)                         // into memory
	_ = w.Close()
	l.texts[ref] = kept{hash, b.Bytes()}
}

// recall returns the text that is kept for ref.
func (l *LastGood) recall(ref Ref) ([]byte, bool) {
	if l == nil {
		return nil, false
	}
	l.mu.Lock()
	k, ok := l.texts[ref]
	l.mu.Unlock()
	if !ok {
		return nil, false
	}
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(k.data)))
	return data, err == nil
}

// retain forgets the files that are not among those found.
func (l *LastGood) retain(walks []*walker) {
	if l == nil {
		return
	}
	there := map[Ref]bool{}
	for _, w := range walks {
		if w == nil {
			continue
		}
		for i := range w.found {
			there[w.found[i].ref] = true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for ref := range l.texts {
		if !there[ref] {
			delete(l.texts, ref)
		}
	}
}

// parseOrRecall parses the bytes of a candidate; where they are refused and an
// earlier text is kept, it parses that and says so.
func (c *candidate) parseOrRecall(data []byte, ok bool, o *settings, r *report) (Skill, bool) {
	if ok {
		if s, fine := parse(data, c.folder, o, r); fine {
			o.LastGood.remember(c.ref, s.Hash, data)
			return s, true
		}
	}
	before, have := o.LastGood.recall(c.ref)
	if !have {
		return Skill{}, false
	}
	again := &report{file: r.file}
	s, fine := parse(before, c.folder, o, again)
	if !fine {
		return Skill{}, false
	}
	for i := range r.problems {
		if p := &r.problems[i]; p.Refused {
			p.Refused = false
			p.What += "; the skill stays as it was"
		}
	}
	r.refused = false
	return s, true
}
