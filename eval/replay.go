package eval

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/router"
	"skillrouter/summaries"
)

// ReplayOptions say how dialogues are replayed. The zero value only routes.
type ReplayOptions struct {
	// Play plays a host whose model is always right: it loads the right skills
	// as soon as they are visible, uses them while they are loaded, and ends
	// the task at [EventTaskEnd].
	Play bool

	Allow func(name string) bool // as in [router.SessionOptions]

	// Required returns the parameters that a tool of a skill needs; skill is ""
	// where the call does not tell it. nil: calls are not looked at.
	Required func(skill, tool string) []string

	// Meter is the session store of the router, if state sizes are wanted.
	Meter *Meter
}

// A Verdict tells how a labelled turn went.
type Verdict string

// The verdicts, in the order in which they are tried. A turn that is not
// labelled has none, or MissingParams.
const (
	NothingMatched Verdict = "nothing matched"    // and no right domain stuck
	WrongDomain    Verdict = "wrong domain"       // only others are visible
	NotShown       Verdict = "not shown"          // the domain is right, but its right skills were cut or left out
	WrongSkill     Verdict = "wrong skill"        // a right one is visible, but another ranks first or was called
	MissingParams  Verdict = "missing parameters" // a recorded call left required ones out
	OK             Verdict = "ok"
)

// A ReplayReport holds the figures of a replay. Shares are from 0 to 1, of the
// labelled turns if nothing else is said, and 0 where there are none. Tokens
// are estimated, as by [router.Route.Tokens], and means of all turns.
type ReplayReport struct {
	Dialogues int `json:"dialogues"`
	Turns     int `json:"turns"`
	Labelled  int `json:"turns_labelled"`
	First     int `json:"turns_first"`    // labelled, the first of its dialogue that is
	Kept      int `json:"turns_kept"`     // shares a right domain with the labelled turn before
	Switched  int `json:"turns_switched"` // shares none with it

	// The best domain of the turn is a right one.
	DomainHit1         float64 `json:"turn_domain_hit@1"`
	DomainHit1First    float64 `json:"turn_domain_hit@1_first"`
	DomainHit1Kept     float64 `json:"turn_domain_hit@1_kept"`
	DomainHit1Switched float64 `json:"turn_domain_hit@1_switched"`

	// The same without a dialogue: each utterance by itself.
	AloneHit1         float64 `json:"alone_domain_hit@1"`
	AloneHit1First    float64 `json:"alone_domain_hit@1_first"`
	AloneHit1Kept     float64 `json:"alone_domain_hit@1_kept"`
	AloneHit1Switched float64 `json:"alone_domain_hit@1_switched"`

	// A right domain is visible: MatchedOnly because the turn matched it, and
	// StickyShare because it stayed from an earlier one.
	DomainVisible float64 `json:"domain_visible_share"`
	MatchedOnly   float64 `json:"matched_only_share"`
	StickyShare   float64 `json:"sticky_share"`

	SkillHit1    float64 `json:"turn_skill_hit@1"`    // the best candidate is a right one
	SkillHit5    float64 `json:"turn_skill_hit@5"`    // one of the best five is
	SkillVisible float64 `json:"skill_visible_share"` // a right skill is visible, as a summary or definition
	SkillRecall  float64 `json:"skill_visible_recall"`

	SwitchDetected float64 `json:"switch_detection_rate"` // of the switched turns: moved to a right domain
	FalseSwitch    float64 `json:"false_switch_rate"`     // of the kept turns: moved, but to no right domain

	Layered      float64 `json:"tokens_layered_mean"` // the prompt at the end of a turn: the three that follow
	IndexTokens  float64 `json:"tokens_index_mean"`   // layer 1 and the fixed phrases
	Summaries    float64 `json:"tokens_summaries_mean"`
	Definitions  float64 `json:"tokens_definitions_mean"`
	Flat         float64 `json:"tokens_flat_mean"`         // the summaries of all skills at once, and the same definitions
	Descriptions float64 `json:"tokens_descriptions_mean"` // names and whole descriptions of all skills, and the same definitions

	// Summaries and definitions that had to be brought into the prompt a turn:
	// with the caches of the session, and if all that is shown were brought anew.
	LoadedCached   float64 `json:"tokens_loaded_cached_mean"`
	LoadedUncached float64 `json:"tokens_loaded_uncached_mean"`
	CacheSaving    float64 `json:"cache_saving"` // 1 - cached ÷ uncached

	StateMean float64 `json:"state_bytes_mean"` // of a session at the end of its dialogue; 0 without a Meter
	StateMax  int     `json:"state_bytes_max"`

	Calls      int `json:"calls"`
	Incomplete int `json:"calls_incomplete"` // required parameters are missing

	Outcomes map[router.Outcome]int `json:"outcomes"` // of all turns
	Verdicts map[Verdict]int        `json:"verdicts"` // of the turns that have one

	// Labels that the catalog does not have can never be right; sorted.
	UnknownDomains []string `json:"unknown_domains"`
	UnknownSkills  []string `json:"unknown_skills"`

	Replayed []ReplayedDialogue `json:"replayed,omitempty"`
}

// A ReplayedDialogue is what came of a [Dialogue].
type ReplayedDialogue struct {
	ID         string         `json:"id"`
	OtherIndex bool           `json:"other_index"` // it was recorded over an index that is not the one in use
	Turns      []ReplayedTurn `json:"turns"`
}

// Positions that a labelled turn has in its dialogue.
const (
	First    = "first"
	Kept     = "kept"
	Switched = "switched"
)

// A ReplayedTurn is a turn and the state of the session at its end.
type ReplayedTurn struct {
	Turn        int      `json:"turn"` // from 1
	User        string   `json:"user"`
	Event       string   `json:"event"`
	WantDomains []string `json:"want_domains"`
	WantSkills  []string `json:"want_skills"`
	Position    string   `json:"position"` // First, Kept, Switched; "" if not labelled
	Verdict     Verdict  `json:"verdict"`  // "" if there is none

	Outcome    router.Outcome `json:"outcome"`
	Layer      string         `json:"layer"`
	Task       bool           `json:"task"`
	Domains    []Standing     `json:"domains"`    // the best three
	Candidates []Standing     `json:"candidates"` // the best five
	Matched    []string       `json:"matched"`    // domains that reach the threshold, or hold a skill that was named
	Visible    []string       `json:"visible_domains"`
	Skills     []string       `json:"visible_skills"` // with a summary in the prompt
	Loaded     []string       `json:"loaded"`
	New        int            `json:"new"`      // skills that came into the prompt, as in [router.Route]
	Hits       int            `json:"hits"`     // that a cache served again
	Unloaded   int            `json:"unloaded"` // that left it
	Events     []string       `json:"events"`   // rules of the session's events, oldest first

	RightDomain Standing `json:"right_domain"` // the best of the right ones; zero if it has no score
	RightSkill  Standing `json:"right_skill"`  // the same, of at most 25 candidates

	DomainHit     bool `json:"domain_hit"`
	AloneHit      bool `json:"alone_domain_hit"`
	DomainVisible bool `json:"domain_visible"`
	SkillVisible  bool `json:"skill_visible"`

	IndexTokens int `json:"tokens_index"`
	Summaries   int `json:"tokens_summaries"`
	Definitions int `json:"tokens_definitions"`
	NewTokens   int `json:"tokens_loaded"` // summaries and definitions that no cache had

	StateBytes int           `json:"state_bytes"`
	Missing    []MissingCall `json:"missing"`
	WrongCalls []string      `json:"wrong_calls"` // skills that were called and are not right
}

// A Standing is the place of a domain or skill in a ranking.
type Standing struct {
	Name  string  `json:"name"`
	Rank  int     `json:"rank"`  // from 1; 0: none
	Score float32 `json:"score"` // of a skill its evidence
}

// A MissingCall is a recorded call and the required parameters it left out.
type MissingCall struct {
	Skill  string   `json:"skill"`
	Name   string   `json:"name"`
	Params []string `json:"params"`
}

// How much of the rankings a turn keeps.
const (
	keptDomains    = 3
	keptCandidates = 5
)

// Replay routes the turns of each dialogue in a session of its own, which it
// ends afterwards. A nil opts means the zero [ReplayOptions]. It fails without
// dialogues, when ctx ends, and when the host it plays cannot load a skill.
func Replay(ctx context.Context, r *router.Router, dialogues []Dialogue, opts *ReplayOptions) (*ReplayReport, error) {
	if len(dialogues) == 0 {
		return nil, errors.New("eval: no dialogue")
	}
	p := &replayer{r: r, ix: r.Index(), lines: map[string]int{}, report: &ReplayReport{
		Outcomes: map[router.Outcome]int{}, Verdicts: map[Verdict]int{},
	}}
	if opts != nil {
		p.opts = *opts
	}
	for i := range dialogues {
		if err := p.dialogue(ctx, &dialogues[i]); err != nil {
			return nil, fmt.Errorf("eval: dialogue %q: %w", dialogues[i].ID, err)
		}
	}
	p.finish(dialogues)
	return p.report, nil
}

// A replayer is one replay.
type replayer struct {
	r      *router.Router
	ix     *index.Index
	opts   ReplayOptions
	report *ReplayReport
	lines  map[string]int // quarters of tokens of a summary, by skill
	sums   sums
}

// sums add up quarters of tokens.
type sums struct{ layer1, layer2, layer3, loaded int }

func (p *replayer) dialogue(ctx context.Context, d *Dialogue) error {
	s, err := p.r.Session("replay "+rand.Text(), &router.SessionOptions{Allow: p.opts.Allow})
	if err != nil {
		return err
	}
	out := ReplayedDialogue{ID: d.ID, OtherIndex: !strings.HasPrefix(p.ix.Fingerprint(), d.Index)}
	var before []string // right domains of the labelled turn before
	var loaded []string // at the end of the turn before
	for i := range d.Turns {
		t := &d.Turns[i]
		row := ReplayedTurn{
			Turn: i + 1, User: t.User, Event: t.Event,
			WantDomains: orEmpty(t.Domains), WantSkills: orEmpty(t.Skills), Position: position(before, t.Domains),
		}
		if err := p.turn(ctx, s, t, &row, loaded); err != nil {
			return fmt.Errorf("turn %d: %w", i+1, err)
		}
		p.count(&row)
		if loaded = row.Loaded; len(t.Domains) > 0 {
			before = t.Domains
		}
		out.Turns = append(out.Turns, row)
	}
	p.report.StateMean += float64(out.Turns[len(out.Turns)-1].StateBytes)
	p.report.Replayed = append(p.report.Replayed, out)
	return s.End(ctx)
}

func position(before, now []string) string {
	switch {
	case len(now) == 0:
		return ""
	case len(before) == 0:
		return First
	case shares(before, now):
		return Kept
	default:
		return Switched
	}
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// turn routes a turn and fills in its row.
func (p *replayer) turn(ctx context.Context, s *router.Session, t *Turn, row *ReplayedTurn, before []string) error {
	alone, err := p.r.RouteFor(ctx, t.User, p.opts.Allow)
	if err != nil {
		return err
	}
	row.AloneHit = slices.Contains(t.Domains, alone.Top().Name)
	route, err := s.Route(ctx, t.User)
	if err != nil {
		return err
	}
	row.rankings(route, t)
	for _, m := range route.Summaries {
		row.Skills = append(row.Skills, m.Skill)
	}
	for _, e := range route.Events {
		row.Events = append(row.Events, e.Rule)
	}
	row.New, row.Hits, row.Unloaded = len(route.New), len(route.Hits), len(route.Unloaded)
	now, err := s.State(ctx)
	if err != nil {
		return err
	}
	row.Visible = orEmpty(now.Domains)
	p.judge(row, route, now.Loaded)
	p.calls(row, t)
	if p.opts.Play {
		played, err := p.play(ctx, s, t, row, now.Loaded)
		if err != nil {
			return err
		}
		row.Events = append(row.Events, played...)
		if now, err = s.State(ctx); err != nil {
			return err
		}
	}
	row.Layer, row.Task, row.Loaded = now.Layer.String(), now.Task, orEmpty(now.Loaded)
	if p.opts.Meter != nil {
		row.StateBytes = p.opts.Meter.Last()
	}
	return p.weigh(ctx, s, route, row, before)
}

// rankings copies the best of the rankings and where the right ones stand.
func (row *ReplayedTurn) rankings(route *router.Route, t *Turn) {
	row.Outcome = route.Outcome
	row.Domains, row.Candidates, row.Matched = []Standing{}, []Standing{}, []string{}
	row.Skills, row.Events, row.Missing, row.WrongCalls = []string{}, []string{}, []MissingCall{}, []string{}
	row.DomainHit = slices.Contains(t.Domains, route.Top().Name)
	for i, d := range route.Domains {
		x := Standing{d.Name, i + 1, d.Score}
		if i < keptDomains {
			row.Domains = append(row.Domains, x)
		}
		if d.Matched {
			row.Matched = append(row.Matched, d.Name)
		}
		if row.RightDomain.Rank == 0 && slices.Contains(t.Domains, d.Name) {
			row.RightDomain = x
		}
	}
	for i, c := range route.Candidates {
		x := Standing{c.Name, i + 1, c.Evidence}
		if i < keptCandidates {
			row.Candidates = append(row.Candidates, x)
		}
		if row.RightSkill.Rank == 0 && slices.Contains(t.Skills, c.Name) {
			row.RightSkill = x
		}
	}
}

// judge compares what is visible after the route with the labels.
func (p *replayer) judge(row *ReplayedTurn, route *router.Route, loaded []string) {
	if row.Position == "" {
		return
	}
	visible := func(skill string) bool { return slices.Contains(row.Skills, skill) || slices.Contains(loaded, skill) }
	row.SkillVisible = slices.ContainsFunc(row.WantSkills, visible)
	row.DomainVisible = row.SkillVisible || shares(row.Visible, row.WantDomains) || // a manual skill is in no domain
		slices.ContainsFunc(loaded, func(skill string) bool { return p.isIn(skill, row.WantDomains) }) ||
		route.Flat && slices.ContainsFunc(row.Skills, func(skill string) bool { return p.isIn(skill, row.WantDomains) })
	first := slices.IndexFunc(route.Candidates, func(c router.Candidate) bool { return visible(c.Name) })
	switch {
	case row.DomainVisible && len(row.WantSkills) > 0 && !row.SkillVisible:
		row.Verdict = NotShown
	case !row.DomainVisible && route.Matched() && shares(row.Matched, row.WantDomains):
		row.Verdict = NotShown // its line only
	case !row.DomainVisible && (route.Matched() || route.Outcome == router.Sticky):
		row.Verdict = WrongDomain
	case !row.DomainVisible:
		row.Verdict = NothingMatched
	// What stuck was chosen by an earlier turn: the words of this one rank nothing.
	case row.SkillVisible && route.Outcome != router.Sticky && first >= 0 && !slices.Contains(row.WantSkills, route.Candidates[first].Name):
		row.Verdict = WrongSkill
	default:
		row.Verdict = OK
	}
}

// isIn tells whether a skill is in one of the domains of these names.
func (p *replayer) isIn(skill string, names []string) bool {
	i, ok := p.ix.Lookup(skill)
	return ok && slices.ContainsFunc(p.ix.DomainsOf(i), func(d int32) bool {
		return slices.Contains(names, p.ix.Domains()[d].Name)
	})
}

// calls looks at the recorded calls of a turn.
func (p *replayer) calls(row *ReplayedTurn, t *Turn) {
	sound := row.Verdict == OK || row.Verdict == ""
	for _, c := range t.Calls {
		p.report.Calls++
		if c.Skill != "" && len(t.Skills) > 0 && !slices.Contains(t.Skills, c.Skill) {
			row.WrongCalls = append(row.WrongCalls, c.Skill)
		}
		if p.opts.Required == nil {
			continue
		}
		m := MissingCall{Skill: c.Skill, Name: c.Name}
		for _, param := range p.opts.Required(c.Skill, c.Name) {
			if v, ok := c.Arguments[param]; !ok || string(v) == "null" {
				m.Params = append(m.Params, param)
			}
		}
		if len(m.Params) > 0 {
			p.report.Incomplete++
			row.Missing = append(row.Missing, m)
		}
	}
	switch {
	case sound && len(row.WrongCalls) > 0:
		row.Verdict = WrongSkill
	case sound && len(row.Missing) > 0:
		row.Verdict = MissingParams
	}
}

// play does what a host does whose model is right, and returns the rules of
// the events that it caused.
func (p *replayer) play(ctx context.Context, s *router.Session, t *Turn, row *ReplayedTurn, loaded []string) (rules []string, err error) {
	for _, skill := range t.Skills {
		switch {
		case slices.Contains(loaded, skill):
			err, rules = s.Use(ctx, skill), append(rules, "use")
		case slices.Contains(row.Skills, skill):
			_, err = s.Load(ctx, skill)
			rules = append(rules, "load")
		}
		if err != nil {
			return nil, err
		}
	}
	if t.Event == EventTaskEnd {
		return append(rules, "task-end"), s.EndTask(ctx)
	}
	return rules, nil
}

// weigh estimates the tokens of the prompt at the end of a turn. Of what is
// shown, loaded is what was not in the prompt before and in no cache.
func (p *replayer) weigh(ctx context.Context, s *router.Session, route *router.Route, row *ReplayedTurn, before []string) error {
	prompt, err := s.Prompt(ctx)
	if err != nil {
		return err
	}
	var w sums
	for _, m := range route.Summaries {
		n := p.line(m)
		w.layer2 += n
		if route.Flat && row.Turn == 1 || route.Outcome != router.Direct && slices.Contains(route.New, m.Skill) {
			w.loaded += n
		}
	}
	for _, name := range row.Loaded {
		d, err := p.ix.Kept(name)
		if err != nil {
			return err
		}
		n := quarters(definitions.Render(d, definitions.RenderOptions{}))
		w.layer3 += n
		kept := route.Outcome == router.Direct && slices.Contains(route.Hits, name)
		if !kept && !slices.Contains(before, name) {
			w.loaded += n
		}
	}
	w.layer1 = max(0, quarters(prompt)-w.layer2-w.layer3)
	row.IndexTokens, row.Summaries, row.Definitions, row.NewTokens = tokens(w.layer1), tokens(w.layer2), tokens(w.layer3), tokens(w.loaded)
	p.sums.layer1 += w.layer1
	p.sums.layer2 += w.layer2
	p.sums.layer3 += w.layer3
	p.sums.loaded += w.loaded
	return nil
}

// line is the quarters of the line of a summary.
func (p *replayer) line(m *summaries.Summary) int {
	n, ok := p.lines[m.Skill]
	if !ok {
		n = lineQuarters(m)
		p.lines[m.Skill] = n
	}
	return n
}

// count adds a turn to the report; shares are made of the sums at the end.
func (p *replayer) count(row *ReplayedTurn) {
	rep := p.report
	rep.Turns++
	rep.Outcomes[row.Outcome]++
	if row.Verdict != "" {
		rep.Verdicts[row.Verdict]++
	}
	rep.StateMax = max(rep.StateMax, row.StateBytes)
	if row.Position == "" {
		return
	}
	rep.Labelled++
	add := func(x *float64, yes bool) {
		if yes {
			*x++
		}
	}
	add(&rep.DomainHit1, row.DomainHit)
	add(&rep.AloneHit1, row.AloneHit)
	// What matches as a follow-up was there before: it is no move.
	moved := len(row.Matched) > 0 && row.Outcome != router.Sticky
	right := moved && shares(row.Matched, row.WantDomains)
	switch row.Position {
	case First:
		rep.First++
		add(&rep.DomainHit1First, row.DomainHit)
		add(&rep.AloneHit1First, row.AloneHit)
	case Kept:
		rep.Kept++
		add(&rep.DomainHit1Kept, row.DomainHit)
		add(&rep.AloneHit1Kept, row.AloneHit)
		add(&rep.FalseSwitch, moved && !right)
	case Switched:
		rep.Switched++
		add(&rep.DomainHit1Switched, row.DomainHit)
		add(&rep.AloneHit1Switched, row.AloneHit)
		add(&rep.SwitchDetected, right)
	}
	add(&rep.DomainVisible, row.DomainVisible)
	add(&rep.MatchedOnly, row.DomainVisible && right)
	add(&rep.StickyShare, row.DomainVisible && !right && (row.Outcome == router.Sticky || row.Outcome == router.Empty))
	add(&rep.SkillHit1, row.RightSkill.Rank == 1)
	add(&rep.SkillHit5, row.RightSkill.Rank > 0 && row.RightSkill.Rank <= 5)
	add(&rep.SkillVisible, row.SkillVisible)
	if n := len(row.WantSkills); n > 0 {
		seen := 0
		for _, skill := range row.WantSkills {
			if slices.Contains(row.Skills, skill) || slices.Contains(row.Loaded, skill) {
				seen++
			}
		}
		rep.SkillRecall += float64(seen) / float64(n)
	}
}

// finish makes shares and means of the sums.
func (p *replayer) finish(dialogues []Dialogue) {
	rep := p.report
	rep.Dialogues = len(dialogues)
	share := func(n int, sums ...*float64) {
		for _, x := range sums {
			*x /= float64(max(n, 1))
		}
	}
	share(rep.Labelled, &rep.DomainHit1, &rep.AloneHit1, &rep.DomainVisible, &rep.MatchedOnly, &rep.StickyShare,
		&rep.SkillHit1, &rep.SkillHit5, &rep.SkillVisible, &rep.SkillRecall)
	share(rep.First, &rep.DomainHit1First, &rep.AloneHit1First)
	share(rep.Kept, &rep.DomainHit1Kept, &rep.AloneHit1Kept, &rep.FalseSwitch)
	share(rep.Switched, &rep.DomainHit1Switched, &rep.AloneHit1Switched, &rep.SwitchDetected)
	share(rep.Dialogues, &rep.StateMean)

	mean := func(quarters int) float64 { return float64(quarters) / 4 / float64(rep.Turns) }
	rep.IndexTokens, rep.Summaries, rep.Definitions = mean(p.sums.layer1), mean(p.sums.layer2), mean(p.sums.layer3)
	rep.Layered = rep.IndexTokens + rep.Summaries + rep.Definitions
	rep.LoadedCached, rep.LoadedUncached = mean(p.sums.loaded), rep.Summaries+rep.Definitions
	if rep.LoadedUncached > 0 {
		rep.CacheSaving = 1 - rep.LoadedCached/rep.LoadedUncached
	}
	var flat, descriptions int
	skills := p.ix.Skills()
	for i := range skills {
		s := &skills[i]
		if !inFlat(s, p.opts.Allow) {
			continue
		}
		flat += p.line(&s.Summary)
		descriptions += quarters("- " + s.Name + ": " + s.Description + "\n")
	}
	rep.Flat, rep.Descriptions = float64(flat)/4+rep.Definitions, float64(descriptions)/4+rep.Definitions

	domains, names := map[string]bool{}, map[string]bool{}
	for i := range dialogues {
		for _, t := range dialogues[i].Turns {
			for _, d := range t.Domains {
				if _, ok := p.ix.LookupDomain(d); !ok {
					domains[d] = true
				}
			}
			for _, s := range t.Skills {
				if _, ok := p.ix.Lookup(s); !ok {
					names[s] = true
				}
			}
		}
	}
	rep.UnknownDomains = orEmpty(slices.Sorted(maps.Keys(domains)))
	rep.UnknownSkills = orEmpty(slices.Sorted(maps.Keys(names)))
}

// orEmpty makes JSON write [] for a nil slice.
func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
