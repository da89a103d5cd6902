package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"skillrouter/agent"
	"skillrouter/definitions"
	"skillrouter/router"
	"skillrouter/summaries"
)

// A saying is in all answers. Its text is that of the content, too: some clients
// show their model the one and some the other, so each has to say it all, and
// what stands beside the text is kept short.
type saying struct {
	Text    string `json:"text" jsonschema:"what to read: the same as the text content"`
	Session string `json:"session,omitempty" jsonschema:"to be passed as session with the next calls"`
}

func (s *saying) head() *saying { return s }

// A routed is what route answers.
type routed struct {
	saying
	Turn     int      `json:"turn" jsonschema:"of the session, from 1"`
	Outcome  string   `json:"outcome" jsonschema:"how it came about: direct, one, several, sticky, clarify or none"`
	Degraded bool     `json:"degraded,omitempty" jsonschema:"the embedder gave no vector: words only"`
	Domains  []domain `json:"domains,omitempty" jsonschema:"those that match or, if none does, the nearest; best first"`
	Skills   []string `json:"skills,omitempty" jsonschema:"whose summaries are shown, best first"`
	Loaded   []string `json:"loaded,omitempty" jsonschema:"whose definitions are loaded"`
	Question string   `json:"question,omitempty" jsonschema:"what to ask the user instead of guessing"`
}

// A domain is a domain of an answer.
type domain struct {
	Name    string  `json:"name"`
	Score   float64 `json:"score,omitempty" jsonschema:"estimated probability that it is among the right ones"`
	Matched bool    `json:"matched,omitempty" jsonschema:"it reached the threshold"`
	Skills  int     `json:"skills,omitempty" jsonschema:"how many it holds"`
}

// A given is what tools answer that give a definition or a part of it.
type given struct {
	saying
	Skill     string     `json:"skill"`
	Documents []document `json:"documents,omitempty" jsonschema:"files that belong to the skill"`
}

// A document is a file of a skill.
type document struct {
	Name string `json:"name"`
	URI  string `json:"uri" jsonschema:"of the resource"`
	Size int64  `json:"size" jsonschema:"bytes"`
}

// A found is what search_skills and list_skills answer.
type found struct {
	saying
	Domains []domain `json:"domains,omitempty"`
	Skills  []string `json:"skills,omitempty" jsonschema:"of a search the best first"`
}

// A standing is what skill_status answers.
type standing struct {
	saying
	Turn    int      `json:"turn" jsonschema:"of the session, 0 before the first"`
	Task    bool     `json:"task" jsonschema:"a task is under way"`
	Domains []string `json:"domains,omitempty" jsonschema:"shown in this turn"`
	Loaded  []string `json:"loaded,omitempty" jsonschema:"skills whose definitions are loaded"`
}

// route begins a turn.
func (s *Server) route(ctx context.Context, c *call, out *routed) error {
	var args struct{ Utterance string }
	if err := c.read(&args); err != nil {
		return err
	}
	if strings.TrimSpace(args.Utterance) == "" {
		return errors.New("the utterance is empty: pass what the user said, word for word")
	}
	kit := c.d.kit
	route, err := kit.Session().Route(ctx, args.Utterance)
	if err != nil {
		return err
	}
	// The agent clears what was loaded for the turn before.
	request := &agent.Request{Messages: []agent.Message{{Role: agent.RoleUser, Content: args.Utterance}}}
	if _, err := kit.PrepareContext(ctx, route, request); err != nil {
		return err
	}
	out.Turn, out.Outcome, out.Degraded = route.Turn, string(route.Outcome), route.Degraded
	out.Domains = matched(route)
	for _, m := range route.Summaries {
		out.Skills = append(out.Skills, m.Skill)
	}
	layers, p := route.Layers(), s.phrases(args.Utterance)
	var parts []string
	if len(route.Summaries) == 0 && len(route.Loaded) == 0 {
		parts = append(parts, layers.Index)
	}
	parts = append(parts, layers.Summaries)
	var ok bool
	if out.Question, ok = route.Question(); ok {
		parts = append(parts, fmt.Sprintf(p.unclear, out.Question))
	}
	var still []string
	for _, def := range route.Loaded {
		out.Loaded = append(out.Loaded, def.Name)
		if !slices.Contains(route.New, def.Name) {
			still = append(still, def.Name)
			// Whether a client follows it nobody sees here: as long as the
			// task goes on it does, or the router would take it back.
			if err := kit.Session().Use(ctx, def.Name); err != nil {
				return err
			}
			continue
		}
		definition, err := kit.Definition(ctx, def.Name)
		if err != nil {
			return err
		}
		parts = append(parts, definition)
	}
	if len(still) > 0 {
		parts = append(parts, fmt.Sprintf(p.loaded, safe(strings.Join(still, p.comma))))
	}
	out.Text = cmp.Or(join(parts...), p.none)
	return nil
}

// nearest is how many domains are named where none matches.
const nearest = 3

// matched are the domains that match or, if none does, the nearest.
func matched(route *router.Route) []domain {
	var out []domain
	for _, d := range route.Domains {
		if d.Matched || !route.Matched() && len(out) < nearest {
			out = append(out, domain{Name: d.Name, Score: rounded(d.Score), Matched: d.Matched})
		}
	}
	return out
}

// rounded is a score to two places: more is noise, and tokens.
func rounded(score float32) float64 { return math.Round(float64(score)*100) / 100 }

// join joins parts of a text with a blank line between them.
func join(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p = strings.Trim(p, "\n"); p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}

// load gives a definition. It does so again for one that is loaded: the client
// may have dropped it from its context.
func (s *Server) load(ctx context.Context, c *call, out *given) error {
	said, err := c.handle(ctx, toolLoad)
	if err != nil {
		return err
	}
	if out.Skill = c.changed(toolLoad); out.Skill == "" {
		return errors.New("the skill was unloaded meanwhile: load it again")
	}
	definition, err := c.d.kit.Definition(ctx, out.Skill)
	if err != nil {
		return err
	}
	out.Text = join(said, definition)
	return c.documents(ctx, out)
}

// changed is the skill of the last change that a tool made, under the name
// that it has.
func (c *call) changed(tool string) string {
	changes := c.d.kit.State().Changes()
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].Cause == tool && len(changes[i].Skills) == 1 {
			return changes[i].Skills[0]
		}
	}
	return ""
}

// loaded is the definition of a skill that is loaded.
func (c *call) loaded(ctx context.Context, skill string) (*definitions.Skill, error) {
	now, err := c.d.kit.Session().Visible(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(now.Loaded, func(d *definitions.Skill) bool { return d.Name == skill })
	if at < 0 {
		return nil, errors.New("the skill was unloaded meanwhile: load it again")
	}
	return now.Loaded[at], nil
}

// documents lists those of the skill.
func (c *call) documents(ctx context.Context, out *given) error {
	def, err := c.loaded(ctx, out.Skill)
	if err != nil {
		return err
	}
	for _, d := range def.Docs {
		if d.Text {
			out.Documents = append(out.Documents, document{Name: d.Name, URI: docURI(def.Name, d.Name), Size: d.Size})
		}
	}
	return nil
}

// docHead begins a document in a definition; no other line begins so.
const docHead = "\n[Doc] "

// selectDocs gives the documents that are chosen, without the definition, which
// the client has.
func (s *Server) selectDocs(ctx context.Context, c *call, out *given) error {
	said, err := c.handle(ctx, toolSelectDocs)
	if err != nil {
		return err
	}
	out.Skill = c.changed(toolSelectDocs)
	definition, err := c.d.kit.Definition(ctx, out.Skill)
	if err != nil {
		return err
	}
	docs := ""
	if at := strings.Index(definition, docHead); at >= 0 {
		docs = definition[at:]
	}
	out.Text = join(said, docs)
	return c.documents(ctx, out)
}

// extension gives the extension of a definition, and the rest of it unless the
// client has it.
func (s *Server) extension(ctx context.Context, c *call, out *given) error {
	before := c.d.kit.State().Scan(agent.LoadedPrefix(agentName))
	said, err := c.handle(ctx, toolExtension)
	if err != nil {
		return err
	}
	out.Skill = c.changed(toolExtension)
	var text string
	if _, has := before[agent.LoadedKey(agentName, out.Skill)]; has {
		def, err := c.loaded(ctx, out.Skill)
		if err != nil {
			return err
		}
		text = definitions.Render(&definitions.Skill{Name: def.Name, Core: def.Extension}, definitions.RenderOptions{})
	} else if text, err = c.d.kit.Definition(ctx, out.Skill); err != nil {
		return err
	}
	out.Text = join(said, text)
	return c.documents(ctx, out)
}

// plainly is a tool whose text says it all.
func (s *Server) plainly(tool string) func(context.Context, *call, *saying) error {
	return func(ctx context.Context, c *call, out *saying) (err error) {
		out.Text, err = c.handle(ctx, tool)
		return err
	}
}

func (s *Server) search(ctx context.Context, c *call, out *found) error {
	var args struct{ Query string }
	if err := c.read(&args); err != nil {
		return err
	}
	best, err := c.d.kit.Search(ctx, args.Query)
	if err != nil {
		return err
	}
	out.add(best)
	var lines []byte
	for _, m := range best {
		lines = append(summaries.AppendLine(lines, m), '\n')
	}
	if out.Text = strings.TrimSuffix(string(lines), "\n"); out.Text == "" {
		out.Text = "no skill found"
	}
	return nil
}

func (f *found) add(all []*summaries.Summary) {
	for _, m := range all {
		f.Skills = append(f.Skills, m.Skill)
	}
}

func (s *Server) list(ctx context.Context, c *call, out *found) error {
	var args struct{ Domain string }
	if err := c.read(&args); err != nil {
		return err
	}
	var err error
	if out.Text, err = c.handle(ctx, agent.ListSkills); err != nil {
		return err
	}
	now, err := c.d.kit.Session().Visible(ctx)
	if err != nil {
		return err
	}
	if now.Flat || strings.TrimSpace(args.Domain) != "" {
		out.add(now.Summaries)
		return nil
	}
	for _, d := range now.Index().Domains() {
		n := 0
		for _, name := range d.Members {
			if s.allow(name) {
				n++
			}
		}
		if n > 0 {
			out.Domains = append(out.Domains, domain{Name: d.Name, Skills: n})
		}
	}
	return nil
}

func (s *Server) status(ctx context.Context, c *call, out *standing) error {
	var err error
	if out.Text, err = c.handle(ctx, agent.SkillStatus); err != nil {
		return err
	}
	st, err := c.d.kit.Session().State(ctx)
	if err != nil {
		return err
	}
	out.Turn, out.Task, out.Domains, out.Loaded = st.Turn, st.Task, st.Domains, st.Loaded
	return nil
}
