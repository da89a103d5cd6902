package domains

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// domainsOf makes domains of so many skills each.
func domainsOf(sizes ...int) []Domain {
	var out []Domain
	for i, n := range sizes {
		d := Domain{Name: "Kind " + string(rune('A'+i)), Description: "things"}
		for j := range n {
			d.Members = append(d.Members, fmt.Sprintf("%c-%d", 'a'+i, j))
		}
		out = append(out, d)
	}
	return out
}

func TestCheck(t *testing.T) {
	fine := []int{5, 15, 10, 6, 7, 8, 9, 10}
	tests := map[string]struct {
		domains []Domain
		options *CheckOptions
		want    []string // kinds
	}{
		"fine":                           {domains: domainsOf(fine...)},
		"no domains":                     {},
		"too small and too large":        {domains: domainsOf(4, 16, 5, 5, 5, 5, 5, 5), want: []string{"small-domain", "large-domain"}},
		"too few domains":                {domains: domainsOf(10, 10, 10, 10), want: []string{"few-domains"}},
		"few because the catalog is":     {domains: domainsOf(5, 5), want: []string{"few-domains"}},
		"too many domains":               {domains: domainsOf(slices.Repeat([]int{5}, 16)...), want: []string{"many-domains"}},
		"more skills than domains hold":  {domains: domainsOf(slices.Repeat([]int{15}, 16)...), want: []string{"many-domains"}},
		"tools and no tools":             {domains: domainsOf(15, 15, 15)[:2], want: []string{"few-domains"}},
		"one domain for all":             {domains: domainsOf(40), want: []string{"too-coarse", "large-domain"}},
		"one domain a skill":             {domains: domainsOf(1, 1, 1, 2), want: []string{"too-fine", "small-domain", "small-domain", "small-domain", "small-domain"}},
		"unassigned":                     {domains: append(domainsOf(fine...), Domain{Name: Unassigned, Members: []string{"x"}}), want: []string{"unassigned"}},
		"unassigned and empty":           {domains: append(domainsOf(fine...), Domain{Name: Unassigned, Manual: []string{"x"}})},
		"manual only":                    {domains: append(domainsOf(fine...), Domain{Name: "By name", Description: "things", Manual: []string{"x"}}), want: []string{"manual-only"}},
		"without skills":                 {domains: append(domainsOf(fine...), Domain{Name: "Nothing", Description: "things"}), want: []string{"empty-domain"}},
		"without description":            {domains: append(domainsOf(fine...), Domain{Name: "Silent", Members: strings.Fields("a b c d e")}), want: []string{"no-description"}},
		"jargon":                         {domains: append(domainsOf(fine...), Domain{Name: "NLP 工具集", Description: "things", Members: strings.Fields("a b c d e")}), want: []string{"jargon", "jargon"}},
		"an index that is too long":      {domains: domainsOf(fine...), options: &CheckOptions{IndexLimit: 40}, want: []string{"long-index"}},
		"an index of any length":         {domains: domainsOf(fine...), options: &CheckOptions{IndexLimit: -1}},
		"a member that is not there":     {domains: []Domain{{Name: "Kind", Description: "things", Members: strings.Fields("weather-now stock-quote parcel-track news-lookup gone")}}, options: &CheckOptions{Items: queries()}, want: []string{"few-domains", "unknown-member"}},
		"a skill in two domains is once": {domains: append(domainsOf(9, 9, 9)[:2], Domain{Name: "Both", Description: "things", Members: domainsOf(9)[0].Members}), want: []string{"few-domains"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Check(test.domains, test.options) {
				got = append(got, f.Kind)
				if f.What == "" || f.Fix == "" || f.Domain != "" && !strings.Contains(f.What, f.Domain) && f.Kind != "unassigned" {
					t.Errorf("finding without what, fix or domain: %+v", f)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kinds differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckSaysHow(t *testing.T) {
	items := queries()
	names := func(from, to int) (out []string) {
		for _, it := range items[from:to] {
			out = append(out, it.Name)
		}
		return out
	}
	ds := []Domain{
		{Name: "Text", Description: "texts", Members: names(5, 8)},
		{Name: "Rewriting", Description: "texts", Members: names(8, 10)},
		{Name: "Files", Description: "files", Members: names(10, 15)},
		{Name: "All", Description: "all", Members: names(0, 20)},
	}
	fixes := make(map[string]string)
	for _, f := range Check(ds, &CheckOptions{Items: items}) {
		fixes[f.Domain] = f.Fix
	}
	if fix := fixes["Text"]; !strings.Contains(fix, `"Rewriting"`) {
		t.Errorf("Text is to be merged so: %q, want into Rewriting", fix)
	}
	if fix := fixes["All"]; strings.Count(fix, `"All / `) != 2 {
		t.Errorf("All is to be split so: %q, want two named halves", fix)
	}
}

func TestSplitWithLongNames(t *testing.T) {
	long := strings.Repeat("long name ", 6)
	seen := make(map[string]bool)
	for _, d := range Split(long, queries()).Domains {
		if n := len([]rune(d.Name)); n > maxName || seen[d.Name] || !strings.HasPrefix(d.Name, "long name") {
			t.Errorf("part %q has %d runes, is taken, or does not begin with the old name", d.Name, n)
		}
		seen[d.Name] = true
	}
}
