package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"skillrouter/definitions"
	"skillrouter/internal/atomicfile"
)

func (a *app) trustCommand() *cobra.Command {
	var list, remove, yes bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let the hook use the skills of a project",
		Long: `trust shows what a project's folders of skills hold (.agent/skills,
.agents/skills, .claude/skills, skills) and notes that they may be used: whoever
writes a skill writes into the agent's context, and a project that was just
cloned has not been read by anybody.

The hook uses them wherever a client works in the project or below. What comes
into these folders later is trusted too; folders of projects below are not.
Where a skill has text that gives orders to the agent, trust shows it and asks
first, or needs --yes. --skills needs no trust: it names the folder.`,
		Example: `  skillrouter trust
  skillrouter trust ~/src/shop
  skillrouter trust --list
  skillrouter trust --remove ~/src/shop`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := onlyOne(cmd, "list", "remove"); err != nil {
				return err
			}
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			switch {
			case list && len(args) > 0:
				return &useError{errors.New("--list takes no folder"), helpHint(cmd)}
			case list:
				return a.listTrusted()
			case remove:
				return a.distrust(dir)
			default:
				return a.trust(cmd.Context(), dir, yes)
			}
		},
	}
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "show the projects that are trusted")
	f.BoolVar(&remove, "remove", false, "trust the project no more")
	f.BoolVarP(&yes, "yes", "y", false, "ask nothing")
	return cmd
}

// trustedFile is the list of projects, below the folder of the user's settings.
const trustedFile = "trusted.json"

// A trusted is the list of projects whose skills may be used, by real path.
type trusted struct {
	Projects []trustedProject `json:"projects"`
}

// A trustedProject tells what was there when it was trusted.
type trustedProject struct {
	Path   string    `json:"path"` // real: a link that leads elsewhere later is another project
	Skills int       `json:"skills"`
	Orders int       `json:"orders"` // findings of text that gives orders
	Since  time.Time `json:"since"`
}

// find returns the place of a real path in the list, -1 if it is not there.
func (t *trusted) find(path string) int {
	return slices.IndexFunc(t.Projects, func(p trustedProject) bool { return p.Path == path })
}

// around returns the trusted project that dir is in, the innermost, "" if it is
// in none.
func (t *trusted) around(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || len(t.Projects) == 0 {
		return ""
	}
	for {
		if t.find(real) >= 0 {
			return real
		}
		up := filepath.Dir(real)
		if up == real {
			return ""
		}
		real = up
	}
}

func trustedPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder to keep the list of trusted projects in: %w", err)
	}
	return filepath.Join(dir, "skillrouter", trustedFile), nil
}

// readTrusted returns the list; where there is none, it is empty.
func (a *app) readTrusted() (*trusted, error) {
	path, err := trustedPath()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &trusted{}, nil
	case err != nil:
		return nil, err
	}
	var t trusted
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, &failure{fmt.Errorf("%s: %w", path, err), "mend it, or remove it to trust no project"}
	}
	return &t, nil
}

// changeTrusted changes the list, one process at a time.
func (a *app) changeTrusted(change func(*trusted)) error {
	path, err := trustedPath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	defer lock.Close()
	t, err := a.readTrusted()
	if err != nil {
		return err
	}
	change(t)
	slices.SortFunc(t.Projects, func(a, b trustedProject) int { return strings.Compare(a.Path, b.Path) })
	return atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		t.Projects = orEmpty(t.Projects)
		return writeJSON(w, t, true)
	})
}

// A project is what a folder has of skills.
type project struct {
	path   string   // real
	places []string // of skills
	skills int
	orders []definitions.Problem
	hidden []definitions.Shadow // the user's skills that its hide
}

// lookAt reads the project in dir.
func (a *app) lookAt(ctx context.Context, dir string) (*project, error) {
	info, err := os.Stat(dir)
	var at *fs.PathError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s: %w", dir, at.Err)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s: is no folder", dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	p := &project{}
	if p.path, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	users := existing(a.userPlaces())
	all := existing(slices.Concat(users, projectPlaces(p.path)))
	p.places = all[len(users):]
	roots := make([]definitions.Root, len(all))
	for i, place := range all {
		roots[i].Path = place
	}
	c, err := definitions.Load(ctx, roots, &definitions.Options{Orders: definitions.Warn})
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i := range c.Skills {
		if s := &c.Skills[i]; s.Ref.Root >= len(users) {
			p.skills++
			own[s.Name] = true
		}
	}
	for _, s := range c.Shadowed {
		if s.Ref.Root < len(users) && own[s.Name] {
			p.hidden = append(p.hidden, s)
		}
	}
	for _, x := range c.Problems {
		if x.Kind == "orders" && slices.ContainsFunc(p.places, func(place string) bool {
			return strings.HasPrefix(x.File, filepath.ToSlash(place)+"/")
		}) {
			p.orders = append(p.orders, x)
		}
	}
	return p, nil
}

func (a *app) trust(ctx context.Context, dir string, yes bool) error {
	p, err := a.lookAt(ctx, dir)
	if err != nil {
		return err
	}
	if len(p.places) == 0 {
		return &failure{
			fmt.Errorf("%s has no folder of skills", clean(p.path)),
			"a project keeps them in .agent/skills, .agents/skills, .claude/skills or skills; others are named with --skills",
		}
	}
	entry := trustedProject{p.path, p.skills, len(p.orders), time.Now().UTC().Truncate(time.Second)}
	if !a.set.json {
		a.writeProject(p)
	}
	if len(p.orders) > 0 && !yes {
		ok, err := a.confirm("Some of it gives orders to the agent. Trust it all the same?")
		if err != nil || !ok {
			return err
		}
	}
	err = a.changeTrusted(func(t *trusted) {
		if i := t.find(p.path); i >= 0 {
			t.Projects[i] = entry
		} else {
			t.Projects = append(t.Projects, entry)
		}
	})
	switch {
	case err != nil:
		return err
	case a.set.json:
		return writeJSON(a.out, entry, true)
	}
	fmt.Fprintln(a.out, "trusted: the hook uses them from the next prompt on")
	return nil
}

// writeProject shows what a project has.
func (a *app) writeProject(p *project) {
	fmt.Fprintf(a.out, "%s: %s in %s\n", clean(p.path), plural(p.skills, "skill"), strings.Join(a.short(p.places), ", "))
	for _, s := range p.hidden {
		fmt.Fprintf(a.out, "   %s goes before yours in %s\n", clean(s.Name), a.short([]string{s.File})[0])
	}
	for _, x := range p.orders {
		fmt.Fprintf(a.out, "   %s\n", clean(x.String()))
	}
}

// confirm asks on a terminal; elsewhere --yes has to say it.
func (a *app) confirm(question string) (bool, error) {
	if !a.tty.in {
		return false, &useError{errors.New("nothing was changed: there is no terminal to ask on"), "--yes answers the question beforehand"}
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, err := readLine(a.in)
	if err != nil {
		return false, err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return true, nil
	}
	fmt.Fprintln(a.err, "nothing was changed")
	return false, nil
}

// readLine reads what is typed up to the end of the line, and nothing beyond.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		n, err := in.Read(one)
		if n > 0 {
			if one[0] == '\n' {
				return string(line), nil
			}
			line = append(line, one[0])
		}
		switch {
		case errors.Is(err, io.EOF):
			return string(line), nil
		case err != nil:
			return "", err
		}
	}
}

func (a *app) distrust(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	real := dir
	if to, err := filepath.EvalSymlinks(dir); err == nil { // else it is gone, and was trusted as it is written
		real = to
	}
	found := false
	err = a.changeTrusted(func(t *trusted) {
		if i := t.find(real); i >= 0 {
			found = true
			t.Projects = slices.Delete(t.Projects, i, i+1)
		}
	})
	switch {
	case err != nil:
		return err
	case !found:
		return &failure{fmt.Errorf("%s was not trusted", clean(real)), "`skillrouter trust --list` shows what is"}
	}
	fmt.Fprintf(a.out, "%s: trusted no more\n", clean(real))
	return nil
}

func (a *app) listTrusted() error {
	t, err := a.readTrusted()
	if err != nil {
		return err
	}
	if a.set.json {
		t.Projects = orEmpty(t.Projects)
		return writeJSON(a.out, t, true)
	}
	if len(t.Projects) == 0 {
		fmt.Fprintln(a.err, "no project is trusted: `skillrouter trust DIR` trusts one")
		return nil
	}
	var out table
	for _, p := range t.Projects {
		note := plural(p.Skills, "skill")
		if p.Orders > 0 {
			note += fmt.Sprintf(", %s of orders to the agent", plural(p.Orders, "finding"))
		}
		if _, err := os.Stat(p.Path); err != nil {
			note = "is gone"
		}
		out.add(a.short([]string{p.Path})[0], "since "+p.Since.Format(time.DateOnly), note)
	}
	out.write(a.out, "", a.width())
	return nil
}
