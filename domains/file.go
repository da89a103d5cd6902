package domains

import (
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// A File is what one skillrouter.yaml says, or several merged. The zero File says nothing.
type File struct {
	Domains []FileDomain                  // in file order, distinct names
	Skills  map[string]summaries.Override // by skill name
	Routing Routing
	LintOff []Silence

	skillsAt map[string]position // where each skill of Skills is named
}

// A Silence is an entry of lint-off: findings of a rule that are not to be reported.
type Silence struct {
	Rule    string
	Skills  []string // those it is about; with Domains both nil: all of the catalog
	Domains []string
	Reason  string // "" if the file gives none
	File    string // as problems call it
	Line    int
}

// A FileDomain is one domain as skillrouter.yaml names it.
type FileDomain struct {
	Name        string
	Description string
	Keywords    []string
	Fallback    bool
	Folders     []string // slash paths below a root; the skills below them are members
	Skills      []string // names of further members

	at        position
	foldersAt []position // of each of Folders
	skillsAt  []position // of each of Skills
}

// Routing holds a catalog's routing numbers. In each, zero means not given and a negative
// value off, as in the options of the router.
type Routing struct {
	Threshold    float64 // lowest score kept, 0 to 1
	MaxSummaries int     // summaries shown at once
	MaxDomains   int     // domains that may match at once
	SummaryTurns int     // turns a loaded summary stays
	StalledTurns int     // turns without a decision before a layer is left
	IndexLimit   int     // characters of the index text, for Chinese
	Mode         string  // "", "auto", "flat" or "layered"
	Calibration  Calibration
}

// A Calibration corrects the scores that an index gives by what it knows of the catalog
// itself: the log-odds of a score times Slope, plus Shift, are those of the corrected one.
// "skillrouter tune" fits it on labelled utterances. The zero Calibration corrects nothing.
type Calibration struct {
	Slope    float64 // 0.1 to 10; 0 means not given
	Shift    float64 // -10 to 10
	Embedder string  // that it was fitted with, it holds for no other; "" for all
}

// position is a line of a file; the zero position is that of a File made by hand.
type position struct {
	file string
	line int
}

// Merge overlays the files of several roots, in the order of the roots; nil files are
// skipped. Domains of one name, whatever the case, become one that stands where the first
// stood: what a later file gives wins, but members and folders add up. Overrides and
// routing numbers are overlaid field by field. The arguments stay as they are.
func Merge(files ...*File) *File {
	out := &File{Skills: make(map[string]summaries.Override), skillsAt: make(map[string]position)}
	at := make(map[string]int)
	for _, f := range files {
		if f == nil {
			continue
		}
		for _, d := range f.Domains {
			key := text.Fold(d.Name)
			i, ok := at[key]
			if !ok {
				i = len(out.Domains)
				at[key] = i
				out.Domains = append(out.Domains, FileDomain{Name: d.Name, at: d.at})
			}
			out.Domains[i].overlay(&d)
		}
		for name, o := range f.Skills {
			out.Skills[name] = overlay(out.Skills[name], o)
			out.skillsAt[name] = f.skillsAt[name]
		}
		out.Routing.overlay(&f.Routing)
		out.LintOff = append(out.LintOff, f.LintOff...)
	}
	return out
}

// overlay puts what later gives over d.
func (d *FileDomain) overlay(later *FileDomain) {
	set(&d.Description, later.Description)
	if len(later.Keywords) > 0 {
		d.Keywords = later.Keywords
	}
	d.Fallback = d.Fallback || later.Fallback
	for i, folder := range later.Folders {
		d.Folders = append(d.Folders, folder)
		d.foldersAt = append(d.foldersAt, at(later.foldersAt, i))
	}
	for i, skill := range later.Skills {
		d.Skills = append(d.Skills, skill)
		d.skillsAt = append(d.skillsAt, at(later.skillsAt, i))
	}
}

// at returns the position of item i, or the zero one in a domain made by hand.
func at(positions []position, i int) position {
	if i < len(positions) {
		return positions[i]
	}
	return position{}
}

// overlay returns o with what later gives put over it.
func overlay(o, later summaries.Override) summaries.Override {
	set(&o.Summary, later.Summary)
	set(&o.NotFor, later.NotFor)
	set(&o.DiffersFrom, later.DiffersFrom)
	set(&o.Params, later.Params)
	if len(later.Triggers) > 0 {
		o.Triggers = later.Triggers
	}
	if len(later.Domains) > 0 {
		o.Domains = later.Domains
	}
	set(&o.FromSummary, later.FromSummary)
	set(&o.Frequent, later.Frequent)
	set(&o.Manual, later.Manual)
	return o
}

func (r *Routing) overlay(later *Routing) {
	set(&r.Threshold, later.Threshold)
	set(&r.MaxSummaries, later.MaxSummaries)
	set(&r.MaxDomains, later.MaxDomains)
	set(&r.SummaryTurns, later.SummaryTurns)
	set(&r.StalledTurns, later.StalledTurns)
	set(&r.IndexLimit, later.IndexLimit)
	set(&r.Mode, later.Mode)
	set(&r.Calibration, later.Calibration)
}

// set overwrites field with value unless value is zero.
func set[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}
