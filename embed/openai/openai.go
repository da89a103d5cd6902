// Package openai embeds texts at an endpoint that speaks the embeddings API of
// OpenAI: OpenAI itself, or a server of one's own such as vLLM, Ollama, TEI or
// llama.cpp. It takes the place of the built-in embedder for those who want the
// last points of accuracy and accept a request for each turn.
//
// Requests are bounded in size and time and repeated where that may help;
// nothing in an answer is believed before its count, order and dimension are
// checked. An address of a cloud's metadata service is never dialled.
package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"

	"skillrouter/internal/text"
)

// Options says which endpoint is used and how. Model is required. Printing or
// marshalling Options does not show the key.
type Options struct {
	BaseURL     string        // without "/embeddings", such as "http://127.0.0.1:8000/v1"; "" means OpenAI's own, which takes a Key
	Key         string        `json:"-"` // sent as bearer token; "" sends none
	Model       string        // as the endpoint names it
	Prefix      string        // put before every text, for models that were trained so: "query: " for E5
	Dimensions  int           // asked of the model, which must be able to shorten its vectors; 0 means the model's own
	BatchTexts  int           // most texts in a request; 0 means 64, negative one by one, at most 2,048
	BatchBytes  int           // most bytes of text in a request, unless one text has more; 0 means 256 KiB, negative no bound
	BatchTokens int           // most tokens in a request, as estimated, unless one text has more; 0 or negative: no bound beside BatchBytes
	Concurrency int           // most requests at a time of [Embedder.EmbedBatches]; 0 means 4, negative one
	Patience    time.Duration // how long EmbedBatches waits for an endpoint that takes no more for now, for each request; 0 means 10 min, negative: not longer than a turn does
	Timeout     time.Duration // of one request, by itself: one of several at a time may wait for the others; 0 means 30 s, negative none
	Attempts    int           // most tries of a request that met a failing endpoint, or for a turn a busy one; EmbedBatches makes twice as many; 0 means 4, negative one
	HTTPClient  *http.Client  // nil means our own, which takes proxies from the environment; what another one dials is its owner's to check
	Logger      *slog.Logger  // told of each repeated request, never of texts or the key; nil discards
}

// String names the model and the address, and says whether there is a key.
func (o Options) String() string {
	key := "no key"
	if o.Key != "" {
		key = "a key"
	}
	return fmt.Sprintf("openai.Options{model %q at %q, %s}", o.Model, withoutSecrets(o.BaseURL), key)
}

// GoString is String, so that no verb of fmt shows the key.
func (o Options) GoString() string { return o.String() }

const (
	ownBaseURL      = "https://api.openai.com/v1"
	defaultTexts    = 64
	mostTexts       = 2048 // the limit of OpenAI
	defaultBytes    = 256 << 10
	defaultTimeout  = 30 * time.Second
	defaultAttempts = 4
	defaultAtATime  = 4
	defaultPatience = 10 * time.Minute
	probe           = "hello" // a text that every model knows
	answerBase      = 1 << 20
	answerPerText   = 256 << 10 // 4,096 numbers written at length, and as much again
)

// An Embedder embeds at one endpoint with one model. It is safe for concurrent
// use.
type Embedder struct {
	id          string
	prefix      string
	dim         int
	batchTexts  int
	batchBytes  int
	batchTokens int // 0: no bound
	atATime     int
	patience    time.Duration
	endpoint    *endpoint
}

// New returns an embedder for an endpoint. Unless Options.Dimensions is given
// it sends one request, with no text of the caller's, to learn the dimension.
//
// A key that is missing or wrong is a [KeyError], a model that the endpoint does
// not have a [ModelError]. All errors of an endpoint have a Hint method that
// says what to do; none holds the key.
func New(ctx context.Context, opts *Options) (*Embedder, error) {
	return newEmbedder(ctx, opts, realClock())
}

func newEmbedder(ctx context.Context, opts *Options, c clock) (*Embedder, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	base, err := o.complete()
	if err != nil {
		return nil, err
	}
	e := &Embedder{
		prefix: o.Prefix, dim: o.Dimensions, batchTexts: o.BatchTexts, batchBytes: o.BatchBytes,
		batchTokens: max(o.BatchTokens, 0), atATime: o.Concurrency, patience: o.Patience,
		endpoint: newEndpoint(&o, base, c),
	}
	if e.dim == 0 {
		if err := e.learn(ctx); err != nil {
			return nil, err
		}
	}
	e.id = "openai:" + o.Model + "/" + strconv.Itoa(e.dim)
	if o.Prefix != "" {
		e.id += " " + strconv.Quote(o.Prefix)
	}
	return e, nil
}

// complete checks the options, puts defaults for zeros, and returns the address.
func (o *Options) complete() (base string, err error) {
	o.Model, o.Key = strings.TrimSpace(o.Model), strings.TrimSpace(o.Key)
	switch {
	case o.Model == "":
		return "", errors.New("openai: Model is empty: name a model of the endpoint")
	case strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("openai: Key has a character that no key has: a line break, a space, or one beyond ASCII")
	case o.BaseURL == "" && o.Key == "":
		return "", errors.New("openai: the base URL and the key are empty: OpenAI takes a key, other endpoints an address")
	case o.Dimensions < 0:
		return "", fmt.Errorf("openai: Dimensions %d is negative", o.Dimensions)
	case o.BatchTexts > mostTexts:
		return "", fmt.Errorf("openai: BatchTexts %d is above %d", o.BatchTexts, mostTexts)
	}
	if o.BaseURL == "" {
		o.BaseURL = ownBaseURL
	}
	o.BatchTexts = orDefault(o.BatchTexts, defaultTexts, 1)
	o.BatchBytes = orDefault(o.BatchBytes, defaultBytes, math.MaxInt)
	o.Concurrency = orDefault(o.Concurrency, defaultAtATime, 1)
	o.Patience = orDefault(o.Patience, defaultPatience, 0)
	o.Timeout = orDefault(o.Timeout, defaultTimeout, 0)
	o.Attempts = orDefault(o.Attempts, defaultAttempts, 1)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return parseBase(o.BaseURL)
}

// orDefault returns what v stands for: a zero for the default, a negative
// number for off.
func orDefault[T int | time.Duration](v, byDefault, off T) T {
	switch {
	case v == 0:
		return byDefault
	case v < 0:
		return off
	}
	return v
}

// learn asks for one vector and takes its length for all.
func (e *Embedder) learn(ctx context.Context) error {
	data, err := e.endpoint.post(ctx, []string{e.prefix + probe}, e.endpoint.turn())
	if err != nil {
		return err
	}
	if len(data) > 0 {
		e.dim = len(data[0].Embedding)
	}
	var vectors [1][]float32
	if err := e.place(vectors[:], []int{0}, data); err != nil {
		return err
	}
	for _, x := range vectors[0] {
		if x != 0 {
			return nil
		}
	}
	return e.endpoint.wrong("gave nothing but zeros")
}

// ID names the model, the dimension and the prefix, such as
// "openai:text-embedding-3-small/1536". The address is not part of it, so that
// an index built through one address is of use through another; two endpoints
// that serve different models under one name must not share an index.
func (e *Embedder) ID() string { return e.id }

// String is the ID and the address.
func (e *Embedder) String() string { return e.id + " at " + e.endpoint.url }

// Embed returns one vector for each text, in order: of length 1, or all zeros
// for a blank text, which is not sent, and for one that the model knows nothing
// of. The vectors belong to the caller. One request is made at a time; an error
// of any leaves no vectors. For many texts there is [Embedder.EmbedBatches].
//
// Errors are as those of [New], or wrap that of ctx. What an endpoint says about
// a failure is part of the error, without the key and without the texts.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	pending := make([]int, 0, len(texts))
	for i, s := range texts {
		if strings.TrimSpace(s) == "" {
			vectors[i] = make([]float32, e.dim)
		} else {
			pending = append(pending, i)
		}
	}
	for len(pending) > 0 {
		n := e.fit(texts, pending)
		if err := e.fill(ctx, vectors, texts, pending[:n], e.endpoint.turn()); err != nil {
			return nil, err
		}
		pending = pending[n:]
	}
	return vectors, nil
}

// fit returns how many of the pending texts, at least one, go into a request.
func (e *Embedder) fit(texts []string, pending []int) int {
	size, tokens := 0, 0
	for n, i := range pending {
		size += len(e.prefix) + len(texts[i])
		if e.batchTokens > 0 {
			tokens += text.Tokens(e.prefix) + text.Tokens(texts[i])
		}
		if n == e.batchTexts || n > 0 && (size > e.batchBytes || tokens > max(e.batchTokens, 0)) {
			return n
		}
	}
	return len(pending)
}

// fill embeds the texts that at names and puts their vectors at the same places.
func (e *Embedder) fill(ctx context.Context, vectors [][]float32, texts []string, at []int, with patience) error {
	inputs := make([]string, len(at))
	for n, i := range at {
		inputs[n] = e.prefix + texts[i]
	}
	data, err := e.endpoint.post(ctx, inputs, with)
	var f *failure
	if errors.As(err, &f) && f.tooLarge && len(at) > 1 { // TEI takes 32 texts unless told otherwise
		half := len(at) / 2
		if err := e.fill(ctx, vectors, texts, at[:half], with); err != nil {
			return err
		}
		return e.fill(ctx, vectors, texts, at[half:], with)
	}
	if err != nil {
		return err
	}
	return e.place(vectors, at, data)
}

// place checks an answer to the texts that at names and puts its vectors, made
// of length 1, at their places. Endpoints answer in any order.
func (e *Embedder) place(vectors [][]float32, at []int, data []api.Embedding) error {
	if len(data) != len(at) {
		return e.endpoint.wrong("gave %d vectors for %d texts", len(data), len(at))
	}
	for _, d := range data {
		switch {
		case d.Index < 0 || d.Index >= len(at):
			return e.endpoint.wrong("gave a vector with the index %d for %d texts", d.Index, len(at))
		case vectors[at[d.Index]] != nil:
			return e.endpoint.wrong("gave two vectors with the index %d", d.Index)
		case len(d.Embedding) == 0:
			return e.endpoint.wrong("gave an empty vector")
		case len(d.Embedding) != e.dim:
			return e.endpoint.wrongDimension(len(d.Embedding), e.dim)
		case !unit(d.Embedding):
			return e.endpoint.wrong("gave a vector with a value that is no finite number")
		}
		vectors[at[d.Index]] = d.Embedding
	}
	return nil
}

// unit gives v the length 1; zeros stay zeros. It reports whether all values
// were finite.
func unit(v []float32) bool {
	var sum float64 // the square of a float32 neither overflows nor vanishes in it
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	if sum > 0 {
		inverse := 1 / math.Sqrt(sum)
		for i, x := range v {
			v[i] = float32(float64(x) * inverse)
		}
	}
	return true
}
