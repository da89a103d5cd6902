// Package eval measures how well a router finds what labelled utterances need.
//
// [Read] reads utterances with their right skills and domains, or dialogues;
// [Check] compares them with the catalog. [Run] routes the utterances and
// returns a [Report]: what came of each ([Row]), and the [Figures] of all, with
// what they hold for. [Sweep] tells what other thresholds would do, [Compare]
// what changes between two routers and whether that may be chance, [Tune] fits
// on some cases and reports on others. [Replay] routes dialogues in sessions and returns a
// [ReplayReport] that also tells what every turn showed, what it cost and where
// it went astray.
package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/router"
	"skillrouter/summaries"
)

// Conditions say what figures hold for; none should be told without them.
type Conditions struct {
	Skills    int     `json:"skills"`
	Domains   int     `json:"domains"`
	Index     string  `json:"index"` // fingerprint
	Embedder  string  `json:"embedder"`
	Threshold float64 `json:"threshold"`
	Cap       int     `json:"max_summaries"` // summaries shown at once; -1: no bound
	Mode      string  `json:"mode"`          // "layered" or "flat"
	Chinese   Number  `json:"chinese_share"` // of the utterances; the others are in other languages
	Latency   string  `json:"latency_of"`    // what a latency is of
	Version   string  `json:"version"`       // of skillrouter; "" if the caller did not say
}

// A Row is what came of one [Case].
type Row struct {
	Case    *Case
	Domains []string // right ones: those of the case, else those of its skills

	Outcome   router.Outcome
	Best      []Standing // the best three domains
	Score     float64    // of the best domain, 0 if there is none
	Reach     float64    // highest threshold at which something matches, see [router.Route.Reach]
	Matched   []string   // domains that match, best first
	Abstained bool       // nothing matched: no domain, and no skill was named
	Asked     []string   // domains that the question to the user names; none if there is no question
	Ranked    []Standing // the best five skills, by evidence

	DomainRank int  // of the best right domain, from 1; 0: none has a score
	SkillRank  int  // of the best right skill among the best 25; 0: it is not
	Found      int  // right skills among the best five
	Named      bool // a right skill was named outright
	Shown      bool // a right skill is among the summaries that are shown, or loaded

	// Without layers: all skills ranked, the best as many as may be shown.
	FlatRank  int // as SkillRank
	FlatShown bool

	Tokens     int // of the prompt, estimated unless the router counts them
	FlatTokens int // of the summaries that a flat list of the best would show
	AllTokens  int // of the summaries of all skills
	Took       time.Duration
}

// InScope tells whether some skill or domain is right.
func (r *Row) InScope() bool { return r.Case.InScope() }

func (r *Row) hasSkills() bool { return len(r.Case.Skills) > 0 }

// right tells whether something right matched.
func (r *Row) right() bool { return r.Named || shares(r.Matched, r.Domains) }

// rightMatched counts the right domains that matched.
func (r *Row) rightMatched() int {
	n := 0
	for _, d := range r.Matched {
		if slices.Contains(r.Domains, d) {
			n++
		}
	}
	return n
}

// Options say how cases are run. The zero value is the default.
type Options struct {
	Allow    func(name string) bool // which skills exist; nil means all
	Version  string                 // of skillrouter, for the conditions
	Progress func(done, total int)  // called now and then; nil: not

	// Memo is the embedder of the router, if that is one: it asks for all
	// vectors before the first route, and latencies are without that.
	Memo *Memo
}

// A Report is what came of cases: its figures are those of all rows.
type Report struct {
	*Figures
	Conditions Conditions
	Rows       []*Row // in the order of the cases
}

// warmUp is how many routes go before the first that is timed.
const warmUp = 100

// Run routes every case by itself, outside a session, one after the other; a
// [Row] keeps its case, which must not change. Each route is timed with all
// that a turn waits for, after some that are not. A nil opts
// means the zero [Options]. Run fails without cases, when the embedder does,
// since figures of words alone would pass for others, when hardly a trigger of
// the catalog finds its own skill, since then nothing is measured, and when ctx
// ends.
func Run(ctx context.Context, r *router.Router, cases []Case, opts *Options) (*Report, error) {
	if len(cases) == 0 {
		return nil, errors.New("eval: no case")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	m := &runner{r: r, ix: r.Index(), opts: o, cap: r.InForce().MaxSummaries, lines: map[string]int{}}
	m.allTokens = FlatTokens(m.ix, o.Allow)
	if err := m.prepare(ctx, cases); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	for i := range min(warmUp, len(cases)) {
		if _, err := r.RouteFor(ctx, cases[i].Text, o.Allow); err != nil {
			return nil, fmt.Errorf("eval: case %d: %w", i+1, err)
		}
	}
	report := &Report{Rows: make([]*Row, len(cases))}
	for i := range cases {
		if o.Progress != nil && i%100 == 0 {
			o.Progress(i, len(cases))
		}
		var err error
		if report.Rows[i], err = m.row(ctx, &cases[i]); err != nil {
			return nil, fmt.Errorf("eval: case %d: %w", i+1, err)
		}
	}
	for i, row := range report.Rows { // not between the routes, which are timed
		if err := m.flat(ctx, row); err != nil {
			return nil, fmt.Errorf("eval: case %d: %w", i+1, err)
		}
	}
	if o.Progress != nil {
		o.Progress(len(cases), len(cases))
	}
	report.Figures = Measure(report.Rows)
	report.Conditions = ConditionsOf(r, &o)
	report.Conditions.Chinese = chineseShare(cases)
	return report, nil
}

// chinese tells whether a text is, by the share of its Han characters.
func chinese(s string) bool { return text.HanShare(s) >= 0.3 }

// chineseShare is the share of the cases that are in Chinese.
func chineseShare(cases []Case) Number {
	n := 0
	for i := range cases {
		n += int(one(chinese(cases[i].Text)))
	}
	return Number(ratio(n, len(cases)))
}

// A runner is one run.
type runner struct {
	r         *router.Router
	ix        *index.Index
	opts      Options
	cap       int
	allTokens int
	lines     map[string]int // quarters of tokens of a summary, by skill
}

// unbounded is more summaries than any catalog has.
const unbounded = 1 << 30

// ConditionsOf says what figures of a router hold for; of the utterances it
// knows nothing.
func ConditionsOf(r *router.Router, opts *Options) Conditions {
	o, ix := r.InForce(), r.Index()
	c := Conditions{
		Skills: len(ix.Skills()), Domains: len(ix.Domains()), Index: ix.Fingerprint(), Embedder: ix.EmbedderID(),
		Threshold: o.Threshold, Cap: o.MaxSummaries, Mode: "layered", Chinese: Number(math.NaN()), Version: opts.Version,
		Latency: "a route with its embedding, one after the other",
	}
	if opts.Memo != nil {
		c.Latency = "a route without its embedding, one after the other"
	}
	if r.Flat() {
		c.Mode = "flat"
	}
	if c.Cap >= unbounded {
		c.Cap = -1
	}
	return c
}

// Numbers of the self-check.
const (
	checkedTriggers = 20
	fewestTriggers  = 3 // of fewer nothing is concluded
)

// selfCheck asks for some skills, from all of the catalog, by their first
// trigger. A tenth may be found by chance where evidence says nothing.
func (m *runner) selfCheck(ctx context.Context, of []*summaries.Summary) error {
	found := 0
	for _, s := range of {
		route, err := m.r.RouteFor(ctx, s.Triggers[0], m.opts.Allow)
		if err != nil {
			return err
		}
		if rank := rankOf(route.Candidates, []string{s.Skill}); rank > 0 && rank <= keptCandidates {
			found++
		}
	}
	if asked := len(of); asked > 0 && found <= asked/10 {
		return fmt.Errorf("%d of %d triggers of the catalog find their own skill among the first %d: nothing can be measured with this embedder, %s", found, asked, keptCandidates, m.ix.EmbedderID())
	}
	return nil
}

// checked returns the skills that the self-check asks for, spread over the
// catalog; none where too few have triggers.
func (m *runner) checked() []*summaries.Summary {
	var with []*summaries.Summary
	skills := m.ix.Skills()
	for i := range skills {
		s := &skills[i].Summary
		if !s.Manual && len(s.Triggers) > 0 && (m.opts.Allow == nil || m.opts.Allow(s.Skill)) {
			with = append(with, s)
		}
	}
	asked := min(checkedTriggers, len(with))
	if asked < fewestTriggers {
		return nil
	}
	spread := make([]*summaries.Summary, asked)
	for i := range spread {
		spread[i] = with[i*len(with)/asked]
	}
	return spread
}

// prepare asks for all vectors and does the self-check.
func (m *runner) prepare(ctx context.Context, cases []Case) error {
	checked := m.checked()
	if m.opts.Memo != nil {
		var texts []string
		for i := range cases {
			texts = append(texts, cases[i].Text)
		}
		for _, s := range checked {
			texts = append(texts, s.Triggers[0])
		}
		if err := m.opts.Memo.Prepare(ctx, texts); err != nil {
			return err
		}
	}
	return m.selfCheck(ctx, checked)
}

// row routes one case.
func (m *runner) row(ctx context.Context, c *Case) (*Row, error) {
	start := time.Now()
	route, err := m.r.RouteFor(ctx, c.Text, m.opts.Allow)
	took := time.Since(start)
	if err != nil {
		return nil, err
	}
	row, err := m.rowOf(c, route)
	if err != nil {
		return nil, err
	}
	row.Took = took
	return row, nil
}

// rowOf is what came of a case, without latency and what layers cost.
func (m *runner) rowOf(c *Case, route *router.Route) (*Row, error) {
	if route.Degraded {
		return nil, errors.New("the embedder gave no vector: figures of words alone would not be those of the router")
	}
	row := &Row{
		Case: c, Domains: domainsOf(m.ix, c), Outcome: route.Outcome, AllTokens: m.allTokens,
		Score: float64(route.Top().Score), Reach: float64(route.Reach()), Abstained: !route.Matched(), Asked: route.Alternatives(), Tokens: route.Tokens().Total(),
	}
	for i, d := range route.Domains {
		if i < keptDomains {
			row.Best = append(row.Best, Standing{d.Name, i + 1, d.Score})
		}
		if d.Matched {
			row.Matched = append(row.Matched, d.Name)
		}
		if row.DomainRank == 0 && slices.Contains(row.Domains, d.Name) {
			row.DomainRank = i + 1
		}
	}
	for i, x := range route.Candidates {
		if i < keptCandidates {
			row.Ranked = append(row.Ranked, Standing{x.Name, i + 1, x.Evidence})
			if slices.Contains(c.Skills, x.Name) {
				row.Found++
			}
		}
		row.Named = row.Named || x.Named && slices.Contains(c.Skills, x.Name)
	}
	row.SkillRank = rankOf(route.Candidates, c.Skills)
	for _, s := range route.Summaries {
		row.Shown = row.Shown || slices.Contains(c.Skills, s.Skill)
	}
	for _, d := range route.Loaded {
		row.Shown = row.Shown || slices.Contains(c.Skills, d.Name)
	}
	return row, nil
}

// flat fills in what would come of the row without layers.
func (m *runner) flat(ctx context.Context, row *Row) error {
	ranked, err := m.r.Rank(ctx, row.Case.Text, max(m.cap, ranks), m.opts.Allow)
	if err != nil {
		return err
	}
	rank := rankOf(ranked, row.Case.Skills)
	row.FlatShown = rank > 0 && rank <= m.cap
	if rank <= ranks {
		row.FlatRank = rank
	}
	n := 0
	for _, c := range ranked[:min(m.cap, len(ranked))] {
		n += m.line(c.Name)
	}
	row.FlatTokens = tokens(n)
	return nil
}

// line is the quarters of tokens of the line of a skill's summary.
func (m *runner) line(skill string) int {
	n, ok := m.lines[skill]
	if !ok {
		i, _ := m.ix.Lookup(skill)
		n = lineQuarters(&m.ix.Skills()[i].Summary)
		m.lines[skill] = n
	}
	return n
}

// ranks is how many skills a route ranks.
const ranks = 25

// rankOf is the place of the first right candidate, from 1; 0 if there is none.
func rankOf(ranking []router.Candidate, right []string) int {
	return 1 + slices.IndexFunc(ranking, func(c router.Candidate) bool { return slices.Contains(right, c.Name) })
}
