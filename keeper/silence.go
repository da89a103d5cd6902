package keeper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"skillrouter/domains"
)

// A silence is a lint-off of a file, and whether it silenced something.
type silence struct {
	domains.Silence
	skill string // whose file it stands in; "" in skillrouter.yaml
	used  bool
}

// silences returns all of the catalog.
func (l *linter) silences() []silence {
	var out []silence
	for _, s := range l.overrides().LintOff {
		out = append(out, silence{Silence: s})
	}
	for i := range l.skills {
		d := l.skills[i].definition
		if d == nil {
			continue
		}
		for _, entry := range d.LintOff {
			id, reason, _ := strings.Cut(entry, ":")
			out = append(out, silence{
				Silence: domains.Silence{Rule: strings.TrimSpace(id), Skills: []string{d.Name}, Reason: strings.TrimSpace(reason), File: l.skills[i].file},
				skill:   d.Name,
			})
		}
	}
	return out
}

// silence parts findings into those to report and those that are silenced, and adds what is
// to be said of the silences.
func (l *linter) silence(all []Finding) (found, silenced []Finding) {
	silences := l.silences()
	for _, f := range all {
		for i := range silences {
			if s := &silences[i]; s.Reason != "" && s.covers(&f, l) {
				s.used = true
				f.Silenced = s.Reason
			}
		}
		if f.Silenced != "" {
			silenced = append(silenced, f)
		} else {
			found = append(found, f)
		}
	}
	for i := range silences {
		s := &silences[i]
		f := Finding{Skill: s.skill, File: s.File, Line: s.Line}
		switch {
		case s.Reason == "":
			f.Rule, f.What = "silence-without-reason", fmt.Sprintf("lint-off of %s has no reason and is not heeded", s.Rule)
			if s.skill != "" {
				f.Fix = fmt.Sprintf("write %q", s.Rule+": why it does not matter here")
			}
		case !s.used && l.looked(s):
			f.Rule, f.What = "silence-unused", fmt.Sprintf("lint-off of %s silences nothing", s.Rule)
		default:
			continue
		}
		f.Severity, f.Fix = l.rules[f.Rule].Severity, cmp.Or(f.Fix, l.rules[f.Rule].Fix)
		found = append(found, f)
	}
	return found, silenced
}

// looked tells whether what a silence is about was looked at: what was not may be there.
func (l *linter) looked(s *silence) bool {
	switch s.Rule {
	case "languages", "unknown-language":
		return len(l.o.Languages) > 0
	case "lost-trigger":
		return l.o.Embedder != nil
	}
	return l.o.Allow == nil || len(s.Skills) == 0 || slices.ContainsFunc(s.Skills, l.o.Allow)
}

// covers tells whether a silence is about a finding. One about two skills is silenced by
// either.
func (s *silence) covers(f *Finding, l *linter) bool {
	if s.Rule != f.Rule {
		return false
	}
	if len(s.Skills) == 0 && len(s.Domains) == 0 {
		return true
	}
	skills := append([]string{f.Skill}, f.Others...)
	if f.Skill == "" {
		skills = nil
	}
	if slices.ContainsFunc(s.Skills, func(name string) bool { return slices.Contains(skills, name) }) {
		return true
	}
	return slices.ContainsFunc(s.Domains, func(name string) bool {
		if f.Domain != "" || len(skills) == 0 {
			return f.Domain == name
		}
		d, ok := l.ix.LookupDomain(name)
		return ok && l.byName[f.Skill] != nil && slices.Contains(l.byName[f.Skill].domains, d)
	})
}
