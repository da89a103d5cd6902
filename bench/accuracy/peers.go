package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"skillrouter/eval"
)

// peerFigures is what bench/peers writes.
type peerFigures struct {
	Machine  string            `json:"machine"`
	Timed    int               `json:"timed"` // utterances of a set whose time was taken
	Versions map[string]string `json:"versions"`
	Rows     []peerRow         `json:"rows"` // those of one set stand together
}

// A peerRow is one router on one set.
type peerRow struct {
	Set        string   `json:"set"`
	Domains    int      `json:"domains"`
	Peer       string   `json:"peer"`
	SkillHit1  *float64 `json:"hit@1"` // null where no utterance counts, as the next three
	SkillHit5  *float64 `json:"hit@5"`
	DomainHit1 *float64 `json:"domain_hit@1"`
	AUROC      *float64 `json:"auroc"`
	Micros     float64  `json:"us"`
}

func readPeers(path string) (*peerFigures, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var p peerFigures
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(p.Rows) == 0 {
		return nil, fmt.Errorf("%s: no rows: make bench-peers writes this file", path)
	}
	return &p, nil
}

func (p *peerFigures) render(b *bytes.Buffer) {
	b.WriteString("\n## Peers\n\nThe same catalogs (each skill's line in `catalog.jsonl`) and utterances, by [bench/peers](../bench/peers/README.md), " +
		"which says what each router does. The best of a set is bold.\n\n")
	row(b, "set", "router", "hit@1", "hit@5", "domain hit@1", "AUROC", "µs")
	rule(b, 7)
	for rest := p.Rows; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Set == rest[0].Set {
			n++
		}
		var best [4]string
		for _, r := range rest[:n] {
			for i, cell := range r.cells() {
				best[i] = better(best[i], cell)
			}
		}
		for i, r := range rest[:n] {
			set := ""
			if i == 0 {
				set = r.Set
			}
			cells := r.cells()
			for i, cell := range cells {
				if cell == best[i] && cell != "–" {
					cells[i] = "**" + cell + "**"
				}
			}
			row(b, append([]string{set, r.Peer}, append(cells[:], count(int(math.Round(r.Micros))))...)...)
		}
		rest = rest[n:]
	}
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(p.Versions)) {
		versions = append(versions, name+" "+p.Versions[name])
	}
	fmt.Fprintf(b, "\nµs: median of an utterance, embedding included, one thread; processor time, over %d utterances of a set, the fastest of three runs of each; for skillrouter by the clock, over all, one run. %s; %s.\n",
		p.Timed, p.Machine, strings.Join(versions, ", "))
}

// cells are the columns that are percentages, as shown.
func (r *peerRow) cells() [4]string {
	share := func(x *float64, says bool) string {
		if x == nil {
			return "–"
		}
		return percent(eval.Number(*x), says)
	}
	return [4]string{share(r.SkillHit1, true), share(r.SkillHit5, true), share(r.DomainHit1, r.Domains > 1), share(r.AUROC, true)}
}

// better is the larger of two percentages as shown.
func better(a, b string) string {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY == nil && y > x {
		return b
	}
	return a
}
