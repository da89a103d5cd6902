// Package mcp serves a router's skills by the Model Context Protocol, for
// agents in any language:
//
//	client ── initialize ──► instructions: how to go about it, and the domains
//	       ── route ───────► what fits the utterance: summaries
//	       ── skill_load ──► a definition, and which documents it has
//	       ── resources ───► skill://NAME/SKILL.md, skill://NAME/docs/PATH
//
// The tools by which skills are handled are those of package agent, route is
// added. A connection is one dialogue, or several told apart by the argument
// "session"; each has a session of the router, so that route knows the turns
// before. Whoever has no connection, because the server is stateless, is given
// the value of that argument with the first answer.
//
// A skill that is for people only (manual) exists for no tool and is no
// resource, because models call the one and read the other: it is a prompt,
// which clients offer to their users by name.
//
// What a client was told stays in its own context: a server cannot take a
// definition out of it. That a skill is loaded means that it was given for the
// task, or what its caller asked for.
//
// Reading order: mcp.go, dialogues.go, tools.go and answers.go (what tools
// say), resources.go, refresh.go, pipes.go and http.go (how clients come in).
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/router"
)

// Options says how skills are served. The zero value is the default.
type Options struct {
	Allow         func(name string) bool // tells whether a skill exists for the clients; nil means all do
	Refresh       time.Duration          // how often changed skills are looked for, by Router.Refresh; 0 means 10 s, negative never
	Stateless     bool                   // over HTTP nothing is kept of a connection: for protocol 2026-07-28, and for several servers on one session store
	Sessions      int                    // dialogues kept at once, the least recently used goes first; 0 means 10,000
	Idle          time.Duration          // a dialogue or HTTP connection not used for so long is forgotten; 0 means an hour, negative never
	PageSize      int                    // resources on a page; 0 means 100
	Lang          string                 // of fixed phrases for models: "en", "zh"; "" follows the text
	Version       string                 // of the program, told to clients; "" means "devel"
	Logger        *slog.Logger           // each call at info, failures at warn; nil discards
	LogUtterances bool                   // what was said and looked for goes to the log too
}

func (o *Options) complete() error {
	switch {
	case o.Sessions < 0:
		return fmt.Errorf("mcp: Sessions %d is below 0", o.Sessions)
	case o.Lang != "" && o.Lang != "en" && o.Lang != "zh":
		return fmt.Errorf("mcp: Lang %q is not en or zh", o.Lang)
	case o.PageSize < 0:
		return fmt.Errorf("mcp: PageSize %d is below 0", o.PageSize)
	}
	if o.Refresh == 0 {
		o.Refresh = 10 * time.Second
	}
	if o.Sessions == 0 {
		o.Sessions = 10_000
	}
	if o.Idle == 0 {
		o.Idle = time.Hour
	}
	if o.PageSize == 0 {
		o.PageSize = 100
	}
	if o.Version == "" {
		o.Version = "devel"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// A Server serves the skills of a router. It is safe for concurrent use, by
// any number of connections.
type Server struct {
	r         *router.Router
	o         Options
	sdk       *sdk.Server
	seen      atomic.Pointer[view] // the index last seen; ask view for it
	dialogues *dialogues
	done      context.Context // ends when Close is called: what is under way stops
	stop      context.CancelFunc
	running   sync.WaitGroup // the goroutines of the server
	closing   sync.Once
}

// New returns a server of the skills of r, which stays the caller's. Close it.
// A nil opts means the zero [Options]; the error names the one that is wrong.
func New(r *router.Router, opts *Options) (*Server, error) {
	if r == nil {
		return nil, errors.New("mcp: no router: skillrouter.Open gives one")
	}
	s := &Server{r: r}
	if opts != nil {
		s.o = *opts
	}
	if err := s.o.complete(); err != nil {
		return nil, err
	}
	s.done, s.stop = context.WithCancel(context.Background())
	s.dialogues = newDialogues(s)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "skillrouter", Version: s.o.Version}, &sdk.ServerOptions{
		Logger:             slog.New(warnings{s.o.Logger.Handler()}),
		Capabilities:       &sdk.ServerCapabilities{Prompts: &sdk.PromptCapabilities{ListChanged: true}}, // also while there are none
		CompletionHandler:  s.completions,
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil }, // the SDK keeps the list
	})
	if err := s.addTools(); err != nil {
		return nil, err
	}
	s.addTemplates()
	v := s.view()
	s.addPrompts(v, nil)
	s.sdk.AddReceivingMiddleware(s.receive)
	if s.o.Refresh > 0 {
		s.running.Go(func() { s.watch(v) })
	}
	return s, nil
}

// Close ends all connections: calls that are under way are cut short. When it
// returns, the server has no goroutine left.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.stop()
		for c := range s.sdk.Sessions() {
			_ = c.Close() // its client may have left already
		}
		s.running.Wait()
	})
	return nil
}

// bound is ctx that ends with the server, too.
func (s *Server) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.done, cancel)
	return ctx, func() { stop(); cancel() }
}

// receive answers what the SDK keeps fixed: the instructions and the list of
// resources follow the catalog.
func (s *Server) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		if r, ok := request.(*sdk.ListResourcesRequest); ok {
			return s.listResources(r.Params)
		}
		result, err := next(ctx, method, request)
		switch r := result.(type) {
		case *sdk.InitializeResult:
			if r != nil {
				r.Instructions = s.instructions(ctx)
			}
		case *sdk.DiscoverResult:
			if r != nil {
				r.Instructions = s.instructions(ctx)
			}
		}
		return result, err
	}
}

// warnings keeps the SDK's notes on each connection out of a log of calls.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// mostFirst is how many bytes of instructions list summaries; with more they
// name the skills alone. Some clients cut what is longer than 2,000, so how to
// go about it comes first.
const mostFirst = 1900

// instructions are what a client is told first: how to go about it, and the
// domains or, where there are few skills, these.
func (s *Server) instructions(ctx context.Context) string {
	route, err := s.r.RouteFor(ctx, "", s.allow)
	if err != nil {
		return s.phrases("").howTo // the client is leaving
	}
	layers := route.Layers()
	first := layers.Index
	if route.Flat {
		first = layers.Summaries
	}
	p := s.phrases(first)
	if route.Flat && len(p.howTo)+2+len(first) > mostFirst {
		names := make([]string, len(route.Summaries))
		for i, m := range route.Summaries {
			names[i] = m.Skill
		}
		first = fmt.Sprintf(p.names, safe(strings.Join(names, p.comma)))
	}
	return join(p.howTo, cmp.Or(strings.Trim(first, "\n"), p.noSkills))
}
