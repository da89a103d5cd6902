package tools

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxColumns = 500 // of a table
	shownTop   = 5   // frequent values of a column
	shownLines = 20  // lines that do not fit
)

// A column is what csvSummary tells of one. The fields that a kind does not have are left out.
type column struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // number, date, text, mixed or empty
	Empty    int      `json:"empty"`
	Distinct int      `json:"distinct"`
	Top      []count  `json:"top,omitempty"` // left out where every value occurs once
	Min      *float64 `json:"min,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	Mean     *float64 `json:"mean,omitempty"`
	Median   *float64 `json:"median,omitempty"`
	First    string   `json:"first,omitempty"` // earliest date
	Last     string   `json:"last,omitempty"`  // latest date
}

type count struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

type csvSummaryArguments struct {
	CSV       string   `json:"csv"`
	Delimiter string   `json:"delimiter"`
	Columns   []string `json:"columns"`
}

func csvSummary(a csvSummaryArguments) (string, error) {
	table := strings.TrimPrefix(a.CSV, "\ufeff")
	delimiter, err := delimiterOf(a.Delimiter, table)
	if err != nil {
		return "", err
	}
	reader := csv.NewReader(strings.NewReader(table))
	reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = delimiter, -1, true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return "", errors.New("the table is empty; its first row names the columns")
	}
	if err != nil {
		return "", fmt.Errorf("csv: %w", err)
	}
	if len(header) > maxColumns {
		return "", fmt.Errorf("the table has %d columns, at most %d", len(header), maxColumns)
	}
	cells := make([][]string, len(header))
	rows, ragged := 0, []int{}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("csv: %w", err)
		}
		if len(record) != len(header) {
			line, _ := reader.FieldPos(0)
			ragged = append(ragged, line)
			continue
		}
		rows++
		for i, cell := range record {
			cells[i] = append(cells[i], strings.TrimSpace(cell))
		}
	}
	columns, err := describe(header, cells, a.Columns)
	if err != nil {
		return "", err
	}
	return object(struct {
		Rows        int      `json:"rows"`
		Delimiter   string   `json:"delimiter"`
		Columns     []column `json:"columns"`
		RaggedRows  int      `json:"rows_that_do_not_fit"`
		RaggedLines []int    `json:"their_lines,omitempty"` // the first 20
	}{rows, string(delimiter), columns, len(ragged), ragged[:min(len(ragged), shownLines)]})
}

// delimiterOf returns the given delimiter, or the most frequent one of the first line.
func delimiterOf(given, table string) (rune, error) {
	if given != "" {
		r, n := utf8.DecodeRuneInString(given)
		if n != len(given) || r == '"' || r == '\n' || r == '\r' || r == utf8.RuneError {
			return 0, fmt.Errorf("the delimiter %q is not one character that can separate cells", given)
		}
		return r, nil
	}
	first, _, _ := strings.Cut(table, "\n")
	best, most := ',', 0
	for _, r := range ",;\t|" {
		if n := strings.Count(first, string(r)); n > most {
			best, most = r, n
		}
	}
	return best, nil
}

// describe describes the wanted columns in the order of the table; none wanted means all.
func describe(header []string, cells [][]string, wanted []string) ([]column, error) {
	names := make([]string, len(header))
	for i, name := range header {
		if names[i] = strings.TrimSpace(name); names[i] == "" {
			names[i] = fmt.Sprintf("column %d", i+1)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no column %q; the columns are %s", name, strings.Join(names, ", "))
		}
	}
	columns := []column{}
	for i, name := range names {
		if len(wanted) == 0 || slices.Contains(wanted, name) {
			columns = append(columns, describeColumn(name, cells[i]))
		}
	}
	return columns, nil
}

func describeColumn(name string, cells []string) column {
	c := column{Name: name}
	counts := map[string]int{}
	var numbers []float64
	var dates []time.Time
	filled := 0
	for _, cell := range cells {
		if cell == "" {
			c.Empty++
			continue
		}
		filled++
		counts[cell]++
		if f, err := strconv.ParseFloat(cell, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			numbers = append(numbers, f)
		} else if d, ok := cellDate(cell); ok {
			dates = append(dates, d)
		}
	}
	c.Distinct = len(counts)
	if c.Distinct < filled {
		c.Top = topCounts(counts)
	}
	switch {
	case filled == 0:
		c.Kind = "empty"
	case len(numbers) == filled:
		c.Kind = "number"
		c.describeNumbers(numbers)
	case len(dates) == filled:
		c.Kind = "date"
		c.First = slices.MinFunc(dates, time.Time.Compare).Format(time.DateOnly)
		c.Last = slices.MaxFunc(dates, time.Time.Compare).Format(time.DateOnly)
	case len(numbers)+len(dates) > 0:
		c.Kind = "mixed"
	default:
		c.Kind = "text"
	}
	return c
}

func (c *column) describeNumbers(numbers []float64) {
	slices.Sort(numbers)
	n := float64(len(numbers))
	mean := 0.0
	for _, f := range numbers {
		mean += f / n // each part is finite, whatever the sum is
	}
	low, high := numbers[(len(numbers)-1)/2], numbers[len(numbers)/2]
	median := low/2 + high/2
	mean, median = shorten(mean), shorten(median)
	c.Min, c.Max, c.Mean, c.Median = &numbers[0], &numbers[len(numbers)-1], &mean, &median
}

// shorten keeps twelve significant digits: what is beyond them comes from the arithmetic.
func shorten(f float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 12, 64), 64)
	if err != nil {
		return f
	}
	return short
}

// cellDate reads dates that can be read in one way only.
func cellDate(cell string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, "2006/1/2", "2006-01-02 15:04:05", time.RFC3339, "2006年1月2日"} {
		if d, err := time.Parse(layout, cell); err == nil {
			return d, true
		}
	}
	return time.Time{}, false
}

// topCounts returns the most frequent values, equal ones by name.
func topCounts(counts map[string]int) []count {
	all := make([]count, 0, len(counts))
	for value, n := range counts {
		all = append(all, count{value, n})
	}
	slices.SortFunc(all, func(a, b count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return all[:min(len(all), shownTop)]
}
