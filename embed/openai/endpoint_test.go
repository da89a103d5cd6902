package openai

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A canned transport gives one answer to all.
type canned string

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c))), Request: req,
	}, nil
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// checkHint fails if err has none, and returns it.
func checkHint(t *testing.T, err error) string {
	t.Helper()
	var hinted interface{ Hint() string }
	if !errors.As(err, &hinted) || hinted.Hint() == "" {
		t.Errorf("error without a hint: %v", err)
		return ""
	}
	return hinted.Hint()
}

// What may pass is tried again, with pauses that grow and stop at what the
// endpoint asks for. The clock's jitter is half.
func TestRetries(t *testing.T) {
	const ms = time.Millisecond
	busy := func(headers ...string) reply {
		return body(429, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, headers...)
	}
	date := fakeNow().Add(20 * time.Second).Format(http.TimeFormat)
	past := fakeNow().Add(-time.Hour).Format(http.TimeFormat)
	tests := []struct {
		name    string
		replies []reply
		change  func(o *Options)
		slept   []time.Duration
		want    string // in the error; "" for none
	}{
		{name: "at once", replies: []reply{good}},
		{"429", []reply{busy(), good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"429 with seconds", []reply{busy("Retry-After", "7"), good}, nil, []time.Duration{7*time.Second + 187500*time.Microsecond}, ""},
		{"429 with part of a second", []reply{busy("Retry-After", "0.5"), good}, nil, []time.Duration{687500 * time.Microsecond}, ""},
		{"429 with a date", []reply{busy("Retry-After", date), good}, nil, []time.Duration{20*time.Second + 187500*time.Microsecond}, ""},
		{"429 with a date gone by", []reply{busy("Retry-After", past), good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"429 with nonsense", []reply{busy("Retry-After", "NaN"), busy("Retry-After", "-5"), busy("Retry-After", "soon"), good}, nil, []time.Duration{187500 * time.Microsecond, 375 * ms, 750 * ms}, ""},
		{"429 for an hour", []reply{busy("Retry-After", "3600")}, nil, nil, "answered 429 Too Many Requests: slow down (it asks to be left alone for 1h0m0s)"},
		{"429 for ever", []reply{busy("Retry-After", "1e300")}, nil, nil, "left alone for 24h0m0s"},
		{"a storm", []reply{busy()}, nil, []time.Duration{187500 * time.Microsecond, 375 * ms, 750 * ms}, "slow down (tried 4 times)"},
		{"a long storm", []reply{busy()}, func(o *Options) { o.Attempts = 8 }, []time.Duration{187500 * time.Microsecond, 375 * ms, 750 * ms, 1500 * ms, 3 * time.Second, 6 * time.Second, 6 * time.Second}, "(tried 8 times)"},
		{"a storm met once", []reply{busy()}, func(o *Options) { o.Attempts = -1 }, nil, "answered 429"},
		{"nothing left to spend", []reply{body(429, `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`)}, nil, nil, "You exceeded your quota"},
		{"500 as JSON", []reply{body(500, `{"error":{"message":"inference failed","code":null}}`), good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"503 with seconds", []reply{body(503, "", "Retry-After", "2"), good}, nil, []time.Duration{2187500 * time.Microsecond}, ""},
		{"502 as a page for ever", []reply{body(502, "<html>Bad gateway</html>")}, nil, []time.Duration{187500 * time.Microsecond, 375 * ms, 750 * ms}, "answered 502 Bad Gateway (tried 4 times)"},
		{"an endless page", []reply{body(500, strings.Repeat("<br>", 1<<18)), good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"reset", []reply{reset, good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"reset for ever", []reply{reset}, func(o *Options) { o.Attempts = 2 }, []time.Duration{187500 * time.Microsecond}, "(tried 2 times)"},
		{"half an answer", []reply{cut(`{"data":[{"index":0,`), good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"half an answer for ever", []reply{cut(`{"data":[{"index":0,`)}, func(o *Options) { o.Attempts = 2 }, []time.Duration{187500 * time.Microsecond}, "broke off its answer (tried 2 times)"},
		{"half a JSON", []reply{body(200, `{"data":[`), good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"nothing at all", []reply{body(200, ""), good}, nil, []time.Duration{187500 * time.Microsecond}, ""},
		{"400", []reply{body(400, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":null}}`)}, nil, nil, "answered 400 Bad Request: This model's maximum context length is 8192 tokens"},
		{"413 of one text", []reply{body(413, "<html>")}, nil, nil, "answered 413 Request Entity Too Large"},
		{"422 that repeats the text", []reply{body(422, `{"detail":"input 'my text' is bad"}`)}, nil, nil, "answered 422 Unprocessable Entity: input '[text]' is bad"},
		{"404 as a page", []reply{body(404, "404 page not found")}, nil, nil, "answered 404 Not Found"},
		{"409", []reply{body(409, `{"message":"x\u001b[31my\n\n z"}`)}, nil, nil, "answered 409 Conflict: x [31my z"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.replies...)
			e, c := open(t, s, test.change)
			_, err := e.Embed(t.Context(), []string{"my text"})
			if test.want == "" && err != nil {
				t.Errorf("error %v, want none", err)
			} else if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want one with %q", err, test.want)
				}
				checkHint(t, err)
			}
			if diff := cmp.Diff(test.slept, c.slept); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
			if n := len(s.seen()); n != len(test.slept)+1 {
				t.Errorf("%d requests, want %d", n, len(test.slept)+1)
			}
		})
	}
}

func TestPausesVary(t *testing.T) {
	for _, test := range []struct {
		jitter float64
		want   time.Duration
	}{{0, 5 * time.Second / 2}, {0.999999999, 3 * time.Second}} {
		p := &endpoint{clock: clock{jitter: func() float64 { return test.jitter }}}
		if got := p.pause(3, 2*time.Second).Round(time.Millisecond); got != test.want {
			t.Errorf("third pause on top of 2s, jitter %v: %v, want %v", test.jitter, got, test.want)
		}
	}
}

func TestKeyAndModel(t *testing.T) {
	tests := []struct {
		name  string
		key   string
		reply reply
		want  error
	}{
		{"wrong key", testKey, body(401, `{"error":{"message":"Incorrect API key provided: sk-te**6789","code":"invalid_api_key"}}`), &KeyError{Given: true}},
		{"wrong key, no JSON", testKey, body(401, "Unauthorized"), &KeyError{Given: true}},
		{"no key", "", body(401, `{"error":{"message":"You didn't provide an API key"}}`), &KeyError{}},
		{"forbidden", testKey, body(403, `{"error":{"message":"country not supported for `+testKey+`"}}`), &KeyError{Given: true, Message: "country not supported for [key]"}},
		{"unknown model", testKey, body(404, `{"error":{"message":"no such thing","code":"model_not_found"}}`), &ModelError{Model: "no-such", Message: "no such thing"}},
		{"unknown model of Ollama", "", body(404, `{"error":{"message":"model \"no-such\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`), &ModelError{Model: "no-such", Message: `model "no-such" not found, try pulling it first`}},
		{"unknown model of older vLLM", "", body(404, "{\"object\":\"error\",\"message\":\"The model `no-such` does not exist.\",\"code\":404}"), &ModelError{Model: "no-such", Message: "The model `no-such` does not exist."}},
		{"model not for this key", testKey, body(403, `{"error":{"message":"no access","code":"model_not_found"}}`), &ModelError{Model: "no-such", Message: "no access"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.reply)
			c := &fakeClock{}
			_, err := newEmbedder(t.Context(), &Options{BaseURL: s.URL, Key: test.key, Model: "no-such"}, c.clock())
			var got error
			var key *KeyError
			var model *ModelError
			switch {
			case errors.As(err, &key):
				if key.URL != s.URL {
					t.Errorf("URL %q, want %q", key.URL, s.URL)
				}
				key.URL = ""
				got = key
			case errors.As(err, &model):
				if model.URL != s.URL {
					t.Errorf("URL %q, want %q", model.URL, s.URL)
				}
				model.URL = ""
				got = model
			default:
				t.Fatalf("error %v, want a KeyError or a ModelError", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), "sk-te") {
				t.Errorf("the error shows the key: %v", err)
			}
			checkHint(t, err)
			if n := len(s.seen()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestErrorTexts(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&KeyError{URL: "http://h/v1"}, "openai: http://h/v1 wants a key"},
		{&KeyError{URL: "http://h/v1", Given: true, Message: "no"}, "openai: http://h/v1 refused the key: no"},
		{&ModelError{URL: "http://h/v1", Model: "m"}, `openai: http://h/v1 has no model "m"`},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close() // its port is free now
	c := &fakeClock{}
	_, err := newEmbedder(t.Context(), &Options{BaseURL: s.URL, Model: "m", Attempts: 2}, c.clock())
	if err == nil || !strings.Contains(err.Error(), s.URL+" cannot be reached: ") || len(c.slept) != 1 {
		t.Errorf("error %v after pauses %v, want one of an endpoint that cannot be reached, after one pause", err, c.slept)
	}
	var op *net.OpError
	if !errors.As(err, &op) {
		t.Errorf("error %v does not wrap that of the network", err)
	}
	checkHint(t, err)
}

func TestCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	defer s.Close()
	c := &fakeClock{}
	_, err := newEmbedder(t.Context(), &Options{BaseURL: s.URL, Key: testKey, Model: "m"}, c.clock())
	if err == nil || !strings.Contains(err.Error(), "cannot be trusted") || len(c.slept) != 0 {
		t.Errorf("error %v after pauses %v, want one of the certificate at once", err, c.slept)
	}
	checkHint(t, err)
}

func TestHostThatIsNone(t *testing.T) {
	c := &fakeClock{}
	unknown := &http.Client{Transport: failing{&net.DNSError{Err: "no such host", Name: "nowhere.test", IsNotFound: true}}}
	_, err := newEmbedder(t.Context(), &Options{BaseURL: "http://nowhere.test/v1", Model: "m", HTTPClient: unknown}, c.clock())
	if err == nil || !strings.Contains(err.Error(), "a host that does not exist: nowhere.test") || len(c.slept) != 0 {
		t.Errorf("error %v after pauses %v, want one of the host at once", err, c.slept)
	}
	checkHint(t, err)
}

// failing is a transport that always fails.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestNoTLS(t *testing.T) {
	s := serve(t, good)
	c := &fakeClock{}
	_, err := newEmbedder(t.Context(), &Options{BaseURL: "https" + strings.TrimPrefix(s.URL, "http"), Model: "m"}, c.clock())
	if err == nil || !strings.Contains(err.Error(), "does not speak TLS") || len(c.slept) != 0 {
		t.Errorf("error %v after pauses %v, want one of the protocol at once", err, c.slept)
	}
	checkHint(t, err)
}

// hanging begins an answer and ends it when the client has gone or the test is
// over.
func hanging(t *testing.T) reply {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	return func(w http.ResponseWriter, _ []string) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"data":[`)
		_ = http.NewResponseController(w).Flush()
		<-over
	}
}

func TestSlowAnswer(t *testing.T) {
	s := serve(t, good)
	s.replies = []reply{hanging(t), good}
	e, c := open(t, s, func(o *Options) { o.Timeout, o.Attempts = 50*time.Millisecond, -1 })
	_, err := e.Embed(t.Context(), []string{"a"})
	if err == nil || !strings.Contains(err.Error(), "gave no answer in time") {
		t.Errorf("error %v, want one of the time", err)
	}
	if isContextError(err) {
		t.Errorf("error %v is that of a context, but the caller's has not ended", err)
	}
	if hint := checkHint(t, err); !strings.Contains(hint, "Timeout") {
		t.Errorf("hint %q does not name Timeout", hint)
	}
	if len(c.slept) != 0 {
		t.Errorf("slept %v, want one try", c.slept)
	}
}

func TestSlowAnswerIsAskedAgain(t *testing.T) {
	s := serve(t, good)
	s.replies = []reply{hanging(t), good}
	e, c := open(t, s, func(o *Options) { o.Timeout = 300 * time.Millisecond })
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if len(c.slept) == 0 {
		t.Error("the slow answer was waited for")
	}
}

func TestDeadlineOfTheCaller(t *testing.T) {
	s := serve(t, good)
	s.replies = []reply{hanging(t)}
	e, _ := open(t, s, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := e.Embed(ctx, []string{"a"})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "openai: "+s.URL) {
		t.Errorf("error %v, want that of the context and the address", err)
	}
	if n := len(s.seen()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	s := serve(t, body(429, ""), good)
	e, c := open(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	c.before = cancel
	_, err := e.Embed(ctx, []string{"a"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if n := len(s.seen()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// A turn does not wait for a pause that it cannot use.
func TestPauseBeyondTheDeadline(t *testing.T) {
	s := serve(t, body(429, `{"error":{"message":"slow down"}}`, "Retry-After", "30"), good)
	o := &Options{BaseURL: s.URL, Key: testKey, Model: "m", Dimensions: 3}
	c := (&fakeClock{}).clock()
	c.now = time.Now
	c.sleep = func(context.Context, time.Duration) error {
		t.Error("slept, though the deadline comes before the pause ends")
		return nil
	}
	e, err := newEmbedder(t.Context(), o, c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := e.Embed(ctx, []string{"a"}); err == nil || !strings.Contains(err.Error(), "429 Too Many Requests: slow down") {
		t.Errorf("error %v, want what the endpoint said", err)
	}
}

func TestRealClock(t *testing.T) {
	c := realClock()
	if err := c.sleep(t.Context(), time.Microsecond); err != nil {
		t.Errorf("sleep: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("sleep in a cancelled context: %v", err)
	}
	if j := c.jitter(); j < 0 || j >= 1 {
		t.Errorf("jitter %v is not in [0, 1)", j)
	}
}

// What an endpoint says is one short line without the key and the texts,
// whatever it is.
func FuzzClean(f *testing.F) {
	f.Add("key sk-test and text my invoice", "my invoice")
	f.Add("a\x1b[31m\r\n\u202eb", "long text")
	f.Add(strings.Repeat("词", 400), "词词")
	f.Add(strings.Repeat("[text", 100), "[text]")
	f.Fuzz(func(t *testing.T, message, text string) {
		p := &endpoint{key: func() string { return testKey }}
		got := p.clean(message+testKey+text, []string{text})
		if strings.Contains(got, testKey) {
			t.Errorf("clean(%q) shows the key: %q", message, got)
		}
		if n := len([]rune(got)); n > longestMessage+1 {
			t.Errorf("clean(%q) has %d characters", message, n)
		}
		if strings.ContainsAny(got, "\n\r\x1b\u202e") {
			t.Errorf("clean(%q) = %q is not one plain line", message, got)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "7", "0.5", "-1", "NaN", "Inf", "1e400", "Sun, 01 Mar 2026 12:00:20 GMT", "Monday"} {
		f.Add(s)
	}
	p := &endpoint{clock: (&fakeClock{}).clock()}
	f.Fuzz(func(t *testing.T, value string) {
		if got := p.retryAfter(http.Header{"Retry-After": {value}}); got < 0 {
			t.Errorf("retryAfter(%q) = %v", value, got)
		}
	})
}
