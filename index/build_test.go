package index

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"skillrouter/definitions"
)

// backwards lists folders from the end, as another file system might.
type backwards struct{ fs.FS }

func (b backwards) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(b.FS, name)
	slices.Reverse(entries)
	return entries, err
}

func TestBuildTwiceGivesTheSameBytes(t *testing.T) {
	for _, e := range []Embedder{builtIn(t), &words{dim: 32}, &atOnce{words{dim: 33}}} {
		want := encode(t, build(t, office(), e))
		for name, fsys := range map[string]fs.FS{"again": office(), "backwards": backwards{office()}} {
			if got := encode(t, build(t, fsys, e)); !bytes.Equal(got, want) {
				t.Errorf("%s, %s: other bytes", e.ID(), name)
			}
		}
	}
	c := loadMany(t, 300)
	var files [2][]byte
	for i := range files {
		ix, err := Build(t.Context(), c, builtIn(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if ix.calibration.Full.Phrases == 0 {
			t.Error("300 skills with triggers: the curve was not fitted")
		}
		files[i] = encode(t, ix)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("300 skills: other bytes")
	}
}

func TestFingerprintFollowsContent(t *testing.T) {
	e := &words{dim: 16}
	base := build(t, office(), e)
	if again := build(t, office(), e); again.Fingerprint() != base.Fingerprint() {
		t.Errorf("the same catalog: got %s and %s", base.Fingerprint(), again.Fingerprint())
	}
	seen := map[string]string{base.Fingerprint(): "as it was"}
	change := func(what string, ix *Index) {
		if other, ok := seen[ix.Fingerprint()]; ok {
			t.Errorf("%s: the fingerprint is that of %q", what, other)
		}
		seen[ix.Fingerprint()] = what
	}
	body := office()
	body["home/cat-sitter/SKILL.md"].Data = append(body["home/cat-sitter/SKILL.md"].Data, "More.\n"...)
	change("another body", build(t, body, e))
	settings := office()
	settings["skillrouter.yaml"].Data = append(settings["skillrouter.yaml"].Data, "  max-domains: 2\n"...)
	change("other settings", build(t, settings, e))
	moved := office()
	moved["travel/cat-sitter/SKILL.md"] = moved["home/cat-sitter/SKILL.md"]
	delete(moved, "home/cat-sitter/SKILL.md")
	change("another folder", build(t, moved, e))
	change("another embedder", build(t, office(), &words{dim: 17}))

	c := load(t, office())
	c.DomainNotes = map[string]string{"Travel": "trains and hotels", "home": "chores"}
	noted, err := Build(t.Context(), c, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	change("notes on domains", noted)
}

func TestBuildReportsProgress(t *testing.T) {
	var done, total int
	_, err := Build(t.Context(), loadMany(t, 100), &words{dim: 8}, &Options{Progress: func(d, n int) {
		if total != 0 && (d <= done || n != total) {
			t.Errorf("progress went from %d of %d to %d of %d", done, total, d, n)
		}
		done, total = d, n
	}})
	if err != nil || done == 0 || done != total {
		t.Errorf("ended at %d of %d, error %v", done, total, err)
	}
}

func TestBuildAsksOncePerText(t *testing.T) {
	e := &words{dim: 8}
	distinct := 0
	e.spoil = func(vectors [][]float32) ([][]float32, error) { distinct += len(vectors); return vectors, nil }
	ix := build(t, office(), e)
	// Those of the domains come last, in a call of their own.
	if calls := int64((distinct-len(ix.domains)+embedBatch-1)/embedBatch + 1); e.calls.Load() != calls {
		t.Errorf("%d texts in %d calls, want %d", distinct, e.calls.Load(), calls)
	}
}

func TestBuildOfNothing(t *testing.T) {
	e := builtIn(t)
	for name, fsys := range map[string]fs.FS{
		"no files":    only(office()),
		"manual only": only(office(), "home/alarm/SKILL.md"),
	} {
		ix := build(t, fsys, e)
		for _, u := range utterances() {
			ds, ss := score(ix, ask(t, e, u))
			if len(ds) > 0 || len(ss) > 0 {
				t.Errorf("%s: %q: got domains %v and skills %v", name, u, ds, ss)
			}
		}
		hits, err := ix.Like(t.Context(), ask(t, e, "a cat").Vector, 3, nil)
		if len(hits) > 0 || err != nil {
			t.Errorf("%s: Like: got %v, %v", name, hits, err)
		}
		if _, err := decode(encode(t, ix), here); err != nil {
			t.Errorf("%s: reading back: %v", name, err)
		}
	}
}

func TestBuildSaysWhatTheEmbedderDid(t *testing.T) {
	failed := errors.New("out of quota")
	for _, c := range []struct {
		name  string
		spoil func([][]float32) ([][]float32, error)
		want  string // in the error
	}{
		{"error", func(v [][]float32) ([][]float32, error) { return nil, failed }, "texts 1 to 256 of"},
		{"too few", func(v [][]float32) ([][]float32, error) { return v[1:], nil }, "255 vectors for 256 texts"},
		{"too many", func(v [][]float32) ([][]float32, error) { return append(v, v[0]), nil }, "257 vectors for 256 texts"},
		{"none", func(v [][]float32) ([][]float32, error) { return nil, nil }, "0 vectors for 256 texts"},
		{"shorter", func(v [][]float32) ([][]float32, error) { v[7] = v[7][1:]; return v, nil }, "has 15 values, the first had 16"},
		{"empty", func(v [][]float32) ([][]float32, error) { v[0] = nil; return v, nil }, "is empty"},
		{"NaN", func(v [][]float32) ([][]float32, error) { v[3][2] = float32(math.NaN()); return v, nil }, "length NaN"},
		{"infinite", func(v [][]float32) ([][]float32, error) { v[3][2] = float32(math.Inf(1)); return v, nil }, "length +Inf"},
		{"not unit", func(v [][]float32) ([][]float32, error) { addScaled(v[3], v[3], 1); return v, nil }, "length 2, not 1"},
		{"huge", func(v [][]float32) ([][]float32, error) { v[0] = make([]float32, maxDim+1); return v, nil }, "more than 65536"},
	} {
		for _, e := range []Embedder{&words{dim: 16, spoil: c.spoil}, &atOnce{words{dim: 16, spoil: c.spoil}}} {
			ix, err := Build(t.Context(), load(t, office()), e, nil)
			if ix != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "words/16") {
				t.Errorf("%s: got index %v, error %v; want none and one with %q and the embedder", c.name, ix != nil, err, c.want)
			}
			if c.name == "error" && !errors.Is(err, failed) {
				t.Errorf("%s: the cause is lost in %v", c.name, err)
			}
		}
	}
	if _, err := Build(t.Context(), load(t, office()), nil, nil); err == nil || !strings.Contains(err.Error(), "embed.New") {
		t.Errorf("no embedder: got %v", err)
	}
}

func TestBuildTakesZerosForWhatIsNotKnown(t *testing.T) {
	e := &words{dim: 16, spoil: func(v [][]float32) ([][]float32, error) {
		for i := range v {
			clear(v[i])
		}
		return v, nil
	}}
	ix := build(t, office(), e)
	_, ss := score(ix, ask(t, e, "cheap train ticket"))
	if len(ss) == 0 || ss[0].Name != "trains" {
		t.Errorf("got %v, want trains found by words", ss)
	}
}

func TestBuildStopsWithItsContext(t *testing.T) {
	c := load(t, office())
	for name, e := range map[string]func(cancel func()) Embedder{
		"before": func(cancel func()) Embedder { cancel(); return &words{dim: 8} },
		"while embedding": func(cancel func()) Embedder {
			return &words{dim: 8, spoil: func(v [][]float32) ([][]float32, error) { cancel(); return v, nil }}
		},
		"built in": func(cancel func()) Embedder { cancel(); return builtIn(t) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ix, err := Build(ctx, c, e(cancel), nil)
		if ix != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got index %v, error %v", name, ix != nil, err)
		}
	}
}

func TestPhrasesOf(t *testing.T) {
	c := load(t, office())
	ix := build(t, office(), &words{dim: 8})
	for _, s := range c.Skills {
		i, _ := ix.Lookup(s.Name)
		var texts []string
		for _, p := range phrasesOf(&s, &ix.skills[i].Summary, true) {
			texts = append(texts, p.text)
		}
		if !strings.HasSuffix(texts[0], s.Description) || len(texts) < 2 {
			t.Errorf("%s: got %q, want the name and the description first", s.Name, texts)
		}
	}
	s := definitions.Skill{Name: "a-b_c", Description: strings.Repeat("word ", 2000)}
	ps := phrasesOf(&s, &build(t, office(), &words{dim: 8}).skills[0].Summary, false)
	if !strings.HasPrefix(ps[0].text, "a b c: word") || len(ps[0].text) > 4*maxPhraseText {
		t.Errorf("a long description: got %d bytes, %.20q…", len(ps[0].text), ps[0].text)
	}
	if got, want := ix.phraseStarts[len(ix.skills)], ix.phrases.len(); int(got) != want {
		t.Errorf("phrases end at %d of %d", got, want)
	}
}

func TestParallelCallsEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		calls := make([]int, n)
		if err := parallel(t.Context(), n, func() func(int) { return func(i int) { calls[i]++ } }); err != nil {
			t.Fatal(err)
		}
		for i, c := range calls {
			if c != 1 {
				t.Errorf("%d of %d: %d calls", i, n, c)
			}
		}
	}
}
