package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sashabaranov/go-openai"

	"skillrouter/router"
)

// ErrSteps says that a turn took more model calls than RunOptions.MaxSteps.
var ErrSteps = errors.New("agent: the turn has taken too many steps")

// mostSteps is RunOptions.MaxSteps where it is not said.
const mostSteps = 16

// RunOptions says how Run asks a model. Only Model is needed.
type RunOptions struct {
	Model    string
	MaxSteps int                                 // model calls in a turn; 0 means 16, negative no bound
	Stream   bool                                // answers come piece by piece
	Piece    func(text string)                   // told of each piece of an answer; nil: not
	Before   func(ctx context.Context) error     // called first, such as Router.Refresh, to see changed folders; its error ends the run
	Adjust   func(*openai.ChatCompletionRequest) // sets more parameters of each request; nil: none
	Receipt  func(r Receipt, calls []ToolCall)   // told after each step what it showed and what the model called; nil: not
}

// A Result is a turn that was run.
type Result struct {
	Answer   string
	Route    *router.Route
	Messages []Message // the history with the turn: for the next Run
	Steps    int       // model calls
	Usage    openai.Usage
}

// Run runs one turn of an agent on an endpoint of go-openai: it routes the
// utterance, asks the model, answers its calls, and asks again until it
// answers in words. The history is not written to.
//
// On an error the result holds the turn as far as it came. ErrSteps is in the
// error of a turn that did not end, the context's error in that of one that
// was ended.
func Run(ctx context.Context, client *openai.Client, kit *Kit, past []Message, utterance string, opts *RunOptions) (*Result, error) {
	var o RunOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = mostSteps
	}
	result := &Result{Messages: append(slices.Clone(past), Message{Role: RoleUser, Content: utterance})}
	if o.Before != nil {
		if err := o.Before(ctx); err != nil {
			return result, fmt.Errorf("agent: before the run: %w", err)
		}
	}
	route, err := kit.Session().Route(ctx, utterance)
	if err != nil {
		return result, err
	}
	result.Route = route
	for o.MaxSteps < 0 || result.Steps < o.MaxSteps {
		request := Request{Model: o.Model, Messages: result.Messages, Stream: o.Stream}
		receipt, err := kit.PrepareContext(ctx, route, &request)
		if err != nil {
			return result, err
		}
		answer, err := o.ask(ctx, client, &request, &result.Usage)
		if err != nil {
			return result, fmt.Errorf("agent: step %d: %w", result.Steps+1, err)
		}
		result.Steps++
		result.Messages = append(result.Messages, answer)
		if o.Receipt != nil {
			o.Receipt(receipt, answer.ToolCalls)
		}
		if len(answer.ToolCalls) == 0 {
			result.Answer = answer.Content
			return result, nil
		}
		result.Messages = append(result.Messages, kit.CallAll(ctx, answer.ToolCalls)...)
		if err := ctx.Err(); err != nil {
			return result, fmt.Errorf("agent: step %d: %w", result.Steps, err)
		}
	}
	return result, fmt.Errorf("%w: %d", ErrSteps, result.Steps)
}

// ask makes one model call.
func (o *RunOptions) ask(ctx context.Context, client *openai.Client, r *Request, usage *openai.Usage) (Message, error) {
	request := r.OpenAI()
	if o.Adjust != nil {
		o.Adjust(&request)
	}
	if request.Stream {
		return o.stream(ctx, client, request, usage)
	}
	response, err := client.CreateChatCompletion(ctx, request)
	if err != nil {
		return Message{}, err
	}
	add(usage, &response.Usage)
	if len(response.Choices) == 0 {
		return Message{}, errors.New("the endpoint gave no answer: no choices")
	}
	answer := FromOpenAI(response.Choices[0].Message)
	answer.Role = RoleAssistant
	if o.Piece != nil && answer.Content != "" {
		o.Piece(answer.Content)
	}
	return answer, nil
}

// stream puts the pieces of an answer together.
func (o *RunOptions) stream(ctx context.Context, client *openai.Client, request openai.ChatCompletionRequest, usage *openai.Usage) (Message, error) {
	answer := Message{Role: RoleAssistant}
	stream, err := client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return answer, err
	}
	defer stream.Close()
	pieces := 0
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			if pieces == 0 {
				return answer, errors.New("the endpoint gave no answer: the stream was empty")
			}
			return answer, nil
		}
		if err != nil {
			return answer, err
		}
		if piece.Usage != nil {
			add(usage, piece.Usage)
		}
		if len(piece.Choices) == 0 {
			continue
		}
		pieces++
		if err := ctx.Err(); err != nil {
			return answer, err // what was sent already may be read on
		}
		delta := piece.Choices[0].Delta
		answer.Reasoning += delta.ReasoningContent
		if answer.Content += delta.Content; o.Piece != nil && delta.Content != "" {
			o.Piece(delta.Content)
		}
		for _, c := range delta.ToolCalls {
			answer.ToolCalls = grow(answer.ToolCalls, c)
		}
	}
}

// grow adds a piece of a call: to the call of its index or, where an endpoint
// gives none, to the last one, unless it has an ID of its own.
func grow(calls []ToolCall, c openai.ToolCall) []ToolCall {
	at := len(calls) - 1
	switch {
	case c.Index != nil:
		at = *c.Index
	case at < 0 || c.ID != "" && c.ID != calls[at].ID:
		at++
	}
	const most = 128 // calls in one answer; a wrong index must not cost memory
	if at < 0 || at >= most {
		return calls
	}
	for len(calls) <= at {
		calls = append(calls, ToolCall{Type: "function"})
	}
	call := &calls[at]
	if c.ID != "" {
		call.ID = c.ID
	}
	call.Function.Name += c.Function.Name
	call.Function.Arguments += c.Function.Arguments
	return calls
}

func add(sum, u *openai.Usage) {
	sum.PromptTokens += u.PromptTokens
	sum.CompletionTokens += u.CompletionTokens
	sum.TotalTokens += u.TotalTokens
}
