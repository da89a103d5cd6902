package router

import (
	"context"

	"skillrouter/internal/text"
)

// Tokens is what the layers of a prompt cost.
type Tokens struct {
	Index       int
	Summaries   int
	Definitions int
	Estimated   bool // counted by the estimate, not by Options.Tokens
}

// Total is the sum of the layers.
func (t Tokens) Total() int { return t.Index + t.Summaries + t.Definitions }

// Tokens counts the prompt of the route by Options.Tokens or, without it, by an
// estimate: 1 for a Han character, 1 for 4 bytes of other text.
func (r *Route) Tokens() Tokens {
	count, estimated := r.snapshot.opts.Tokens, false
	if count == nil {
		count, estimated = text.Tokens, true
	}
	layers := r.Layers()
	return Tokens{Index: count(layers.Index), Summaries: count(layers.Summaries), Definitions: count(layers.Definitions), Estimated: estimated}
}

// Tokens counts the visible block as it is now, see [Session.Prompt].
func (s *Session) Tokens(ctx context.Context) (Tokens, error) {
	r, err := s.Visible(ctx)
	if err != nil {
		return Tokens{}, err
	}
	return r.Tokens(), nil
}
