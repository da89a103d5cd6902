// Package router decides, before each turn of an agent, which layers of a
// catalog it gets to see.
//
// A [Router] routes single utterances; a [Session] carries the layers over the
// turns of one dialogue. Both answer with a [Route]: what matched, what is
// shown, and why.
//
// Reading order: router.go, route.go, match.go (the outcomes), session.go and
// turn.go (the state machine), prompt.go, trace.go.
package router

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"skillrouter/cache"
	"skillrouter/domains"
	"skillrouter/index"
	"skillrouter/summaries"
)

// Options are the numbers of a router. A zero field means the catalog's own
// number from its skillrouter.yaml or, without one, the default; a negative
// one means off.
type Options struct {
	Threshold          float64 // lowest score kept, inclusive; 0 means 0.72, at most 1; negative: every domain matches
	MaxSummaries       int     // summaries shown at once; 0 means 25, negative no bound
	MaxDomains         int     // domains that may match at once; 0 means no bound
	SummaryTurns       int     // turns a loaded summary stays; 0 means 5, negative means no cache: all that is shown counts as new
	StalledTurns       int     // turns without a decision before a layer is left; 0 means 2, negative never
	Stalled            Stalled // the same for one layer; goes before StalledTurns
	IndexLimit         int     // characters of the index text, for Chinese; 0 means 500; other scripts have three times as many
	Mode               Mode
	Sliding            bool                  // a match renews the turns that a summary stays
	SessionDefinitions bool                  // definitions stay for the session, not only for the task
	Alone              bool                  // score each utterance of a session by itself, without what came before
	Tokens             func(text string) int // counts tokens for [Route.Tokens]; nil means an estimate
	Lang               string                // of fixed phrases: "en", "zh"; "" follows the text
	Without            index.Parts           // parts of the evidence to leave out

	EmbedTimeout time.Duration // for embedders that wait; 0 means 1 s, negative no limit
	Store        SessionStore  // keeps session states; nil means in this process, see [cache.NewSessions]
	Reload       Reload        // where Refresh gets a new index; nil: Refresh does nothing
	Logger       *slog.Logger  // events at debug, failures at warn; no utterance text; nil discards
	Observer     Observer      // told of events of sessions; nil: nobody is
}

// Stalled is a number of turns for each layer, as [Options].StalledTurns.
type Stalled struct{ Domains, Summaries, Definitions int }

// A Mode says whether a catalog is shown in layers.
type Mode string

// The modes.
const (
	Auto    Mode = ""        // flat up to 20 skills
	Flat    Mode = "flat"    // all summaries, always
	Layered Mode = "layered" // always in layers
)

// flatSkills is the catalog size up to which Auto is flat, and hintSkills that
// up to which flat may do.
const (
	flatSkills = 20
	hintSkills = 50
)

// Advice tells, in plain words, when layers do not pay for the catalog of ix;
// "" when they do.
func Advice(ix *index.Index) string {
	switch n := len(ix.Summaries()); {
	case n == 0:
		return ""
	case n <= flatSkills:
		noun := "skills"
		if n == 1 {
			noun = "skill"
		}
		return fmt.Sprintf("%d %s: shown flat, all summaries at once; layers begin to pay above some %d", n, noun, hintSkills)
	case n <= hintSkills:
		return fmt.Sprintf("%d skills: shown in layers, but a flat list (mode: flat) may do as well up to some %d", n, hintSkills)
	default:
		return ""
	}
}

// Reload returns the index to use from now on: old itself when nothing
// changed. On an error the router keeps the old one. It must not call Refresh.
type Reload func(ctx context.Context, old *index.Index) (*index.Index, error)

// A SessionStore keeps session states as versioned bytes. Save is a
// compare-and-set on the revision that Load returned (0: the key must not
// exist) and returns [cache.ErrConflict] if another one was faster; Load of a
// key that is not there returns [cache.ErrNotFound]. Any other error, with a
// context that has not ended, means that the store cannot be had now: sessions
// go on without it, see [Session]. A store that waits must do so for a bounded
// time, because each call of a session asks it.
type SessionStore interface {
	Load(ctx context.Context, key string) (state []byte, revision uint64, err error)
	Save(ctx context.Context, key string, state []byte, revision uint64) (uint64, error)
	Delete(ctx context.Context, key string) error
}

// An Observer is told of the events of all sessions, after they were saved and
// outside of any lock: for metrics, audit or a live view. Of one session they
// come in order, unless its calls overlap; Event.Turn tells. It is called by
// many goroutines, and what it takes a turn waits for.
type Observer interface {
	Observe(session, agent string, e Event)
}

// A Router routes utterances over one catalog. It is safe for concurrent use.
type Router struct {
	opts     Options
	embedder *guarded
	current  atomic.Pointer[snapshot]
	sessions *sessions
	log      *slog.Logger

	refreshing sync.Mutex // one Refresh at a time
}

// A snapshot is an index with the numbers that hold for it.
type snapshot struct {
	ix         *index.Index
	generation uint64
	opts       Options // completed
	flat       bool
	layer1     string // the index text for those who may see all skills
	fallback   []int32
	hashes     []string          // by domain: changes when a summary in it does
	manual     map[int32][]int32 // domains of manual skills, which are members of none

	descriptions *lru.Cache[descriptionKey, string] // safe for concurrent use
}

// New returns a router over ix, whose vectors must be of e. A nil opts means
// the zero [Options]. The error names the option that is wrong.
func New(ix *index.Index, e index.Embedder, opts *Options) (*Router, error) {
	switch {
	case ix == nil:
		return nil, errors.New("router: no index: index.Build makes one")
	case e == nil:
		return nil, errors.New("router: no embedder: embed.New gives the built-in one")
	case e.ID() != ix.EmbedderID():
		return nil, fmt.Errorf("router: the index was built with the embedder %q, not %q: build it again", ix.EmbedderID(), e.ID())
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Store == nil {
		store, err := cache.NewSessions(nil)
		if err != nil {
			return nil, fmt.Errorf("router: %w", err)
		}
		o.Store = store
	}
	r := &Router{opts: o, embedder: newGuarded(e, o.EmbedTimeout), log: o.Logger, sessions: newSessions(o.Logger)}
	if err := r.use(ix); err != nil {
		return nil, err
	}
	return r, nil
}

func (o *Options) check() error {
	switch {
	case math.IsNaN(o.Threshold):
		return errors.New("router: Threshold is not a number")
	case o.Threshold > 1:
		return fmt.Errorf("router: Threshold %v is above 1", o.Threshold)
	case o.Mode != Auto && o.Mode != Flat && o.Mode != Layered:
		return fmt.Errorf("router: Mode %q is not flat or layered", o.Mode)
	case o.Lang != "" && o.Lang != "en" && o.Lang != "zh":
		return fmt.Errorf("router: Lang %q is not en or zh", o.Lang)
	}
	return nil
}

// complete fills in the catalog's numbers and the defaults, and turns "off"
// into a number that never binds.
func (o Options) complete(c domains.Routing) Options {
	const never = 1 << 30
	number := func(own, catalog, standard, off int) int {
		for _, n := range []int{own, catalog, standard} {
			switch {
			case n < 0:
				return off
			case n > 0:
				return n
			}
		}
		return off
	}
	switch {
	case o.Threshold == 0 && c.Threshold != 0:
		o.Threshold = max(c.Threshold, 0)
	case o.Threshold == 0:
		o.Threshold = 0.72
	}
	o.Threshold = max(o.Threshold, 0)
	o.MaxSummaries = number(o.MaxSummaries, c.MaxSummaries, 25, never)
	o.MaxDomains = number(o.MaxDomains, c.MaxDomains, 0, never)
	o.SummaryTurns = number(o.SummaryTurns, c.SummaryTurns, 5, -1)
	o.Stalled.Domains = number(o.Stalled.Domains, o.StalledTurns, number(0, c.StalledTurns, 2, never), never)
	o.Stalled.Summaries = number(o.Stalled.Summaries, o.StalledTurns, number(0, c.StalledTurns, 2, never), never)
	o.Stalled.Definitions = number(o.Stalled.Definitions, o.StalledTurns, number(0, c.StalledTurns, 2, never), never)
	o.IndexLimit = number(o.IndexLimit, c.IndexLimit, domains.IndexLimit, never)
	if o.Mode == Auto {
		o.Mode = Mode(c.Mode)
		if c.Mode == "auto" {
			o.Mode = Auto
		}
	}
	return o
}

// use makes ix the index of the turns that begin from now on.
func (r *Router) use(ix *index.Index) error {
	s := &snapshot{ix: ix, generation: 1, opts: r.opts.complete(ix.Routing())}
	if err := s.opts.check(); err != nil {
		return fmt.Errorf("%w (in the catalog's skillrouter.yaml)", err)
	}
	s.descriptions, _ = lru.New[descriptionKey, string](keptDescriptions) // errs only for a size below 1
	if old := r.current.Load(); old != nil {
		s.generation = old.generation + 1
	}
	s.flat = s.opts.Mode == Flat || s.opts.Mode == Auto && len(ix.Summaries()) <= flatSkills
	s.layer1 = s.indexText(nil)
	s.hashes = make([]string, len(ix.Domains()))
	s.manual = map[int32][]int32{}
	for i := range ix.Domains() {
		d := &ix.Domains()[i]
		if d.Fallback {
			s.fallback = append(s.fallback, int32(i))
		}
		s.hashes[i] = summariesHash(ix, int32(i))
		for _, name := range d.Manual {
			if skill, ok := ix.Lookup(name); ok {
				s.manual[skill] = append(s.manual[skill], int32(i))
			}
		}
	}
	r.current.Store(s)
	r.sessions.outlive(s.generation)
	return nil
}

// summariesHash changes when a summary of the domain does.
func summariesHash(ix *index.Index, domain int32) string {
	h := fnv.New64a()
	for _, i := range ix.Members(domain) {
		s := &ix.Skills()[i]
		fmt.Fprintf(h, "%s %s %+v\n", s.Name, s.Hash, s.Summary)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// domainsOf returns the domains of a skill, also of a manual one.
func (s *snapshot) domainsOf(skill int32) []int32 {
	if of, ok := s.manual[skill]; ok {
		return of
	}
	return s.ix.DomainsOf(skill)
}

// indexText is layer 1 for someone who may see the allowed skills.
func (s *snapshot) indexText(allow []bool) string {
	var count func(d *domains.Domain) int
	if allow != nil {
		counts := make(map[string]int, len(s.ix.Domains()))
		for i := range s.ix.Domains() {
			counts[s.ix.Domains()[i].Name] = s.allowed(int32(i), allow)
		}
		count = func(d *domains.Domain) int { return counts[d.Name] }
	}
	ds := s.ix.Domains()
	if allow != nil {
		ds = slices.Clone(ds)
		for i := range ds {
			ds[i].Description = s.description(int32(i), allow)
		}
	}
	text, _ := domains.AppendIndex(nil, ds, &domains.IndexOptions{Limit: s.opts.IndexLimit, Lang: s.opts.Lang, Count: count})
	return string(text)
}

// description is that of a domain for the asker: one that is made of what
// members do is made without those that do not exist for them.
func (s *snapshot) description(domain int32, allow []bool) string {
	d := &s.ix.Domains()[domain]
	members := s.ix.Members(domain)
	n := s.allowed(domain, allow)
	if !d.Derived || n == 0 || n == len(members) {
		return d.Description
	}
	key := descriptionKey{domain: domain}
	h := fnv.New64a()
	var names []string
	for place, i := range members {
		if allow[i] {
			names = append(names, s.ix.Skills()[i].Name)
			_ = binary.Write(h, binary.LittleEndian, int32(place)) // a hash never fails
		}
	}
	key.members = h.Sum64()
	if text, ok := s.descriptions.Get(key); ok {
		return text
	}
	sums := make(map[string]*summaries.Summary, n)
	for _, i := range members {
		if allow[i] {
			sums[s.ix.Skills()[i].Name] = &s.ix.Skills()[i].Summary
		}
	}
	text := domains.Describe(names, sums)
	s.descriptions.Add(key, text)
	return text
}

// keptDescriptions bounds the descriptions made for askers of whom not all
// members of a domain exist; making one takes some 100 µs.
const keptDescriptions = 4096

// A descriptionKey tells which members of a domain a description is made of.
type descriptionKey struct {
	domain  int32
	members uint64
}

// allowed counts the skills of a domain that exist for the asker.
func (s *snapshot) allowed(domain int32, allow []bool) int {
	members := s.ix.Members(domain)
	if allow == nil {
		return len(members)
	}
	n := 0
	for _, i := range members {
		if allow[i] {
			n++
		}
	}
	return n
}

// mask asks allow for each skill; nil means all.
func (s *snapshot) mask(allow func(name string) bool) []bool {
	if allow == nil {
		return nil
	}
	skills := s.ix.Skills()
	m := make([]bool, len(skills))
	for i := range skills {
		m[i] = allow(skills[i].Name)
	}
	return m
}

// Index returns the index in use. Turns under way may still be on an older one.
func (r *Router) Index() *index.Index { return r.current.Load().ix }

// InForce returns the options with the catalog's numbers and the defaults
// filled in, to be shown: where something is off there is 0 or a number that
// never binds, so they do not make an equal router.
func (r *Router) InForce() Options { return r.current.Load().opts }

// Flat tells whether the catalog is shown flat, all summaries at once.
func (r *Router) Flat() bool { return r.current.Load().flat }

// Generation counts the indexes that were in use, from 1.
func (r *Router) Generation() uint64 { return r.current.Load().generation }

// Refresh asks Options.Reload for the index to use from the next turns on, and
// reports whether it is another one. Without one, and on an error, everything
// stays as it is. Routes go on meanwhile.
func (r *Router) Refresh(ctx context.Context) (changed bool, err error) {
	if r.opts.Reload == nil {
		return false, nil
	}
	r.refreshing.Lock()
	defer r.refreshing.Unlock()
	old := r.Index()
	ix, err := r.opts.Reload(ctx, old)
	if err != nil {
		return false, fmt.Errorf("router: refresh: %w (the catalog as it was stays in use)", err)
	}
	switch ix {
	case old:
		return false, nil
	case nil:
		return false, errors.New("router: refresh: no index and no error (the catalog as it was stays in use)")
	}
	if id := r.embedder.ID(); ix.EmbedderID() != id {
		return false, fmt.Errorf("router: refresh: the new index is of the embedder %q, not %q (the catalog as it was stays in use)", ix.EmbedderID(), id)
	}
	if err := r.use(ix); err != nil {
		return false, fmt.Errorf("router: refresh: %w (the catalog as it was stays in use)", err)
	}
	return true, nil
}

// Route routes one utterance outside any session. It returns an error only
// when ctx has ended; an utterance that matches nothing is a Route that says
// so. It opens a file only for a skill that the utterance names outright.
func (r *Router) Route(ctx context.Context, utterance string) (*Route, error) {
	return r.RouteFor(ctx, utterance, nil)
}

// RouteFor is Route for someone for whom only the skills exist that allow
// approves of; nil means all.
func (r *Router) RouteFor(ctx context.Context, utterance string, allow func(name string) bool) (*Route, error) {
	s := r.current.Load()
	return r.answer(ctx, s, utterance, &asker{allow: s.mask(allow)})
}
