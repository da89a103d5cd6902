package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/internal/text"
)

// coverage returns how much of the utterance each skill's words cover.
func coverage(ix *Index, utterance string) map[string]float32 {
	cover := make([]float32, len(ix.skills))
	ix.lexicon.score(cover, appendHashes(nil, text.AppendFold(nil, utterance)))
	named := map[string]float32{}
	for i, c := range cover {
		named[ix.skills[i].Name] = c
	}
	return named
}

func TestCoverage(t *testing.T) {
	ix := build(t, office(), &words{dim: 8})
	t.Run("no shared term", func(t *testing.T) {
		for _, u := range []string{"", "?!", "quantum zebra", "🙂"} {
			for name, c := range coverage(ix, u) {
				if c != 0 {
					t.Errorf("%q covers %v of %s, want 0", u, c, name)
				}
			}
		}
	})
	t.Run("a trigger as it stands", func(t *testing.T) {
		for _, s := range ix.Summaries() {
			for _, u := range s.Triggers {
				if c := coverage(ix, u)[s.Skill]; c < 0.45 && text.HanShare(u) < 0.5 {
					t.Errorf("%s: its trigger %q is covered by %v only", s.Skill, u, c)
				}
			}
		}
	})
	t.Run("padding lowers it", func(t *testing.T) {
		u, before := "next train to Hamburg", float32(10)
		for _, more := range strings.Fields("zebra quantum yodel umbrella banjo") {
			c := coverage(ix, u)["trains"]
			if c >= before || c <= 0 {
				t.Errorf("%q: got %v after %v", u, c, before)
			}
			u, before = u+" "+more, c
		}
	})
	t.Run("word forms", func(t *testing.T) {
		if one, two := coverage(ix, "train connection")["trains"], coverage(ix, "trains connections")["trains"]; one != two || one == 0 {
			t.Errorf("singular %v, plural %v", one, two)
		}
	})
	t.Run("manual skills have no words", func(t *testing.T) {
		if c := coverage(ix, "fire alarm")["alarm"]; c != 0 {
			t.Errorf("got %v", c)
		}
	})
	t.Run("a rare word counts more", func(t *testing.T) {
		c := coverage(ix, "PDF connections")
		if c["trains"] <= c["pdf-text"] {
			t.Errorf("connections, of one skill: %v; PDF, of two: %v", c["trains"], c["pdf-text"])
		}
	})
}

// One skill of five is written in Chinese: its words cover by that share only,
// and a Chinese utterance is left to the vectors.
func TestCoverageByScript(t *testing.T) {
	ix := build(t, office(), &words{dim: 8})
	han, latin := coverage(ix, "订酒店")["hotels"], coverage(ix, "rail timetable")["trains"]
	if han <= 0 || han > latin/2 {
		t.Errorf("Chinese words cover %v, English ones %v", han, latin)
	}
	chinese := build(t, only(office(), "travel/hotels/SKILL.md"), &words{dim: 8})
	if c := coverage(chinese, "订酒店")["hotels"]; c < 0.2 {
		t.Errorf("all skills are Chinese: their words cover %v", c)
	}
}

// containedIn lists the targets of what stands in the utterance.
func containedIn(ix *Index, utterance string) []string {
	folded := text.AppendFold(nil, utterance)
	var found []string
	ix.lexicon.eachContained(folded, appendHashes(nil, folded), func(c *contained) {
		if c.target < 0 {
			found = append(found, ix.domains[^c.target].Name+"/"+string(c.text))
		} else {
			found = append(found, ix.skills[c.target].Name+"/"+string(c.text))
		}
	})
	slices.Sort(found)
	return found
}

func TestContained(t *testing.T) {
	ix := build(t, office(), &words{dim: 8})
	for _, c := range []struct {
		utterance string
		want      []string
	}{
		{"concatenate these lists", nil},
		{"my cat is hungry", []string{"cat-sitter/cat"}},
		{"CAT!", []string{"cat-sitter/cat"}},
		{"concat cat.", []string{"cat-sitter/cat"}},
		{"cat2 and cat_food", nil},
		{"is there cat  food", []string{"cat-sitter/cat"}},
		{"Cat food, please", []string{"cat-sitter/cat", "cat-sitter/cat food"}},
		{"cat foods", []string{"cat-sitter/cat"}},
		{"我想订酒店两晚", []string{"hotels/订酒店"}},
		{"这份文档用 scanner 扫", []string{"Paper/scanner", "Paper/文档"}},
		{"scanners", nil},
		{"", nil},
	} {
		if d := cmp.Diff(c.want, containedIn(ix, c.utterance)); d != "" {
			t.Errorf("%q: -want +got\n%s", c.utterance, d)
		}
	}
}

// A lone Han character of a trigger may have neighbours in an utterance.
func TestContainedBesideLatin(t *testing.T) {
	ix := small(t, "a/convert: Converts PDF files. | 转PDF", "a/merge: Merges PDF files. | 合PDF文件", "a/split: Splits PDF files. | PDF拆")
	for utterance, want := range map[string]string{
		"转PDF": "convert/转pdf", "请帮我转PDF": "convert/转pdf", "把PDF拆开": "split/pdf拆", "两个合PDF文件": "merge/合pdf文件",
	} {
		if d := cmp.Diff([]string{want}, containedIn(ix, utterance)); d != "" {
			t.Errorf("%q (-want +got): %s", utterance, d)
		}
	}
}

func TestContainedAsWritten(t *testing.T) {
	ix := build(t, office(), &words{dim: 8})
	trains, _ := ix.Lookup("trains")
	paper, _ := ix.LookupDomain("Paper")
	want := []Contained{{"next train to Hamburg", trains, -1}, {"scanner", -1, paper}, {"文档", -1, paper}}
	if d := cmp.Diff(want, ix.Contained("文档, a SCANNER and the NEXT train to hamburg; the scanner")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if got := ix.Contained("nothing of that"); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// FuzzStands compares with the definition, place by place.
func FuzzStands(f *testing.F) {
	for _, s := range [][2]string{{"a cat sat", "cat"}, {"concat", "cat"}, {"concat cat", "cat"}, {"订酒店", "酒店"}, {"aaa", "a"}, {"x", "xx"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, utterance, phrase string) {
		if phrase == "" {
			return
		}
		want := false
		for i := range len(utterance) {
			if !strings.HasPrefix(utterance[i:], phrase) {
				continue
			}
			end := i + len(phrase)
			inside := i > 0 && wordByte(utterance[i-1]) && wordByte(phrase[0]) ||
				end < len(utterance) && wordByte(phrase[len(phrase)-1]) && wordByte(utterance[end])
			want = want || !inside
		}
		if got := stands([]byte(utterance), []byte(phrase)); got != want {
			t.Errorf("%q in %q: got %v, want %v", phrase, utterance, got, want)
		}
	})
}

func TestBodyIsTrimmedToItsMostTellingTerms(t *testing.T) {
	var body strings.Builder
	for i := range 3 * bodyTerms {
		for range 1 + i%3 { // every third word stands three times
			body.WriteString(" w" + strings.Repeat("x", i/100) + string(rune('a'+i%26)) + strings.Repeat("y", i/26))
		}
	}
	var r lexReader
	texts := []lexText{r.read("name", body.String()), r.read("other", "")}
	lx, _, err := newLexicon(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var kept []float32
	for _, x := range texts[0].terms {
		if x.body > 0 {
			kept = append(kept, x.body)
		} else if x.head == 0 {
			t.Errorf("term %d stands nowhere", x.id)
		}
	}
	if len(kept) != bodyTerms || slices.Min(kept) < 3 {
		t.Errorf("kept %d terms, the rarest stands %v times; want %d of 3 times", len(kept), slices.Min(kept), bodyTerms)
	}
	for id := range lx.idf {
		docs := lx.docs[lx.starts[id]:lx.starts[id+1]]
		if !slices.IsSorted(docs) {
			t.Errorf("term %d: skills %v", id, docs)
		}
	}
}

func TestSelectTopIsASort(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		n := 1 + r.IntN(60)
		k := r.IntN(n + 1)
		values := make([]float32, n)
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32(i)
			values[i] = float32(r.IntN(6)) // many equals
		}
		r.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		want := slices.Clone(ids)
		slices.SortFunc(want, func(a, b int32) int {
			if values[a] != values[b] {
				return int(values[b] - values[a])
			}
			return int(a - b)
		})
		want = want[:k]
		selectTop(ids, k, values)
		got := slices.Clone(ids[:k])
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("best %d of %v: got %v, want %v", k, values, got, want)
		}
	}
}
