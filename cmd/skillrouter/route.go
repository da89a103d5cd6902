package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/router"
)

func (a *app) routeCommand() *cobra.Command {
	var explain, prompt bool
	cmd := &cobra.Command{
		Use:   "route UTTERANCE…",
		Short: "Tell which domains and skills an utterance leads to",
		Long: `route scores the domains of the catalog for an utterance and shows what an
agent would get to see: the domains that reach the threshold, their summaries,
or a question where something is near but nothing matches. Several arguments
are joined to one utterance; - reads one utterance a line from stdin. The exit
status is 0 also when nothing matches.`,
		Example: `  skillrouter route "turn this PDF into text"
  skillrouter route --explain "查一下明天的天气"
  skillrouter route --prompt "review this change"       # what goes into the prompt
  skillrouter route --json - < utterances.txt           # one object a line`,
		Args: arguments(func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no utterance: give one, or - to read them from stdin")
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := onlyOne(cmd, "prompt", "explain"); err != nil {
				return err
			}
			return a.with(cmd.Context(), true, func(c *catalog) error {
				show := a.shower(c, explain, prompt)
				if len(args) == 1 && args[0] == "-" {
					return a.routeLines(cmd.Context(), c, show, !a.set.json && !prompt)
				}
				return a.route(cmd.Context(), c, strings.Join(args, " "), show)
			})
		},
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "tell every part of the evidence, and the rule that fired")
	cmd.Flags().BoolVar(&prompt, "prompt", false, "write only the block that goes into the prompt")
	return cmd
}

// shower is how routes are written.
func (a *app) shower(c *catalog, explain, prompt bool) func(*router.Route) error {
	switch {
	case a.set.json:
		return func(r *router.Route) error { return writeJSON(a.out, newDecision(c, r, explain), false) }
	case prompt:
		return func(r *router.Route) error {
			_, err := io.WriteString(a.out, r.Prompt())
			return err
		}
	default:
		return func(r *router.Route) error {
			a.writeRoute(c, r, explain)
			return nil
		}
	}
}

func (a *app) route(ctx context.Context, c *catalog, utterance string, show func(*router.Route) error) error {
	r, err := c.RouteFor(ctx, utterance, a.set.allow())
	if err != nil {
		return err
	}
	return show(r)
}

// routeLines routes each line of stdin; titled repeats it above its answer.
func (a *app) routeLines(ctx context.Context, c *catalog, show func(*router.Route) error, titled bool) error {
	first := true
	for utterance, err := range a.lines(ctx) {
		if err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		if !first && !a.set.json {
			fmt.Fprintln(a.out)
		}
		first = false
		if titled {
			fmt.Fprintf(a.out, "> %s\n", clean(utterance))
		}
		if err := a.route(ctx, c, utterance, show); err != nil {
			return err
		}
	}
	return nil
}

// lines reads stdin line by line, without line ends, until it or ctx ends. An
// error is that of the stream.
func (a *app) lines(ctx context.Context) iter.Seq2[string, error] {
	type read struct {
		line string
		err  error
	}
	return func(yield func(string, error) bool) {
		next := make(chan read)
		done := make(chan struct{})
		defer close(done)
		// A read of a terminal cannot be called off: when ctx ends, the process
		// does not wait for it.
		go func() {
			defer close(next)
			in := bufio.NewReader(a.in)
			for {
				line, err := in.ReadString('\n')
				if errors.Is(err, io.EOF) && line == "" {
					return
				}
				if errors.Is(err, io.EOF) {
					err = nil
				}
				select {
				case next <- read{strings.TrimRight(line, "\r\n"), err}:
				case <-done:
					return
				}
				if err != nil {
					return
				}
			}
		}()
		for {
			select {
			case <-ctx.Done():
				yield("", ctx.Err())
				return
			case r, ok := <-next:
				if !ok || !yield(strings.TrimPrefix(r.line, "\ufeff"), r.err) || r.err != nil {
					return
				}
			}
		}
	}
}
