package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"skillrouter/domains"
)

// flat is a catalog without folders of domains: three kinds of skills, and one
// that its author filed.
func flat() fstest.MapFS {
	fsys := fstest.MapFS{}
	for kind, words := range map[string][]string{
		"cook":   {"soup", "bread", "cake", "pasta", "salad", "curry", "stew", "pizza"},
		"travel": {"flights", "hotels", "trains", "ferries", "visas", "tours", "hostels", "airport transfers"},
		"code":   {"unit tests", "pull requests", "merge conflicts", "stack traces", "compiler errors", "linters", "refactoring", "git history"},
	} {
		for i, w := range words {
			verb := map[string]string{"cook": "Cook a recipe for", "travel": "Book a trip with", "code": "Debug source code and"}[kind]
			fsys[fmt.Sprintf("%s-%d/SKILL.md", kind, i)] = &fstest.MapFile{Data: []byte(fmt.Sprintf(
				"---\nname: %s-%d\ndescription: %s %s. Use when someone asks for %s.\n---\nBody.\n", kind, i, verb, w, w))}
		}
	}
	fsys["filed/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: filed\ndescription: Waters plants.\nmetadata:\n  domains: [Garden]\n---\nBody.\n")}
	return fsys
}

func TestSkillsThatNothingFilesAreClustered(t *testing.T) {
	ix := build(t, flat(), builtIn(t))
	if len(ix.Domains()) < 4 {
		t.Fatalf("got domains %v, want the author's and at least three of likeness", ix.Domains())
	}
	mixed := 0
	for _, d := range ix.Domains() {
		if d.Name == "Garden" {
			if d.Clustered || !slices.Equal(d.Members, []string{"filed"}) {
				t.Errorf("the author's domain: got %+v", d)
			}
			continue
		}
		if !d.Clustered || d.Name == domains.Unassigned || d.Description == "" {
			t.Errorf("a domain of likeness without a name and description: %+v", d)
		}
		if !slices.IsSorted(d.Members) { // the catalog's order
			t.Errorf("%s: members %v are not in catalog order", d.Name, d.Members)
		}
		for _, m := range d.Members {
			if strings.Split(m, "-")[0] != strings.Split(d.Members[0], "-")[0] {
				mixed++
			}
		}
	}
	if mixed > 3 { // four domains are made of three kinds: the fourth is of what is left
		t.Errorf("%d skills stand among others of another kind: %+v", mixed, ix.Domains())
	}
	var kinds []string
	for _, p := range ix.Problems() {
		kinds = append(kinds, p.Kind)
	}
	if !slices.Contains(kinds, "clustered") || slices.Contains(kinds, "unassigned") {
		t.Errorf("problems %v should tell of the clusters, and of no skill without a domain", kinds)
	}
}

func TestFewSkillsAreNotClustered(t *testing.T) {
	few := fstest.MapFS{}
	for name, file := range flat() {
		if strings.HasPrefix(name, "cook") || strings.HasPrefix(name, "filed") {
			few[name] = file
		}
	}
	ix := build(t, few, builtIn(t))
	if d := ix.Domains(); len(d) != 2 || d[1].Name != domains.Unassigned || d[1].Clustered {
		t.Errorf("got %+v, want Garden and the unassigned ones", d)
	}
}
