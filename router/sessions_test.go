package router_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/cache"
	"skillrouter/index"
	"skillrouter/router"
)

// A flaky store fails as it is told.
type flaky struct {
	router.SessionStore
	load, save func() error // nil: fine
}

func (f *flaky) Load(ctx context.Context, key string) ([]byte, uint64, error) {
	if f.load != nil {
		if err := f.load(); err != nil {
			return nil, 0, err
		}
	}
	return f.SessionStore.Load(ctx, key)
}

func (f *flaky) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	if f.save != nil {
		if err := f.save(); err != nil {
			return 0, err
		}
	}
	return f.SessionStore.Save(ctx, key, state, revision)
}

// A store that fails gives an error, and nothing is lost or changed.
func TestStoreFails(t *testing.T) {
	store := &flaky{SessionStore: newScale(t)}
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: store}), nil)
	ctx := t.Context()
	d.say(office)
	d.load("email-draft")
	state, prompt := d.state(), d.prompt()
	down := func() error { return errors.New("connection refused") }
	calls := map[string]func() error{
		"Route":      func() error { x, err := d.Route(ctx, queries); return either(x, err) },
		"Load":       func() error { x, err := d.Load(ctx, "git-commit"); return either(x, err) },
		"LoadDomain": func() error { x, err := d.LoadDomain(ctx, "File operations", "all"); return either(x, err) },
		"Choose":     func() error { return d.Choose(ctx, "File operations") },
		"Use":        func() error { return d.Use(ctx, "git-commit") },
		"Reject":     func() error { return d.Reject(ctx, "email-draft", "") },
		"BeginTask":  func() error { return d.BeginTask(ctx) },
		"EndTask":    func() error { return d.EndTask(ctx) },
	}
	for name, call := range calls {
		store.load, store.save = nil, down
		if err := call(); err == nil || !strings.Contains(err.Error(), "saving the session: connection refused") {
			t.Errorf("%s: %v", name, err)
		}
		store.load, store.save = down, nil
		if err := call(); err == nil || !strings.Contains(err.Error(), "reading the session: connection refused") {
			t.Errorf("%s: %v", name, err)
		}
		store.load = nil
		now := d.state()
		now.Summaries, now.Definitions = state.Summaries, state.Definitions
		if diff := cmp.Diff(state, now) + cmp.Diff(prompt, d.prompt()); diff != "" {
			t.Errorf("%s has changed something (-want +got):\n%s", name, diff)
		}
	}
	if x := d.say(follow); x.Turn != 2 || x.Prompt() != prompt {
		t.Errorf("after it: turn %d\n%s", x.Turn, cmp.Diff(prompt, x.Prompt()))
	}
}

// either returns err, or that there is a result beside it.
func either[T any](x T, err error) error {
	if s := fmt.Sprintf("%v", x); err != nil && s != "<nil>" && s != "[]" {
		return fmt.Errorf("a result beside the error %w: %s", err, s)
	}
	return err
}

// When another server was faster, the turn is made anew on what it left.
func TestConflict(t *testing.T) {
	shared := newScale(t)
	store := &flaky{SessionStore: shared}
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: store}), nil)
	other := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: shared}), nil)
	d.say(office)
	busy := false
	store.save = func() error {
		if !busy {
			busy = true
			other.load("weekly-report")
		}
		return nil
	}
	x := d.say(office)
	if st := d.state(); x.Turn != 2 || st.Turn != 2 || !cmp.Equal(loaded(x), []string{"weekly-report"}) || !cmp.Equal(st.Loaded, []string{"weekly-report"}) {
		t.Errorf("turn %d, loaded %q; state %+v", x.Turn, loaded(x), st)
	}
	store.save = func() error { return fmt.Errorf("always: %w", cache.ErrConflict) }
	if _, err := d.Route(t.Context(), office); !errors.Is(err, cache.ErrConflict) {
		t.Errorf("a session that always changes: %v", err)
	}
}

// A state that cannot be read is an error that says what to do, and doing it helps.
func TestBrokenState(t *testing.T) {
	store := newScale(t)
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: store}), nil)
	if _, err := store.Save(t.Context(), t.Name()+"/main", []byte(`{"v":99}`), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Route(t.Context(), office); err == nil || !strings.Contains(err.Error(), "end the session") {
		t.Fatalf("Route: %v", err)
	}
	d.do("End", d.End(t.Context()))
	d.say(office)
}

// More sessions than are kept decoded go on alike.
func TestManySessions(t *testing.T) {
	const n = 1500 // above the 1,024 that are
	r := newRouter(t, build(t, crowd(3, 3)), &router.Options{Mode: router.Layered, Threshold: -1})
	ds := make([]dialogue, n)
	for i := range ds {
		s, err := r.Session(fmt.Sprint(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		ds[i] = dialogue{t, s}
		ds[i].say("weather matters")
		ds[i].load("weather-00")
	}
	want := ds[n-1].prompt()
	for i, d := range ds {
		if got := d.prompt(); got != want {
			t.Fatalf("session %d (-want +got):\n%s", i, cmp.Diff(want, got))
		}
		if x := d.say(" "); x.Turn != 2 || len(x.Hits) != 6 || x.Prompt() != want {
			t.Fatalf("session %d: turn %d, hits %q", i, x.Turn, x.Hits)
		}
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	e := &fake{}
	r, err := router.New(buildFS(t, e, crowd(5, 5).fs()), e, &router.Options{EmbedTimeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	e.answer = func(_ context.Context, v [][]float32) ([][]float32, error) {
		close(begun)
		<-goOn
		return v, nil
	}
	d := newDialogue(t, r, nil)
	first := make(chan error, 1)
	go func() {
		_, err := d.Route(context.WithoutCancel(t.Context()), "weather matters")
		first <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Route":  func() error { _, err := d.Route(ctx, "invoice"); return err },
		"Prompt": func() error { _, err := d.Prompt(ctx); return err },
		"End":    func() error { return d.End(ctx) },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want cancelled", name, err)
		}
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Errorf("the first: %v", err)
	}
	if st := d.state(); st.Turn != 1 {
		t.Errorf("turn %d after one turn", st.Turn)
	}
}

// Calls of many goroutines on one session run one at a time; none is lost.
func TestOneSessionManyCallers(t *testing.T) {
	d := newDialogue(t, newRouter(t, exampleCatalog(t), nil), nil)
	const n = 40
	turns := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			x, err := d.Route(t.Context(), office)
			if err != nil {
				t.Error(err)
				return
			}
			turns[i] = x.Turn
		})
	}
	wg.Wait()
	seen := map[int]bool{}
	for _, turn := range turns {
		seen[turn] = true
	}
	if len(seen) != n || d.state().Turn != n {
		t.Errorf("%d turns of %d, the state says %d", len(seen), n, d.state().Turn)
	}
}

// 32 goroutines route while one refreshes and one loads: each route is of one
// generation of the catalog.
func TestRouteWhileRefreshing(t *testing.T) {
	catalogs := make([]*index.Index, 2)
	for i := range catalogs {
		f := crowd(5, 5)
		for path, s := range f {
			f[path] = strings.ReplaceAll(s, "number", fmt.Sprintf("generation%d", i))
		}
		catalogs[i] = build(t, f)
	}
	var flips atomic.Int64
	r := newRouter(t, catalogs[0], &router.Options{Mode: router.Layered, Threshold: -1, Reload: func(context.Context, *index.Index) (*index.Index, error) {
		return catalogs[flips.Add(1)%2], nil
	}})
	stop := make(chan struct{})
	var background, routes sync.WaitGroup
	repeat := func(do func() error) {
		background.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := do(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	repeat(func() error { _, err := r.Refresh(t.Context()); return err })
	d := newDialogue(t, r, nil)
	repeat(func() error {
		_, err := d.Load(t.Context(), "weather-00")
		return errors.Join(err, d.EndTask(t.Context()))
	})
	for i := range 32 {
		routes.Go(func() {
			s, err := r.Session(fmt.Sprint("session ", i%8), nil)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range 20 {
				u := []string{"weather matters", "/weather-01", " "}[k%3]
				var x *router.Route
				if k%2 == 0 {
					x, err = s.Route(t.Context(), u)
				} else {
					x, err = r.Route(t.Context(), u)
				}
				if err != nil {
					t.Error(err)
					return
				}
				prompt, err := s.Prompt(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				for _, p := range []string{x.Prompt(), prompt} {
					if strings.Contains(p, "generation0") && strings.Contains(p, "generation1") {
						t.Errorf("two generations in one prompt:\n%s", p)
						return
					}
				}
			}
		})
	}
	routes.Wait()
	close(stop)
	background.Wait()
}
