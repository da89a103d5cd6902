package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"skillrouter/embed"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Tell the version, and what it was built with",
		Example: "  skillrouter version --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			e, err := embed.New()
			if err != nil {
				return err
			}
			v := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
				Embedder string `json:"embedder"`
			}{moduleVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, e.ID()}
			if a.set.json {
				return writeJSON(a.out, v, true)
			}
			fmt.Fprintf(a.out, "skillrouter %s (%s, %s), embedder %s\n", v.Version, v.Go, v.Platform, v.Embedder)
			return nil
		},
	}
}

// moduleVersion is the version of the module, or the commit it was built from.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	version := "devel"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			version += "-" + s.Value[:12]
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			version += "+changed"
		}
	}
	return version
}
