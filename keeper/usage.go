package keeper

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/router"
)

// maxUsage is how many bytes a usage file may have, some 100,000 events, before it is put
// aside: with the one put aside before it a catalog has at most twice that.
const maxUsage = 8 << 20

// A Usage notes what sessions do with the skills of a catalog, in a local file: when, which
// rule, which skill or domain. No utterance, no session and no user is in it. It is the
// router.Observer of a host: set it as router.Options.Observer.
//
// The file is only added to, a line an event, each written at once: several processes may
// share it, and a line that a crash tore is passed over. A Usage is safe for concurrent use.
type Usage struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	file *os.File
	err  error // the first of writing
}

// UsageOptions says how a Usage notes. The zero value is the default.
type UsageOptions struct {
	Clock func() time.Time // nil means time.Now
}

// OpenUsage opens the usage file at path for adding to; a missing one is made with the first
// event. It may fail only for what stands at path. A nil o means the zero UsageOptions.
func OpenUsage(path string, o *UsageOptions) (*Usage, error) {
	if o == nil {
		o = &UsageOptions{}
	}
	u := &Usage{path: path, now: o.Clock}
	if u.now == nil {
		u.now = time.Now
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("keeper: usage file %s is no file: name another", path)
	}
	return u, nil
}

// A record is one line of a usage file.
type record struct {
	Time   int64    `json:"t"` // seconds since 1970
	Rule   string   `json:"r"`
	Skills []string `json:"s,omitempty"`
	Fields []string `json:"d,omitempty"` // domains
	Text   string   `json:"x,omitempty"` // of a mark: hash of the skill's text
	Said   string   `json:"y,omitempty"` // of a mark: hash of its summary
}

// seen is the rule of marks.
const seen = "seen"

// Observe notes an event, if it says something of skills or of how turns went. It implements
// router.Observer and returns nothing: see Err.
func (u *Usage) Observe(_, _ string, e router.Event) {
	r := record{Time: u.now().Unix(), Rule: e.Rule}
	switch e.Rule {
	case "load", "load-extension", "use", "reject", "direct":
		r.Skills = e.Names
	case "match", "choose", "load-domain":
		r.Fields = e.Names
	case "stalled":
		if e.From == router.Definitions {
			r.Skills = e.Names
		} else {
			r.Fields = e.Names
		}
	case "clarify", "none", "sticky":
	default:
		return
	}
	u.write(r)
}

// Mark notes the texts of the skills of ix with a written summary as they are now, so that a
// text that changes after its summary shows later. c is what the index was built from. What
// is noted already is not noted again.
func (u *Usage) Mark(ix *index.Index, c *definitions.Catalog) error {
	known, err := ReadUsage(u.path)
	if err != nil {
		return err
	}
	for i := range ix.Skills() {
		s := &ix.Skills()[i]
		d, ok := c.Skill(s.Name)
		if !ok || s.Summary.Derived {
			continue
		}
		m := markOf(s, d)
		if old := known.marks[s.Name]; len(old) > 0 && old[len(old)-1].Text == m.Text && old[len(old)-1].Said == m.Said {
			continue
		}
		m.Time, m.Rule, m.Skills = u.now().Unix(), seen, []string{s.Name}
		u.write(m)
	}
	return u.Err()
}

// markOf digests the text of a skill, without its summary, and its summary.
func markOf(s *index.Skill, d *definitions.Skill) record {
	digest := func(texts ...string) string {
		sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
		return hex.EncodeToString(sum[:8])
	}
	m := &s.Summary
	return record{
		Text: digest(d.Description, d.Core, d.Extension),
		Said: digest(m.Text, m.NotFor, m.DiffersFrom, m.Params, strings.Join(m.Triggers, "\x00")),
	}
}

// write adds a line.
func (u *Usage) write(r record) {
	line, err := json.Marshal(r)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		err = u.add(append(line, '\n'))
	}
	if u.err == nil {
		u.err = err
	}
}

// add appends a line, to a new file where the old one is full; u.mu is held.
func (u *Usage) add(line []byte) error {
	size, err := u.open()
	if err == nil && size > 0 && size+int64(len(line)) > maxUsage {
		if err := u.putAside(); err != nil {
			return fmt.Errorf("keeper: putting the full usage file aside: %w", err)
		}
		_, err = u.open()
	}
	if err != nil {
		return fmt.Errorf("keeper: usage file: %w", err)
	}
	_, err = u.file.Write(line)
	return err
}

// open opens the file if it is not open, and returns its size, to which other processes
// add too.
func (u *Usage) open() (int64, error) {
	if u.file == nil {
		file, err := appendTo(u.path)
		if err != nil {
			return 0, err
		}
		u.file = file
	}
	info, err := u.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// putAside closes the full file and gives it another name, unless another process did: a
// second time would take the place of the full one.
func (u *Usage) putAside() error {
	mine, err := u.file.Stat()
	err = errors.Join(err, u.file.Close())
	u.file = nil
	if err != nil {
		return err
	}
	there, err := os.Stat(u.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !os.SameFile(mine, there):
		return nil
	}
	return os.Rename(u.path, u.path+".old")
}

// appendTo opens a file for adding to. A line at its end that was torn is ended, so that it
// does not take the next one with it.
func appendTo(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		if _, err := file.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			if _, err := file.WriteString("\n"); err != nil {
				return nil, errors.Join(err, file.Close())
			}
		}
	}
	return file, nil
}

// Err returns the first error of writing, nil for none.
func (u *Usage) Err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// Close ends the use of the file, and returns the first error of writing.
func (u *Usage) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.file != nil {
		u.err = errors.Join(u.err, u.file.Sync(), u.file.Close())
		u.file = nil
	}
	return u.err
}

// A History is what a usage file says.
type History struct {
	records []record
	marks   map[string][]record // by skill, oldest first
	Torn    int                 // lines that could not be read
}

// ReadUsage reads the usage file at path, and the one put aside before it. A file that is
// missing is an empty history; a line that cannot be read is passed over and counted.
func ReadUsage(path string) (*History, error) {
	h := &History{marks: make(map[string][]record)}
	for _, p := range []string{path + ".old", path} {
		file, err := os.Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("keeper: usage file: %w", err)
		}
		err = errors.Join(h.read(file), file.Close())
		if err != nil {
			return nil, fmt.Errorf("keeper: usage file %s: %w", p, err)
		}
	}
	return h, nil
}

func (h *History) read(r io.Reader) error {
	lines := bufio.NewReader(io.LimitReader(r, 2*maxUsage))
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var x record
			if json.Unmarshal(line, &x) != nil || x.Rule == "" || x.Time <= 0 {
				h.Torn++
			} else if x.Rule == seen && len(x.Skills) == 1 {
				h.marks[x.Skills[0]] = append(h.marks[x.Skills[0]], x)
			} else {
				h.records = append(h.records, x)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
