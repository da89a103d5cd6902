package index

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/internal/text"
)

// Update makes the index of c, as [Build] would, when there is an old one of an
// earlier state of the catalog, and tells what is different. Where nothing is, it
// returns old itself and nil Changes, and embeds nothing. The result has the
// same bytes as that of Build. A nil old is an empty one.
//
// What is new is embedded; what is not stands in Options.Vectors, if the
// embedder takes its time: the vectors of an index are rounded, so old itself
// has none to give.
func Update(ctx context.Context, old *Index, c *definitions.Catalog, e Embedder, opts *Options) (*Index, *Changes, error) {
	if old != nil && e != nil && old.embedder == e.ID() && old.digest == digest(c, old.embedder) {
		same, err := old.holds(ctx, c, opts)
		if err != nil {
			return nil, nil, err
		}
		if same {
			return old, nil, nil
		}
	}
	ix, err := Build(ctx, c, e, opts)
	if err != nil {
		return nil, nil, err
	}
	return ix, Compare(old, ix), nil
}

// IsOf tells whether the index would route as one of c does: whether skills,
// their places, settings and notes of domains are the same. Problems and what
// else only shows in lists may be others.
func (ix *Index) IsOf(c *definitions.Catalog) bool { return ix.fingerprint == ix.print(c) }

// holds tells whether the index has the definitions of c, if it is to have any.
func (ix *Index) holds(ctx context.Context, c *definitions.Catalog, opts *Options) (bool, error) {
	if opts == nil || !opts.Bundle {
		return !ix.Bundled(), nil
	}
	bundle, err := c.Bundle(ctx)
	if err != nil {
		return false, fmt.Errorf("index: %w", err)
	}
	return ix.Bundled() && bytes.Equal(bundle, ix.bundle), nil
}

// A Plan says what [Update] would do.
type Plan struct {
	Changes *Changes // nil if nothing changed; of skills that only likeness files, Refiled is not known yet
	Work    Work     // Embedded is what would be; texts of domains that are found by likeness are not counted
	Tokens  int      // about what the texts to embed have, as an endpoint counts them
}

// PlanUpdate tells what Update would do with the same arguments, without
// embedding anything.
func PlanUpdate(ctx context.Context, old *Index, c *definitions.Catalog, e Embedder, opts *Options) (*Plan, error) {
	if opts == nil {
		opts = &Options{}
	}
	if old != nil && old.embedder == e.ID() && old.digest == digest(c, old.embedder) {
		if same, err := old.holds(ctx, c, opts); err != nil || same {
			return &Plan{}, err
		}
	}
	b := &builder{ix: &Index{embedder: e.ID(), source: c.Source()}, catalog: c, embedder: e, kept: opts.Vectors}
	if err := b.group(ctx); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	texts, _, err := b.textsOf(ctx)
	if err != nil {
		return nil, err
	}
	for d := range b.ix.domains {
		texts = append(texts, domainText(&b.ix.domains[d]))
	}
	slices.Sort(texts)
	x := embedding{builder: b, texts: slices.Compact(texts)}
	x.vectors = make([][]float32, len(x.texts))
	missing := places(0, len(x.texts))
	if _, ok := e.(AppendEmbedder); !ok {
		if missing, err = x.recall(); err != nil {
			return nil, err
		}
	}
	p := &Plan{Work: Work{Texts: len(x.texts), Embedded: len(missing), Unkept: b.work.Unkept}}
	for _, i := range missing {
		p.Tokens += text.Tokens(x.texts[i])
	}
	if err := errors.Join(b.ix.nameSkills(), b.ix.link()); err != nil {
		return nil, err
	}
	p.Changes = Compare(old, b.ix)
	at := slices.IndexFunc(b.ix.domains, func(d domains.Domain) bool { return d.Name == domains.Unassigned })
	if at >= 0 && len(b.ix.domains[at].Members) >= leastClustered {
		p.Changes.Refiled = slices.DeleteFunc(p.Changes.Refiled, func(m Move) bool { return slices.Contains(m.To, domains.Unassigned) })
	}
	return p, nil
}

// Changes say how an index differs from an earlier one. Names are sorted.
type Changes struct {
	Added   []string // skills that are new
	Changed []string // skills whose file holds something else
	Removed []string // skills that are gone
	Moved   []Move   // skills of the same text whose file is another
	Refiled []Move   // skills that were there before whose domains are others
	Embeds  string   // the old embedder, where it is another; "" if not
}

// A Move is where a skill, or its text, went.
type Move struct {
	Skill    string
	From, To []string // domains, in the order of the index, or one file
}

// Any tells whether something that a router sees changed: skills or domains.
// Where it does not, only problems, settings or summaries may be others.
func (c *Changes) Any() bool {
	return len(c.Added)+len(c.Changed)+len(c.Removed)+len(c.Moved)+len(c.Refiled) > 0 || c.Embeds != ""
}

// Compare says how ix differs from old; a nil old is an empty one.
func Compare(old, ix *Index) *Changes {
	c := &Changes{}
	if old == nil {
		old = &Index{embedder: ix.embedder}
	}
	if old.embedder != ix.embedder {
		c.Embeds = old.embedder
	}
	for i := range ix.skills {
		s := &ix.skills[i]
		k, ok := old.byName[s.Name]
		if !ok {
			c.Added = append(c.Added, s.Name)
			continue
		}
		before := &old.skills[k]
		switch {
		case before.Hash != s.Hash:
			c.Changed = append(c.Changed, s.Name)
		case before.Ref != s.Ref:
			c.Moved = append(c.Moved, Move{s.Name, []string{before.File}, []string{s.File}})
		}
		if from, to := old.domainNames(k), ix.domainNames(int32(i)); !slices.Equal(from, to) {
			c.Refiled = append(c.Refiled, Move{s.Name, from, to})
		}
	}
	for i := range old.skills {
		if _, ok := ix.byName[old.skills[i].Name]; !ok {
			c.Removed = append(c.Removed, old.skills[i].Name)
		}
	}
	for _, names := range [][]string{c.Added, c.Changed, c.Removed} {
		slices.Sort(names)
	}
	for _, moves := range [][]Move{c.Moved, c.Refiled} {
		slices.SortFunc(moves, func(a, b Move) int { return cmp.Compare(a.Skill, b.Skill) })
	}
	return c
}

// domainNames are the names of the domains of a skill.
func (ix *Index) domainNames(skill int32) []string {
	var names []string
	for _, d := range ix.skillDomains[skill] {
		names = append(names, ix.domains[d].Name)
	}
	return names
}

// print is the fingerprint: what decides how c is routed over.
func (ix *Index) print(c *definitions.Catalog) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %d\n", version, ix.embedder, len(c.Skills))
	for i := range c.Skills {
		s := &c.Skills[i]
		fmt.Fprintf(h, "%q %s %d %q\n", s.Name, s.Hash, s.Ref.Root, s.Ref.Dir)
	}
	for _, name := range slices.Sorted(maps.Keys(c.DomainNotes)) {
		fmt.Fprintf(h, "%q %q\n", name, c.DomainNotes[name])
	}
	for _, f := range c.Files {
		fmt.Fprintf(h, "%d %x\n", f.Root, sha256.Sum256(f.Data))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// digest is the fingerprint and all else of c that shows in its index: equal
// digests mean equal bytes.
func digest(c *definitions.Catalog, embedder string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%+v\n", (&Index{embedder: embedder}).print(c), c.Counts)
	for i := range c.Skills {
		fmt.Fprintf(h, "%q %d\n", c.Skills[i].File, c.Skills[i].Size)
	}
	for _, f := range c.Files {
		fmt.Fprintf(h, "%q\n", f.Path)
	}
	for _, p := range c.Problems {
		fmt.Fprintf(h, "%#v\n", p)
	}
	for _, s := range c.Shadowed {
		fmt.Fprintf(h, "%#v\n", s)
	}
	if source := c.Source(); source != nil {
		for _, root := range source.Roots() {
			fmt.Fprintf(h, "%q\n", filepath.ToSlash(filepath.Clean(root)))
		}
		fmt.Fprintf(h, "%d %d\n", source.Depth(), source.Orders())
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
