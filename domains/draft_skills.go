package domains

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"skillrouter/definitions"
	"skillrouter/summaries"
)

// A SkillDraft is what may be said of one skill in a skillrouter.yaml.
type SkillDraft struct {
	Skill    string
	Override summaries.Override // Domains is not written
	Triggers []string           // words that may lead to triggers of users: written as a comment, to be edited first
	Notes    []string           // what a person should look at, a comment each
}

// DraftSkills writes drafts as the overrides of a skillrouter.yaml. Existing is the file that
// is there, or nothing. All its bytes stay, in their order: drafts are added at the end of
// its skills, and a skill that it has is left as it is, so that drafting again adds nothing
// and what was edited is never overwritten. An empty draft is left out.
//
// The error wraps [ErrNotExtended] where existing cannot be read, or written on: it says
// what to do.
func DraftSkills(drafts []SkillDraft, existing []byte) ([]byte, error) {
	before, problems := ParseFile("skillrouter.yaml", existing)
	for _, p := range problems {
		if p.Severity == definitions.Error {
			return nil, fmt.Errorf("%w: correct it first: %s", ErrNotExtended, p)
		}
	}
	var added strings.Builder
	count := 0
	for i := range drafts {
		if _, there := before.Skills[drafts[i].Skill]; there {
			continue
		}
		if s := drafts[i].text(); s != "" {
			added.WriteString(s)
			count++
		}
	}
	if count == 0 {
		return existing, nil
	}
	out, err := putSkills(added.String(), existing)
	if err != nil {
		return nil, err
	}
	after, more := ParseFile("skillrouter.yaml", out)
	if len(more) > len(problems) || !keepsAll(before, after, count) {
		return nil, fmt.Errorf("%w: draft to another file and copy what you like", ErrNotExtended)
	}
	return out, nil
}

// draftedBy marks what DraftSkills adds.
const draftedBy = "Drafted by skillrouter: edit as you like."

// putSkills puts lines, without indent, into the skills of a file.
func putSkills(lines string, existing []byte) ([]byte, error) {
	lines = "# " + draftedBy + "\n" + lines
	if len(bytes.TrimSpace(bytes.TrimPrefix(existing, []byte("\xef\xbb\xbf")))) == 0 {
		return []byte(string(existing) + "skills:\n" + indent(lines, 2)), nil
	}
	d := drafter{text: existing}
	var document yaml.Node
	if err := yaml.Unmarshal(existing, &document); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotExtended, err)
	}
	end := bytes.Count(existing, []byte("\n")) + 1
	if bytes.HasSuffix(existing, []byte("\n")) {
		end--
	}
	skills, next := valueOf(&document, "skills")
	switch {
	case skills == nil && len(document.Content) == 0: // comments alone
		d.put(end+1, "skills:\n"+indent(lines, 2))
	case skills == nil && document.Content[0].Style&yaml.FlowStyle != 0, skills != nil && skills.Style&yaml.FlowStyle != 0:
		return nil, fmt.Errorf("%w: write skills with a line for each, not in braces", ErrNotExtended)
	case skills == nil:
		d.put(end+1, "\nskills:\n"+indent(lines, 2))
	case isNull(skills):
		d.put(d.above(skills.Line, next, end), indent(lines, 2))
	default:
		d.put(d.above(skills.Line, next, end), indent(lines, skills.Content[0].Column-1))
	}
	return d.apply(), nil
}

// keepsAll reports whether after says all that before does, and count skills more.
func keepsAll(before, after *File, count int) bool {
	if len(after.Skills) != len(before.Skills)+count || len(after.Domains) != len(before.Domains) {
		return false
	}
	without := *after
	without.Skills = make(map[string]summaries.Override, len(before.Skills))
	for name, o := range before.Skills {
		if !reflect.DeepEqual(o, after.Skills[name]) {
			return false
		}
		without.Skills[name] = o
	}
	return keeps(before, &without)
}

// text is the entry of a draft, without indent; "" for one that says nothing.
func (d *SkillDraft) text() string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			b.WriteString("  " + key + ": " + scalar(value) + "\n")
		}
	}
	o := &d.Override
	line("summary", o.Summary)
	if len(o.Triggers) > 0 {
		b.WriteString("  triggers: " + flow(o.Triggers) + "\n")
	}
	line("not-for", o.NotFor)
	line("differs-from", o.DiffersFrom)
	line("params", o.Params)
	for _, flag := range []struct {
		key string
		on  *bool
	}{{"from-summary", o.FromSummary}, {"frequent", o.Frequent}, {"manual", o.Manual}} {
		if flag.on != nil {
			fmt.Fprintf(&b, "  %s: %v\n", flag.key, *flag.on)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	var notes strings.Builder
	for _, n := range d.Notes {
		notes.WriteString("  # " + remark(n) + "\n")
	}
	if len(d.Triggers) > 0 {
		notes.WriteString("  # triggers: " + remark(flow(d.Triggers)) + "\n")
	}
	return scalar(d.Skill) + ":\n" + notes.String() + b.String()
}

// flow writes texts as a list in brackets.
func flow(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = scalar(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
