package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/agent"
	"skillrouter/router"
)

// agentName is the agent that all dialogues are of.
const agentName = "mcp"

// A dialogue is a session of the router and what is loaded in it.
type dialogue struct {
	kit  *agent.Kit
	busy chan struct{} // holds a token while a call is under way
	used time.Time     // guarded by dialogues
}

// lock waits until no other call of the dialogue is under way.
func (d *dialogue) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case d.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *dialogue) unlock() { <-d.busy }

// A dialogueKey tells dialogues apart: those of one connection by the names
// that its client gives them. No client reaches those of another connection.
// Without connections the name is all there is.
type dialogueKey struct {
	conn *sdk.ServerSession
	name string
}

// dialogues keeps those used lately. What makes room or was idle is forgotten;
// the router's session, which is bounded by itself, may outlive it.
type dialogues struct {
	s *Server

	mu    sync.Mutex
	kept  *simplelru.LRU[dialogueKey, *dialogue]
	conns map[*sdk.ServerSession]bool // with a dialogue: their end is awaited
}

func newDialogues(s *Server) *dialogues {
	kept, _ := simplelru.NewLRU[dialogueKey, *dialogue](s.o.Sessions, nil) // errs only for a size below 1
	return &dialogues{s: s, kept: kept, conns: map[*sdk.ServerSession]bool{}}
}

// maxName is how long the name of a dialogue may be.
const maxName = 128

// of returns the dialogue that a call belongs to. given is the name to pass
// from now on, "" where the connection does.
func (ds *dialogues) of(conn *sdk.ServerSession, name string) (d *dialogue, given string, err error) {
	if len(name) > maxName {
		return nil, "", fmt.Errorf("session has %d bytes, at most %d: use the one that an answer of this server gave", len(name), maxName)
	}
	id := "mcp-" + rand.Text() // nobody guesses it
	if ds.s.o.Stateless {
		if name == "" {
			name = rand.Text()
		}
		conn, given, id = nil, name, "mcp-"+name // another server finds it too
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.sweep()
	key := dialogueKey{conn, name}
	if d, ok := ds.kept.Get(key); ok {
		d.used = time.Now()
		return d, given, nil
	}
	if ds.s.done.Err() != nil {
		return nil, "", errors.New("the server is closing")
	}
	session, err := ds.s.r.Session(id, &router.SessionOptions{Agent: agentName, Allow: ds.s.allow})
	if err != nil {
		return nil, "", err
	}
	kit, err := agent.New(session, &agent.Options{
		Mode:   agent.Task, // the client has the text as long as the task goes on
		Extras: []string{agent.SearchSkills, agent.ListSkills, agent.SkillStatus, agent.ReadFile},
	})
	if err != nil {
		return nil, "", err
	}
	d = &dialogue{kit: kit, busy: make(chan struct{}, 1), used: time.Now()}
	ds.kept.Add(key, d)
	if conn != nil && !ds.conns[conn] {
		ds.conns[conn] = true
		ds.s.running.Go(func() {
			_ = conn.Wait() // however it ended
			ds.drop(conn)
		})
	}
	return d, given, nil
}

// sweep forgets dialogues that were idle for too long, the oldest first.
func (ds *dialogues) sweep() {
	for ds.s.o.Idle > 0 {
		_, d, ok := ds.kept.GetOldest()
		if !ok || time.Since(d.used) < ds.s.o.Idle {
			return
		}
		ds.kept.RemoveOldest()
	}
}

// drop forgets the dialogues of a connection that ended.
func (ds *dialogues) drop(conn *sdk.ServerSession) {
	var ended []*dialogue
	ds.mu.Lock()
	delete(ds.conns, conn)
	for _, key := range ds.kept.Keys() {
		if key.conn == conn {
			d, _ := ds.kept.Peek(key)
			ds.kept.Remove(key)
			ended = append(ended, d)
		}
	}
	ds.mu.Unlock()
	for _, d := range ended {
		// A store that fails has the session still: its idle limit sees to it.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if err := d.kit.End(ctx); err != nil {
			ds.s.o.Logger.Warn("ending a session", "session", d.kit.Session().ID(), "error", err)
		}
		cancel()
	}
}
