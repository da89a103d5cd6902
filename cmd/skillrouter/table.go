package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"skillrouter/internal/text"
)

// A table is rows of cells, aligned by the columns that a terminal draws: a
// Han character takes two.
type table struct {
	rows  [][]string
	right []int // columns of numbers
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the rows, each after indent; the last column is cut where a
// line would be wider than most, if that is not 0.
func (t *table) write(w io.Writer, indent string, most int) {
	var wide []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], columns(cell))
		}
	}
	right := make([]bool, len(wide))
	for _, i := range t.right {
		right[i] = true
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		line.WriteString(indent)
		used := columns(indent)
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
				used += 2
			}
			if i == len(row)-1 && most > 0 {
				cell = cut(cell, most-used)
			}
			pad := strings.Repeat(" ", max(0, wide[i]-columns(cell)))
			if right[i] {
				cell = pad + cell
			} else {
				cell += pad
			}
			line.WriteString(cell)
			used += max(wide[i], columns(cell))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(w, b.String()) // the app's writer keeps the error
}

// columns is how many columns of a terminal s takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300: // the frequent ones
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// cut shortens s to most columns, "…" included; at least a few stay.
func cut(s string, most int) string {
	const fewest = 12
	most = max(most, fewest)
	if columns(s) <= most {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeColumns(r); used > most-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// fill writes prose, its first line after first, and wraps it on a terminal: further lines
// begin with rest.
func (a *app) fill(first, rest, s string) {
	most := a.width()
	line, bare := first, true // bare: no word stands in the line
	end := func() {
		fmt.Fprintln(a.out, line)
		line, bare = rest, true
	}
	for _, word := range strings.Fields(clean(s)) {
		if !bare && most > 0 && columns(line)+1+columns(word) > most {
			end()
		}
		if !bare {
			line, bare = line+" ", true
		}
		for _, r := range word { // a word may be a whole sentence of Chinese
			if n := runeColumns(r); n > 1 && !bare && most > 0 && columns(line)+n > most {
				end()
			}
			line, bare = line+string(r), false
		}
	}
	fmt.Fprintln(a.out, line)
}

// defaultWidth is for terminals that do not tell theirs.
const defaultWidth = 100

// width is how wide lines may be on stdout; 0 where nobody looks.
func (a *app) width() int {
	if !a.tty.out {
		return 0
	}
	if n, err := strconv.Atoi(a.env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return defaultWidth
}

// colours tells whether stdout is a terminal that shows them.
func (a *app) colours() bool {
	return a.tty.out && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
}

// bar draws a share of 0 to 1.
func bar(share float64) string {
	const length = 10
	full := int(share*length + 0.5)
	full = min(max(full, 0), length)
	return strings.Repeat("█", full) + strings.Repeat("·", length-full)
}

// clean makes text of catalogs and file names safe for a terminal: one line,
// no control or hidden characters.
func clean(s string) string {
	s, _ = text.Clean(s)
	return strings.Join(strings.Fields(s), " ")
}

func cleanAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}

// plural is "1 skill", "2 skills" or "3 summaries".
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1000_000)
	}
}

// writeJSON writes v as one line, or indented.
func writeJSON(w io.Writer, v any, indented bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if indented {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}

// orEmpty makes JSON write [] for a nil slice.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
