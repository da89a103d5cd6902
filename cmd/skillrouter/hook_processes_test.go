package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"

	"skillrouter"
	"skillrouter/cache/files"
	"skillrouter/router"
)

// patience is how long a test waits for another process.
const patience = time.Minute

// waitLog waits until a line of the hook's log matches a pattern: what builds an
// index says so last of all.
func waitLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitlog PATTERN")
	}
	want := regexp.MustCompile(args[0])
	file := filepath.Join(ts.Getenv("HOME"), ".local", "state", "skillrouter", hookLogFile)
	for start := time.Now(); time.Since(start) < patience; time.Sleep(10 * time.Millisecond) {
		if data, err := os.ReadFile(file); err == nil && want.Match(data) {
			waitBuilds(ts.Fatalf, filepath.Dir(file))
			return
		}
	}
	ts.Fatalf("no line of the log matches %q", args[0])
}

// waitBuilds waits until no process builds an index.
func waitBuilds(fatalf func(string, ...any), state string) {
	locks, err := filepath.Glob(filepath.Join(state, "builds", "*.lock"))
	if err != nil {
		fatalf("%v", err)
	}
	for _, path := range locks {
		l := flock.New(path)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if _, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil {
			fatalf("%s: %v", path, err)
		}
		cancel()
		_ = l.Close()
	}
}

// holdLock locks the files named, says so and waits to be killed.
func holdLock() {
	for _, path := range os.Args[1:] {
		if ok, err := flock.New(path).TryLock(); !ok || err != nil {
			fmt.Fprintln(os.Stderr, "cannot lock", path, err)
			os.Exit(1)
		}
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A home is a user with skills, whose hook runs as a process of its own.
type home struct {
	t      *testing.T
	dir    string
	skills string
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir()}
	h.skills = filepath.Join(h.dir, "skills")
	for name, text := range map[string]string{
		"papers/pdf-text": "Extracts text from PDF files. Use when someone wants to read a scan.",
		"papers/pdf-join": "Joins PDF files. Use when several documents are to be one.",
		"post/mail-draft": "Drafts e-mails. Use when someone wants to write to a landlord or a colleague.",
		"post/mail-sort":  "Sorts the inbox. Use when there is too much unread mail.",
	} {
		path := filepath.Join(h.skills, filepath.FromSlash(name), "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text = "---\nname: " + filepath.Base(name) + "\ndescription: " + text + "\n---\nDo it.\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, talk, err := h.run(nil, "hook", "rebuild", "--skills", h.skills); err != nil {
		t.Fatalf("%v: %s%s", err, out, talk)
	}
	return h
}

// command is a process of this program.
func (h *home) command(name string, args ...string) *exec.Cmd {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(h.t.Context(), self)
	cmd.Args = append([]string{name}, args...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "HOME="+h.dir, "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=")
	return cmd
}

func (h *home) run(in io.Reader, args ...string) (out, talk string, err error) {
	h.t.Helper()
	cmd := h.command("skillrouter", args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

func (h *home) state(path ...string) string {
	return filepath.Join(append([]string{h.dir, ".local", "state", "skillrouter"}, path...)...)
}

func (h *home) log() string {
	data, err := os.ReadFile(h.state(hookLogFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	return string(data)
}

// turns is how many turns a session has had.
func (h *home) turns(session string) int {
	h.t.Helper()
	store, err := files.Open(h.state("sessions"), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := skillrouter.Open(h.t.Context(), &skillrouter.Options{Router: router.Options{Store: store}}, h.skills)
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()
	s, err := r.Session(session, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	state, err := s.State(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return state.Turn
}

func prompt(session, utterance string) io.Reader {
	data, _ := json.Marshal(map[string]string{"session": session, "utterance": utterance})
	return bytes.NewReader(data)
}

func TestConcurrentHooksLoseNoTurn(t *testing.T) {
	h := newHome(t)
	const processes = 8
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			out, talk, err := h.run(prompt("shared", "extract the text of this PDF"), "hook", "--skills", h.skills, "--format", "json", "--deadline", patience.String())
			if err != nil || talk != "" || !json.Valid([]byte(out)) {
				t.Errorf("process %d: %v, stderr %q, stdout %q", i, err, talk, out)
			}
		})
	}
	wg.Wait()
	if got := h.turns("shared"); got != processes {
		t.Errorf("%d turns are kept, want %d; the log:\n%s", got, processes, h.log())
	}
	for turn := 1; turn <= processes; turn++ {
		if n := strings.Count(h.log(), fmt.Sprintf(" turn=%d ", turn)); n != 1 {
			t.Errorf("turn %d was answered %d times", turn, n)
		}
	}
	if left, _ := filepath.Glob(h.state("sessions", ".*")); len(left) > 0 {
		t.Errorf("left beside the sessions: %v", left)
	}
}

// A process that hangs with the lock costs prompts their context, not the user
// his prompt; killed, it holds nobody up.
func TestHookBesideAHeldLock(t *testing.T) {
	h := newHome(t)
	ask := func() string {
		t.Helper()
		out, _, err := h.run(prompt("s", "extract the text of this PDF"), "hook", "--skills", h.skills, "--deadline", "8s") // a fourth of it for the lock
		if err != nil {
			t.Fatalf("status: %v", err)
		}
		return out
	}
	if ask() == "" {
		t.Fatalf("nothing was answered; the log:\n%s", h.log())
	}
	locks, err := filepath.Glob(h.state("sessions", "lock-*"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks: %v, %v", locks, err)
	}
	holder := h.command("holdlock", locks...)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("held\n"))); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "" {
		t.Errorf("while the lock is held: %q", got)
	}
	if want := "the session could not be kept"; !strings.Contains(h.log(), want) {
		t.Errorf("the log has no %q:\n%s", want, h.log())
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	ask()
	if got := h.turns("s"); got != 2 {
		t.Errorf("%d turns are kept, want 2: that of the held lock is lost, no other", got)
	}
}

// A futureStore keeps states as a later version of the program might.
type futureStore struct{ *files.Store }

func (s futureStore) Save(ctx context.Context, key string, _ []byte, revision uint64) (uint64, error) {
	return s.Store.Save(ctx, key, []byte(`{"v":99}`), revision)
}

// A session that another version of the program has kept begins anew.
func TestHookAfterAnUpdate(t *testing.T) {
	h := newHome(t)
	store, err := files.Open(h.state("sessions"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := skillrouter.Open(t.Context(), &skillrouter.Options{Router: router.Options{Store: futureStore{store}}}, h.skills)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := r.Session("s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Route(t.Context(), "draft an e-mail"); err != nil {
		t.Fatal(err)
	}
	out, _, err := h.run(prompt("s", "extract the text of this PDF"), "hook", "--skills", h.skills, "--deadline", "8s")
	if err != nil || !strings.Contains(out, "pdf-text") || h.turns("s") != 1 {
		t.Errorf("%v, %q, turn %d; the log:\n%s", err, out, h.turns("s"), h.log())
	}
}

// What no message can bring about: a client that keeps stdin open, and a fault
// of ours.
func TestHookOnFaultsWithin(t *testing.T) {
	for _, c := range []struct {
		name     string
		in       io.Reader
		deadline string
		want     string
	}{
		{"a client that keeps stdin open", blocking{t.Context()}, "50ms", "no answer within 50ms"},
		{"a panic", panicking{}, "1m", "panic: the reader broke at hook_processes_test.go:"},
		{"stdin that cannot be read", failingReader{}, "1m", "reading the client's message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var out, talk bytes.Buffer
			a := &app{in: c.in, out: &writer{w: &out}, err: &talk, env: func(name string) string { return map[string]string{"HOME": dir}[name] }}
			if status := a.main(t.Context(), []string{"hook", "--deadline", c.deadline}); status != 0 || out.Len() > 0 {
				t.Errorf("status %d, stdout %q", status, out.String())
			}
			log, err := os.ReadFile(filepath.Join(dir, ".local", "state", "skillrouter", hookLogFile))
			if err != nil || strings.Count(string(log), "\n") != 1 || !strings.Contains(string(log), c.want) {
				t.Errorf("want one line with %q in the log, got %v:\n%s", c.want, err, log)
			}
		})
	}
}

type blocking struct{ ctx context.Context }

func (b blocking) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("the reader broke") }

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, os.ErrClosed }

func TestLogIsBounded(t *testing.T) {
	path := logFile(filepath.Join(t.TempDir(), "state", "hook.log"))
	line := []byte(strings.Repeat("x", 999) + "\n")
	for range 3 * maxHookLog / len(line) {
		if _, err := path.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{string(path), string(path) + ".1"} {
		if info, err := os.Stat(p); err != nil || info.Size() > int64(maxHookLog+len(line)) {
			t.Errorf("%s: %v, %v", p, info, err)
		}
	}
	if got, err := path.tail(2); err != nil || len(got) != 2 || len(got[0]) != 999 {
		t.Errorf("tail: %d lines, %v", len(got), err)
	}
	long := []byte("text=" + strings.Repeat("字", maxHookLine) + "\n")
	if n, err := path.Write(long); err != nil || n != len(long) {
		t.Errorf("a long line: %d bytes, %v", n, err)
	}
	if got, err := path.tail(2); err != nil || len(got) != 2 || len(got[0]) != 999 || len(got[1]) > maxHookLine+len("…") || !utf8.ValidString(got[1]) || !strings.HasSuffix(got[1], "字…") {
		t.Errorf("tail after a long line: %d lines, %v", len(got), err)
	}
	if got, err := logFile(string(path) + ".none").tail(2); err != nil || len(got) != 0 {
		t.Errorf("tail of no log: %v, %v", got, err)
	}
	// Where nothing can be written nothing is said.
	if _, err := logFile(filepath.Join(string(path), "below", "hook.log")).Write(line); err == nil {
		t.Error("below a file: no error")
	}
}
