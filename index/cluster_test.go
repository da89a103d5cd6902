package index

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

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

func TestItems(t *testing.T) {
	ix := build(t, office(), builtIn(t))
	names := func(items []domains.Item) []string {
		out := []string{}
		for i := range items {
			out = append(out, items[i].Name)
		}
		return out
	}
	alarm, _ := ix.Lookup("alarm")
	trains, _ := ix.Lookup("trains")
	for _, c := range []struct {
		name   string
		places []int32
		want   []string
	}{
		{"nil: all but the manual one, in catalog order", nil, []string{"cat-sitter", "pdf-join", "pdf-text", "hotels", "trains"}},
		{"none", []int32{}, []string{}},
		{"as asked, also a manual one", []int32{trains, alarm}, []string{"trains", "alarm"}},
	} {
		if diff := cmp.Diff(c.want, names(ix.Items(c.places))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	it := ix.Items([]int32{trains})[0]
	if it.Summary == nil || it.Summary.Skill != "trains" || it.Description != "Finds train connections and their prices." {
		t.Errorf("got %+v, want the summary and description of trains", it)
	}
	var length float64
	for _, x := range it.Vector {
		length += float64(x) * float64(x)
	}
	if math.Abs(length-1) > 1e-3 {
		t.Errorf("squared length of the vector %v, want 1", length)
	}
	it.Vector[0] = 7
	if again := ix.Items([]int32{trains})[0]; again.Vector[0] == 7 {
		t.Error("the vector is not the caller's own")
	}
}

// TestItemsClusterAlike: what is proposed later is what the index shows.
func TestItemsClusterAlike(t *testing.T) {
	ix := build(t, flat(), builtIn(t))
	var left []int32
	got := map[string][]string{}
	for d, domain := range ix.Domains() {
		if domain.Clustered {
			got[domain.Name] = domain.Members
		}
		if domain.Clustered || domain.Name == domains.Unassigned {
			left = append(left, ix.Members(int32(d))...)
		}
	}
	slices.Sort(left)
	want := map[string][]string{}
	for _, p := range domains.Cluster(ix.Items(slices.Compact(left)), nil).Domains {
		for _, m := range p.Members {
			want[p.Name] = append(want[p.Name], m.Skill)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the index's domains differ from a proposal of its items (-proposal +index):\n%s", diff)
	}
}
