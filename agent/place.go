package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"skillrouter/definitions"
)

// overview is what a strategy tells of the skills that there are: in the
// system message, and aside of it.
func (k *Kit) overview(d *draft) (system, aside string) {
	switch k.o.Strategy {
	case ToolResult:
		if d.now.Flat {
			return d.layers.Summaries, ""
		}
		return d.layers.Index, d.routed // constant in a session, and next to the utterance
	case Path:
		return k.pathBlock(d), ""
	case SystemMessage, Toolset:
	}
	return join(d.layers.Index, d.layers.Summaries), ""
}

// rules of the path strategy.
const pathRules = `**Progressive Loading Pattern:**
1. When a request matches the description of a skill, read the file at its path with ` + "`read_file`" + ` at once, before you answer.
2. Follow what the file says; read further files of the same folder only when they are needed.
3. Do not preload skills that have nothing to do with the request.`

// pathBlock shows the visible skills by path.
func (k *Kit) pathBlock(d *draft) string {
	type entry struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Path        string `json:"path"`
	}
	list := []entry{}
	ix := d.now.Index()
	var repo Repository = ix
	if k.o.Repository != nil {
		repo = k.o.Repository
	}
	for _, m := range d.now.Summaries {
		e := entry{Name: m.Skill, Description: m.Text}
		if i, ok := ix.Lookup(m.Skill); ok && ix.Skills()[i].Description != "" {
			e.Description = ix.Skills()[i].Description
		}
		path, err := repo.Path(m.Skill)
		if err != nil {
			continue // gone meanwhile
		}
		e.Path = path
		list = append(list, e)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(list); err != nil {
		panic(fmt.Sprintf("agent: skills as JSON: %v", err)) // strings always are
	}
	skills := "<skills>\n" + definitions.Escape(b.String()) + "</skills>"
	return "<skill_system>\n" + join(pathRules, d.layers.Index, skills) + "\n</skill_system>"
}

// render is the text of a loaded skill. A last line says what more there is,
// so that no name has to be guessed.
func (k *Kit) render(b *block) string {
	def := b.def
	if b.system != "" {
		with := *def
		with.Core = b.system + "\n\n" + with.Core
		def = &with
	}
	out := strings.TrimRight(definitions.Render(def, definitions.RenderOptions{Extension: b.extension, Docs: b.texts}), "\n")
	var more []string
	if k.offers(toolSelectDocs) {
		var names []string
		for _, name := range documents(b.def) {
			shown := slices.ContainsFunc(b.texts, func(d definitions.DocText) bool { return d.Name == name })
			if !shown && !slices.Contains(b.omitted, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			more = append(more, "documents not shown: "+strings.Join(names, ", ")+" (choose with skill_select_docs)")
		}
	}
	if names := unshowable(b.def); len(names) > 0 {
		more = append(more, "files that cannot be shown: "+listNames(names))
	}
	if b.def.Extension != "" && !b.extension && k.offers(toolExtension) && !slices.Contains(b.omitted, theExtension) {
		more = append(more, "extension not shown (load with skill_extension)")
	}
	if len(b.omitted) > 0 {
		more = append(more, "left out for want of room: "+strings.Join(b.omitted, ", "))
	}
	if len(more) > 0 {
		out += "\n[More] " + definitions.Escape(strings.Join(more, "; "))
	}
	return out
}

const theExtension = "the extension"

// offers tells whether the model has a tool by which skills are handled,
// besides list_skills.
func (k *Kit) offers(name string) bool {
	return slices.Contains(k.handling, name)
}

// handlingTools are the tools by which skills are handled, of a strategy with
// extras, in the order of SkillTools; those that load come first.
func (o *Options) handlingTools() []string {
	var names []string
	switch o.Strategy {
	case SystemMessage, ToolResult:
		names = []string{toolLoad, toolSelectDocs, toolExtension, toolUnload}
	case Toolset:
		names = []string{toolLoadNamed, toolUnload}
	case Path:
		names = []string{toolReadFile}
	}
	for _, extra := range o.Extras {
		if !slices.Contains(names, extra) {
			names = append(names, extra)
		}
	}
	return names
}

// setTools sets the tools of a request: the host's, those by which skills are
// handled, those of loaded skills in the order in which they were loaded.
func (k *Kit) setTools(d *draft) {
	r := d.request
	r.Tools = append(r.Tools, k.o.Tools...)
	names := k.handling
	if !d.now.Flat && !slices.Contains(names, toolList) {
		names = append(slices.Clone(names), toolList) // how else to come from the domains to skills
	}
	for _, name := range names {
		if slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Function.Name == name }) {
			continue // the host has its own
		}
		t := k.skillTools[slices.IndexFunc(k.skillTools, func(t Tool) bool { return t.Function.Name == name })]
		if k.o.Strategy == Toolset {
			t.Function.Description = k.describe(t.Function, d)
		}
		t.placed = true
		r.Tools = append(r.Tools, t)
		d.receipt.Tools = append(d.receipt.Tools, name)
	}
	for _, b := range d.blocks {
		st := k.toolsOf(d.ctx, d.now, b.def)
		b.system = st.prompt
		d.receipt.Problems = append(d.receipt.Problems, st.problems...)
		for _, t := range st.tools {
			if slices.ContainsFunc(r.Tools, func(o Tool) bool { return o.Function.Name == t.Function.Name }) {
				d.receipt.leave(b.skill, "tool "+t.Function.Name, "another tool has its name")
				continue
			}
			t.placed = true
			r.Tools = append(r.Tools, t)
			d.receipt.Tools = append(d.receipt.Tools, t.Function.Name)
		}
	}
}

// describe fills in what there is and what is loaded, anew for each request.
func (k *Kit) describe(f Function, d *draft) string {
	switch f.Name {
	case toolLoadNamed:
		names := make([]string, len(d.now.Summaries))
		for i, m := range d.now.Summaries {
			names[i] = m.Skill
		}
		return f.Description + " Available skills: " + definitions.Escape(listNames(names)) + "."
	case toolUnload:
		return f.Description + " Loaded skills: " + definitions.Escape(listNames(skillsOf(d.blocks))) + "."
	}
	return f.Description
}

// longestNames bounds a list of names, in bytes: some endpoints refuse a
// description of more than 1,024 characters.
const longestNames = 800

func listNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	n, bytes := 0, 0
	for ; n < len(names) && bytes+len(names[n]) <= longestNames; n++ {
		bytes += len(names[n]) + len(", ")
	}
	list := strings.Join(names[:n], ", ")
	if more := len(names) - n; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// skillResults is the last stage: loaded skills in the results of the calls
// that loaded them. Those whose result is gone from the history stand in a
// system message, unless a summary covers them.
func (k *Kit) skillResults(d *draft) error {
	if k.o.Strategy != ToolResult {
		return nil
	}
	r := d.request
	last := lastResults(r.Messages, append(skillsOf(d.blocks), d.noRoom...))
	var missing []string
	place := func(skill, text string) (where string) {
		if i, ok := last[skill]; ok {
			r.Messages[i].Content = join(r.Messages[i].Content, text)
			return "tool result"
		}
		if k.o.Covered != nil && k.o.Covered(skill) {
			return "covered"
		}
		missing = append(missing, text)
		return "fallback"
	}
	for n, b := range d.blocks {
		d.receipt.Loaded[n].Where = place(b.skill, b.text)
	}
	for _, name := range d.noRoom {
		place(name, noRoom(name))
	}
	if len(missing) > 0 {
		at := lastOfUser(r.Messages)
		if at < 0 {
			at = len(r.Messages)
		}
		r.insert(at, join(missing...))
	}
	return nil
}

// lastResults returns, by skill, the place of the last result of a call that
// loaded it or chose of its documents.
func lastResults(messages []Message, skills []string) map[string]int {
	called := map[string]bool{} // IDs of calls that load
	last := map[string]int{}
	for i, m := range messages {
		for _, c := range m.ToolCalls {
			switch c.Function.Name {
			case toolLoad, toolSelectDocs, toolLoadNamed, toolExtension:
				called[c.ID] = true
			}
		}
		if m.Role != RoleTool || !called[m.ToolCallID] {
			continue
		}
		for _, name := range skills {
			if confirms(m.Content, name) {
				last[name] = i
			}
		}
	}
	return last
}

func skillsOf(blocks []*block) []string {
	names := make([]string, len(blocks))
	for i, b := range blocks {
		names[i] = b.skill
	}
	return names
}

// noRoom tells the model why it does not see what it has loaded.
func noRoom(skill string) string {
	return "[More] " + definitions.Escape(skill) + " is loaded, but there is no room for its definition: unload what is not needed."
}

// Results of the calls that load. Prepare finds them again by their beginning.
const (
	resultLoaded    = "loaded: "
	resultDocs      = "documents of "
	resultExtension = "extension loaded: "
)

// confirms tells whether a result says that the skill is loaded.
func confirms(result, skill string) bool {
	first, _, _ := strings.Cut(result, "\n")
	return first == resultLoaded+skill || first == resultExtension+skill || strings.HasPrefix(first, resultDocs+skill+": ")
}
