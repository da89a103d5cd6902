// Command turn shows the library call before each turn of an agent: it routes
// the lines of standard input as one dialogue and prints what the model would
// see. The model is played by a rule: it loads the first skill when the line
// ends in "!".
//
//	printf 'rain in Hangzhou tomorrow?\nlook it up!\n' | go run ./examples/turn
//	go run ./examples/turn ./skills < dialogue.txt
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strings"

	"skillrouter"
	"skillrouter/examples"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dirs []string, in io.Reader, out io.Writer) error {
	var opts skillrouter.Options
	if len(dirs) == 0 {
		dirs, opts.FS = []string{"examples"}, map[string]fs.FS{"examples": examples.Catalog()}
	}
	r, err := skillrouter.Open(ctx, &opts, dirs...)
	if err != nil {
		return err
	}
	defer r.Close()
	session, err := r.Session("example", nil)
	if err != nil {
		return err
	}

	for lines := bufio.NewScanner(in); lines.Scan(); {
		// Before the model is asked: what does this turn need?
		route, err := session.Route(ctx, lines.Text())
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "── turn %d: %s\n", route.Turn, route.Outcome)
		if question, ok := route.Question(); ok {
			fmt.Fprintf(out, "the user could be asked: %s\n", question)
		}

		// The model answers; here it wants the best skill if the user insists.
		if strings.HasSuffix(lines.Text(), "!") && len(route.Candidates) > 0 {
			if _, err := session.Load(ctx, route.Candidates[0].Name); err != nil {
				return err
			}
		}

		// What stands in the system message from here on.
		prompt, err := session.Prompt(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, prompt)
	}
	return session.EndTask(ctx)
}
