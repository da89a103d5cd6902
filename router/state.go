package router

import (
	"encoding/json"
	"fmt"
	"slices"

	"skillrouter/cache"
)

// A Layer is one of the three layers of a catalog.
type Layer int

// The layers.
const (
	Domains     Layer = 1 // the index of domains
	Summaries   Layer = 2 // summaries of some domains
	Definitions Layer = 3 // definitions of single skills
)

// String is the layer's name.
func (l Layer) String() string {
	switch l {
	case Domains:
		return "domains"
	case Summaries:
		return "summaries"
	case Definitions:
		return "definitions"
	}
	return fmt.Sprintf("layer(%d)", int(l))
}

// An Event is one move of a session, or one thing that happened to what it
// keeps. Its rule is one of those in the table of [Session], or
//
//	task-begin  a task begins
//	use         the host tells that a skill is used
//	unload      the host takes loaded skills out of the prompt
//	keep        the host tells how long loaded skills stay
//	expired     summaries of a domain were kept for their turns
//	evicted     something made room
//	changed     a text was changed in the catalog: what was kept of it is dropped
//	deleted     a loaded skill is not in the catalog any more
//	revoked     a loaded skill does not exist for the asker any more
//	stale       a definition is newer than the catalog in use: refresh it
//	unreadable  a skill that was named cannot be read
//	unsaved     the session store failed: the state is kept in this process
//	dropped     so it was, and others have saved the session meanwhile
type Event struct {
	Turn   int
	From   Layer
	To     Layer
	Rule   string
	Names  []string // domains or skills that it is about
	Score  float32  // of the best domain, where a score decided
	Reason string   // given by the host, at most 200 characters of it
}

const (
	keptEvents = 16       // events that a state holds
	maxState   = 16 << 10 // bytes of a state
	usualState = 4 << 10  // bytes up to which all keptEvents are kept, else fewEvents
	fewEvents  = 8
	maxReason  = 200 // characters of a reason
)

// state is everything a session remembers. It holds names, hashes and turns,
// no text of a catalog or user, and is all that a prompt is made of. Its keys
// in JSON are short because there is one for each session.
type state struct {
	Version int   `json:"v"`
	Turn    int   `json:"t"`
	Layer   Layer `json:"l"`

	Decided bool `json:"d,omitempty"`  // a decision was made in this turn
	Decides bool `json:"ds,omitempty"` // the host has made a decision ever: without, nothing stalls
	Uses    bool `json:"u,omitempty"`  // the host tells of uses: without, layer 3 never stalls
	Stalls  int  `json:"s,omitempty"`  // turns without a decision in this layer, one after another
	Asked   bool `json:"a,omitempty"`  // a question was asked and nothing has matched since

	Task        bool     `json:"k,omitempty"`
	TaskDomains []string `json:"kd,omitempty"`

	Topics []topic `json:"tp,omitempty"` // what the dialogue is about, likeliest first

	Visible  []visible `json:"vs,omitempty"` // domains shown, in order
	Lines    []string  `json:"li,omitempty"` // domains of which only the line is shown
	Nearest  []string  `json:"n,omitempty"`  // domains named because nothing matched
	Fallback bool      `json:"f,omitempty"`  // what is visible is of fallback domains
	Loaded   []string  `json:"ld,omitempty"` // definitions in the prompt, in order
	Extended []string  `json:"xt,omitempty"` // those of them with their extension
	Lent     []string  `json:"ln,omitempty"` // those that the next turn begins without
	Gone     []string  `json:"g,omitempty"`  // loaded skills that were deleted since the turn before
	Left     []string  `json:"lf,omitempty"` // skills that left the prompt since the turn began
	Tried    []tried   `json:"x,omitempty"`
	Events   []record  `json:"e,omitempty"` // the last ones, oldest first

	Index       string        `json:"i"` // fingerprint of the index of the last call
	Summaries   []keptSummary `json:"sc,omitempty"`
	Definitions []keptDefined `json:"dc,omitempty"`

	summaries   *cache.Turns[string, string] // domain → hash of its summaries
	definitions *cache.Task[string, string]  // skill → hash of its file
}

// A record is an [Event] as it is stored.
type record struct {
	Turn   int      `json:"t"`
	From   Layer    `json:"f"`
	To     Layer    `json:"o"`
	Rule   string   `json:"r"`
	Names  []string `json:"n,omitempty"`
	Score  float32  `json:"s,omitempty"`
	Reason string   `json:"y,omitempty"`
}

// keptSummary and keptDefined are entries of the caches as they are stored.
type keptSummary struct {
	Key    string `json:"k"`
	Value  string `json:"v"`
	Loaded int    `json:"t"`
}

type keptDefined struct {
	Key    string `json:"k"`
	Value  string `json:"v"`
	Pinned bool   `json:"p,omitempty"`
}

// stateVersion goes up when older states cannot be read any more.
const stateVersion = 1

// visible is a domain with the skills of it that are shown.
type visible struct {
	Domain string   `json:"d"`
	Skills []string `json:"s"`
	More   int      `json:"m,omitempty"` // that were cut
}

// tried is a domain or skill that is left out after it was tried in vain.
type tried struct {
	Name  string `json:"n"`
	Skill bool   `json:"s,omitempty"` // else a domain
	Until int    `json:"t"`           // turn in which it counts again
}

// triedTurns is how many turns something tried is left out, at most.
const triedTurns = 5

// mostLoaded bounds the definitions of one task.
const mostLoaded = 64

func newState(o *Options) (*state, error) {
	st := &state{Version: stateVersion, Layer: Domains}
	return st, st.restore(o)
}

// restore makes the caches of their entries.
func (st *state) restore(o *Options) (err error) {
	life := o.SummaryTurns
	if life < 0 {
		life = 0 // the default: without a cache routes are the same, they only cost more, see serve
	}
	if st.summaries, err = cache.NewTurns[string, string](&cache.TurnsOptions{Life: life, Sliding: o.Sliding}); err != nil {
		return err
	}
	if st.definitions, err = cache.NewTask[string, string](&cache.TaskOptions{Capacity: mostLoaded}); err != nil {
		return err
	}
	entries := make([]cache.Entry[string, string], len(st.Summaries))
	for i, e := range st.Summaries {
		entries[i] = cache.Entry[string, string](e)
	}
	st.summaries.Restore(st.Turn, entries)
	task := make([]cache.TaskEntry[string, string], len(st.Definitions))
	for i, e := range st.Definitions {
		task[i] = cache.TaskEntry[string, string](e)
	}
	st.definitions.Restore(task)
	st.Summaries, st.Definitions = nil, nil
	return nil
}

func decodeState(data []byte, o *Options) (*state, error) {
	st := &state{}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, fmt.Errorf("%w: %w: end the session to begin anew", ErrState, err)
	}
	if st.Version != stateVersion {
		return nil, fmt.Errorf("%w: it has version %d, this router reads %d: end the session to begin anew", ErrState, st.Version, stateVersion)
	}
	return st, st.restore(o)
}

// encode returns the state as at most maxState bytes, and as at most usualState
// where letting go of old events does it.
func (st *state) encode() ([]byte, error) {
	for {
		flat := *st
		for _, e := range st.summaries.Entries() {
			flat.Summaries = append(flat.Summaries, keptSummary(e))
		}
		for _, e := range st.definitions.Entries() {
			flat.Definitions = append(flat.Definitions, keptDefined(e))
		}
		data, err := json.Marshal(&flat)
		switch {
		case err != nil:
			return nil, err
		case len(data) > usualState && len(st.Events) > fewEvents:
			st.Events = st.Events[1:]
		case len(data) <= maxState || !st.shed():
			return data, nil
		}
	}
}

// shed makes a state smaller that is too large, and tells whether it could:
// the oldest events go first. More than that only goes when a host lifts the
// bounds of what is shown or has very long names.
func (st *state) shed() bool {
	half := func(n int) int { return (n + 1) / 2 }
	switch {
	case len(st.Events) > 0:
		st.Events = st.Events[1:]
	case len(st.Left) > 0:
		st.Left = nil
	case len(st.Lines) > 0:
		st.Lines = st.Lines[:len(st.Lines)-half(len(st.Lines))]
	case len(st.Tried) > 0:
		st.Tried = st.Tried[half(len(st.Tried)):]
	case st.summaries.Len() > len(st.Visible):
		shown := func(d string) bool {
			return slices.ContainsFunc(st.Visible, func(v visible) bool { return v.Domain == d })
		}
		for _, d := range st.summaries.Keys() {
			if !shown(d) {
				st.summaries.Remove(d)
			}
		}
	case len(st.Visible) > 1:
		for _, v := range st.Visible[len(st.Visible)/2:] {
			st.summaries.Remove(v.Domain)
		}
		st.Visible = st.Visible[:len(st.Visible)/2]
	case len(st.Visible) == 1 && len(st.Visible[0].Skills) > 1:
		v := &st.Visible[0]
		v.Skills = v.Skills[:len(v.Skills)/2]
	case len(st.TaskDomains) > 1:
		st.TaskDomains = st.TaskDomains[half(len(st.TaskDomains)):]
	case len(st.Gone) > 0:
		st.Gone = nil
	case st.definitions.Len() > 0:
		for _, name := range st.definitions.Keys()[:half(st.definitions.Len())] {
			st.definitions.Remove(name)
			st.unload(name)
		}
	default:
		return false
	}
	return true
}

func (st *state) unload(skill string) {
	st.Lent = slices.DeleteFunc(st.Lent, func(name string) bool { return name == skill })
	st.Loaded = slices.DeleteFunc(st.Loaded, func(name string) bool { return name == skill })
}

// pinned are the definitions that outlive the task.
func (st *state) pinned() []string {
	var names []string
	for _, e := range st.definitions.Entries() {
		if e.Pinned {
			names = append(names, e.Key)
		}
	}
	return names
}

// extended are the loaded definitions that stand in the prompt with their
// extension: it goes when they go.
func (st *state) extended() []string {
	st.Extended = slices.DeleteFunc(st.Extended, func(name string) bool { return !slices.Contains(st.Loaded, name) })
	return slices.Clone(st.Extended)
}

// leaveOut keeps a skill or domain that was tried in vain from being shown.
func (st *state) leaveOut(name string, skill bool, until int) {
	st.Tried = slices.DeleteFunc(st.Tried, func(x tried) bool { return x.Skill == skill && x.Name == name })
	st.Tried = append(st.Tried, tried{name, skill, until})
}

// count lets a skill or domain count again.
func (st *state) count(name string, skill bool) {
	st.Tried = slices.DeleteFunc(st.Tried, func(x tried) bool { return x.Skill == skill && x.Name == name })
}

// names returns the skills in the prompt, each once.
func (st *state) names() []string {
	var names []string
	for _, v := range st.Visible {
		names = append(names, v.Skills...)
	}
	for _, name := range st.Loaded {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// left notes which of the names have left the prompt.
func (st *state) left(names []string) {
	now := st.names()
	for _, name := range names {
		if !slices.Contains(now, name) && !slices.Contains(st.Left, name) {
			st.Left = append(st.Left, name)
		}
	}
}
