package router_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/router"
)

// A notebook writes down what it is told.
type notebook struct {
	mu    sync.Mutex
	lines map[string][]router.Event // by session and agent
	call  func()                    // made at each event; nil: none
}

func (n *notebook) Observe(session, agent string, e router.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lines == nil {
		n.lines = map[string][]router.Event{}
	}
	n.lines[session+" of "+agent] = append(n.lines[session+" of "+agent], e)
	if n.call != nil {
		n.call()
	}
}

func TestObserver(t *testing.T) {
	n := &notebook{}
	r := newRouter(t, exampleCatalog(t), &router.Options{Observer: n})
	s, err := r.Session("a/b", &router.SessionOptions{Agent: "helper"})
	if err != nil {
		t.Fatal(err)
	}
	// It is told outside of the lock, so it may ask the session.
	n.call = func() {
		if _, err := s.State(t.Context()); err != nil {
			t.Error(err)
		}
	}
	x, err := s.Route(t.Context(), office)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "email-draft"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "no such skill"); err == nil {
		t.Fatal("want an error")
	}
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := n.lines["a/b of helper"]
	if d := cmp.Diff(st.Events, got); d != "" || len(got) <= len(x.Events) || len(n.lines) != 1 {
		t.Errorf("events of the state, and those told: %s", d)
	}
}

func TestNoWait(t *testing.T) {
	e := &slow{Embedder: embedder(t), begun: make(chan struct{}), goOn: make(chan struct{})}
	r, err := router.New(exampleCatalog(t), e, &router.Options{EmbedTimeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Session("one", &router.SessionOptions{NoWait: true})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Route(t.Context(), office)
		done <- err
	}()
	<-e.begun
	if _, err := s.Route(t.Context(), queries); !errors.Is(err, router.ErrBusy) {
		t.Errorf("a second call: got error %v, want ErrBusy", err)
	}
	if _, err := s.State(t.Context()); !errors.Is(err, router.ErrBusy) {
		t.Errorf("a look at the state: got error %v, want ErrBusy", err)
	}
	close(e.goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if x, err := s.Route(t.Context(), queries); err != nil || x.Turn != 2 {
		t.Errorf("afterwards: turn %v, error %v", x, err)
	}
}

// slow answers its first call when it is let.
type slow struct {
	Embedder interface {
		ID() string
		Embed(context.Context, []string) ([][]float32, error)
	}
	once        sync.Once
	begun, goOn chan struct{}
}

func (e *slow) ID() string { return e.Embedder.ID() }

func (e *slow) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.once.Do(func() {
		close(e.begun)
		<-e.goOn
	})
	return e.Embedder.Embed(ctx, texts)
}

// Under load no session gets to see what another one loaded, rejected or is
// about, nor any text of it.
func TestSessionsUnderLoad(t *testing.T) {
	r := newRouter(t, exampleCatalog(t), nil)
	ctx := t.Context()
	kinds := []struct{ utterance, skill, secret string }{
		{office, "email-draft", "xylophone"},
		{queries, "weather-query", "bassoon"},
		{"review the code of this pull request for bugs", "code-review", "harpsichord"},
	}
	var group sync.WaitGroup
	for i := range 48 {
		group.Go(func() {
			mine := kinds[i%len(kinds)]
			// The same ID for three agents: they share nothing either.
			s, err := r.Session(fmt.Sprint("user-", i/len(kinds)), &router.SessionOptions{Agent: mine.skill})
			if err != nil {
				t.Error(err)
				return
			}
			for turn := 1; turn <= 5; turn++ {
				x, err := s.Route(ctx, mine.utterance+" "+mine.secret)
				if err != nil || x.Turn != turn {
					t.Errorf("%d: turn %v, error %v", i, x, err)
					return
				}
				if _, err := s.Load(ctx, mine.skill); err != nil {
					t.Error(err)
				}
				st, err := s.State(ctx)
				if err != nil {
					t.Error(err)
				}
				prompt, err := s.Prompt(ctx)
				if err != nil {
					t.Error(err)
				}
				all := prompt + fmt.Sprint(st)
				for _, other := range kinds {
					foreign := other.skill != mine.skill
					if foreign && (strings.Contains(prompt, "[Loaded] "+other.skill) || strings.Contains(all, other.secret)) {
						t.Errorf("%d: sees what belongs to %s", i, other.skill)
					}
				}
				if strings.Contains(fmt.Sprint(st), mine.secret) {
					t.Errorf("%d: the state holds text of the user", i)
				}
				if len(st.Loaded) != 1 || st.Loaded[0] != mine.skill {
					t.Errorf("%d: has loaded %v", i, st.Loaded)
				}
			}
		})
	}
	group.Wait()
}
