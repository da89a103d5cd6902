package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
)

// forms are ways in which a model may have meant a name, the likeliest first:
// as it stands, without what models put around names, in lower case.
func forms(given string) []string {
	bare := strings.TrimFunc(given, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`“”‘’「」/$.,:;!", r)
	})
	if number, rest, ok := strings.Cut(bare, " "); ok && strings.Trim(number, "0123456789.)(:") == "" {
		bare = strings.TrimSpace(rest)
	}
	return distinct([]string{given, bare, strings.ToLower(bare), strings.ReplaceAll(strings.ToLower(bare), " ", "-")})
}

// domainName is the domain that a model means: by name or, in an answer with
// words around it, the only one that is named.
func domainName(ix *index.Index, given string) string {
	for _, form := range forms(given) {
		if _, ok := ix.LookupDomain(form); ok {
			return form
		}
	}
	folded := text.Fold(given)
	var named []string
	for _, d := range ix.Domains() {
		switch name := text.Fold(d.Name); {
		case name == text.Fold(strings.TrimSpace(given)):
			return d.Name
		case strings.Contains(folded, name):
			named = append(named, d.Name)
		}
	}
	if len(named) == 1 {
		return named[0]
	}
	return given
}

// Bounds of what is taken for a misspelt name.
const (
	mostNear    = 3
	longestName = 64 // of a skill; also bounds the work
)

// nearest returns the names of skills that exist for the model and are most
// like the one given, best first.
func (k *Kit) nearest(ctx context.Context, ix *index.Index, given string) []string {
	want := []rune(text.Fold(strings.TrimSpace(given)))
	if len(want) == 0 || len(want) > longestName {
		return nil
	}
	type near struct {
		name     string
		distance int
	}
	var found []near
	for _, s := range ix.Skills() {
		if s.Summary.Manual {
			continue
		}
		name := []rune(text.Fold(s.Name))
		most := max(1, max(len(want), len(name))/3)
		if abs(len(want)-len(name)) > most {
			continue
		}
		if d := edits(want, name); d <= most {
			found = append(found, near{s.Name, d})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, n := range found {
		if exists, err := k.s.Exists(ctx, n.name); err == nil && exists {
			names = append(names, n.name)
		}
		if len(names) == mostNear {
			break
		}
	}
	return names
}

func abs(n int) int { return max(n, -n) }

// edits is how many runes must be changed, added or taken out between a and b.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// readFile reads a file of a skill's folder. Only what the skill lists is
// there: a path leads nowhere else.
func (k *Kit) readFile(ctx context.Context, given string) (string, error) {
	now, _, err := k.begin(ctx)
	if err != nil {
		return "", err
	}
	ix := now.Index()
	skill, file, ok := k.locate(ix, strings.TrimSpace(given))
	if ok {
		if ok, err = k.s.Exists(ctx, skill); err != nil {
			return "", err
		}
	}
	if !ok {
		return "", fmt.Errorf("no such file: %s: only files of skills can be read, by the paths that were given", given)
	}
	if file != "" {
		if _, err := k.find(ctx, now, skill, true); err != nil {
			return "", err
		}
		def, err := k.kept(now, skill)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(def.Docs, func(d definitions.Doc) bool { return d.Name == file }) {
			return "", fmt.Errorf("no such file: %s%s", given, tellUnknown([]string{file}, def))
		}
		data, err := k.doc(ctx, now, skill, file)
		if err != nil {
			return "", errors.New(strings.TrimPrefix(err.Error(), "index: "))
		}
		if err := k.Read(ctx, given); err != nil {
			return "", err
		}
		clean, _ := text.Clean(string(data))
		return definitions.Escape(clean), nil
	}
	if _, err := k.find(ctx, now, skill, true); err != nil {
		return "", err
	}
	if err := k.Read(ctx, given); err != nil {
		return "", err
	}
	def, err := k.kept(now, skill)
	if err != nil {
		return "", err
	}
	body := def.Body()
	if prompt := k.toolsOf(ctx, now, def).prompt; prompt != "" {
		body = prompt + "\n\n" + body
	}
	return definitions.Escape(strings.Trim(body, "\n")), nil
}

// Read notes that a file was read: read_file of the agent itself calls it,
// hosts that read files by themselves should. If it is of a skill, the skill
// is used; with [Path] reading its definition loads it for the session, with
// its tools, because what is read stays in the history. Any other path is
// passed over.
func (k *Kit) Read(ctx context.Context, path string) error {
	now, _, err := k.begin(ctx)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	skill, doc, ok := k.locate(now.Index(), strings.TrimSpace(path))
	if ok {
		if ok, err = k.s.Exists(ctx, skill); err != nil {
			return fmt.Errorf("agent: %w", err)
		}
	}
	if !ok {
		return nil
	}
	if doc == "" && k.o.Strategy == Path {
		if _, err := k.load(ctx, toolReadFile, LoadArgs{Skill: skill, Mode: Session}); err != nil {
			return err
		}
	}
	k.used(ctx, now.Turn, skill)
	return nil
}

// locate tells whose file a path is, and which of its documents; "" is the
// definition.
func (k *Kit) locate(ix *index.Index, given string) (skill, doc string, ok bool) {
	clean := path.Clean(strings.ReplaceAll(given, `\`, "/"))
	best := -1
	for _, s := range ix.Skills() {
		file := s.File
		if k.o.Repository != nil {
			p, err := k.o.Repository.Path(s.Name)
			if err != nil {
				continue
			}
			file = p
		}
		if clean == file {
			return s.Name, "", true
		}
		folder := path.Dir(file)
		for _, at := range []string{folder, s.Name} { // also name/file
			rest, below := strings.CutPrefix(clean, at+"/")
			if !below || len(at) <= best {
				continue
			}
			if best, skill, doc, ok = len(at), s.Name, rest, true; rest == "SKILL.md" {
				doc = ""
			}
		}
	}
	return skill, doc, ok
}
