package skillrouter_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const module = "skillrouter"

// A layering says who may import whom. Only what is built counts: a test may
// import what it likes, and the compiler refuses its cycles.
type layering struct {
	// layers stand in reading order: a package imports only what stands above it.
	layers []layer
	// libraries holds, by import path, the packages that may use a library of
	// others. Its sub-packages are meant too. What has no row may not be used.
	libraries map[string][]string
}

// A layer is a package and the packages of this module that it may import.
// Paths are below the module, "." is the root package, a trailing "/..." means
// the folder and all below it. The import "*" stands for all layers above.
type layer struct {
	pkg     string
	imports []string
}

// theMap holds all folders of the design, also those that are still to come.
func theMap() layering {
	return layering{
		layers: []layer{
			{"internal/text", nil},
			{"internal/text/gen", nil}, // makes a table of internal/text
			{"internal/atomicfile", nil},
			{"internal/lockfile", nil},
			{"internal/watch", nil},
			{"definitions", []string{"internal/text"}},
			{"summaries", []string{"definitions", "internal/text"}},
			{"domains", []string{"summaries", "definitions", "internal/text"}},
			{"embed", []string{"internal/text"}},
			{"embed/openai", []string{"internal/text"}},
			{"store", nil},
			{"store/pgvector", []string{"store"}},
			{"store/storetest", []string{"store"}},
			{"index", []string{"store", "domains", "summaries", "definitions", "internal/text", "internal/atomicfile"}}, // not embed: it declares Embedder
			{"cache", nil},
			{"cache/files", []string{"cache", "internal/atomicfile"}},
			{"cache/redis", []string{"cache"}},
			{"cache/cachetest", []string{"cache"}},
			{"cache/vectors", nil}, // index declares what it wants of it
			{"router", []string{"index", "cache", "domains", "summaries", "definitions", "internal/text"}},
			{".", []string{"router", "index", "cache/vectors", "embed", "definitions", "internal/atomicfile", "internal/lockfile", "internal/watch"}},
			{"agent", []string{"router", "index", "summaries", "definitions", "internal/text"}},
			{"eval", []string{".", "router", "index", "embed", "domains", "summaries", "definitions", "internal/text"}},
			{"eval/page", []string{"eval"}},
			{"keeper", []string{".", "router", "index", "domains", "summaries", "definitions", "internal/text"}},
			{"server", []string{".", "keeper", "eval", "agent", "router", "cache", "index", "domains", "summaries", "definitions", "internal/text"}},
			{"server/mcp", []string{".", "server", "agent", "router", "index", "domains", "summaries", "definitions", "internal/text"}},
			{"examples", nil}, // the catalog that the command embeds
			{"examples/tools", []string{"internal/text"}}, // the functions that it declares
			{"examples/...", []string{"*"}},
			{"cmd/skillrouter", []string{"*"}},
			{"bench/...", []string{"*"}},
		},
		libraries: map[string][]string{
			"github.com/go-analyze/charts":           {"eval/page"},
			"github.com/fsnotify/fsnotify":           {"internal/watch"},
			"github.com/gofrs/flock":                 {"internal/lockfile", "cache/vectors", "cache/files", "cmd/skillrouter"}, // locks between processes
			"github.com/google/go-cmp":               {"store/storetest", "cache/cachetest"},
			"github.com/google/jsonschema-go":        {"server/mcp"},
			"github.com/hashicorp/golang-lru/v2":     {"index", "cache", "router", "server/mcp"},
			"github.com/jackc/pgx/v5":                {"store/pgvector"},
			"github.com/modelcontextprotocol/go-sdk": {"server/mcp"},
			"github.com/pgvector/pgvector-go":        {"store/pgvector"},
			"github.com/philippgille/chromem-go":     {"store"},
			"github.com/prometheus/client_golang":    {"server"},
			"github.com/redis/go-redis/v9":           {"cache/redis"},
			"github.com/sashabaranov/go-openai":      {"embed/openai", "agent", "keeper", "examples/..."},
			"github.com/rogpeppe/go-internal":        {"cmd/skillrouter"}, // there: differences shown before a change
			"github.com/schollz/progressbar/v3":      {"cmd/skillrouter"},
			"github.com/spf13/cobra":                 {"cmd/skillrouter"},
			"github.com/spf13/pflag":                 {"cmd/skillrouter"},                  // the flags of cobra
			"github.com/tailscale/hujson":            {"cmd/skillrouter"},                  // settings of clients, changed in place
			"golang.org/x/sys":                       {"index"},                            // which vector instructions there are
			"golang.org/x/text":                      {"internal/text", "cmd/skillrouter"}, // there: columns of a terminal
			"gonum.org/v1/gonum":                     {"index"},                            // L-BFGS
			"gopkg.in/yaml.v3":                       {"definitions", "domains", "eval"},
		},
	}
}

// An imported is one import of one file.
type imported struct {
	file string // slash path below the module
	path string
}

// readImports returns, by package, what the files of the module in fsys import.
// A package of tests alone is there with nothing. Folders that the go command
// does not enter, and modules of their own, are not entered.
func readImports(fsys fs.FS) (map[string][]imported, error) {
	packages := map[string][]imported{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		base := path.Base(name)
		hidden := base[0] == '.' || base[0] == '_'
		if entry.IsDir() {
			if hidden || base == "testdata" || base == "vendor" {
				return fs.SkipDir
			}
			if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if hidden || path.Ext(base) != ".go" {
			return nil
		}
		imports, err := fileImports(fsys, name)
		packages[path.Dir(name)] = append(packages[path.Dir(name)], imports...)
		return err
	})
	return packages, err
}

// fileImports returns what a file imports, under whatever build constraint;
// nothing for a test.
func fileImports(fsys fs.FS, name string) ([]imported, error) {
	if strings.HasSuffix(name, "_test.go") {
		return nil, nil
	}
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []imported
	for _, spec := range file.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		imports = append(imports, imported{name, to})
	}
	return imports, nil
}

// check returns one line for each thing in packages that the map does not
// allow, sorted.
func (m layering) check(packages map[string][]imported) []string {
	var problems []string
	for pkg, imports := range packages {
		at := m.find(pkg)
		if at < 0 {
			problems = append(problems, fmt.Sprintf("%s: no such package in the map: say in theMap what it may import", pkg))
			continue
		}
		for _, i := range imports {
			if !m.allows(at, pkg, i.path) {
				problems = append(problems, fmt.Sprintf("%s: package %s may not import %s", i.file, pkg, i.path))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// find returns the place of the layer that pkg belongs to, the one with just
// its name before a pattern, or -1.
func (m layering) find(pkg string) int {
	at := slices.IndexFunc(m.layers, func(l layer) bool { return l.pkg == pkg })
	if at < 0 {
		at = slices.IndexFunc(m.layers, func(l layer) bool { return within(pkg, l.pkg) })
	}
	return at
}

// allows reports whether pkg, of the layer at, may import the path to.
func (m layering) allows(at int, pkg, to string) bool {
	own, isOwn := strings.CutPrefix(to, module+"/")
	if to == module {
		own, isOwn = ".", true
	}
	switch first, _, _ := strings.Cut(to, "/"); {
	case isOwn && slices.Contains(m.layers[at].imports, "*"):
		target := m.find(own)
		return target >= 0 && target < at
	case isOwn:
		return slices.Contains(m.layers[at].imports, own)
	case !strings.Contains(first, ".") && to != "C":
		return true // the standard library
	}
	for library, users := range m.libraries {
		if within(to, library+"/...") {
			return slices.ContainsFunc(users, func(user string) bool { return within(pkg, user) })
		}
	}
	return false
}

// within reports whether p is what the pattern names, as the go command reads
// a trailing "/...".
func within(p, pattern string) bool {
	folder, open := strings.CutSuffix(pattern, "/...")
	return p == folder || open && strings.HasPrefix(p, folder+"/")
}

func TestLayers(t *testing.T) {
	packages, err := readImports(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages["internal/text"]) == 0 {
		t.Fatal("no import of internal/text was found: the test does not read the module")
	}
	for _, problem := range theMap().check(packages) {
		t.Error(problem)
	}
}

// The table itself must not allow a cycle, nor name what is not in it.
func TestMapPointsUp(t *testing.T) {
	m := theMap()
	var above []string
	for _, l := range m.layers {
		if slices.Contains(above, l.pkg) {
			t.Errorf("%s has two rows", l.pkg)
		}
		for _, i := range l.imports {
			if i != "*" && !slices.Contains(above, i) {
				t.Errorf("%s may import %s, which is no row above it", l.pkg, i)
			}
		}
		above = append(above, l.pkg)
	}
	for library, users := range m.libraries {
		for _, user := range users {
			if !slices.Contains(above, user) {
				t.Errorf("%s is allowed in %s, which has no row", library, user)
			}
		}
	}
}

func TestCheckOfMadeUpModules(t *testing.T) {
	importing := func(paths ...string) string {
		var b strings.Builder
		b.WriteString("package p\n")
		for _, p := range paths {
			fmt.Fprintf(&b, "import _ %q\n", p)
		}
		return b.String()
	}
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{
			name:  "index imports router",
			files: map[string]string{"index/build.go": importing("fmt", "skillrouter/router", "skillrouter/store")},
			want:  []string{"index/build.go: package index may not import skillrouter/router"},
		},
		{
			name:  "a test of index imports router",
			files: map[string]string{"index/build_test.go": importing("skillrouter/router")},
		},
		{
			name:  "router imports the root package",
			files: map[string]string{"router/router.go": importing("skillrouter")},
			want:  []string{"router/router.go: package router may not import skillrouter"},
		},
		{
			name:  "the root package imports what is below it",
			files: map[string]string{"skillrouter.go": importing("skillrouter/router", "skillrouter/eval")},
			want:  []string{"skillrouter.go: package . may not import skillrouter/eval"},
		},
		{
			name:  "under a build constraint too",
			files: map[string]string{"store/windows.go": "//go:build windows\n\n" + importing("skillrouter/embed")},
			want:  []string{"store/windows.go: package store may not import skillrouter/embed"},
		},
		{
			name: "packages that are not in the map",
			files: map[string]string{
				"util/util.go":           importing("strings"),
				"router/inner/x_test.go": importing("testing"),
			},
			want: []string{
				"router/inner: no such package in the map: say in theMap what it may import",
				"util: no such package in the map: say in theMap what it may import",
			},
		},
		{
			name: "the command imports all, measurements too, nobody them",
			files: map[string]string{
				"cmd/skillrouter/main.go": importing("skillrouter", "skillrouter/store/pgvector", "skillrouter/examples"),
				"bench/accuracy/main.go":  importing("skillrouter/eval"),
				"examples/turn/main.go":   importing("skillrouter/agent", "skillrouter/bench/accuracy"),
				"server/server.go":        importing("skillrouter/cmd/skillrouter"),
			},
			want: []string{
				"examples/turn/main.go: package examples/turn may not import skillrouter/bench/accuracy",
				"server/server.go: package server may not import skillrouter/cmd/skillrouter",
			},
		},
		{
			name:  "a package that does not exist",
			files: map[string]string{"cmd/skillrouter/main.go": importing("skillrouter/helpers")},
			want:  []string{"cmd/skillrouter/main.go: package cmd/skillrouter may not import skillrouter/helpers"},
		},
		{
			name: "libraries where they belong",
			files: map[string]string{
				"store/store.go":              importing("github.com/philippgille/chromem-go"),
				"cache/turns.go":              importing("github.com/hashicorp/golang-lru/v2/simplelru"),
				"examples/turn/main.go":       importing("github.com/sashabaranov/go-openai"),
				"store/storetest/contract.go": importing("github.com/google/go-cmp/cmp", "testing"),
			},
		},
		{
			name: "libraries where they do not belong",
			files: map[string]string{
				"index/index.go":         importing("github.com/philippgille/chromem-go"),
				"router/router.go":       importing("github.com/spf13/cobra", "gopkg.in/yaml.v3"),
				"embed/embed.go":         importing("github.com/sashabaranov/go-openai"),
				"store/store.go":         importing("github.com/jackc/pgx/v5/pgxpool"),
				"embed/openai/client.go": importing("skillrouter/embed"),
			},
			want: []string{
				"embed/embed.go: package embed may not import github.com/sashabaranov/go-openai",
				"embed/openai/client.go: package embed/openai may not import skillrouter/embed",
				"index/index.go: package index may not import github.com/philippgille/chromem-go",
				"router/router.go: package router may not import github.com/spf13/cobra",
				"router/router.go: package router may not import gopkg.in/yaml.v3",
				"store/store.go: package store may not import github.com/jackc/pgx/v5/pgxpool",
			},
		},
		{
			name: "libraries of no row, and C",
			files: map[string]string{
				"cmd/skillrouter/main.go": importing("github.com/spf13/cobra-cli", "github.com/stretchr/testify/assert"),
				"embed/embed.go":          importing("C"),
			},
			want: []string{
				"cmd/skillrouter/main.go: package cmd/skillrouter may not import github.com/spf13/cobra-cli",
				"cmd/skillrouter/main.go: package cmd/skillrouter may not import github.com/stretchr/testify/assert",
				"embed/embed.go: package embed may not import C",
			},
		},
		{
			name: "what the go command does not see",
			files: map[string]string{
				"go.mod":                "module skillrouter\n",
				"index/testdata/x.go":   importing("skillrouter/router"),
				".ci/x.go":              importing("skillrouter/router"),
				"index/_draft.go":       importing("skillrouter/router"),
				"tools/lint/go.mod":     "module lint\n",
				"tools/lint/main.go":    importing("skillrouter/router"),
				"tools/distill/text.py": "import router",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name, text := range test.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			packages, err := readImports(fsys)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, theMap().check(packages)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadImportsOfBrokenFile(t *testing.T) {
	_, err := readImports(fstest.MapFS{"index/build.go": {Data: []byte("package index\nimport (\n")}})
	if err == nil || !strings.Contains(err.Error(), "index/build.go:") {
		t.Errorf("got error %v, want one that names index/build.go", err)
	}
}
