package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server is found over HTTP.
const Path = "/mcp"

// HTTPOptions says who may speak to a server over HTTP. The zero value is for
// programs of this machine.
type HTTPOptions struct {
	Token       string        // what clients send as bearer token; "" means none, which Serve takes on loopback only
	Hosts       []string      // names, without port, that the server is reached by besides those of this machine: behind a proxy, or beyond loopback, where none means any
	MaxBody     int64         // bytes of a request; 0 means 1 MiB, negative no limit
	BodyTimeout time.Duration // for reading it; 0 means 30 s, negative none
	Connections int           // at once, without Stateless; 0 means 1,000, negative no bound
}

const (
	grace      = 5 * time.Second // for what is under way when a server stops
	maxHeaders = 64 << 10
)

// Handler serves MCP's streamable HTTP transport at [Path]. It refuses what a
// web page could send: a Host that is not the server's, an Origin that is not
// that Host. A nil opts means the zero [HTTPOptions].
func (s *Server) Handler(opts *HTTPOptions) http.Handler {
	var o HTTPOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 20
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = 30 * time.Second
	}
	if o.Connections == 0 {
		o.Connections = 1000
	}
	streamable := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless: s.o.Stateless, MaxRequestBodyBytes: o.MaxBody, SessionTimeout: max(0, s.o.Idle),
		PropagateRequestCancellation: true, Logger: slog.New(warnings{s.o.Logger.Handler()}),
		DisableLocalhostProtection: true, // the guard's is stricter, and knows Hosts
	})
	mux := http.NewServeMux()
	mux.Handle(Path, &guard{s: s, o: o, token: sha256.Sum256([]byte(o.Token)), next: streamable})
	return mux
}

// Serve serves on l, which it closes, until ctx ends; then what is under way
// has 5 s. It refuses to serve others than this machine without a token.
func (s *Server) Serve(ctx context.Context, l net.Listener, opts *HTTPOptions) error {
	if (opts == nil || opts.Token == "") && !loopback(l.Addr().String()) {
		return errors.Join(&TokenError{l.Addr().String()}, l.Close())
	}
	server := &http.Server{
		Handler: s.Handler(opts), ReadHeaderTimeout: grace, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeaders,
		ErrorLog: slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("mcp: %w", err)
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	defer context.AfterFunc(limited, s.stop)() // what does not end by itself
	for c := range s.sdk.Sessions() {
		_ = c.Close() // waits for its calls; a stream to the client would never end
	}
	err := server.Shutdown(limited)
	if err != nil {
		err = server.Close()
	}
	<-served
	return err
}

// A TokenError says that a server would be open to others without a token.
type TokenError struct{ Addr string }

func (e *TokenError) Error() string {
	return fmt.Sprintf("mcp: %s can be reached from other machines: without a token anyone could use it", e.Addr)
}

// Hint says what to do.
func (e *TokenError) Hint() string {
	return "set a token, or listen on 127.0.0.1"
}

// loopback tells whether an address, or a name with or without port, is of
// this machine alone.
func loopback(address string) bool {
	host := hostname(address)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func hostname(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

// A guard lets through whom the options name.
type guard struct {
	s     *Server
	o     HTTPOptions
	token [sha256.Size]byte
	next  http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, why string) {
		g.s.o.Logger.Warn("refused", "status", status, "why", why, "from", r.RemoteAddr)
		http.Error(w, why, status)
	}
	switch {
	case !g.ours(r):
		refuse(http.StatusForbidden, "this Host is not the server's")
	case !sameOrigin(r):
		refuse(http.StatusForbidden, "web pages of another Origin may not call")
	case !g.knows(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(http.StatusUnauthorized, "a bearer token is needed, and this is not it")
	case g.full(r):
		w.Header().Set("Retry-After", "60")
		refuse(http.StatusServiceUnavailable, "too many connections: end those that are not used")
	default:
		if g.o.BodyTimeout > 0 && r.Body != http.NoBody {
			c := http.NewResponseController(w)
			_ = c.SetReadDeadline(time.Now().Add(g.o.BodyTimeout)) // a server without deadlines has limits of its own
			r.Body = &timedBody{r.Body, c}
		}
		g.next.ServeHTTP(w, r)
	}
}

// A timedBody takes the deadline back once it is read: what is read after that
// only tells whether the client is still there.
type timedBody struct {
	io.ReadCloser
	c *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.c.SetReadDeadline(time.Time{})
	}
	return n, err
}

// ours tells whether the client means this server: a page whose name was made
// to lead here (DNS rebinding) sends that name.
func (g *guard) ours(r *http.Request) bool {
	if slices.ContainsFunc(g.o.Hosts, func(h string) bool { return strings.EqualFold(h, hostname(r.Host)) }) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if ok && !loopback(local.String()) {
		return len(g.o.Hosts) == 0 // reached from elsewhere, by whatever name: the token guards it
	}
	return loopback(r.Host)
}

// sameOrigin tells whether a request is from a program, or from a page of this
// server, of which there are none.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

func (g *guard) knows(r *http.Request) bool {
	if g.o.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// full tells whether a request would open one connection too many.
func (g *guard) full(r *http.Request) bool {
	if g.s.o.Stateless || g.o.Connections < 0 || r.Header.Get("Mcp-Session-Id") != "" {
		return false
	}
	n := 0
	for range g.s.sdk.Sessions() {
		n++
	}
	return n >= g.o.Connections
}
