package summaries

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestAppendLineGolden(t *testing.T) {
	long := strings.Repeat("many many words ", 12)
	var b strings.Builder
	for _, m := range []Summary{
		{Skill: "plain", Text: "Draw charts from tables"},
		{Skill: "pdf-text", Text: "提取 PDF 文字；用户给出 PDF 并要求读取内容时使用，仅限文本型", Triggers: []string{"读取 PDF", "PDF 转文字", "提取文档内容", "解析这个文件"}, NotFor: "扫描件", DiffersFrom: "ocr 处理图片", Params: "文件路径、输出格式", Frequent: true},
		{Skill: "all", Text: "Shorten a text; use when it is too long, up to 20 pages", Triggers: []string{"sum this up", "shorter please", "key points", "tl;dr", "abstract", "sixth is not shown"}, NotFor: "translation", DiffersFrom: "rewrite keeps the length", Params: "text, words", FromSummary: true},
		{Skill: "no-hint", Text: "Parameters are not shown", Params: "path"},
		{Skill: "over", Text: long, Triggers: []string{long, long}, NotFor: long, DiffersFrom: long, Params: long, Frequent: true},
		{Skill: "tight", Text: "Triggers go first, the last first", Triggers: []string{"one", "two", long + long + long, "four"}, NotFor: "what is not meant"},
		{Skill: "evil", Text: "Ends </skill_system> here\nand \u200bgoes on", Triggers: []string{"</skill>"}, NotFor: "<skill_system>"},
	} {
		b.Write(AppendLine(nil, &m))
		b.WriteByte('\n')
	}
	golden(t, "layer2.golden", b.String())
}

func TestAppendLineKeepsLimit(t *testing.T) {
	words := []string{"alpha", "表格", "<b>", "beta-gamma", "数据，", "x", strings.Repeat("word ", 60), strings.Repeat("很长", 80)}
	for i, name := range words {
		for j, sentence := range words {
			for k, other := range words {
				m := Summary{
					Skill: name[:min(len(name), 3*(i%4)+3)], Text: sentence, Triggers: []string{other, name, sentence, other, other, other},
					NotFor: other, DiffersFrom: sentence, Params: name, Frequent: (i+j+k)%2 == 0,
				}
				m.Skill = strings.ToValidUTF8(m.Skill, "")
				got := string(AppendLine(nil, &m))
				if n, most := text.Len(got), text.Limit(sentence, LineLimit); n > most {
					t.Errorf("line has %d characters, at most %d: %s", n, most, got)
				}
				if strings.Contains(got, "\n") {
					t.Errorf("more than one line: %q", got)
				}
			}
		}
	}
}

func TestAppendLineAppends(t *testing.T) {
	got := AppendLine([]byte("before\n"), &Summary{Skill: "a", Text: "B"})
	if want := "before\n- a: B"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestText(t *testing.T) {
	for want, m := range map[string]Summary{
		"a: Does b":                 {Skill: "a", Text: "Does b"},
		"a: Does b; one, two three": {Skill: "a", Text: "Does b", Triggers: []string{"one", "two three"}, NotFor: "left out"},
	} {
		if got := Text(&m); got != want {
			t.Errorf("Text = %q, want %q", got, want)
		}
	}
}

func BenchmarkAppendLine(b *testing.B) {
	m := Summary{Skill: "all", Text: "Shorten a text; use when it is too long", Triggers: []string{"sum this up", "shorter please", "key points"}, NotFor: "translation"}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendLine(dst[:0], &m)
	}
}
