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
	var calls called
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			if pieces == 0 {
				return answer, errors.New("the endpoint gave no answer: the stream was empty")
			}
			answer.ToolCalls = calls.all
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
			calls.add(c)
		}
	}
}

// A called puts the pieces of calls together.
type called struct {
	all []ToolCall
	at  map[int]int // by the endpoint's index: the place of the call begun last under it
}

// add adds a piece: to the call of its index or, where an endpoint gives none,
// to the last one. An ID of its own begins another; with an index it does so
// beside a name, because some endpoints give all calls the index 0, and others
// each piece an ID.
func (l *called) add(c openai.ToolCall) {
	at, known := len(l.all)-1, len(l.all) > 0
	if c.Index != nil {
		at, known = l.at[*c.Index]
	}
	if !known || c.ID != "" && c.ID != l.all[at].ID && l.all[at].ID != "" && (c.Index == nil || c.Function.Name != "") {
		at = len(l.all)
		l.all = append(l.all, ToolCall{Type: "function"})
	}
	if c.Index != nil {
		if l.at == nil {
			l.at = map[int]int{}
		}
		l.at[*c.Index] = at
	}
	call := &l.all[at]
	if call.ID == "" {
		call.ID = c.ID
	}
	call.Function.Name += c.Function.Name
	call.Function.Arguments += c.Function.Arguments
}

func add(sum, u *openai.Usage) {
	sum.PromptTokens += u.PromptTokens
	sum.CompletionTokens += u.CompletionTokens
	sum.TotalTokens += u.TotalTokens
}
