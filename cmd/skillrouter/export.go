package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/keeper"
)

func (a *app) exportCommand() *cobra.Command {
	format := word{value: "csv", of: []string{"csv", "markdown", "json"}}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the catalog as a table",
		Long: `export writes one row a skill: name, domains, description, parameters (of tools.json,
else of params; optional ones in brackets), summary, triggers and not-for. It is the
first step from a flat list of skills to layers; domains and summaries come next.

A CSV cell that a spreadsheet would take for a formula begins with an apostrophe.`,
		Example: `  skillrouter export --skills ./skills > skills.csv
  skillrouter export --skills ./skills --format markdown
  skillrouter export --skills ./skills --format json`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.set.json {
				format.value = "json"
			}
			return a.with(cmd.Context(), true, func(c *catalog) error { return a.export(cmd.Context(), c, format.value) })
		},
	}
	cmd.Flags().Var(&format, "format", "csv, markdown or json")
	return cmd
}

func (a *app) export(ctx context.Context, c *catalog, format string) error {
	loaded, err := a.load(ctx, c)
	if err != nil {
		return err
	}
	if loaded != nil {
		defer loaded.Source().Close()
	}
	rows, err := keeper.Export(ctx, c.Index(), loaded, a.set.allow())
	if err != nil {
		return err
	}
	switch format {
	case "json":
		return a.exportJSON(rows)
	case "markdown":
		a.exportMarkdown(rows)
		return nil
	}
	return a.exportCSV(rows)
}

// exportColumns are the columns of tables.
func exportColumns() []string {
	return []string{"name", "domains", "description", "parameters", "summary", "triggers", "not for"}
}

// exportCells are the cells of a row, each on one line.
func exportCells(x *keeper.Exported) []string {
	var params []string
	for _, p := range x.Parameters {
		s := p.Name
		if p.Type != "" {
			s += ": " + p.Type
		}
		if p.Tool != "" && !p.Required {
			s = "[" + s + "]"
		}
		params = append(params, s)
	}
	summary := x.Summary
	if x.Derived {
		summary += " (derived)"
	}
	cells := []string{x.Name, strings.Join(x.Domains, " | "), x.Description, strings.Join(params, ", "), summary, strings.Join(x.Triggers, " | "), x.NotFor}
	return cleanAll(cells)
}

func (a *app) exportCSV(rows []keeper.Exported) error {
	w := csv.NewWriter(a.out)
	if err := w.Write(exportColumns()); err != nil {
		return err
	}
	for i := range rows {
		cells := exportCells(&rows[i])
		for c, cell := range cells {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				cells[c] = "'" + cell // files are untrusted: a spreadsheet would run it
			}
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func (a *app) exportMarkdown(rows []keeper.Exported) {
	columns := exportColumns()
	fmt.Fprintf(a.out, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	escape := strings.NewReplacer("|", "\\|", "<", "&lt;")
	for i := range rows {
		cells := exportCells(&rows[i])
		for c := range cells {
			cells[c] = escape.Replace(cells[c])
		}
		fmt.Fprintf(a.out, "| %s |\n", strings.Join(cells, " | "))
	}
}

func (a *app) exportJSON(rows []keeper.Exported) error {
	type parameter struct {
		Tool     string `json:"tool"`
		Name     string `json:"name"`
		Type     string `json:"type"`
		Required bool   `json:"required"`
	}
	type row struct {
		Name        string      `json:"name"`
		Domains     []string    `json:"domains"`
		Description string      `json:"description"`
		Parameters  []parameter `json:"parameters"`
		Summary     string      `json:"summary"`
		Derived     bool        `json:"derived"`
		Triggers    []string    `json:"triggers"`
		NotFor      string      `json:"not_for"`
		Manual      bool        `json:"manual"`
		File        string      `json:"file"`
	}
	out := []row{}
	for i := range rows {
		x := &rows[i]
		params := []parameter{}
		for _, p := range x.Parameters {
			params = append(params, parameter(p))
		}
		out = append(out, row{x.Name, orEmpty(x.Domains), x.Description, params, x.Summary, x.Derived, orEmpty(x.Triggers), x.NotFor, x.Manual, x.File})
	}
	return writeJSON(a.out, out, true)
}
