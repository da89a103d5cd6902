package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter"
	"skillrouter/cache/files"
)

// logLines is how much of the log status shows.
const logLines = 5

func (a *app) hookStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [claude-code]",
		Short: "Tell where the hook is set up, and how it is doing",
		Long: `status tells in which settings of Claude Code the hook stands, whether the
command is there, which folders it answers from and how old its index is, whether
the project in the current folder is trusted, how many sessions are kept, and
shows the end of the log.`,
		Example: `  skillrouter hook status
  skillrouter hook status --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return knownClient(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.hookStatus(cmd.Context())
			if err != nil {
				return err
			}
			if a.set.json {
				return writeJSON(a.out, s, true)
			}
			a.writeHookStatus(s)
			return nil
		},
	}
}

// A hookStatus is how the hook is doing.
type hookStatus struct {
	Settings []settingsStatus `json:"settings"`
	Places   []string         `json:"places"`
	Index    indexStatus      `json:"index"`
	Project  projectStatus    `json:"project"`
	Sessions int              `json:"sessions"`
	Log      string           `json:"log"`
	Lines    []string         `json:"log_lines"`
}

type settingsStatus struct {
	File    string   `json:"file"`
	Command string   `json:"command"` // "" where the hook is not set up
	Events  []string `json:"events"`
	Problem string   `json:"problem,omitempty"`
}

type indexStatus struct {
	State   string    `json:"state"` // fresh, changed, none
	Built   time.Time `json:"built,omitzero"`
	Skills  int       `json:"skills"`
	Domains int       `json:"domains"`
	Hides   []string  `json:"hides"` // skills of the user that the project's go before
	Problem string    `json:"problem,omitempty"`
}

type projectStatus struct {
	Trusted   string   `json:"trusted"`   // the folder that is, "" for none
	Untrusted []string `json:"untrusted"` // folders of skills that are not used
}

// hookStatus looks around. What is wrong with one part hides no other.
func (a *app) hookStatus(ctx context.Context) (*hookStatus, error) {
	s := &hookStatus{}
	for _, ofProject := range []bool{false, true} {
		path, err := a.claudeSettingsPath(ofProject)
		if err != nil {
			return nil, err
		}
		s.Settings = append(s.Settings, a.settingsStatus(path))
	}
	// Those that a project shares are not ours to write, but they may have it.
	shared := filepath.Join(".claude", "settings.json")
	if x := a.settingsStatus(shared); x.Command != "" && !sameFile(shared, s.Settings[0].File) {
		s.Settings = append(s.Settings, x)
	}
	// What the hook uses is what its command says, if this one says nothing.
	as := a
	for _, x := range s.Settings {
		if x.Command != "" && len(a.set.skills) == 0 {
			as = a.asInstalled(x.Command)
			break
		}
	}
	places, err := as.hookPlaces("")
	if err != nil {
		return nil, err
	}
	s.Places = orEmpty(places.dirs)
	s.Project = projectStatus{places.project, orEmpty(places.untrusted)}
	s.Index = as.indexStatus(ctx, places)

	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	if at := filepath.Join(dir, "sessions"); isDir(at) {
		store, err := files.Open(at, nil)
		if err != nil {
			return nil, err
		}
		if s.Sessions, err = store.Len(); err != nil {
			return nil, err
		}
	}
	s.Log = filepath.Join(dir, hookLogFile)
	s.Lines, err = logFile(s.Log).tail(logLines)
	s.Lines = orEmpty(s.Lines)
	return s, err
}

func sameFile(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (a *app) settingsStatus(path string) settingsStatus {
	out := settingsStatus{File: path, Events: []string{}}
	data, _, err := readSettings(path)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	settings, err := parseClaudeSettings(data)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	for _, h := range settings.handlers() {
		if out.Command == "" {
			out.Command = h.command
		}
		out.Events = append(out.Events, h.event)
	}
	switch words, err := splitWords(out.Command); {
	case out.Command == "":
	case err != nil:
		out.Problem = "the command cannot be read: " + err.Error()
	default:
		if _, err := exec.LookPath(words[0]); err != nil {
			out.Problem = "there is no program " + words[0]
		} else if !strings.Contains(strings.Join(out.Events, " "), "UserPromptSubmit") {
			out.Problem = "it does not run before prompts: install it again"
		}
	}
	return out
}

// asInstalled is this program as the command of a client's settings runs it.
func (a *app) asInstalled(command string) *app {
	as := &app{env: a.env, err: a.err, out: a.out, tty: a.tty}
	as.global = pflag.NewFlagSet("hook", pflag.ContinueOnError)
	as.global.ParseErrorsAllowlist.UnknownFlags = true // those of hook alone
	as.flags(as.global)
	if words, err := splitWords(command); err == nil && len(words) > 2 {
		if err := as.global.Parse(words[2:]); err != nil {
			fmt.Fprintf(a.err, "the command of the settings: %v\n", err)
		}
	}
	return as
}

// indexStatus tells how the index of the places is.
func (a *app) indexStatus(ctx context.Context, places *hookPlaces) indexStatus {
	out := indexStatus{State: "none", Hides: []string{}}
	if len(places.dirs) == 0 {
		return out
	}
	o, err := a.hookOptions(ctx)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	kept, err := skillrouter.FindKept(o, places.dirs...)
	if errors.Is(err, fs.ErrNotExist) {
		out.Problem = a.lastBuild(places)
		return out
	}
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	r, err := kept.Open(ctx)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	defer r.Close()
	out.State, out.Built = "fresh", kept.Built.UTC().Truncate(time.Second)
	out.Skills, out.Domains = len(r.Index().Skills()), len(r.Index().Domains())
	out.Hides = orEmpty(places.shadowed(r.Index()))
	switch changed, err := kept.Changed(ctx); {
	case err != nil:
		out.Problem = err.Error()
	case changed:
		out.State, out.Problem = "changed", a.lastBuild(places)
	}
	return out
}

// lastBuild is why the index was not built when that was tried last, "" if it
// was or was not tried.
func (a *app) lastBuild(places *hookPlaces) string {
	name, err := a.buildName(places)
	if err != nil {
		return err.Error()
	}
	said, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return clean(string(said))
}

func (a *app) writeHookStatus(s *hookStatus) {
	var t table
	for _, x := range s.Settings {
		what := "not set up"
		switch {
		case x.Command != "" && x.Problem == "":
			what = "set up: " + x.Command
		case x.Command != "":
			what = "set up, but " + x.Problem + ": " + x.Command
		case x.Problem != "":
			what = x.Problem
		}
		t.add(a.short([]string{x.File})[0], clean(what))
	}
	if len(s.Places) == 0 {
		t.add("places", "none: "+strings.Join(a.short(a.userPlaces()), " and ")+" do not exist")
	} else {
		t.add("places", strings.Join(a.short(s.Places), ", "))
	}
	t.add("index", s.Index.String())
	if len(s.Index.Hides) > 0 {
		t.add("hidden", "skills of yours that the project's go before: "+strings.Join(cleanAll(s.Index.Hides), ", "))
	}
	switch {
	case s.Project.Trusted != "":
		t.add("project", a.short([]string{s.Project.Trusted})[0]+" is trusted")
	case len(s.Project.Untrusted) > 0:
		t.add("project", "not trusted, its skills are not used: "+strings.Join(a.short(s.Project.Untrusted), ", ")+"; `skillrouter trust` allows them")
	}
	t.add("sessions", fmt.Sprintf("%d kept", s.Sessions))
	t.add("log", a.short([]string{s.Log})[0])
	t.write(a.out, "", a.width())
	for _, line := range s.Lines {
		fmt.Fprintf(a.out, "   %s\n", clean(line))
	}
}

func (s indexStatus) String() string {
	built := fmt.Sprintf("%s in %s, built %s ago", plural(s.Skills, "skill"), plural(s.Domains, "domain"), age(time.Since(s.Built)))
	switch {
	case s.State == "none" && s.Problem != "":
		return "none: " + s.Problem
	case s.State == "none":
		return "none yet"
	case s.State == "changed" && s.Problem != "":
		return built + "; the folders changed since, and building it anew failed: " + s.Problem
	case s.State == "changed":
		return built + "; the folders changed since: the next prompt has it built anew"
	case s.Problem != "":
		return built + "; " + s.Problem
	default:
		return built + ", fresh"
	}
}
