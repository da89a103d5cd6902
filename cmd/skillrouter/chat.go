package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/eval"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/router"
)

const chatHelp = `type an utterance to route it, the number or name of a domain that is offered, or
   /load NAME             load a skill's definition: a task begins
   /use NAME              note that a skill was used
   /reject NAME [REASON]  note that a skill did not fit
   /choose DOMAIN         show the summaries of a domain
   /end                   end the task
   /all                   what is in the prompt now, skill by skill
   /why                   how the last utterance was routed
   /state                 the session's layer, task, caches and last events
   /prompt                the prompt block as it is now
   /save FILE             add the dialogue to FILE, for skillrouter replay
   /help, /quit
   + new, = kept from before, - gone; a skill's name after / names it outright
`

func (a *app) chatCommand() *cobra.Command {
	var all bool
	var usage string
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Route the utterances of one dialogue, turn by turn",
		Long: `chat carries one session over the utterances that are typed, or piped in: after
each it tells what matched and by which rule, and what is in the prompt, layer by
layer: the index, the summaries and definitions that came (+), stayed (=) and
went (-), and what they cost in tokens beside the summaries of all skills.

Which skills are loaded, used and rejected, and when, is noted for health, in a file
of your own; what is said is not. --no-cache notes nothing, nor does the built-in
example catalog.

` + chatHelp,
		Example: `  skillrouter chat --skills ./skills
  printf 'review my change\n/load code-review\n/end\n/save said.jsonl\n' | skillrouter chat`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.set.json {
				return &useError{fmt.Errorf("chat writes no JSON"), "`skillrouter route --json -` reads utterances from stdin"}
			}
			defer a.noteUse(usage)()
			return a.with(cmd.Context(), true, func(c *catalog) error {
				s, err := c.Session("chat", &router.SessionOptions{Allow: a.set.allow()})
				if err != nil {
					return err
				}
				blank, err := c.RouteFor(cmd.Context(), "", a.set.allow())
				if err != nil {
					return err
				}
				ch := &chat{a: a, c: c, s: s, all: all, blank: blank, flat: eval.FlatTokens(c.Index(), a.set.allow())}
				ch.colour = a.colours()
				return ch.run(cmd.Context())
			})
		},
	}
	cmd.Flags().StringVar(&usage, "usage", "", "`FILE` that the use of skills is noted in, for health (default beside the kept indexes)")
	cmd.Flags().BoolVar(&all, "all", false, "fold nothing: every domain that was scored, every skill with its summary")
	return cmd
}

// A chat is one dialogue.
type chat struct {
	a       *app
	c       *catalog
	s       *router.Session
	all     bool // fold nothing
	colour  bool
	flat    int           // tokens of all summaries
	blank   *router.Route // of no words: what is shown to begin with
	last    *router.Route // nil before the first
	before  look
	offered []string // domains that the last question named, until it is answered
	said    []saidTurn
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
		if line = strings.TrimSpace(line); line == "" {
			ch.ready()
			continue
		}
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
		fmt.Fprintln(ch.a.out)
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

// line does what a line says.
func (ch *chat) line(ctx context.Context, line string) (quit bool, err error) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "/load", "/use", "/reject", "/choose", "/save":
		if rest == "" {
			what := map[string]string{"/choose": "DOMAIN", "/save": "FILE"}[verb]
			return false, fmt.Errorf("%s %s: what?", verb, cmp.Or(what, "NAME"))
		}
		return false, ch.told(ctx, verb, rest)
	case "/end":
		if err := ch.s.EndTask(ctx); err != nil {
			return false, err
		}
		ch.note(func(t *saidTurn) { t.ended = true })
		return false, ch.moved(ctx)
	case "/all":
		return false, ch.everything(ctx)
	case "/why":
		return false, ch.why()
	case "/state":
		return false, ch.state(ctx)
	case "/prompt":
		prompt, err := ch.s.Prompt(ctx)
		_, _ = io.WriteString(ch.a.out, prompt) // the app's writer keeps the error
		return false, err
	case "/help":
		_, _ = io.WriteString(ch.a.out, chatHelp)
		return false, nil
	case "/quit", "/exit":
		return true, nil
	}
	if strings.HasPrefix(line, "/") {
		if _, ok := ch.c.Index().Lookup(verb[1:]); !ok {
			return false, &failure{fmt.Errorf("no command or skill %s", verb), "/help lists the commands, `skillrouter list` the skills"}
		}
		return false, ch.turn(ctx, line) // names a skill outright
	}
	switch domain, err := ch.answer(line); {
	case err != nil:
		return false, err
	case domain != "":
		return false, ch.told(ctx, "/choose", domain)
	}
	return false, ch.turn(ctx, line)
}

// told does what the host says of a skill, domain or file, and shows what that moved.
func (ch *chat) told(ctx context.Context, verb, name string) error {
	var err error
	var note func(t *saidTurn)
	switch verb {
	case "/load":
		_, err = ch.s.Load(ctx, name)
		note = func(t *saidTurn) { t.loaded = append(t.loaded, name) }
	case "/use":
		err = ch.s.Use(ctx, name)
		note = func(t *saidTurn) { t.used = append(t.used, name) }
	case "/reject":
		var reason string
		name, reason = ch.nameAndReason(name)
		err = ch.s.Reject(ctx, name, reason)
		note = func(*saidTurn) { ch.takeBack(name) }
	case "/choose":
		name = ch.domain(name)
		err = ch.s.Choose(ctx, name)
		note = func(t *saidTurn) { t.chosen = name }
	case "/save":
		return ch.save(name)
	}
	var missing *index.NotFoundError
	var noDomain *router.DomainNotFoundError
	switch {
	case errors.As(err, &missing):
		return ch.a.unknown(ctx, ch.c, name) // tells which names are near
	case errors.As(err, &noDomain):
		if len(ch.c.Index().Domains()) == 0 {
			return err
		}
		return &failure{err, "the domains: " + ch.domainNames()}
	case err != nil:
		return err
	}
	ch.note(note)
	ch.offered = nil
	return ch.moved(ctx)
}

// answer returns the domain that a line chooses of those a question offered, ""
// if it is no answer.
func (ch *chat) answer(line string) (string, error) {
	if len(ch.offered) == 0 {
		return "", nil
	}
	if n, err := strconv.Atoi(line); err == nil {
		if n < 1 || n > len(ch.offered) {
			return "", fmt.Errorf("%d: no such number, the last is %d", n, len(ch.offered))
		}
		return ch.offered[n-1], nil
	}
	for _, name := range ch.offered {
		if text.Fold(name) == text.Fold(line) {
			return name, nil
		}
	}
	return "", nil
}

// domain returns the domain that is meant by what follows /choose: a number or
// name of those offered, or a name in letters of any case; else what it got.
func (ch *chat) domain(name string) string {
	if offered, err := ch.answer(name); err == nil && offered != "" {
		return offered
	}
	if _, ok := ch.c.Index().LookupDomain(name); ok {
		return name
	}
	for _, d := range ch.c.Index().Domains() {
		if text.Fold(d.Name) == text.Fold(name) {
			return d.Name
		}
	}
	return name
}

// domainNames lists the first domains, as a hint.
func (ch *chat) domainNames() string {
	const most = 12
	var names []string
	for _, d := range ch.c.Index().Domains() {
		names = append(names, clean(d.Name))
	}
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// turn routes an utterance and shows what came of it.
func (ch *chat) turn(ctx context.Context, utterance string) error {
	r, err := ch.s.Route(ctx, utterance)
	if err != nil {
		return err
	}
	ch.last, ch.offered = r, nil
	said := saidTurn{user: utterance}
	if r.Outcome == router.Direct {
		said.loaded = eventNames(r.Events, string(router.Direct))
	}
	ch.said = append(ch.said, said)
	now, err := ch.look(ctx, r)
	if err != nil {
		return err
	}
	ch.outcome(r, now.state.Layer)
	ch.tell(r.Events[:max(0, len(r.Events)-1)]) // the last is the outcome itself
	ch.tree(&now, r, ch.all)
	ch.before = now
	if q, ok := r.Question(); ok {
		ch.offered = eventNames(r.Events, string(router.Clarify))
		ch.question(q)
	}
	return nil
}

// eventNames returns the names of the first event of a rule.
func eventNames(events []router.Event, rule string) []string {
	for _, e := range events {
		if e.Rule == rule {
			return e.Names
		}
	}
	return nil
}

// outcome tells what a route came to, by which rule, and the best domains.
func (ch *chat) outcome(r *router.Route, layer router.Layer) {
	fmt.Fprintf(ch.a.out, "%s\n", ch.paint(bold, ch.fit(fmt.Sprintf("turn %d, layer %s: %s", r.Turn, layer, outcome(r)), 0)))
	ch.a.fill("   ", "   ", rule(r))
	if r.Degraded {
		fmt.Fprintln(ch.a.out, "   degraded: the embedder gave no vector, only words were compared")
	}
	if r.Clipped {
		fmt.Fprintln(ch.a.out, "   clipped: of this long utterance only head and tail were looked at")
	}
	if r.Outcome == router.Direct || r.Outcome == router.Empty {
		return // the scores decided nothing
	}
	const best = 3
	most := min(max(best, len(matched(r))), shownDomains, len(r.Domains))
	if ch.all {
		most = len(r.Domains)
	}
	for _, d := range r.Domains[:most] {
		mark, colour := " ", ""
		switch {
		case d.Matched:
			mark, colour = "✓", green
		case d.Excluded:
			mark = "✗"
		}
		name := clean(d.Name)
		if d.Excluded {
			name += " (tried already)"
		}
		fmt.Fprintf(ch.a.out, "   %s %.2f %s  %s\n", mark, d.Score, ch.paint(colour, bar(float64(d.Score))), ch.fit(name, 21))
	}
}

// question asks what the route would have the user asked, with the answers.
func (ch *chat) question(q string) {
	ch.a.fill("   ? ", "     ", q)
	for i, name := range ch.offered {
		fmt.Fprintf(ch.a.out, "     %s  %s\n", ch.paint(bold, strconv.Itoa(i+1)), clean(name))
	}
	if ch.a.tty.in {
		fmt.Fprintln(ch.a.out, ch.paint(dim, "     (a number or name chooses; anything else is the next utterance)"))
	}
}

// moved tells the events since the last look, and what came and went by them.
func (ch *chat) moved(ctx context.Context) error {
	now, err := ch.look(ctx, nil)
	if err != nil {
		return err
	}
	ch.tell(since(ch.before.state.Events, now.state.Events))
	if now.equal(&ch.before) {
		fmt.Fprintf(ch.a.out, "   layer %s, nothing came or went\n", now.state.Layer)
	} else {
		fmt.Fprintf(ch.a.out, "   layer %s\n", now.state.Layer)
		ch.tree(&now, nil, ch.all)
	}
	ch.before = now
	return nil
}

// everything shows what is in the prompt, skill by skill.
func (ch *chat) everything(ctx context.Context) error {
	now, err := ch.look(ctx, nil)
	if err != nil {
		return err
	}
	ch.tree(&now, nil, true)
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
