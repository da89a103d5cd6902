package keeper

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/definitions"
)

// The parts of a SARIF 2.1.0 log that are written; names are those of its schema.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool     `json:"tool"`
		ColumnKind  string        `json:"columnKind"`
		Results     []sarifResult `json:"results"`
		Invocations []sarifCall   `json:"invocations"`
	}
	sarifCall struct {
		Successful bool           `json:"executionSuccessful"`
		Notes      []sarifMessage `json:"toolExecutionNotifications,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Full    sarifText   `json:"fullDescription"`
		Help    sarifText   `json:"help"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifMessage struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		Index        int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

// WriteSARIF writes r as a SARIF 2.1.0 log, which code hosts and editors read: the silenced
// findings are in it as suppressed. version is that of this program, "" for none. Paths
// stay relative where those of the catalog are.
func WriteSARIF(w io.Writer, r *Report, version string) error {
	rules := Rules()
	for _, list := range [][]Finding{r.Findings, r.Silenced} {
		for i := range list {
			if !slices.ContainsFunc(rules, func(x Rule) bool { return x.ID == list[i].Rule }) {
				rules = append(rules, rule(list[i].Rule))
			}
		}
	}
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "skillrouter lint", Version: version}}, ColumnKind: "unicodeCodePoints",
		Results: []sarifResult{}, Invocations: []sarifCall{{Successful: true}},
	}
	for _, x := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{x.ID, sarifText{x.What}, sarifText{x.Reason}, sarifText{x.Fix}, sarifConfig{level(x.Severity)}})
	}
	for _, skipped := range r.Skipped {
		run.Invocations[0].Notes = append(run.Invocations[0].Notes, sarifMessage{"note", sarifText{"not looked at: " + skipped}})
	}
	for _, list := range [][]Finding{r.Findings, r.Silenced} {
		for i := range list {
			f := &list[i]
			run.Results = append(run.Results, f.sarif(slices.IndexFunc(rules, func(x Rule) bool { return x.ID == f.Rule })))
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func (f *Finding) sarif(rule int) sarifResult {
	said := f.What
	if f.Skill != "" && !strings.Contains(said, f.Skill) {
		said = f.Skill + ": " + said
	}
	if f.Fix != "" {
		said += "; " + f.Fix
	}
	out := sarifResult{Rule: f.Rule, Index: rule, Level: level(f.Severity), Message: sarifText{said}, Locations: []sarifLocation{}}
	var at sarifLocation
	if f.File != "" {
		at.Physical = &sarifPhysical{Artifact: sarifArtifact{uri(f.File)}}
		if f.Line > 0 {
			at.Physical.Region = &sarifRegion{f.Line}
		}
	}
	switch {
	case f.Skill != "":
		at.Logical = []sarifLogical{{f.Skill, "skill"}}
	case f.Domain != "":
		at.Logical = []sarifLogical{{f.Domain, "domain"}}
	case f.File == "":
		at.Logical = []sarifLogical{{"catalog", "catalog"}}
	}
	out.Locations = append(out.Locations, at)
	if f.Silenced != "" {
		out.Suppressions = []sarifSuppression{{"inSource", f.Silenced}}
	}
	return out
}

// uri is a file as SARIF names it.
func uri(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}

// level is a severity as SARIF calls it.
func level(s definitions.Severity) string { return s.String() }
