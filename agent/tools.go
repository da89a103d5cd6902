package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Names of the tools by which a model handles skills.
const (
	toolLoad       = "skill_load"
	toolSelectDocs = "skill_select_docs"
	toolExtension  = "skill_extension"
	toolLoadDomain = "skill_load_domain"
	toolLoadNamed  = "load_skill"
	toolUnload     = "unload_skill"
	toolList       = "list_skills"
	toolSearch     = "search_skills"
	toolStatus     = "skill_status"
	toolReadFile   = "read_file"
)

// Extra tools, to be named in [Options].Extras.
const (
	LoadDomain   = toolLoadDomain // skill_load_domain: all definitions of a domain, for a reason
	ListSkills   = toolList       // list_skills: the domains, or the skills of one; always there in a catalog of layers
	SearchSkills = toolSearch     // search_skills: the skills nearest to a query
	SkillStatus  = toolStatus     // skill_status: what is loaded, and what of it is shown
	ReadFile     = toolReadFile   // read_file: a file of a skill's folder
)

// noParameters is the schema of a function without parameters.
const noParameters = `{"type":"object","properties":{}}`

const nameSchema = `{"type":"object","properties":{"name":{"type":"string","description":"Name of the skill."}},"required":["name"]}`

// SkillTools returns the tools by which a model handles skills, for hosts that
// offer them without a [Kit], such as a server. They say nothing of a session:
//
//	skill_load         puts a skill's definition in the prompt
//	skill_select_docs  chooses the documents that go with it
//	skill_extension    puts the extension of its definition there too
//	skill_load_domain  all definitions of a domain, for a reason
//	load_skill         skill_load, until unload_skill
//	unload_skill       takes it out
//	list_skills        the domains, or the skills of one
//	search_skills      the skills nearest to a query
//	skill_status       what is loaded
//	read_file          a file of a skill's folder
func SkillTools() []Tool {
	tool := func(name, description, parameters string) Tool {
		return Tool{Type: "function", Function: Function{Name: name, Description: description, Parameters: json.RawMessage(parameters)}}
	}
	return []Tool{
		tool(toolLoad, "Load a skill: its full definition appears in the conversation. Do this before you use a skill.",
			`{"type":"object","properties":{"skill":{"type":"string","description":"Name of the skill."},"docs":{"type":"array","items":{"type":"string"},"description":"Documents of the skill to show with it."},"include_all_docs":{"type":"boolean","description":"Show all its documents."},"mode":{"type":"string","enum":["once","turn","session"],"description":"How long it stays: for one request, for this turn, or for the session."}},"required":["skill"]}`),
		tool(toolSelectDocs, "Choose which documents of a loaded skill are shown with it.",
			`{"type":"object","properties":{"skill":{"type":"string","description":"Name of a loaded skill."},"docs":{"type":"array","items":{"type":"string"},"description":"Names of documents."},"include_all_docs":{"type":"boolean","description":"All documents of the skill."},"mode":{"type":"string","enum":["add","replace","clear"],"description":"Add to what is chosen, replace it (default), or choose none."}},"required":["skill"]}`),
		tool(toolExtension, "Show the extension of a skill's definition too: examples and boundary notes.",
			`{"type":"object","properties":{"skill":{"type":"string","description":"Name of the skill."}},"required":["skill"]}`),
		tool(toolLoadDomain, "Load the definitions of all skills of a domain. This is expensive: load single skills if you can.",
			`{"type":"object","properties":{"domain":{"type":"string","description":"Name of the domain."},"reason":{"type":"string","description":"Why single skills do not do."}},"required":["domain","reason"]}`),
		tool(toolLoadNamed, "Load a skill: its instructions and tools become available, until it is unloaded.", nameSchema),
		tool(toolUnload, "Unload a skill that is not needed any more.", nameSchema),
		tool(toolList, "List the skills of a domain or, without one, the domains.",
			`{"type":"object","properties":{"domain":{"type":"string","description":"Name of a domain."}}}`),
		tool(toolSearch, "Search for skills by what they should do.",
			`{"type":"object","properties":{"query":{"type":"string","description":"What is to be done, in plain words."}},"required":["query"]}`),
		tool(toolStatus, "Tell which skills are loaded, with which documents and tools.", noParameters),
		tool(toolReadFile, "Read a file of a skill.",
			`{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, as it was given."}},"required":["path"]}`),
	}
}

// LoadArgs are the arguments of skill_load.
type LoadArgs struct {
	Skill          string   `json:"skill"`
	Docs           []string `json:"docs,omitempty"`
	IncludeAllDocs bool     `json:"include_all_docs,omitempty"`
	Mode           Mode     `json:"mode,omitempty"` // "" is the agent's
}

// LoadDelta is what a call of skill_load changes: the skill is loaded, and
// its documents are chosen if the call names any. It only computes; a skill
// without a name changes nothing.
func LoadDelta(agentName string, args LoadArgs) map[string][]byte {
	if agentName == "" || args.Skill == "" {
		return nil
	}
	d := map[string][]byte{LoadedKey(agentName, args.Skill): []byte("1")}
	switch {
	case args.IncludeAllDocs:
		d[DocsKey(agentName, args.Skill)] = []byte(allDocs)
	case len(args.Docs) > 0:
		d[DocsKey(agentName, args.Skill)] = encodeDocs(distinct(args.Docs))
	}
	if args.Mode != "" {
		d[modeKey(agentName, args.Skill)] = []byte(args.Mode)
	}
	return d
}

// SelectDocsArgs are the arguments of skill_select_docs.
type SelectDocsArgs struct {
	Skill          string   `json:"skill"`
	Docs           []string `json:"docs,omitempty"`
	IncludeAllDocs bool     `json:"include_all_docs,omitempty"`
	Mode           string   `json:"mode,omitempty"` // "add", "replace" (also ""), "clear"
}

// Over returns the same choice without "add": what it comes to over what is
// chosen already, a value of [DocsKey]. All documents stay all; names that
// stand there are not added again.
func (a SelectDocsArgs) Over(chosen []byte) SelectDocsArgs {
	if a.Mode != "add" {
		return a
	}
	docs, all := decodeDocs(chosen)
	a.Mode, a.IncludeAllDocs = "replace", a.IncludeAllDocs || all
	a.Docs = distinct(append(docs, a.Docs...))
	return a
}

// SelectDocsDelta is what a call of skill_select_docs changes. It only
// computes; "add" is first to be resolved by [SelectDocsArgs.Over], and counts
// as "replace" here.
func SelectDocsDelta(agentName string, args SelectDocsArgs) map[string][]byte {
	if agentName == "" || args.Skill == "" {
		return nil
	}
	d := map[string][]byte{DocsKey(agentName, args.Skill): nil}
	switch {
	case args.Mode == "clear":
	case args.IncludeAllDocs:
		d[DocsKey(agentName, args.Skill)] = []byte(allDocs)
	case len(args.Docs) > 0:
		d[DocsKey(agentName, args.Skill)] = encodeDocs(distinct(args.Docs))
	}
	return d
}

// UnloadDelta is what a call of unload_skill changes: all keys of the skill go.
func UnloadDelta(agentName, skillName string) map[string][]byte {
	if agentName == "" || skillName == "" {
		return nil
	}
	return dropped(agentName, []string{skillName})
}

// distinct keeps the first of equal names.
func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// arguments reads the arguments of a call leniently: models put prose or code
// fences around the object, or a single name where a list belongs.
func arguments(text string, into any) error {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		text = "{}"
	}
	err := json.Unmarshal([]byte(text), into)
	if err == nil {
		return nil
	}
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from {
		return errors.New("the arguments are no JSON object")
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(text[from:to+1]), &fields) != nil {
		return fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	if docs := fields["docs"]; len(docs) > 0 && docs[0] == '"' {
		fields["docs"] = json.RawMessage("[" + string(docs) + "]")
	}
	clean, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("the arguments: %w", err)
	}
	if err := json.Unmarshal(clean, into); err != nil {
		return fmt.Errorf("the arguments: %w", err)
	}
	return nil
}
