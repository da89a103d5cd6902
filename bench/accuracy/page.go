package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"skillrouter/eval"
	"skillrouter/internal/atomicfile"
	"skillrouter/internal/text"
)

// A page is all that the generated page shows. It is rendered from nothing else.
type page struct {
	Commit, Machine string
	Embedder        string
	Sets            []measured
	Peers           *peerFigures // nil: no table of peers
}

// A measured is one set over one catalog.
type measured struct {
	Name      string
	Skills    int
	Domains   int
	Triggers  float64 // written ones, mean a skill
	Language  string
	Threshold float64
	Embedder  string
	Kinds     []kindFigures // in order of their first utterance; nil if the set has no kinds
	figures
}

type kindFigures struct {
	Kind string
	figures
}

// figures are shares from 0 to 1; those of rows that a set does not have are not known.
type figures struct {
	InScope, OutOfScope           int
	SkillHit1, SkillHit5, DomHit1 eval.Number
	Right, Wrong, None, Abstained eval.Number
	AUROC, ECE                    eval.Number
	Median                        eval.Number // microseconds
}

func figuresOf(rep *eval.Figures) figures {
	return figures{
		InScope: rep.InScope, OutOfScope: rep.OutOfScope,
		SkillHit1: rep.SkillHit1, SkillHit5: rep.SkillHit5, DomHit1: rep.DomainHit1,
		Right: rep.RightMatch, Wrong: rep.WrongMatch, None: rep.NoMatch, Abstained: rep.AbstainRecall,
		AUROC: rep.AbstainAUROC, ECE: rep.ECE, Median: rep.LatencyP50,
	}
}

// writePage measures every set found below the folder sets and writes the page
// to path. peers names what bench/peers wrote, "" for none.
func writePage(path, sets, catalogs, queries string, threshold float64, peers, commit string, names []string) error {
	p := page{Commit: commit, Machine: machine()}
	var err error
	if peers != "" {
		if p.Peers, err = readPeers(peers); err != nil {
			return err
		}
	}
	if p.Sets, err = measureAll(sets, catalogs, queries, threshold, names); err != nil {
		return err
	}
	p.Embedder = p.Sets[0].Embedder
	return atomicfile.Replace(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(p.render())
		return err
	})
}

// measureAll measures every set below the folder sets, in order of their
// paths; names restricts it to some. A set whose folder of skills is in
// catalogs is measured with it and, if there is one, with its catalog.jsonl.
func measureAll(sets, catalogs, queries string, threshold float64, names []string) ([]measured, error) {
	var out []measured
	err := filepath.WalkDir(sets, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != queries {
			return err
		}
		dir := filepath.Dir(path)
		rel, err := filepath.Rel(sets, dir)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if name == "." {
			name = filepath.Base(dir)
		}
		if len(names) > 0 && !slices.Contains(names, name) {
			return nil
		}
		lines := filepath.Join(dir, "catalog.jsonl")
		_, noLines := os.Stat(lines)
		folder := filepath.Join(catalogs, filepath.FromSlash(name))
		var found [][2]string // name to show, catalog
		if catalogs != "" && isDir(folder) {
			found = append(found, [2]string{name, folder})
		}
		switch {
		case noLines == nil && len(found) > 0:
			found = append(found, [2]string{name + ", descriptions only", lines})
		case noLines == nil:
			found = append(found, [2]string{name, lines})
		case len(found) == 0:
			return fmt.Errorf("%s: no catalog.jsonl beside %s, and no folder %s in -catalogs", dir, queries, name)
		}
		for _, f := range found {
			m, err := measureOne(f[1], path, threshold)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			m.Name = f[0]
			out = append(out, *m)
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no folder below it holds %s", sets, queries)
	}
	return out, err
}

func measureOne(catalog, queries string, threshold float64) (*measured, error) {
	ctx := context.Background()
	r, cases, err := load(ctx, catalog, queries, threshold)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rep, err := eval.Run(ctx, r.Router, cases, nil)
	if err != nil {
		return nil, err
	}
	ix := r.Index()
	m := &measured{
		Skills: len(ix.Skills()), Domains: len(ix.Domains()), Language: language(cases),
		Threshold: rep.Conditions.Threshold, Embedder: ix.EmbedderID(), figures: figuresOf(rep.Figures),
	}
	for _, s := range ix.Skills() {
		d, err := ix.Get(s.Name)
		if err != nil {
			return nil, err
		}
		m.Triggers += float64(len(d.Triggers)) / float64(m.Skills)
	}
	var kinds []string
	of := map[string][]*eval.Row{}
	for _, row := range rep.Rows {
		kind := row.Case.Kind
		if of[kind] == nil && kind != "" {
			kinds = append(kinds, kind)
		}
		of[kind] = append(of[kind], row)
	}
	for _, kind := range kinds {
		m.Kinds = append(m.Kinds, kindFigures{kind, figuresOf(eval.Measure(of[kind]))})
	}
	return m, nil
}

// language tells how many utterances hold Chinese.
func language(cases []eval.Case) string {
	n := 0
	for _, c := range cases {
		if text.HanShare(c.Text) > 0 {
			n++
		}
	}
	switch share := float64(n) / float64(len(cases)); {
	case share < 0.005:
		return "English"
	case share > 0.95:
		return "Chinese"
	default:
		return fmt.Sprintf("English, %.0f %% with Chinese", 100*share)
	}
}

func machine() string {
	cpu := runtime.GOARCH
	info, err := os.ReadFile("/proc/cpuinfo") // absent where there is no Linux
	if err == nil {
		for line := range strings.Lines(string(info)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores (%s), %s/%s, %s", runtime.NumCPU(), cpu, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

const pageHead = "# Accuracy\n\n" +
	"Written by `make bench-accuracy FROM=dir`; do not edit. A set is a folder in the form of [bench/sets](../bench/sets/README.md), " +
	"which makes six public ones; the sets are not part of this repository. All figures are measured, none is claimed by others. " +
	"What the scores are fitted on, the [README](../README.md) says under Measured.\n\n"

const pageColumns = `
Percent, but where said:

- **hit@1**, **hit@5**: utterances in scope with a right skill first, or among the first five, before the threshold.
- **domain hit@1**: in scope, the best domain is a right one.
- **right**, **wrong**, **none**, at the threshold, in scope: matched one or two domains with a right one among them; only wrong ones; nothing. What is missing to 100 matched three or more with a right one.
- **oos**: utterances that belong to no skill and matched nothing.
- **AUROC**: how well the highest threshold at which an utterance matches separates those in scope from the others; 50 is chance.
- **ECE**: expected calibration error of the best domain's score, 15 equal bins, all utterances.
- **µs**: median microseconds of a route, embedding included, one at a time.

In a set of one domain what is said of domains says nothing, in one without utterances out of scope neither do oos and AUROC: –.
`

// render writes the page; the same figures give the same bytes.
func (p *page) render() []byte {
	var b bytes.Buffer
	b.WriteString(pageHead)
	commit := p.Commit
	if commit == "" {
		commit = "not known"
	}
	fmt.Fprintf(&b, "Commit %s; embedder %s; %s.\n\n## Sets\n\n", commit, p.Embedder, p.Machine)
	row(&b, "set", "skills", "domains", "triggers a skill", "language", "utterances", "out of scope", "threshold")
	rule(&b, 8)
	for _, s := range p.Sets {
		row(&b, s.Name, count(s.Skills), count(s.Domains), fmt.Sprintf("%.1f", s.Triggers), s.Language,
			count(s.InScope+s.OutOfScope), count(s.OutOfScope), fmt.Sprintf("%.2f", s.Threshold))
	}
	b.WriteString("\n## Figures\n\n")
	head := []string{"hit@1", "hit@5", "domain hit@1", "right", "wrong", "none", "oos", "AUROC", "ECE", "µs"}
	row(&b, append([]string{"set"}, head...)...)
	rule(&b, len(head)+1)
	for _, s := range p.Sets {
		row(&b, append(append([]string{s.Name}, s.cells(s.Domains)...), percent(s.ECE, s.Domains > 1), micros(s.Median))...)
	}
	b.WriteString(pageColumns)
	for _, s := range p.Sets {
		if s.Kinds == nil {
			continue
		}
		fmt.Fprintf(&b, "\n## %s, by kind\n\n", s.Name)
		row(&b, append([]string{"kind", "utterances"}, head[:7]...)...)
		rule(&b, 9)
		for _, k := range s.Kinds {
			row(&b, append([]string{k.Kind, count(k.InScope + k.OutOfScope)}, k.cells(s.Domains)[:7]...)...)
		}
	}
	if p.Peers != nil {
		p.Peers.render(&b)
	}
	return b.Bytes()
}

// cells are the columns from hit@1 to AUROC.
func (f figures) cells(domains int) []string {
	in, out := f.InScope > 0, f.OutOfScope > 0
	some := in && domains > 1
	return []string{
		percent(f.SkillHit1, in), percent(f.SkillHit5, in), percent(f.DomHit1, some),
		percent(f.Right, some), percent(f.Wrong, some), percent(f.None, some),
		percent(f.Abstained, out), percent(f.AUROC, in && out),
	}
}

func row(b *bytes.Buffer, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func rule(b *bytes.Buffer, columns int) {
	b.WriteString(strings.Repeat("|---", columns) + "|\n")
}

func percent(share eval.Number, known bool) string {
	if !known || !share.Known() {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*share)
}

func micros(x eval.Number) string { return count(int(math.Round(float64(x)))) }

// count writes a number with commas between thousands.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
