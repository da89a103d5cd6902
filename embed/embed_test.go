package embed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/internal/text"
)

// newTest returns the built-in embedder.
func newTest(tb testing.TB) *Static {
	tb.Helper()
	e, err := New()
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	return e
}

func TestIdentity(t *testing.T) {
	e := newTest(t)
	if got, want := e.ID(), "static-en-zh-1/256"; got != want {
		t.Errorf("ID() = %q, want %q", got, want)
	}
	if got, want := e.Dim(), 256; got != want {
		t.Errorf("Dim() = %d, want %d", got, want)
	}
}

// goldenRow is one text with what the Python reference makes of it.
type goldenRow struct {
	Text   string    `json:"text"`
	Tokens []int     `json:"tokens"`
	Vector []float32 `json:"vector"` // rounded to six decimals
}

func readGolden(tb testing.TB) []goldenRow {
	tb.Helper()
	f, err := os.Open("testdata/golden.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var rows []goldenRow
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row goldenRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			tb.Fatalf("testdata/golden.jsonl:%d: %v", len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return rows
}

func TestGolden(t *testing.T) {
	e := newTest(t)
	rows := readGolden(t)
	if len(rows) != 77 {
		t.Fatalf("testdata/golden.jsonl has %d rows, want 77", len(rows))
	}
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = row.Text
	}
	vectors, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatalf("Embed: %v", err)
	}
	same := 0
	for i, row := range rows {
		if traditional(row.Text) {
			continue // the reference does not simplify them
		}
		same++
		if diff := cmp.Diff(row.Tokens, e.Tokens(row.Text)); diff != "" {
			t.Errorf("Tokens(%q) (-want +got):\n%s", row.Text, diff)
		}
		if got := largestDifference(vectors[i], row.Vector); got > 2e-6 {
			t.Errorf("Embed(%q) is off by up to %g, want at most 2e-6", row.Text, got)
		}
	}
	if same < len(rows)-5 {
		t.Errorf("only %d of %d rows were compared", same, len(rows))
	}
}

// traditional tells whether s holds a traditional Chinese character.
func traditional(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return text.IsHan(r) && text.Fold(string(r)) != string(r) })
}

func TestTraditionalEmbedsAsSimplified(t *testing.T) {
	e := newTest(t)
	for traditional, simplified := range map[string]string{
		"幫我審查這個合併請求":  "帮我审查这个合并请求",
		"請問明天臺北會不會下雨": "请问明天台北会不会下雨",
	} {
		if diff := cmp.Diff(e.AppendEmbed(nil, simplified), e.AppendEmbed(nil, traditional)); diff != "" {
			t.Errorf("%s and %s differ", traditional, simplified)
		}
	}
}

// largestDifference returns the largest absolute difference of a dimension, and
// infinity for vectors of different lengths.
func largestDifference(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	largest := 0.0
	for i := range a {
		largest = max(largest, math.Abs(float64(a[i])-float64(b[i])))
	}
	return largest
}

func TestEmbed(t *testing.T) {
	e := newTest(t)
	t.Run("no texts", func(t *testing.T) {
		got, err := e.Embed(context.Background(), nil)
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("Embed(nil) = %v, %v, want an empty slice and no error", got, err)
		}
	})
	t.Run("nothing known is zeros", func(t *testing.T) {
		for _, s := range []string{"", " \n", "?!", "ｶﾀｶﾅ", "\xff\xfe", "🚀"} {
			got, err := e.Embed(context.Background(), []string{s})
			if err != nil {
				t.Fatalf("Embed(%q): %v", s, err)
			}
			if diff := cmp.Diff([][]float32{make([]float32, 256)}, got); diff != "" {
				t.Errorf("Embed(%q) (-want +got):\n%s", s, diff)
			}
		}
	})
	t.Run("vectors cannot grow into one another", func(t *testing.T) {
		got, err := e.Embed(context.Background(), []string{"refund", "invoice"})
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(got[1])
		_ = append(got[0], 1)
		if diff := cmp.Diff(want, got[1]); diff != "" {
			t.Errorf("appending to the first vector changed the second (-want +got):\n%s", diff)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if got, err := e.Embed(ctx, []string{"refund"}); !errors.Is(err, context.Canceled) {
			t.Errorf("Embed = %v, %v, want context.Canceled", got, err)
		}
	})
}

func TestAppendEmbed(t *testing.T) {
	e := newTest(t)
	prefix := []float32{1, 2}
	got := e.AppendEmbed(slices.Clone(prefix), "book a flight")
	if len(got) != 2+256 {
		t.Fatalf("AppendEmbed after 2 values gives %d, want %d", len(got), 2+256)
	}
	if diff := cmp.Diff(prefix, got[:2]); diff != "" {
		t.Errorf("AppendEmbed changed what was there (-want +got):\n%s", diff)
	}
	want, err := e.Embed(context.Background(), []string{"book a flight"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[0], got[2:]); diff != "" {
		t.Errorf("AppendEmbed and Embed differ (-Embed +AppendEmbed):\n%s", diff)
	}
}

func TestAppendEmbedDoesNotAllocate(t *testing.T) {
	e := newTest(t)
	dst := make([]float32, 0, 256)
	for _, s := range []string{english, chinese, "naïve ＣＡＦＥ，don’t 한국", strings.Repeat("refund ", 100)} {
		if got := testing.AllocsPerRun(50, func() { dst = e.AppendEmbed(dst[:0], s) }); got != 0 {
			t.Errorf("AppendEmbed(%.40q) allocates %v times, want 0", s, got)
		}
	}
}

// What the table is for: an utterance is nearer to the skill that it means, in
// its own language and in the other.
func TestNearness(t *testing.T) {
	e := newTest(t)
	for _, c := range []struct{ utterance, near, far string }{
		{"I want my money back for this order", "refund a purchase", "weather forecast"},
		{"will it rain tomorrow in Paris", "weather forecast", "refund a purchase"},
		{"明天会下雨吗", "天气预报", "退款申请"},
		{"明天会下雨吗", "weather forecast", "refund a purchase"},
		{"帮我把 PDF 转成 Word", "convert documents", "book a flight"},
	} {
		u := e.AppendEmbed(nil, c.utterance)
		near, far := dot(u, e.AppendEmbed(nil, c.near)), dot(u, e.AppendEmbed(nil, c.far))
		if near <= far {
			t.Errorf("%q: similarity to %q is %.3f, to %q %.3f; want the first larger", c.utterance, c.near, near, c.far, far)
		}
	}
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestNewStaticRefuses(t *testing.T) {
	// Two tokens with the scales 1 and 1.
	good := strings.Repeat("\x88", 2*rowBytes) + "\x00\x3c\x00\x3c"
	if _, err := newStatic(good, "ok\nfine"); err != nil {
		t.Fatalf("newStatic of a good table: %v", err)
	}
	for _, c := range []struct{ name, rows, words, want string }{
		{"short table", good[1:], "ok\nfine", "table.bin has 259 bytes, but the 2 tokens of vocab.txt take 260"},
		{"one word more", good, "ok\nfine\nwell", "3 tokens of vocab.txt take 390"},
		{"line end after the last word", good, "ok\nfine\n", "vocab.txt:3"},
		{"negative scale", good[:258] + "\x00\xbc", "ok\nfine", "the scale of row 1 is -1"},
		{"scale not a number", good[:258] + "\x01\x7e", "ok\nfine", "the scale of row 1 is NaN"},
		{"capital letter", good, "ok\nFine", `vocab.txt:2: "Fine"`},
		{"both scripts", good, "ok\na中", "vocab.txt:2"},
		{"Chinese piece", good, "ok\n##中", "vocab.txt:2"},
		{"five characters", good, "ok\n中中中中中", "vocab.txt:2"},
		{"nineteen letters", good, "ok\n" + strings.Repeat("a", 19), "vocab.txt:2"},
		{"Chinese in two places", good, "中\nok\n文", "vocab.txt:3"},
		{"too many", good, strings.Repeat("a\n", 1<<16), "at most 65535"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newStatic(c.rows, c.words)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("newStatic: %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestFromHalf(t *testing.T) {
	for half, want := range map[uint16]float32{
		0x0000: 0, 0x3C00: 1, 0xC000: -2, 0x3555: 0.33325195, 0x7BFF: 65504,
		0x0400: 0x1p-14, 0x0001: 0x1p-24, 0x83FF: -1023 * 0x1p-24, 0x7C00: float32(math.Inf(1)),
	} {
		if got := fromHalf(half); got != want {
			t.Errorf("fromHalf(%#04x) = %v, want %v", half, got, want)
		}
	}
	if got := fromHalf(0x7E00); got == got {
		t.Errorf("fromHalf(0x7e00) = %v, want NaN", got)
	}
}
