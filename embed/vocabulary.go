package embed

import (
	"fmt"
	"strings"

	"skillrouter/internal/text"
)

// A token is a row of the table and a line of the vocabulary.
type token uint16

const (
	maxTokens = 1<<16 - 1 // so that the number of a token plus one fits 16 bits

	longestWord = 18 // letters of the longest English token: a longer candidate cannot match
	longestHan  = 4  // characters of the longest Chinese token

	pieceMark = "##" // begins a token that continues a word
	numberTok = "<num>"
)

// A vocabulary finds tokens. It is an open-addressing hash table over the text
// of the vocabulary file, filled in a third of the time that a map takes.
type vocabulary struct {
	words  string
	starts []uint32 // where token i begins in words; one more entry for the end
	// A token of hash h is in the first free slot from h & mask on: its number
	// plus one in the low half, the high half of h above it; 0 is empty.
	slots []uint32
	mask  uint32

	digits [10]int32 // tokens of single digits, -1 if there is none
	number int32     // token of any longer number, -1 if there is none

	hanFirst, hanEnd token // the Chinese tokens, which stand together
}

// newVocabulary indexes words, one token a line without an end of the last line:
// words of a–z, pieces "##…", digits, runs of one to four Han characters, and
// "<num>".
func newVocabulary(words string) (vocabulary, error) {
	n := strings.Count(words, "\n") + 1
	if n > maxTokens {
		return vocabulary{}, fmt.Errorf("embed: vocab.txt has %d tokens, at most %d can be numbered", n, maxTokens)
	}
	size := uint32(2)
	for int(size) < 2*n {
		size *= 2
	}
	v := vocabulary{
		words:  words,
		starts: make([]uint32, 0, n+1),
		slots:  make([]uint32, size),
		mask:   size - 1,
		number: -1,
	}
	for i := range v.digits {
		v.digits[i] = -1
	}
	for start := 0; start <= len(words); {
		end := len(words)
		if i := strings.IndexByte(words[start:], '\n'); i >= 0 {
			end = start + i
		}
		i := len(v.starts)
		v.starts = append(v.starts, uint32(start))
		if err := v.add(i, words[start:end]); err != nil {
			return vocabulary{}, fmt.Errorf("embed: vocab.txt:%d: %w: make the file anew with tools/distill", i+1, err)
		}
		start = end + 1
	}
	v.starts = append(v.starts, uint32(len(words)+1))
	return v, nil
}

// add files word as token i.
func (v *vocabulary) add(i int, word string) error {
	switch {
	case word == numberTok:
		v.number = int32(i)
		return nil
	case len(word) == 1 && isDigit(word[0]):
		v.digits[word[0]-'0'] = int32(i)
		return nil
	}
	body, h := word, hashWord
	if rest, ok := strings.CutPrefix(word, pieceMark); ok {
		body, h = rest, hashPiece
	}
	piece, letters, han := h == hashPiece, 0, 0
	for _, r := range body {
		switch {
		case 'a' <= r && r <= 'z':
			letters++
		case text.IsHan(r):
			han++
		default:
			return fmt.Errorf("%q holds a character that no token has", word)
		}
		h = hash(h, uint32(r))
	}
	if letters+han == 0 || letters > 0 && han > 0 || letters > longestWord || han > longestHan || han > 0 && piece {
		return fmt.Errorf("%q is no token: 1 to %d letters or 1 to %d Han characters", word, longestWord, longestHan)
	}
	if han > 0 {
		if v.hanEnd == 0 {
			v.hanFirst, v.hanEnd = token(i), token(i)
		}
		if v.hanEnd != token(i) {
			return fmt.Errorf("%q stands apart from the other Chinese tokens", word)
		}
		v.hanEnd++
	}
	s := h & v.mask
	for v.slots[s] != 0 {
		s = (s + 1) & v.mask
	}
	v.slots[s] = h&tagBits | uint32(i+1)
	return nil
}

func (v *vocabulary) len() int { return len(v.starts) - 1 }

func (v *vocabulary) word(t token) string {
	return v.words[v.starts[t] : v.starts[t+1]-1]
}

// isHan reports whether t is a Chinese token.
func (v *vocabulary) isHan(t token) bool {
	return v.hanFirst <= t && t < v.hanEnd
}

// The hash of a token is FNV-1a over its runes, begun with one number for whole
// words and Chinese and another for pieces.
const (
	hashWord  uint32 = 2166136261
	hashPiece uint32 = hashWord ^ 0x9E3779B9
	hashPrime uint32 = 16777619

	tagBits uint32 = 0xFFFF0000 // the part of a hash that a slot keeps
)

func hash(h, r uint32) uint32 { return (h ^ r) * hashPrime }

// find returns the token of hash h whose text is body, after the piece mark if
// piece is set.
func (v *vocabulary) find(h uint32, body []byte, piece bool) (t token, ok bool) {
	for s := h & v.mask; ; s = (s + 1) & v.mask {
		slot := v.slots[s]
		if slot == 0 {
			return 0, false
		}
		if (slot^h)&tagBits != 0 {
			continue
		}
		t = token(slot&^tagBits - 1)
		word := v.word(t)
		if piece {
			rest, marked := strings.CutPrefix(word, pieceMark)
			if !marked {
				continue
			}
			word = rest
		}
		if word == string(body) {
			return t, true
		}
	}
}
