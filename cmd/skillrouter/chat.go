package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/index"
	"skillrouter/router"
)

const chatHelp = `type an utterance to route it, or
   /load NAME             load a skill's definition: a task begins
   /use NAME              note that a skill was used
   /reject NAME [REASON]  note that a skill did not fit
   /choose DOMAIN         show the summaries of a domain
   /end                   end the task
   /prompt                the prompt block as it is now
   /state                 the session's layer, task and caches
   /why                   how the last utterance was routed
   /help, /quit
   + new, = kept from before, - gone; a skill's name after / names it outright
`

func (a *app) chatCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "chat",
		Short: "Route the utterances of one dialogue, turn by turn",
		Long: `chat carries one session over the utterances that are typed, or piped in: after
each it tells what matched, in which layer the session is, and which summaries
and definitions came (+), stayed (=) and went (-).

` + chatHelp,
		Example: `  skillrouter chat --skills ./skills
  printf 'review my change\n/load code-review\n/end\n' | skillrouter chat`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.set.json {
				return &useError{fmt.Errorf("chat writes no JSON"), "`skillrouter route --json -` reads utterances from stdin"}
			}
			return a.with(cmd.Context(), true, func(c *catalog) error {
				s, err := c.Session("chat", &router.SessionOptions{Allow: a.set.allow()})
				if err != nil {
					return err
				}
				colour := a.tty.out && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
				return (&chat{a: a, c: c, s: s, colour: colour}).run(cmd.Context())
			})
		},
	}
}

// A chat is one dialogue.
type chat struct {
	a      *app
	c      *catalog
	s      *router.Session
	last   *router.Route  // nil before the first
	told   []router.Event // as the session kept them at the last look
	colour bool
}

func (ch *chat) run(ctx context.Context) error {
	if ch.a.tty.in {
		fmt.Fprintln(ch.a.err, "type an utterance, or /help; /quit ends")
	}
	ch.ready()
	for line, err := range ch.a.lines(ctx) {
		if ctx.Err() != nil {
			break // ctrl-C ends a chat as /quit does
		}
		if err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		line = strings.TrimSpace(line)
		if !ch.a.tty.in {
			fmt.Fprintf(ch.a.out, "> %s\n", clean(line)) // a script is easier to read with what was said
		}
		quit, err := ch.line(ctx, line)
		if err != nil {
			ch.a.complain(err)
		}
		if quit {
			return nil
		}
		ch.ready()
	}
	if ch.a.tty.in {
		fmt.Fprintln(ch.a.out)
	}
	return nil
}

// ready asks a person for the next line.
func (ch *chat) ready() {
	if ch.a.tty.in {
		fmt.Fprint(ch.a.out, "> ")
	}
}

func (ch *chat) line(ctx context.Context, line string) (quit bool, err error) {
	if !strings.HasPrefix(line, "/") {
		return false, ch.turn(ctx, line)
	}
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if named := map[string]string{"/load": "NAME", "/use": "NAME", "/reject": "NAME", "/choose": "DOMAIN"}[verb]; named != "" && rest == "" {
		return false, fmt.Errorf("%s %s: what?", verb, named)
	}
	switch verb {
	case "/load":
		if _, err := ch.s.Load(ctx, rest); err != nil {
			return false, ch.unknown(ctx, rest, err)
		}
		return false, ch.moved(ctx)
	case "/use":
		return false, ch.done(ctx, ch.unknown(ctx, rest, ch.s.Use(ctx, rest)))
	case "/reject":
		name, reason := ch.nameAndReason(rest)
		return false, ch.done(ctx, ch.unknown(ctx, name, ch.s.Reject(ctx, name, reason)))
	case "/choose":
		return false, ch.done(ctx, ch.s.Choose(ctx, rest))
	case "/end":
		return false, ch.done(ctx, ch.s.EndTask(ctx))
	case "/prompt":
		prompt, err := ch.s.Prompt(ctx)
		_, _ = io.WriteString(ch.a.out, prompt) // the app's writer keeps the error
		return false, err
	case "/state":
		return false, ch.state(ctx)
	case "/why":
		if ch.last == nil {
			return false, fmt.Errorf("/why: nothing was routed yet")
		}
		ch.a.writeRoute(ch.c, ch.last, true)
		return false, nil
	case "/help":
		_, _ = io.WriteString(ch.a.out, chatHelp)
		return false, nil
	case "/quit", "/exit":
		return true, nil
	}
	if _, ok := ch.c.Index().Lookup(verb[1:]); ok {
		return false, ch.turn(ctx, line) // names a skill outright
	}
	return false, &failure{fmt.Errorf("no command or skill %s", verb), "/help lists the commands, `skillrouter list` the skills"}
}

// turn routes an utterance and tells what came of it.
func (ch *chat) turn(ctx context.Context, utterance string) error {
	r, err := ch.s.Route(ctx, utterance)
	if err != nil {
		return err
	}
	ch.last = r
	st, err := ch.s.State(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(ch.a.out, "turn %d, layer %s: %s\n", r.Turn, st.Layer, outcome(r))
	if q, ok := r.Question(); ok {
		fmt.Fprintf(ch.a.out, "   to ask the user: %s\n", clean(q))
	}
	ch.skills(r, &st)
	ch.tell(r.Events)
	ch.told = st.Events
	return nil
}

// skills lists what is visible, and what went.
func (ch *chat) skills(r *router.Route, st *router.State) {
	var t table
	var marks []string
	add := func(mark, name, what string) {
		marks = append(marks, mark)
		t.add(mark, name, what)
	}
	for _, name := range st.Loaded {
		mark := "="
		if slices.ContainsFunc(r.Events, func(e router.Event) bool { return e.Rule == "direct" && slices.Contains(e.Names, name) }) {
			mark = "+"
		}
		add(mark, clean(name), "(definition)")
	}
	hidden := 0
	for _, m := range r.Summaries {
		mark := " "
		switch {
		case slices.Contains(r.New, m.Skill):
			mark = "+"
		case slices.Contains(r.Hits, m.Skill):
			mark = "="
		}
		if r.Flat && mark == " " && r.Turn > 1 {
			hidden++ // always the same list
			continue
		}
		add(mark, clean(m.Skill), clean(m.Text))
	}
	for _, name := range r.Unloaded {
		add("-", clean(name), "")
	}
	ch.write(&t, marks)
	if hidden > 0 {
		fmt.Fprintf(ch.a.out, "   flat: the same %s as before\n", plural(hidden, "summary"))
	}
	if len(r.Lines) > 0 {
		fmt.Fprintf(ch.a.out, "   also matching, by their line only: %s\n", strings.Join(cleanAll(r.Lines), ", "))
	}
}

// write writes t, each line in the colour of its mark.
func (ch *chat) write(t *table, marks []string) {
	var b strings.Builder
	t.write(&b, "   ", ch.a.width())
	if !ch.colour {
		_, _ = io.WriteString(ch.a.out, b.String()) // the app's writer keeps the error
		return
	}
	const green, red, reset = "\x1b[32m", "\x1b[31m", "\x1b[0m"
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		switch {
		case i >= len(marks):
		case marks[i] == "+":
			line = green + line + reset
		case marks[i] == "-":
			line = red + line + reset
		}
		if line != "" {
			fmt.Fprintln(ch.a.out, line)
		}
	}
}

// done tells what a command moved, or its error.
func (ch *chat) done(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return ch.moved(ctx)
}

// moved tells the events since the last look.
func (ch *chat) moved(ctx context.Context) error {
	st, err := ch.s.State(ctx)
	if err != nil {
		return err
	}
	ch.tell(since(ch.told, st.Events))
	ch.told = st.Events
	fmt.Fprintf(ch.a.out, "   layer %s%s\n", st.Layer, loadedNote(st.Loaded))
	return nil
}

// since returns the events of now that are not in before. A session keeps only
// its last events, so before may begin with some that now has lost.
func since(before, now []router.Event) []router.Event {
	for lost := range before {
		if kept := before[lost:]; len(kept) <= len(now) && slices.EqualFunc(kept, now[:len(kept)], sameEvent) {
			return now[len(kept):]
		}
	}
	return now
}

func sameEvent(a, b router.Event) bool { return reflect.DeepEqual(a, b) }

func loadedNote(loaded []string) string {
	if len(loaded) == 0 {
		return ""
	}
	return ", loaded: " + strings.Join(cleanAll(loaded), ", ")
}

// tell writes events, one a line.
func (ch *chat) tell(events []router.Event) {
	for _, e := range events {
		fmt.Fprintf(ch.a.out, "   · %s\n", eventLine(e))
	}
}

func eventLine(e router.Event) string {
	line := e.Rule
	if e.From != e.To {
		line += fmt.Sprintf(": %s → %s", e.From, e.To)
	}
	var names []string
	for _, n := range e.Names {
		if n = clean(n); n != "" {
			names = append(names, n)
		}
	}
	if len(names) > 0 {
		line += " (" + strings.Join(names, ", ") + ")"
	}
	if e.Reason != "" {
		line += ": " + clean(e.Reason)
	}
	return line
}

// state writes the session's state.
func (ch *chat) state(ctx context.Context) error {
	st, err := ch.s.State(ctx)
	if err != nil {
		return err
	}
	task := "none"
	if st.Task {
		task = "under way"
	}
	var t table
	t.add("turn", fmt.Sprint(st.Turn))
	t.add("layer", st.Layer.String())
	t.add("task", task)
	for _, x := range []struct {
		label string
		names []string
	}{
		{"domains visible", st.Domains},
		{"summaries kept of", st.Alive},
		{"definitions loaded", st.Loaded},
		{"left out", st.LeftOut},
	} {
		if len(x.names) == 0 {
			x.names = []string{"-"}
		}
		t.add(x.label, strings.Join(cleanAll(x.names), ", "))
	}
	t.write(ch.a.out, "   ", 0)
	return nil
}

// nameAndReason splits the rest of /reject: names may hold blanks.
func (ch *chat) nameAndReason(rest string) (name, reason string) {
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], ' ') {
		if _, ok := ch.c.Index().Lookup(rest[:end]); ok {
			return rest[:end], strings.TrimSpace(rest[end:])
		}
	}
	name, reason, _ = strings.Cut(rest, " ")
	return name, strings.TrimSpace(reason)
}

// unknown adds to the error about a name which ones are near; other errors,
// and nil, stay as they are.
func (ch *chat) unknown(ctx context.Context, name string, err error) error {
	var missing *index.NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	return ch.a.unknown(ctx, ch.c, name)
}
