package mcp

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

// Resources: a skill's definition, and the documents beside it.
const (
	scheme         = "skill://"
	skillFile      = "SKILL.md"
	docsFolder     = "docs/"
	skillTemplate  = scheme + "{name}/" + skillFile
	docsTemplate   = scheme + "{name}/" + docsFolder + "{+path}"
	markdown       = "text/markdown"
	maxCompletions = 100 // as the protocol has it
)

func skillURI(name string) string { return scheme + escape(name) + "/" + skillFile }

func docURI(name, doc string) string {
	parts := strings.Split(doc, "/")
	for i, p := range parts {
		parts[i] = escape(p)
	}
	return scheme + escape(name) + "/" + docsFolder + strings.Join(parts, "/")
}

// escape leaves only what a template takes for part of a name.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// parseURI tells which skill, and which document of it, a resource is; doc is
// "" for the definition.
func parseURI(uri string) (name, doc string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", "", false
	}
	host, file, ok := strings.Cut(rest, "/")
	if !ok {
		return "", "", false
	}
	name, err := url.PathUnescape(host)
	if err != nil || name == "" {
		return "", "", false
	}
	if file == skillFile {
		return name, "", true
	}
	if file, ok = strings.CutPrefix(file, docsFolder); !ok {
		return "", "", false
	}
	doc, err = url.PathUnescape(file)
	return name, doc, err == nil && doc != ""
}

// safe makes catalog text safe to show.
func safe(s string) string {
	s, _ = text.Clean(s)
	return definitions.Escape(s)
}

func (s *Server) addTemplates() {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: skillTemplate, Name: "skill", Title: "Skill", MIMEType: markdown,
		Description: "The whole definition of a skill.",
	}, s.read)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: docsTemplate, Name: "skill-document", Title: "Document of a skill",
		Description: "A file that belongs to a skill, by its path below the skill's folder.",
	}, s.read)
}

// listResources lists the definitions page by page, in catalog order. A cursor
// is the last name of the page before: it stays good when the catalog changes,
// unless that skill goes.
func (s *Server) listResources(p *sdk.ListResourcesParams) (*sdk.ListResourcesResult, error) {
	v, from := s.view(), 0
	if p != nil && p.Cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(p.Cursor)
		at, ok := v.ix.Lookup(string(last))
		if err != nil || !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor leads nowhere: list from the start"}
		}
		from = int(at) + 1
	}
	// The list belongs to this client alone, and changes at any time.
	result := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{CacheScope: "private"}}
	skills := v.ix.Skills()
	for i := from; i < len(skills); i++ {
		k := &skills[i]
		if _, ok := v.hash[k.Name]; !ok {
			continue
		}
		if n := len(result.Resources); n == s.o.PageSize {
			result.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(result.Resources[n-1].Name))
			break
		}
		result.Resources = append(result.Resources, &sdk.Resource{
			URI: skillURI(k.Name), Name: k.Name, Description: safe(k.Summary.Text), MIMEType: markdown, Size: k.Size,
		})
	}
	return result, nil
}

// find returns the definition that a resource belongs to, read anew, or an
// error for the client.
func (s *Server) find(uri string) (*view, *definitions.Skill, string, error) {
	v := s.view()
	name, doc, ok := parseURI(uri)
	if _, exists := v.hash[name]; !ok || !exists {
		return nil, nil, "", missing(uri)
	}
	def, err := v.ix.Get(name)
	if err != nil {
		return nil, nil, "", err
	}
	if doc == "" {
		return v, def, "", nil
	}
	at := slices.IndexFunc(def.Docs, func(d definitions.Doc) bool { return d.Name == doc })
	switch {
	case at < 0:
		return nil, nil, "", missing(uri)
	case !def.Docs[at].Text:
		return nil, nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: uri + " is no text, or over 256 KiB: it is not given"}
	}
	return v, def, doc, nil
}

func missing(uri string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("no resource %q: resources/list has the skills, a skill's definition names its documents", uri)}
}

// read reads a resource.
func (s *Server) read(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	uri := request.Params.URI
	v, def, doc, err := s.find(uri)
	if err != nil {
		return nil, err
	}
	content := &sdk.ResourceContents{URI: uri, MIMEType: markdown}
	if doc == "" {
		content.Text = definitions.Render(def, definitions.RenderOptions{Extension: true})
	} else {
		data, err := v.ix.Doc(ctx, def.Name, doc)
		if err != nil {
			return nil, err
		}
		content.Text, content.MIMEType = safe(string(data)), mimeType(doc)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{content}, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

// mimeType is that of a text; the system's table would differ from machine to
// machine.
func mimeType(doc string) string {
	switch strings.ToLower(path.Ext(doc)) {
	case ".md", ".markdown":
		return markdown
	case ".json":
		return "application/json"
	default:
		return "text/plain"
	}
}

// subscribe refuses what does not exist.
func (s *Server) subscribe(_ context.Context, request *sdk.SubscribeRequest) error {
	_, _, _, err := s.find(request.Params.URI)
	return err
}

// completions completes the names of the templates.
func (s *Server) completions(_ context.Context, request *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	p, v := request.Params, s.view()
	var all []string
	if ref := p.Ref; ref.Type == "ref/resource" && (ref.URI == skillTemplate || ref.URI == docsTemplate) {
		switch p.Argument.Name {
		case "name":
			all = slices.Sorted(maps.Keys(v.hash))
		case "path":
			if p.Context != nil {
				all = s.docs(v, p.Context.Arguments["name"])
			}
		}
	}
	result := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	c := &result.Completion
	begin := text.Fold(p.Argument.Value)
	for _, value := range all {
		if !strings.HasPrefix(text.Fold(value), begin) {
			continue
		}
		if c.Total++; c.Total <= maxCompletions {
			c.Values = append(c.Values, value)
		}
	}
	c.HasMore = c.Total > maxCompletions
	return result, nil
}

// docs are the names of a skill's documents that are text.
func (s *Server) docs(v *view, name string) []string {
	if _, ok := v.hash[name]; !ok {
		return nil
	}
	def, err := v.ix.Kept(name)
	if err != nil {
		return nil // it is gone since
	}
	var names []string
	for _, d := range def.Docs {
		if d.Text {
			names = append(names, d.Name)
		}
	}
	return names
}

// addPrompts offers the skills for people; old is what was offered before.
func (s *Server) addPrompts(v, old *view) {
	for i := range v.ix.Skills() {
		k := &v.ix.Skills()[i]
		if !v.manual[k.Name] || old != nil && old.manual[k.Name] {
			continue
		}
		s.sdk.AddPrompt(&sdk.Prompt{Name: k.Name, Description: safe(k.Summary.Text)}, s.prompt)
	}
	if old == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(old.manual)) {
		if !v.manual[name] {
			s.sdk.RemovePrompts(name)
		}
	}
}

// prompt gives the definition of a skill to a user who chose it.
func (s *Server) prompt(_ context.Context, request *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	v, name := s.view(), request.Params.Name
	if !v.manual[name] {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("no prompt %q any more", name)}
	}
	def, err := v.ix.Get(name)
	if err != nil {
		return nil, err
	}
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{
		Role: "user", Content: &sdk.TextContent{Text: definitions.Render(def, definitions.RenderOptions{Extension: true})},
	}}}, nil
}
