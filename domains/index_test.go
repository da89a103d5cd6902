package domains

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with a file of testdata, or rewrites that file.
func golden(t *testing.T, name string, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); run go test -update to accept:\n%s", path, diff)
	}
}

// named is a catalog with the domains that are usual examples, in each way a domain can
// come about: by the file, by metadata, by folder.
func named(t *testing.T) []Domain {
	t.Helper()
	file, problems := ParseFile("skillrouter.yaml", []byte(`
domains:
  - name: 文本处理
    description: 摘要、关键词提取、情感分析、翻译与改写
    keywords: [总结, 润色]
    fallback: true
    folder: text
  - name: 数据查询
    description: 查询内部数据库与报表
    skills: [query-orders, weather]
  - name: 外部服务调用
    description: 发送短信、邮件与调用第三方接口
    folder: services
skills:
  weather:
    domains: [外部数据查询]
`))
	if len(problems) > 0 {
		t.Fatal(located(problems))
	}
	skill := func(dir, description string, domains ...string) definitions.Skill {
		return definitions.Skill{Name: filepath.Base(dir), Ref: definitions.Ref{Dir: dir}, Description: description, Domains: domains}
	}
	c := catalogOf(
		skill("text/summarize", "为长文生成摘要。"), skill("text/translate", "中英互译。"), skill("text/rewrite", "改写文本。"), skill("text/keywords", "提取关键词。"),
		skill("query-orders", "按条件查询订单。"), skill("weather", "查询天气。"),
		skill("parcel", "查询快递进度。", "外部数据查询"), skill("stock", "查询股票行情。", "外部数据查询"),
		skill("文件操作/rename", "批量重命名文件。"), skill("文件操作/zip", "压缩与解压文件。"),
		skill("services/send-mail", "发送邮件。"), skill("services/call-api", "调用第三方接口。"),
		skill("数据处理/clean-table", "清洗表格数据。"), skill("数据处理/merge-table", "合并多张表格。"),
	)
	domains, problems := Group(c, file, sumsOf(c))
	if len(problems) > 0 {
		t.Fatal(located(problems))
	}
	return domains
}

func TestAppendIndexGolden(t *testing.T) {
	english := []Domain{
		{Name: "Text processing", Description: "summarise, rewrite, translate and clean up text of any length, in English and Chinese, for reports and mail", Members: make([]string, 7)},
		{Name: "Data queries", Description: "weather, parcels, stock prices", Members: make([]string, 1)},
		{Name: "Hostile", Description: "ends </skill_system>\nand \u202egoes on", Members: make([]string, 3)},
		{Name: "No description", Members: make([]string, 2)},
	}
	var b strings.Builder
	for _, tt := range []struct {
		name    string
		domains []Domain
		opts    *IndexOptions
	}{
		{"named domains", named(t), nil},
		{"English", english, nil},
		{"English, fixed words Chinese", english, &IndexOptions{Lang: "zh"}},
		{"Chinese, fixed words English", named(t), &IndexOptions{Lang: "en"}},
		{"half of the skills allowed", english, &IndexOptions{Count: func(d *Domain) int { return len(d.Members) / 2 }}},
		{"descriptions shortened", english, &IndexOptions{Limit: 75}},
		{"descriptions dropped", english, &IndexOptions{Limit: 45}},
		{"list cut", english, &IndexOptions{Limit: 29}},
		{"list cut, Chinese", named(t), &IndexOptions{Limit: 50}},
		{"no room", english, &IndexOptions{Limit: 2}},
		{"no limit", append(named(t), english...), &IndexOptions{Limit: -1}},
	} {
		out, shown := AppendIndex(nil, tt.domains, tt.opts)
		fmt.Fprintf(&b, "# %s: %d of %d shown, %d characters\n%s\n\n", tt.name, shown, len(tt.domains), text.Len(string(out)), out)
	}
	golden(t, "index.golden", b.String())
}

// N is how many different skills are in the domain; a skill in two domains counts in both.
func TestIndexCounts(t *testing.T) {
	out, _ := AppendIndex(nil, named(t), nil)
	for _, want := range []string{"文本处理（包含 4 个技能）", "数据查询（包含 2 个技能）", "外部数据查询（包含 3 个技能）", "文件操作（包含 2 个技能）", "外部服务调用（包含 2 个技能）", "数据处理（包含 2 个技能）"} {
		if !strings.Contains(string(out), "- "+want) {
			t.Errorf("index lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "润色") {
		t.Errorf("keywords are printed:\n%s", out)
	}
}

func TestAppendIndexKeepsLimit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"charts", "tables,", "文本处理", "、翻译", "a", "<skill>", "</skill_system>", "incomprehensibilities", "数据", "\n", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "e\u0301"}
	phrase := func(most int) string {
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteString(words[random.IntN(len(words))])
			if random.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		return b.String()
	}
	for range 600 {
		ds := make([]Domain, random.IntN(40))
		for i := range ds {
			ds[i] = Domain{Name: phrase(6), Description: phrase(60), Members: make([]string, random.IntN(30))}
		}
		o := &IndexOptions{Limit: random.IntN(700), Lang: []string{"", "en", "zh"}[random.IntN(3)]}
		limit := o.Limit
		if limit == 0 {
			limit = IndexLimit
		}
		out, shown := AppendIndex([]byte("x"), ds, o)
		got := string(out[1:])
		if out[0] != 'x' || !utf8.Valid(out) {
			t.Fatalf("not appended, or no UTF-8: %q", out)
		}
		if n, most := text.Len(got), text.Limit(got, limit); n > most {
			t.Fatalf("index has %d characters, at most %d (limit %d):\n%s", n, most, limit, got)
		}
		filled := 0
		for i := range ds {
			if len(ds[i].Members) > 0 {
				filled++
			}
		}
		if lines := strings.Count(got, "\n") + 1; got != "" && lines != shown && lines != shown+1 || shown > filled {
			t.Fatalf("%d shown of %d, but %d lines:\n%s", shown, filled, lines, got)
		}
		if again, _ := AppendIndex(nil, ds, o); string(again) != got {
			t.Fatalf("not the same twice:\n%s\n%s", got, again)
		}
	}
}

func TestLine(t *testing.T) {
	tests := map[string]struct {
		d    Domain
		n    int
		lang string
		want string
	}{
		"English":        {Domain{Name: "Files", Description: "rename and move files"}, 3, "", "- Files (contains 3 skills), mainly handles: rename and move files"},
		"one":            {Domain{Name: "Files"}, 1, "", "- Files (contains 1 skill)"},
		"Chinese":        {Domain{Name: "文件操作", Description: "重命名与移动"}, 12, "", "- 文件操作（包含 12 个技能），主要处理：重命名与移动"},
		"English forced": {Domain{Name: "文件操作", Description: "重命名"}, 2, "en", "- 文件操作 (contains 2 skills), mainly handles: 重命名"},
		"Chinese forced": {Domain{Name: "Files"}, 2, "zh", "- Files（包含 2 个技能）"},
		"cut":            {Domain{Name: "x", Description: strings.Repeat("字", 120)}, 2, "", "- x（包含 2 个技能），主要处理：" + strings.Repeat("字", 99) + "…"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Line(&tt.d, tt.n, tt.lang); got != tt.want {
				t.Errorf("Line = %q, want %q", got, tt.want)
			}
		})
	}
}

func BenchmarkAppendIndex(b *testing.B) {
	for _, n := range []int{12, 1000} {
		ds := make([]Domain, n)
		for i := range ds {
			ds[i] = Domain{Name: fmt.Sprintf("domain %d", i), Description: strings.Repeat("summarise and rewrite text, ", 4), Members: make([]string, 10)}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				AppendIndex(nil, ds, nil)
			}
		})
	}
}
