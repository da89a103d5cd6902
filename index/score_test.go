package index

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestScoreFindsTheSkill(t *testing.T) {
	e := builtIn(t)
	ix := build(t, office(), e)
	for _, c := range []struct{ utterance, skill, domain string }{
		{"merge these PDFs", "pdf-join", "Paper"},
		{"what does this PDF say?", "pdf-text", "Paper"},
		{"I need the next train to Hamburg", "trains", "travel"},
		{"今晚住哪里", "hotels", "travel"},
		{"帮我订酒店", "hotels", "travel"},
		{"who feeds the cat while I am away", "cat-sitter", "home"},
	} {
		ds, ss := score(ix, ask(t, e, c.utterance))
		if ss[0].Name != c.skill || !strings.EqualFold(ds[0].Name, c.domain) {
			t.Errorf("%q: got %s in %s, want %s in %s", c.utterance, ss[0].Name, ds[0].Name, c.skill, c.domain)
		}
	}
}

// What holds of the scores of any utterance.
func TestScoreInvariants(t *testing.T) {
	for _, e := range []Embedder{builtIn(t), &words{dim: 32}} {
		for name, ix := range map[string]*Index{"office": build(t, office(), e), "many": buildMany(t, 90, e)} {
			for _, u := range utterances() {
				for _, without := range []Parts{0, Semantic, Lexical, Phrases, Semantic | Lexical, Semantic | Lexical | Phrases} {
					q := ask(t, e, u)
					q.Without = without
					checkScores(t, fmt.Sprintf("%s, %s, %q without %b", e.ID(), name, u, without), ix, q)
					q.Vector = nil
					checkScores(t, fmt.Sprintf("%s, %s, %q without vector and %b", e.ID(), name, u, without), ix, q)
				}
			}
		}
	}
}

func checkScores(t *testing.T, name string, ix *Index, q *Query) {
	t.Helper()
	s := ix.Score(q)
	defer s.Release()
	if len(s.Domains) != len(ix.domains) || len(s.Skills) != min(maxSkills, len(ix.Summaries())) {
		t.Errorf("%s: %d domains, %d skills", name, len(s.Domains), len(s.Skills))
	}
	for i, d := range s.Domains {
		if math.IsNaN(float64(d.Score)) || d.Score < 0 || d.Score > 1 {
			t.Errorf("%s: score %v", name, d.Score)
		}
		if i > 0 {
			before := s.Domains[i-1]
			equal := before.Score == d.Score && before.Evidence == d.Evidence
			if before.Score < d.Score || before.Evidence < d.Evidence || equal && ix.domains[before.Domain].Name >= ix.domains[d.Domain].Name {
				t.Errorf("%s: %v before %v", name, before, d)
			}
			if d.Margin > 0 {
				t.Errorf("%s: margin %v of the domain in place %d", name, d.Margin, i)
			}
		}
	}
	for i, x := range s.Skills {
		if ix.skills[x.Skill].Summary.Manual {
			t.Errorf("%s: the manual skill %s is ranked", name, ix.skills[x.Skill].Name)
		}
		if x.Evidence != s.Evidence(x.Skill) {
			t.Errorf("%s: %s has evidence %v and %v", name, ix.skills[x.Skill].Name, x.Evidence, s.Evidence(x.Skill))
		}
		if i > 0 && bySkillEvidence(s.Skills[i-1], x) >= 0 {
			t.Errorf("%s: %v before %v", name, s.Skills[i-1], x)
		}
		if q.Without&Semantic != 0 && (x.Similarity != 0 || x.Phrase != 0) || q.Without&Lexical != 0 && x.Lexical != 0 || q.Without&Phrases != 0 && x.Phrase != 0 {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

func TestAllowLeavesNoTrace(t *testing.T) {
	e := builtIn(t)
	ix := build(t, office(), e)
	gone, _ := ix.Lookup("cat-sitter")
	join, _ := ix.Lookup("pdf-join")
	allow := make([]bool, len(ix.skills))
	for i := range allow {
		allow[i] = int32(i) != gone && int32(i) != join
	}

	// The same catalog without them: the words weigh otherwise, what is shown does not.
	for _, u := range utterances() {
		q := ask(t, e, u)
		q.Allow = allow
		ds, ss := score(ix, q)
		if len(ds) != 2 || len(ss) != 3 {
			t.Errorf("%q: got %v and %v", u, ds, ss)
		}
		for _, d := range ds {
			if d.Name == "home" {
				t.Errorf("%q: the domain of the excluded skill is there", u)
			}
		}
		for _, s := range ss {
			if s.Name == "cat-sitter" || s.Name == "pdf-join" {
				t.Errorf("%q: %s is there", u, s.Name)
			}
		}
		if margin := ds[0].Other - ds[1].Other; ds[0].More != margin {
			t.Errorf("%q: margin %v, want %v: that above an allowed domain", u, ds[0].More, margin)
		}
	}
	none := &Query{Utterance: "cats", Allow: make([]bool, len(ix.skills))}
	if ds, ss := score(ix, none); len(ds)+len(ss) > 0 {
		t.Errorf("nothing allowed: got %v and %v", ds, ss)
	}
}

// A vector that says nothing is no vector.
func TestVectorsThatSayNothing(t *testing.T) {
	e := builtIn(t)
	ix := build(t, office(), e)
	bad := ask(t, e, "cat").Vector
	bad[3] = float32(math.NaN())
	infinite := ask(t, e, "cat").Vector
	infinite[3] = float32(math.Inf(-1))
	ds, ss := score(ix, &Query{Utterance: "who feeds the cat"})
	if ss[0].Name != "cat-sitter" || ds[0].Name != "home" {
		t.Errorf("by words: got %v", ss[0])
	}
	for name, v := range map[string][]float32{
		"zeros": make([]float32, e.Dim()), "shorter": {1}, "longer": make([]float32, 2*e.Dim()), "NaN": bad, "infinite": infinite, "empty": {},
	} {
		gotDs, gotSs := score(ix, &Query{Utterance: "who feeds the cat", Vector: v})
		if d := cmp.Diff(ds, gotDs) + cmp.Diff(ss, gotSs); d != "" {
			t.Errorf("%s: -nil +got\n%s", name, d)
		}
	}
}

func TestEqualScoresAreInNameOrder(t *testing.T) {
	fsys := only(office())
	for _, name := range []string{"b", "d", "a", "c"} {
		file := *office()["paper/pdf-text/SKILL.md"]
		file.Data = []byte(strings.Replace(string(file.Data), "pdf-text", "same-"+name, 1))
		fsys["z"+name+"/same-"+name+"/SKILL.md"] = &file
	}
	e := &words{dim: 16}
	ix := build(t, fsys, e)
	ds, ss := score(ix, &Query{Utterance: "copy words from a PDF"}) // names differ in their vectors
	for i, want := range []string{"za", "zb", "zc", "zd"} {
		if ds[i].Name != want {
			t.Errorf("domains: got %v", ds)
		}
	}
	if !slices.IsSortedFunc(ss, func(a, b row) int {
		i, _ := ix.Lookup(a.Name)
		j, _ := ix.Lookup(b.Name)
		return int(i - j)
	}) {
		t.Errorf("skills: got %v", ss)
	}
}

func TestOneDomain(t *testing.T) {
	e := builtIn(t)
	ix := build(t, only(office(), "travel/trains/SKILL.md", "travel/hotels/SKILL.md"), e)
	right, _ := score(ix, ask(t, e, "rail timetable"))
	wrong, _ := score(ix, ask(t, e, "tell me a joke"))
	if len(right) != 1 || right[0].Score <= wrong[0].Score || right[0].More <= 0 {
		t.Errorf("got %v for its own, %v for a stranger", right, wrong)
	}
	if want := right[0].Other - ix.calibration.Full.Mean[Other]; right[0].More != want {
		t.Errorf("margin %v, want %v: above what strangers reach", right[0].More, want)
	}
}

// Longer lists of triggers are no more evidence than the one that stands there.
func TestTriggersDoNotAddUp(t *testing.T) {
	e := &words{dim: 16}
	ix := build(t, office(), e) // cat-sitter has "cat food" and "cat"
	q := &Query{Utterance: "cat food"}
	s := ix.Score(q)
	defer s.Release()
	if x := s.Skills[0]; math.Abs(float64(x.Evidence-ix.wordWeight*x.Lexical-weightTrigger)) > 1e-6 {
		t.Errorf("got %+v, want the evidence of one whole trigger", x)
	}
}

func TestKeywordsSpeakForTheirDomain(t *testing.T) {
	e := &words{dim: 16}
	ix := build(t, office(), e)
	with, _ := score(ix, &Query{Utterance: "scanner"})
	without, _ := score(ix, &Query{Utterance: "scanner", Without: Phrases})
	if with[0].Name != "Paper" || math.Abs(float64(with[0].More-weightKeyword)) > 1e-6 || without[0].More != 0 {
		t.Errorf("got %v, without phrases %v", with, without)
	}
}

// Above scanAll skills not all are looked at; what an author said is found all
// the same, and so are the few that an asker may use, whatever is nearer.
func TestLargeCatalog(t *testing.T) {
	e := builtIn(t)
	ix := buildMany(t, scanAll+500, e)
	looked, total, asked := 0, 0, 0
	for i := 0; i < len(ix.skills); i += 23 {
		for _, u := range ix.skills[i].Summary.Triggers[:2] {
			q := ask(t, e, u)
			s := ix.Score(q)
			if s.Skills[0].Skill != int32(i) {
				t.Errorf("%q: got %s, want %s", u, ix.skills[s.Skills[0].Skill].Name, ix.skills[i].Name)
			}
			asked++
			for k := range s.scanned {
				total++
				if s.scanned[k] {
					looked++
				}
			}
			s.Release()

			// By the vectors alone, the nearest domains decide.
			q.Without = Lexical
			s = ix.Score(q)
			if len(s.Domains) == 0 || len(s.Skills) != maxSkills {
				t.Errorf("%q by vectors: %d domains, %d skills", u, len(s.Domains), len(s.Skills))
			}
			s.Release()
		}
	}
	everywhere := ask(t, e, ix.skills[0].Summary.Triggers[0])
	everywhere.All = true
	s := ix.Score(everywhere)
	if slices.Contains(s.scanned, false) {
		t.Error("asked for all skills, it did not look at all")
	}
	s.Release()
	if looked == total || looked < asked*scanAll {
		t.Errorf("looked at %d of %d, want at least %d an utterance", looked, total, scanAll)
	}

	q := ask(t, e, "hello there")
	q.Allow = make([]bool, len(ix.skills))
	for i := 0; i < len(q.Allow); i += 150 {
		q.Allow[i] = true
	}
	s = ix.Score(q)
	defer s.Release()
	if len(s.Skills) != 10 || len(s.Domains) != 10 {
		t.Errorf("got %d skills in %d domains, want all 10", len(s.Skills), len(s.Domains))
	}
}

func TestScoreSideBySide(t *testing.T) {
	e := builtIn(t)
	ix := build(t, office(), e)
	type answer struct{ ds, ss []row }
	var queries []*Query
	var want []answer
	for _, u := range utterances() {
		q := ask(t, e, u)
		ds, ss := score(ix, q)
		queries, want = append(queries, q), append(want, answer{ds, ss})
	}
	var group sync.WaitGroup
	for g := range 32 {
		group.Go(func() {
			for n := range 4 * len(queries) {
				i := (n + g) % len(queries)
				ds, ss := score(ix, queries[i])
				if !slices.Equal(ds, want[i].ds) || !slices.Equal(ss, want[i].ss) {
					t.Errorf("%q: other scores than alone", queries[i].Utterance)
				}
				if n%8 == 0 {
					if _, err := ix.Like(t.Context(), queries[0].Vector, 2, nil); err != nil {
						t.Error(err)
					}
					if _, err := ix.Kept("trains"); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
}

// A skill in whose body a greeting stands by chance does not account for the
// whole of an utterance that is nothing else.
func TestScoreOfSmallTalk(t *testing.T) {
	e := builtIn(t)
	fsys := office()
	fsys["code/hash/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: hash\ndescription: Computes checksums of files. Use when a checksum is wanted.\n---\n# Hash\n\nThe hash of hello is 2cf24d. Ok, help yourself.\n")}
	ix := build(t, fsys, e)
	for _, u := range []string{"hello", "OK", "help", "hello, can you help me"} {
		q := ask(t, e, u)
		s := ix.Score(q)
		for _, d := range s.Domains {
			if d.Score >= 0.7 {
				t.Errorf("%q: %s has the score %v", u, ix.domains[d.Domain].Name, d.Score)
			}
		}
		for _, x := range s.Skills {
			if x.Lexical != 0 {
				t.Errorf("%q: %s covers %v of it", u, ix.skills[x.Skill].Name, x.Lexical)
			}
		}
		s.Release()
	}
	s := ix.Score(ask(t, e, "hello, the checksum of a file please"))
	defer s.Release()
	if s.Skills[0].Lexical == 0 || ix.skills[s.Skills[0].Skill].Name != "hash" {
		t.Errorf("best is %s, which covers %v", ix.skills[s.Skills[0].Skill].Name, s.Skills[0].Lexical)
	}
}
