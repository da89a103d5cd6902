package keeper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/index"
	"skillrouter/internal/text"
)

// HealthOptions says what Health looks at. The zero value is the default.
type HealthOptions struct {
	Catalog *definitions.Catalog   // what the index was built from; nil leaves out what needs bodies
	Since   time.Time              // events before it do not count; zero: all do
	Least   int                    // how many of the least used skills are listed; 0 means 10
	Allow   func(name string) bool // which skills exist; nil means all
}

// A Health is how the skills of a catalog are used, and what the figures are signs of.
type Health struct {
	From, To time.Time // of the events that count; zero if there are none
	Turns    int       // that were routed in sessions
	Matched  int       // of these, by a domain or a name
	Stuck    int       // kept what was visible
	Asked    int       // a question was put
	Nothing  int       // nothing matched
	Domains  float64   // domains of a turn that matched, on average
	Stalled  int       // times that a session backed off

	Skills   []SkillUse // all, the most used first, equal ones by name
	Least    []SkillUse // the least used of those that are used at all, the least first (C17)
	Never    []string   // skills that were never used, in catalog order
	Rejected []SkillUse // rejected in one of five times they were loaded or more, the worst first
	Stale    []Stale    // whose text changed after its summary, in catalog order
	Frequent []string   // that may be marked frequent: the tenth used most (S54), as far as they are not
	Gone     []string   // used, but not in the catalog any more, by name
	Symptoms []Symptom  // that the figures show
	Torn     int        // lines of the usage file that could not be read
}

// A SkillUse is how one skill was used.
type SkillUse struct {
	Skill    string
	Summary  string
	Loaded   int // times its definition was loaded, by the model or because it was named
	Used     int // times that a use was told
	Rejected int
	Stalled  int
	Last     time.Time // loaded or used; zero: never
}

// Times is how often a skill was loaded or used, whichever is more: hosts that tell of uses
// tell of one for each load.
func (u *SkillUse) Times() int { return max(u.Loaded, u.Used) }

// A Stale summary is older than the text that it is of.
type Stale struct {
	Skill   string
	Summary string
	Since   time.Time // when the text was seen to have changed; zero: it was so now for the first time
}

// A Symptom is something that figures are a sign of.
type Symptom struct {
	ID      string
	Symptom string // what is seen
	Cause   string
	Cure    string
	Figures string // that show it; "" in the table of Symptoms
}

// Symptoms returns the table of symptoms, causes and cures (L8, E14).
func Symptoms() []Symptom {
	return []Symptom{
		{"asks-again", "the agent asks again and again what is wanted", "utterances find no domain", "add users' words as keywords and triggers, name a fallback domain; lower the threshold only if the right domain is near (`route --explain`)", ""},
		{"too-much", "unrelated domains match, simple tasks are slow", "the threshold is too low, or domains are too alike", "raise routing.threshold, set max-domains; tell domains apart", ""},
		{"wrong-skill", "the wrong skill is loaded and rejected", "skills are alike and nothing says how they differ", "write differs-from and not-for; `lint --only confusable` names the pairs", ""},
		{"too-long", "the context is full", "long definitions are loaded whole", "put a line <!-- extended --> before examples and special cases", ""},
		{"loads-simple", "simple tasks take one step more than they need", "a definition is loaded where the summary would do", "from-summary: true with params; frequent: true for those used most", ""},
		{"twice", "the same text is loaded again and again", "caches are off", "leave routing.summary-turns at 5", ""},
		{"crowded", "old skills fail since new ones came", "a domain holds more than 15 skills", "split it: `domains check` proposes how; `lint --against` tells what a new skill takes", ""},
		{"stalls", "sessions stall: summaries are shown and nothing is chosen", "what is shown does not fit, or the host never tells of decisions", "look at the turns with `replay`; call Load, Use and Reject", ""},
	}
}

// What makes figures a sign.
const (
	enoughTurns = 20   // fewer say nothing
	enoughLoads = 3    // of a skill
	manyMisses  = 0.20 // of the turns
	manyDomains = 2.0  // of a turn that matched
	manyRejects = 0.20 // of the loads
	manyStalls  = 0.10 // of the turns
	fairLoads   = 5    // of a skill that may be called from its summary
)

// ReadHealth works out how the skills of ix are used by what a usage file says. It fails
// when ctx ends. A nil o means the zero HealthOptions.
func ReadHealth(ctx context.Context, ix *index.Index, history *History, o *HealthOptions) (*Health, error) {
	if o == nil {
		o = &HealthOptions{}
	}
	h := &Health{Torn: history.Torn}
	uses := h.count(history, o)
	var all []SkillUse
	for i := range ix.Skills() {
		s := &ix.Skills()[i]
		if o.Allow != nil && !o.Allow(s.Name) {
			continue
		}
		u := uses[s.Name]
		delete(uses, s.Name)
		if u == nil {
			u = &SkillUse{}
		}
		u.Skill, u.Summary = s.Name, s.Summary.Text
		if u.Times() == 0 {
			h.Never = append(h.Never, s.Name)
		}
		all = append(all, *u)
	}
	for name := range uses {
		if _, there := ix.Lookup(name); !there {
			h.Gone = append(h.Gone, name)
		}
	}
	slices.Sort(h.Gone)
	h.rank(all, o)
	h.stale(ix, history, o)
	h.frequent(ix)
	return h, h.symptoms(ctx, ix, o)
}

// count adds up the events that count, and returns them by skill.
func (h *Health) count(history *History, o *HealthOptions) map[string]*SkillUse {
	uses := make(map[string]*SkillUse)
	of := func(name string) *SkillUse {
		if uses[name] == nil {
			uses[name] = &SkillUse{Skill: name}
		}
		return uses[name]
	}
	matched := 0
	for i := range history.records {
		r := &history.records[i]
		at := time.Unix(r.Time, 0).UTC()
		if at.Before(o.Since) {
			continue
		}
		if h.From.IsZero() || at.Before(h.From) {
			h.From = at
		}
		if at.After(h.To) {
			h.To = at
		}
		switch r.Rule {
		case "match":
			h.Turns++
			h.Matched++
			matched++
			h.Domains += float64(len(r.Fields))
		case "direct":
			h.Turns++
			h.Matched++
		case "sticky":
			h.Turns++
			h.Stuck++
		case "clarify":
			h.Turns++
			h.Asked++
		case "none":
			h.Turns++
			h.Nothing++
		case "stalled":
			h.Stalled++
		}
		for _, name := range r.Skills {
			u := of(name)
			switch r.Rule {
			case "load", "direct":
				u.Loaded++
			case "use":
				u.Used++
			case "reject":
				u.Rejected++
			case "stalled":
				u.Stalled++
			}
			if r.Rule != "reject" && r.Rule != "stalled" && at.After(u.Last) {
				u.Last = at
			}
		}
	}
	if matched > 0 {
		h.Domains /= float64(matched)
	}
	return uses
}

// rank sorts skills by use, and picks the least used and the rejected ones.
func (h *Health) rank(all []SkillUse, o *HealthOptions) {
	slices.SortStableFunc(all, func(a, b SkillUse) int { return cmp.Or(b.Times()-a.Times(), strings.Compare(a.Skill, b.Skill)) })
	h.Skills = all
	least := o.Least
	if least <= 0 {
		least = 10
	}
	used := slices.DeleteFunc(slices.Clone(all), func(u SkillUse) bool { return u.Times() == 0 })
	slices.SortStableFunc(used, func(a, b SkillUse) int {
		return cmp.Or(a.Times()-b.Times(), a.Last.Compare(b.Last), strings.Compare(a.Skill, b.Skill))
	})
	h.Least = used[:min(least, len(used))]
	share := func(u *SkillUse) float64 { return float64(u.Rejected) / float64(max(u.Times(), u.Rejected, 1)) }
	for i := range all {
		if u := &all[i]; max(u.Times(), u.Rejected) >= enoughLoads && share(u) >= manyRejects {
			h.Rejected = append(h.Rejected, *u)
		}
	}
	slices.SortStableFunc(h.Rejected, func(a, b SkillUse) int { return cmp.Compare(share(&b), share(&a)) })
}

// stale finds summaries that did not follow their text. When a summary was written is not
// known before the first mark of it.
func (h *Health) stale(ix *index.Index, history *History, o *HealthOptions) {
	if o.Catalog == nil {
		return
	}
	for i := range ix.Skills() {
		s := &ix.Skills()[i]
		d, ok := o.Catalog.Skill(s.Name)
		if !ok || s.Summary.Derived || o.Allow != nil && !o.Allow(s.Name) {
			continue
		}
		now := markOf(s, d)
		var first *record // with the summary as it is now
		changed := time.Time{}
		marks := history.marks[s.Name]
		for j := range marks {
			m := &marks[j]
			switch {
			case m.Said != now.Said:
				first = nil
			case first == nil:
				first = m
			case changed.IsZero() && m.Text != first.Text:
				changed = time.Unix(m.Time, 0).UTC()
			}
		}
		if first != nil && first.Text != now.Text {
			h.Stale = append(h.Stale, Stale{Skill: s.Name, Summary: s.Summary.Text, Since: changed})
		}
	}
}

// frequent proposes the tenth of the skills that is used most, if it is used at all often.
func (h *Health) frequent(ix *index.Index) {
	const often = 5
	for _, u := range h.Skills[:(len(h.Skills)+9)/10] {
		at, _ := ix.Lookup(u.Skill)
		if u.Times() >= often && !ix.Skills()[at].Summary.Frequent {
			h.Frequent = append(h.Frequent, u.Skill)
		}
	}
}

// symptoms looks for what the figures are signs of.
func (h *Health) symptoms(ctx context.Context, ix *index.Index, o *HealthOptions) error {
	show := func(id, format string, args ...any) {
		table := Symptoms()
		s := table[slices.IndexFunc(table, func(s Symptom) bool { return s.ID == id })]
		s.Figures = fmt.Sprintf(format, args...)
		h.Symptoms = append(h.Symptoms, s)
	}
	percent := func(n, of int) int { return (100*n + of/2) / of }
	if h.Turns >= enoughTurns {
		if n := h.Asked + h.Nothing; float64(n) >= manyMisses*float64(h.Turns) {
			fallback := "; there is no fallback domain"
			if slices.ContainsFunc(ix.Domains(), func(d domains.Domain) bool { return d.Fallback }) {
				fallback = ""
			}
			show("asks-again", "%d %% of %d turns matched nothing, %d of them with a question%s", percent(n, h.Turns), h.Turns, h.Asked, fallback)
		}
		if h.Domains > manyDomains {
			show("too-much", "%.1f domains matched a turn on average", h.Domains)
		}
		if float64(h.Stalled) >= manyStalls*float64(h.Turns) {
			show("stalls", "%d times in %d turns", h.Stalled, h.Turns)
		}
	}
	if len(h.Rejected) > 0 {
		var told []string
		for _, u := range h.Rejected[:min(3, len(h.Rejected))] {
			told = append(told, fmt.Sprintf("%s %d of %d", u.Skill, u.Rejected, max(u.Times(), u.Rejected)))
		}
		show("wrong-skill", "rejected: %s", strings.Join(told, ", "))
	}
	if err := h.bodies(ctx, ix, o, show); err != nil {
		return err
	}
	if ix.Routing().SummaryTurns < 0 {
		show("twice", "routing.summary-turns is 0")
	}
	h.crowded(ix, show)
	slices.SortStableFunc(h.Symptoms, func(a, b Symptom) int {
		at := func(id string) int {
			return slices.IndexFunc(Symptoms(), func(s Symptom) bool { return s.ID == id })
		}
		return at(a.ID) - at(b.ID)
	})
	return nil
}

// bodies looks at the definitions of skills that are loaded.
func (h *Health) bodies(ctx context.Context, ix *index.Index, o *HealthOptions, show func(id, format string, args ...any)) error {
	if o.Catalog == nil {
		return nil
	}
	var long, simple []string
	for i := range h.Skills {
		u := &h.Skills[i]
		d, ok := o.Catalog.Skill(u.Skill)
		if !ok || u.Loaded == 0 {
			continue
		}
		tokens := text.Tokens(d.Core)
		if tokens > defaultCore {
			long = append(long, fmt.Sprintf("%s with some %d tokens %d times", u.Skill, tokens, u.Loaded))
		}
		params, err := Parameters(ctx, o.Catalog.Source(), d)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at, _ := ix.Lookup(u.Skill)
		if err == nil && u.Loaded >= fairLoads && !ix.Skills()[at].Summary.FromSummary && callable(params, d, tokens) {
			simple = append(simple, fmt.Sprintf("%s %d times", u.Skill, u.Loaded))
		}
	}
	if len(long) > 0 {
		show("too-long", "loaded: %s", strings.Join(long[:min(3, len(long))], ", "))
	}
	if len(simple) > 0 {
		show("loads-simple", "loaded with simple parameters: %s", strings.Join(simple[:min(3, len(simple))], ", "))
	}
	return nil
}

// crowded looks for domains that are too large and have skills that were rejected.
func (h *Health) crowded(ix *index.Index, show func(id, format string, args ...any)) {
	const most = 15
	rejected := make(map[string]int)
	for _, u := range h.Skills {
		rejected[u.Skill] = u.Rejected
	}
	for i := range ix.Domains() {
		d := &ix.Domains()[i]
		n := 0
		for _, m := range d.Members {
			n += rejected[m]
		}
		if len(d.Members) > most && n > 0 {
			show("crowded", "%s holds %d skills, rejected %d times", d.Name, len(d.Members), n)
			return // one tells what to look at; domains check has them all
		}
	}
}
