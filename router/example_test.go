package router_test

import (
	"context"
	"fmt"
	"log"

	"skillrouter/definitions"
	"skillrouter/embed"
	"skillrouter/examples"
	"skillrouter/index"
	"skillrouter/router"
)

// exampleRouter is a router over the example catalog. Folders on a disk are
// opened by package skillrouter in one call.
func exampleRouter(ctx context.Context) (*router.Router, error) {
	catalog, err := definitions.Load(ctx, []definitions.Root{{Path: "examples", FS: examples.Catalog()}}, nil)
	if err != nil {
		return nil, err
	}
	e, err := embed.New()
	if err != nil {
		return nil, err
	}
	ix, err := index.Build(ctx, catalog, e, nil)
	if err != nil {
		return nil, err
	}
	return router.New(ix, e, nil)
}

// One utterance, without a session.
func ExampleRouter_Route() {
	ctx := context.Background()
	r, err := exampleRouter(ctx)
	if err != nil {
		log.Fatal(err)
	}
	route, err := r.Route(ctx, "帮我整理一下这些数据")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(route.Outcome)
	for _, d := range route.Domains {
		if d.Matched {
			fmt.Println(d.Name)
		}
	}
	// Output:
	// several
	// Data queries
	// File operations
}

// A dialogue: layers come and go with the turns.
func ExampleSession() {
	ctx := context.Background()
	r, err := exampleRouter(ctx)
	if err != nil {
		log.Fatal(err)
	}
	s, err := r.Session("user-42", nil)
	if err != nil {
		log.Fatal(err)
	}
	turn := func(utterance string, then func() error) {
		route, err := s.Route(ctx, utterance)
		if err != nil {
			log.Fatal(err)
		}
		if err := then(); err != nil { // what the agent does with route.Prompt()
			log.Fatal(err)
		}
		st, err := s.State(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %-6s %-11s %q, new %t, hits %t, unloaded %t, loaded %q\n", st.Turn, route.Outcome, st.Layer, st.Domains,
			len(route.New) > 0, len(route.Hits) > 0, len(route.Unloaded) > 0, st.Loaded)
	}
	nothing := func() error { return nil }
	turn("write an email to decline the offer", func() error { _, err := s.Load(ctx, "email-draft"); return err })
	turn("go on", func() error { return s.Use(ctx, "email-draft") })
	turn("明天北京会下雨吗", nothing)
	turn("/git-commit", func() error { return s.EndTask(ctx) })
	// Output:
	// 1 one    definitions ["Office & communication"], new true, hits false, unloaded false, loaded ["email-draft"]
	// 2 sticky definitions ["Office & communication"], new false, hits true, unloaded false, loaded ["email-draft"]
	// 3 one    summaries   ["Data queries"], new true, hits false, unloaded true, loaded []
	// 4 direct domains     [], new true, hits false, unloaded true, loaded []
}

// Nothing matches: a question instead of a guess.
func ExampleRoute_Question() {
	ctx := context.Background()
	r, err := exampleRouter(ctx)
	if err != nil {
		log.Fatal(err)
	}
	strict, err := router.New(r.Index(), must(embed.New()), &router.Options{Threshold: 0.95, MaxDomains: 1})
	if err != nil {
		log.Fatal(err)
	}
	route, err := strict.Route(ctx, "help me with this document")
	if err != nil {
		log.Fatal(err)
	}
	if q, ok := route.Question(); ok {
		fmt.Println(q)
	}
	// Output:
	// Is this about Text processing (summarise, rewrite, proofread, translate, tag and count text) or File operations (extract, convert, merge, resize, clean up, rename and sort files and…)?
}

func must[T any](x T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return x
}
