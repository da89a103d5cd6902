package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestStreamableHTTP(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	web := httptest.NewServer(s.Handler(&HTTPOptions{Token: "right"}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { _ = s.Close() }) // before web.Close, which waits for streams
	connect := func() *sdk.ClientSession {
		return dial(t, &sdk.StreamableClientTransport{Endpoint: web.URL + Path, HTTPClient: &http.Client{Transport: bearer("right")}}, "", nil)
	}
	a, b := connect(), connect()
	contains(t, a.InitializeResult().Instructions, "Skill domains:")
	for _, want := range []any{1.0, 2.0} {
		if got := ask(t, a, "route", object{"utterance": "turn this PDF into text"}); got.More["turn"] != want || got.More["session"] != nil {
			t.Errorf("turn %v: %v", want, got)
		}
	}
	ask(t, a, "skill_load", object{"skill": "pdf-text"})
	if got := ask(t, b, "skill_status", nil); got.More["turn"] != 0.0 || got.More["loaded"] != nil {
		t.Errorf("the other session: %v", got)
	}
	read, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "skill://S%C3%BC%C3%9Fe%20Rezepte%2050%25/SKILL.md"})
	if err != nil || !strings.Contains(read.Contents[0].Text, "Search.") {
		t.Errorf("read %+v, error %v", read, err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	if _, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL + Path}, nil); err == nil {
		t.Error("a client without the token was let in")
	}
}

func TestNoticesOverHTTP(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		dir := folder(t, files)
		s := serve(t, dir, Options{Refresh: 5 * time.Millisecond, Stateless: stateless}, nil)
		web := httptest.NewServer(s.Handler(nil))
		t.Cleanup(web.Close)
		t.Cleanup(func() { _ = s.Close() })
		listed, updated := make(chan struct{}, 9), make(chan string, 9)
		c := dial(t, &sdk.StreamableClientTransport{Endpoint: web.URL + Path}, "", &sdk.ClientOptions{
			ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { listed <- struct{}{} },
			ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
				updated <- r.Params.URI
			},
		})
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: skillURI("menu")}); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "cooking/menu/SKILL.md", files["cooking/menu/SKILL.md"]+"\nAsk for allergies.\n")
		if got := within(t, updated, "notice of the change"); got != skillURI("menu") {
			t.Errorf("changed: %s", got)
		}
		within(t, listed, "notice of the list")
		_ = c.Close()
	}
}

func TestStateless(t *testing.T) {
	s := serve(t, folder(t, files), Options{Stateless: true}, nil)
	web := httptest.NewServer(s.Handler(nil))
	t.Cleanup(web.Close)
	for _, protocol := range protocols {
		c := dial(t, &sdk.StreamableClientTransport{Endpoint: web.URL + Path}, protocol, nil)
		first := ask(t, c, "route", object{"utterance": "turn this PDF into text"})
		session, _ := first.More["session"].(string)
		if session == "" || !strings.Contains(first.Text, session) {
			t.Fatalf("no session in: %v", first)
		}
		second := ask(t, c, "route", object{"utterance": "go on", "session": session})
		if second.More["turn"] != 2.0 || second.More["outcome"] != "sticky" || strings.Contains(second.Text, session) {
			t.Errorf("the next turn: %v", second)
		}
		if other := ask(t, c, "route", object{"utterance": "go on"}); other.More["turn"] != 1.0 || other.More["session"] == session {
			t.Errorf("another session: %v", other)
		}
	}
}

// hello is a first request.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestGuard(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	for _, test := range []struct {
		name    string
		o       HTTPOptions
		host    string
		origin  string
		token   string
		body    string
		path    string
		outside bool // the request comes in on another address than loopback
		want    int
	}{
		{name: "plain", want: 200},
		{name: "localhost", host: "localhost:1234", want: 200},
		{name: "IPv6", host: "[::1]:1234", want: 200},
		{name: "a name that was made to lead here", host: "evil.example:1234", want: 403},
		{name: "localhost as part of a name", host: "localhost.evil.example", want: 403},
		{name: "a name that is given", o: HTTPOptions{Hosts: []string{"skills.example"}}, host: "Skills.example:443", want: 200},
		{name: "another one", o: HTTPOptions{Hosts: []string{"skills.example"}}, host: "evil.example", want: 403},
		{name: "loopback beside a name that is given", o: HTTPOptions{Hosts: []string{"skills.example"}}, want: 200},
		{name: "from elsewhere, by any name", o: HTTPOptions{Token: "x"}, token: "x", host: "skills.example", outside: true, want: 200},
		{name: "from elsewhere, by another name", o: HTTPOptions{Token: "x", Hosts: []string{"skills.example"}}, token: "x", host: "evil.example", outside: true, want: 403},
		{name: "a page of another site", origin: "https://evil.example", want: 403},
		{name: "a page without a site", origin: "null", want: 403},
		{name: "a page of another port", origin: "http://127.0.0.1:1", want: 403},
		{name: "a page of this server", host: "127.0.0.1:1234", origin: "http://127.0.0.1:1234", want: 200},
		{name: "no token", o: HTTPOptions{Token: "right"}, want: 401},
		{name: "a wrong token", o: HTTPOptions{Token: "right"}, token: "wrong", want: 401},
		{name: "the token", o: HTTPOptions{Token: "right"}, token: "right", want: 200},
		{name: "a large body", o: HTTPOptions{MaxBody: 50}, want: 413},
		{name: "another path", path: "/", want: 404},
		{name: "no JSON", body: "{", want: 400},
		{name: "too many connections", o: HTTPOptions{Connections: 1}, want: 503},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want == http.StatusServiceUnavailable {
				connect(t, s, "", nil)
			}
			body, path := test.body, test.path
			if body == "" {
				body = hello
			}
			if path == "" {
				path = Path
			}
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1234}
			if test.outside {
				local.IP = net.IPv4(192, 0, 2, 1)
			}
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), http.LocalAddrContextKey, local))
			defer cancel()
			r = r.WithContext(ctx)
			if r.Host = test.host; r.Host == "" {
				r.Host = "127.0.0.1:1234"
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			if test.token != "" {
				r.Header.Set("Authorization", "Bearer "+test.token)
			}
			w := httptest.NewRecorder()
			s.Handler(&test.o).ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("status %d, want %d: %s", w.Code, test.want, w.Body)
			}
			if (w.Header().Get("WWW-Authenticate") != "") != (test.want == http.StatusUnauthorized) {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

// Serve ends with its context, whatever streams are open.
func TestServe(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := contextWith(t)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, nil) }()
	c := dial(t, &sdk.StreamableClientTransport{Endpoint: "http://" + l.Addr().String() + Path}, "", nil)
	ask(t, c, "route", object{"utterance": "read this PDF"})
	cancel()
	if err := within(t, done, "end of Serve"); err != nil {
		t.Error(err)
	}
	if err := s.Serve(t.Context(), l, nil); err == nil {
		t.Error("a closed listener was served")
	}
}

// A client that never sends what it announced is not waited for.
func TestBodyTimeout(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	web := httptest.NewServer(s.Handler(&HTTPOptions{BodyTimeout: 100 * time.Millisecond}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { _ = s.Close() })
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode < 400 {
		t.Errorf("answer %+v, error %v", answer, err)
	}
	if err == nil {
		_ = answer.Body.Close()
	}
}

// A client that listens for longer than a body may take goes on listening.
func TestListeningOutlivesTheBodyTimeout(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		dir := folder(t, files)
		s := serve(t, dir, Options{Refresh: time.Millisecond, Stateless: stateless}, nil)
		web := httptest.NewServer(s.Handler(&HTTPOptions{BodyTimeout: 100 * time.Millisecond}))
		t.Cleanup(web.Close)
		t.Cleanup(func() { _ = s.Close() })
		listed := make(chan struct{}, 9)
		dial(t, &sdk.StreamableClientTransport{Endpoint: web.URL + Path}, "", &sdk.ClientOptions{
			ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { listed <- struct{}{} },
		})
		time.Sleep(300 * time.Millisecond)
		write(t, dir, "cooking/soup/SKILL.md", "---\nname: soup\ndescription: Cooks soup.\n---\nBoil.\n")
		within(t, listed, "notice")
	}
}

// elsewhere is a listener that other machines reach.
type elsewhere struct{ closed bool }

func (e *elsewhere) Accept() (net.Conn, error) { return nil, io.EOF }
func (e *elsewhere) Close() error              { e.closed = true; return nil }
func (e *elsewhere) Addr() net.Addr            { return &net.TCPAddr{IP: net.IPv4zero, Port: 80} }

func TestServeBeyondLoopbackNeedsAToken(t *testing.T) {
	s := serve(t, t.TempDir(), Options{}, nil)
	l := &elsewhere{}
	var open *TokenError
	if err := s.Serve(t.Context(), l, nil); !errors.As(err, &open) || !l.closed || open.Hint() == "" {
		t.Errorf("error %v, closed %v", err, l.closed)
	}
	if err := s.Serve(t.Context(), &elsewhere{}, &HTTPOptions{Token: "x"}); errors.As(err, &open) {
		t.Errorf("with a token: %v", err)
	}
}
