package router

import (
	"encoding/json"
	"fmt"

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

// An Event is one move of a session, or one thing that happened to its caches.
type Event struct {
	Turn   int
	From   Layer
	To     Layer
	Rule   string   // such as "match", "sticky", "stalled", "load", "task-end": see [Session]
	Names  []string `json:",omitempty"` // domains or skills that it is about
	Reason string   `json:",omitempty"` // given by the host
}

// keptEvents is how many events a state holds.
const keptEvents = 16

// state is everything a session remembers. It holds names, hashes and turns,
// no text of a catalog or user.
type state struct {
	Version int
	Turn    int
	Layer   Layer

	Decided bool // a decision was made in this turn
	Decides bool // the host has made a decision ever: without, nothing stalls
	Uses    bool // the host tells of uses: without, layer 3 never stalls
	Stalls  int  // turns without a decision in this layer, one after another
	Asked   bool // a question was asked and nothing has matched since

	Task        bool
	TaskDomains []string `json:",omitempty"`

	Visible []visible `json:",omitempty"` // domains shown, in order
	Loaded  []string  `json:",omitempty"` // definitions in the prompt, in order
	Tried   []tried   `json:",omitempty"`
	Events  []Event   `json:",omitempty"` // the last ones, oldest first

	Index       string                            // fingerprint of the index of the last turn
	Summaries   []cache.Entry[string, string]     `json:",omitempty"`
	Definitions []cache.TaskEntry[string, string] `json:",omitempty"`

	summaries   *cache.Turns[string, string] // domain → hash of its summaries
	definitions *cache.Task[string, string]  // skill → hash of its file
}

// stateVersion goes up when older states cannot be read any more.
const stateVersion = 1

// visible is a domain with the skills of it that are shown.
type visible struct {
	Domain string
	Skills []string
}

// tried is a domain or skill that is left out after it was tried in vain.
type tried struct {
	Name  string
	Skill bool // else a domain
	Turn  int
}

// triedTurns is how long something tried is left out, at most.
const triedTurns = 5

func newState(o *Options) (*state, error) {
	st := &state{Version: stateVersion, Layer: Domains}
	return st, st.restore(o)
}

// restore makes the caches of their entries.
func (st *state) restore(o *Options) (err error) {
	life := o.SummaryTurns
	if life < 0 {
		life = 5 // without a cache routes are the same, they only cost more: see serve
	}
	if st.summaries, err = cache.NewTurns[string, string](&cache.TurnsOptions{Life: life}); err != nil {
		return err
	}
	if st.definitions, err = cache.NewTask[string, string](nil); err != nil {
		return err
	}
	st.summaries.Restore(st.Turn, st.Summaries)
	st.definitions.Restore(st.Definitions)
	st.Summaries, st.Definitions = nil, nil
	return nil
}

func decodeState(data []byte, o *Options) (*state, error) {
	st := &state{}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, fmt.Errorf("router: session state: %w", err)
	}
	if st.Version != stateVersion {
		return nil, fmt.Errorf("router: session state has version %d, this router reads %d: begin a new session", st.Version, stateVersion)
	}
	return st, st.restore(o)
}

func (st *state) encode() ([]byte, error) {
	flat := *st
	flat.Summaries, flat.Definitions = st.summaries.Entries(), st.definitions.Entries()
	data, err := json.Marshal(&flat)
	for err == nil && len(data) > maxState && len(flat.Events) > 0 {
		flat.Events = flat.Events[1:]
		data, err = json.Marshal(&flat)
	}
	return data, err
}

// maxState bounds a state in bytes: the oldest events go first.
const maxState = 16 << 10
