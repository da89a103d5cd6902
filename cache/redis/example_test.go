package redis_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"skillrouter"
	"skillrouter/cache/redis"
	"skillrouter/router"
)

// Several servers with one store: each of them may take the next turn.
func Example() {
	store, err := redis.Open("redis://localhost:6379/0", &redis.Options{Idle: 8 * time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	r, err := skillrouter.Open(ctx, &skillrouter.Options{Router: router.Options{Store: store}}, "skills")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	s, err := r.Session("dialogue-17", nil)
	if err != nil {
		log.Fatal(err)
	}
	route, err := s.Route(ctx, "turn this PDF into text")
	if err != nil {
		log.Fatal(err) // never for a server that is down: see route.Unsaved
	}
	fmt.Println(route.Prompt())
}
