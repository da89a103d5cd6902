package index

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/definitions"
)

// An edited is a catalog of two roots that a hand keeps changing.
type edited struct {
	r     *rand.Rand
	roots [2]fstest.MapFS
	made  int // skills so far
}

// do makes one edit and says which.
func (e *edited) do() string {
	fsys := e.roots[e.r.IntN(2)]
	var skills []string
	for name := range fsys {
		if path.Base(name) == "SKILL.md" {
			skills = append(skills, name)
		}
	}
	slices.Sort(skills)
	some := ""
	if len(skills) > 0 {
		some = skills[e.r.IntN(len(skills))]
	}
	domain := []string{"paper", "travel", "home"}[e.r.IntN(3)]
	switch n := e.r.IntN(9); {
	case n < 2 || some == "":
		e.made++
		name := fmt.Sprintf("skill-%d", e.made)
		fsys[path.Join(domain, name, "SKILL.md")] = e.skill(name)
		return "add " + name
	case n == 2:
		fsys[some] = e.skill(path.Base(path.Dir(some)))
		return "change " + some
	case n == 3:
		delete(fsys, some)
		return "remove " + some
	case n == 4:
		to := path.Join(path.Dir(path.Dir(some)), path.Base(path.Dir(some))+"-again", "SKILL.md")
		fsys[to] = fsys[some]
		delete(fsys, some)
		return "rename the folder of " + some
	case n == 5:
		to := path.Join(domain, path.Base(path.Dir(some)), "SKILL.md")
		file := fsys[some]
		delete(fsys, some)
		fsys[to] = file
		return "move " + some + " to " + domain
	case n == 6:
		e.roots[1][some] = e.skill(path.Base(path.Dir(some)))
		return "shadow " + some
	case n == 7:
		fsys["skillrouter.yaml"] = &fstest.MapFile{Data: []byte(fmt.Sprintf(`domains:
  - name: Chosen %d
    description: what a keeper put together
    keywords: [key%d]
    folder: %s
skills:
  %s: {summary: "Does number %d, by the keeper's word"}
routing: {threshold: 0.%d}
`, e.r.IntN(3), e.r.IntN(5), domain, path.Base(path.Dir(some)), e.r.IntN(9), 5+e.r.IntN(4)))}
		return "settings"
	default:
		fsys[some] = &fstest.MapFile{Data: []byte("---\nname: [broken\n---\n")}
		return "break " + some
	}
}

func (e *edited) skill(name string) *fstest.MapFile {
	words := strings.Fields("read write send find sort count plan draw sing cook boil pack ship post call 订酒店 查天气")
	phrase := func() string {
		return fmt.Sprint(words[e.r.IntN(len(words))], " ", words[e.r.IntN(len(words))], " ", words[e.r.IntN(len(words))])
	}
	return &fstest.MapFile{Data: []byte(fmt.Sprintf("---\nname: %s\ndescription: Can %s. Use to %s.\nmetadata:\n  triggers: [%s, %s, %s]\n---\n# %s\nFirst %s.\n",
		name, phrase(), phrase(), phrase(), phrase(), phrase(), phrase(), phrase()))}
}

func (e *edited) load(t *testing.T) *definitions.Catalog {
	t.Helper()
	c, err := definitions.Load(t.Context(), []definitions.Root{{Path: "low", FS: e.roots[0]}, {Path: "high", FS: e.roots[1]}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whatever was edited: an update has the bytes of a build afresh, says what is
// new and what is gone, and embeds no text that was embedded before.
func TestUpdateIsABuildAfresh(t *testing.T) {
	for seed := range uint64(4) {
		e := &edited{r: rand.New(rand.NewPCG(seed, 9)), roots: [2]fstest.MapFS{{}, {}}}
		embedder := &inBatches{words: words{dim: 8}, asked: map[string]int{}, fails: -1}
		keep := &kept{}
		var old *Index
		var done []string
		for step := range 30 {
			for range 1 + e.r.IntN(3) {
				done = append(done, e.do())
			}
			if step%7 == 6 {
				done = append(done, "nothing")
			}
			c := e.load(t)
			plan, err := PlanUpdate(t.Context(), old, c, embedder, &Options{Vectors: keep})
			if err != nil {
				t.Fatal(err)
			}
			before := len(embedder.asked)
			ix, changes, err := Update(t.Context(), old, c, embedder, &Options{Vectors: keep})
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := Build(t.Context(), c, &words{dim: 8}, nil)
			if err != nil {
				t.Fatal(err)
			}
			data := encode(t, fresh)
			if !slices.Equal(encode(t, ix), data) {
				t.Fatalf("seed %d, after %q: the update has other bytes than a build", seed, done)
			}
			if changes == nil && ix != old || changes != nil && ix == old {
				t.Fatalf("seed %d, after %q: changes %+v, same index %v", seed, done, changes, ix == old)
			}
			if diff := cmp.Diff(changes, plan.Changes); diff != "" {
				t.Fatalf("seed %d, after %q: what was planned (-done +planned):\n%s", seed, done, diff)
			}
			if n := len(embedder.asked) - before; n != plan.Work.Embedded || (n > 0) != (plan.Tokens > 0) {
				t.Fatalf("seed %d, after %q: %d texts were embedded, planned: %+v", seed, done, n, plan)
			}
			var got, want [2][]string // added, removed
			if changes != nil {
				got = [2][]string{changes.Added, changes.Removed}
			}
			want[0] = without(namesOf(ix), namesOf(old))
			want[1] = without(namesOf(old), namesOf(ix))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, after %q: added and removed (-want +got):\n%s", seed, done, diff)
			}
			// The next update begins with the file, as another process would.
			if old, err = decode(data, here); err != nil {
				t.Fatal(err)
			}
			if err := old.finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if again, changes, err := Update(t.Context(), old, e.load(t), embedder, nil); again != old || changes != nil || err != nil {
				t.Fatalf("seed %d, after %q: an update without a change: %+v, %v", seed, done, changes, err)
			}
		}
		for text, n := range embedder.asked {
			if n > 1 {
				t.Errorf("seed %d: %d times embedded: %q", seed, n, text)
			}
		}
	}
}

func namesOf(ix *Index) []string {
	var names []string
	if ix != nil {
		for i := range ix.skills {
			names = append(names, ix.skills[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

func without(all, some []string) []string {
	var left []string
	for _, s := range all {
		if !slices.Contains(some, s) {
			left = append(left, s)
		}
	}
	return left
}

func TestCompare(t *testing.T) {
	before := build(t, office(), &words{dim: 8})
	fsys := office()
	fsys["paper/words/SKILL.md"] = fsys["paper/pdf-text/SKILL.md"] // its folder was renamed
	delete(fsys, "paper/pdf-text/SKILL.md")
	fsys["home/trains/SKILL.md"] = fsys["travel/trains/SKILL.md"] // and this one moved to another domain
	delete(fsys, "travel/trains/SKILL.md")
	delete(fsys, "home/alarm/SKILL.md")
	fsys["home/oven/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: oven\ndescription: Heats the oven.\n---\n")}
	fsys["home/cat-sitter/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: cat-sitter\ndescription: Feeds cats.\n---\n")}
	after := build(t, fsys, &words{dim: 8})
	want := &Changes{
		Added: []string{"oven"}, Changed: []string{"cat-sitter"}, Removed: []string{"alarm"},
		Moved: []Move{
			{"pdf-text", []string{"catalog/paper/pdf-text/SKILL.md"}, []string{"catalog/paper/words/SKILL.md"}},
			{"trains", []string{"catalog/travel/trains/SKILL.md"}, []string{"catalog/home/trains/SKILL.md"}},
		},
	}
	got := Compare(before, after)
	refiled := got.Refiled
	got.Refiled = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(refiled) != 1 || refiled[0].Skill != "trains" || len(refiled[0].From) != 1 || len(refiled[0].To) != 1 {
		t.Errorf("refiled: %+v", refiled)
	}
	if got := Compare(after, after); got.Any() {
		t.Errorf("with itself: %+v", got)
	}
	if got := Compare(build(t, office(), &words{dim: 4}), before); got.Embeds != "words/4" || !got.Any() {
		t.Errorf("another embedder: %+v", got)
	}
	if got := Compare(nil, before); len(got.Added) != 6 {
		t.Errorf("with none: %+v", got)
	}
}

// What shows only in a list of problems is a change too.
func TestUpdateSeesProblems(t *testing.T) {
	fsys := office()
	before := build(t, fsys, &words{dim: 8})
	fsys["home/broken/SKILL.md"] = &fstest.MapFile{Data: []byte{0xff, 0xfe, 0}}
	ix, changes, err := Update(t.Context(), before, load(t, fsys), &words{dim: 8}, nil)
	if err != nil || changes == nil || changes.Any() || len(ix.Problems()) <= len(before.Problems()) {
		t.Errorf("got %+v, %v", changes, err)
	}
}
