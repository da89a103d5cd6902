package skillrouter_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"

	"skillrouter"
	"skillrouter/examples"
	"skillrouter/router"
)

// catalog names the built-in example catalog; programs of your own name
// folders instead: skillrouter.Open(ctx, nil, "/opt/skills", "./skills").
var catalog = &skillrouter.Options{FS: map[string]fs.FS{"examples": examples.Catalog()}}

// The least a program needs: one call before each turn of its agent.
func ExampleOpen() {
	ctx := context.Background()
	r, err := skillrouter.Open(ctx, catalog, "examples")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, p := range r.Problems() { // located, never fatal
		log.Print(p)
	}

	route, err := r.Route(ctx, "turn this PDF into text")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(route.Outcome, route.Top().Name, route.Candidates[0].Name)
	prompt := route.Prompt() // goes into the system message of this turn
	fmt.Println(strings.Contains(prompt, "- pdf-text-extract: "))
	// Output:
	// several File operations pdf-text-extract
	// true
}

// A nightly job: an index file that is written only where something changed.
func ExampleReindex() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opts := &skillrouter.ReindexOptions{Options: *catalog}
	for range 2 {
		r, err := skillrouter.Reindex(context.Background(), filepath.Join(dir, "skills.idx"), opts, "examples")
		if err != nil {
			log.Fatal(err)
		}
		if c := r.Changes; c != nil {
			fmt.Printf("%d added, %d changed, %d removed\n", len(c.Added), len(c.Changed), len(c.Removed))
		}
		fmt.Println("written:", r.Written)
		_ = r.Index.Close() // it was only read
	}
	// Output:
	// 64 added, 0 changed, 0 removed
	// written: true
	// written: false
}

// A session carries the layers over the turns of one dialogue.
func ExampleRouter_session() {
	ctx := context.Background()
	r, err := skillrouter.Open(ctx, catalog, "examples")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	allowed := func(name string) bool { return name != "duplicate-cleanup" }
	s, err := r.Session("user-42", &router.SessionOptions{Agent: "main", Allow: allowed})
	if err != nil {
		log.Fatal(err)
	}

	turn := func(utterance string) {
		route, err := s.Route(ctx, utterance) // begins a turn, ends the last
		if err != nil {
			log.Fatal(err)
		}
		if question, ok := route.Question(); ok {
			fmt.Println("ask:", question)
		}
		fmt.Println(route.Turn, route.Outcome, len(route.New), len(route.Hits), len(route.Unloaded))
	}
	turn("what is the weather in Hangzhou tomorrow?")
	if _, err := s.Load(ctx, "weather-query"); err != nil { // the model picked a skill
		log.Fatal(err)
	}
	turn("and on Sunday?")                       // a follow-up keeps what was visible
	turn("review the code of this pull request") // another topic: the task ends
	state, err := s.State(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Layer, state.Domains)
	// Output:
	// 1 one 11 0 0
	// 2 sticky 0 11 0
	// 3 one 10 0 11
	// summaries [Software engineering]
}
