package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// ourEvents are the events of Claude Code that the hook is set up for, in the
// order in which they are written: before each prompt, and when what it was
// given is gone from its context.
func ourEvents() []hookSetting {
	return []hookSetting{{event: "UserPromptSubmit"}, {event: "SessionStart", matcher: "clear|compact"}}
}

type hookSetting struct{ event, matcher string }

// hookTimeout is how many seconds a client waits before it gives the hook up,
// which ends by itself within one.
const hookTimeout = 5

// A claudeSettings is a settings.json of Claude Code. It is changed without a
// touch on anything but our entries and, if need be, the white space of "hooks".
type claudeSettings struct {
	doc    hujson.Value
	indent string
	crlf   bool
	marked bool // begins with a byte order mark
}

const byteOrderMark = "\xef\xbb\xbf"

// parseClaudeSettings reads a settings.json; an empty one is as good as {}. The
// error names the line.
func parseClaudeSettings(data []byte) (*claudeSettings, error) {
	data, marked := bytes.CutPrefix(data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	var any map[string]json.RawMessage
	if err := json.Unmarshal(data, &any); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		return nil, errors.New("it holds no JSON object")
	}
	doc, err := hujson.Parse(data)
	if err != nil {
		return nil, err
	}
	if _, ok := doc.Value.(*hujson.Object); !ok {
		return nil, errors.New("it holds no JSON object") // null
	}
	s := &claudeSettings{doc: doc, indent: "  ", crlf: bytes.Contains(data, []byte("\r\n")), marked: marked}
	if _, after, ok := bytes.Cut(data, []byte("\n")); ok {
		if n := len(after) - len(bytes.TrimLeft(after, " \t")); n > 0 {
			s.indent = string(after[:n])
		}
	}
	return s, s.check()
}

// memberOf returns the value of a key of an object, nil if there is none.
func memberOf(object *hujson.Object, key string) *hujson.Value {
	for i := range object.Members {
		if name, ok := object.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			return &object.Members[i].Value
		}
	}
	return nil
}

// twice returns the keys that an object has more than once.
func twice(object *hujson.Object) []string {
	var keys []string
	times := map[string]int{}
	for i := range object.Members {
		if name, ok := object.Members[i].Name.Value.(hujson.Literal); ok {
			if times[name.String()]++; times[name.String()] == 2 {
				keys = append(keys, name.String())
			}
		}
	}
	return keys
}

func removeMember(object *hujson.Object, key string) {
	object.Members = slices.DeleteFunc(object.Members, func(m hujson.ObjectMember) bool {
		name, ok := m.Name.Value.(hujson.Literal)
		return ok && name.String() == key
	})
}

func (s *claudeSettings) root() *hujson.Object { return s.doc.Value.(*hujson.Object) } //nolint:forcetypeassert // parse checked it

// check says what of "hooks" is not as Claude Code has it, as far as we touch it.
// A key that stands twice in it is refused: the client reads the last one alone,
// and a change would have to choose.
func (s *claudeSettings) check() error {
	hooks := memberOf(s.root(), "hooks")
	if hooks == nil {
		return nil
	}
	if slices.Contains(twice(s.root()), "hooks") {
		return errors.New(`"hooks" stands twice`)
	}
	for v := range hooks.All() {
		if o, ok := v.Value.(*hujson.Object); ok && len(twice(o)) > 0 {
			return fmt.Errorf(`"hooks": %q stands twice`, twice(o)[0])
		}
	}
	events, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return errors.New(`"hooks" is no object`)
	}
	for _, want := range ourEvents() {
		if of := memberOf(events, want.event); of != nil {
			if _, ok := of.Value.(*hujson.Array); !ok {
				return fmt.Errorf(`"hooks": %q is no list`, want.event)
			}
		}
	}
	return nil
}

// A hookHandler is one entry that runs the hook.
type hookHandler struct {
	event, matcher, command string
}

// each calls do for every handler of ours; what it returns takes its place, nil
// removes it. Lists that become empty by that are removed too.
func (s *claudeSettings) each(do func(h hookHandler, v *hujson.Value) *hujson.Value) {
	hooks := memberOf(s.root(), "hooks")
	if hooks == nil {
		return
	}
	events, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return
	}
	for _, m := range slices.Clone(events.Members) {
		name, _ := m.Name.Value.(hujson.Literal)
		groups, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		groups.Elements = filterValues(groups.Elements, func(group *hujson.Value) bool {
			o, ok := group.Value.(*hujson.Object)
			if !ok {
				return true
			}
			of := memberOf(o, "hooks")
			if of == nil {
				return true
			}
			list, ok := of.Value.(*hujson.Array)
			if !ok {
				return true
			}
			before := len(list.Elements)
			list.Elements = filterValues(list.Elements, func(v *hujson.Value) bool {
				command := stringOf(v, "command")
				if !isOurCommand(command) {
					return true
				}
				now := do(hookHandler{name.String(), stringOf(group, "matcher"), command}, v)
				if now != nil {
					*v = *now
				}
				return now != nil
			})
			return len(list.Elements) > 0 || before == 0
		})
		if len(groups.Elements) == 0 {
			removeMember(events, name.String())
		}
	}
	if len(events.Members) == 0 {
		removeMember(s.root(), "hooks")
	}
}

// filterValues keeps the values that keep approves of, which may change them.
func filterValues(values []hujson.Value, keep func(*hujson.Value) bool) []hujson.Value {
	var kept []hujson.Value
	for i := range values {
		if keep(&values[i]) {
			kept = append(kept, values[i])
		}
	}
	return kept
}

// stringOf is the text of a key of an object, "" if there is none.
func stringOf(v *hujson.Value, key string) string {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return ""
	}
	of := memberOf(o, key)
	if of == nil {
		return ""
	}
	if text, ok := of.Value.(hujson.Literal); ok && text.Kind() == '"' {
		return text.String()
	}
	return ""
}

// isOurCommand tells whether a command line runs our hook, from wherever and
// with whatever flags; also where the program has another name, which this one
// has too.
func isOurCommand(command string) bool {
	words, err := splitWords(command)
	if err != nil || len(words) < 2 || words[1] != "hook" {
		return false
	}
	program := words[0]
	if path, err := self(); err == nil && program == path {
		return true
	}
	if i := strings.LastIndexAny(program, `/\`); i >= 0 {
		program = program[i+1:]
	}
	program = strings.TrimSuffix(strings.ToLower(program), ".exe")
	return program == "skillrouter"
}

// handlers returns those of ours, in the order of the file.
func (s *claudeSettings) handlers() []hookHandler {
	var all []hookHandler
	s.each(func(h hookHandler, v *hujson.Value) *hujson.Value {
		all = append(all, h)
		return v
	})
	return all
}

// install makes each of our events run command, once. Entries of ours that run
// it otherwise are changed where they stand.
func (s *claudeSettings) install(command string) error {
	missing := ourEvents()
	changed := false
	s.each(func(h hookHandler, v *hujson.Value) *hujson.Value {
		i := slices.Index(missing, hookSetting{h.event, h.matcher})
		if i < 0 {
			changed = true
			return nil // a second one, or an event that we have nothing to do at
		}
		missing = slices.Delete(missing, i, i+1)
		if h.command == command {
			return v
		}
		changed = true
		text := hujson.String(command)
		*memberOf(v.Value.(*hujson.Object), "command") = hujson.Value{Value: text} //nolint:forcetypeassert // it has a command
		return v
	})
	if len(missing) == 0 && !changed {
		return nil
	}
	hooks := memberOf(s.root(), "hooks")
	if hooks == nil {
		s.add("hooks", hujson.Value{Value: &hujson.Object{}})
		hooks = memberOf(s.root(), "hooks")
	}
	events := hooks.Value.(*hujson.Object) //nolint:forcetypeassert // check looked
	for _, want := range missing {
		type handler struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
		}
		var data bytes.Buffer
		err := writeJSON(&data, struct {
			Matcher string    `json:"matcher,omitempty"`
			Hooks   []handler `json:"hooks"`
		}{want.matcher, []handler{{"command", command, hookTimeout}}}, false)
		if err != nil {
			return err
		}
		group, err := hujson.Parse(data.Bytes())
		if err != nil {
			return err
		}
		of := memberOf(events, want.event)
		if of == nil {
			events.Members = append(events.Members, hujson.ObjectMember{
				Name: hujson.Value{Value: hujson.String(want.event)}, Value: hujson.Value{Value: &hujson.Array{}},
			})
			of = &events.Members[len(events.Members)-1].Value
		}
		list := of.Value.(*hujson.Array) //nolint:forcetypeassert // check looked
		list.Elements = append(list.Elements, group)
	}
	return s.layOut()
}

// uninstall removes every entry of ours, and tells how many there were.
func (s *claudeSettings) uninstall() (int, error) {
	n := 0
	s.each(func(hookHandler, *hujson.Value) *hujson.Value {
		n++
		return nil
	})
	if n == 0 {
		return 0, nil
	}
	return n, s.layOut()
}

// add adds a member at the end of the file's object.
func (s *claudeSettings) add(key string, v hujson.Value) {
	o := s.root()
	name := hujson.Value{BeforeExtra: hujson.Extra("\n" + s.indent), Value: hujson.String(key)}
	v.BeforeExtra = hujson.Extra(" ")
	if len(o.Members) == 0 {
		o.AfterExtra = hujson.Extra("\n")
	}
	o.Members = append(o.Members, hujson.ObjectMember{Name: name, Value: v})
	if len(o.Members) > 1 && !bytes.Contains(o.AfterExtra, []byte("\n")) && bytes.Contains(o.Members[0].Name.BeforeExtra, []byte("\n")) {
		o.AfterExtra = hujson.Extra("\n")
	}
}

// layOut writes "hooks" over several lines, as Claude Code does.
func (s *claudeSettings) layOut() error {
	hooks := memberOf(s.root(), "hooks")
	if hooks == nil {
		if o := s.root(); len(o.Members) == 0 {
			o.AfterExtra = nil
		}
		return nil
	}
	plain := hooks.Clone()
	plain.Minimize()
	var b bytes.Buffer
	if err := json.Indent(&b, plain.Pack(), s.indent, s.indent); err != nil {
		return err
	}
	v, err := hujson.Parse(b.Bytes())
	if err != nil {
		return err
	}
	hooks.Value = v.Value
	return nil
}

// bytes is the file. It ends with a new line.
func (s *claudeSettings) bytes() []byte {
	data := s.doc.Pack()
	if !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	if s.crlf {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	if s.marked {
		data = append([]byte(byteOrderMark), data...)
	}
	return data
}

// claudeSettingsPath is where Claude Code keeps the settings of the user, or
// those of the project in the current folder that are not for others: the
// command names a file of this machine.
func (a *app) claudeSettingsPath(ofProject bool) (string, error) {
	if ofProject {
		return filepath.Join(".claude", "settings.local.json"), nil
	}
	if dir := a.env("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "settings.json"), nil
	}
	home := a.env("HOME")
	if home == "" {
		return "", errors.New("HOME is not set: where are the settings of Claude Code?")
	}
	return filepath.Join(home, ".claude", "settings.json"), nil
}
