// Package agent puts what a [router.Session] decides into the requests of an
// agent's loop, and answers the model's calls.
//
//	utterance ─► Session.Route ─► route
//	                               │
//	history ───────────────────► Prepare ─► request ─► model ─► answer
//	                               ▲                     │
//	                    State: what is loaded            │ tool calls
//	                               ▲                     ▼
//	                               └────────────────── Call ─► tool messages ─► history
//
// A loop stays as it is; two calls are put into it. [Kit.Prepare] before each
// model call builds system message and tools anew from the history, which it
// does not touch. [Kit.Call] answers a tool call: a tool that handles skills
// changes the [State], any other is a Go function of [Options].Funcs that a
// loaded skill declares in its tools.json. State is all that the two share.
// [Run] is such a loop, on go-openai.
//
// A turn is one utterance up to the final answer, a step one model call in it.
//
// The router's session is the truth for layers and task, the keys of State for
// what a prompt shows; only this package touches both, by these rules. A load
// is shown for one request (once), the turn, the task (what the router loads
// by itself), or the session. When a load for a turn ends, its text stays
// cached until the task ends. The end of a task drops what is loaded, but not
// what is loaded for the session. Summaries that expire unload nothing. The
// end of the session drops everything.
//
// Reading order: message.go, state.go, tools.go, agent.go, prepare.go,
// skills.go and place.go (what Prepare does), call.go and handle.go, run.go.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/router"
	"skillrouter/summaries"
)

// A Repository is where skills come from: a folder, a database, a service.
// [index.Index] is one.
type Repository interface {
	Summaries() []summaries.Summary              // name and one line each; cheap enough for every request
	Get(name string) (*definitions.Skill, error) // the whole; called once a skill is needed
	Path(name string) (string, error)            // where its documents lie
}

// A DocReader is a [Repository] that reads documents, too.
type DocReader interface {
	Doc(ctx context.Context, skill, name string) ([]byte, error)
}

var (
	_ Repository = (*index.Index)(nil)
	_ DocReader  = (*index.Index)(nil)
)

// A Strategy is where the definitions of loaded skills stand in a request.
type Strategy string

// The strategies.
const (
	// SystemMessage puts them at the end of the system message: simple, easy
	// to read, survives compaction; each load changes the beginning of the
	// prompt, which misses the endpoint's cache.
	SystemMessage Strategy = ""

	// ToolResult puts them into the result of the call that loaded them: what
	// stands before stays byte for byte, so the cache hits; what is gone from
	// the history comes back in a system message.
	ToolResult Strategy = "tool-result"

	// Toolset is for skills that are sets of tools: load_skill and
	// unload_skill, for the session. Their descriptions name what there is and
	// what is loaded, so each load misses the cache.
	Toolset Strategy = "toolset"

	// Path shows names, descriptions and paths only; the model reads the files
	// with read_file. What it read stays in the history: it cannot expire.
	Path Strategy = "path"
)

// A Mode says how long a loaded skill is shown.
type Mode string

// The modes, the shortest first.
const (
	Once    Mode = "once"    // in one request
	Turn    Mode = "turn"    // until the next utterance
	Task    Mode = "task"    // until the task ends, as what the router loads by itself; models cannot ask for it
	Session Mode = "session" // until it is unloaded
)

// A Func is a Go function behind a tool. Its arguments are a JSON object; its
// error is shown to the model. It should stop when ctx ends.
type Func func(ctx context.Context, arguments json.RawMessage) (string, error)

// Options says what an agent is. The zero value is an agent without tools of
// its own, whose skills are shown in the system message, for a turn.
type Options struct {
	System   string // the base prompt
	Strategy Strategy
	Mode     Mode            // of skill_load without one; "" means Turn
	Funcs    map[string]Func // by tool name: for the tools.json of skills, and for Tools
	Tools    []Tool          // of the agent itself, always offered
	Extras   []string        // tools by which skills are handled, besides those of the strategy: LoadDomain, SearchSkills, …

	MaxLoadedSkills int                   // loaded at once; the least recent go; 0 or less means no bound
	Budget          int                   // tokens of system message and loaded skills; 0 or less means no bound, see [Receipt]
	Tokens          func(text string) int // counts them; nil means an estimate
	ToolTimeout     time.Duration         // for one call; 0 means a minute, negative none

	// Covered tells whether a summary in a compacted history already says what
	// a loaded skill does. nil: none does. Only ToolResult asks.
	Covered    func(skill string) bool
	Processors []Processor                                // the host's own work on each request
	Panicked   func(tool string, value any, stack []byte) // told of functions that panic; nil: the model alone is
	Repository Repository                                 // where definitions are read; nil means the index of the turn
	State      *State                                     // of the session, one for all its agents; nil makes one
}

// A Kit connects a loop with a session. It is safe for concurrent use; the
// steps of a turn come one after the other.
type Kit struct {
	s     *router.Session
	o     Options
	st    *State
	agent string
	chain []processor
	texts texts

	skillTools []Tool                 // see SkillTools
	handling   []string               // names of the tools by which skills are handled
	estimated  bool                   // tokens are
	utterance  atomic.Pointer[string] // of the turn, folded

	mu      sync.Mutex
	loading map[string]int // skills that calls are loading, how many
}

// New returns the kit of a session. A nil opts means the zero [Options]. The
// error names the option that is wrong.
func New(s *router.Session, opts *Options) (*Kit, error) {
	if s == nil {
		return nil, errors.New("agent: no session: Router.Session gives one")
	}
	k := &Kit{s: s, agent: s.Agent(), loading: map[string]int{}}
	if opts != nil {
		k.o = *opts
	}
	if k.o.Mode == "" {
		k.o.Mode = Turn
	}
	if err := k.o.check(); err != nil {
		return nil, err
	}
	if k.o.ToolTimeout == 0 {
		k.o.ToolTimeout = time.Minute
	}
	if k.o.Tokens == nil {
		k.o.Tokens, k.estimated = text.Tokens, true
	}
	k.skillTools, k.handling = SkillTools(), k.o.handlingTools()
	k.o.Funcs, k.o.Tools = maps.Clone(k.o.Funcs), slices.Clone(k.o.Tools)
	for i := range k.o.Tools {
		k.o.Tools[i].placed = true
	}
	if k.st = k.o.State; k.st == nil {
		k.st = &State{}
	}
	var err error
	if k.chain, err = k.processors(); err != nil {
		return nil, err
	}
	return k, nil
}

func (o *Options) check() error {
	switch o.Strategy {
	case SystemMessage, ToolResult, Toolset, Path:
	default:
		return fmt.Errorf("agent: Strategy %q is not tool-result, toolset or path", o.Strategy)
	}
	if o.Mode != Once && o.Mode != Turn && o.Mode != Task && o.Mode != Session {
		return fmt.Errorf("agent: Mode %q is not once, turn, task or session", o.Mode)
	}
	for _, name := range o.Extras {
		if !isSkillTool(name) {
			return fmt.Errorf("agent: Extras: there is no tool %q", name)
		}
	}
	for i, t := range o.Tools {
		name := t.Function.Name
		switch {
		case isSkillTool(name) && name != toolReadFile: // an agent may have its own
			return fmt.Errorf("agent: Tools: %q is the name of a tool by which skills are handled: rename it", name)
		case o.Funcs[name] == nil:
			return fmt.Errorf("agent: Tools: no function for %q: set Funcs[%q]", name, name)
		case slices.ContainsFunc(o.Tools[:i], func(other Tool) bool { return other.Function.Name == name }):
			return fmt.Errorf("agent: Tools: %q stands twice", name)
		}
	}
	return nil
}

// State returns what the agents of the session keep.
func (k *Kit) State() *State { return k.st }

// Session returns the session that the kit was made for.
func (k *Kit) Session() *router.Session { return k.s }

// A Snapshot is what of an agent outlives its session: the skills that were
// loaded for it, and their documents. In JSON it can be kept anywhere.
type Snapshot struct {
	ActiveSkills []string            `json:"active_skills"`  // by name
	Docs         map[string][]string `json:"docs,omitempty"` // chosen ones, by skill; "*" are all
}

// Snapshot returns what to give to Resume later.
func (k *Kit) Snapshot() Snapshot {
	snap := Snapshot{ActiveSkills: []string{}}
	for _, h := range sorted(k.st.read(k.agent, k.o.Mode)) {
		if h.mode != Session {
			continue
		}
		snap.ActiveSkills = append(snap.ActiveSkills, h.skill)
		if h.all {
			h.docs = []string{allDocs}
		}
		if len(h.docs) > 0 {
			if snap.Docs == nil {
				snap.Docs = map[string][]string{}
			}
			snap.Docs[h.skill] = h.docs
		}
	}
	return snap
}

// Resume loads the skills of a snapshot one by one, for the session, before
// its first turn. Those that do not exist any more are passed over, and
// returned.
func (k *Kit) Resume(ctx context.Context, snap Snapshot) (gone []string, err error) {
	for _, name := range snap.ActiveSkills {
		args := LoadArgs{Skill: name, Docs: snap.Docs[name], Mode: Session}
		if slices.Equal(args.Docs, []string{allDocs}) {
			args.Docs, args.IncludeAllDocs = nil, true
		}
		_, err := k.load(ctx, causeResume, args)
		switch {
		case errors.Is(err, errNotFound):
			gone = append(gone, name)
		case err != nil:
			return gone, fmt.Errorf("agent: resuming %q: %w", name, err)
		}
	}
	// What is resumed begins no task, and says nothing of what comes.
	if err := k.s.EndTask(ctx); err != nil {
		return gone, fmt.Errorf("agent: resuming: %w", err)
	}
	return gone, nil
}

// End forgets the session and what its agent has loaded.
func (k *Kit) End(ctx context.Context) error {
	if err := k.s.End(ctx); err != nil {
		return err
	}
	var skills []string
	for _, h := range sorted(k.st.read(k.agent, k.o.Mode)) {
		skills = append(skills, h.skill)
	}
	delta := dropped(k.agent, skills)
	delta[key1(onceKey, k.agent)] = nil
	delta[key1(clearedKey, k.agent)] = nil
	delta[key1(routedKey, k.agent)] = nil
	k.st.Commit(Change{Agent: k.agent, Cause: causeEnd, Skills: skills, Delta: delta})
	return nil
}

// key1 is the key of an agent as such.
func key1(kind, agentName string) string { return kind + escapeName(agentName) }

// CheckTools reads the tools.json of all skills of ix and returns what is wrong
// with them, in catalog order, tools without a function among it: for the
// start of a program. It reads as many files as there are skills.
func CheckTools(ctx context.Context, ix *index.Index, funcs map[string]Func) ([]definitions.Problem, error) {
	var problems []definitions.Problem
	for _, s := range ix.Skills() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := ix.Doc(ctx, s.Name, toolsFile)
		if err != nil {
			continue // it has none; a skill that cannot be read is a problem of the catalog
		}
		file := toolsPath(s.File)
		problems = append(problems, parseTools(file, data).bind(file, funcs).problems...)
	}
	return problems, nil
}
