package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/internal/atomicfile"
)

// claudeCode is the client that the hook can set itself up for.
const claudeCode = "claude-code"

// knownClient checks the client that is named.
func knownClient(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return &useError{errors.New("name the client: " + claudeCode), helpHint(cmd)}
	case args[0] != claudeCode:
		return &useError{
			fmt.Errorf("no client %q: %s is known", args[0], claudeCode),
			"`skillrouter hook --help` shows what others are to run",
		}
	}
	return nil
}

// hookScope are the flags that say whose settings are meant.
type hookScope struct{ project, user bool }

func (s *hookScope) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.user, "user", false, "in the user's settings, ~/.claude/settings.json (the default)")
	cmd.Flags().BoolVar(&s.project, "project", false, "in those of this project that are not shared, .claude/settings.local.json")
}

func (a *app) hookInstallCommand() *cobra.Command {
	var scope hookScope
	var yes, dry bool
	h := &hook{app: a}
	cmd := &cobra.Command{
		Use:   "install claude-code",
		Short: "Set the hook up in a client's settings, after showing the change",
		Long: `install adds two entries to the settings of Claude Code: the hook before each
prompt, and at a compaction, after which what was shown is shown anew. It shows
the change and asks, keeps a copy of the file beside it, and builds the index.
All other settings stay as they are. The flags given go into the command, with
--skills as absolute paths. To change them install again.

Without --skills the hook uses the user's places and, where it runs, those of a
trusted project.`,
		Example: `  skillrouter hook install claude-code
  skillrouter hook install claude-code --skills ~/skills --dry-run
  skillrouter hook install claude-code --project --skills ./agent/skills --yes`,
		Args: knownClient,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := onlyOne(cmd, "project", "user"); err != nil {
				return err
			}
			command, err := a.hookCommandLine(given(cmd.Flags(), "format", "deadline", "log-text"))
			if err != nil {
				return err
			}
			return a.hookInstall(cmd.Context(), command, scope.project, yes, dry)
		},
	}
	scope.flags(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the change and make none")
	h.flags(cmd.Flags())
	return cmd
}

func (a *app) hookUninstallCommand() *cobra.Command {
	var scope hookScope
	var yes, dry bool
	cmd := &cobra.Command{
		Use:   "uninstall claude-code",
		Short: "Take the hook out of a client's settings again",
		Long: `uninstall removes the entries that run the hook, whichever flags they have, and
nothing else. It shows the change and asks, and keeps a copy of the file.`,
		Example: `  skillrouter hook uninstall claude-code`,
		Args:    knownClient,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := onlyOne(cmd, "project", "user"); err != nil {
				return err
			}
			path, err := a.claudeSettingsPath(scope.project)
			if err != nil {
				return err
			}
			_, err = a.changeSettings(path, yes, dry, func(s *claudeSettings) (string, error) {
				n, err := s.uninstall()
				if n == 0 {
					return "the hook is not in " + a.short([]string{path})[0], err
				}
				return "", err
			})
			return err
		},
	}
	scope.flags(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the change and make none")
	return cmd
}

func (a *app) hookInstall(ctx context.Context, command string, ofProject, yes, dry bool) error {
	path, err := a.claudeSettingsPath(ofProject)
	if err != nil {
		return err
	}
	wanted, err := a.changeSettings(path, yes, dry, func(s *claudeSettings) (string, error) {
		before := s.bytes()
		err := s.install(command)
		if bytes.Equal(before, s.bytes()) {
			return "the hook is in " + a.short([]string{path})[0] + " already, as it should be", err
		}
		return "", err
	})
	if err != nil || !wanted {
		return err
	}
	return a.hookFirstBuild(ctx)
}

// hookFirstBuild builds the index that the hook will answer from.
func (a *app) hookFirstBuild(ctx context.Context) error {
	places, err := a.hookPlaces("")
	if err != nil {
		return err
	}
	if len(places.dirs) == 0 {
		fmt.Fprintf(a.err, "none of the user's places exists yet (%s): the hook adds nothing until one does\n", strings.Join(a.short(a.userPlaces()), ", "))
		return nil
	}
	ix, err := a.buildKept(ctx, places)
	switch {
	case err != nil:
		return &failure{fmt.Errorf("the hook is set up, but its index was not built: %w", err), "`skillrouter list --problems` with the same --skills tells more"}
	case ix != nil && len(ix.Skills()) == 0:
		fmt.Fprintf(a.err, "no skill was found in %s: the hook adds nothing until there is one; `skillrouter list --problems` with the same --skills tells more\n", strings.Join(a.short(places.dirs), ", "))
	case ix != nil:
		fmt.Fprintf(a.err, "built the index of %s in %s\n", plural(len(ix.Skills()), "skill"), strings.Join(a.short(places.dirs), ", "))
	}
	return nil
}

// hookCommandLine is what a client is to run, with the hook's own flags.
func (a *app) hookCommandLine(own []string) (string, error) {
	program, err := self()
	if err != nil {
		return "", err
	}
	if strings.Contains(filepath.ToSlash(program), "/go-build") {
		return "", &failure{
			fmt.Errorf("%s is gone after this run", program),
			"install the program first: go install ./cmd/skillrouter",
		}
	}
	words := []string{program, "hook"}
	for _, place := range a.set.skills {
		if err := checkPlace(place); err != nil {
			return "", &failure{fmt.Errorf("--skills %s: %w", place, err), "name a folder of skills, a .jsonl catalog or a saved index"}
		}
		full, err := filepath.Abs(place)
		if err != nil {
			return "", err
		}
		words = append(words, "--skills", full)
	}
	words = append(words, given(a.global, "depth", "exclude", "threshold", "max-summaries", "summary-turns", "definition-life",
		"orders", "mode", "lang", "embed-model", "embed-url", "embed-prefix")...)
	return quoteWords(append(words, own...)), nil
}

// changeSettings changes a client's settings, after showing how and asking.
// change returns what to say instead where there is nothing to do. wanted is
// false where the user did not agree, or only looked.
func (a *app) changeSettings(path string, yes, dry bool, change func(*claudeSettings) (string, error)) (wanted bool, err error) {
	old, mode, err := readSettings(path)
	if err != nil {
		return false, err
	}
	shown := a.short([]string{path})[0]
	broken := func(err error) error {
		return &failure{fmt.Errorf("%s: %w", shown, err), "mend the file first: it stays as it is"}
	}
	s, err := parseClaudeSettings(old)
	if err != nil {
		return false, broken(err)
	}
	nothing, err := change(s)
	if err != nil {
		return false, broken(err)
	}
	if nothing != "" {
		fmt.Fprintln(a.err, nothing)
		return !dry, nil
	}
	now := s.bytes()
	fmt.Fprint(a.out, changeOf(shown, old, now))
	if dry {
		fmt.Fprintln(a.err, "nothing was changed: --dry-run")
		return false, nil
	}
	if !yes {
		ok, err := a.confirm("Change " + shown + "?")
		if err != nil || !ok {
			return false, err
		}
	}
	return true, a.writeSettings(path, old, now, mode)
}

// readSettings returns a file that need not be there. A link must lead to one:
// writing would put a file in its place.
func readSettings(path string) ([]byte, fs.FileMode, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return nil, 0, &failure{
				fmt.Errorf("%s is a link to %s, which is not there", path, to),
				"make that file (it may be empty), or remove the link",
			}
		}
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	return data, info.Mode().Perm(), nil
}

// writeSettings writes what was agreed to, unless the file changed meanwhile,
// and keeps what was there.
func (a *app) writeSettings(path string, old, now []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // a link into a folder of dot files stays one
	}
	again, _, err := readSettings(path)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(again, old):
		return &failure{fmt.Errorf("%s was changed meanwhile: nothing was written", path), "run it again"}
	}
	write := func(path string, data []byte) error {
		return atomicfile.Replace(path, mode, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	kept := ""
	if old != nil {
		backup := path + ".before-skillrouter"
		if err := write(backup, old); err != nil {
			return err
		}
		kept = ", as it was in " + a.short([]string{backup})[0]
	}
	if err := write(path, now); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "changed %s%s\n", a.short([]string{path})[0], kept)
	return nil
}
