package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Beginnings of the keys of a [State]. What follows is agent "/" skill, or the
// agent alone.
const (
	loadedKeys = "temp:skill:loaded:" // "1"
	docsKeys   = "temp:skill:docs:"   // "*" or a JSON array of names
	modeKeys   = "temp:skill:mode:"   // a Mode, where it is not the agent's
	onceKey    = "temp:skill:once:"   // what the last request showed once, see shownOnce
	routedKey  = "temp:skill:routed:" // where in the history the summaries stand, see routedAt
	clearedKey = "temp:skill_turn_cleared:"
)

// allDocs is the value of a docs key that stands for all documents.
const allDocs = "*"

// keptChanges is how many changes of an agent a State remembers.
const keptChanges = 256

// LoadedKey is the key that says that a skill is loaded. In names "/" becomes
// "%2F" and "%" becomes "%25", so that no agent's keys begin like another's.
func LoadedKey(agentName, skillName string) string { return key(loadedKeys, agentName, skillName) }

// LoadedPrefix begins the LoadedKey of all skills of an agent, and of no other.
func LoadedPrefix(agentName string) string { return key(loadedKeys, agentName, "") }

// DocsKey is the key of the documents chosen of a loaded skill.
func DocsKey(agentName, skillName string) string { return key(docsKeys, agentName, skillName) }

// DocsPrefix begins the DocsKey of all skills of an agent, and of no other.
func DocsPrefix(agentName string) string { return key(docsKeys, agentName, "") }

func modeKey(agentName, skillName string) string { return key(modeKeys, agentName, skillName) }

func key(kind, agentName, skillName string) string {
	return kind + escapeName(agentName) + "/" + escapeName(skillName)
}

func escapeName(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "%", "%25"), "/", "%2F")
}

func unescapeName(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "%2F", "/"), "%25", "%")
}

// A Delta is a change of state: keys and their new values, nil deletes.
type Delta map[string][]byte

// MarshalJSON writes values as strings, and null for what is deleted.
func (d Delta) MarshalJSON() ([]byte, error) {
	values := make(map[string]*string, len(d))
	for k, v := range d {
		if values[k] = nil; v != nil {
			s := string(v)
			values[k] = &s
		}
	}
	return json.Marshal(values)
}

// A Change is one delta that was committed, and why.
type Change struct {
	Seq    uint64   `json:"seq"` // from 1, over all agents
	Turn   int      `json:"turn"`
	Agent  string   `json:"agent"`
	Cause  string   `json:"cause"` // a tool, or what the documentation of State lists
	Skills []string `json:"skills,omitempty"`
	Reason string   `json:"reason,omitempty"` // given by the model
	Delta  Delta    `json:"delta,omitempty"`
}

// A State is what several agents of one session keep of their loaded skills:
// keys and values, and a log of their changes. The zero State is empty and
// ready. It is safe for concurrent use.
//
// A Change has the name of a tool as its cause, or
//
//	use       a tool of a skill was called: no delta, but a use counts as recent
//	route     the router loaded a skill by itself
//	resume    a snapshot is restored
//	migrate   keys without an agent, of older versions, became those of the first agent that read them
//	turn      what was loaded for the last turn is cleared
//	once      what was loaded for one request is cleared
//	cap       the least recent above MaxLoadedSkills are cleared
//	router    the router dropped a skill: the task ended, it was rejected, it is gone
//	place     the summaries of the turn stand elsewhere in the history
//	end       the session ended
type State struct {
	mu      sync.Mutex
	values  map[string][]byte
	changes map[string][]Change // by agent, oldest first
	seq     uint64
}

// Get returns the value of a key, nil if there is none.
func (s *State) Get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values[key])
}

// Scan returns the keys that begin with prefix, and their values.
func (s *State) Scan(prefix string) map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string][]byte{}
	for k, v := range s.values {
		if strings.HasPrefix(k, prefix) {
			found[k] = slices.Clone(v)
		}
	}
	return found
}

// Commit applies the delta of a change, all of it at once, and logs it. Seq is
// set by Commit.
func (s *State) Commit(c Change) {
	s.update(c.Agent, func(map[string][]byte) (Change, bool) { return c, true })
}

// update commits the change that decide makes of the values as they are, which
// it must leave alone.
func (s *State) update(agentName string, decide func(values map[string][]byte) (Change, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := decide(s.values)
	if !ok {
		return
	}
	if s.values == nil {
		s.values, s.changes = map[string][]byte{}, map[string][]Change{}
	}
	c.Delta = maps.Clone(c.Delta)
	for k, v := range c.Delta {
		if v == nil {
			delete(s.values, k)
			continue
		}
		v = append([]byte{}, v...)
		s.values[k], c.Delta[k] = v, v
	}
	s.seq++
	c.Seq, c.Agent = s.seq, agentName
	kept := append(s.changes[agentName], c)
	s.changes[agentName] = kept[max(0, len(kept)-keptChanges):]
}

// Changes returns the last changes of each agent, 256 at most, in the order in
// which they were made.
func (s *State) Changes() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Change
	for _, kept := range s.changes {
		all = append(all, kept...)
	}
	slices.SortFunc(all, func(a, b Change) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return all
}

// lastUses returns, by skill, the last change that loaded, selected documents
// of, or used it: the log is read backwards.
func (s *State) lastUses(agentName string) map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := map[string]uint64{}
	kept := s.changes[agentName]
	for i := len(kept) - 1; i >= 0; i-- {
		switch kept[i].Cause {
		case causeTurn, causeOnce, causeCap, causeRouter, causeEnd, causeMigrate, causePlace, toolUnload:
			continue
		}
		for _, name := range kept[i].Skills {
			if _, ok := last[name]; !ok {
				last[name] = kept[i].Seq
			}
		}
	}
	return last
}

// Causes of changes that no tool made.
const (
	causeUse     = "use"
	causeRoute   = "route"
	causeResume  = "resume"
	causeMigrate = "migrate"
	causeTurn    = "turn"
	causeOnce    = "once"
	causeCap     = "cap"
	causeRouter  = "router"
	causeEnd     = "end"
	causePlace   = "place"
)

// migrate makes keys without an agent those of this one, once, and returns
// whose they are. They were written as "temp:skill:loaded:{skill}".
func (s *State) migrate(agentName string, turn int) (skills []string) {
	s.mu.Lock()
	old := false
	for k := range s.values {
		if _, unscoped := unscopedKey(k); unscoped {
			old = true
			break
		}
	}
	s.mu.Unlock()
	if !old {
		return nil
	}
	s.update(agentName, func(values map[string][]byte) (Change, bool) {
		c := Change{Turn: turn, Cause: causeMigrate, Delta: Delta{}}
		for _, k := range slices.Sorted(maps.Keys(values)) {
			kind, ok := unscopedKey(k)
			if !ok {
				continue
			}
			skill := strings.TrimPrefix(k, kind)
			c.Delta[k] = nil
			if _, there := values[key(kind, agentName, skill)]; !there {
				c.Delta[key(kind, agentName, skill)] = values[k]
			}
			if kind == loadedKeys {
				c.Skills = append(c.Skills, skill)
			}
		}
		skills = c.Skills
		return c, len(c.Delta) > 0
	})
	return skills
}

func unscopedKey(k string) (kind string, ok bool) {
	for _, kind := range []string{loadedKeys, docsKeys} {
		if rest, ok := strings.CutPrefix(k, kind); ok && rest != "" && !strings.Contains(rest, "/") {
			return kind, true
		}
	}
	return "", false
}

// idle tells whether nothing is loaded for any agent.
func (s *State) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.values {
		if strings.HasPrefix(k, loadedKeys) {
			return false
		}
	}
	return true
}

// A held is one loaded skill, as the state has it.
type held struct {
	skill string
	docs  []string // chosen; nil: none
	all   bool     // all documents
	mode  Mode
}

// read returns the loaded skills of an agent by name.
func (s *State) read(agentName string, standard Mode) map[string]held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return heldIn(s.values, agentName, standard)
}

func heldIn(values map[string][]byte, agentName string, standard Mode) map[string]held {
	out := map[string]held{}
	prefix := LoadedPrefix(agentName)
	for k := range values {
		rest, ok := strings.CutPrefix(k, prefix)
		if !ok {
			continue
		}
		h := held{skill: unescapeName(rest), mode: standard}
		if m := values[modeKey(agentName, h.skill)]; m != nil {
			h.mode = Mode(m)
		}
		h.docs, h.all = decodeDocs(values[DocsKey(agentName, h.skill)])
		out[h.skill] = h
	}
	return out
}

func decodeDocs(value []byte) (docs []string, all bool) {
	if string(value) == allDocs {
		return nil, true
	}
	if len(value) == 0 || json.Unmarshal(value, &docs) != nil {
		return nil, false // what is no selection selects nothing
	}
	return docs, false
}

func encodeDocs(docs []string) []byte {
	data, err := json.Marshal(docs)
	if err != nil {
		panic(fmt.Sprintf("agent: names as JSON: %v", err)) // strings always are
	}
	return data
}

// dropped is the delta that clears skills.
func dropped(agentName string, skills []string) Delta {
	d := Delta{}
	for _, name := range skills {
		d[LoadedKey(agentName, name)] = nil
		d[DocsKey(agentName, name)] = nil
		d[modeKey(agentName, name)] = nil
	}
	return d
}
