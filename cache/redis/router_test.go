package redis_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter/cache/redis"
	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/examples"
	"skillrouter/index"
	"skillrouter/router"
)

// Utterances for the example catalog; the second follows the first.
const (
	office = "write an email to decline the offer"
	follow = "go on"
)

// catalog is the example catalog, indexed once.
var catalog = sync.OnceValues(func() (*index.Index, error) {
	c, err := definitions.Load(context.Background(), []definitions.Root{{Path: "examples", FS: examples.Catalog()}}, nil)
	if err != nil {
		return nil, err
	}
	e, err := embedder()
	if err != nil {
		return nil, err
	}
	return index.Build(context.Background(), c, e, nil)
})

var embedder = sync.OnceValues(embed.New)

// newRouter returns a router as another process has it: it shares the store
// with others and, to save time, the catalog, which does not change.
func newRouter(t *testing.T, store router.SessionStore) *router.Router {
	t.Helper()
	ix, err := catalog()
	if err != nil {
		t.Fatal(err)
	}
	e, err := embedder()
	if err != nil {
		t.Fatal(err)
	}
	r, err := router.New(ix, e, &router.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newSession(t *testing.T, store router.SessionStore) *router.Session {
	t.Helper()
	return sessionOf(t, newRouter(t, store), t.Name())
}

func sessionOf(t *testing.T, r *router.Router, id string) *router.Session {
	t.Helper()
	s, err := r.Session(id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func say(t *testing.T, s *router.Session, utterance string) *router.Route {
	t.Helper()
	x, err := s.Route(t.Context(), utterance)
	if err != nil {
		t.Fatalf("Route(%q): %v", utterance, err)
	}
	return x
}

func load(t *testing.T, s *router.Session, skill string) {
	t.Helper()
	if _, err := s.Load(t.Context(), skill); err != nil {
		t.Fatalf("Load(%q): %v", skill, err)
	}
}

func stateOf(t *testing.T, s *router.Session) router.State {
	t.Helper()
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatalf("State: %v", err)
	}
	return st
}

func promptOf(t *testing.T, s *router.Session) string {
	t.Helper()
	p, err := s.Prompt(t.Context())
	if err != nil {
		t.Fatalf("Prompt: %v", err)
	}
	return p
}

// Another process goes on where this one was.
func TestResume(t *testing.T) {
	store := start(t).open(redis.Options{})
	s := newSession(t, store)
	say(t, s, office)
	load(t, s, "email-draft")
	want, prompt := stateOf(t, s), promptOf(t, s)

	after := newSession(t, store)
	got := stateOf(t, after)
	got.Summaries, got.Definitions = want.Summaries, want.Definitions // counted from when it was read
	if diff := cmp.Diff(want, got) + cmp.Diff(prompt, promptOf(t, after)); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
	if x := say(t, after, follow); x.Turn != 2 || x.Prompt() != prompt || x.Unsaved || x.Fresh {
		t.Errorf("after a restart: turn %d, unsaved %v, fresh %v, prompt (-want +got):\n%s", x.Turn, x.Unsaved, x.Fresh, cmp.Diff(prompt, x.Prompt()))
	}
	if x := say(t, s, follow); x.Turn != 3 || x.Prompt() != prompt {
		t.Errorf("in the first again: turn %d", x.Turn)
	}
}

// A server that is killed in the middle of a dialogue fails no turn, and has
// the session when it is back, though it kept nothing itself.
func TestServerKilled(t *testing.T) {
	srv := start(t)
	store := srv.open(redis.Options{})
	s := newSession(t, store)
	say(t, s, office)
	load(t, s, "email-draft")
	prompt := promptOf(t, s)

	srv.kill()
	if x := say(t, s, follow); x.Turn != 2 || !x.Unsaved || x.Fresh || x.Prompt() != prompt {
		t.Errorf("without a server: turn %d, unsaved %v, fresh %v, prompt (-want +got):\n%s", x.Turn, x.Unsaved, x.Fresh, cmp.Diff(prompt, x.Prompt()))
	}
	load(t, s, "weekly-report")
	other := newSession(t, store)
	if x := say(t, other, office); x.Turn != 1 || !x.Unsaved || !x.Fresh || len(x.Summaries) == 0 {
		t.Errorf("where the session is not known: turn %d, unsaved %v, fresh %v, %d summaries", x.Turn, x.Unsaved, x.Fresh, len(x.Summaries))
	}

	srv.restart()
	if x := say(t, s, follow); x.Turn != 3 || x.Unsaved || x.Fresh || len(x.Loaded) != 2 {
		t.Errorf("with a server again: turn %d, unsaved %v, fresh %v, %d definitions", x.Turn, x.Unsaved, x.Fresh, len(x.Loaded))
	}
	if x := say(t, newSession(t, store), follow); x.Turn != 4 || x.Unsaved || len(x.Loaded) != 2 {
		t.Errorf("in another process: turn %d, unsaved %v, %d definitions", x.Turn, x.Unsaved, len(x.Loaded))
	}
	// What was begun without knowing of the session gives way to it.
	x := say(t, other, follow)
	if x.Turn != 5 || x.Unsaved || x.Fresh || len(x.Loaded) != 2 || x.Events[0].Rule != "dropped" {
		t.Errorf("where the session was not known: turn %d, unsaved %v, fresh %v, %d definitions, first event %q", x.Turn, x.Unsaved, x.Fresh, len(x.Loaded), x.Events[0].Rule)
	}
}

// A server that hangs, and may yet do what it was asked, loses and doubles nothing.
func TestServerHangs(t *testing.T) {
	srv := start(t)
	store := srv.open(redis.Options{Timeout: 500 * time.Millisecond})
	s := newSession(t, store)
	say(t, s, office)
	srv.signal(syscall.SIGSTOP)
	for turn := 2; turn <= 3; turn++ {
		if x := say(t, s, follow); x.Turn != turn || !x.Unsaved || x.Fresh {
			t.Errorf("turn %d, unsaved %v, fresh %v; want turn %d, unsaved", x.Turn, x.Unsaved, x.Fresh, turn)
		}
	}
	srv.signal(syscall.SIGCONT)
	waitFor(t, srv)
	for turn := 4; turn <= 5; turn++ {
		if x := say(t, s, follow); x.Turn != turn {
			t.Errorf("turn %d, want %d", x.Turn, turn)
		}
	}
}

// waitFor returns when the server answers.
func waitFor(t *testing.T, srv *server) {
	t.Helper()
	client := srv.client()
	defer client.Close()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// Turns of one session by two servers, all at once: none is lost or doubled.
func TestTwoRouters(t *testing.T) {
	const callers, each = 4, 10
	srv := start(t)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		turns []int
	)
	var sessions []*router.Session
	for range 2 {
		sessions = append(sessions, newSession(t, srv.open(redis.Options{})))
	}
	for i := range callers {
		wg.Go(func() {
			for range each {
				x, err := sessions[i%2].Route(t.Context(), office)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				turns = append(turns, x.Turn)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(turns)
	want := make([]int, callers*each)
	for i := range want {
		want[i] = i + 1
	}
	if diff := cmp.Diff(want, turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	for i, s := range sessions {
		if st := stateOf(t, s); st.Turn != callers*each {
			t.Errorf("router %d is at turn %d, want %d", i, st.Turn, callers*each)
		}
	}
	// By turns, with what each of them loads.
	for i, skill := range []string{"email-draft", "weekly-report", "meeting-minutes", "text-summary"} {
		load(t, sessions[i%2], skill)
		if st := stateOf(t, sessions[(i+1)%2]); len(st.Loaded) != i+1 {
			t.Errorf("after the load of %s the other router sees %q", skill, st.Loaded)
		}
	}
}

// Sessions of other IDs share nothing, also on one server.
func TestSessionsApart(t *testing.T) {
	r := newRouter(t, start(t).open(redis.Options{}))
	for i := range 3 {
		s := sessionOf(t, r, fmt.Sprint(i))
		if x := say(t, s, office); x.Turn != 1 {
			t.Errorf("session %d begins with turn %d", i, x.Turn)
		}
	}
}
