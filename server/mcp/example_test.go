package mcp_test

import (
	"context"
	"log"
	"net"

	"skillrouter"
	"skillrouter/server/mcp"
)

// A program that serves its skills over HTTP to other programs of the machine.
func ExampleServer_Serve() {
	ctx := context.Background()
	r, err := skillrouter.Open(ctx, nil, "/opt/skills")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	s, err := mcp.New(r.Router, &mcp.Options{Allow: func(name string) bool { return name != "release-publish" }})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:8765")
	if err != nil {
		log.Fatal(err)
	}
	log.Print(s.Serve(ctx, l, nil)) // clients: http://127.0.0.1:8765/mcp
}
