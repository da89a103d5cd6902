// Command agent is a chat with a model that has skills: it routes each line of
// standard input, asks an endpoint, and answers the model's calls. Any
// endpoint with OpenAI's chat API does, a local one needs no key.
//
//	OPENAI_API_KEY=… go run ./examples/agent -model gpt-5-mini
//	OPENAI_BASE_URL=http://localhost:11434/v1 go run ./examples/agent -model qwen3 ./skills
//
// Skills come from the folders that are named, else from the example catalog,
// whose functions work.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strings"

	"github.com/sashabaranov/go-openai"

	"skillrouter"
	"skillrouter/agent"
	"skillrouter/examples"
	"skillrouter/examples/tools"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, env func(string) string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	var (
		model    = flags.String("model", env("OPENAI_MODEL"), "name of the model (OPENAI_MODEL)")
		base     = flags.String("base-url", env("OPENAI_BASE_URL"), "endpoint, up to /v1 (OPENAI_BASE_URL); empty: OpenAI's")
		strategy = flags.String("strategy", "", "where definitions stand: tool-result, toolset, path; empty: system message")
		stream   = flags.Bool("stream", true, "print answers as they come")
		verbose  = flags.Bool("v", false, "tell what each request showed and what the model called")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *model == "" {
		return errors.New("name a model: -model NAME, or OPENAI_MODEL")
	}

	// Folders in, a ready router out.
	dirs := flags.Args()
	var opts skillrouter.Options
	if len(dirs) == 0 {
		dirs, opts.FS = []string{"examples"}, map[string]fs.FS{"examples": examples.Catalog()}
	}
	r, err := skillrouter.Open(ctx, &opts, dirs...)
	if err != nil {
		return err
	}
	defer r.Close()

	// One session a dialogue, and what connects it with the loop.
	session, err := r.Session("chat", nil)
	if err != nil {
		return err
	}
	kit, err := agent.New(session, &agent.Options{
		System:   "You are a helpful assistant. Answer in the language of the user.",
		Strategy: agent.Strategy(*strategy),
		Funcs:    functions(),
	})
	if err != nil {
		return err
	}

	config := openai.DefaultConfig(env("OPENAI_API_KEY"))
	if *base != "" {
		config.BaseURL = strings.TrimSuffix(*base, "/")
	}
	client := openai.NewClientWithConfig(config)

	ro := &agent.RunOptions{
		Model:  *model,
		Stream: *stream,
		Piece:  func(text string) { fmt.Fprint(out, text) },
		Before: func(ctx context.Context) error { // a changed folder is seen at the next turn
			_, err := r.Refresh(ctx)
			return err
		},
		Receipt: func(s agent.Receipt, calls []agent.ToolCall) {
			if len(calls) == 0 {
				fmt.Fprintln(out) // below the answer
			}
			if *verbose {
				tell(out, s, calls)
			}
		},
	}
	var history []agent.Message
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20) // a line may hold a pasted text
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		turn, err := agent.Run(ctx, client, kit, history, lines.Text(), ro)
		if err != nil {
			return err
		}
		history = turn.Messages
	}
	return lines.Err()
}

// functions are what the tools.json of the example skills declare.
func functions() map[string]agent.Func {
	all := map[string]agent.Func{}
	for _, name := range tools.Names() {
		all[name] = func(ctx context.Context, arguments json.RawMessage) (string, error) {
			return tools.Call(ctx, name, arguments)
		}
	}
	return all
}

// tell prints what a request showed and what the model called.
func tell(out io.Writer, r agent.Receipt, calls []agent.ToolCall) {
	fmt.Fprintf(out, "· %d of %d summaries, about %d tokens", r.Summaries, r.Catalog, r.System+r.Overview+r.Definitions)
	for _, s := range r.Loaded {
		fmt.Fprintf(out, "; %s loaded (%s)", s.Skill, s.Mode)
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(out, "; left out: %s of %s, %s", l.What, l.Skill, l.Why)
	}
	fmt.Fprintln(out)
	for _, c := range calls {
		fmt.Fprintf(out, "· %s %s\n", c.Function.Name, c.Function.Arguments)
	}
}
