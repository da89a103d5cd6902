package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/internal/text"
	"skillrouter/router"
)

// A Stage is one step of Prepare.
type Stage int

// The stages, in their order. The list of messages is only complete after
// Content, so what fills results of tools comes after it, and what goes into
// the system message before.
const (
	StageSystemPrompt Stage = iota + 1 // the base prompt
	StageContext                       // the host's: facts on user, time, place
	StageSkills                        // overview and loaded skills; the system message is done
	StageContent                       // the list of messages
	StagePostTool                      // the host's: what is to be done to results of tools
	StageSkillResults                  // loaded skills in results of tools
)

func (s Stage) String() string {
	names := []string{"system prompt", "context", "skills request", "content", "post-tool", "skills tool result"}
	if s < 1 || int(s) > len(names) {
		return fmt.Sprintf("stage(%d)", int(s))
	}
	return names[s-1]
}

// A Processor is the host's own work on a request, at StageContext or
// StagePostTool. It may change the request as it likes: the history keeps as
// it is, and the next Prepare begins from it. The system message is the first
// message.
type Processor struct {
	Name    string // for errors
	Stage   Stage
	Process func(ctx context.Context, request *Request) error
}

// A processor is one of the chain: the kit's own or the host's.
type processor struct {
	name  string
	stage Stage
	run   func(*draft) error
}

// processors returns those of kit and host, in order.
func (k *Kit) processors() ([]processor, error) {
	own := []processor{
		{"system prompt", StageSystemPrompt, k.systemPrompt},
		{"skills request", StageSkills, k.skillsRequest},
		{"content", StageContent, k.content},
		{"skills tool result", StageSkillResults, k.skillResults},
	}
	var host []processor
	for i, p := range k.o.Processors {
		if p.Process == nil {
			return nil, fmt.Errorf("agent: Processors[%d] %q: no Process", i, p.Name)
		}
		if p.Stage != StageContext && p.Stage != StagePostTool {
			return nil, fmt.Errorf("agent: Processors[%d] %q: stage %v is not one of the host's: use StageContext or StagePostTool", i, p.Name, p.Stage)
		}
		host = append(host, processor{p.Name, p.Stage, func(d *draft) error {
			if err := p.Process(d.ctx, d.request); err != nil {
				return fmt.Errorf("processor %q: %w", p.Name, err)
			}
			d.adopt()
			return nil
		}})
	}
	if err := ordered(host); err != nil {
		return nil, err
	}
	all := slices.Concat(own, host)
	slices.SortStableFunc(all, func(a, b processor) int { return int(a.stage) - int(b.stage) })
	return all, ordered(all)
}

// ordered refuses processors that stand in another order than their stages.
func ordered(list []processor) error {
	for i := 1; i < len(list); i++ {
		if before, p := list[i-1], list[i]; p.stage < before.stage {
			return fmt.Errorf("agent: processor %q is of stage %v and stands after %q of stage %v: put it before", p.name, p.stage, before.name, before.stage)
		}
	}
	return nil
}

// A draft is a request while it is prepared.
type draft struct {
	ctx     context.Context //nolint:containedctx // lives for one call of Prepare
	now     *router.Route   // what is visible now
	layers  router.Layers   // of it
	routed  string          // what the turn shows of the domains
	request *Request
	tools   int       // of the host, first in the request
	past    []Message // the history, as the host wrote it
	step    string    // tells this request from others of the session
	blocks  []*block  // loaded skills that are shown
	noRoom  []string  // loaded skills that the budget has no room for
	receipt *Receipt
}

// Prepare makes the request of the next step, from its messages, which are the
// history. It puts the system message first, sets the tools, and places what
// is loaded as the strategy says. Preparing a request again, after an error of
// the endpoint, gives the same bytes; one that was prepared before and has new
// messages at its end is prepared anew. The slice of the history is not
// written to.
//
// A nil route means the turn as the session has it. In a catalog without
// skills the request stays as it is, but for the base prompt and what the host
// does itself.
//
// Failures of skills do not fail a turn: the [Receipt] says what was left out.
// An error means that a processor failed, or the session.
func (k *Kit) Prepare(route *router.Route, request *Request) (Receipt, error) {
	return k.PrepareContext(context.Background(), route, request)
}

// PrepareContext is Prepare with a context.
func (k *Kit) PrepareContext(ctx context.Context, route *router.Route, request *Request) (Receipt, error) {
	if request == nil {
		return Receipt{}, errors.New("agent: no request to prepare")
	}
	if route != nil {
		if len(route.Index().Skills()) == 0 && len(k.o.Processors) == 0 && k.st.idle() {
			k.off(request)
			return Receipt{}, nil
		}
		k.heard(route.Utterance)
	}
	now, cleared, err := k.begin(ctx)
	if err != nil {
		return Receipt{}, fmt.Errorf("agent: %w", err)
	}
	if len(now.Index().Skills()) == 0 && len(k.o.Processors) == 0 {
		k.off(request)
		return Receipt{Turn: now.Turn, Cleared: cleared}, nil
	}
	d := &draft{ctx: ctx, now: now, request: request, past: history(request.Messages), layers: now.Layers()}
	if d.routed = d.layers.Summaries; route != nil && k.o.Strategy == ToolResult {
		d.routed = route.Layers().Summaries // what is chosen later is told by the result of the call
	}
	d.receipt = &Receipt{Turn: now.Turn, Cleared: cleared}
	request.Tools = hostTools(request.Tools)
	d.tools = len(request.Tools)
	for _, p := range k.chain {
		if err := p.run(d); err != nil {
			return Receipt{}, fmt.Errorf("agent: %w", err)
		}
	}
	request.choose()
	return *d.receipt, nil
}

// choose lets the model choose among the tools, if there are any.
func (r *Request) choose() {
	switch {
	case len(r.Tools) == 0 && r.ToolChoice == "auto":
		r.ToolChoice = ""
	case len(r.Tools) > 0 && r.ToolChoice == "":
		r.ToolChoice = "auto"
	}
}

// heard remembers what the user said in this turn, and said returns it: a
// skill that is not for the model may be named by the user.
func (k *Kit) heard(utterance string) {
	folded := text.Fold(utterance)
	k.utterance.Store(&folded)
}

func (k *Kit) said() string {
	if u := k.utterance.Load(); u != nil {
		return *u
	}
	return ""
}

// off is Prepare of a catalog without skills: it costs nothing where there is
// nothing to do.
func (k *Kit) off(r *Request) {
	base := k.o.System == "" || len(r.Messages) > 0 && r.Messages[0].Role == RoleSystem && r.Messages[0].Content == k.o.System
	for i := range r.Messages {
		if m := &r.Messages[i]; i > 0 && (m.placed || m.host != nil) {
			base = false // of a request that was prepared when there were skills
		}
	}
	own := 0
	for i := range r.Tools {
		if r.Tools[i].placed {
			own++
		}
	}
	if !base {
		system, rest := k.base(history(r.Messages))
		r.Messages = rest
		if system.Content != "" {
			r.Messages = append([]Message{system}, rest...)
		}
	}
	if own != len(k.o.Tools) {
		r.Tools = append(hostTools(r.Tools), k.o.Tools...)
		r.choose()
	}
}

// base is the system message before skills, and what comes after it: the
// history's own joins it, because endpoints take only one.
func (k *Kit) base(past []Message) (system Message, rest []Message) {
	system = Message{Role: RoleSystem, Content: k.o.System, placed: true}
	if len(past) == 0 || past[0].Role != RoleSystem || len(past[0].Parts) > 0 {
		return system, past
	}
	system = past[0]
	if k.o.System != "" && system.Content != k.o.System {
		system.Content = join(k.o.System, system.Content)
	}
	system.host = &past[0]
	return system, past[1:]
}

// systemPrompt is the first stage: the base prompt, then the history.
func (k *Kit) systemPrompt(d *draft) error {
	base, rest := k.base(d.past)
	messages := make([]Message, 0, len(d.past)+4)
	messages = append(messages, base)
	offset := len(d.past) - len(rest)
	for i := range rest {
		m := rest[i]
		m.host = &d.past[offset+i]
		messages = append(messages, m)
	}
	d.request.Messages = messages
	return nil
}

// adopt marks what a processor of the host added, so that it is not taken for
// history.
func (d *draft) adopt() {
	for i := range d.request.Messages {
		if m := &d.request.Messages[i]; m.host == nil {
			m.placed = true
		}
	}
	for i := d.tools; i < len(d.request.Tools); i++ {
		d.request.Tools[i].placed = true
	}
}

// content is the fourth stage: the list of messages. What the turn shows of
// the domains stands before the utterance where the system message is to stay.
func (k *Kit) content(d *draft) error {
	r := d.request
	if len(r.Messages) > 0 && r.Messages[0].placed && r.Messages[0].Role == RoleSystem && r.Messages[0].Content == "" {
		r.Messages = r.Messages[1:]
	}
	routed := strings.Trim(d.routed, "\n")
	if k.o.Strategy != ToolResult || d.now.Flat || routed == "" {
		return nil
	}
	at, err := k.routedPlace(d, routed)
	if err != nil {
		return err
	}
	r.insert(at, routed)
	return nil
}

// A routedAt says where in the history the summaries stand.
type routedAt struct {
	Text uint64 `json:"text"` // hash of the summaries
	At   int    `json:"at"`   // place of the utterance that they stand before
	Of   uint64 `json:"of"`   // hash of that utterance
}

// routedPlace returns the place in the request that the summaries go to: next
// to the utterance or, while they are the same ones, where they stood in the
// turn before, so that the prompt keeps its beginning.
func (k *Kit) routedPlace(d *draft, routed string) (int, error) {
	last := lastOfUser(d.past)
	if last < 0 {
		return len(d.request.Messages), nil
	}
	now := routedAt{Text: hash(routed), At: last, Of: hash(d.past[last].Content)}
	var was routedAt
	if v := k.st.Get(key1(routedKey, k.agent)); v != nil {
		_ = json.Unmarshal(v, &was) // what is no record says nothing
	}
	if was.Text == now.Text && was.At < len(d.past) && d.past[was.At].Role == RoleUser && hash(d.past[was.At].Content) == was.Of {
		now = was
	}
	if now != was {
		v, err := json.Marshal(now)
		if err != nil {
			return 0, err
		}
		k.st.Commit(Change{Turn: d.now.Turn, Agent: k.agent, Cause: causePlace, Delta: Delta{key1(routedKey, k.agent): v}})
	}
	for i := range d.request.Messages {
		if d.request.Messages[i].host == &d.past[now.At] {
			return i, nil
		}
	}
	return max(0, lastOfUser(d.request.Messages)), nil // a processor took it out
}

func lastOfUser(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleUser {
			return i
		}
	}
	return -1
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s) // a hash never fails
	return h.Sum64()
}

// insert puts a system message of ours at a place.
func (r *Request) insert(at int, text string) {
	r.Messages = slices.Insert(r.Messages, at, Message{Role: RoleSystem, Content: text, placed: true})
}

// join joins parts of a message with a blank line between them, without line
// ends around them.
func join(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p = strings.Trim(p, "\n"); p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(p)
	}
	return b.String()
}

func toolsPath(file string) string { return strings.TrimSuffix(file, "SKILL.md") + toolsFile }

// A Receipt says what a request shows of the skills, and what it does not.
type Receipt struct {
	Turn      int
	Loaded    []Shown               // definitions in the request, in the order in which they were loaded
	LeftOut   []LeftOut             // what is not in it, and why
	Cleared   []string              // skills that were loaded before and are not any more
	Summaries int                   // shown
	Catalog   int                   // skills of the catalog that summaries could be shown of
	Tools     []string              // by which skills are handled, then those of loaded skills
	Problems  []definitions.Problem // of the tools.json of loaded skills

	// Tokens, by Options.Tokens or the estimate. The schemas of tools are not in them.
	System      int // base prompt
	Overview    int // domains and summaries
	Definitions int // loaded skills
	Estimated   bool
}

// A Shown is a definition in a request.
type Shown struct {
	Skill     string
	Mode      Mode
	Docs      []string // documents with it
	Extension bool
	Tokens    int
	Where     string // "system", "tool result", "fallback" (a system message: the result is gone), "covered" (by a summary), "history" (it was read)
}

// A LeftOut is something that is not in a request.
type LeftOut struct {
	Skill string // or a domain
	What  string // "skill", "document NAME", "extension", "summaries", "tool NAME"
	Why   string
}
