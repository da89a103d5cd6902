package openai

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"
)

const (
	firstWait = 250 * time.Millisecond // before the second try, twice as long before each further one
	mostWait  = 8 * time.Second
	mostAsked = time.Minute // an endpoint that asks for a longer pause is not waited for
)

// A clock is what retries need of time, for tests to replace.
type clock struct {
	now    func() time.Time
	sleep  func(ctx context.Context, d time.Duration) error // the error is that of ctx
	jitter func() float64                                   // in [0, 1)
}

func realClock() clock {
	return clock{
		now: time.Now,
		sleep: func(ctx context.Context, d time.Duration) error {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		jitter: rand.Float64,
	}
}

// An endpoint takes requests and tells in our words what went wrong.
type endpoint struct {
	client     *api.Client
	url        string
	key        func() string // "" if there is none; a function, since fmt prints what is in fields
	model      string
	dimensions int
	single     bool          // one message a request: hints say nothing of batches
	timeout    time.Duration // 0: none
	attempts   int
	logger     *slog.Logger
	clock      clock
	gate       gate
}

func newEndpoint(o *Options, base string, c clock) *endpoint {
	client := o.HTTPClient
	if client == nil {
		client = newHTTPClient(nil)
	}
	config := api.DefaultConfig(o.Key)
	config.BaseURL = base
	config.HTTPClient = newDoer(client, answerBase+int64(o.BatchTexts)*answerPerText)
	return &endpoint{
		client: api.NewClientWithConfig(config), url: base, key: func() string { return o.Key }, model: o.Model, dimensions: o.Dimensions,
		timeout: o.Timeout, attempts: o.Attempts, logger: o.Logger, clock: c,
	}
}

// batched is a part of a hint that is about batches of texts, "" where there are none.
func (p *endpoint) batched(hint string) string {
	if p.single {
		return ""
	}
	return hint
}

// A patience says how long requests are repeated.
type patience struct {
	attempts int           // tries of a request
	limited  time.Duration // how long in all it waits for an endpoint that takes no more for now; 0: tries count as others do
	timeout  time.Duration // of one request; 0: none
	gated    bool          // it keeps to the pauses that other requests were told
}

// turn is the patience of whoever waits for a turn: little.
func (p *endpoint) turn() patience { return patience{attempts: p.attempts, timeout: p.timeout} }

// bulk is that of a long run, which would have to be started again. A server
// that takes one request at a time lets the others wait for those before them.
func (p *endpoint) bulk(limited time.Duration, atATime int) patience {
	attempts := p.attempts
	if attempts > 1 {
		attempts *= 2
	}
	return patience{attempts: attempts, limited: limited, timeout: p.timeout * time.Duration(atATime), gated: true}
}

// post has the texts embedded, see retry.
func (p *endpoint) post(ctx context.Context, texts []string, with patience) (data []api.Embedding, err error) {
	err = p.retry(ctx, with, func(ctx context.Context) error {
		data, err = p.once(ctx, texts)
		return err
	})
	return data, err
}

// retry makes a request, again where that may help. It gives up early if the
// pause would outlast ctx: whoever waits for a turn has better use of the time.
func (p *endpoint) retry(ctx context.Context, with patience, once func(context.Context) error) error {
	mostAsked := max(mostAsked, with.limited)
	var limited time.Duration // waited for so far
	faults := 0
	for tries := 1; ; tries++ {
		if with.gated {
			if err := p.gate.wait(ctx, p.clock); err != nil {
				return fmt.Errorf("openai: %s: %w", p.url, err)
			}
		}
		err := bounded(ctx, with.timeout, once)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("openai: %s: %w", p.url, ctx.Err())
		}
		var f *failure
		if !errors.As(err, &f) {
			return err
		}
		f.tries = tries
		wait := p.pause(tries, f.after)
		patient := f.limited && limited+wait <= with.limited
		if !patient {
			faults++
		}
		spent := f.limited && !patient && with.limited > 0
		deadline, ok := ctx.Deadline()
		if !f.again || spent || faults >= with.attempts || f.after > mostAsked || ok && p.clock.now().Add(wait).After(deadline) {
			return f
		}
		p.logger.WarnContext(ctx, "request failed, trying again", "error", f, "wait", wait, "attempts", with.attempts)
		if patient {
			limited += wait
			p.gate.close(p.clock.now().Add(wait)) // for all requests of the run
			continue
		}
		if err := p.clock.sleep(ctx, wait); err != nil {
			return fmt.Errorf("openai: %s: %w", p.url, err)
		}
	}
}

// bounded makes one request within its time; 0 is any.
func bounded(ctx context.Context, most time.Duration, once func(context.Context) error) error {
	if most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, most)
		defer cancel()
	}
	return once(ctx)
}

// pause returns how long to wait after a try: what the endpoint asked for, and
// on top of it a part that is random, lest all who were refused return at once.
func (p *endpoint) pause(attempt int, asked time.Duration) time.Duration {
	own := mostWait
	if doublings := attempt - 1; doublings < 5 {
		own = firstWait << doublings
	}
	return asked + own/2 + time.Duration(p.clock.jitter()*float64(own/2))
}

// once makes one request. Its errors are [KeyError], [ModelError] and [failure].
func (p *endpoint) once(ctx context.Context, texts []string) ([]api.Embedding, error) {
	// No encoding is asked for: numbers are what every server gives then.
	resp, err := p.client.CreateEmbeddings(ctx, api.EmbeddingRequestStrings{
		Input: texts, Model: api.EmbeddingModel(p.model), Dimensions: p.dimensions,
	})
	p.gate.heed(resp.Header(), p.clock.now())
	if err == nil {
		return resp.Data, nil
	}
	return nil, p.explain(err, texts, resp.Header())
}

// explain says what an error of a request means; texts are those of the request.
func (p *endpoint) explain(err error, texts []string, header http.Header) error {
	var inForm *api.APIError
	var inOther *api.RequestError // first: it may wrap an APIError without a status
	switch {
	case errors.As(err, &inOther):
		return p.refused(texts, &refusal{inOther.HTTPStatusCode, "", messageOf(inOther.Body), p.retryAfter(header)})
	case errors.As(err, &inForm):
		code, _ := inForm.Code.(string)
		return p.refused(texts, &refusal{inForm.HTTPStatusCode, code, inForm.Message, p.retryAfter(header)})
	}
	return p.broken(err)
}

// retryAfter returns for how long an answer asks to be left alone: a number of
// seconds or a date (RFC 9110, section 10.2.3), or milliseconds as Azure and
// OpenAI say. 0 if it does not say.
func (p *endpoint) retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(min(ms, 24*60*60*1000) * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		const day = 24 * 60 * 60 // longer ones may not fit a Duration
		return time.Duration(min(seconds, day) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(p.clock.now()), 0)
	}
	return 0
}

// A refusal is an answer with a status of 400 and above.
type refusal struct {
	status  int
	code    string // of OpenAI's form of errors
	message string
	after   time.Duration
}

// refused says what a refusal means.
func (p *endpoint) refused(texts []string, r *refusal) error {
	message := p.clean(r.message, texts)
	switch {
	case r.status == http.StatusUnauthorized:
		return &KeyError{URL: p.url, Given: p.key() != ""} // here endpoints repeat parts of the key
	case r.code == "model_not_found", r.code == "invalid_model",
		r.status == http.StatusNotFound && strings.Contains(r.message, p.model):
		return &ModelError{URL: p.url, Model: p.model, Message: message}
	case r.status == http.StatusForbidden:
		return &KeyError{URL: p.url, Given: p.key() != "", Message: message}
	}
	f := p.failed("answered %d %s", r.status, http.StatusText(r.status))
	if message != "" {
		f.what += ": " + message
	}
	switch {
	case r.code == "insufficient_quota":
		f.hint = "the account behind the key has nothing left to spend"
	case r.status == http.StatusTooManyRequests:
		f.again, f.limited, f.after = true, true, r.after
		f.hint = "the endpoint takes no more for now: wait" + p.batched(", or lower BatchTexts")
	case r.status == http.StatusServiceUnavailable && r.after > 0:
		f.again, f.limited, f.after = true, true, r.after
		f.hint = "the endpoint takes no more for now: wait"
	case r.status >= 500:
		f.again, f.after = true, r.after
		f.hint = "the fault is the endpoint's: its log says more"
	case r.status == http.StatusNotFound:
		f.hint = "is the base URL complete? It mostly ends in /v1"
	case r.status == http.StatusRequestEntityTooLarge:
		f.tooLarge = true
		f.hint = "this one text is longer than the endpoint takes"
	case p.dimensions > 0:
		f.hint = "not every model can shorten its vectors: try without Dimensions"
	default:
		f.hint = "a text may be longer than the model takes" + p.batched(", or BatchTexts above what the endpoint takes")
	}
	if f.after > mostAsked {
		f.what += fmt.Sprintf(" (it asks to be left alone for %s)", f.after.Round(time.Second))
	}
	return f
}

// broken says what an error means that is no answer, or not one in the right
// form.
func (p *endpoint) broken(err error) error {
	var (
		outer       *url.Error
		redirect    *redirectError
		metadata    *metadataError
		tooLong     *http.MaxBytesError
		syntax      *json.SyntaxError
		form        *json.UnmarshalTypeError
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	if errors.As(err, &outer) {
		err = outer.Err // it repeats the address
	}
	switch {
	case errors.As(err, &redirect):
		f := p.failed("%s", p.clean(redirect.Error(), nil))
		f.hint = "set the base URL to the address that answers itself"
		return f
	case errors.As(err, &metadata):
		f := p.failed("is refused: %v", metadata)
		f.hint = metadata.Hint()
		return f
	case errors.As(err, &tooLong):
		f := p.failed("gave an answer above %d bytes", tooLong.Limit)
		f.hint = "is this an embeddings endpoint?"
		return f
	case errors.As(err, &form):
		f := p.failed("gave an answer in another form: %s where %s belongs", p.clean(form.Value, nil), form.Type)
		f.hint = "the endpoint must answer as OpenAI does, each vector a list of 32-bit numbers"
		return f
	case errors.As(err, &syntax):
		f := p.failed("gave an answer that is no JSON")
		f.hint = "is the base URL complete? It mostly ends in /v1"
		return f
	case errors.As(err, &certificate):
		f := p.failed("cannot be trusted: %v", certificate)
		f.err, f.hint = certificate, "its certificate must be known to this machine"
		return f
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		f := p.failed("does not speak TLS")
		f.hint = "does the base URL begin with http: rather than https:?"
		return f
	case errors.As(err, &name) && name.IsNotFound:
		f := p.failed("has a host that does not exist: %s", name.Name)
		f.hint = "check the base URL"
		return f
	case errors.Is(err, context.DeadlineExceeded): // that of the request: ctx was looked at
		f := p.failed("gave no answer in time")
		f.again, f.hint = true, "raise Timeout"+p.batched(", or lower BatchTexts")
		return f
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f := p.failed("broke off its answer")
		f.again, f.hint = true, "the log of the endpoint, or of a proxy before it, says more"
		return f
	}
	f := p.failed("cannot be reached: %s", p.clean(err.Error(), nil))
	f.again, f.err, f.hint = true, err, "is the endpoint running, and the base URL right?"
	return f
}

// wrong is a failure of an endpoint whose answer is not one to the question.
func (p *endpoint) wrong(format string, args ...any) *failure {
	f := p.failed(format, args...)
	f.hint = "the endpoint does not do what OpenAI's does, or model " + strconv.Quote(p.model) + " does not embed"
	return f
}

func (p *endpoint) wrongDimension(got, want int) *failure {
	f := p.failed("gave a vector of %d values, not %d", got, want)
	if p.dimensions > 0 {
		f.hint = "the endpoint goes by its own dimension: leave Dimensions 0"
	} else {
		f.hint = "another model was loaded under the name " + strconv.Quote(p.model) + ": start again"
	}
	return f
}

func (p *endpoint) failed(format string, args ...any) *failure {
	return &failure{what: p.url + " " + fmt.Sprintf(format, args...)}
}
