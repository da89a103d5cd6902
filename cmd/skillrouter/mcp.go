package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/server/mcp"
)

// tokenVariable is where a token is found that no file has.
const tokenVariable = "SKILLROUTER_TOKEN"

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	http      string
	tokenFile string
	hosts     []string
	refresh   time.Duration
	stateless bool
	verbose   bool
	utterance bool
	usage     string
}

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the skills to agents by the Model Context Protocol",
		Long: `mcp serves the skills to one client over stdin and stdout, as most clients want
to start it, or with --http to many over streamable HTTP at /mcp. Clients get

  tools      route (what fits what the user said), skill_load,
             skill_select_docs, skill_extension, unload_skill, search_skills,
             list_skills, skill_status, read_file
  resources  skill://NAME/SKILL.md, skill://NAME/docs/PATH, with notices of
             changes
  prompts    the skills that are for people only (manual)

and the domains in the instructions. A connection is one session: route knows
the turns before.

Without --skills your own places are taken, ~/.agents/skills and
~/.claude/skills; folders of a project only when they are named or trusted
(skillrouter trust), because whoever writes a skill writes into the agent's
context.

Beyond this machine a token is needed, in --token-file or SKILLROUTER_TOKEN;
clients send it as "Authorization: Bearer TOKEN". There is no TLS: put a proxy
that has it before the server. Logs go to stderr, without what was said.`,
		Example: `  skillrouter mcp --skills ./skills                    # a client starts this
  claude mcp add skillrouter -- skillrouter mcp --skills ~/.claude/skills
  skillrouter mcp --http 127.0.0.1:8765                # clients: http://127.0.0.1:8765/mcp
  skillrouter mcp --http :8765 --token-file token.txt --host skills.example.com`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd.Context(), cmd, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.http, "http", "", "serve over HTTP at `ADDR`, such as 127.0.0.1:8765, in place of stdio")
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` that holds the token clients must send")
	flags.StringArrayVar(&f.hosts, "host", nil, "`NAME` by which clients reach the server, behind a proxy; may repeat")
	flags.DurationVar(&f.refresh, "refresh", 10*time.Second, "look for changed skills every `TIME`, 0 for never")
	flags.BoolVar(&f.stateless, "stateless", false, "over HTTP keep nothing of a connection: the session is an argument (for clients that speak protocol 2026-07-28 only)")
	flags.BoolVar(&f.verbose, "verbose", false, "log every call")
	flags.StringVar(&f.usage, "usage", "", "`FILE` that the use of skills is noted in, for health (default beside the kept indexes)")
	flags.BoolVar(&f.utterance, "log-utterances", false, "log every call, with what was said")
	return cmd
}

func (a *app) mcp(ctx context.Context, cmd *cobra.Command, f *mcpFlags) error {
	for _, name := range []string{"token-file", "host", "stateless"} {
		if f.http == "" && cmd.Flags().Changed(name) {
			return &useError{fmt.Errorf("--%s goes with --http", name), helpHint(cmd)}
		}
	}
	if f.refresh < 0 {
		return &useError{errors.New("--refresh is a time such as 10s, or 0 for never"), helpHint(cmd)}
	}
	token, err := a.token(f.tokenFile)
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if f.verbose || f.utterance {
		level = slog.LevelInfo
	}
	a.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	if len(a.set.skills) == 0 {
		places, err := a.hookPlaces(a.env("CLAUDE_PROJECT_DIR")) // the user's own, and a project's that is trusted
		if err != nil {
			return err
		}
		if len(places.dirs) == 0 {
			return &useError{errors.New("no skills: neither ~/.agents/skills nor ~/.claude/skills exists"), "name a folder with --skills DIR"}
		}
		fmt.Fprintf(a.err, "using %s\n", strings.Join(a.short(places.dirs), ", "))
		if len(places.untrusted) > 0 {
			fmt.Fprintf(a.err, "not used: %s; skillrouter trust shows what is in them and asks\n", strings.Join(a.short(places.untrusted), ", "))
		}
		a.set.skills = places.dirs
	}
	defer a.noteUse(f.usage)()
	return a.with(ctx, false, func(c *catalog) error {
		o := &mcp.Options{
			Allow: a.set.allow(), Refresh: f.refresh, Stateless: f.stateless,
			Lang: a.set.lang.value, Version: moduleVersion(), Logger: a.log, LogUtterances: f.utterance,
		}
		if o.Refresh == 0 {
			o.Refresh = -1
		}
		s, err := mcp.New(c.Router.Router, o)
		if err != nil {
			return err
		}
		skills := plural(len(c.Index().Skills()), "skill")
		if f.http != "" {
			return errors.Join(a.mcpHTTP(ctx, s, f, token, skills), s.Close())
		}
		if a.tty.in {
			fmt.Fprintf(a.err, "serving %s over stdin and stdout, where an MCP client is to be; ctrl-C ends it\n", skills)
		}
		return errors.Join(s.Run(ctx, io.NopCloser(a.in), unclosed{a.out}), s.Close())
	})
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// token reads the token of a file, else of the environment.
func (a *app) token(file string) (string, error) {
	if file == "" {
		return strings.TrimSpace(a.env(tokenVariable)), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", &failure{fmt.Errorf("--token-file %s: is empty", file), "write a long random word into it, as `openssl rand -hex 32` makes one"}
	}
	return token, nil
}

func (a *app) mcpHTTP(ctx context.Context, s *mcp.Server, f *mcpFlags, token, skills string) error {
	hint := "give an address such as 127.0.0.1:8765, whose port is free"
	addr, err := net.ResolveTCPAddr("tcp", f.http)
	if err != nil {
		return &useError{fmt.Errorf("--http %s: %w", f.http, err), hint}
	}
	if token == "" && !addr.IP.IsLoopback() { // the server would refuse, but not before the port is open
		return &failure{
			fmt.Errorf("--http %s can be reached from other machines: without a token anyone could use it", f.http),
			"set " + tokenVariable + " or --token-file, or listen on 127.0.0.1",
		}
	}
	l, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return &failure{fmt.Errorf("--http %s: %w", f.http, err), hint}
	}
	fmt.Fprintf(a.err, "serving %s at http://%s%s\n", skills, l.Addr(), mcp.Path)
	return s.Serve(ctx, l, &mcp.HTTPOptions{Token: token, Hosts: f.hosts})
}
