package openai

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// unitOf is what Embed makes of vectorOf.
func unitOf(text string) []float32 {
	v := vectorOf(text)
	for i := range v {
		v[i] /= 2
	}
	return v
}

func diffVectors(want, got [][]float32) string {
	return cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6))
}

func TestNewLearnsTheDimension(t *testing.T) {
	s := serve(t, good)
	e, err := New(t.Context(), &Options{BaseURL: s.URL + "/v1/", Key: " " + testKey + "\n", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.ID(), "openai:m/3"; got != want {
		t.Errorf("ID() = %q, want %q", got, want)
	}
	want := []request{{"/v1/embeddings", "Bearer " + testKey, "m", 0, []string{"hello"}}}
	if diff := cmp.Diff(want, s.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestNewWithDimensionAsksNothing(t *testing.T) {
	s := serve(t, good)
	e, _ := open(t, s, func(o *Options) { o.Key, o.Prefix = "", "query: " })
	if got, want := e.ID(), `openai:m/3 "query: "`; got != want {
		t.Errorf("ID() = %q, want %q", got, want)
	}
	if n := len(s.seen()); n != 0 {
		t.Errorf("New made %d requests, want none", n)
	}
	if _, err := e.Embed(t.Context(), []string{"one"}); err != nil {
		t.Fatal(err)
	}
	want := []request{{"/v1/embeddings", "", "m", 3, []string{"query: one"}}}
	if diff := cmp.Diff(want, s.seen()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestNewRefusesOptions(t *testing.T) {
	good := Options{BaseURL: "http://127.0.0.1:1/v1", Key: testKey, Model: "m"}
	tests := []struct {
		name   string
		change func(o *Options)
		want   string
	}{
		{"no model", func(o *Options) { o.Model = " " }, "Model is empty"},
		{"neither address nor key", func(o *Options) { o.BaseURL, o.Key = "", "" }, "the base URL and the key are empty"},
		{"key of two lines", func(o *Options) { o.Key = "sk-secret\nsk-secret" }, "Key has a character"},
		{"key beyond ASCII", func(o *Options) { o.Key = "sk-secret–" }, "Key has a character"},
		{"negative dimension", func(o *Options) { o.Dimensions = -1 }, "Dimensions -1 is negative"},
		{"too many texts", func(o *Options) { o.BatchTexts = 2049 }, "BatchTexts 2049 is above 2048"},
		{"another scheme", func(o *Options) { o.BaseURL = "file:///etc/passwd" }, "no http or https address"},
		{"no scheme", func(o *Options) { o.BaseURL = "localhost:8000/v1" }, "no http or https address"},
		{"no host", func(o *Options) { o.BaseURL = "http:///v1" }, "no http or https address"},
		{"no address", func(o *Options) { o.BaseURL = "http://user:sk-secret@h:port/%zz" }, "the base URL is no address"},
		{"a password", func(o *Options) { o.BaseURL = "https://user:sk-secret@h/v1" }, "has a user name in it"},
		{"a password of another scheme", func(o *Options) { o.BaseURL = "ftp://user:sk-secret@h/v1" }, "no http or https address"},
		{"a query of another scheme", func(o *Options) { o.BaseURL = "ftp://h/v1?key=sk-secret" }, "no http or https address"},
		{"a query", func(o *Options) { o.BaseURL = "https://h/v1?key=sk-secret" }, "has a ? or #"},
		{"a whole address", func(o *Options) { o.BaseURL = "https://h/v1/embeddings/" }, "leave that off"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := good
			test.change(&o)
			_, err := New(t.Context(), &o)
			if err == nil || !strings.HasPrefix(err.Error(), "openai: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New: %v, want an error with %q", err, test.want)
			} else if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
	if _, err := New(t.Context(), nil); err == nil {
		t.Error("New(nil) gave no error")
	}
}

func TestDefaultAddress(t *testing.T) {
	var to string
	client := &http.Client{Transport: recording{&to, canned(`{"data":[` + item(0, []float32{1, 0}) + "]}")}}
	if _, err := New(t.Context(), &Options{Key: testKey, Model: "m", HTTPClient: client}); err != nil {
		t.Fatal(err)
	}
	if want := "https://api.openai.com/v1/embeddings"; to != want {
		t.Errorf("the request went to %s, want %s", to, want)
	}
}

// recording is a transport that notes the address of the last request.
type recording struct {
	to *string
	http.RoundTripper
}

func (r recording) RoundTrip(req *http.Request) (*http.Response, error) {
	*r.to = req.URL.String()
	return r.RoundTripper.RoundTrip(req)
}

func TestNewDoesNotChangeOptions(t *testing.T) {
	s := serve(t, good)
	o := &Options{BaseURL: s.URL, Key: testKey + " ", Model: "m", HTTPClient: s.Client()}
	before := *o
	if _, err := New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if *o != before || o.HTTPClient.CheckRedirect != nil {
		t.Errorf("New changed the options of its caller: %v", o)
	}
}

func TestEmbed(t *testing.T) {
	s := serve(t, good)
	e, _ := open(t, s, nil)
	got, err := e.Embed(t.Context(), []string{"a", "", "bbb", " \n", "我要退款"})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float32{unitOf("a"), {0, 0, 0}, unitOf("bbb"), {0, 0, 0}, unitOf("我要退款")}
	if diff := diffVectors(want, got); diff != "" {
		t.Errorf("vectors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"a", "bbb", "我要退款"}}, s.texts()); diff != "" {
		t.Errorf("blank texts are not sent (-want +got):\n%s", diff)
	}
}

func TestEmbedNothing(t *testing.T) {
	s := serve(t, good)
	e, _ := open(t, s, nil)
	for _, texts := range [][]string{nil, {}, {"", "\t"}} {
		got, err := e.Embed(t.Context(), texts)
		if err != nil || got == nil || len(got) != len(texts) {
			t.Errorf("Embed(%q) = %v, %v", texts, got, err)
		}
	}
	if n := len(s.seen()); n != 0 {
		t.Errorf("%d requests for nothing, want none", n)
	}
}

func TestBatches(t *testing.T) {
	texts := []string{"1", "22", "333", "", "4444", "55555"}
	tests := []struct {
		name   string
		change func(o *Options)
		want   [][]string
	}{
		{"defaults", func(*Options) {}, [][]string{{"1", "22", "333", "4444", "55555"}}},
		{"two at a time", func(o *Options) { o.BatchTexts = 2 }, [][]string{{"1", "22"}, {"333", "4444"}, {"55555"}}},
		{"one by one", func(o *Options) { o.BatchTexts = -1 }, [][]string{{"1"}, {"22"}, {"333"}, {"4444"}, {"55555"}}},
		{"six bytes", func(o *Options) { o.BatchBytes = 6 }, [][]string{{"1", "22", "333"}, {"4444"}, {"55555"}}},
		{"a text is above the bound", func(o *Options) { o.BatchBytes = 3 }, [][]string{{"1", "22"}, {"333"}, {"4444"}, {"55555"}}},
		{"prefixes count", func(o *Options) { o.BatchBytes, o.Prefix = 7, "q:" }, [][]string{{"q:1", "q:22"}, {"q:333"}, {"q:4444"}, {"q:55555"}}},
		{"no bound of bytes", func(o *Options) { o.BatchBytes = -1 }, [][]string{{"1", "22", "333", "4444", "55555"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, good)
			e, _ := open(t, s, test.change)
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.texts()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			for i, text := range texts {
				want := make([]float32, 3)
				if text != "" {
					want = unitOf(e.prefix + text)
				}
				if diff := diffVectors([][]float32{want}, got[i:i+1]); diff != "" {
					t.Errorf("vector of %q (-want +got):\n%s", text, diff)
				}
			}
		})
	}
}

// A server that takes fewer texts than we send gets fewer.
func TestTooLargeIsSplit(t *testing.T) {
	atMostTwo := func(w http.ResponseWriter, texts []string) {
		if len(texts) > 2 {
			body(413, `{"error":"batch size 5 > maximum allowed batch size 2","error_type":"Validation"}`)(w, texts)
			return
		}
		good(w, texts)
	}
	s := serve(t, atMostTwo)
	e, _ := open(t, s, nil)
	texts := []string{"1", "22", "333", "4444", "55555"}
	got, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]float32, len(texts))
	for i, text := range texts {
		want[i] = unitOf(text)
	}
	if diff := diffVectors(want, got); diff != "" {
		t.Errorf("vectors (-want +got):\n%s", diff)
	}
	wantTexts := [][]string{texts, texts[:2], texts[2:], texts[2:3], texts[3:]}
	if diff := cmp.Diff(wantTexts, s.texts()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAnswersAreChecked(t *testing.T) {
	v := []float32{1, 0, 0}
	tests := []struct {
		name  string
		reply reply
		want  string // in the error; "" for none
	}{
		{"other order", data(item(1, []float32{0, 5, 0}), item(0, v)), ""},
		{"too few", data(item(0, v)), "gave 1 vectors for 2 texts"},
		{"none", data(), "gave 0 vectors for 2 texts"},
		{"an error with status 200", body(200, `{"error":{"message":"no"}}`), "gave 0 vectors for 2 texts"},
		{"too many", data(item(0, v), item(1, v), item(2, v)), "gave 3 vectors for 2 texts"},
		{"an index twice", data(item(0, v), item(0, v)), "gave two vectors with the index 0"},
		{"no index", data(`{"embedding":[1,0,0]}`, `{"embedding":[1,0,0]}`), "gave two vectors with the index 0"},
		{"an index too high", data(item(0, v), item(2, v)), "the index 2 for 2 texts"},
		{"a negative index", data(item(0, v), item(-1, v)), "the index -1 for 2 texts"},
		{"another dimension", data(item(0, v), item(1, []float32{1, 0})), "a vector of 2 values, not 3"},
		{"no vector", data(item(0, v), `{"index":1}`), "gave an empty vector"},
		{"a number above float32", data(item(0, v), `{"index":1,"embedding":[1e39,0,0]}`), "number 1e39 where float32 belongs"},
		{"base64", data(item(0, v), `{"index":1,"embedding":"AACAPwAAAAAAAAAA"}`), "string where []float32 belongs"},
		{"a page", body(200, "<html>Welcome</html>"), "an answer that is no JSON"},
		{"a redirect", body(307, "", "Location", "http://elsewhere.example/v1/embeddings?k=1"), "redirects (307) to http://elsewhere.example/v1/embeddings, which"},
		{"a redirect to nowhere", body(302, ""), "redirects (302) to nowhere"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.reply)
			e, c := open(t, s, nil)
			got, err := e.Embed(t.Context(), []string{"a", "bb"})
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := diffVectors([][]float32{v, {0, 1, 0}}, got); diff != "" {
					t.Errorf("vectors (-want +got):\n%s", diff)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "openai: "+s.URL+"/v1 ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if got != nil {
				t.Errorf("got %v beside the error", got)
			}
			checkHint(t, err)
			if n := len(s.seen()); n != 1 || len(c.slept) != 0 {
				t.Errorf("%d requests, slept %v, want one request: asking again gives the same", n, c.slept)
			}
		})
	}
}

func TestDimensionOfLaterBatch(t *testing.T) {
	s := serve(t, good, good, data(item(0, []float32{1, 0})))
	e, _ := open(t, s, func(o *Options) { o.Dimensions, o.BatchTexts = 0, 1 })
	_, err := e.Embed(t.Context(), []string{"a", "b"})
	if err == nil || !strings.Contains(err.Error(), "a vector of 2 values, not 3") {
		t.Errorf("error %v, want one of the dimension", err)
	}
	if hint := checkHint(t, err); !strings.Contains(hint, "another model was loaded") {
		t.Errorf("hint %q, want one of another model", hint)
	}
}

func TestZeros(t *testing.T) {
	s := serve(t, data(item(0, []float32{0, 0, 0})))
	e, _ := open(t, s, nil)
	got, err := e.Embed(t.Context(), []string{"ｶﾀｶﾅ"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{0, 0, 0}}, got); diff != "" {
		t.Errorf("a text that the model knows nothing of (-want +got):\n%s", diff)
	}
	_, err = New(t.Context(), &Options{BaseURL: s.URL, Model: "m"})
	if err == nil || !strings.Contains(err.Error(), "nothing but zeros") {
		t.Errorf("New over a model of zeros: error %v", err)
	}
}

func TestOversizedAnswer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ []string) {
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1`)
		block := strings.Repeat(",1", 32<<10)
		for range 64 { // 4 MiB, above the 1.25 MiB of one text
			if _, err := fmt.Fprint(w, block); err != nil {
				return
			}
		}
		fmt.Fprint(w, `]}]}`)
	})
	e, _ := open(t, s, func(o *Options) { o.BatchTexts = 1 })
	_, err := e.Embed(t.Context(), []string{"a"})
	if err == nil || !strings.Contains(err.Error(), "gave an answer above 1310720 bytes") {
		t.Errorf("error %v, want one of the size", err)
	}
	checkHint(t, err)
}

// Each request of a turn on a new connection would cost a handshake.
func TestConnectionIsKept(t *testing.T) {
	long := func(w http.ResponseWriter, texts []string) {
		w.Header().Set("Content-Type", "application/json")
		good(w, texts)
		fmt.Fprint(w, strings.Repeat("\n", 3000)) // the decoder stops before it
	}
	s := serve(t, long)
	e, _ := open(t, s, nil)
	for range 5 {
		if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connections != 1 {
		t.Errorf("%d connections for 5 requests, want 1", s.connections)
	}
}

func TestConcurrent(t *testing.T) {
	busy := body(503, `{"error":{"message":"busy"}}`)
	s := serve(t, busy, good, busy, good)
	e, _ := open(t, s, func(o *Options) { o.BatchTexts = 3 })
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			texts := make([]string, 10)
			want := make([][]float32, len(texts))
			for i := range texts {
				texts[i] = strings.Repeat("x", n*len(texts)+i+1)
				want[i] = unitOf(texts[i])
			}
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Errorf("Embed: %v", err)
			} else if diff := diffVectors(want, got); diff != "" {
				t.Errorf("vectors (-want +got):\n%s", diff)
			}
		})
	}
	wg.Wait()
}

func TestUnit(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tests := []struct {
		v, want []float32 // nil: not finite
	}{
		{[]float32{3, 4}, []float32{0.6, 0.8}},
		{[]float32{0, 0}, []float32{0, 0}},
		{[]float32{-math.MaxFloat32, 0}, []float32{-1, 0}},
		{[]float32{0, math.SmallestNonzeroFloat32}, []float32{0, 1}},
		{[]float32{1, nan}, nil},
		{[]float32{inf, 0}, nil},
		{[]float32{-inf, nan}, nil},
	}
	for _, test := range tests {
		got := append([]float32{}, test.v...)
		if ok := unit(got); ok != (test.want != nil) {
			t.Errorf("unit(%v) = %v", test.v, ok)
		} else if ok && cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-6)) != "" {
			t.Errorf("unit(%v) makes %v, want %v", test.v, got, test.want)
		}
	}
}

// Whatever is printed, logged or marshalled does not show the key.
func TestKeyIsNotShown(t *testing.T) {
	s := serve(t, body(500, `{"error":{"message":"key `+testKey+` met the text pay my invoice"}}`), good)
	var log strings.Builder
	o := Options{
		BaseURL: s.URL, Key: testKey, Model: "m", Dimensions: 3,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	e, err := newEmbedder(t.Context(), &o, (&fakeClock{}).clock())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), []string{"pay my invoice"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "key [key] met the text [text]") {
		t.Errorf("log %q, want what the endpoint said, without key and text", log.String())
	}
	slog.New(slog.NewJSONHandler(&log, nil)).Info("as JSON", "options", o)
	if !strings.Contains(log.String(), `"Model":"m"`) {
		t.Errorf("log %q, want the options as JSON", log.String())
	}
	shown := map[string]string{"the log": log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for name, v := range map[string]any{"Options": o, "*Options": &o, "Embedder": *e, "*Embedder": e} {
			shown[name+" "+verb] = fmt.Sprintf(verb, v)
		}
	}
	for name, text := range shown {
		if strings.Contains(text, testKey) || strings.Contains(text, "invoice") {
			t.Errorf("%s shows the key or a text: %s", name, text)
		}
	}
	if got, want := e.String(), "openai:m/3 at "+s.URL; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestCancelledBefore(t *testing.T) {
	s := serve(t, good)
	e, _ := open(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, []string{"a"}); err == nil || !isContextError(err) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func BenchmarkEmbed(b *testing.B) {
	vector := make([]float32, 1536)
	for i := range vector {
		vector[i] = float32(i%17) / 170
	}
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("texts=%d", n), func(b *testing.B) {
			items := make([]string, n)
			texts := make([]string, n)
			for i := range items {
				items[i], texts[i] = item(i, vector), "where is my parcel"
			}
			answer := `{"data":[` + strings.Join(items, ",") + "]}"
			client := &http.Client{Transport: canned(answer)}
			e, err := New(b.Context(), &Options{BaseURL: "http://h", Model: "m", Dimensions: 1536, HTTPClient: client, Timeout: time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Embed(b.Context(), texts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
