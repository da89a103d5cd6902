package keeper

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"skillrouter/index"
	"skillrouter/router"
)

// An Utterance is one of users, with the skills that are right for it.
type Utterance struct {
	Text   string
	Skills []string
}

// A Move is a text that led to one skill before and leads to another now.
type Move struct {
	Text   string
	Owner  string // the skill whose trigger it is, or a right one of an utterance
	After  string // the skill that is first now; "" if none is
	Cause  Cause  // what is known of After
	Asked  bool   // it is an utterance, not a trigger
	Score  float32
	Margin float32 // evidence of After above that of Owner
}

// A Cause says why a text may have moved.
type Cause string

// The causes.
const (
	Added   Cause = "was added"                   // the skill that is first now
	Changed Cause = "was changed"                 // it, or its summary
	Owned   Cause = "its own skill was changed"   // the skill that lost the text
	Left    Cause = "its own skill was removed"   // the same; another right one is there yet
	Shifted Cause = "neither of them was changed" // others shifted the weights of words
)

// A Comparison says what a change of a catalog did to the texts that led to its skills (L11).
type Comparison struct {
	Added, Removed, Edited []string // names of skills, in the order of the catalog that has them
	Triggers               int      // that were asked: those of skills that are in both
	Utterances             int      // that were asked: those with a right skill that is in both
	Taken                  []Move   // triggers and utterances that were right before and are not now, in the order in which they were asked
	Gained                 int      // that were not right before and are now
}

// Compare asks the catalogs before and after a change for every trigger of the skills that
// are in both, and for utterances: which skill is first? Both routers rank all skills; only
// those exist that allow approves of, nil means all. It fails when the embedder does, and
// when ctx ends.
func Compare(ctx context.Context, before, after *router.Router, utterances []Utterance, allow func(name string) bool) (*Comparison, error) {
	c := comparer{before: before, after: after, allow: allow, edited: make(map[string]bool), added: make(map[string]bool)}
	c.skills()
	for _, s := range before.Index().Skills() {
		at, ok := after.Index().Lookup(s.Name)
		if !ok || allow != nil && !allow(s.Name) || s.Summary.Manual || after.Index().Skills()[at].Summary.Manual {
			continue
		}
		now := after.Index().Skills()[at].Summary.Triggers
		for _, t := range s.Summary.Triggers {
			if !slices.Contains(now, t) {
				continue // it is no trigger any more
			}
			c.out.Triggers++
			if err := c.ask(ctx, t, []string{s.Name}, false); err != nil {
				return nil, err
			}
		}
	}
	for _, u := range utterances {
		there := slices.DeleteFunc(slices.Clone(u.Skills), func(name string) bool {
			_, a := before.Index().Lookup(name)
			_, b := after.Index().Lookup(name)
			return !a || !b
		})
		if len(there) == 0 {
			continue
		}
		c.out.Utterances++
		if err := c.ask(ctx, u.Text, u.Skills, true); err != nil {
			return nil, err
		}
	}
	return &c.out, nil
}

type comparer struct {
	before, after *router.Router
	allow         func(name string) bool
	added, edited map[string]bool
	out           Comparison
}

// skills tells which were added, removed and edited.
func (c *comparer) skills() {
	old, now := c.before.Index(), c.after.Index()
	for _, s := range now.Skills() {
		at, ok := old.Lookup(s.Name)
		switch {
		case !ok:
			c.out.Added = append(c.out.Added, s.Name)
			c.added[s.Name] = true
		case old.Skills()[at].Hash != s.Hash || !reflect.DeepEqual(old.Skills()[at].Summary, s.Summary):
			c.out.Edited = append(c.out.Edited, s.Name)
			c.edited[s.Name] = true
		}
	}
	for _, s := range old.Skills() {
		if _, ok := now.Lookup(s.Name); !ok {
			c.out.Removed = append(c.out.Removed, s.Name)
		}
	}
}

// ask asks both for one text.
func (c *comparer) ask(ctx context.Context, text string, right []string, asked bool) error {
	was, err := c.before.Rank(ctx, text, 1, c.allow)
	if err != nil {
		return fmt.Errorf("keeper: before the change: %w", err)
	}
	const deep = 25 // ranks among which the owner is looked for
	is, err := c.after.Rank(ctx, text, deep, c.allow)
	if err != nil {
		return fmt.Errorf("keeper: after the change: %w", err)
	}
	before := len(was) > 0 && slices.Contains(right, was[0].Name)
	after := len(is) > 0 && slices.Contains(right, is[0].Name)
	if !before && after {
		c.out.Gained++
	}
	if !before || after {
		return nil
	}
	m := Move{Text: text, Owner: was[0].Name, Asked: asked, Cause: Shifted}
	if len(is) > 0 {
		m.After, m.Score, m.Margin = is[0].Name, is[0].Evidence, is[0].Evidence
		for i := range is {
			if is[i].Name == m.Owner {
				m.Margin -= is[i].Evidence
			}
		}
	}
	switch {
	case c.added[m.After]:
		m.Cause = Added
	case c.edited[m.After]:
		m.Cause = Changed
	case c.edited[m.Owner]:
		m.Cause = Owned
	case slices.Contains(c.out.Removed, m.Owner):
		m.Cause = Left
	}
	c.out.Taken = append(c.out.Taken, m)
	return nil
}

// Findings are the moves as findings, each about the skill that a text leads to now; after
// is the catalog after the change.
func (c *Comparison) Findings(after *index.Index) []Finding {
	var out []Finding
	for _, m := range c.Taken {
		f := Finding{Rule: "taken-trigger", What: fmt.Sprintf("the trigger %s of %s", quote(m.Text), m.Owner)}
		if m.Asked {
			f.Rule, f.What = "lost-utterance", fmt.Sprintf("the utterance %s, which was for %s,", quote(m.Text), m.Owner)
		}
		r := rule(f.Rule)
		f.Severity, f.Fix = r.Severity, r.Fix
		if m.After == "" {
			f.Skill = m.Owner
			f.What += " now leads nowhere"
		} else {
			f.Skill, f.Others = m.After, []string{m.Owner}
			f.What = fmt.Sprintf("%s now leads to %s (%s; ahead by %.2f)", strings.TrimSuffix(f.What, ","), m.After, m.cause(), m.Margin)
		}
		if at, ok := after.Lookup(f.Skill); ok {
			f.File, f.Line = cutLine(after.Skills()[at].File)
		}
		out = append(out, f)
	}
	return out
}

// cause names the skill that it is about.
func (m *Move) cause() string {
	switch m.Cause {
	case Added, Changed:
		return "which " + string(m.Cause)
	case Owned, Left, Shifted:
	}
	return string(m.Cause)
}

// New returns the findings of r that base does not have: what a change brought. Where the
// files of the two stand makes no difference.
func (r *Report) New(base *Report) []Finding {
	key := func(f *Finding) string {
		return strings.Join([]string{f.Rule, f.Skill, f.Domain, placeless(f.What)}, "\x00")
	}
	known := make(map[string]int)
	for i := range base.Findings {
		known[key(&base.Findings[i])]++
	}
	var out []Finding
	for i := range r.Findings {
		f := &r.Findings[i]
		if k := key(f); known[k] > 0 {
			known[k]--
			continue
		}
		out = append(out, *f)
	}
	return out
}

// placeless is what a finding says without the files of other skills that it names, by a
// path in one word.
func placeless(what string) string {
	words := strings.Fields(what)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool {
		w, _ = cutLine(strings.Trim(w, "(),;"))
		file := path.Base(filepath.ToSlash(w))
		return file != w && strings.EqualFold(file, "SKILL.md") || strings.EqualFold(path.Ext(file), ".jsonl")
	}), " ")
}
