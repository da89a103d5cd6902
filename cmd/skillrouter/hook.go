package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter"
	"skillrouter/cache"
	"skillrouter/cache/files"
	"skillrouter/index"
	"skillrouter/keeper"
	"skillrouter/router"
)

const (
	// hookDeadline is how long a client is kept waiting at most.
	hookDeadline = time.Second
	// hookCheck is the share of that, one in so many, for which the hook looks
	// whether the folders changed: 40 ms, enough for some 1,000 skills.
	hookCheck = 25
	// hookMemory is how many bytes are used before any are collected.
	hookMemory = 256 << 20
	// hookSessions bounds the sessions kept.
	hookSessions = 1000
	// hookLogText is the variable that puts utterances in the log.
	hookLogText = "SKILLROUTER_LOG_TEXT"
)

func (a *app) hookCommand() *cobra.Command {
	h := &hook{app: a}
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Add the skills that a prompt needs to a coding agent's context",
		Long: `hook is what a coding agent runs before each prompt. It reads the client's
message from stdin and writes the context to add to stdout: which skills may fit,
with the file of each, for the agent to read. ` + "`hook install claude-code`" + ` sets it up.

A client keeps what it was given, so only what is new is given: the domains with
the first prompt, summaries when they come in, again after 5 turns, and by name
the best of those it has. A compaction (SessionStart with the source compact or
clear) begins anew. At most 9,000 characters are written. Sessions are kept for
7 days after their last prompt, the last 1,000 of them.

hook answers from the index that was kept last, without reading the folders. Has
a folder changed, or is there no index yet, a process in the background builds
one for the next prompts.

Whatever goes wrong, hook writes nothing to stdout, ends with status 0 within
the deadline and says why in its log, which ` + "`hook status`" + ` shows. No text of a prompt
is logged unless ` + hookLogText + `=1 or --log-text says so.

Without --skills the user's places are used (~/.agents/skills, ~/.claude/skills)
and those of the project that the client is in, once ` + "`skillrouter trust`" + ` has
named it. What a client itself lists of these is listed twice: keep a large
catalog where it does not look, and name it with --skills.

Messages, one JSON object each:
  Claude Code's, which Codex, Gemini CLI and others have taken over:
    {"hook_event_name":"UserPromptSubmit","session_id":"…","cwd":"…","prompt":"…"}
    answered in its form: {"hookSpecificOutput":{…,"additionalContext":"…"}}
  a generic one, answered with the text alone:
    {"session":"…","utterance":"…","cwd":"…"}     "agent" tells several apart
    {"session":"…","forget":true}                 the client's context is gone`,
		Example: `  skillrouter hook install claude-code --skills ~/skills
  skillrouter hook status

  # Codex: in ~/.codex/hooks.json, then trust it by /hooks
  {"hooks": {
    "UserPromptSubmit": [{"hooks": [
      {"type": "command", "command": "skillrouter hook --skills /home/me/skills", "timeout": 5}]}],
    "SessionStart": [{"matcher": "clear|compact", "hooks": [
      {"type": "command", "command": "skillrouter hook --skills /home/me/skills", "timeout": 5}]}]}}

  # any program
  echo '{"session":"7","utterance":"turn this PDF into text"}' | skillrouter hook --format json`,
		Args: verbsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.tty.in {
				return cmd.Help() // a person, who has no message to give
			}
			return h.run(cmd.Context())
		},
	}
	h.flags(cmd.Flags())
	cmd.AddCommand(a.hookInstallCommand(), a.hookUninstallCommand(), a.hookStatusCommand(), a.hookRebuildCommand())
	return cmd
}

// isHook tells whether a command is the hook itself, whose client nothing must
// disturb: a status of 2 would keep the user's prompt from the model.
func (a *app) isHook(cmd *cobra.Command) bool {
	return cmd != nil && cmd.CommandPath() == "skillrouter hook" && !a.tty.in
}

// A hook is one run of the hook.
type hook struct {
	*app
	format   word
	deadline time.Duration
	logText  bool
	log      *slog.Logger
	store    *askedStore
	usage    *keeper.Usage // where the use of skills is noted; nil: nowhere
}

// flags are those of the hook alone.
func (h *hook) flags(f *pflag.FlagSet) {
	h.format = word{of: []string{"auto", "claude-code", "text", "json"}}
	f.Var(&h.format, "format", "how to answer: auto, claude-code, text or json (default auto: as the message came)")
	f.DurationVar(&h.deadline, "deadline", hookDeadline, "the longest that the client waits, `TIME` such as 2s")
	f.BoolVar(&h.logText, "log-text", false, "write utterances to the log too")
}

// A hookAnswer is what a run leads to.
type hookAnswer struct {
	out   []byte      // for the client
	attrs []slog.Attr // for the log
	err   error
	stale func() bool // waits until it is known whether the index is to be built; nil: it is not
	place *hookPlaces
}

// run answers the client. Its error is for the log.
func (h *hook) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil { // it would end with the status 2
			err = fmt.Errorf("panic: %v at %s", p, panicked())
		}
	}()
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, h.deadline)
	defer cancel()
	h.log = h.hookLog()
	// A process of some 30 ms has nothing to gain from collecting garbage: that
	// took a fifth of them. Above hookMemory it is collected all the same.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(hookMemory))
	answers := make(chan hookAnswer, 1)
	go func() {
		var answer hookAnswer
		defer func() {
			if p := recover(); p != nil {
				answer = hookAnswer{err: fmt.Errorf("panic: %v at %s", p, panicked())}
			}
			answers <- answer
		}()
		answer = h.answer(ctx)
	}()
	var answer hookAnswer
	select {
	case answer = <-answers:
	case <-ctx.Done(): // the client may have left stdin open
		return fmt.Errorf("no answer within %v: %w", h.deadline, ctx.Err())
	}
	if answer.err == nil {
		_, answer.err = h.out.Write(answer.out)
	}
	var started error
	if answer.stale != nil && answer.stale() {
		started = h.startRebuild(answer.place)
	}
	if answer.err == nil && started != nil {
		answer.err = fmt.Errorf("starting to build the index: %w", started)
	}
	if answer.err != nil {
		return &hookFault{answer.err, answer.attrs}
	}
	if answer.attrs != nil {
		answer.attrs = append(answer.attrs, slog.Int64("ms", time.Since(start).Milliseconds()))
		h.log.LogAttrs(ctx, slog.LevelInfo, "answered", answer.attrs...)
	}
	return nil
}

// A hookFault is an error of a run and what else is known of it.
type hookFault struct {
	err   error
	attrs []slog.Attr
}

func (f *hookFault) Error() string { return f.err.Error() }
func (f *hookFault) Unwrap() error { return f.err }

// hookFailed writes to the log why the client got nothing.
func (a *app) hookFailed(ctx context.Context, err error) {
	attrs := []slog.Attr{slog.String("error", clean(err.Error()))}
	var fault *hookFault
	if errors.As(err, &fault) {
		attrs = append(attrs, fault.attrs...)
	}
	a.hookLog().LogAttrs(ctx, slog.LevelWarn, "nothing was answered", attrs...)
}

// panicked is the place in our code of a panic that was just recovered.
func panicked() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// answer does the work.
func (h *hook) answer(ctx context.Context) hookAnswer {
	e, err := readHookEvent(h.in)
	if err != nil {
		return hookAnswer{err: err}
	}
	attrs := []slog.Attr{slog.String("session", anonymous(e.session))}
	if e.name != "" {
		attrs = append(attrs, slog.String("event", clean(e.name)))
	}
	if h.logText || h.env(hookLogText) == "1" {
		attrs = append(attrs, slog.String("utterance", e.utterance))
	}
	answer := hookAnswer{attrs: attrs}
	if e.kind == otherEvent {
		answer.attrs = append(attrs, slog.String("outcome", "nothing to do at this event"))
		return answer
	}
	fail := func(err error) hookAnswer {
		answer.err = err
		return answer
	}
	places, err := h.hookPlaces(e.cwd)
	if err != nil {
		return fail(err)
	}
	answer.place = places
	if len(places.dirs) == 0 {
		answer.attrs = append(attrs, slog.String("outcome", "no folder of skills"), slog.Int("untrusted", len(places.untrusted)))
		return answer
	}
	kept, err := h.kept(ctx, places)
	if errors.Is(err, fs.ErrNotExist) {
		answer.stale = func() bool { return h.mayRebuild(places, true) }
		return fail(errors.New("no index is kept yet: one is being built"))
	}
	if err != nil {
		return fail(err)
	}
	answer.stale = h.check(kept, places)
	r, err := kept.Open(ctx)
	var format *index.FormatError
	if errors.As(err, &format) {
		answer.stale = func() bool { return h.mayRebuild(places, true) }
	}
	if err != nil {
		return fail(err)
	}
	answer = h.turn(ctx, e, r.Router, answer)
	if h.usage != nil {
		if err := h.usage.Close(); err != nil {
			h.log.Warn("the use of skills is not noted", "error", err)
		}
	}
	return answer
}

// turn takes the session one turn on.
func (h *hook) turn(ctx context.Context, e *hookEvent, r *router.Router, answer hookAnswer) hookAnswer {
	fail := func(err error) hookAnswer {
		answer.err = err
		return answer
	}
	var route *router.Route
	var err error
	if e.session == "" {
		route, err = r.RouteFor(ctx, e.utterance, h.set.allow())
	} else {
		var s *router.Session
		if s, err = r.Session(e.session, &router.SessionOptions{Agent: e.agent, Allow: h.set.allow()}); err != nil {
			return fail(err)
		}
		if e.kind == forgetEvent {
			if err := s.End(ctx); err != nil {
				return fail(err)
			}
			answer.attrs = append(answer.attrs, slog.String("outcome", "forgotten"))
			return answer
		}
		route, err = s.Route(ctx, e.utterance)
		if errors.Is(err, router.ErrState) { // of before an update of this program: better begun anew than mute
			if err = s.End(ctx); err == nil {
				route, err = s.Route(ctx, e.utterance)
			}
		}
	}
	if err != nil {
		return fail(err)
	}
	if route.Unsaved {
		return fail(fmt.Errorf("the session could not be kept: %w", h.store.why))
	}
	if route.Turn <= 1 {
		for _, dir := range answer.place.untrusted {
			h.notice("a folder of the project is not used: `skillrouter trust` allows it", e, slog.String("folder", dir))
		}
		for _, s := range answer.place.shadowed(r.Index()) {
			h.notice("a skill of the project hides one of the user's", e, slog.String("skill", s))
		}
	}
	var alone *router.Route
	if !route.Matched() && !route.SaysNothing() {
		if alone, err = r.RouteFor(ctx, e.utterance, h.set.allow()); err != nil {
			return fail(err)
		}
	}
	c := newHookContext(r.Index(), answer.place.dirs, route, alone, h.set.allow(), h.set.lang.value)
	answer.out, err = h.write(e, route, c)
	answer.attrs = append(answer.attrs,
		slog.Int("turn", route.Turn), slog.String("outcome", string(route.Outcome)), slog.Int("named", len(c.named)),
		slog.Int("new", len(c.fresh)), slog.Int("again", len(c.again)), slog.Int("perhaps", len(c.perhaps)), slog.Int("bytes", len(answer.out)))
	answer.err = err
	return answer
}

// notice tells the log something about the folders that a session has.
func (h *hook) notice(what string, e *hookEvent, attr slog.Attr) {
	h.log.Warn(what, "session", anonymous(e.session), attr)
}

// kept finds the index that is to answer.
func (h *hook) kept(ctx context.Context, places *hookPlaces) (*skillrouter.Kept, error) {
	o, err := h.hookOptions(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := h.stateDir()
	if err != nil {
		return nil, err
	}
	store, err := files.Open(filepath.Join(dir, "sessions"), &files.Options{Capacity: hookSessions, Wait: max(h.deadline/4, 1), Logger: h.log})
	if err != nil {
		return nil, err
	}
	h.store = &askedStore{Store: store}
	o.Router.Store = h.store
	o.Router.EmbedTimeout = max(h.deadline/2, 1)
	if h.usage, err = h.useOf(places); err != nil {
		h.log.Warn("the use of skills is not noted", "error", err)
	} else if h.usage != nil {
		o.Router.Observer = h.usage
	}
	return skillrouter.FindKept(o, places.dirs...)
}

// useOf opens the file in which the use of the skills of places is noted; nil if
// nothing is kept.
func (h *hook) useOf(places *hookPlaces) (*keeper.Usage, error) {
	path, err := h.usagePath(&catalog{places: places.dirs}, "")
	if path == "" || err != nil {
		return nil, err
	}
	return keeper.OpenUsage(path, nil)
}

// An askedStore remembers why it could not be had: a route only says that it
// was not. It is for the one turn of a process.
type askedStore struct {
	*files.Store
	why error
}

// Load is that of the store.
func (s *askedStore) Load(ctx context.Context, key string) ([]byte, uint64, error) {
	state, revision, err := s.Store.Load(ctx, key)
	s.note(err, cache.ErrNotFound)
	return state, revision, err
}

// Save is that of the store.
func (s *askedStore) Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error) {
	saved, err := s.Store.Save(ctx, key, state, revision)
	s.note(err, cache.ErrConflict)
	return saved, err
}

func (s *askedStore) note(err, usual error) {
	if err != nil && !errors.Is(err, usual) {
		if s.why = errors.Unwrap(err); s.why == nil { // without the session's name
			s.why = err
		}
	}
}

// hookOptions are those that the hook and the process that builds its index
// have in common, so that one finds what the other made.
func (a *app) hookOptions(ctx context.Context) (*skillrouter.Options, error) {
	dir := a.cacheDir()
	if dir == "" {
		return nil, errors.New("the hook needs a cache folder, and there is none (--no-cache, or no HOME)")
	}
	e, err := a.embedder(ctx)
	if err != nil {
		return nil, err
	}
	return &skillrouter.Options{Router: a.set.options(), Depth: int(a.set.depth), Orders: a.set.level(), CacheDir: dir, Embedder: e}, nil
}
