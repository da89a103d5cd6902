package domains

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nameOf names the first n of items against the others.
func nameOf(items []Item, n int) string {
	rows := make([][]float32, len(items))
	group := make([]int, n)
	for i := range items {
		rows[i] = items[i].Vector
	}
	for i := range group {
		group[i] = i
	}
	v := newVocabulary(items, rows)
	naming := &naming{v: v, items: items, taken: make(map[string]bool)}
	name, _ := naming.name(group, v.about(group), isChinese(items[0].Description))
	return name
}

func TestName(t *testing.T) {
	others := manyItems(20)
	group := func(sentences ...string) []Item {
		var out []Item
		for i, s := range sentences {
			out = append(out, itemOf(fmt.Sprintf("g%d", i), s))
		}
		return append(out, others...)
	}
	tests := map[string]struct {
		sentences []string
		want      string
	}{
		"a word that all share": {
			[]string{"Bakes sourdough in an oven", "Keeps sourdough alive", "Sells sourdough on markets", "Shapes sourdough", "Feeds sourdough each day"},
			"Sourdough",
		},
		"a pair before its parts": {
			[]string{"Checks tide tables for sailors", "Prints tide tables of a year", "Explains tide tables", "Compares tide tables"},
			"Tide tables",
		},
		"two words where none reaches most": {
			[]string{"Feeds hens", "Counts hens", "Houses hens", "Milks goats at dawn", "Shears goats", "Herds goats", "Sings a ballad"},
			"Goats and hens",
		},
		"a product that not all share is no name": {
			[]string{"Prunes roses in Zorbin", "Waters roses in Zorbin", "Breeds roses by hand", "Ties roses to a wall", "Paints roses with Zorbin"},
			"Roses",
		},
		"a product that all share is one": {
			[]string{"Runs with Zorbin", "Starts when Zorbin is there", "Needs a Zorbin", "Goes to Zorbin"},
			"Zorbin",
		},
		"jargon is no name": {
			[]string{"Knits RBAC scarves", "Folds RBAC scarves", "Dyes RBAC scarves", "Packs RBAC scarves"},
			"Scarves",
		},
		"a kind of work that words only hint at": {
			[]string{"Finds vulnerabilities", "Rotates credentials", "Detects malware", "Models threats", "Sets up encryption"},
			"Security",
		},
		"a kind of work in Chinese": {
			[]string{"查找漏洞", "检测攻击行为", "数据加密", "威胁建模", "取证"},
			"安全防护",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nameOf(group(test.sentences...), len(test.sentences)); got != test.want {
				t.Errorf("name = %q, want %q", got, test.want)
			}
		})
	}
}

func TestNamesAreDistinct(t *testing.T) {
	items := manyItems(30)
	for i := range items {
		items[i].Description, items[i].Summary.Text = "Detects malware", "Detects malware"
	}
	seen := make(map[string]bool)
	for _, d := range Cluster(items, nil).Domains {
		if seen[d.Name] || len(strings.Fields(d.Name)) > 6 {
			t.Errorf("name %q is taken or long", d.Name)
		}
		seen[d.Name] = true
	}
}

func TestTokens(t *testing.T) {
	var got []string
	for _, tok := range tokens("Look-ahead bias, and C++ in iOS. 天气API") {
		s := tok.surface
		if !tok.content && !tok.han {
			s += "-"
		}
		if tok.joined {
			s = "+" + s
		}
		got = append(got, s)
	}
	want := []string{"Look-ahead", "+bias", "and-", "+C++", "+in-", "+iOS", "天气", "API"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens differ (-want +got):\n%s", diff)
	}
}
