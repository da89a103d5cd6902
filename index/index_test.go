package index

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/definitions"
)

// bruteForce ranks rows by cosine, without a store.
func bruteForce(m *matrix, q []float32, keep func(i int) bool) []Hit {
	var hits []Hit
	for i := range m.len() {
		if m.scale[i] > 0 && keep(i) {
			hits = append(hits, Hit{int32(i), dotFloat(m.float(i), q)})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		switch {
		case a.Similarity > b.Similarity:
			return -1
		case a.Similarity < b.Similarity:
			return 1
		}
		return 0
	})
	return hits
}

// sameRanking allows neighbours to change places that a rounding apart are one.
func sameRanking(got, want []Hit) bool {
	return slices.EqualFunc(got, want, func(a, b Hit) bool {
		return math.Abs(float64(a.Similarity-b.Similarity)) < 1e-5
	}) && func() bool {
		for i, h := range got {
			if h.Skill != want[i].Skill {
				near := func(j int) bool {
					return j >= 0 && j < len(want) && want[j].Skill == h.Skill && math.Abs(float64(want[j].Similarity-h.Similarity)) < 1e-5
				}
				if !slices.ContainsFunc([]int{i - 2, i - 1, i + 1, i + 2}, near) {
					return false
				}
			}
		}
		return true
	}()
}

// The store and the matrix hold the same vectors, and rank them alike.
func TestStoreRanksAsTheMatrix(t *testing.T) {
	for _, e := range []Embedder{builtIn(t), &words{dim: 32}} {
		for name, ix := range map[string]*Index{"office": build(t, office(), e), "many": buildMany(t, 150, e)} {
			for _, u := range utterances() {
				q := ask(t, e, u)
				var quantised vector
				quantised.set(q.Vector)
				for _, allow := range [][]bool{nil, everySecond(len(ix.skills))} {
					want := bruteForce(&ix.texts, q.Vector, func(i int) bool {
						return !ix.skills[i].Summary.Manual && (allow == nil || allow[i])
					})
					if !quantised.known() {
						want = nil // a zero vector finds nothing
					}
					for _, k := range []int{-1, 0, 1, 5, len(ix.skills), 10_000} {
						got, err := ix.Like(t.Context(), q.Vector, k, allow)
						if err != nil {
							t.Fatal(err)
						}
						if !sameRanking(got, want[:min(max(k, 0), len(want))]) {
							t.Errorf("%s, %s, %q, %d: got %v\nwant %v", e.ID(), name, u, k, got, want[:min(max(k, 0), len(want))])
						}
					}
				}
				for i := range ix.texts.len() {
					if a, b := ix.texts.dot(i, &quantised), dotFloat(ix.texts.float(i), q.Vector); math.Abs(float64(a-b)) > 0.02 {
						t.Errorf("%s, %q: row %d is %v by int8, %v in full", name, u, i, a, b)
					}
				}

				found, err := ix.vectors.Query(t.Context(), domainCollection, q.Vector, len(ix.domains))
				if err != nil {
					t.Fatal(err)
				}
				var hits []Hit
				for _, h := range found {
					d, _ := ix.LookupDomain(h.ID)
					hits = append(hits, Hit{d, h.Similarity})
				}
				want := bruteForce(&ix.domainTexts, q.Vector, func(int) bool { return quantised.known() })
				if !sameRanking(hits, want) {
					t.Errorf("%s, %s, %q: domains: got %v, want %v", e.ID(), name, u, hits, want)
				}
			}
		}
	}
}

func everySecond(n int) []bool {
	allow := make([]bool, n)
	for i := range allow {
		allow[i] = i%2 == 0
	}
	return allow
}

func TestLikeFails(t *testing.T) {
	e := &words{dim: 16}
	ix := build(t, office(), e)
	bad := ask(t, e, "cat").Vector
	bad[0] = float32(math.NaN())
	for name, v := range map[string][]float32{"shorter": {1}, "none": nil, "NaN": bad} {
		if hits, err := ix.Like(t.Context(), v, 3, nil); err == nil {
			t.Errorf("%s: got %v, want an error", name, hits)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ix.Like(ctx, ask(t, e, "cat").Vector, 3, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: got %v", err)
	}
}

// counted counts the files that are opened.
type counted struct {
	fs.FS
	opened *atomic.Int64
}

func (c counted) Open(name string) (fs.File, error) {
	c.opened.Add(1)
	return c.FS.Open(name)
}

func TestLookingUpOpensNoFile(t *testing.T) {
	e := builtIn(t)
	var opened atomic.Int64
	ix := build(t, counted{office(), &opened}, e)
	before := opened.Load()
	q := ask(t, e, "merge these PDFs")
	for range 3 {
		if got := len(ix.Summaries()); got != 5 {
			t.Errorf("got %d summaries, want 5: all but the manual one", got)
		}
		for _, d := range ix.Domains() {
			if _, err := ix.DomainSummaries(d.Name); err != nil {
				t.Error(err)
			}
		}
		if path, err := ix.Path("trains"); err != nil || path != "catalog/travel/trains/SKILL.md" {
			t.Errorf("got %q, %v", path, err)
		}
		score(ix, q)
		if _, err := ix.Like(t.Context(), q.Vector, 3, nil); err != nil {
			t.Error(err)
		}
	}
	if n := opened.Load() - before; n != 0 {
		t.Errorf("%d files were opened", n)
	}
	if _, err := ix.Get("trains"); err != nil || opened.Load() == before {
		t.Errorf("Get opened %d files, error %v", opened.Load()-before, err)
	}
	before = opened.Load()
	if _, err := ix.Kept("trains"); err != nil || opened.Load() != before {
		t.Errorf("Kept opened %d files, error %v", opened.Load()-before, err)
	}
}

func TestDomainSummaries(t *testing.T) {
	ix := build(t, office(), &words{dim: 8})
	got := map[string][]string{}
	for d, domain := range ix.Domains() {
		sums, err := ix.DomainSummaries(domain.Name)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range sums {
			got[domain.Name] = append(got[domain.Name], s.Skill)
			if place := ix.Members(int32(d))[i]; ix.Skills()[place].Name != s.Skill || !slices.Contains(ix.DomainsOf(place), int32(d)) {
				t.Errorf("%s: %s is member %d", domain.Name, s.Skill, place)
			}
		}
	}
	want := map[string][]string{"Paper": {"pdf-join", "pdf-text"}, "home": {"cat-sitter"}, "travel": {"hotels", "trains"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if _, err := ix.DomainSummaries("weather"); err == nil || !strings.Contains(err.Error(), "weather") {
		t.Errorf("an unknown domain: got %v", err)
	}
	if _, ok := ix.LookupDomain("paper"); ok {
		t.Error("LookupDomain takes other case")
	}
	if ix.Routing().Threshold != 0.7 {
		t.Errorf("routing: got %+v", ix.Routing())
	}
}

// folders writes the catalog to a directory.
func folders(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, office()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGetReadsAnew(t *testing.T) {
	e := &words{dim: 8}
	dir := folders(t)
	c, err := definitions.Load(t.Context(), []definitions.Root{{Path: dir}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	built, err := Build(t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "x.idx")
	if err := built.WriteFile(saved); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(t.Context(), saved, e)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "travel", "trains", "SKILL.md")
	original, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, ix := range map[string]*Index{"built": built, "opened": opened} {
		i, _ := ix.Lookup("trains")
		s, err := ix.Get("trains")
		if err != nil || s.Hash != ix.Skills()[i].Hash || !strings.Contains(s.Body(), "Asks the timetable.") {
			t.Fatalf("%s: got %+v, %v", name, s, err)
		}

		write(string(original) + "And the fares.\n")
		kept, err := ix.Kept("trains")
		if err != nil || kept != s {
			t.Errorf("%s: Kept read again, error %v", name, err)
		}
		changed, err := ix.Get("trains")
		if err != nil || changed.Hash == s.Hash || !strings.Contains(changed.Body(), "And the fares.") {
			t.Errorf("%s, changed: got %+v, %v", name, changed, err)
		}
		if kept, err := ix.Kept("trains"); err != nil || kept != changed {
			t.Errorf("%s: Kept is not what was read last, error %v", name, err)
		}

		write(strings.Replace(string(original), "name: trains", "name: buses", 1))
		if _, err := ix.Get("trains"); err == nil || !strings.Contains(err.Error(), "buses") || !strings.Contains(err.Error(), "refresh") {
			t.Errorf("%s, another name: got %v", name, err)
		}
		write("\xff\xfe broken")
		if _, err := ix.Get("trains"); err == nil || !strings.Contains(err.Error(), "trains") {
			t.Errorf("%s, broken: got %v", name, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Get("trains"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "trains") {
			t.Errorf("%s, gone: got %v", name, err)
		}
		write(string(original))

		var missing *NotFoundError
		for _, unknown := range []string{"nobody", "Trains", ""} {
			_, errGet := ix.Get(unknown)
			_, errKept := ix.Kept(unknown)
			_, errPath := ix.Path(unknown)
			for _, err := range []error{errGet, errKept, errPath} {
				if !errors.As(err, &missing) || missing.Skill != unknown || missing.Hint() == "" {
					t.Errorf("%s, %q: got %v", name, unknown, err)
				}
			}
		}
		if _, err := ix.Get("alarm"); err != nil {
			t.Errorf("%s: a manual skill is reached by name: %v", name, err)
		}
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Get("trains"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s, closed: got %v", name, err)
		}
		score(ix, ask(t, e, "trains")) // still works
	}
}

// An index can be routed over where its folders are not; only definitions fail.
func TestWithoutFolders(t *testing.T) {
	e := &words{dim: 8}
	c := &definitions.Catalog{Skills: []definitions.Skill{{Name: "made", Description: "Made by hand."}}}
	ix, err := Build(t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(encode(t, ix), here)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ix := range []*Index{ix, read} {
		if _, ss := score(ix, ask(t, e, "made by hand")); len(ss) != 1 {
			t.Errorf("got %v", ss)
		}
		if _, err := ix.Get("made"); err == nil || !strings.Contains(err.Error(), "without the folders") {
			t.Errorf("got %v", err)
		}
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDoc(t *testing.T) {
	dir := folders(t)
	catalog, err := definitions.Load(t.Context(), []definitions.Root{{Path: dir}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	name := catalog.Skills[0].Name
	folder := filepath.Join(dir, filepath.FromSlash(catalog.Skills[0].Ref.Dir))
	if err := os.WriteFile(filepath.Join(folder, "guide.md"), []byte("guide\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ix, err := Build(t.Context(), catalog, &words{dim: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ix.Doc(t.Context(), name, "guide.md"); err != nil || string(got) != "guide\n" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, doc := range []string{"no-such.md", "../" + filepath.Base(folder) + "/guide.md", "/etc/passwd", ""} {
		if _, err := ix.Doc(t.Context(), name, doc); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v", doc, err)
		}
	}
	var notFound *NotFoundError
	if _, err := ix.Doc(t.Context(), "no-such", "guide.md"); !errors.As(err, &notFound) {
		t.Errorf("an unknown skill: %v", err)
	}
}
