package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
	"skillrouter/router"
	"skillrouter/summaries"
)

// handle does a call that handles skills.
func (k *Kit) handle(ctx context.Context, tool, args string) (string, error) {
	var a struct {
		LoadArgs
		Name, Domain, Reason, Query, Path string
	}
	if err := arguments(args, &a); err != nil {
		return "", err
	}
	if a.Skill == "" {
		a.Skill = a.Name
	}
	switch tool {
	case toolLoad:
		return k.load(ctx, tool, a.LoadArgs)
	case toolLoadNamed:
		return k.load(ctx, tool, LoadArgs{Skill: a.Skill, Mode: Session})
	case toolSelectDocs:
		return k.selectDocs(ctx, SelectDocsArgs{Skill: a.Skill, Docs: a.Docs, IncludeAllDocs: a.IncludeAllDocs, Mode: string(a.Mode)})
	case toolExtension:
		return k.loadExtension(ctx, a.Skill)
	case toolLoadDomain:
		return k.loadDomain(ctx, a.Domain, a.Reason)
	case toolUnload:
		return k.unload(ctx, a.Skill)
	case toolList:
		return k.list(ctx, a.Domain)
	case toolSearch:
		return k.search(ctx, a.Query)
	case toolStatus:
		return k.status(ctx)
	default:
		return k.readFile(ctx, a.Path)
	}
}

// Definition returns the text of a loaded skill as the next request shows it,
// with its documents: for hosts that hand it over themselves, such as a server
// that answers skill_load with it. A skill that is not loaded is an error. The
// budget is not applied.
func (k *Kit) Definition(ctx context.Context, skill string) (string, error) {
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", fmt.Errorf("agent: %w", err)
	}
	var r Receipt
	for _, b := range k.loaded(now, k.shownOnce().Step, &r) {
		if b.skill != skill {
			continue
		}
		b.system = k.toolsOf(ctx, now, b.def).prompt
		if err := k.readDocs(ctx, now, &r, b); err != nil {
			return "", fmt.Errorf("agent: %w", err)
		}
		return k.render(b), nil
	}
	return "", fmt.Errorf("agent: skill %q is not loaded: load it first", skill)
}

// errNotFound is what a model is told of a skill that does not exist for it.
var errNotFound = errors.New("skill not found")

// load loads a skill, and returns what to tell. What does not exist is an
// errNotFound; nothing is loaded then, nor on any other error.
func (k *Kit) load(ctx context.Context, cause string, args LoadArgs) (string, error) {
	if args.Mode != "" && args.Mode != Once && args.Mode != Turn && args.Mode != Session {
		return "", fmt.Errorf("mode %q is not once, turn or session", args.Mode)
	}
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	if args.Skill, err = k.find(ctx, now, args.Skill, cause != causeResume); err != nil {
		return "", err
	}
	defer k.loads(args.Skill)()
	if err := k.clash(ctx, now, args.Skill); err != nil {
		return "", err
	}
	def, err := k.s.Load(ctx, args.Skill)
	if err == nil {
		def, err = k.definition(args.Skill, def)
	}
	if err != nil {
		return "", gone(err)
	}
	if err := k.hold(ctx, args.Mode, args.Skill); err != nil {
		return "", err
	}
	known, unknown := split(args.Docs, documents(def))
	args.Docs = known
	k.st.Commit(Change{Turn: now.Turn, Agent: k.agent, Cause: cause, Skills: []string{args.Skill}, Delta: LoadDelta(k.agent, args)})
	return resultLoaded + args.Skill + tellUnknown(unknown, def), nil
}

// hold tells the session how long a skill that was just loaded stays.
func (k *Kit) hold(ctx context.Context, mode Mode, skills ...string) error {
	lives := map[router.Life][]string{}
	state := k.st.read(k.agent, k.o.Mode)
	for _, name := range skills {
		m := mode
		if m == "" {
			m = k.o.Mode
			if h, ok := state[name]; ok {
				m = h.mode
			}
		}
		life := router.ForTurn
		switch m {
		case Task:
			continue // so it is
		case Session:
			life = router.ForSession
		case Once, Turn:
		}
		lives[life] = append(lives[life], name)
	}
	for _, life := range []router.Life{router.ForTurn, router.ForSession} {
		if len(lives[life]) == 0 {
			continue
		}
		if err := k.s.Keep(ctx, life, lives[life]...); err != nil {
			return err
		}
	}
	return nil
}

// gone makes the error of a skill that is not there that of the tool.
func gone(err error) error {
	var notFound *index.NotFoundError
	if errors.As(err, &notFound) {
		return errNotFound
	}
	return err
}

// find returns the name of the skill that a model means. One that is only for
// people must have been named by the user, or stand there already.
func (k *Kit) find(ctx context.Context, now *router.Route, given string, byModel bool) (string, error) {
	ix := now.Index()
	name := given
	for _, form := range forms(given) {
		if _, ok := ix.Lookup(form); ok {
			name = form
			break
		}
	}
	exists, err := k.s.Exists(ctx, name)
	if err != nil {
		return "", err
	}
	if exists && byModel {
		i, _ := ix.Lookup(name)
		isLoaded := slices.ContainsFunc(now.Loaded, func(d *definitions.Skill) bool { return d.Name == name })
		exists = !ix.Skills()[i].Summary.Manual || isLoaded || strings.Contains(k.said(), text.Fold(name))
	}
	if exists {
		return name, nil
	}
	if near := k.nearest(ctx, ix, given); len(near) > 0 {
		return "", fmt.Errorf("%w\nnearest names: %s", errNotFound, strings.Join(near, ", "))
	}
	return "", errNotFound
}

// kept returns the definition of a skill that exists.
func (k *Kit) kept(now *router.Route, name string) (*definitions.Skill, error) {
	def, err := now.Index().Kept(name)
	if err != nil {
		return nil, gone(err)
	}
	return k.definition(name, def)
}

// clash refuses skills of which one declares a tool that another one, or the
// agent itself, has already. It reads them only if there are tools that they
// could clash with.
func (k *Kit) clash(ctx context.Context, now *router.Route, skills ...string) error {
	owner := map[string]string{} // by tool: "" is the agent
	for _, t := range k.o.Tools {
		owner[t.Function.Name] = ""
	}
	var unused Receipt
	for _, b := range k.loaded(now, "", &unused) {
		for _, t := range k.toolsOf(ctx, now, b.def).tools {
			if !slices.Contains(skills, b.skill) {
				owner[t.Function.Name] = b.skill
			}
		}
	}
	if len(owner) == 0 && len(skills) == 1 {
		return nil
	}
	for _, skill := range skills {
		def, err := k.kept(now, skill)
		if err != nil {
			return err
		}
		for _, t := range k.toolsOf(ctx, now, def).tools {
			name := t.Function.Name
			switch other, has := owner[name]; {
			case has && other == "":
				return fmt.Errorf("skill %q declares the tool %q, which the agent has itself: it was not loaded", skill, name)
			case has:
				return fmt.Errorf("skills %q and %q both declare the tool %q: %q was not loaded; unload %q first", other, skill, name, skill, other)
			}
			owner[name] = skill
		}
	}
	return nil
}

// split tells names that are among known from those that are not.
func split(names, known []string) (in, out []string) {
	for _, n := range names {
		if slices.Contains(known, n) {
			in = append(in, n)
		} else {
			out = append(out, n)
		}
	}
	return in, out
}

// tellUnknown says which documents there are not, and which there are.
func tellUnknown(unknown []string, def *definitions.Skill) string {
	files, unknown := split(unknown, unshowable(def))
	told := ""
	if len(files) > 0 {
		told = "\nnot text, or too long to be shown: " + strings.Join(files, ", ")
	}
	if len(unknown) == 0 {
		return told
	}
	there := "none"
	if names := documents(def); len(names) > 0 {
		there = strings.Join(names, ", ")
	}
	return told + "\nunknown documents: " + strings.Join(unknown, ", ") + "; there are: " + there
}

// selectDocs chooses the documents of a loaded skill.
func (k *Kit) selectDocs(ctx context.Context, args SelectDocsArgs) (string, error) {
	switch args.Mode {
	case "", "add", "replace", "clear":
	default:
		return "", fmt.Errorf("mode %q is not add, replace or clear", args.Mode)
	}
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	if args.Skill, err = k.find(ctx, now, args.Skill, true); err != nil {
		return "", err
	}
	if k.st.Get(LoadedKey(k.agent, args.Skill)) == nil {
		return "", fmt.Errorf("skill not loaded: %s: load it first", args.Skill)
	}
	def, err := k.kept(now, args.Skill)
	if err != nil {
		return "", err
	}
	known, unknown := split(args.Docs, documents(def))
	args.Docs = known
	k.st.update(k.agent, func(values map[string][]byte) (Change, bool) {
		args = args.Over(values[DocsKey(k.agent, args.Skill)])
		return Change{Turn: now.Turn, Cause: toolSelectDocs, Skills: []string{args.Skill}, Delta: SelectDocsDelta(k.agent, args)}, true
	})
	chosen := "none"
	switch {
	case args.Mode == "clear":
	case args.IncludeAllDocs:
		chosen = "all"
	case len(args.Docs) > 0:
		chosen = strings.Join(args.Docs, ", ")
	}
	return resultDocs + args.Skill + ": " + chosen + tellUnknown(unknown, def), nil
}

// loadExtension loads a skill with its extension.
func (k *Kit) loadExtension(ctx context.Context, skill string) (string, error) {
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	if skill, err = k.find(ctx, now, skill, true); err != nil {
		return "", err
	}
	defer k.loads(skill)()
	if err := k.clash(ctx, now, skill); err != nil {
		return "", err
	}
	if _, err := k.s.LoadExtension(ctx, skill); err != nil {
		return "", plain(err)
	}
	if err := k.hold(ctx, "", skill); err != nil {
		return "", err
	}
	k.st.Commit(Change{Turn: now.Turn, Agent: k.agent, Cause: toolExtension, Skills: []string{skill}, Delta: LoadDelta(k.agent, LoadArgs{Skill: skill})})
	return resultExtension + skill, nil
}

// plain is an error of the session as a model is told it.
func plain(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "router: ")) }

// loadDomain loads all skills of a domain, for a reason.
func (k *Kit) loadDomain(ctx context.Context, domain, reason string) (string, error) {
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	domain = domainName(now.Index(), domain)
	members, err := now.Index().DomainSummaries(domain)
	if err != nil {
		return "", fmt.Errorf("domain not found\n%s", strings.TrimRight(now.Layers().Index, "\n"))
	}
	var skills []string
	for _, m := range members {
		exists, err := k.s.Exists(ctx, m.Skill)
		if err != nil {
			return "", err
		}
		if exists {
			skills = append(skills, m.Skill)
		}
	}
	defer k.loads(skills...)()
	if err := k.clash(ctx, now, skills...); err != nil {
		return "", err
	}
	all, err := k.s.LoadDomain(ctx, domain, reason)
	if err != nil {
		return "", plain(err)
	}
	if err := k.hold(ctx, "", skills...); err != nil {
		return "", err
	}
	c := Change{Turn: now.Turn, Agent: k.agent, Cause: toolLoadDomain, Reason: reason, Delta: Delta{}}
	for _, def := range all {
		c.Skills = append(c.Skills, def.Name)
		for key, value := range LoadDelta(k.agent, LoadArgs{Skill: def.Name}) {
			c.Delta[key] = value
		}
	}
	k.st.Commit(c)
	return resultLoaded + strings.Join(c.Skills, ", "), nil
}

// unload takes a skill out. One that is not loaded is no error.
func (k *Kit) unload(ctx context.Context, skill string) (string, error) {
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	for _, form := range forms(skill) {
		if k.st.Get(LoadedKey(k.agent, form)) == nil {
			continue
		}
		if err := k.s.Unload(ctx, form); err != nil {
			return "", err
		}
		k.st.Commit(Change{Turn: now.Turn, Agent: k.agent, Cause: toolUnload, Skills: []string{form}, Delta: UnloadDelta(k.agent, form)})
		return "unloaded: " + form, nil
	}
	return "not loaded: " + skill, nil
}

// list shows the domains or, chosen by it, the skills of one.
func (k *Kit) list(ctx context.Context, domain string) (string, error) {
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	layers := now.Layers()
	if now.Flat {
		return strings.TrimRight(layers.Summaries, "\n"), nil
	}
	if strings.TrimSpace(domain) == "" {
		return strings.TrimRight(layers.Index, "\n"), nil
	}
	if err := k.s.Choose(ctx, domainName(now.Index(), domain)); err != nil {
		var notFound *router.DomainNotFoundError
		if errors.As(err, &notFound) {
			return "", fmt.Errorf("domain not found\n%s", strings.TrimRight(layers.Index, "\n"))
		}
		return "", err
	}
	if now, err = k.s.Visible(ctx); err != nil {
		return "", err
	}
	return strings.Trim(now.Layers().Summaries, "\n"), nil
}

// mostFound is how many skills a search shows.
const mostFound = 8

// Search returns the summaries of the skills nearest to a query, best first, at
// most 8: what search_skills shows. Skills that are only for people are not
// among them.
func (k *Kit) Search(ctx context.Context, query string) ([]*summaries.Summary, error) {
	if strings.TrimSpace(query) == "" {
		return nil, errors.New("the query is empty: say what is to be done")
	}
	found, err := k.s.Search(ctx, query)
	if err != nil {
		return nil, err
	}
	ix := found.Index()
	var best []*summaries.Summary
	for _, c := range found.Candidates {
		i, ok := ix.Lookup(c.Name)
		if !ok || len(best) == mostFound || ix.Skills()[i].Summary.Manual {
			continue
		}
		best = append(best, &ix.Skills()[i].Summary)
	}
	return best, nil
}

// search shows the skills nearest to a query.
func (k *Kit) search(ctx context.Context, query string) (string, error) {
	best, err := k.Search(ctx, query)
	if err != nil {
		return "", err
	}
	var lines []byte
	for _, m := range best {
		lines = append(summaries.AppendLine(lines, m), '\n')
	}
	if len(best) == 0 {
		return "no skill found", nil
	}
	return strings.TrimRight(string(lines), "\n"), nil
}

// status tells what is loaded.
func (k *Kit) status(ctx context.Context) (string, error) {
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	var r Receipt
	blocks := k.loaded(now, k.shownOnce().Step, &r)
	if len(blocks) == 0 {
		return "no skill is loaded", nil
	}
	var b strings.Builder
	b.WriteString("loaded:")
	for _, s := range blocks {
		fmt.Fprintf(&b, "\n- %s (%s)", s.skill, s.mode)
		docs := s.docs
		if s.all {
			docs = documents(s.def)
		}
		if len(docs) > 0 {
			fmt.Fprintf(&b, "; documents: %s", strings.Join(docs, ", "))
		}
		if s.extension {
			b.WriteString("; with its extension")
		}
		var tools []string
		for _, t := range k.toolsOf(ctx, now, s.def).tools {
			tools = append(tools, t.Function.Name)
		}
		if len(tools) > 0 {
			fmt.Fprintf(&b, "; tools: %s", strings.Join(tools, ", "))
		}
	}
	return b.String(), nil
}
