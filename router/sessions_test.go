package router_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/cache"
	"skillrouter/index"
	"skillrouter/router"
)

// A flaky store fails as it is told.
type flaky struct {
	router.SessionStore
	load, save func() error // nil: fine
	late       error        // of a Save that was done
	drop       error        // of a Delete
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
	revision, err := f.SessionStore.Save(ctx, key, state, revision)
	if err == nil && f.late != nil {
		return 0, f.late
	}
	return revision, err
}

func (f *flaky) Delete(ctx context.Context, key string) error {
	if f.drop != nil {
		return f.drop
	}
	return f.SessionStore.Delete(ctx, key)
}

func down() error { return errors.New("connection refused") }

// A store that fails fails no call: all goes on as if it did not, and is saved
// once it does not.
func TestStoreFails(t *testing.T) {
	ctx := t.Context()
	calls := []struct {
		name string
		do   func(d dialogue) error
	}{
		{"BeginTask", func(d dialogue) error { return d.BeginTask(ctx) }},
		{"Load", func(d dialogue) error { _, err := d.Load(ctx, "git-commit"); return err }},
		{"Use", func(d dialogue) error { return d.Use(ctx, "git-commit") }},
		{"Reject", func(d dialogue) error { return d.Reject(ctx, "email-draft", "too long") }},
		{"LoadDomain", func(d dialogue) error { _, err := d.LoadDomain(ctx, "File operations", "all"); return err }},
		{"Choose", func(d dialogue) error { return d.Choose(ctx, "File operations") }},
		{"EndTask", func(d dialogue) error { return d.EndTask(ctx) }},
	}
	for name, fail := range map[string]func(*flaky){
		"Load":  func(f *flaky) { f.load = down },
		"Save":  func(f *flaky) { f.save = down },
		"both":  func(f *flaky) { f.load, f.save = down, down },
		"late":  func(f *flaky) { f.late = down() },
		"times": func(f *flaky) { n := 0; f.save = func() error { n++; return []error{down(), nil}[n%2] } },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			shared := newScale(t)
			store := &flaky{SessionStore: shared}
			ix := exampleCatalog(t)
			d := newDialogue(t, newRouter(t, ix, &router.Options{Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil))}), nil)
			twin := newDialogue(t, newRouter(t, ix, nil), nil) // of a store that does not
			compare := func(what string) {
				t.Helper()
				got, want := d.state(), twin.state()
				got.Events = noEvents(got.Events, "unsaved")
				if len(want.Events) == 16 || len(got.Events) < len(want.Events) { // the others took their room
					want.Events = want.Events[len(want.Events)-len(got.Events):]
				}
				got.Summaries, got.Definitions = want.Summaries, want.Definitions
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()) + cmp.Diff(twin.prompt(), d.prompt()); diff != "" {
					t.Errorf("after %s (-want +got):\n%s", what, diff)
				}
			}
			for _, d := range []dialogue{d, twin} {
				d.say(office)
				d.load("email-draft")
			}
			compare("the beginning")
			fail(store)
			marked := 0
			for _, call := range calls {
				for _, d := range []dialogue{d, twin} {
					d.do(call.name, call.do(d))
				}
				compare(call.name)
				got, want := d.say(follow), twin.say(follow)
				if got.Fresh || want.Unsaved || got.Turn != want.Turn || got.Prompt() != want.Prompt() || !cmp.Equal(got.Unloaded, want.Unloaded) {
					t.Errorf("turn after %s: fresh %v, turn %d, unloaded %q; want turn %d, unloaded %q", call.name, got.Fresh, got.Turn, got.Unloaded, want.Turn, want.Unloaded)
				}
				if got.Unsaved != slices.Contains(rules(got.Events), "unsaved") {
					t.Errorf("unsaved %v, events %q", got.Unsaved, rules(got.Events))
				}
				if got.Unsaved {
					marked++
				}
				// What fails for its own reason changes nothing, and loses nothing.
				if _, err := d.Load(ctx, "no-such-skill"); err == nil {
					t.Error("Load of an unknown skill: no error")
				}
				compare("an unknown skill")
			}
			if marked == 0 || name != "times" && marked != len(calls) {
				t.Errorf("%d of %d turns are marked", marked, len(calls))
			}
			if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "connection refused") || strings.Contains(log.String(), follow) {
				t.Errorf("log:\n%s", log.String())
			}

			*store = flaky{SessionStore: shared}
			x, want := d.say(follow), twin.say(follow)
			if x.Unsaved || x.Fresh || x.Turn != want.Turn {
				t.Errorf("after it: unsaved %v, fresh %v, turn %d, want %d", x.Unsaved, x.Fresh, x.Turn, want.Turn)
			}
			d = newDialogue(t, newRouter(t, ix, &router.Options{Store: shared}), nil)
			compare("another router took over")
		})
	}
}

// noEvents are events without those of a rule.
func noEvents(events []router.Event, rule string) []router.Event {
	return slices.DeleteFunc(events, func(e router.Event) bool { return e.Rule == rule })
}

// Where nothing is known of a session while the store fails, it begins anew,
// marked, and gives way to what the store turns out to have.
func TestFresh(t *testing.T) {
	shared := newScale(t)
	ix := exampleCatalog(t)
	first := newDialogue(t, newRouter(t, ix, &router.Options{Store: shared}), nil)
	first.say(office)
	first.load("weekly-report")
	want := first.prompt()

	store := &flaky{SessionStore: shared, load: down}
	d := newDialogue(t, newRouter(t, ix, &router.Options{Store: store}), nil)
	if st := d.state(); st.Turn != 0 || d.prompt() == "" {
		t.Errorf("before the first turn: %+v", st)
	}
	for turn := 1; turn <= 2; turn++ {
		if x := d.say(office); x.Turn != turn || !x.Unsaved || !x.Fresh || len(x.Summaries) == 0 {
			t.Errorf("turn %d, want %d; unsaved %v, fresh %v, %d summaries", x.Turn, turn, x.Unsaved, x.Fresh, len(x.Summaries))
		}
	}
	d.load("git-commit")
	if st := first.state(); st.Turn != 1 || !cmp.Equal(st.Loaded, []string{"weekly-report"}) {
		t.Errorf("the first router sees turn %d, loaded %q", st.Turn, st.Loaded)
	}
	store.load = nil
	x := d.say(follow)
	if x.Turn != 2 || x.Unsaved || x.Fresh || x.Prompt() != want || rules(x.Events)[0] != "dropped" || !cmp.Equal(x.Unloaded, []string{"git-commit"}) {
		t.Errorf("turn %d, unsaved %v, fresh %v, events %q, unloaded %q, prompt (-want +got):\n%s", x.Turn, x.Unsaved, x.Fresh, rules(x.Events), x.Unloaded, cmp.Diff(want, x.Prompt()))
	}
	if x := d.say(follow); x.Turn != 3 || slices.Contains(rules(x.Events), "dropped") {
		t.Errorf("turn %d, events %q", x.Turn, rules(x.Events))
	}

	// One that the store has not is saved once it answers.
	store.load = down
	r := newRouter(t, ix, &router.Options{Store: store})
	s, err := r.Session("new", nil)
	if err != nil {
		t.Fatal(err)
	}
	d = dialogue{t, s}
	if x := d.say(office); !x.Fresh {
		t.Error("a session of an ID that is not known is not marked")
	}
	store.load = nil
	if x := d.say(follow); x.Turn != 2 || x.Unsaved || x.Fresh || slices.Contains(rules(x.Events), "dropped") {
		t.Errorf("turn %d, unsaved %v, fresh %v, events %q", x.Turn, x.Unsaved, x.Fresh, rules(x.Events))
	}
}

// A session that others go on with meanwhile is theirs.
func TestOthersSavedMeanwhile(t *testing.T) {
	for name, look := range map[string]bool{"seen by a turn": false, "seen by a look before": true} {
		t.Run(name, func(t *testing.T) {
			shared := newScale(t)
			store := &flaky{SessionStore: shared}
			ix := exampleCatalog(t)
			var log bytes.Buffer
			d := newDialogue(t, newRouter(t, ix, &router.Options{Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil))}), nil)
			other := newDialogue(t, newRouter(t, ix, &router.Options{Store: shared}), nil)
			d.say(office)
			store.save = down
			d.load("git-commit")
			other.load("weekly-report")
			store.save = nil
			if look && !cmp.Equal(d.state().Loaded, []string{"weekly-report"}) {
				t.Errorf("loaded %q", d.state().Loaded)
			}
			x := d.say(follow)
			if x.Turn != 2 || !cmp.Equal(loaded(x), []string{"weekly-report"}) || !cmp.Equal(x.Unloaded, []string{"git-commit"}) {
				t.Errorf("turn %d, loaded %q, unloaded %q", x.Turn, loaded(x), x.Unloaded)
			}
			if !slices.Contains(rules(d.state().Events), "dropped") || strings.Count(log.String(), "is dropped") != 1 {
				t.Errorf("events %q, log:\n%s", rules(d.state().Events), log.String())
			}
		})
	}
}

// A store that comes back without the session gets what was kept.
func TestStoreLosesAll(t *testing.T) {
	store := &flaky{SessionStore: newScale(t)}
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: store}), nil)
	d.say(office)
	store.load = down
	d.load("email-draft")
	*store = flaky{SessionStore: newScale(t)}
	if x := d.say(follow); x.Turn != 2 || x.Unsaved || !cmp.Equal(loaded(x), []string{"email-draft"}) {
		t.Errorf("turn %d, unsaved %v, loaded %q", x.Turn, x.Unsaved, loaded(x))
	}
	after := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: store}), nil)
	if x := after.say(follow); x.Turn != 3 || !cmp.Equal(loaded(x), []string{"email-draft"}) {
		t.Errorf("in another router: turn %d, loaded %q", x.Turn, loaded(x))
	}
}

// A caller that gave up gets its own error, whatever the store does: nothing
// is to be kept of a turn that nobody waits for.
func TestStoreFailsAfterCaller(t *testing.T) {
	store := &flaky{SessionStore: newScale(t)}
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: store}), nil)
	d.say(office)
	for name, call := range map[string]*func() error{"Load": &store.load, "Save": &store.save} {
		ctx, cancel := context.WithCancel(t.Context())
		*call = func() error { cancel(); return fmt.Errorf("gone: %w", context.Canceled) }
		if x, err := d.Route(ctx, office); !errors.Is(err, context.Canceled) || x != nil {
			t.Errorf("%s: %v, %v", name, x, err)
		}
		*call = nil
	}
	if st := d.state(); st.Turn != 1 {
		t.Errorf("turn %d after one turn", st.Turn)
	}
}

// End is the one call that fails with the store, and changes nothing then.
func TestEndFails(t *testing.T) {
	store := &flaky{SessionStore: newScale(t)}
	d := newDialogue(t, newRouter(t, exampleCatalog(t), &router.Options{Store: store}), nil)
	d.say(office)
	store.load, store.drop = down, down()
	d.load("email-draft")
	if err := d.End(t.Context()); err == nil || !strings.Contains(err.Error(), "ending the session: connection refused") {
		t.Errorf("End: %v", err)
	}
	if st := d.state(); !cmp.Equal(st.Loaded, []string{"email-draft"}) {
		t.Errorf("loaded %q", st.Loaded)
	}
	store.drop = nil
	d.do("End", d.End(t.Context()))
	if x := d.say(office); x.Turn != 1 || x.Fresh || len(x.Loaded) > 0 {
		t.Errorf("after the end: turn %d, fresh %v, loaded %q", x.Turn, x.Fresh, loaded(x))
	}
}

// What makes room before it is saved is lost, and the log says so.
func TestUnsavedMakesRoom(t *testing.T) {
	store := &flaky{SessionStore: newScale(t), load: down}
	var log bytes.Buffer
	r := newRouter(t, build(t, crowd(3)), &router.Options{Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range 1025 { // one more than are kept
		s, err := r.Session(fmt.Sprint(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		dialogue{t, s}.say(" ")
	}
	if n := strings.Count(log.String(), "made room"); n != 1 || !strings.Contains(log.String(), "session=0/main") {
		t.Errorf("the log says %d times that a session made room, want once, of 0/main", n)
	}
}

// A session that makes room while its call is under way is kept all the same.
func TestUnsavedAfterMakingRoom(t *testing.T) {
	store := &flaky{SessionStore: newScale(t)}
	r := newRouter(t, build(t, crowd(3)), &router.Options{Store: store})
	d := newDialogue(t, r, nil)
	store.load = func() error {
		store.load = nil
		for i := range 1024 {
			s, err := r.Session(fmt.Sprint(i), nil)
			if err != nil {
				t.Fatal(err)
			}
			dialogue{t, s}.say(" ")
		}
		return down()
	}
	d.say(" ")
	store.load = down
	if x := d.say(" "); x.Turn != 2 {
		t.Errorf("turn %d after the first", x.Turn)
	}
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
