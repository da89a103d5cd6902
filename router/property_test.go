package router_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/cache"
	"skillrouter/index"
	"skillrouter/router"
)

// A scale is a store of sessions that notes the largest state.
type scale struct {
	router.SessionStore
	mu      sync.Mutex
	largest int
}

func newScale(t testing.TB) *scale {
	t.Helper()
	s, err := cache.NewSessions(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &scale{SessionStore: s}
}

func (s *scale) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	s.mu.Lock()
	s.largest = max(s.largest, len(state))
	s.mu.Unlock()
	return s.SessionStore.Save(ctx, key, state, revision)
}

// A step is one call of a session; what it returned is compared, not used.
type step struct {
	name string
	do   func(ctx context.Context, s *router.Session) (*router.Route, error)
}

// steps makes a random dialogue over a catalog.
func steps(random *rand.Rand, ix *index.Index, utterances []string, n int) []step {
	skill := func() string { return ix.Skills()[random.IntN(len(ix.Skills()))].Name }
	domain := func() string { return ix.Domains()[random.IntN(len(ix.Domains()))].Name }
	call := func(name string, do func(ctx context.Context, s *router.Session) error) step {
		return step{name, func(ctx context.Context, s *router.Session) (*router.Route, error) { return nil, do(ctx, s) }}
	}
	all := make([]step, n)
	for i := range all {
		switch random.IntN(16) {
		case 0, 1:
			x := skill()
			all[i] = call("Load "+x, func(ctx context.Context, s *router.Session) error { _, err := s.Load(ctx, x); return err })
		case 2, 3:
			x := skill()
			all[i] = call("Use "+x, func(ctx context.Context, s *router.Session) error { return s.Use(ctx, x) })
		case 4:
			x := skill()
			all[i] = call("Reject "+x, func(ctx context.Context, s *router.Session) error { return s.Reject(ctx, x, "it does not fit") })
		case 5:
			x := domain()
			all[i] = call("Choose "+x, func(ctx context.Context, s *router.Session) error { return s.Choose(ctx, x) })
		case 6:
			all[i] = call("EndTask", func(ctx context.Context, s *router.Session) error { return s.EndTask(ctx) })
		case 7:
			x := domain()
			if random.IntN(3) > 0 {
				all[i] = call("BeginTask", func(ctx context.Context, s *router.Session) error { return s.BeginTask(ctx) })
				break
			}
			all[i] = call("LoadDomain "+x, func(ctx context.Context, s *router.Session) error {
				_, err := s.LoadDomain(ctx, x, "all of it is needed")
				return err
			})
		default:
			u := utterances[random.IntN(len(utterances))]
			if random.IntN(12) == 0 {
				u = "/" + skill()
			}
			all[i] = step{fmt.Sprintf("Route %q", u), func(ctx context.Context, s *router.Session) (*router.Route, error) { return s.Route(ctx, u) }}
		}
	}
	return all
}

var exampleUtterances = []string{
	office, queries, vague, offTopic, follow, "", "!?", "帮我整理一下这些数据", "这篇文章太长了，挑重点说说",
	"would you merge this branch as it is", "read the attached pdf and tell me the main points", "thanks, that is all",
	"把刚才开会的记录理一理，再给没来的同事发封邮件说下结论", "use git-commit and code-review", "office & communication please",
}

// outcome is what two sessions over one catalog must agree on.
func outcome(r *router.Route) map[string]any {
	if r == nil {
		return nil
	}
	q, _ := r.Question()
	return map[string]any{
		"outcome": r.Outcome, "shown": shown(r), "loaded": loaded(r), "lines": r.Lines, "question": q, "nearest": r.Nearest(),
		"domains": r.Domains, "prompt": r.Prompt(), "unloaded": r.Unloaded, "rules": rules(r.Events), "turn": r.Turn,
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Whatever is called in whatever order, a session keeps its bounds, agrees
// with what it says of itself, goes on alike on another server that knows the
// stored state only, and without a cache differs in nothing but the counts.
func TestSessionProperties(t *testing.T) {
	type catalog struct {
		name       string
		ix         *index.Index
		opts       router.Options
		utterances []string
		largest    int // bytes of a state
	}
	large := benchRouter(t, 150).Index()
	for _, c := range []catalog{
		{"examples", exampleCatalog(t), router.Options{}, exampleUtterances, 4 << 10},
		{"examples, a high threshold", exampleCatalog(t), router.Options{Threshold: 0.95}, exampleUtterances, 4 << 10},
		{"examples, flat", exampleCatalog(t), router.Options{Mode: router.Flat}, exampleUtterances, 4 << 10},
		{"examples, quick to stall", exampleCatalog(t), router.Options{StalledTurns: 1, SummaryTurns: 2}, exampleUtterances, 4 << 10},
		{"150 skills", large, router.Options{Threshold: 0.3}, append(slices.Clone(benchUtterances), follow, "", offTopic), 8 << 10},
		{"150 skills, no bounds", large, router.Options{Threshold: -1, MaxSummaries: -1}, benchUtterances, 16 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(4) {
				random := rand.New(rand.NewPCG(seed, 7))
				store := newScale(t)
				one, other, uncached := c.opts, c.opts, c.opts
				one.Store, other.Store, uncached.SummaryTurns = store, newScale(t), -1
				withCache := c.opts.SummaryTurns == 0
				a := newRouter(t, c.ix, &one)
				b := newRouter(t, c.ix, &uncached)
				session := func(r *router.Router) *router.Session {
					s, err := r.Session("x", nil)
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				var trail []string
				asked := false
				for _, step := range steps(random, c.ix, c.utterances, 50) {
					trail = append(trail, step.name)
					x, err := step.do(t.Context(), session(a))
					st := (dialogue{t, session(a)}).state()
					check(t, &st, x, c.opts)
					if t.Failed() {
						t.Fatalf("seed %d, after %q", seed, trail)
					}
					if x != nil {
						if _, ok := x.Question(); ok && asked {
							t.Fatalf("seed %d: a question again, after %q", seed, trail)
						} else if ok {
							asked = true
						} else if x.Matched() {
							asked = false
						}
						if got, want := (dialogue{t, session(a)}).prompt(), x.Prompt(); got != want && c.opts.MaxSummaries >= 0 {
							t.Fatalf("seed %d: Session.Prompt (-Route +Session):\n%s\nafter %q", seed, cmp.Diff(want, got), trail)
						}
					} else if st.Events != nil && slices.Contains([]string{"load", "load-domain", "choose", "use"}, st.Events[len(st.Events)-1].Rule) {
						asked = false
					}

					there := newRouter(t, c.ix, &other)
					y, err2 := step.do(t.Context(), session(there))
					st2 := (dialogue{t, session(there)}).state()
					ignore := cmpopts.IgnoreFields(router.State{}, "Summaries", "Definitions")
					if diff := cmp.Diff(outcome(x), outcome(y)) + cmp.Diff(st, st2, ignore, cmpopts.EquateEmpty()) + cmp.Diff(message(err), message(err2)); diff != "" {
						t.Fatalf("seed %d: on another server (-here +there):\n%s\nafter %q", seed, diff, trail)
					}
					if !withCache {
						continue
					}
					z, err3 := step.do(t.Context(), session(b))
					if diff := cmp.Diff(outcome(x), outcome(z)) + cmp.Diff(message(err), message(err3)); diff != "" {
						t.Fatalf("seed %d: without a cache (-with +without):\n%s\nafter %q", seed, diff, trail)
					}
					if z != nil && len(z.Hits) > 0 && z.Outcome != router.Direct {
						t.Fatalf("seed %d: hits without a cache: %q, after %q", seed, z.Hits, trail)
					}
				}
				if store.largest > c.largest {
					t.Errorf("seed %d: a state of %d bytes, at most %d", seed, store.largest, c.largest)
				}
			}
		})
	}
}

// check looks for what must never be.
func check(t *testing.T, st *router.State, x *router.Route, opts router.Options) {
	t.Helper()
	if len(st.Events) > 16 {
		t.Errorf("%d events", len(st.Events))
	}
	if opts.MaxSummaries >= 0 && len(st.Skills) > 25 {
		t.Errorf("%d visible", len(st.Skills))
	}
	for what, names := range map[string][]string{"visible": st.Skills, "visible domain": st.Domains, "loaded": st.Loaded, "left out": st.LeftOut} {
		names = slices.Sorted(slices.Values(names))
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%s twice: %q", what, names)
		}
	}
	for _, name := range st.Skills {
		if slices.Contains(st.LeftOut, name) && !slices.Contains(st.Domains, name) {
			t.Errorf("%s is visible and left out", name)
		}
	}
	want := router.Domains
	switch {
	case len(st.Loaded) > 0:
		want = router.Definitions
	case len(st.Domains) > 0, opts.Mode == router.Flat && len(st.Events) > 0 && st.Layer != router.Domains:
		want = router.Summaries
	}
	if st.Layer != want {
		t.Errorf("layer %s, want %s: visible %q, loaded %q, events %+v", st.Layer, want, st.Domains, st.Loaded, st.Events)
	}
	if len(st.Loaded) > 0 && !st.Task {
		t.Errorf("loaded %q without a task", st.Loaded)
	}
	if x == nil {
		return
	}
	names := shown(x)
	if opts.Mode != router.Flat && opts.MaxSummaries >= 0 && !cmp.Equal(names, st.Skills, cmpopts.EquateEmpty()) {
		t.Errorf("shown %q, visible %q", names, st.Skills)
	}
	if !cmp.Equal(loaded(x), st.Loaded, cmpopts.EquateEmpty()) {
		t.Errorf("route loaded %q, state %q", loaded(x), st.Loaded)
	}
	for _, name := range x.Unloaded {
		if slices.Contains(names, name) && opts.Mode != router.Flat || slices.Contains(st.Loaded, name) {
			t.Errorf("%s is unloaded and there", name)
		}
	}
}
