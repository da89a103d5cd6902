// Package domains makes layer 1: groups of skills, each with one line that says how many
// skills it holds and what they mainly handle.
//
// A catalog's skillrouter.yaml may name the domains ([ParseFile], [Merge]); [Group] files
// every skill in the domains of that file, of the skill's own metadata or of its folder;
// [AppendIndex] renders the index a model reads. For skills that nothing files, [Cluster]
// proposes domains and [Draft] writes them down for a person to edit; [Check] lists what is
// to be said about the domains there are, [Schema] is for editors. The file holds domains,
// overrides of summary fields, routing numbers, what lint leaves out, nothing else, and every part may be
// left out:
//
//	domains:
//	  - name: Text processing
//	    description: summarise, rewrite, translate and clean up text # completes "mainly handles: …"
//	    keywords: [summary, translate, 摘要, 翻译]    # matched, never printed
//	    fallback: true                               # used when nothing matches
//	    folder: text-processing                      # skills below this folder belong here; may be a list
//	    skills: [pdf-text]                           # further members
//
//	skills:                                        # for skills one cannot edit
//	  pdf-text:
//	    summary: Extracts text from PDF files; for scanned pages use ocr
//	    triggers: [read a PDF, PDF to text]
//	    not-for: images
//	    differs-from: "ocr: that one reads scanned pages"
//	    params: path, format
//	    domains: [Text processing]
//	    from-summary: true
//	    frequent: true
//	    manual: false
//
//	routing:                                       # a number left out keeps its default, 0 means off
//	  threshold: 0.72
//	  max-summaries: 25
//	  max-domains: 3
//	  summary-turns: 5
//	  stalled-turns: 2
//	  index-limit: 500
//	  mode: auto                                   # auto, flat or layered
//
//	lint-off:                                      # findings that are not to be reported, and why
//	  - rule: no-not-for
//	    skills: [pdf-text]                         # or domains; neither: all
//	    reason: it takes any PDF
//
// The file is read strictly: it comes with a folder that may have been cloned, so anything
// else in it, above all an endpoint, a key, a listener or a store, is an error with its line.
package domains

// Unassigned is the domain of the skills that are in no other.
const Unassigned = "unassigned"

// IndexLimit is the limit of the index text in characters without white space, for
// Chinese; an index in another script may have three times as many (rule S6).
const IndexLimit = 500

// A Domain is one group of skills that handle one kind of task.
type Domain struct {
	Name        string
	Description string   // completes "mainly handles: …"; "" if nothing could be said
	Keywords    []string // matched and embedded, never printed
	Fallback    bool     // used when nothing matches
	Members     []string // names of its skills in catalog order, distinct, without the manual ones
	Manual      []string // names of its skills that are reached by name only; not counted
	Written     bool     // named in skillrouter.yaml, rather than by folders or metadata only
	Clustered   bool     // made by [Cluster] of skills that nothing files
	Derived     bool     // the description is made of what the members do, as [Describe] does
}
