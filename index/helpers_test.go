package index

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/internal/text"
)

// builtIn is the embedder that users get.
func builtIn(tb testing.TB) *embed.Static {
	tb.Helper()
	e, err := embed.New()
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// words is a tiny embedder: each term points somewhere, a text where its terms
// point together.
type words struct {
	dim   int
	spoil func(vectors [][]float32) ([][]float32, error) // nil: works
	calls atomic.Int64
}

func (w *words) ID() string { return fmt.Sprintf("words/%d", w.dim) }

func (w *words) Embed(_ context.Context, texts []string) ([][]float32, error) {
	w.calls.Add(1)
	vectors := make([][]float32, len(texts))
	for i, s := range texts {
		vectors[i] = make([]float32, w.dim)
		for _, t := range text.Terms(s) {
			h := hash([]byte(t))
			r := rand.New(rand.NewPCG(h, h))
			for j := range vectors[i] {
				vectors[i][j] += float32(r.NormFloat64())
			}
		}
		normalize(vectors[i])
	}
	if w.spoil != nil {
		return w.spoil(vectors)
	}
	return vectors, nil
}

// atOnce is words that waits for nothing.
type atOnce struct{ words }

func (a *atOnce) AppendEmbed(dst []float32, s string) []float32 {
	vectors, _ := a.Embed(context.Background(), []string{s})
	return append(dst, vectors[0]...)
}

// office is a small catalog in two languages: three domains, one of them
// written, a skill in two of them, and one that is reached by name only.
func office() fstest.MapFS {
	skill := func(front, body string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\n" + front + "\n---\n" + body)}
	}
	return fstest.MapFS{
		"skillrouter.yaml": {Data: []byte(`domains:
  - name: Paper
    description: read, split and join PDF files
    keywords: [scanner, 文档]
    folder: paper
routing:
  threshold: 0.7
`)},
		"paper/pdf-join/SKILL.md": skill(`name: pdf-join
description: Joins several PDF files into one. Use when pages of many files belong together.
metadata:
  triggers: [merge these PDFs, join two PDF files, one PDF out of many]
  domains: [Travel]`, "# Join\nCall the joiner with a list of paths.\n"),
		"paper/pdf-text/SKILL.md": skill(`name: pdf-text
description: Reads the text of a PDF file, page by page.
metadata:
  triggers: [text of a PDF, what does this PDF say, copy words from a PDF]`, "# Read\nOpens the file and prints its words.\n"),
		"travel/trains/SKILL.md": skill(`name: trains
description: Finds train connections and their prices.
metadata:
  triggers: [next train to Hamburg, rail timetable, cheap train ticket]`, "# Trains\nAsks the timetable.\n"),
		"travel/hotels/SKILL.md": skill(`name: hotels
description: 查找并预订酒店房间。
metadata:
  triggers: [订酒店, 附近的旅馆, 今晚住哪里]`, "# 酒店\n按城市和日期查询空房。\n"),
		"home/cat-sitter/SKILL.md": skill(`name: cat-sitter
description: Plans who feeds the cat while nobody is home.
metadata:
  triggers: [cat food, who feeds the cat, cat]`, "# Cats\nKeeps a calendar of sitters.\n"),
		"home/alarm/SKILL.md": skill(`name: alarm
description: Sets off the fire alarm.
disable-model-invocation: true`, "# Alarm\nReached by name only.\n"),
	}
}

func load(tb testing.TB, fsys fs.FS) *definitions.Catalog {
	tb.Helper()
	c, err := definitions.Load(tb.Context(), []definitions.Root{{Path: "catalog", FS: fsys}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func build(tb testing.TB, fsys fs.FS, e Embedder) *Index {
	tb.Helper()
	ix, err := Build(tb.Context(), load(tb, fsys), e, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := ix.Close(); err != nil {
			tb.Error(err)
		}
	})
	return ix
}

// loadMany returns a catalog of n made-up skills in domains of 20, with
// triggers of their own.
func loadMany(tb testing.TB, n int) *definitions.Catalog {
	tb.Helper()
	r := rand.New(rand.NewPCG(7, uint64(n)))
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu")
	word := func() string {
		w := ""
		for range 2 + r.IntN(2) {
			w += syllables[r.IntN(len(syllables))]
		}
		return w
	}
	pool := make([]string, 40+n/2)
	for i := range pool {
		pool[i] = word()
	}
	phrase := func(n int) string {
		p := make([]string, n)
		for i := range p {
			p[i] = pool[r.IntN(len(pool))]
		}
		return strings.Join(p, " ")
	}
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"skill": "skill-%05d", "domain": "domain %03d", "description": "Does %s. Use for %s.", "triggers": ["%s", "%s", "%s"]}`+"\n",
			i, i/20, phrase(8), phrase(4), phrase(4), phrase(3), phrase(5))
	}
	path := filepath.Join(tb.TempDir(), "catalog.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	c, err := definitions.Load(tb.Context(), []definitions.Root{{Path: path}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func buildMany(tb testing.TB, n int, e Embedder) *Index {
	tb.Helper()
	ix, err := Build(tb.Context(), loadMany(tb, n), e, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return ix
}

// here is where the files of tests would be.
const here = "."

// encode returns the bytes of an index file.
func encode(tb testing.TB, ix *Index) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := ix.write(&b, here); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// A row is a score by names, to compare indexes.
type row struct {
	Name               string
	Score, Other, More float32
}

func score(ix *Index, q *Query) (ds, ss []row) {
	s := ix.Score(q)
	defer s.Release()
	for _, d := range s.Domains {
		ds = append(ds, row{ix.domains[d.Domain].Name, d.Score, d.Evidence, d.Margin})
	}
	for _, x := range s.Skills {
		ss = append(ss, row{ix.skills[x.Skill].Name, x.Evidence, x.Similarity, x.Lexical + x.Phrase})
	}
	return ds, ss
}

// ask is a Query with the vector that e gives it.
func ask(tb testing.TB, e Embedder, utterance string) *Query {
	tb.Helper()
	vectors, err := e.Embed(tb.Context(), []string{utterance})
	if err != nil {
		tb.Fatal(err)
	}
	return &Query{Utterance: utterance, Vector: vectors[0]}
}

// utterances are a few of every kind.
func utterances() []string {
	return []string{
		"merge these PDFs", "please join two PDF files for me", "what does this PDF say?", "next train to Hamburg tomorrow",
		"今晚住哪里", "帮我订酒店", "who feeds the cat", "hello there", "", "   ", "?!", "🙂", "concatenate the lists",
		"合并这些 PDF 文件", "set off the alarm", strings.Repeat("a long story about trains and cats ", 200),
	}
}

// only keeps these files.
func only(fsys fstest.MapFS, names ...string) fstest.MapFS {
	kept := fstest.MapFS{}
	for _, n := range names {
		kept[n] = fsys[n]
	}
	return kept
}
