// Package embed holds the built-in embedder: it turns English and Chinese texts
// into unit vectors with a table in the binary, without a network, a key or a
// model at run time. An endpoint takes its place in embed/openai.
//
// The table is 59,764 rows of 256 four-bit numbers: English words and word
// pieces fitted to all-MiniLM-L6-v2, Chinese words fitted to the multilingual
// Universal Sentence Encoder and turned into the same space. tools/distill makes
// it.
package embed

import (
	"context"
	_ "embed" // table.bin and vocab.txt
	"math"

	"skillrouter/internal/text"
)

// The embedded files. Line i of vocabFile names row i of tableFile, which is all
// rows first (128 bytes each, dimension 2j in the low half of byte j, 2j+1 in
// the high half, both minus 8) and then their scales (half precision,
// little-endian).
var (
	//go:embed table.bin
	tableFile string
	//go:embed vocab.txt
	vocabFile string
)

const (
	id  = "static-en-zh-1/256"
	dim = 256
)

// Static is the built-in embedder. It is safe for concurrent use; construct it
// once and share it.
type Static struct {
	vocab vocabulary
	table table
}

// New returns the built-in embedder. It indexes the vocabulary, which takes a
// few milliseconds and 1 MB; the table itself stays as it is in the binary. An
// error means that the binary was built with a table and a vocabulary that do
// not fit together.
func New() (*Static, error) {
	return newStatic(tableFile, vocabFile)
}

func newStatic(rows, words string) (*Static, error) {
	v, err := newVocabulary(words)
	if err != nil {
		return nil, err
	}
	t, err := newTable(rows, v.len())
	if err != nil {
		return nil, err
	}
	return &Static{vocab: v, table: t}, nil
}

// ID names the table, its version and its dimension. Vectors of equal IDs are
// comparable.
func (e *Static) ID() string { return id }

// Dim returns the length of every vector, 256.
func (e *Static) Dim() int { return dim }

// Embed returns one vector for each text, in order: of length 1, or all zeros
// where the table knows nothing of the text. The vectors belong to the caller.
// The error is that of ctx, which is looked at before each text.
func (e *Static) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	all := make([]float32, 0, len(texts)*dim)
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all = e.AppendEmbed(all, s)
		vectors[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return vectors, nil
}

// AppendEmbed appends the vector of s, [Static.Dim] values, to dst: what
// [Static.Embed] returns for it. It takes a few microseconds for an utterance
// and time in proportion to the length for a long text, and allocates only if
// dst has no room or s is long (above 1,024 bytes or 512 tokens).
//
// The same text gives the same bits on every machine.
func (e *Static) AppendEmbed(dst []float32, s string) []float32 {
	var scratch scratch
	tokens := e.vocab.appendTokens(scratch.tokens[:0], text.AppendFold(scratch.folded[:0], s))

	// Words of the other language in a Chinese text are names and terms, few
	// against the many overlapping Chinese tokens: they count twice.
	var others float32 = 1
	for _, t := range tokens {
		if e.vocab.isHan(t) {
			others = 2
			break
		}
	}
	var sum [dim]float32
	var rows block
	for _, t := range tokens {
		weight := others
		if e.vocab.isHan(t) {
			weight = 1
		}
		rows.put(&e.table, t, weight)
		if rows.n == blockRows {
			rows.flush(&e.table, &sum)
		}
	}
	rows.flush(&e.table, &sum)
	normalize(&sum)
	return append(dst, sum[:]...)
}

// scratch holds what an utterance needs on the way to its vector, on the stack.
type scratch struct {
	folded [1024]byte
	tokens [512]token
}

// Tokens returns the rows of the table that make up the vector of s, in text
// order, repeats included.
func (e *Static) Tokens(s string) []int {
	var scratch scratch
	tokens := e.vocab.appendTokens(scratch.tokens[:0], text.AppendFold(scratch.folded[:0], s))
	rows := make([]int, len(tokens))
	for i, t := range tokens {
		rows[i] = int(t)
	}
	return rows
}

// normalize gives v the length 1; zeros stay zeros. The products are exact in
// double precision, so that a processor which fuses multiplication and addition
// gets the same sum; four sums at once do not wait for one another.
func normalize(v *[dim]float32) {
	var s0, s1, s2, s3 float64
	for i := 0; i < dim; i += 4 {
		x0, x1, x2, x3 := float64(v[i]), float64(v[i+1]), float64(v[i+2]), float64(v[i+3])
		s0 += x0 * x0
		s1 += x1 * x1
		s2 += x2 * x2
		s3 += x3 * x3
	}
	total := s0 + s1 + s2 + s3
	if total == 0 {
		return
	}
	inverse := 1 / math.Sqrt(total)
	for i, x := range v {
		v[i] = float32(float64(x) * inverse)
	}
}
