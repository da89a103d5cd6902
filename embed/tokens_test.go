package embed

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/internal/text"
)

// A naiveTokenizer is the Python reference written down again with a map, on
// folded text.
type naiveTokenizer struct {
	index map[string]int
	runs  *regexp.Regexp
}

func newNaiveTokenizer() *naiveTokenizer {
	n := &naiveTokenizer{
		index: map[string]int{},
		runs:  regexp.MustCompile(`[a-z]+|[0-9]+|[\x{3400}-\x{9fff}]+`),
	}
	for i, word := range strings.Split(vocabFile, "\n") {
		n.index[word] = i
	}
	return n
}

func (n *naiveTokenizer) tokens(folded string) []int {
	found := []int{}
	add := func(word string) bool {
		i, ok := n.index[word]
		if ok {
			found = append(found, i)
		}
		return ok
	}
	for _, run := range n.runs.FindAllString(folded, -1) {
		switch {
		case run[0] <= '9':
			if len(run) > 1 {
				run = "<num>"
			}
			add(run)
		case run[0] <= 'z':
			if !add(run) {
				n.pieces(run, add)
			}
		default:
			r := []rune(run)
			for a := range r {
				for e := a + 1; e <= min(a+4, len(r)); e++ {
					add(string(r[a:e]))
				}
			}
		}
	}
	return found
}

func (n *naiveTokenizer) pieces(word string, add func(string) bool) {
next:
	for p := 0; p < len(word); p++ {
		for e := min(len(word), p+18); e > p; e-- {
			piece := word[p:e]
			if p > 0 {
				piece = "##" + piece
			}
			if (e-p > 1 || e == len(word)) && add(piece) {
				p = e - 1
				continue next
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, row := range readGolden(f) {
		f.Add(row.Text)
	}
	for _, s := range []string{
		"zz", "##ing", "<num>", "a##b", "x1y22z", "q", "中a文1", "㐀鿿豈", "e\u0301cole", "한국어", "\xff\xe4\xb8",
		"pneumonoultramicroscopicsilicovolcanoconiosis", "大错特错 大错特", "don't don’t",
	} {
		f.Add(s)
	}
	e, naive := newTest(f), newNaiveTokenizer()
	f.Fuzz(func(t *testing.T, s string) {
		if diff := cmp.Diff(naive.tokens(text.Fold(s)), e.Tokens(s)); diff != "" {
			t.Errorf("Tokens(%q) (-naive +got):\n%s", s, diff)
		}
	})
}

// Every line of the vocabulary must be found again, or its row is dead weight.
func TestEveryTokenIsReachable(t *testing.T) {
	e := newTest(t)
	for i, word := range strings.Split(vocabFile, "\n") {
		if word == "<num>" {
			word = "12"
		}
		body, piece := strings.CutPrefix(word, "##")
		if piece {
			h := hashPiece
			for _, r := range body {
				h = hash(h, uint32(r))
			}
			if got, ok := e.vocab.find(h, []byte(body), true); !ok || int(got) != i {
				t.Errorf("find(%q) = %d, %t, want %d", word, got, ok, i)
			}
			continue
		}
		if traditional(word) { // some characters that the corpus has, all of which the table knows simplified
			if got := e.Tokens(word); len(got) != 1 {
				t.Errorf("Tokens(%q) = %v, want that of the simplified character", word, got)
			}
			continue
		}
		if got := e.Tokens(word); !slices.Contains(got, i) {
			t.Errorf("Tokens(%q) = %v, want %d among them", word, got, i)
		}
	}
}

// The English words of a Chinese text count twice.
func TestMixedTextWeights(t *testing.T) {
	e := newTest(t)
	pdf, turn := e.Tokens("pdf"), e.Tokens("转")
	if len(pdf) != 1 || len(turn) != 1 {
		t.Fatalf("Tokens = %v and %v, want one each", pdf, turn)
	}
	var want [dim]float32
	var rows block
	rows.put(&e.table, token(pdf[0]), 2)
	rows.put(&e.table, token(turn[0]), 1)
	rows.flush(&e.table, &want)
	normalize(&want)
	if got := e.AppendEmbed(nil, "PDF 转"); largestDifference(got, want[:]) > 0 {
		t.Errorf("the vector of a mixed text is not 2 × the English row + the Chinese row")
	}
}
