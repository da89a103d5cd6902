package main

import (
	"github.com/spf13/cobra"

	"skillrouter/definitions"
	"skillrouter/domains"
)

func (a *app) domainsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "domains",
		Short: "Suggest and check the domains of a catalog",
		Long: `domains helps to divide a catalog into domains that can be told apart. They are
named in a skillrouter.yaml at the root of a folder of skills, by the skills
themselves (metadata.domains) or by the folders that skills lie in.`,
		Example: `  skillrouter domains suggest --skills ./skills
  skillrouter domains suggest --skills ./skills --write
  skillrouter domains check --skills ./skills
  skillrouter domains schema > skillrouter.schema.json`,
		Args: verbsOnly, RunE: help,
	}
	cmd.AddCommand(a.domainsSuggestCommand(), a.domainsCheckCommand(), a.domainsSchemaCommand())
	return cmd
}

func (a *app) domainsSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Write the JSON Schema of skillrouter.yaml",
		Long: `schema writes a JSON Schema of skillrouter.yaml. An editor with a YAML language
server completes and checks the file when its first line is

  # yaml-language-server: $schema=skillrouter.schema.json`,
		Example: "  skillrouter domains schema > skillrouter.schema.json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(domains.Schema())
			return err
		},
	}
}

// A finding is what is to be said about domains, as JSON has it.
type finding struct {
	Domain   string               `json:"domain"` // "" for all
	Severity definitions.Severity `json:"severity"`
	Kind     string               `json:"kind"`
	What     string               `json:"what"`
	Fix      string               `json:"fix"`
}

func newFinding(f domains.Finding) finding {
	return finding{f.Domain, f.Severity, f.Kind, f.What, f.Fix}
}
