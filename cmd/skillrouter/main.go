// Command skillrouter routes utterances over a catalog of skills and shows
// what an agent would get to see.
//
//	skillrouter route "turn this PDF into text"
//	skillrouter chat --skills ~/skills
//
// Reading order: main.go, flags.go, open.go, then one file a verb.
// Results go to stdout, talk to stderr. The exit status is 0 when all is well,
// also when nothing matched, 1 for a failure, 2 for wrong use.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second ctrl-C ends at once what does not heed the first
	a := &app{
		in: os.Stdin, out: &writer{w: os.Stdout}, err: os.Stderr, env: os.Getenv,
		tty: terminals{in: isTerminal(os.Stdin), out: isTerminal(os.Stdout), err: isTerminal(os.Stderr)},
	}
	return a.main(ctx, os.Args[1:])
}

// An app is one run of the command.
type app struct {
	in  io.Reader
	out *writer   // results
	err io.Writer // talk
	env func(string) string
	tty terminals
	set settings

	global *pflag.FlagSet // the flags that all verbs have
	log    *slog.Logger   // of verbs that serve; nil: none
}

// terminals says which streams are for a person.
type terminals struct{ in, out, err bool }

// isTerminal tells whether f is a terminal, as far as that can be told without
// asking the system about it; the null device is none.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// A writer keeps the first error, so that one look at the end suffices.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	w.err = err
	return n, err
}

// main runs the verb of args and returns the exit status.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(slices.Concat([]string{}, args)) // nil would make cobra look at os.Args
	cmd, err := root.ExecuteContextC(ctx)
	if (err == nil || errors.Is(err, errFindings)) && a.out.err != nil {
		err = fmt.Errorf("writing the result: %w", a.out.err)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings):
		return 1
	}
	a.complain(err)
	if a.isHook(cmd) {
		a.hookFailed(ctx, err)
		return 0
	}
	var use *useError
	if errors.As(err, &use) {
		return 2
	}
	return 1
}

// complain says what went wrong and what to do about it.
func (a *app) complain(err error) {
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(a.err, "skillrouter: interrupted")
		return
	}
	fmt.Fprintf(a.err, "skillrouter: %s\n", clean(strings.TrimPrefix(err.Error(), "skillrouter: ")))
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		fmt.Fprintf(a.err, "hint: %s\n", clean(h.Hint()))
	}
}

// A useError is wrong use of the command: the exit status is 2.
type useError struct {
	err  error
	hint string
}

func (e *useError) Error() string { return e.err.Error() }
func (e *useError) Unwrap() error { return e.err }
func (e *useError) Hint() string  { return e.hint }

// A failure is an error with a hint.
type failure struct {
	err  error
	hint string
}

func (e *failure) Error() string { return e.err.Error() }
func (e *failure) Unwrap() error { return e.err }
func (e *failure) Hint() string  { return e.hint }

func helpHint(cmd *cobra.Command) string {
	return "`" + cmd.CommandPath() + " --help` shows the use"
}

// arguments makes wrong arguments a useError.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &useError{err, helpHint(cmd)}
		}
		return nil
	}
}

// onlyOne makes several of some flags a useError.
func onlyOne(cmd *cobra.Command, names ...string) error {
	var given []string
	for _, n := range names {
		if cmd.Flags().Changed(n) {
			given = append(given, "--"+n)
		}
	}
	if len(given) < 2 {
		return nil
	}
	return &useError{fmt.Errorf("%s exclude each other", strings.Join(given, " and ")), helpHint(cmd)}
}

// verbsOnly refuses arguments of a command that only has verbs below it.
func verbsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := helpHint(cmd)
	cmd.SuggestionsMinimumDistance = 2 // as cobra has it for what it refuses itself
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return &useError{fmt.Errorf("unknown verb %q", args[0]), hint}
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// inOrder makes help show flags as they were declared, the frequent ones first.
func inOrder(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.PersistentFlags().SortFlags = false
	cmd.InheritedFlags().SortFlags = false
	for _, c := range cmd.Commands() {
		inOrder(c)
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "skillrouter",
		Short: "Show an agent only the skills that its turn needs",
		Long: `skillrouter stands before each turn of an agent that has more skills than a
prompt can hold. It shows skills in three layers: an index of domains, the
summaries of the domains that an utterance matches, and the definition of the
skill that is to be used.

Without --skills the known places that exist are taken, later ones over earlier:
~/.agents/skills, ~/.claude/skills, .agent/skills, .agents/skills,
.claude/skills, skills. Where none exists, route, chat, list, show, domains and
eval try out the built-in example catalog.

Every flag of all verbs can also be given in the environment, --max-summaries
as SKILLROUTER_MAX_SUMMARIES and so on; the command line goes before it.`,
		Example: `  skillrouter route "turn this PDF into text"
  skillrouter route --skills ./skills --explain "查一下明天的天气"
  skillrouter list --problems`,
		Args: verbsOnly, RunE: help,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.environment(cmd) },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &useError{err, helpHint(cmd)} })
	a.global = root.PersistentFlags()
	a.flags(a.global)
	root.AddCommand(a.routeCommand(), a.chatCommand(), a.listCommand(), a.showCommand(), a.domainsCommand(), a.evalCommand(), a.tuneCommand(), a.replayCommand(), a.indexCommand(), a.hookCommand(), a.trustCommand(), a.mcpCommand(), a.versionCommand())
	inOrder(root)
	return root
}
