package keeper

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// When two skills are confusable. Chosen on 5,579 real skills so that of the pairs above
// nine in ten are ones of which a reader cannot say at once which to take; vectors alone
// take siblings for twins, words alone templates.
const (
	nearVectors = 0.76 // least cosine of vectors
	alikeWords  = 0.15 // least cosine of weighted words
	alikeBoth   = 1.02 // least sum of the two
	sameVectors = 0.80 // least cosine of vectors where the languages differ, and so the words
	nearest     = 3    // pairs told of one skill
	fewTerms    = 6    // a text with fewer terms of its own is not compared
)

// A couple is two skills, by their place among those looked at.
type couple struct {
	a, b       int
	similarity float32
	words      float64
}

// confusable reports pairs of skills that are alike and say nothing of it (C7, C18).
func (l *linter) confusable(ctx context.Context) error {
	var routed []int
	var places []int32
	for i := range l.skills {
		if !l.skills[i].Summary.Manual {
			routed, places = append(routed, i), append(places, l.skills[i].at)
		}
	}
	items := l.ix.Items(places)
	vectors := make([][]float32, len(items))
	for i := range items {
		vectors[i] = items[i].Vector
	}
	pairs, err := alike(ctx, vectors)
	if err != nil {
		return err
	}
	words := l.weigh(routed)
	told := make(map[int]int)
	for i := range pairs {
		p := &pairs[i]
		p.words = cosine(words[p.a], words[p.b])
	}
	slices.SortFunc(pairs, func(x, y couple) int {
		return cmp.Or(cmp.Compare(float64(y.similarity)+y.words, float64(x.similarity)+x.words), x.a-y.a, x.b-y.b)
	})
	for _, p := range pairs {
		a, b := &l.skills[routed[p.a]], &l.skills[routed[p.b]]
		if same(a, b) {
			f := a.finding("same-summary", "the summary is that of "+b.Name+": "+quote(a.Summary.Text), "")
			f.Others = []string{b.Name}
			l.add(f)
			continue
		}
		if foreign := text.Limit(a.Description, 1) != text.Limit(b.Description, 1); foreign && p.similarity < sameVectors ||
			!foreign && (p.words < alikeWords || float64(p.similarity)+p.words < alikeBoth) {
			continue
		}
		if len(words[p.a]) < fewTerms || len(words[p.b]) < fewTerms {
			continue // a name is no text to compare
		}
		if letters(a.Name) == letters(b.Name) {
			continue // alike-names says it
		}
		if named(a, b) {
			continue
		}
		if told[p.a] >= nearest || told[p.b] >= nearest || told[p.a] > 0 && told[p.b] > 0 && len(routed) > 1000 {
			continue
		}
		if parted(a, b, words[p.a], words[p.b]) || parted(b, a, words[p.b], words[p.a]) {
			continue
		}
		told[p.a]++
		told[p.b]++
		f := a.finding("confusable", fmt.Sprintf("%s is alike (%.2f), and nothing says how they differ", b.Name, p.similarity), missing(a, b, words[p.a], words[p.b]))
		f.Others = []string{b.Name}
		l.add(f)
	}
	return nil
}

// alike returns the pairs of vectors whose cosine is nearVectors or more.
func alike(ctx context.Context, vectors [][]float32) ([]couple, error) {
	rows := make([][]couple, len(vectors))
	var next sync.Mutex
	row := 0
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for ctx.Err() == nil {
				next.Lock()
				i := row
				row++
				next.Unlock()
				if i >= len(vectors) {
					return
				}
				for j := i + 1; j < len(vectors); j++ {
					if s := dot(vectors[i], vectors[j]); s >= nearVectors {
						rows[i] = append(rows[i], couple{a: i, b: j, similarity: s})
					}
				}
			}
		})
	}
	wait.Wait()
	return slices.Concat(rows...), ctx.Err()
}

func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	n := min(len(a), len(b)) &^ 3
	for i := 0; i < n; i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for i := n; i < min(len(a), len(b)); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// letters are the letters and digits of a name.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text.Fold(name))
}

// named tells whether the names of two skills say how they differ: in one word of several,
// which stands in the description too, as a product or a language does.
func named(a, b *subject) bool {
	split := func(name string) []string {
		return strings.FieldsFunc(text.Fold(name), func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	}
	ofA, ofB := split(a.Name), split(b.Name)
	if len(ofA) != len(ofB) || len(ofA) < 2 {
		return false
	}
	differ := -1
	for i := range ofA {
		switch {
		case ofA[i] == ofB[i]:
		case differ >= 0:
			return false
		default:
			differ = i
		}
	}
	return differ >= 0 && strings.Contains(text.Fold(a.Description), ofA[differ]) && strings.Contains(text.Fold(b.Description), ofB[differ])
}

// same tells whether two skills have the same summary.
func same(a, b *subject) bool {
	return a.Summary.Text != "" && text.Fold(a.Summary.Text) == text.Fold(b.Summary.Text)
}

// weigh returns what each of some skills says of itself, as terms with their weights. What
// stands word by word in the descriptions of several is a template, and left out.
func (l *linter) weigh(places []int) []map[string]float64 {
	said := make([][]string, len(places))
	stands := make(map[string]int) // in how many texts some words stand in a row
	for i, place := range places {
		s := &l.skills[place]
		said[i] = strings.Fields(text.Fold(strings.ReplaceAll(s.Name, "-", " ") + " . " + summaries.Affirmed(s.Description)))
		seen := make(map[string]bool)
		for at := 0; at+inRow <= len(said[i]); at++ {
			if row := strings.Join(said[i][at:at+inRow], " "); !seen[row] {
				seen[row] = true
				stands[row]++
			}
		}
	}
	out := make([]map[string]float64, len(places))
	in := make(map[string]int)
	kept := make([]int, len(places)) // words that are no template
	for i := range out {
		out[i] = make(map[string]float64)
		words := own(said[i], stands)
		kept[i] = len(words)
		for _, t := range text.Terms(strings.Join(words, " ")) {
			if !text.Stop([]byte(t)) && !single(t) {
				out[i][t] = 1
			}
		}
		for t := range out[i] {
			in[t]++
		}
	}
	for i := range out {
		l.template(&l.skills[places[i]], len(said[i]), kept[i], out[i], in)
		for t := range out[i] {
			idf := math.Log(float64(1+len(places)) / float64(in[t]))
			out[i][t] = idf * idf // the one word that makes the difference counts for more than several that many have
		}
	}
	return out
}

// template reports a description most of whose words are a template, while what is left are
// words of the name and some that many skills use.
func (l *linter) template(s *subject, words, kept int, own map[string]float64, in map[string]int) {
	if 2*kept > words {
		return
	}
	name := text.Terms(text.Fold(s.Name))
	for t := range own {
		if !slices.Contains(name, t) && in[t] < shared {
			return
		}
	}
	l.about(s, "template-description", "but for the name, the description stands in others too: "+quote(s.Description), "")
}

// What makes words a template.
const (
	inRow  = 4 // words
	shared = 4 // texts
)

// own returns the words of a text that are no template.
func own(words []string, stands map[string]int) []string {
	template := make([]bool, len(words))
	for at := 0; at+inRow <= len(words); at++ {
		if stands[strings.Join(words[at:at+inRow], " ")] >= shared {
			for i := range inRow {
				template[at+i] = true
			}
		}
	}
	var out []string
	for i, w := range words {
		if !template[i] {
			out = append(out, w)
		}
	}
	return out
}

// single tells whether a term is one Chinese character, which tells little.
func single(t string) bool {
	r := []rune(t)
	return len(r) == 1 && text.IsHan(r[0])
}

func cosine(a, b map[string]float64) float64 {
	var ab, aa, bb float64
	for _, t := range slices.Sorted(maps.Keys(a)) { // in order, because sums of floats depend on it
		aa += a[t] * a[t]
		ab += a[t] * b[t]
	}
	for _, t := range slices.Sorted(maps.Keys(b)) {
		bb += b[t] * b[t]
	}
	if ab == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// parted tells whether a says what sets it apart from b: it names it, or names as what it is
// not for something that b does and a does not.
func parted(a, b *subject, ofA, ofB map[string]float64) bool {
	said := a.Summary.NotFor + "\n" + a.Summary.DiffersFrom
	if strings.Contains(strings.ToLower(said), strings.ToLower(b.Name)) || strings.Contains(strings.ToLower(a.Description), strings.ToLower(b.Name)) {
		return true
	}
	for _, t := range text.Terms(said) {
		if ofB[t] > 0 && ofA[t] == 0 {
			return true
		}
	}
	return false
}

// missing says what to write: in which words the two differ.
func missing(a, b *subject, ofA, ofB map[string]float64) string {
	alone := func(s *subject, own, other map[string]float64) string {
		words := telling(s, own, other)
		if len(words) == 0 {
			return ""
		}
		return fmt.Sprintf("%s alone speaks of %s", s.Name, strings.Join(words, ", "))
	}
	fix := fmt.Sprintf("say the difference in metadata.differs-from of one, such as %q, or merge them", b.Name+": that one …")
	if said := strings.Join(slices.DeleteFunc([]string{alone(a, ofA, ofB), alone(b, ofB, ofA)}, func(s string) bool { return s == "" }), "; "); said != "" {
		fix += "; " + said
	}
	return fix
}

// telling returns at most four words of s that the other does not have, the rarest first.
func telling(s *subject, own, other map[string]float64) []string {
	type word struct {
		text   string
		weight float64
	}
	var all []word
	seen := make(map[string]bool)
	said := summaries.Affirmed(s.Description)
	for _, w := range strings.FieldsFunc(said, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '\'' || strings.ContainsRune("的和与及或了在对把将为是用当", r)
	}) {
		w = strings.Trim(w, "-'")
		terms := text.Terms(w)
		most := 0.0
		for _, t := range terms {
			if other[t] > 0 {
				most = 0
				break
			}
			most = max(most, own[t])
		}
		n := text.Len(w)
		if key := text.Fold(w); most > 0 && n > 1 && n <= 20 && !seen[key] && (text.HanShare(w) < 0.3 && n > 2 || n <= 8) {
			seen[key] = true
			all = append(all, word{w, most})
		}
	}
	slices.SortStableFunc(all, func(x, y word) int { return cmp.Compare(y.weight, x.weight) })
	var out []string
	for _, w := range all[:min(4, len(all))] {
		out = append(out, w.text)
	}
	return out
}
