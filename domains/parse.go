package domains

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"skillrouter/definitions"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// Bounds of a skillrouter.yaml.
const (
	maxFile        = 16 << 20 // bytes; 100,000 skills with overrides are some 10 MB
	maxDepth       = 16       // levels of nesting
	maxName        = 64       // runes of a domain's name
	maxDescription = 500      // characters of a domain's description, white space not counted
)

// ParseFile reads a skillrouter.yaml strictly; path is what problems call it. Every unknown
// key, wrong type or value, and every setting that a catalog may not make, is a problem
// with its line, and only that entry is left out. A file that is no YAML, not UTF-8, or
// uses aliases, anchors or tags is left out whole. The File is never nil.
func ParseFile(path string, data []byte) (*File, []definitions.Problem) {
	p := parser{path: path, order: definitions.OrderFinder()}
	f := &File{Skills: make(map[string]summaries.Override), skillsAt: make(map[string]position)}
	if root := p.root(data); root != nil {
		p.file(f, root)
	}
	return f, p.problems
}

type parser struct {
	path     string
	order    func(text string) string // what in it gives orders to the agent
	problems []definitions.Problem
}

// fail reports an error at a line; 0 means the whole file.
func (p *parser) fail(line int, kind, fix, format string, args ...any) {
	p.report(definitions.Error, line, kind, fix, format, args...)
}

func (p *parser) report(severity definitions.Severity, line int, kind, fix, format string, args ...any) {
	p.problems = append(p.problems, definitions.Problem{
		File: p.path, Line: line, Severity: severity, Kind: kind, What: fmt.Sprintf(format, args...), Fix: fix,
	})
}

// root returns the file's mapping, or nil if it has none that may be used.
func (p *parser) root(data []byte) *yaml.Node {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(data) > maxFile:
		p.fail(0, "config-size", "split the catalog", "file has %d bytes, at most %d", len(data), maxFile)
		return nil
	case !utf8.Valid(data):
		p.fail(invalidLine(data), "config-encoding", "save it as UTF-8", "file is not UTF-8")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if !errors.Is(err, io.EOF) {
			p.syntax(data, err)
		}
		return nil
	}
	if err := decoder.Decode(&second); err == nil {
		p.fail(second.Line, "config-syntax", "keep one document", "a second YAML document; it is not used")
	} else if !errors.Is(err, io.EOF) {
		p.syntax(data, err)
		return nil
	}
	if len(document.Content) == 0 {
		return nil
	}
	root := document.Content[0]
	if !p.harmless(root, 0) {
		return nil
	}
	if isNull(root) {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		p.fail(root.Line, "config-type", "begin with domains:, skills: or routing:", "the file must be a mapping, not %s", kindName(root))
		return nil
	}
	return root
}

// invalidLine returns the line of the first byte that is not UTF-8.
func invalidLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}

// syntax reports that data is no YAML. The library's line is that of the construct around
// the fault, so the first line that makes the text wrong is looked for instead.
func (p *parser) syntax(data []byte, err error) {
	line, what := 0, strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(what, "line "); ok {
		number, reason, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, what = n, reason
		}
	}
	const most = 1 << 20
	if len(data) <= most {
		line = wrongLine(bytes.SplitAfter(data, []byte("\n")))
	}
	p.fail(line, "config-syntax", "correct the YAML; nothing of this file is used until then", "%s", what)
}

// wrongLine returns the number of the first line after which no more lines make a text that
// is YAML. A text cut inside a quote or a list is none either, so some lines more are tried.
func wrongLine(lines [][]byte) int {
	valid := func(n int) bool {
		decoder := yaml.NewDecoder(bytes.NewReader(bytes.Join(lines[:n], nil)))
		for {
			var n yaml.Node
			if err := decoder.Decode(&n); err != nil {
				return errors.Is(err, io.EOF)
			}
		}
	}
	const ahead = 40
	good, bad := 0, len(lines) // valid, not valid
	for good+1 < bad {
		middle := (good + bad) / 2
		if valid(middle) {
			good = middle
		} else {
			bad = middle
		}
		for n := min(good+ahead, len(lines)-1); good+1 == bad && n > good; n-- {
			if valid(n) {
				good, bad = n, len(lines)
			}
		}
	}
	return good + 1
}

// harmless reports whether the tree has no alias, anchor, tag or deep nesting.
func (p *parser) harmless(n *yaml.Node, depth int) bool {
	const fix = "write the value out; nothing of this file is used until then"
	switch {
	case n.Kind == yaml.AliasNode:
		p.fail(n.Line, "config-alias", fix, "YAML alias *%s is not allowed", n.Value)
	case n.Anchor != "":
		p.fail(n.Line, "config-alias", fix, "YAML anchor &%s is not allowed", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		p.fail(n.Line, "config-alias", fix, "YAML tag %s is not allowed", n.Tag)
	case depth > maxDepth:
		p.fail(n.Line, "config-depth", fix, "nested deeper than %d levels", maxDepth)
	default:
		for _, c := range n.Content {
			if !p.harmless(c, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// kindName names a node's type for people.
func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return "empty"
		case "!!bool":
			return "true or false"
		case "!!int", "!!float":
			return "a number"
		case "!!timestamp":
			return "a date"
		}
		return "text"
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return "something else"
}

// file reads the top level.
func (p *parser) file(f *File, root *yaml.Node) {
	p.mapping(root, "the file", func(key string, value *yaml.Node) bool {
		switch key {
		case "domains":
			p.domains(f, value)
		case "skills":
			p.skills(f, value)
		case "routing":
			p.routing(&f.Routing, value)
		case "lint-off":
			f.LintOff = p.silences(value)
		default:
			return false
		}
		return true
	}, "domains", "skills", "routing", "lint-off")
}

// mapping calls read for each key of n, in kebab case, once. read returns false for a key
// that it does not know; known lists those it does, for the message.
func (p *parser) mapping(n *yaml.Node, where string, read func(key string, value *yaml.Node) bool, known ...string) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "config-type", "write keys and values: "+strings.Join(known, ", "), "%s must be a mapping, not %s", where, kindName(n))
		return
	}
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		node := n.Content[i]
		key := node.Value
		if len(known) > 0 {
			key = strings.ReplaceAll(key, "_", "-")
		}
		if node.Kind != yaml.ScalarNode {
			p.fail(node.Line, "config-type", "use a word as key", "a key of %s is %s", where, kindName(node))
			continue
		}
		if first, ok := seen[key]; ok {
			p.fail(node.Line, "config-duplicate", "remove one of the two; the first is used", "%q is given a second time in %s, first in line %d", key, where, first)
			continue
		}
		seen[key] = node.Line
		if read(key, n.Content[i+1]) {
			continue
		}
		if foreign(key) {
			p.fail(node.Line, "config-forbidden", "give it by flag, environment or --config",
				"%q in %s: a catalog cannot set endpoints, keys, listeners or stores", key, where)
			continue
		}
		p.fail(node.Line, "config-unknown-key", "use one of: "+strings.Join(known, ", "), "unknown key %q in %s", key, where)
	}
}

// foreign reports whether a key is, or sounds like, a setting that only the operator may
// make, so that the message can say where it belongs.
func foreign(key string) bool {
	key = strings.ToLower(key)
	for _, part := range strings.Split(key, "-") {
		switch part {
		case "endpoint", "endpoints", "url", "baseurl", "key", "apikey", "token", "secret", "password", "listen", "listener", "addr", "address", "host", "port",
			"store", "database", "db", "dsn", "redis", "valkey", "postgres", "pgvector", "embedder", "embedding", "provider", "openai", "server", "proxy", "cache", "header", "headers":
			return true
		}
	}
	return false
}

// domains reads the list of domains.
func (p *parser) domains(f *File, n *yaml.Node) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n.Line, "config-type", `write "- name: …" for each domain`, "domains must be a list, not %s", kindName(n))
		return
	}
	seen := make(map[string]int)
	for _, item := range n.Content {
		d := FileDomain{at: position{p.path, item.Line}}
		p.domain(&d, item)
		key := text.Fold(d.Name)
		switch first, twice := seen[key]; {
		case d.Name == "":
			if item.Kind == yaml.MappingNode {
				p.fail(item.Line, "config-value", "give it a name", "a domain without a usable name; it is not used")
			}
		case twice:
			p.fail(item.Line, "config-duplicate", "make it one domain", "domain %q is given a second time, first in line %d; the second is not used", d.Name, first)
		default:
			seen[key] = item.Line
			f.Domains = append(f.Domains, d)
		}
	}
}

func (p *parser) domain(d *FileDomain, n *yaml.Node) {
	p.mapping(n, "a domain", func(key string, value *yaml.Node) bool {
		switch key {
		case "name":
			d.Name = p.text(value, key)
			if count := utf8.RuneCountInString(d.Name); count > maxName {
				p.fail(value.Line, "config-value", "choose a shorter name", "name has %d characters, at most %d", count, maxName)
				d.Name = ""
			}
		case "description":
			d.Description = p.text(value, key)
			if count := text.Len(d.Description); count > maxDescription {
				p.fail(value.Line, "config-value", "say it shorter", "description has %d characters, at most %d; the rest is not used", count, maxDescription)
				d.Description = text.Cut(d.Description, maxDescription)
			}
		case "keywords":
			d.Keywords, _ = p.list(value, key)
		case "fallback":
			d.Fallback = p.truth(value, key)
		case "folder", "folders":
			folders, at := p.list(value, key)
			for i, folder := range folders {
				if clean := path.Clean(strings.TrimSuffix(folder, "/")); path.IsAbs(clean) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") {
					p.fail(at[i].line, "config-value", "name a folder below the catalog's root", "folder %q leads out of the catalog", folder)
				} else {
					d.Folders = append(d.Folders, clean)
					d.foldersAt = append(d.foldersAt, at[i])
				}
			}
		case "skills":
			d.Skills, d.skillsAt = p.list(value, key)
		default:
			return false
		}
		return true
	}, "name", "description", "keywords", "fallback", "folder", "skills")
}

// skills reads the overrides.
func (p *parser) skills(f *File, n *yaml.Node) {
	p.mapping(n, "skills", func(name string, value *yaml.Node) bool {
		var o summaries.Override
		p.override(&o, value, name)
		f.Skills[name] = o
		f.skillsAt[name] = position{p.path, value.Line}
		return true
	})
}

func (p *parser) override(o *summaries.Override, n *yaml.Node, name string) {
	p.mapping(n, fmt.Sprintf("skill %q", name), func(key string, value *yaml.Node) bool {
		switch key {
		case "summary":
			o.Summary = p.text(value, key)
		case "triggers":
			o.Triggers, _ = p.list(value, key)
		case "not-for":
			o.NotFor = p.text(value, key)
		case "differs-from":
			o.DiffersFrom = p.text(value, key)
		case "params":
			o.Params = p.text(value, key)
		case "domains":
			o.Domains, _ = p.list(value, key)
		case "from-summary":
			o.FromSummary = p.flag(value, key)
		case "frequent":
			o.Frequent = p.flag(value, key)
		case "manual":
			o.Manual = p.flag(value, key)
		default:
			return false
		}
		return true
	}, "summary", "triggers", "not-for", "differs-from", "params", "domains", "from-summary", "frequent", "manual")
}

func (p *parser) routing(r *Routing, n *yaml.Node) {
	p.mapping(n, "routing", func(key string, value *yaml.Node) bool {
		switch key {
		case "threshold":
			r.Threshold = p.number(value, key, 1, false)
		case "max-summaries":
			r.MaxSummaries = int(p.number(value, key, math.MaxInt32, true))
		case "max-domains":
			r.MaxDomains = int(p.number(value, key, math.MaxInt32, true))
		case "summary-turns":
			r.SummaryTurns = int(p.number(value, key, math.MaxInt32, true))
		case "stalled-turns":
			r.StalledTurns = int(p.number(value, key, math.MaxInt32, true))
		case "index-limit":
			r.IndexLimit = int(p.number(value, key, math.MaxInt32, true))
		case "mode":
			mode := p.text(value, key)
			if mode != "" && !slices.Contains([]string{"auto", "flat", "layered"}, mode) {
				p.fail(value.Line, "config-value", "use auto, flat or layered", "unknown mode %q", mode)
				mode = ""
			}
			r.Mode = mode
		case "calibration":
			p.calibration(&r.Calibration, value)
		default:
			return false
		}
		return true
	}, "threshold", "max-summaries", "max-domains", "summary-turns", "stalled-turns", "index-limit", "mode", "calibration")
}

// calibration reads a correction of scores, or nothing of it if it is not whole.
func (p *parser) calibration(c *Calibration, n *yaml.Node) {
	var read Calibration
	given := false // a slope, right or wrong
	p.mapping(n, "calibration", func(key string, value *yaml.Node) bool {
		switch key {
		case "slope":
			given = true
			read.Slope = p.between(value, key, leastSlope, mostSlope)
		case "shift":
			read.Shift = p.between(value, key, -mostShift, mostShift)
		case "embedder":
			read.Embedder = p.text(value, key)
		default:
			return false
		}
		return true
	}, "slope", "shift", "embedder")
	switch {
	case read.Slope != 0:
		*c = read
	case !given && n.Kind == yaml.MappingNode:
		p.fail(n.Line, "config-value", "run skillrouter tune to fit it, or remove it", "calibration without a slope; it is not used")
	}
}

// Bounds of a calibration: beyond them scores would be all or nothing.
const (
	leastSlope = 0.1
	mostSlope  = 10
	mostShift  = 10
)

// between reads a number; 0 and a problem if n is none, or not between least and most.
func (p *parser) between(n *yaml.Node, key string, least, most float64) float64 {
	var v float64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil || !(v >= least && v <= most) {
		want := fmt.Sprintf("a number from %g to %g", least, most)
		p.fail(n.Line, "config-value", "write "+want, "%s must be %s, not %q", key, want, n.Value)
		return 0
	}
	return v
}

// silences reads the list of lint-off. That a reason is missing is for lint to tell.
func (p *parser) silences(n *yaml.Node) []Silence {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n.Line, "config-type", `write "- rule: …" for each rule`, "lint-off must be a list, not %s", kindName(n))
		return nil
	}
	var out []Silence
	for _, item := range n.Content {
		s := Silence{File: p.path, Line: item.Line}
		p.mapping(item, "an entry of lint-off", func(key string, value *yaml.Node) bool {
			switch key {
			case "rule":
				s.Rule = p.text(value, key)
			case "skills":
				s.Skills, _ = p.list(value, key)
			case "domains":
				s.Domains, _ = p.list(value, key)
			case "reason":
				s.Reason = p.text(value, key)
			default:
				return false
			}
			return true
		}, "rule", "skills", "domains", "reason")
		switch {
		case s.Rule != "":
			out = append(out, s)
		case item.Kind == yaml.MappingNode:
			p.fail(item.Line, "config-value", "name a rule; `skillrouter lint --rules` lists them", "an entry of lint-off without a usable rule; it is not used")
		}
	}
	return out
}

// text reads a text as one line; "" and a problem if n is something else. Hidden characters
// are taken out and reported.
func (p *parser) text(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		fix := "write text"
		if n.Kind == yaml.ScalarNode && !isNull(n) {
			fix = fmt.Sprintf("put it in quotes: %q", n.Value)
		}
		p.fail(n.Line, "config-type", fix, "%s must be text, not %s", key, kindName(n))
		return ""
	}
	clean, hidden := text.Clean(n.Value)
	if len(hidden) > 0 {
		p.report(definitions.Warning, n.Line, "hidden-characters", "remove them", "%s holds hidden characters, which are taken out: %q", key, strings.Join(hidden, " "))
	}
	clean = oneLine(clean)
	if clean == "" {
		p.fail(n.Line, "config-value", "write text or remove the key", "%s is empty", key)
	}
	if order := p.order(clean); order != "" {
		p.report(definitions.Note, n.Line, "orders", "read the file before you trust it; say what skills do, not what the agent must obey", "a text in %s gives orders to the agent: %q", key, order)
	}
	return clean
}

// oneLine returns s with all white space made single blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// list reads a list of texts, or one text with items separated by "|", without repeats.
func (p *parser) list(n *yaml.Node, key string) ([]string, []position) {
	nodes := n.Content
	switch n.Kind {
	case yaml.SequenceNode:
	case yaml.ScalarNode:
		nodes = []*yaml.Node{n}
	case yaml.MappingNode, yaml.DocumentNode, yaml.AliasNode:
		p.fail(n.Line, "config-type", "write a list: [a, b]", "%s must be a list of texts, not %s", key, kindName(n))
		return nil, nil
	}
	var out []string
	var at []position
	for _, item := range nodes {
		s := p.text(item, key)
		parts := []string{s}
		if n.Kind == yaml.ScalarNode {
			parts = strings.Split(s, "|")
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
				out = append(out, part)
				at = append(at, position{p.path, item.Line})
			}
		}
	}
	return out, at
}

// truth reads true or false; false and a problem if n is something else.
func (p *parser) truth(n *yaml.Node, key string) bool {
	b := p.flag(n, key)
	return b != nil && *b
}

// flag is truth that tells false from not given.
func (p *parser) flag(n *yaml.Node, key string) *bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		p.fail(n.Line, "config-type", "write true or false", "%s must be true or false, not %s", key, kindName(n))
		return nil
	}
	b := strings.EqualFold(n.Value, "true")
	return &b
}

// number reads a number from 0 to most; 0 in the file is off and becomes -1, and 0 is
// returned, with a problem, if n is no such number.
func (p *parser) number(n *yaml.Node, key string, most float64, whole bool) float64 {
	want := fmt.Sprintf("a number from 0 (off) to %g", most)
	if whole {
		want = "a whole number, 0 (off) or more"
	}
	var v float64
	numeric := n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float" && !whole)
	if !numeric || n.Decode(&v) != nil || math.IsNaN(v) || v < 0 || v > most {
		p.fail(n.Line, "config-value", "write "+want, "%s must be %s, not %q", key, want, n.Value)
		return 0
	}
	if v == 0 {
		return -1
	}
	return v
}
