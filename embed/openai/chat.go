package openai

import (
	"context"
	"strings"

	api "github.com/sashabaranov/go-openai"
)

// A Chat asks a chat model of an endpoint for single answers in JSON: for drafts of texts,
// not for dialogues. It is safe for concurrent use.
type Chat struct {
	model    string
	endpoint *endpoint
}

// NewChat returns a chat model. Of opts Prefix, Dimensions and the bounds of batches say
// nothing here. It makes no request; for its errors see [New].
func NewChat(opts *Options) (*Chat, error) { return newChat(opts, realClock()) }

func newChat(opts *Options, c clock) (*Chat, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	base, err := o.complete()
	if err != nil {
		return nil, err
	}
	o.Dimensions = 0 // hints speak of it
	e := newEndpoint(&o, base, c)
	e.single = true
	return &Chat{o.Model, e}, nil
}

// Model is the model's name, as the endpoint has it.
func (c *Chat) Model() string { return c.model }

// An AnswerError says that the model gave no answer to this message: it refuses, the answer
// was held back, was cut, or is empty. Another message may fare better.
type AnswerError struct{ Model, Message string }

func (e *AnswerError) Error() string { return "openai: model " + e.Model + " " + e.Message }

// Complete returns the model's answer to one message, which is asked to be a JSON object;
// whether it is one is the caller's to check. No answer is an [AnswerError].
func (c *Chat) Complete(ctx context.Context, system, user string) (string, error) {
	request := api.ChatCompletionRequest{
		Model: c.model,
		Messages: []api.ChatCompletionMessage{
			{Role: api.ChatMessageRoleSystem, Content: system},
			{Role: api.ChatMessageRoleUser, Content: user},
		},
		ResponseFormat: &api.ChatCompletionResponseFormat{Type: api.ChatCompletionResponseFormatTypeJSONObject},
	}
	var answer string
	err := c.endpoint.retry(ctx, c.endpoint.turn(), func(ctx context.Context) error {
		resp, err := c.endpoint.client.CreateChatCompletion(ctx, request)
		if err != nil {
			return c.endpoint.explain(err, []string{system, user}, resp.Header())
		}
		answer, err = c.answer(&resp)
		return err
	})
	return answer, err
}

// answer is what a response says.
func (c *Chat) answer(resp *api.ChatCompletionResponse) (string, error) {
	if len(resp.Choices) == 0 {
		f := c.endpoint.failed("gave no answer")
		f.hint = "does model " + c.model + " chat?"
		return "", f
	}
	choice := &resp.Choices[0]
	text := strings.TrimSpace(choice.Message.Content)
	switch {
	case choice.Message.Refusal != "":
		return "", &AnswerError{c.model, "refuses: " + c.endpoint.clean(choice.Message.Refusal, nil)}
	case choice.FinishReason == api.FinishReasonContentFilter:
		return "", &AnswerError{c.model, "gives no answer: a filter held it back"}
	case choice.FinishReason == api.FinishReasonLength:
		return "", &AnswerError{c.model, "gives no whole answer: it is longer than the model may write"}
	case text == "":
		return "", &AnswerError{c.model, "gives an empty answer"}
	}
	return text, nil
}
