package vectors

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const id = "model/3"

// vectorOf is what a text has for a vector here.
func vectorOf(text string) []float32 {
	return []float32{float32(len(text)), float32(text[0]), -0.5}
}

func vectorsOf(texts []string) [][]float32 {
	vs := make([][]float32, len(texts))
	for i, t := range texts {
		vs[i] = vectorOf(t)
	}
	return vs
}

func open(tb testing.TB, dir string, opts *Options) *Cache {
	tb.Helper()
	c, err := Open(dir, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

func put(tb testing.TB, c *Cache, embedder string, texts ...string) {
	tb.Helper()
	if err := c.Put(embedder, texts, vectorsOf(texts)); err != nil {
		tb.Fatal(err)
	}
}

func get(tb testing.TB, c *Cache, embedder string, texts ...string) [][]float32 {
	tb.Helper()
	got, err := c.Get(embedder, texts)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// segments lists the files of the cache.
func segments(tb testing.TB, dir string) []file {
	tb.Helper()
	files, err := list(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

func texts(from, to int) []string {
	var ts []string
	for i := from; i < to; i++ {
		ts = append(ts, fmt.Sprint("text ", i))
	}
	return ts
}

func TestPutIsFoundAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	c := open(t, dir, nil)
	if diff := cmp.Diff([][]float32{nil, nil}, get(t, c, id, "one", "two")); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	put(t, c, id, "one", "two", "one")
	want := [][]float32{vectorOf("two"), nil, vectorOf("one")}
	for step, c := range []*Cache{c, open(t, dir, nil)} { // this process and another one
		if diff := cmp.Diff(want, get(t, c, id, "two", "three", "one")); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", step, diff)
		}
		if got := get(t, c, "other/3", "one"); got[0] != nil {
			t.Errorf("step %d: another embedder has it", step)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(id, nil); err == nil || c.Put(id, nil, nil) == nil {
		t.Error("a closed cache answers")
	}
	for _, f := range segments(t, dir) {
		data, err := os.ReadFile(f.path)
		if err != nil || bytes.Contains(data, []byte("two")) {
			t.Errorf("a text stands in the file, or %v", err)
		}
	}
}

func TestPutRefuses(t *testing.T) {
	c := open(t, t.TempDir(), nil)
	put(t, c, id, "one")
	if err := c.Put(id, []string{"two"}, nil); err == nil {
		t.Error("a text without a vector: no error")
	}
	if err := c.Put(id, []string{"two"}, [][]float32{{1, 2}}); err == nil || !strings.Contains(err.Error(), "3 values") {
		t.Errorf("another dimension: got %v", err)
	}
	if err := c.Put("new/2", []string{"a", "b"}, [][]float32{{1, 2}, {1}}); err == nil {
		t.Error("two dimensions at once: no error")
	}
	if _, err := Open("", nil); err == nil {
		t.Error("no folder: no error")
	}
}

// Whatever was written when the process was killed: whole records are found,
// no others, and the next process adds to them.
func TestKilledAtEachByte(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, nil)
	put(t, c, id, "one", "two")
	path := segments(t, dir)[0].path
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		dir := t.TempDir()
		shelf := filepath.Join(dir, filepath.Base(filepath.Dir(path)))
		if err := os.Mkdir(shelf, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(shelf, "a"+suffix), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		c := open(t, dir, nil)
		got := get(t, c, id, "one", "two")
		for i, text := range []string{"one", "two"} {
			if got[i] != nil && !slices.Equal(got[i], vectorOf(text)) {
				t.Errorf("%d bytes: %s has the vector %v", n, text, got[i])
			}
		}
		if got[1] != nil {
			t.Errorf("%d of %d bytes: the last record is there", n, len(whole))
		}
		put(t, c, id, "one", "two")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := get(t, open(t, dir, nil), id, "one", "two"); got[0] == nil || got[1] == nil {
			t.Errorf("%d bytes: after a second run: %v", n, got)
		}
	}
}

func TestProcessesAtATime(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			c, err := Open(dir, nil) // as a process of its own
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				ts := texts(10*i+n, 10*i+n+10)
				if err := c.Put(id, ts, vectorsOf(ts)); err != nil {
					t.Error(err)
				}
				if got, err := c.Get(id, ts); err != nil || !slices.EqualFunc(got, vectorsOf(ts), slices.Equal) {
					t.Errorf("got %v, %v", got, err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i, v := range get(t, open(t, dir, nil), id, texts(0, 207)...) {
		if v == nil {
			t.Errorf("text %d is lost", i)
		}
	}
}

func TestSegmentsArePutTogether(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * manySegments {
		c := open(t, dir, nil)
		put(t, c, id, texts(10*i, 10*i+10)...)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(segments(t, dir)); n > manySegments+1 {
		t.Errorf("%d segments", n)
	}
	all := texts(0, 30*manySegments)
	if diff := cmp.Diff(vectorsOf(all), get(t, open(t, dir, nil), id, all...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Another process that puts segments together takes nothing from one that is
// still at work.
func TestPutTogetherWhileAtWork(t *testing.T) {
	for _, last := range [][]string{nil, {"after"}} {
		dir := t.TempDir()
		for i := range manySegments {
			c := open(t, dir, nil)
			put(t, c, id, texts(10*i, 10*i+10)...)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		at := open(t, dir, nil)
		put(t, at, id, "before")
		first := at.shelves[id].own.file.Name()
		other := open(t, dir, nil)
		get(t, other, id, "before") // it looks at what is there
		put(t, at, id, "meanwhile")
		put(t, other, id, "of the other")
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(first); err == nil {
			t.Fatal("the segment in use was not put together with others: the test tests nothing")
		}
		if last != nil {
			put(t, at, id, last...) // and then it is killed
		} else if err := at.Close(); err != nil {
			t.Fatal(err)
		}
		all := append([]string{"before", "meanwhile", "of the other"}, last...)
		for i, v := range get(t, open(t, dir, nil), id, all...) {
			if v == nil {
				t.Errorf("%q is gone", all[i])
			}
		}
	}
}

// What was not used for longest goes first, also where it stands beside what is
// in use.
func TestBound(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, nil)
	put(t, c, id, texts(0, 100)...)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	first := segments(t, dir)[0]
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(first.path, long, long); err != nil {
		t.Fatal(err)
	}
	c = open(t, dir, &Options{MaxBytes: first.size * 3 / 4})
	get(t, c, id, texts(0, 20)...) // few of the first
	put(t, c, id, texts(100, 130)...)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, f := range segments(t, dir) {
		total += f.size
	}
	if total > first.size*3/4 {
		t.Errorf("%d bytes, more than %d", total, first.size*3/4)
	}
	c = open(t, dir, nil)
	for i, v := range get(t, c, id, texts(0, 130)...) {
		if used := i < 20 || i >= 100; used != (v != nil) {
			t.Errorf("text %d: used %v, kept %v", i, used, v != nil)
		}
	}
}

// A catalog that uses a few vectors of a large segment copies them once, not at
// each run.
func TestRunsDoNotGrow(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, nil)
	put(t, c, id, texts(0, 100)...)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	size := segments(t, dir)[0].size
	var after []int64
	for range 5 {
		c := open(t, dir, &Options{MaxBytes: size * 19 / 10})
		get(t, c, id, texts(0, 20)...)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		var total int64
		for _, f := range segments(t, dir) {
			total += f.size
		}
		after = append(after, total)
	}
	if after[4] != after[0] || after[0] <= size {
		t.Errorf("%d bytes at first, then %v", size, after)
	}
}

func TestABoundOfNothing(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, &Options{MaxBytes: 1})
	put(t, c, id, "one")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if fs := segments(t, dir); len(fs) != 0 {
		t.Errorf("left: %v", fs)
	}
}

// Whatever a file holds: a vector that comes out of it has a right checksum, and
// what is put beside it is found.
func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	c := open(f, dir, nil)
	put(f, c, id, "one", "two")
	whole, err := os.ReadFile(segments(f, dir)[0].path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte(magic))
	f.Add(append(slices.Clone(whole[:40]), bytes.Repeat([]byte{0xff}, 60)...))
	shelf := filepath.Base(filepath.Dir(segments(f, dir)[0].path))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, shelf), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, shelf, "a"+suffix)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := openSegment(path)
		if err == nil {
			if int64(len(data)) < g.offset(len(g.keys)) {
				t.Errorf("%d records in %d bytes", len(g.keys), len(data))
			}
			_ = g.close()
		}
		c := open(t, dir, nil)
		before := get(t, c, id, "one")[0]
		err = c.Put(id, []string{"one"}, vectorsOf([]string{"one"}))
		after := get(t, c, id, "one")[0]
		switch {
		case before != nil && !slices.EqualFunc(before, after, same):
			t.Errorf("kept %v, then %v", before, after)
		case before == nil && err == nil && !slices.Equal(after, vectorOf("one")):
			t.Errorf("put, but got %v", after)
		}
	})
}

func same(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func BenchmarkGet(b *testing.B) {
	dir := b.TempDir()
	c := open(b, dir, nil)
	ts := texts(0, 1000)
	vs := make([][]float32, len(ts))
	for i := range vs {
		vs[i] = make([]float32, 1536)
	}
	if err := c.Put("m/1536", ts, vs); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := open(b, dir, nil)
		if got, err := c.Get("m/1536", ts); err != nil || got[999] == nil {
			b.Fatal("not there")
		}
	}
}
