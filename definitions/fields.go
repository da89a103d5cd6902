package definitions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"skillrouter/internal/text"
)

// A front is front matter by key: lower case, "_" read as "-". Keys of ours
// below metadata stand beside those at the top.
type front struct {
	values  map[string]field
	foreign []string // keys at the top that other tools may refuse
	r       *report
}

// specified reports whether a key at the top is one of the Agent Skills
// specification.
func specified(key string) bool {
	switch key {
	case "name", "description", "license", "compatibility", "metadata", "allowed-tools":
		return true
	}
	return false
}

// ownKeys are the keys that a [Skill] is filled from. Those marked may also
// stand below metadata.
func ownKeys() map[string]bool {
	return map[string]bool{
		"name": false, "description": false, "metadata": false, "when-to-use": false, "disable-model-invocation": true,
		"summary": true, "not-for": true, "differs-from": true, "params": true, "triggers": true, "domains": true,
		"from-summary": true, "frequent": true, "manual": true, "lint-off": true,
	}
}

// foreignKeys are keys of other tools that stand at the top of many files and
// are passed over in silence.
func foreignKeys() []string {
	return []string{
		"agent", "agents", "allowed-tools", "argument-hint", "arguments", "author", "authors", "category", "color",
		"command", "compatibility", "context", "date", "date-added", "dependencies", "depends-on", "display-name", "displayname",
		"effort", "globs", "homepage", "hooks", "icon", "id", "keywords", "lang", "language", "languages", "last-updated",
		"license", "license-source", "mcp", "model", "origin", "paths", "plugin", "prerequisites", "priority", "repo", "repository",
		"requires", "risk", "role", "shell", "skills", "source", "source-repo", "source-type", "status", "subdomain", "tags", "title",
		"tools", "type", "updated", "upstream", "url", "user-invocable", "user-invokable", "version",
	}
}

// gather sorts fields by key and reports those that are odd.
func gather(all []field, r *report) *front {
	f := &front{values: map[string]field{}, r: r}
	own, foreign := ownKeys(), foreignKeys()
	var unknown []string
	for _, x := range all {
		key := normalKey(x.key)
		_, known := own[key]
		passed := known || slices.Contains(foreign, key)
		if passed && !specified(key) && !slices.Contains(f.foreign, x.key) {
			f.foreign = append(f.foreign, x.key)
		}
		switch {
		case known:
			if x.key != key && strings.EqualFold(x.key, key) {
				r.add(Note, "key-case", x.line, fmt.Sprintf("key %s is written %s", key, x.key), "write it in lower case")
			}
		case passed:
			continue
		default:
			if meant := nearKey(key, own); meant != "" {
				r.add(Note, "unknown-key", x.line, fmt.Sprintf("key %s is not known and ignored; %s was perhaps meant", quote(x.key), meant), "rename or remove it")
			} else {
				unknown = append(unknown, x.key)
			}
			continue
		}
		if old, twice := f.values[key]; twice {
			if old.key == key && x.key != key {
				continue // another case of a key that is there as it should be
			}
			if old.key != key && x.key == key {
				f.values[key] = x
				continue
			}
			r.add(Warning, "duplicate-key", x.line, fmt.Sprintf("key %s stands twice (lines %d and %d); the last one is used", key, old.line, x.line), "keep one of them")
		}
		f.values[key] = x
	}
	if len(unknown) > 0 {
		r.add(Note, "unknown-key", 0, "keys that are not known, ignored: "+quoteList(unknown), "put them below metadata: other tools refuse unknown keys")
	}
	f.metadata(own)
	return f
}

// metadata adds the keys of ours below metadata.
func (f *front) metadata(own map[string]bool) {
	m, ok := f.values["metadata"]
	if !ok || isNull(m.value) {
		return
	}
	if m.value.Kind != yaml.MappingNode {
		f.r.add(Note, "metadata-form", m.line, "metadata is no map and ignored", "write key: value lines below it")
		return
	}
	inner := map[string]field{}
	for _, x := range pairs(m.value, nil, 0) {
		key := normalKey(x.key)
		if !own[key] {
			if meant := nearKey(key, own); own[meant] && !slices.Contains(foreignKeys(), key) {
				f.r.add(Note, "unknown-key", x.line, fmt.Sprintf("key %s below metadata is not known and ignored; %s was perhaps meant", quote(x.key), meant), "rename or remove it")
			}
			continue
		}
		if old, twice := inner[key]; twice {
			f.r.add(Warning, "duplicate-key", x.line, fmt.Sprintf("key %s stands twice (lines %d and %d); the last one is used", key, old.line, x.line), "keep one of them")
		}
		inner[key] = x
	}
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		x := inner[key]
		if top, twice := f.values[key]; twice && !sameNode(top.value, x.value) {
			f.r.add(Note, "given-twice", x.line, fmt.Sprintf("%s stands below metadata and, different, at the top (line %d); the one below metadata is used", key, top.line), "keep one of them")
		}
		f.values[key] = x
	}
}

func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// line is where a key stands, 0 when it does not.
func (f *front) line(key string) int { return f.values[key].line }

// text returns a key's value as one text, "" when it has none.
func (f *front) text(key string) string {
	x, ok := f.values[key]
	if !ok || isNull(x.value) {
		return ""
	}
	if x.value.Kind == yaml.ScalarNode {
		f.checkScalar(key, x)
		f.checkHidden(key, x.line, x.value.Value)
		return tidy(x.value.Value)
	}
	if items, ok := scalars(x.value); ok && key != "name" {
		f.r.add(Note, "not-text", x.line, key+" is a list; its items are joined", "write one text, in quotes")
		joined := strings.Join(items, ", ")
		f.checkHidden(key, x.line, joined)
		return tidy(joined)
	}
	f.r.add(Note, "not-text", x.line, key+" is no text; it is taken as it is written", "write one text, in quotes")
	return tidy(strings.Join(strings.Fields(x.raw), " "))
}

// checkScalar reports scalars that mean something else to YAML than text.
func (f *front) checkScalar(key string, x field) {
	n := x.value
	if n.Style != 0 {
		return
	}
	if n.LineComment != "" && !strings.Contains(n.Value, "\n") {
		f.r.add(Warning, "comment-cut", x.line, fmt.Sprintf("%s ends at %s, which YAML takes for a comment", key, quote(n.LineComment)), "put the value in quotes")
	}
	switch word := strings.ToLower(n.Value); {
	case n.Tag != "!!str", word == "yes", word == "no", word == "on", word == "off", word == "y", word == "n":
		f.r.add(Note, "not-text", x.line, fmt.Sprintf("%s %s is no text to YAML; it is taken as it is written", key, n.Value), "put it in quotes")
	}
}

// checkHidden reports hidden characters that escapes of a quoted value bring
// in; those that stand in the file were taken out before.
func (f *front) checkHidden(key string, line int, value string) {
	if hidden := hiddenIn(value); len(hidden) > 0 {
		f.r.add(Warning, "hidden-unicode", line, key+" has hidden characters, taken out: "+quoteHidden(hidden), hiddenFix)
	}
}

// list returns a key's value as a list: a YAML list, or one text with "|"
// between the items. Empty items and repetitions are left out.
func (f *front) list(key string) []string {
	x, ok := f.values[key]
	if !ok || isNull(x.value) {
		return nil
	}
	var items []string
	if x.value.Kind == yaml.SequenceNode {
		for _, n := range x.value.Content {
			if n.Kind != yaml.ScalarNode {
				f.r.add(Note, "not-text", n.Line, "an item of "+key+" is no text and ignored", "write it in quotes")
				continue
			}
			if !isNull(n) {
				f.checkHidden(key, n.Line, n.Value)
				items = append(items, n.Value)
			}
		}
	} else {
		items = strings.Split(f.text(key), "|")
	}
	return f.r.list(key, x.line, items)
}

// flag returns a key's value as yes or no, false when it has none.
func (f *front) flag(key string) bool {
	x, ok := f.values[key]
	if !ok || isNull(x.value) {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(x.value.Value)) {
	case "true", "yes", "on", "1", "y":
		return true
	case "false", "no", "off", "0", "n":
		return false
	}
	f.r.add(Warning, "not-flag", x.line, fmt.Sprintf("%s is neither true nor false; false is used", key), "write true or false")
	return false
}

// scalars returns the items of a list that holds only scalars.
func scalars(n *yaml.Node) ([]string, bool) {
	if n.Kind != yaml.SequenceNode {
		return nil, false
	}
	var out []string
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			return nil, false
		}
		out = append(out, c.Value)
	}
	return out, true
}

// tidy takes blanks from the ends of a value, and hidden characters that
// escapes of a quoted value have brought in.
func tidy(s string) string {
	s, _ = text.Clean(normalEnds(s))
	return strings.TrimSpace(s)
}

// hiddenFix is what to do about hidden characters.
const hiddenFix = "take them out of the file; text that nobody sees is how orders are smuggled in"

// hiddenIn returns what [text.Clean] takes out of s.
func hiddenIn(s string) []string {
	_, hidden := text.Clean(normalEnds(s))
	return hidden
}

func isNull(n *yaml.Node) bool { return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func normalKey(key string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), "_", "-")
}

// nearKey returns the key of ours that an unknown one is a slip of, "" for
// none: one letter off, two in long keys.
func nearKey(key string, own map[string]bool) string {
	for _, k := range slices.Sorted(maps.Keys(own)) {
		most := 1
		if len(k) > 6 {
			most = 2
		}
		if len(key) > 3 && text.Distance(key, k) <= most {
			return k
		}
	}
	return ""
}

// quoteList shows names from a file in a message, at most some of them.
func quoteList(names []string) string {
	const most = 6
	shown := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		shown = append(shown, quote(n))
	}
	s := strings.Join(shown, ", ")
	if n := len(names) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
