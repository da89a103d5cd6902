package definitions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestLoadFindsSkills(t *testing.T) {
	good := func(name string) string { return skill(name, "Does "+name+".") }
	tests := []struct {
		name      string
		files     map[string]string
		opts      *Options
		wantNames string
		want      Counts
		wantKinds []string
	}{
		{
			name: "one bad file does not hide the others",
			files: map[string]string{
				"good-a/SKILL.md": good("good-a"), "bad/SKILL.md": "---\nname: [unclosed\n---\n", "good-b/SKILL.md": good("good-b"),
				"empty/SKILL.md": "", "none/README.md": "x", "file.txt": "x",
			},
			wantNames: "good-a good-b", want: Counts{Found: 4, Loaded: 2, Refused: 2},
			wantKinds: []string{"root/bad/SKILL.md:2 bad-yaml!", "root/empty/SKILL.md empty!"},
		},
		{
			name:      "folders in folders, but neither .git nor node_modules",
			files:     map[string]string{"group/sub/x/SKILL.md": good("x"), ".hidden/y1/SKILL.md": good("y1"), "node_modules/z/SKILL.md": good("z"), "a/.git/z/SKILL.md": good("z")},
			wantNames: "y1 x", want: Counts{Found: 2, Loaded: 2},
		},
		{
			name:      "the depth is a bound, and said",
			files:     map[string]string{"a/SKILL.md": good("a"), "b/c/SKILL.md": good("c"), "d/e/f/SKILL.md": good("f"), "g/h/SKILL.md": good("h")},
			opts:      &Options{Depth: 1},
			wantNames: "a", want: Counts{Found: 1, Loaded: 1},
			wantKinds: []string{"root/b depth"},
		},
		{
			name:      "six levels by default",
			files:     map[string]string{"1/2/3/4/5/six/SKILL.md": good("six"), "1/2/3/4/5/6/seven/SKILL.md": good("seven")},
			wantNames: "six", want: Counts{Found: 1, Loaded: 1},
			wantKinds: []string{"root/1/2/3/4/5/6 depth"},
		},
		{
			name:      "no bound",
			files:     map[string]string{"1/2/3/4/5/6/7/8/nine/SKILL.md": good("nine")},
			opts:      &Options{Depth: -1},
			wantNames: "nine", want: Counts{Found: 1, Loaded: 1},
		},
		{
			name: "a skill inside a skill is a document",
			files: map[string]string{
				"out/SKILL.md": good("out"), "out/templates/in/SKILL.md": good("in"), "out/other/skill.md": good("in2"), "out/skill.md": "a document",
			},
			wantNames: "out", want: Counts{Found: 3, Loaded: 1, Nested: 2},
			wantKinds: []string{"root/out/other/skill.md nested", "root/out/templates/in/SKILL.md nested"},
		},
		{
			name:      "another case of the file name",
			files:     map[string]string{"a/skill.md": good("a"), "b/SKILL.MD": good("b"), "b/c/SKILL.md": good("c")},
			wantNames: "c", want: Counts{Found: 3, Loaded: 1, Refused: 2},
			wantKinds: []string{"root/a/skill.md case-name!", "root/b/SKILL.MD case-name!"},
		},
		{
			name:      "a folder called SKILL.md",
			files:     map[string]string{"a/SKILL.md/x.txt": "x", "a/c/SKILL.md": good("c"), "b/SKILL.md": good("b")},
			wantNames: "c b", want: Counts{Found: 3, Loaded: 2, Refused: 1},
			wantKinds: []string{"root/a/SKILL.md not-a-file!"},
		},
		{
			name:      "a root that is a skill",
			files:     map[string]string{"SKILL.md": "---\ndescription: d\n---\nbody\n", "sub/SKILL.md": good("sub")},
			wantNames: "root", want: Counts{Found: 2, Loaded: 1, Nested: 1},
			wantKinds: []string{"root/SKILL.md no-name", "root/sub/SKILL.md nested"},
		},
		{
			name:      "two of a name in one root: the first by path",
			files:     map[string]string{"b/same/SKILL.md": good("same"), "a/same/SKILL.md": skill("same", "First."), "c/SKILL.md": skill("c", "Second."), "c-d/c/SKILL.md": good("c")},
			wantNames: "same c", want: Counts{Found: 4, Loaded: 2, Shadowed: 2},
			wantKinds: []string{"root/b/same/SKILL.md shadowed", "root/c/SKILL.md shadowed"},
		},
		{
			name:      "names equal but for case, and alike ones, are all kept",
			files:     map[string]string{"A B/SKILL.md": good("A B"), "A-B/SKILL.md": good("A-B"), "x/SKILL.md": good("x"), "X/SKILL.md": good("X"), "公众号/SKILL.md": good("公众号"), "公号/SKILL.md": good("公号")},
			wantNames: "A B A-B X x 公众号 公号", want: Counts{Found: 6, Loaded: 6},
			wantKinds: []string{
				"root/A B/SKILL.md:2 name-form", "root/A-B/SKILL.md alike-names", "root/A-B/SKILL.md:2 name-form", "root/X/SKILL.md:2 name-form",
				"root/x/SKILL.md case-names", "root/公众号/SKILL.md:2 name-form", "root/公号/SKILL.md:2 name-form",
			},
		},
		{
			name:      "the number of skills is a bound, and said",
			files:     map[string]string{"a/SKILL.md": good("a"), "b/SKILL.md": good("b"), "c/SKILL.md": good("c")},
			opts:      &Options{MaxSkills: 2},
			wantNames: "a b", want: Counts{Found: 2, Loaded: 2},
			wantKinds: []string{"root max-skills"},
		},
		{
			name:      "links inside the root; one file is used once",
			files:     map[string]string{"real/SKILL.md": good("real"), "a-link/SKILL.md": "-> ../real/SKILL.md", "folder": "-> real", "up/loop": "-> ..", "self": "-> self"},
			wantNames: "real", want: Counts{Found: 2, Loaded: 1, Shadowed: 1},
			wantKinds: []string{"root/a-link/SKILL.md same-file", "root/a-link/SKILL.md:2 name-not-folder", "root/folder same-folder", "root/self link-cycle", "root/up/loop same-folder"},
		},
		{
			name:      "a link to what is not read otherwise",
			files:     map[string]string{"1/2/deep/SKILL.md": good("deep"), "deep": "-> 1/2/deep", "node_modules/pack/SKILL.md": good("pack"), "pack": "-> node_modules/pack"},
			opts:      &Options{Depth: 1},
			wantNames: "deep pack", want: Counts{Found: 2, Loaded: 2},
			wantKinds: []string{"root/1 depth"},
		},
		{
			name:      "links that lead nowhere or out",
			files:     map[string]string{"a/SKILL.md": "-> ../gone/SKILL.md", "b/SKILL.md": "-> ../../out/SKILL.md", "c": "-> gone", "d/x/e": "-> ../../../..", "f/SKILL.md": "-> SKILL.md", "g/SKILL.md": good("g"), "h/SKILL.md": "-> ../g", "h/i/SKILL.md": good("i")},
			wantNames: "g", want: Counts{Found: 6, Loaded: 1, Refused: 4, Nested: 1},
			wantKinds: []string{
				"root/a/SKILL.md dangling-link!", "root/b/SKILL.md link-outside!", "root/c dangling-link", "root/d/x/e link-outside", "root/f/SKILL.md link-cycle!",
				"root/h/SKILL.md link-not-file!", "root/h/i/SKILL.md nested",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inMemory := loadFiles(t, test.files, test.opts)
			// The same tree on disk; what lies outside the root does exist there.
			dir := t.TempDir()
			write(t, dir, map[string]string{"out/SKILL.md": good("out-of-root")})
			write(t, filepath.Join(dir, "root"), test.files)
			t.Chdir(dir)
			onDisk := load(t, []Root{{Path: "root"}}, test.opts)
			if diff := cmp.Diff(inMemory, onDisk, cmpopts.IgnoreUnexported(Catalog{}), cmpopts.IgnoreFields(Skill{}, "ModTime")); diff != "" {
				t.Errorf("memory and disk differ (-memory +disk):\n%s", diff)
			}
			if got := names(onDisk); got != test.wantNames {
				t.Errorf("skills %q, want %q", got, test.wantNames)
			}
			if diff := cmp.Diff(test.want, onDisk.Counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Join(test.wantKinds, "\n"), kinds(onDisk)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadOverlays(t *testing.T) {
	user := memory(map[string]string{
		"clean/SKILL.md": skill("clean", "User."), "deploy/SKILL.md": skill("deploy", "User."), "zip/SKILL.md": skill("zip", "User."),
		"skillrouter.yaml": "domains: []\n",
	})
	team := memory(map[string]string{"x/SKILL.md": skill("deploy", "Team."), "bad/SKILL.md": "---\nname: [\n---\n"})
	project := memory(map[string]string{"a/SKILL.md": skill("added", "Project."), "deploy/SKILL.md": skill("deploy", "Project."), "zip/SKILL.md": skill("zip", "User.")})
	c := load(t, []Root{{Path: "user", FS: user}, {Path: "missing"}, {Path: "team", FS: team}, {Path: "project", FS: project}}, nil)

	if got, want := names(c), "clean deploy zip added"; got != want {
		t.Errorf("skills %q, want %q", got, want)
	}
	s, ok := c.Skill("deploy")
	if !ok || s.Description != "Project." || s.Ref != (Ref{3, "deploy"}) || s.File != "project/deploy/SKILL.md" {
		t.Errorf("deploy is %+v", s)
	}
	want := []Shadow{
		{Name: "deploy", File: "user/deploy/SKILL.md", Winner: "project/deploy/SKILL.md", Ref: Ref{0, "deploy"}},
		{Name: "deploy", File: "team/x/SKILL.md", Winner: "project/deploy/SKILL.md", Ref: Ref{2, "x"}},
		{Name: "zip", File: "user/zip/SKILL.md", Winner: "project/zip/SKILL.md", Ref: Ref{0, "zip"}, SameText: true},
	}
	if diff := cmp.Diff(want, c.Shadowed); diff != "" {
		t.Errorf("shadowed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]File{{0, "user/skillrouter.yaml", []byte("domains: []\n")}}, c.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if p := problem(t, c, "shadowed"); !strings.Contains(p.String(), "team/x/SKILL.md: deploy: this copy is shadowed by project/deploy/SKILL.md") {
		t.Errorf("problem %q", p)
	}
	if p := problem(t, c, "missing-root"); p.Severity != Note || p.File != "missing" {
		t.Errorf("a missing root is %+v", p)
	}
	if _, ok := c.Skill("Deploy"); ok {
		t.Error("names are not told apart by case")
	}
}

func TestLoadNothing(t *testing.T) {
	c := load(t, nil, nil)
	if len(c.Skills)+len(c.Problems) != 0 || c.Counts != (Counts{}) {
		t.Errorf("no roots give %+v", c)
	}
	file := filepath.Join(t.TempDir(), "file.txt")
	write(t, filepath.Dir(file), map[string]string{"file.txt": "x"})
	c = load(t, []Root{{Path: file}, {Path: filepath.Join(t.TempDir(), "gone.jsonl")}}, nil)
	if c.Counts.Found != 0 || problem(t, c, "root").Severity != Warning || problem(t, c, "missing-root").Severity != Note {
		t.Errorf("a file and a missing catalog give %+v", c)
	}
}

func TestLoadErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, []Root{{Path: "r", FS: memory(map[string]string{"a/SKILL.md": skill("a", "b")})}}, nil); err == nil {
		t.Error("no error although ctx has ended")
	}
	if _, err := Load(context.Background(), []Root{{}}, nil); err == nil || !strings.Contains(err.Error(), "root 0") {
		t.Errorf("a root without path: %v", err)
	}
	if _, err := Load(context.Background(), nil, &Options{Orders: 7}); err == nil || !strings.Contains(err.Error(), "Orders 7") {
		t.Errorf("a wrong level: %v", err)
	}
}

func TestLoadLinksAcrossRoots(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"one/a/SKILL.md": skill("a", "In one."), "two/a": "-> ../one/a", "two/b": "-> ../shared/b", "two/c": "-> ../secret/c",
		"shared/b/SKILL.md": skill("b", "Shared."), "shared/b/guide.md": "text", "secret/c/SKILL.md": skill("c", "Secret."),
		"two/d/SKILL.md": skill("d", "Own."), "two/d/out.md": "-> ../../secret/c/SKILL.md", "two/d/in.md": "-> real.md", "two/d/real.md": "text", "two/d/sub": "-> ../b",
		"linked": "-> two",
	})
	roots := []Root{{Path: filepath.Join(dir, "one")}, {Path: filepath.Join(dir, "linked")}}
	c := load(t, roots, &Options{LinkRoots: []string{filepath.Join(dir, "shared"), filepath.Join(dir, "gone")}})
	if got, want := names(c), "a b d"; got != want {
		t.Errorf("skills %q, want %q", got, want)
	}
	if s, _ := c.Skill("a"); s.Ref.Root != 1 || !c.Shadowed[0].SameText {
		t.Errorf("a is %+v, shadowed %+v", s, c.Shadowed)
	}
	if p := problem(t, c, "link-outside"); !strings.HasSuffix(p.File, "linked/c") || p.Fix == "" {
		t.Errorf("link out: %+v", p)
	}
	d, _ := c.Skill("d")
	if diff := cmp.Diff([]Doc{{"in.md", 4, true}, {"real.md", 4, true}}, d.Docs); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	src := c.Source()
	b, err := src.Read(context.Background(), Ref{1, "b"})
	if err != nil || b.Description != "Shared." {
		t.Errorf("read through a link: %v, %v", b, err)
	}
	if text, err := src.Doc(context.Background(), Ref{1, "b"}, "guide.md"); err != nil || string(text) != "text" {
		t.Errorf("document through a link: %q, %v", text, err)
	}
	// A link that is turned out of the roots later leads nowhere.
	if err := os.Remove(filepath.Join(dir, "two", "b")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"two/b": "-> ../secret/c"})
	if s, err := src.Read(context.Background(), Ref{1, "b"}); err == nil {
		t.Errorf("a link out of the roots is read: %+v", s)
	}
}

func TestLoadLinkedFileWithoutName(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"one/x/SKILL.md": "First x.\n", "one/z/SKILL.md": "First z.\n", "two/x/SKILL.md": "Second x.\n", "three/y": "-> ../one/x", "three/w": "-> ../one/z",
	})
	c := load(t, []Root{{Path: filepath.Join(dir, "one")}, {Path: filepath.Join(dir, "two")}, {Path: filepath.Join(dir, "three")}}, nil)
	// one/x lost its name to two/x and may be used as y; one/z is used already.
	if got, want := names(c), "x z y"; got != want {
		t.Errorf("skills %q, want %q", got, want)
	}
	if len(c.Shadowed) != 2 || c.Shadowed[1].Name != "w" || !strings.HasSuffix(c.Shadowed[1].Winner, "one/z/SKILL.md") {
		t.Errorf("shadowed %+v", c.Shadowed)
	}
}

// TestLoadAccountsForAll builds random trees and counts for itself.
func TestLoadAccountsForAll(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		files, found := map[string]string{}, 0
		for range 5 + rng.IntN(30) {
			parts := make([]string, 1+rng.IntN(5))
			for i := range parts {
				parts[i] = string(rune('a' + rng.IntN(3)))
			}
			dir := strings.Join(parts, "/")
			name := []string{"SKILL.md", "SKILL.md", "SKILL.md", "skill.md", "README.md"}[rng.IntN(5)]
			if files[dir+"/SKILL.md"]+files[dir+"/skill.md"] != "" {
				continue
			}
			text := skill(fmt.Sprint("s", rng.IntN(12)), "d")
			switch rng.IntN(6) {
			case 0:
				text = "---\nname: [\n---\n"
			case 1:
				text = "-> " + []string{"gone", "../../../../../../x", "../a/SKILL.md", "../SKILL.md"}[rng.IntN(4)]
			}
			if name == "README.md" {
				text = "text"
			} else {
				found++
			}
			files[dir+"/"+name] = text
		}
		first := loadFiles(t, files, nil)
		if first.Counts.Found != found {
			t.Errorf("seed %d: found %+v of %d files:\n%v\n%s", seed, first.Counts, found, files, kinds(first))
		}
		refused := 0
		for _, p := range first.Problems {
			if p.Refused {
				refused++
			}
		}
		if refused != first.Counts.Refused {
			t.Errorf("seed %d: %d refused, %d of them explained", seed, first.Counts.Refused, refused)
		}
		if diff := cmp.Diff(first, loadFiles(t, files, nil), cmpopts.IgnoreUnexported(Catalog{})); diff != "" {
			t.Errorf("seed %d: a second load differs:\n%s", seed, diff)
		}
	}
}

func TestLoadDocuments(t *testing.T) {
	c := loadFiles(t, map[string]string{
		"company-api/SKILL.md":               skill("company-api", "d") + "Read [the reference](./api-reference.md), examples/good.tsx, 见指南.md。 and Makefile.\n",
		"company-api/api-reference.md":       "# Reference\n",
		"company-api/examples/good.tsx":      "<p/>",
		"company-api/examples/bad.tsx":       "<p>",
		"company-api/logo.png":               "\x89PNG\x00\x01",
		"company-api/latin1.txt":             "caf\xe9",
		"company-api/empty.md":               "",
		"company-api/large.txt":              strings.Repeat("x", 256<<10+1),
		"company-api/cut.txt":                strings.Repeat("x", 511) + "é",
		"company-api/指南.md":                  "text",
		"company-api/node_modules/p/x.js":    "x",
		"company-api/.git/config":            "x",
		"git-commit/SKILL.md":                skill("git-commit", "d"),
		"react-codestyle/SKILL.md":           skill("react-codestyle", "See bad-component.tsx."),
		"react-codestyle/bad-component.tsx":  "x",
		"react-codestyle/x/bad-component.ts": "x",
	}, nil)
	s, _ := c.Skill("company-api")
	want := []Doc{
		{"api-reference.md", 12, true},
		{"cut.txt", 513, true},
		{"empty.md", 0, true},
		{"examples/bad.tsx", 4 - 1, true},
		{"examples/good.tsx", 4, true},
		{"large.txt", 256<<10 + 1, false},
		{"latin1.txt", 4, false},
		{"logo.png", 6, false},
		{"指南.md", 4, true},
	}
	if diff := cmp.Diff(want, s.Docs); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"api-reference.md", "examples/good.tsx"}, s.Files); diff != "" {
		t.Errorf("mentioned (-want +got):\n%s", diff)
	}
	if s, _ := c.Skill("git-commit"); s.Docs != nil || s.Files != nil {
		t.Errorf("a skill without documents has %v, %v", s.Docs, s.Files)
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			files := map[string]string{}
			for i := range n {
				name := fmt.Sprint("skill-", i)
				files[fmt.Sprintf("group-%d/%s/SKILL.md", i%20, name)] = skill(name, "Does it.") + strings.Repeat("A line of the body, 12 words long, that says nothing.\n", 200)
			}
			write(b, dir, files)
			b.ReportAllocs()
			for b.Loop() {
				load(b, []Root{{Path: dir}}, nil)
			}
		})
	}
}
