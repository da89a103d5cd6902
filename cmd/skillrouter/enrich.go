package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/embed/openai"
	"skillrouter/keeper"
)

// enrichFlags are the flags of enrich.
type enrichFlags struct {
	model, url, languages, drafts string

	limit      int
	yes, write bool
}

func (a *app) enrichCommand() *cobra.Command {
	flags := enrichFlags{languages: "en"}
	cmd := &cobra.Command{
		Use:   "enrich",
		Short: "Have a chat model draft summaries, triggers and differences",
		Long: `enrich asks a chat model, at OpenAI or any endpoint that speaks its API, for what the
authors of skills did not write: the summary, triggers in the languages of --languages,
what the skill is not for, and how it differs from those like it. Name, description and
the beginning of each SKILL.md are sent there; the key is OPENAI_API_KEY.

Without --yes it only tells what that would cost. Each answer goes through the checks of
lint and is asked for again, with what was found, up to three times. Answers are kept as
they come, so that a run that ended early goes on where it stopped, and none is paid for
twice while model, languages and the skill's file stay the same.

Then it shows the lines that would be added to the skillrouter.yaml of the folder: read
them. --write adds them; it asks nothing. A skill that the file has is left as it is.`,
		Example: `  skillrouter enrich --skills ./skills --model gpt-4o-mini --languages en,zh
  skillrouter enrich --skills ./skills --model gpt-4o-mini --languages en,zh --yes
  skillrouter enrich --skills ./skills --model gpt-4o-mini --languages en,zh --write
  skillrouter enrich --skills ./skills --model qwen3 --url http://127.0.0.1:11434/v1 --limit 5 --yes`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case a.set.json:
				return &useError{errors.New("enrich writes no JSON"), "--drafts FILE keeps the answers as JSON lines"}
			case flags.model == "":
				return &useError{errors.New("no --model: which one is to be asked?"), helpHint(cmd)}
			case flags.limit < 0:
				return &useError{errors.New("--limit must be 0 or more"), helpHint(cmd)}
			}
			lint := lintFlags{languages: flags.languages}
			if err := lint.read(); err != nil {
				return err
			}
			return a.with(cmd.Context(), false, func(c *catalog) error { return a.enrich(cmd.Context(), c, &flags, lint.spoken) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.model, "model", "", "`MODEL` to ask")
	f.StringVar(&flags.url, "url", "", "`URL` of its endpoint, mostly ending in /v1 (default OPENAI_BASE_URL, else OpenAI's own)")
	f.StringVar(&flags.languages, "languages", flags.languages, "`LIST` of the languages that triggers are wanted in, such as en,zh")
	f.IntVar(&flags.limit, "limit", 0, "ask for `N` skills at most (default all)")
	f.BoolVar(&flags.yes, "yes", false, "ask the model")
	f.BoolVar(&flags.write, "write", false, "add what it wrote to the skillrouter.yaml of the folder")
	f.StringVar(&flags.drafts, "drafts", "", "`FILE` that answers are kept in (default beside the kept indexes)")
	return cmd
}

func (a *app) enrich(ctx context.Context, c *catalog, flags *enrichFlags, languages []string) error {
	if err := a.writable(c, false, false); err != nil {
		return err
	}
	loaded, err := a.load(ctx, c)
	if err != nil {
		return err
	}
	defer loaded.Source().Close() // writable: it is a folder
	path, err := a.draftsPath(c, flags, languages)
	if err != nil {
		return err
	}
	kept, err := readDrafts(path, loaded)
	if err != nil {
		return err
	}
	o := &keeper.EnrichOptions{
		Lint:      &keeper.LintOptions{Catalog: loaded, Allow: a.set.allow()},
		Languages: languages, Most: flags.limit,
		Skip: func(skill, _ string) bool { return kept[skill] != nil },
	}
	if !flags.write {
		if err := a.askFor(ctx, c, flags, o, path, kept); err != nil {
			return err
		}
	}
	return a.showEnriched(c, loaded, kept, flags.write)
}

// askFor tells what is to be asked for and what it costs and, with --yes, asks. Answers are
// kept at path and put into kept.
func (a *app) askFor(ctx context.Context, c *catalog, flags *enrichFlags, o *keeper.EnrichOptions, path string, kept map[string]*keeper.Enriched) error {
	cost, err := keeper.EnrichCost(ctx, c.Index(), o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s to ask %s for: about %d tokens to send, %d to get, more where an answer does not pass\n",
		plural(cost.Skills, "skill"), clean(flags.model), cost.Input, cost.Output)
	if cost.Skills == 0 {
		return nil
	}
	if !flags.yes {
		fmt.Fprintln(a.err, "nothing was sent; --yes asks")
		return nil
	}
	const patience = 2 * time.Minute // a model of one's own may be slow
	chat, err := openai.NewChat(&openai.Options{
		BaseURL: cmp.Or(flags.url, a.env("OPENAI_BASE_URL")), Key: a.env("OPENAI_API_KEY"), Model: flags.model, Timeout: patience,
	})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		if _, err := file.WriteString("\n"); err != nil { // the last line may be torn: it must not take the next one with it
			return errors.Join(err, file.Close())
		}
	}
	progress := a.progress()
	progress.what = "asking: %d of %d skills"
	done, failed := 0, 0
	o.Refused = func(err error) bool {
		var no *openai.AnswerError
		return errors.As(err, &no)
	}
	o.Done = func(x *keeper.Enriched) error {
		done++
		progress.show(done, cost.Skills)
		if x.Failed != "" {
			failed++
			progress.end()
			fmt.Fprintf(a.err, "%s: %s\n", clean(x.Skill), clean(x.Failed))
			return nil // to be asked for again
		}
		kept[x.Skill] = x
		line, err := json.Marshal(x)
		if err != nil {
			return err
		}
		_, err = file.Write(append(line, '\n'))
		return err
	}
	_, err = keeper.Enrich(ctx, c.Index(), chat, o)
	progress.end()
	if err := errors.Join(err, file.Close()); err != nil {
		if done > failed {
			fmt.Fprintf(a.err, "%s kept in %s: run it again to go on\n", plural(done-failed, "answer"), a.short([]string{path})[0])
		}
		return err
	}
	return nil
}

// showEnriched shows, or writes, what is kept as additions to the skillrouter.yaml of c.
func (a *app) showEnriched(c *catalog, loaded *definitions.Catalog, kept map[string]*keeper.Enriched, write bool) error {
	var drafts []domains.SkillDraft
	for i := range loaded.Skills {
		if x := kept[loaded.Skills[i].Name]; x != nil {
			drafts = append(drafts, x.Draft())
		}
	}
	if len(drafts) == 0 {
		fmt.Fprintln(a.out, "no answers are kept")
		return nil
	}
	return a.putDrafts(c, drafts, write, false)
}

// draftsPath is the file in which answers about c are kept.
func (a *app) draftsPath(c *catalog, flags *enrichFlags, languages []string) (string, error) {
	if flags.drafts != "" {
		return flags.drafts, nil
	}
	dir := a.cacheDir()
	if dir == "" {
		return "", &useError{errors.New("answers are to be kept, but with --no-cache nothing is"), "name a file with --drafts FILE"}
	}
	full, err := filepath.Abs(c.lastPlace())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{full, flags.model, strings.Join(languages, ",")}, "\x00")))
	return filepath.Join(dir, "enrich-"+hex.EncodeToString(sum[:8])+".jsonl"), os.MkdirAll(dir, 0o755)
}

// readDrafts reads the answers that are kept for skills as they are now, by skill. A line
// that a crash tore is passed over.
func readDrafts(path string, loaded *definitions.Catalog) (map[string]*keeper.Enriched, error) {
	kept := make(map[string]*keeper.Enriched)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var x keeper.Enriched
		if json.Unmarshal(lines.Bytes(), &x) != nil || x.Failed != "" {
			continue
		}
		if s, ok := loaded.Skill(x.Skill); ok && s.Hash == x.Hash {
			kept[x.Skill] = &x
		}
	}
	return kept, lines.Err()
}
