package definitions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitBody(t *testing.T) {
	tests := []struct{ name, body, core, extension string }{
		{"none", "a\nb\n", "a\nb\n", ""},
		{"one", "a\n<!-- extended -->\nb\n", "a\n", "b\n"},
		{"blanks and case", "a\n <!--Extended--> \nb", "a\n", "b"},
		{"at the end", "a\n<!-- extended -->", "a\n", ""},
		{"inside a line it is text", "a <!-- extended -->\nb\n", "a <!-- extended -->\nb\n", ""},
		{"inside a fence it is text", "```\n<!-- extended -->\n```\nb\n", "```\n<!-- extended -->\n```\nb\n", ""},
		{"the first counts", "a\n<!-- extended -->\nb\n<!-- extended -->\nc", "a\n", "b\n<!-- extended -->\nc"},
		{"a longer fence holds a shorter one", "````\n```\n<!-- extended -->\n````\n<!-- extended -->\nb", "````\n```\n<!-- extended -->\n````\n", "b"},
	}
	for _, test := range tests {
		if core, extension := splitBody(test.body); core != test.core || extension != test.extension {
			t.Errorf("%s: got %q and %q, want %q and %q", test.name, core, extension, test.core, test.extension)
		}
	}
}

func TestOutline(t *testing.T) {
	tests := []struct {
		name, body string
		want       outline
	}{
		{"empty", "", outline{}},
		{"lead over two lines, markup off", "# The *Title* #\n\nReads **rows** of\n[sheets](x.md) with `code`.\n\nMore.\n", outline{lead: "Reads rows of sheets with code.", headings: []string{"The Title"}}},
		{
			"lead after what is no prose",
			"---\nname: old\ndescription: x\n---\n<!-- a\nb -->\n# T\n\n![logo](x.png)\n[![badge](y)](z)\n| a | b |\n|---|---|\n\n```sh\nrun it\n```\n\n**Version**: 1\n**Tier**: 2\n\n<div>\n\n---\n\n> [!NOTE]\n> Quoted lead.\n",
			outline{lead: "Quoted lead.", headings: []string{"T"}},
		},
		{"a list for want of prose", "# T\n- [ ] first *item*\n  goes on\n- second\n", outline{lead: "first item goes on", headings: []string{"T"}}},
		{"levels and fences", "# 1\n## 2\n### 3\n#### 4\n```\n# no\n```\n#no\n", outline{lead: "#no", headings: []string{"1", "2", "3"}}},
		{
			"uses", "## When to Use\n\nUse this skill when:\n- reading `rows`\n* reading cells\n1. reading 3 sheets\n- ❌ writing\n- Do not chart\n\nAlso for tables. And for lists!\n\n### More\n- deep\n\n## Steps\n- step\n",
			outline{
				lead: "Use this skill when:", headings: []string{"When to Use", "More", "Steps"},
				uses: []string{"reading rows", "reading cells", "reading 3 sheets", "Also for tables.", "And for lists!", "deep"},
			},
		},
		{"when not to use", "# T\n\nLead.\n\n## When NOT to use\n- a\n\n## When to use\n- b\n### Do not use\n- c\n## 不适用场景\n- d\n", outline{lead: "Lead.", headings: []string{"T", "When NOT to use", "When to use", "Do not use", "不适用场景"}, uses: []string{"b"}}},
		{"Chinese", "# 表格\n\n读取表格。\n\n## 何时使用此技能\n- 用户要读取表格\n- 请勿用于图表\n\n## 触发词\n读表、取行\n", outline{lead: "读取表格。", headings: []string{"表格", "何时使用此技能", "触发词"}, uses: []string{"用户要读取表格", "读表、取行"}}},
		{"how to use is no use", "## How to use this skill\n- step\n", outline{lead: "step", headings: []string{"How to use this skill"}}},
		{"images and links in a line", "See ![shot](a.png) the [one](b) and [two]\n", outline{lead: "See  the one and [two]"}},
		{"words with underscores and lone stars", "snake_case and 2 * 3 and _this_ <b>bold</b> a < b\n", outline{lead: "snake_case and 2 * 3 and this bold a < b"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, outlineOf(test.body), cmp.AllowUnexported(outline{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutlineIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "## When to use %d\n- use %d\n", i, i)
	}
	o := outlineOf(b.String() + strings.Repeat("word ", 2000))
	if len(o.headings) != maxHeadings || len(o.uses) != maxUses {
		t.Errorf("%d headings, %d uses, want %d and %d", len(o.headings), len(o.uses), maxHeadings, maxUses)
	}
	if o = outlineOf(strings.Repeat("word ", 2000)); len(o.lead) == 0 || len(o.lead) > 2*maxLead {
		t.Errorf("lead of %d bytes", len(o.lead))
	}
}

func BenchmarkParse(b *testing.B) {
	o, err := complete(nil)
	if err != nil {
		b.Fatal(err)
	}
	data := []byte(skill("bench", "Reads rows, use when a sheet is bad.") + strings.Repeat("## When to use\n\n- a *line* of the `body`, 12 words long, that says nothing\n\nText and more text.\n", 100))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := parse(data, "bench", &o, &report{}); !ok {
			b.Fatal("refused")
		}
	}
}
