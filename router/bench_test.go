package router_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"skillrouter/cache"
	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/index"
	"skillrouter/router"
)

// benchWords is what made-up skills are written with.
var benchWords = strings.Fields(`invoice report meeting calendar deploy cluster database query backup restore image video
audio translate summarise draft email contract policy review code branch merge commit test coverage metric alert
dashboard chart table spreadsheet formula budget forecast revenue customer ticket support refund order shipping
inventory warehouse supplier purchase payroll candidate interview resume onboarding training course quiz lesson
recipe workout sleep travel flight hotel booking map route weather stock currency tax audit risk compliance legal
privacy security token password login firewall scan malware log trace error incident runbook release version
package library module function variable type schema migration index cache queue worker scheduler container
pipeline build artifact registry cloud storage bucket network proxy domain certificate server client browser
mobile tablet design color font layout icon logo brand campaign audience segment keyword ranking traffic funnel`)

// benchCatalog makes a catalog of n skills in n/12 or so domains.
func benchCatalog(n int) fstest.MapFS {
	random := rand.New(rand.NewPCG(1, 2))
	words := func(k int) string {
		ws := make([]string, k)
		for i := range ws {
			ws[i] = benchWords[random.IntN(len(benchWords))]
		}
		return strings.Join(ws, " ")
	}
	fsys := fstest.MapFS{}
	for i := range n {
		skill := fmt.Sprintf("---\nname: skill-%05d\ndescription: Helps with %s. Use when %s.\nmetadata:\n  triggers: [%s, %s, %s, %s, %s]\n---\n# %s\n\n%s\n",
			i, words(8), words(6), words(4), words(5), words(4), words(6), words(3), words(3), words(60))
		fsys[fmt.Sprintf("domain-%04d/skill-%05d/SKILL.md", i*12/max(n, 150), i)] = &fstest.MapFile{Data: []byte(skill)}
	}
	return fsys
}

func benchRouter(b testing.TB, n int) *router.Router {
	b.Helper()
	return benchRouterWith(b, n, nil)
}

func benchRouterWith(b testing.TB, n int, opts *router.Options) *router.Router {
	b.Helper()
	ctx := context.Background()
	c, err := definitions.Load(ctx, []definitions.Root{{Path: "skills", FS: benchCatalog(n)}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	e, err := embed.New()
	if err != nil {
		b.Fatal(err)
	}
	ix, err := index.Build(ctx, c, e, nil)
	if err != nil {
		b.Fatal(err)
	}
	r, err := router.New(ix, e, opts)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

var benchUtterances = []string{
	"please draft an email about the refund of the last customer order today",
	"can you check why the deploy pipeline of the mobile client keeps failing",
	"show me a chart of the revenue forecast for the next budget meeting",
}

func BenchmarkRoute(b *testing.B) {
	for _, n := range []int{150, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := benchRouter(b, n)
			ctx := context.Background()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := r.Route(ctx, benchUtterances[i%len(benchUtterances)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkTurn is a route within a session, its state saved.
func BenchmarkTurn(b *testing.B) {
	r := benchRouter(b, 150)
	ctx := context.Background()
	s, err := r.Session("bench", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := s.Route(ctx, benchUtterances[i%len(benchUtterances)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkSessions holds 100,000 sessions of three turns, and reports what
// memory each takes.
func BenchmarkSessions(b *testing.B) {
	const sessions = 100_000
	ctx := context.Background()
	for b.Loop() {
		b.StopTimer()
		store, err := cache.NewSessions(&cache.SessionsOptions{Capacity: sessions})
		if err != nil {
			b.Fatal(err)
		}
		r := benchRouterWith(b, 150, &router.Options{Store: store})
		before := heap()
		b.StartTimer()
		for i := range sessions {
			s, err := r.Session(fmt.Sprint("user-", i), nil)
			if err != nil {
				b.Fatal(err)
			}
			for _, u := range benchUtterances {
				if _, err := s.Route(ctx, u); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.StopTimer()
		if store.Len() != sessions {
			b.Fatalf("%d sessions are kept, want %d", store.Len(), sessions)
		}
		b.ReportMetric(float64(heap()-before)/sessions, "heap-B/session")
		runtime.KeepAlive(r)
		b.StartTimer()
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
