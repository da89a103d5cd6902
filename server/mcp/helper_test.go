package mcp

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter"
	"skillrouter/index"
	"skillrouter/router"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// files are a catalog of two domains, by path.
var files = map[string]string{
	"files/pdf-text/SKILL.md":     "---\nname: pdf-text\ndescription: Extracts text from PDF files.\nmetadata:\n  triggers: [turn this PDF into text, read this PDF]\n---\n# PDF text\n\nRun pdftotext.\n<!-- extended -->\nExample: pdftotext in.pdf\n",
	"files/pdf-text/guide.md":     "How to read scans.\n",
	"files/pdf-text/refs/a b.txt": "Codes of languages. </skill>\n",
	"files/pdf-text/logo.png":     "\x89PNG\x00\x00",
	"files/pdf-merge/SKILL.md":    "---\nname: pdf-merge\ndescription: Merges and splits PDF files.\nmetadata:\n  triggers: [merge these PDFs, split this PDF]\n---\nRun qpdf.\n",
	"cooking/menu/SKILL.md":       "---\nname: menu\ndescription: Plans meals for a week.\nmetadata:\n  triggers: [what shall we eat this week, plan our meals]\n---\nAsk who eats.\n",
	"cooking/odd/SKILL.md":        "---\nname: Süße Rezepte 50%\ndescription: Finds recipes of desserts.\nmetadata:\n  triggers: [bake a cake, a recipe for dessert]\n---\nSearch.\n",
	"cooking/chinese/SKILL.md":    "---\nname: 中餐菜谱\ndescription: 查找中餐菜谱。\nmetadata:\n  triggers: [红烧肉怎么做, 找个菜谱]\n---\n查。\n",
	"files/wipe/SKILL.md":         "---\nname: wipe-disk\ndescription: Wipes a disk.\ndisable-model-invocation: true\n---\nNever by yourself.\n",
}

// folder writes a catalog.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, text)
	}
	return dir
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// serve returns a server of a folder, in layers, that is closed with the test.
func serve(t testing.TB, dir string, opts Options, e index.Embedder) *Server {
	t.Helper()
	r, err := skillrouter.Open(t.Context(), &skillrouter.Options{
		Router: router.Options{Mode: router.Layered, EmbedTimeout: -1}, Embedder: e,
	}, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if opts.Refresh == 0 {
		opts.Refresh = -1
	}
	s, err := New(r.Router, &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// protocols are that of sessions, and the one without them.
var protocols = []string{"2025-11-25", "2026-07-28"}

// connect connects a client in memory.
func connect(t testing.TB, s *Server, protocol string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	if _, err := s.sdk.Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	return dial(t, theirs, protocol, opts)
}

func dial(t testing.TB, transport sdk.Transport, protocol string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts)
	c, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A said is what a tool answered.
type said struct {
	Failed bool
	Text   string
	More   map[string]any // the structured content, without the text
}

// ask calls a tool. That text and structured content say the same is checked.
func ask(t testing.TB, c *sdk.ClientSession, tool string, args any) said {
	t.Helper()
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s(%v): %v", tool, args, err)
	}
	out := said{Failed: result.IsError, Text: result.Content[0].(*sdk.TextContent).Text}
	if !out.Failed {
		out.More = result.StructuredContent.(map[string]any)
		if got := out.More["text"]; got != out.Text {
			t.Errorf("%s: the structured text is %q, the content %q", tool, got, out.Text)
		}
		delete(out.More, "text")
	}
	return out
}

// object is JSON as a Go value.
type object = map[string]any

func (s said) String() string {
	more, err := json.Marshal(s.More)
	if err != nil {
		return err.Error()
	}
	if s.Failed {
		return "FAILED " + s.Text
	}
	return s.Text + "\n" + string(more)
}

// within waits for what is sent.
func within[T any](t testing.TB, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("no %s came", what)
	}
	return v
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update rewrites it. Got:\n%s", path, got)
	}
}

// blocking is an embedder that waits for the end of its context, once told to.
type blocking struct {
	index.Embedder
	on      chan struct{} // closed: from now on
	waiting chan struct{} // told of each call that waits
	ended   chan error
}

func (b *blocking) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case <-b.on:
		b.waiting <- struct{}{}
		<-ctx.Done()
		b.ended <- ctx.Err()
		return nil, ctx.Err()
	default:
		return b.Embedder.Embed(ctx, texts)
	}
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}

func contextWith(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

func ignoreList(context.Context, *sdk.ResourceListChangedRequest) {}

// A lockedBuilder is a log that many write.
type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type discardCloser struct{ io.Writer }

func (discardCloser) Close() error { return nil }
