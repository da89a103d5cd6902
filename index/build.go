package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/summaries"
)

// version goes up when an index of the same catalog would route otherwise or
// its file has another form.
const version = 3

// Options says how an index is built. The zero value is the default.
type Options struct {
	Progress func(done, total int) // called now and then, never twice at once, with the texts that have a vector; nil: not
	Vectors  Vectors               // where vectors are kept from build to build; not used with an [AppendEmbedder]; nil: they are not
	Bundle   bool                  // definitions are part of the index, for where the folders are not
	Work     *Work                 // filled in, also where Build fails; nil: not
}

// Build makes the index of c, the same each time. What is wrong in a
// skillrouter.yaml is among the index's problems; an error means that the
// embedder failed, or ctx ended. An empty catalog gives an empty index. A nil
// opts means the zero [Options].
//
// All cores are used, also to embed with an [AppendEmbedder]. A [BatchEmbedder]
// gets all texts that have no vector yet at once, any other 256 at a time, one
// call after the other; what Options.Vectors has been given stays there also
// when a later text fails, so that the next Build goes on from it.
func Build(ctx context.Context, c *definitions.Catalog, e Embedder, opts *Options) (*Index, error) {
	if e == nil {
		return nil, errors.New("index: no embedder: embed.New gives the built-in one")
	}
	if opts == nil {
		opts = &Options{}
	}
	ix := &Index{
		embedder: e.ID(), source: c.Source(), shadowed: c.Shadowed, counts: c.Counts,
		problems: slices.Clone(c.Problems),
	}
	b := &builder{ix: ix, catalog: c, embedder: e, kept: opts.Vectors, progress: opts.Progress}
	if opts.Work != nil {
		defer func() { *opts.Work = b.work }()
	}
	if opts.Bundle {
		var err error
		if ix.bundle, err = c.Bundle(ctx); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	}
	if err := b.group(ctx); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	if err := b.embed(ctx); err != nil {
		return nil, err
	}
	b.cluster()
	if err := b.embedDomains(ctx); err != nil {
		return nil, err
	}
	if err := b.words(ctx); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	if err := b.fitHeads(ctx); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	if err := ix.finish(ctx); err != nil {
		return nil, err
	}
	if err := b.calibrate(ctx); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	b.recalibrate()
	ix.fingerprint, ix.digest = ix.print(c), digest(c, ix.embedder)
	return ix, nil
}

// group makes layers 2 and 1. It fails only when ctx ends.
func (b *builder) group(ctx context.Context) error {
	ix, c := b.ix, b.catalog
	var files []*domains.File
	for _, f := range c.Files {
		file, problems := domains.ParseFile(f.Path, f.Data)
		files = append(files, file)
		ix.problems = append(ix.problems, problems...)
	}
	file := domains.Merge(files...)
	ix.routing = file.Routing
	n := len(c.Skills)
	ix.skills, b.written = make([]Skill, n), make([]bool, n)
	err := parallel(ctx, n, func() func(int) {
		return func(i int) {
			s := &c.Skills[i]
			var o *summaries.Override
			if found, ok := file.Skills[s.Name]; ok {
				o = &found
			}
			b.written[i] = len(s.Triggers) > 0 || o != nil && len(o.Triggers) > 0
			ix.skills[i] = Skill{
				Name: s.Name, Description: s.Description, Ref: s.Ref, File: s.File, Hash: s.Hash, Size: s.Size,
				Summary: summaries.Of(s, o),
			}
		}
	})
	if err != nil {
		return err
	}
	sums := make(map[string]*summaries.Summary, n)
	for i := range ix.skills {
		sums[ix.skills[i].Name] = &ix.skills[i].Summary
	}
	var problems []definitions.Problem
	ix.domains, problems = domains.Group(c, file, sums)
	ix.problems = append(ix.problems, problems...)
	sortProblems(ix.problems)
	return nil
}

func sortProblems(ps []definitions.Problem) {
	slices.SortStableFunc(ps, func(a, b definitions.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

type builder struct {
	ix       *Index
	catalog  *definitions.Catalog
	embedder Embedder
	kept     Vectors // nil: vectors are not kept
	progress func(done, total int)
	work     Work

	written    []bool      // by skill: its triggers are its author's, not derived from the description
	phrases    [][]phrase  // by skill
	sums       [][]float32 // by skill: weighted sum of its phrases
	centroids  [][]float32 // by skill: the same, of unit length
	texts      []lexText
	stats      *lexStats
	held       map[place][]float32 // by trigger: what a head without it makes of the skills
	background []string
	negatives  [][]float32 // vectors of background
}

// words fills the lexicon.
func (b *builder) words(ctx context.Context) error {
	ix := b.ix
	b.texts = make([]lexText, len(ix.skills))
	err := parallel(ctx, len(ix.skills), func() func(int) {
		var r lexReader
		return func(i int) {
			s, m := &b.catalog.Skills[i], &ix.skills[i].Summary
			if m.Manual {
				return
			}
			head := s.Name + "\n" + summaries.Affirmed(s.Description) + "\n" + written(m)
			if b.written[i] {
				head += "\n" + strings.Join(m.Triggers, "\n")
			}
			body := s.Core + s.Extension
			if body == s.Description {
				body = "" // of a .jsonl catalog
			}
			b.texts[i] = r.read(head, body)
		}
	})
	if err != nil {
		return err
	}
	ix.lexicon, b.stats, err = newLexicon(ctx, b.texts)
	return err
}

// written is a summary's sentence if it is not made of the description.
func written(m *summaries.Summary) string {
	if m.Derived {
		return ""
	}
	return m.Text
}

// parallel calls, on all cores, what worker returns once for each of 0 to n-1.
// A call must write only what is its own. It fails only when ctx ends.
func parallel(ctx context.Context, n int, worker func() func(i int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			do := worker()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	group.Wait()
	return ctx.Err()
}
