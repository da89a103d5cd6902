package domains

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter/internal/text"
)

// Weights of the places a term may stand in: 1 in the skill's name, less where an author
// says more by the way.
const (
	nameWeight        = 1
	summaryWeight     = 0.8
	triggerWeight     = 0.7
	descriptionWeight = 0.5
)

// vocabulary holds what items are about as terms: one or two words in a row, stemmed, and
// two to four Chinese characters in a row.
type vocabulary struct {
	ids   map[string]int
	terms []term
	items [][]posting // terms of each item, by term
	rows  [][]float32 // vector of each item, as [Cluster] compares them

	concepts []int // ids of the concepts that any item has
}

// term is one term with what is known of how it is used.
type term struct {
	key      string
	words    int    // 1 or 2; 0 for Chinese, conceptWords for a concept
	chinese  string // name of a concept in Chinese
	holders  []int  // items that have it, in order
	surfaces map[string]int
	inner    int // times it stood inside a sentence, where a capital means a name
	capitals int // of these, how often with one
	last     int // times it ended a noun phrase
	seen     int
	before   map[rune]bool // Chinese: what stood before and after it
	after    map[rune]bool
}

// conceptWords marks a concept among the terms.
const conceptWords = -1

// posting says how prominent a term is in an item.
type posting struct {
	term   int
	weight float64
}

func newVocabulary(items []Item, rows [][]float32) *vocabulary {
	v := &vocabulary{ids: make(map[string]int), rows: rows}
	for i := range items {
		it := &items[i]
		found := make(map[int]float64)
		v.add(found, strings.NewReplacer("-", " ", "_", " ").Replace(it.Name), nameWeight)
		if it.Summary != nil {
			v.add(found, it.Summary.Text, summaryWeight)
			for _, t := range it.Summary.Triggers {
				v.add(found, t, triggerWeight)
			}
		}
		v.add(found, it.Description, descriptionWeight)
		list := make([]posting, 0, len(found))
		for t, w := range found {
			list = append(list, posting{t, w})
			v.terms[t].holders = append(v.terms[t].holders, i)
		}
		slices.SortFunc(list, func(a, b posting) int { return a.term - b.term })
		v.items = append(v.items, list)
	}
	v.conceptTerms()
	return v
}

// prefix returns at most n bytes of s, whole characters.
func prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// add notes the terms of s, of a long text those of its start.
func (v *vocabulary) add(found map[int]float64, s string, weight float64) {
	const most = 1200 // bytes
	var previous *token
	for _, t := range tokens(prefix(s, most)) {
		if t.han {
			v.addHan(found, t.surface, weight)
			previous = nil
			continue
		}
		if !t.content {
			if previous != nil && t.joined && lastOnly(strings.ToLower(t.surface)) {
				v.note(found, previous.stem+" "+t.stem, previous.surface+" "+t.surface, 2, weight, &t)
			}
			previous = nil
			continue
		}
		v.note(found, t.stem, t.surface, 1, weight, &t)
		if previous != nil && t.joined {
			v.note(found, previous.stem+" "+t.stem, previous.surface+" "+t.surface, 2, weight, &t)
		}
		previous = &t
	}
}

// note counts one use of a term that ends in t.
func (v *vocabulary) note(found map[int]float64, key, surface string, words int, weight float64, t *token) {
	id := v.id(key, words)
	e := &v.terms[id]
	e.seen++
	e.surfaces[surface]++
	if t.last {
		e.last++
	}
	if t.inner {
		e.inner++
		if r, _ := utf8.DecodeRuneInString(t.surface); unicode.IsUpper(r) {
			e.capitals++
		}
	}
	found[id] = max(found[id], weight)
}

func (v *vocabulary) id(key string, words int) int {
	id, ok := v.ids[key]
	if !ok {
		id = len(v.terms)
		v.ids[key] = id
		v.terms = append(v.terms, term{key: key, words: words, surfaces: make(map[string]int)})
	}
	return id
}

// addHan notes the runs of two to four characters of a run of Chinese.
func (v *vocabulary) addHan(found map[int]float64, run string, weight float64) {
	runes := []rune(run)
	for i := range runes {
		for n := 2; n <= 4 && i+n <= len(runes); n++ {
			if !hanEdge(runes[i]) && !hanEdge(runes[i+n-1]) {
				id := v.id(string(runes[i:i+n]), 0)
				e := &v.terms[id]
				e.seen++
				if e.before == nil {
					e.before, e.after = make(map[rune]bool), make(map[rune]bool)
					e.surfaces[e.key] = 1
				}
				// An edge counts as a neighbour of its own each time.
				b, a := rune(-e.seen), rune(-e.seen)
				if i > 0 && !hanEdge(runes[i-1]) {
					b = runes[i-1]
				}
				if i+n < len(runes) && !hanEdge(runes[i+n]) {
					a = runes[i+n]
				}
				e.before[b], e.after[a] = true, true
				found[id] = max(found[id], weight)
			}
		}
	}
}

// hanEdge reports whether no Chinese term begins or ends with r.
func hanEdge(r rune) bool {
	return strings.ContainsRune("的地得了着过吗呢吧和与跟及或而但并等把被给请让使对向从到于以为因由是在有没不也都就还才又再这那哪些个该其之所如若时当需你我他您们中各多种前后可将按", r)
}

// token is a word of a text, or a run of Chinese.
type token struct {
	surface string
	stem    string
	han     bool
	content bool // no function word, no number
	inner   bool // not the first of a sentence
	joined  bool // nothing but a blank lies between it and the token before
	last    bool // what follows is no content word
}

// tokens takes s apart.
func tokens(s string) []token {
	var out []token
	joined, inner := false, false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case text.IsHan(r):
			end := i
			for end < len(s) {
				r, n := utf8.DecodeRuneInString(s[end:])
				if !text.IsHan(r) {
					break
				}
				end += n
			}
			out = append(out, token{surface: s[i:end], han: true})
			i, joined, inner = end, false, true
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			end := i
			for end < len(s) {
				r, n := utf8.DecodeRuneInString(s[end:])
				more := end+n < len(s) && (r == '-' || r == '\'' || r == '’' || r == '.') && isAlnum(s[end+n])
				if text.IsHan(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !more && r != '+' && r != '#' {
					break
				}
				end += n
			}
			t := word(s[i:end])
			t.joined, t.inner = joined, inner
			out = append(out, t)
			i, joined, inner = end, true, true
			continue
		case r == ' ':
		case strings.ContainsRune(".!?:;。！？：；\n\"“”|•*", r):
			joined, inner = false, false
		default:
			joined = false
		}
		i += n
	}
	for i := range out {
		out[i].last = i+1 == len(out) || !out[i+1].content || !out[i+1].joined
	}
	return out
}

func isAlnum(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// word makes a token of one word.
func word(surface string) token {
	t := token{surface: surface}
	stems := text.Terms(surface)
	t.stem = strings.Join(stems, "-")
	letters := strings.ContainsFunc(surface, unicode.IsLetter)
	t.content = letters && utf8.RuneCountInString(surface) > 1 && !text.Stop([]byte(t.stem)) && !filler(strings.ToLower(surface))
	return t
}

// weighed is a term of a group of items with what speaks for it.
type weighed struct {
	*term
	id      int
	members []int   // which items of the group have it
	cover   float64 // share of the group that has it, by weight
	score   float64
}

// about returns the terms that set a group of items apart, best first: those of two items
// or more (of one where there is only one) that are more frequent in it than elsewhere.
// The score is the share of the group times the logarithm of how much larger that is than
// the share of all: the group's part of the divergence of the two.
func (v *vocabulary) about(group []int) []weighed {
	sum := make(map[int]*weighed)
	for m, i := range group {
		for _, p := range v.items[i] {
			w := sum[p.term]
			if w == nil {
				w = &weighed{term: &v.terms[p.term], id: p.term}
				sum[p.term] = w
			}
			w.members = append(w.members, m)
			w.cover += p.weight / float64(len(group))
		}
	}
	var out []weighed
	least := min(2, len(group))
	for _, id := range slices.Sorted(maps.Keys(sum)) {
		w := sum[id]
		if len(w.members) < least {
			continue
		}
		inside := float64(len(w.members)) / float64(len(group))
		lift := inside * float64(len(v.items)) / float64(len(w.holders))
		if len(v.items) > len(group) && lift <= 1 {
			continue
		}
		w.score = w.cover * (math.Log(lift) + 0.1) // by the letter;
		out = append(out, *w)
	}
	slices.SortStableFunc(out, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.key, b.key))
	})
	return out
}

// reach is how near, by meaning, a term is to the members of a group, 0 to 1: the mean
// cosine of each with the mean of the other items that have the term.
func (v *vocabulary) reach(w *weighed, group []int) float64 {
	const most = 64 // holders looked at
	holders := w.holders[:min(most, len(w.holders))]
	sum := make([]float32, len(v.rows[0]))
	for _, h := range holders {
		for d, x := range v.rows[h] {
			sum[d] += x
		}
	}
	length := float64(dot(sum, sum))
	total := 0.0
	for _, i := range group {
		d, l := float64(dot(sum, v.rows[i])), length
		if _, own := slices.BinarySearch(holders, i); own {
			l += 1 - 2*d
			d--
		}
		if l > 1e-6 {
			total += max(0, d/math.Sqrt(l))
		}
	}
	return total / float64(len(group))
}

// whole reports whether a Chinese term is a word rather than a part of one or of two:
// different characters stand on both sides of it.
func (t *term) whole() bool { return len(t.before) > 1 && len(t.after) > 1 }

// proper reports whether the term is mostly written with a capital letter inside
// sentences: the name of a product, a language or a place.
func (t *term) proper() bool { return t.inner > 0 && t.capitals*2 > t.inner }

// surface returns how the term is written: as it is most often, the plural where there is
// one, with capitals only where they belong to the word.
func (t *term) surface() string {
	best := ""
	for s, n := range t.surfaces {
		if m := t.surfaces[best]; best == "" || n > m || n == m && s < best {
			best = s
		}
	}
	if t.words < 1 {
		return best
	}
	for s, n := range t.surfaces {
		if s == best+"s" && 4*n >= t.surfaces[best] { // at most one
			best = s
			break
		}
	}
	if t.proper() && strings.ToLower(best) != best {
		return best
	}
	words := strings.Fields(best)
	for i, w := range words {
		_, size := utf8.DecodeRuneInString(w)
		if strings.ToLower(w[size:]) == w[size:] {
			words[i] = spelling(strings.ToLower(w))
		}
	}
	return strings.Join(words, " ")
}
