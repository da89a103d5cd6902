package keeper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// DraftSummaries drafts, by rules, what the authors of skills did not write: the sentence of
// at most 50 characters, three to five triggers, what a skill is not for, how it differs
// from one that is confusable with it, its parameters, and whether it can be called from its
// summary alone. Each draft notes what rules cannot know and a person has to. A skill of
// which nothing can be drafted, as its author wrote it or rules cannot, has none.
//
// Triggers are suggested, not drafted: those that are written count for routing as what
// users say, and words of the description are not that. Taken over as they are they cost
// 7 points of hit@1 on 148 real skills.
//
// The catalog is needed. It fails when ctx ends. A nil o means the zero LintOptions.
func DraftSummaries(ctx context.Context, ix *index.Index, o *LintOptions) ([]domains.SkillDraft, error) {
	if o == nil || o.Catalog == nil {
		return nil, fmt.Errorf("keeper: no catalog to draft summaries from: the folders of the skills are needed")
	}
	l := newLinter(ix, o)
	if err := l.confusable(ctx); err != nil {
		return nil, err
	}
	alike := make(map[string]Finding)
	for _, f := range l.found {
		if f.Rule == "confusable" {
			if _, ok := alike[f.Skill]; !ok {
				alike[f.Skill] = f
			}
		}
	}
	var out []domains.SkillDraft
	for i := range l.skills {
		s := &l.skills[i]
		if s.definition == nil || s.Summary.Manual {
			continue
		}
		d, err := l.draft(ctx, s, alike[s.Name])
		if err != nil {
			return nil, err
		}
		if d != nil {
			out = append(out, *d)
		}
	}
	return out, nil
}

// draft is the draft of one skill, nil if nothing is missing.
func (l *linter) draft(ctx context.Context, s *subject, alike Finding) (*domains.SkillDraft, error) {
	d := &domains.SkillDraft{Skill: s.Name}
	o := &d.Override
	note := func(format string, args ...any) { d.Notes = append(d.Notes, fmt.Sprintf(format, args...)) }
	p := summaries.Read(s.definition)
	if s.Summary.Derived && s.Summary.Text != "" {
		o.Summary = strings.TrimRight(s.Summary.Text, "… ")
		if len(p.When) == 0 {
			note("summary: add when to use it")
		}
		if s.Summary.NotFor == "" {
			note("summary: add its limit")
		}
	}
	if !s.written {
		if d.Triggers = l.draftTriggers(s, p); len(d.Triggers) < summaries.MinTriggers {
			note("triggers: write three to five that users say")
		} else {
			note("triggers: words of the description; write them as users say it, then take the # away")
		}
	}
	if s.definition.NotFor == "" {
		if s.Summary.NotFor != "" {
			o.NotFor = s.Summary.NotFor
		} else {
			note("not-for: say what it cannot do")
		}
	}
	if alike.Skill != "" && s.Summary.DiffersFrom == "" {
		other := alike.Others[0]
		o.DiffersFrom = other + ": that one is for " + l.gist(other)
		o.DiffersFrom = text.Cut(o.DiffersFrom, text.Limit(o.DiffersFrom, summaries.SentenceLimit))
		note("differs-from: it is easily taken for %s; say what sets it apart", other)
	}
	if err := l.draftRule(ctx, s, d); err != nil {
		return nil, err
	}
	if o.Summary == "" && o.NotFor == "" && o.DiffersFrom == "" && o.Params == "" && o.FromSummary == nil {
		return nil, nil
	}
	return d, nil
}

// draftRule drafts the rule of layer 3 (D6): simple parameters are shown with the summary,
// which then suffices; complex ones need the definition, which is the default.
func (l *linter) draftRule(ctx context.Context, s *subject, d *domains.SkillDraft) error {
	params, err := Parameters(ctx, l.o.Catalog.Source(), s.definition)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		d.Notes = append(d.Notes, err.Error())
		return nil
	case len(params) == 0 || s.Summary.FromSummary:
		return nil
	}
	if s.Summary.Params == "" {
		if h := hint(params); text.Len(h) <= text.Limit(h, summaries.ParamsLimit) {
			d.Override.Params = h
		}
	}
	if callable(params, s.definition, text.Tokens(s.definition.Core)) && (s.Summary.Params != "" || d.Override.Params != "") {
		yes := true
		d.Override.FromSummary = &yes
		d.Notes = append(d.Notes, "from-summary: its parameters are simple; the definition need not be loaded to call it")
	}
	return nil
}

// draftTriggers are the triggers that a description holds, without those that no user says.
func (l *linter) draftTriggers(s *subject, p summaries.Parts) []string {
	all := s.Summary.Triggers
	if len(p.When) == 0 && len(p.Lists) == 0 && len(all) == 1 {
		all = nil // the name, or the only sentence over again
	}
	var out []string
	for _, t := range all {
		if l.whyUnsaid(t, s.Name) == "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out[:min(len(out), summaries.ShownTriggers)]
}

// gist is what a skill can do, in a few words.
func (l *linter) gist(name string) string {
	s := l.byName[name]
	if s == nil {
		return "…"
	}
	const short = 30
	g := summaries.Gist(&s.Summary, short)
	if g == "" {
		g = text.Cut(s.Summary.Text, text.Limit(s.Summary.Text, short))
	}
	return strings.TrimRight(g, ". ")
}

// An Exported skill is a row of a table of a catalog (M1).
type Exported struct {
	Name        string
	Domains     []string
	Description string
	Summary     string
	Derived     bool // the summary is
	Triggers    []string
	NotFor      string
	Parameters  []Parameter
	Manual      bool
	File        string
}

// Export returns the skills of an index as rows, in catalog order. Without a catalog they
// have no parameters but those of summaries. It fails when ctx ends, and where a tools.json
// cannot be read.
func Export(ctx context.Context, ix *index.Index, c *definitions.Catalog, allow func(name string) bool) ([]Exported, error) {
	l := newLinter(ix, &LintOptions{Catalog: c, Allow: allow})
	out := make([]Exported, 0, len(l.skills))
	for i := range l.skills {
		s := &l.skills[i]
		x := Exported{
			Name: s.Name, Description: s.Description, Summary: s.Summary.Text, Derived: s.Summary.Derived,
			Triggers: s.Summary.Triggers, NotFor: s.Summary.NotFor, Manual: s.Summary.Manual, File: s.File,
		}
		for _, d := range s.domains {
			x.Domains = append(x.Domains, ix.Domains()[d].Name)
		}
		known := definitions.Skill{Name: s.Name, Params: s.Summary.Params}
		var source *definitions.Source
		if s.definition != nil {
			known.Ref, known.Docs, source = s.definition.Ref, s.definition.Docs, c.Source()
		}
		var err error
		if x.Parameters, err = Parameters(ctx, source, &known); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
