package main

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCommand is the command as a client starts it, on a small catalog.
func mcpCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pdf-text": "---\nname: pdf-text\ndescription: Extracts text from PDF files.\n---\nRun pdftotext.\n",
		"menu":     "---\nname: menu\ndescription: Plans meals for a week.\n---\nAsk who eats.\n",
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "skillrouter", append([]string{"mcp", "--no-cache", "--skills", dir}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	return cmd
}

// connectMCP connects the SDK's client.
func connectMCP(t testing.TB, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// callMCP calls a tool and returns what it says beside the text.
func callMCP(t testing.TB, c *mcp.ClientSession, tool string, args map[string]any) map[string]any {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || result.IsError {
		t.Fatalf("%s: %+v, %v", tool, result, err)
	}
	return result.StructuredContent.(map[string]any)
}

func TestMCPOverStdio(t *testing.T) {
	cmd := mcpCommand(t)
	c := connectMCP(t, &mcp.CommandTransport{Command: cmd})
	for _, want := range []any{1.0, 2.0} {
		if got := callMCP(t, c, "route", map[string]any{"utterance": "turn this PDF into text"})["turn"]; got != want {
			t.Errorf("turn %v, want %v", got, want)
		}
	}
	n := 0
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI}); err != nil {
			t.Error(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d resources, want 2", n)
	}
	if err := c.Close(); err != nil || !cmd.ProcessState.Success() {
		t.Errorf("end: %v, %v", err, cmd.ProcessState)
	}
}

// The log on stderr has what was said only on demand.
func TestMCPLog(t *testing.T) {
	for _, test := range []struct {
		flag        string
		calls, said bool
	}{{"--refresh=0s", false, false}, {"--verbose", true, false}, {"--log-utterances", true, true}} {
		var log bytes.Buffer
		cmd := mcpCommand(t, test.flag)
		cmd.Stderr = &log
		c := connectMCP(t, &mcp.CommandTransport{Command: cmd})
		callMCP(t, c, "route", map[string]any{"utterance": "turn this PDF into text"})
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if got := strings.Contains(log.String(), "tool=route"); got != test.calls {
			t.Errorf("%s: calls are logged: %v, want %v:\n%s", test.flag, got, test.calls, log.String())
		}
		if got := strings.Contains(log.String(), "PDF into text"); got != test.said {
			t.Errorf("%s: what was said is logged: %v, want %v:\n%s", test.flag, got, test.said, log.String())
		}
	}
}

// authorized sends a token with each request.
type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(a))
	return http.DefaultTransport.RoundTrip(r)
}

// The server is found where it says, wants its token, and ends with a signal.
func TestMCPOverHTTP(t *testing.T) {
	cmd := mcpCommand(t, "--http", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "SKILLROUTER_TOKEN=right")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	var url []string
	for url == nil && lines.Scan() {
		url = regexp.MustCompile(`^serving 2 skills at (http://127\.0\.0\.1:\d+/mcp)$`).FindStringSubmatch(lines.Text())
	}
	if url == nil {
		t.Fatal("the server does not say where it is")
	}
	c := connectMCP(t, &mcp.StreamableClientTransport{Endpoint: url[1], HTTPClient: &http.Client{Transport: authorized("right")}})
	if got := callMCP(t, c, "route", map[string]any{"utterance": "turn this PDF into text"})["turn"]; got != 1.0 {
		t.Errorf("turn %v", got)
	}
	response, err := http.Get(url[1])
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", response.Status)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until it has ended
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("end: %v", err)
	}
}

// One route after the other, of a process that a client started.
func BenchmarkMCPOverStdio(b *testing.B) {
	c := connectMCP(b, &mcp.CommandTransport{Command: mcpCommand(b)})
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		callMCP(b, c, "route", map[string]any{"utterance": "turn this PDF into text"})
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	if err := c.Close(); err != nil {
		b.Error(err)
	}
}
