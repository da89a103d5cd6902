package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/router"
)

// settings are the flags that all verbs have. Zero values mean that a flag was
// not given; "off", which flags write as 0, is a negative number here as in
// the library.
type settings struct {
	skills       []string
	depth        count
	exclude      []string
	threshold    share
	maxSummaries count
	summaryTurns count
	mode         word
	lang         word
	orders       word
	definitions  word
	json         bool
	noCache      bool
	embedModel   string
	embedURL     string
	embedPrefix  string
	without      parts
}

func (a *app) flags(f *pflag.FlagSet) {
	s := &a.set
	s.mode = word{of: []string{"auto", "flat", "layered"}}
	s.lang = word{of: []string{"en", "zh"}}
	s.orders = word{of: []string{"note", "warn", "block"}}
	s.definitions = word{of: []string{"task", "session"}}
	f.StringArrayVar(&s.skills, "skills", nil, "`PATH` of a folder of skills, a .jsonl catalog or a saved index; may repeat, later ones win")
	f.Var(&s.depth, "depth", "levels of folders looked at, 0 for all (default 6)")
	f.StringArrayVar(&s.exclude, "exclude", nil, "`NAME` of a skill that is not to exist; may repeat")
	f.Var(&s.threshold, "threshold", "lowest score kept, 0 to 1, 0 for all (default the catalog's, else 0.72)")
	f.Var(&s.maxSummaries, "max-summaries", "summaries shown at once, 0 for all (default the catalog's, else 25)")
	f.Var(&s.summaryTurns, "summary-turns", "turns a summary is kept, 0 for no cache (default the catalog's, else 5)")
	f.Var(&s.definitions, "definition-life", "how long loaded definitions stay: task or session (default task)")
	f.Var(&s.orders, "orders", "what to do about skills whose text gives orders to the agent: note, warn or block (default note)")
	f.Var(&s.mode, "mode", "show the catalog auto, flat or layered (default the catalog's, else auto: flat up to 20 skills)")
	f.Var(&s.without, "without", "`PARTS` of the evidence to leave out: words, vectors, phrases")
	f.Var(&s.lang, "lang", "language of the fixed phrases of prompts: en or zh (default that of the text)")
	f.BoolVar(&s.json, "json", false, "write JSON")
	f.StringVar(&s.embedModel, "embed-model", "", "`MODEL` of an OpenAI-compatible endpoint to embed with, in place of the built-in embedder; the key is OPENAI_API_KEY")
	f.StringVar(&s.embedURL, "embed-url", "", "`URL` of that endpoint, mostly ending in /v1 (default OPENAI_BASE_URL, else OpenAI's own)")
	f.StringVar(&s.embedPrefix, "embed-prefix", "", "`TEXT` put before every text for models that were trained so")
	f.BoolVar(&s.noCache, "no-cache", false, "neither use nor keep indexes that were built before")
}

// environment sets the flags that were not given from SKILLROUTER_….
func (a *app) environment(cmd *cobra.Command) error {
	var wrong error
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		name := "SKILLROUTER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := a.env(name)
		if f.Changed || value == "" {
			return
		}
		values := []string{value}
		switch f.Name {
		case "skills":
			values = filepath.SplitList(value)
		case "exclude":
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if v = strings.TrimSpace(v); v == "" {
				continue
			}
			if err := f.Value.Set(v); err != nil && wrong == nil {
				wrong = &useError{fmt.Errorf("%s=%s: %w", name, value, err), "--" + f.Name + ": " + f.Usage}
			}
		}
	})
	return wrong
}

// options are the settings as the library takes them.
func (s *settings) options() router.Options {
	mode := router.Mode(s.mode.value)
	if mode == "auto" {
		mode = router.Auto
	}
	return router.Options{
		Threshold: float64(s.threshold), MaxSummaries: int(s.maxSummaries), SummaryTurns: int(s.summaryTurns),
		Mode: mode, Lang: s.lang.value, Without: index.Parts(s.without), SessionDefinitions: s.definitions.value == "session",
	}
}

// level is what to do about orders in catalog text.
func (s *settings) level() definitions.Level {
	switch s.orders.value {
	case "warn":
		return definitions.Warn
	case "block":
		return definitions.Block
	default:
		return definitions.Flag
	}
}

// allow tells which skills exist; nil means all.
func (s *settings) allow() func(name string) bool {
	if len(s.exclude) == 0 {
		return nil
	}
	return func(name string) bool { return !slices.Contains(s.exclude, name) }
}

// count is a flag for a number of things, 0 for off.
type count int

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || n < 0:
		return errors.New("must be a whole number, 0 for off")
	case n == 0:
		n = -1
	}
	*c = count(n)
	return nil
}

func (c *count) String() string { return number(*c == 0, *c < 0, strconv.Itoa(int(*c))) }
func (c *count) Type() string   { return "N" }

// share is a flag for a number from 0 to 1, 0 for off.
type share float64

func (x *share) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || !(v >= 0 && v <= 1):
		return errors.New("must be a number from 0 to 1, such as 0.72")
	case v == 0:
		v = -1
	}
	*x = share(v)
	return nil
}

func (x *share) String() string {
	return number(*x == 0, *x < 0, strconv.FormatFloat(float64(*x), 'g', -1, 64))
}
func (x *share) Type() string { return "SCORE" }

// number is a number as flags write it; "" if it was not given.
func number(unset, off bool, value string) string {
	switch {
	case unset:
		return ""
	case off:
		return "0"
	default:
		return value
	}
}

// word is a flag for one word of a few.
type word struct {
	value string
	of    []string
}

func (w *word) Set(s string) error {
	if !slices.Contains(w.of, s) {
		return errors.New("must be " + strings.Join(w.of, " or "))
	}
	w.value = s
	return nil
}

func (w *word) String() string { return w.value }
func (w *word) Type() string   { return "WORD" }

// parts is a flag for parts of the evidence, by commas.
type parts index.Parts

// partNames are the parts as flags name them.
func partNames() []string { return []string{"words", "vectors", "phrases"} }

func partNamed(name string) index.Parts {
	return map[string]index.Parts{"words": index.Lexical, "vectors": index.Semantic, "phrases": index.Phrases}[name]
}

func (p *parts) Set(s string) error {
	var all index.Parts
	for name := range strings.SplitSeq(s, ",") {
		part := partNamed(strings.TrimSpace(name))
		if part == 0 {
			return errors.New("must be some of " + strings.Join(partNames(), ", "))
		}
		all |= part
	}
	*p = parts(all)
	return nil
}

func (p *parts) String() string {
	var names []string
	for _, name := range partNames() {
		if index.Parts(*p)&partNamed(name) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

func (p *parts) Type() string { return "PARTS" }
