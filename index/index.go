// Package index turns a catalog into what routing needs and nothing else: the
// summaries and domains, their vectors, the words, and the map from evidence
// to scores. An [Index] never changes; a changed catalog is a new Index.
//
// [Build] makes one from a [definitions.Catalog] and an [Embedder],
// [Update] does so where there is one of an earlier state and tells what is
// different, [Index.WriteFile] and [Open] keep it on disk, [Index.Score] says how well
// an utterance fits each domain and skill. Vectors stand twice: the store
// holds the texts of domains and summaries as documents, for search
// ([Index.Like]); immutable int8 matrices hold the rows that scoring scans
// without allocation.
package index

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"skillrouter/definitions"
	"skillrouter/domains"
	"skillrouter/store"
	"skillrouter/summaries"
)

// An Embedder turns texts into unit vectors: one per text, same order, all of
// one length; zeros for a text it knows nothing of. Implementations are safe
// for concurrent use and stop when ctx ends.
type Embedder interface {
	ID() string // model, version and dimension, such as "static-en-zh-1/256"; equal IDs mean comparable vectors
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// An AppendEmbedder is an Embedder that answers at once and without waiting
// for anything: no deadline is needed, no memory allocated.
type AppendEmbedder interface {
	Embedder
	AppendEmbed(dst []float32, text string) []float32
}

// An Index is a catalog ready to be routed over. It is immutable and safe for
// concurrent use.
type Index struct {
	embedder    string
	fingerprint string
	digest      string // of the catalog it was built from, see update.go

	skills       []Skill
	byName       map[string]int32
	domains      []domains.Domain
	members      [][]int32 // by domain, skills in catalog order, without manual ones
	skillDomains [][]int32 // by skill
	routing      domains.Routing
	problems     []definitions.Problem
	shadowed     []definitions.Shadow
	summaries    []summaries.Summary // without manual ones
	counts       definitions.Counts
	source       *definitions.Source
	bundle       []byte // the definitions, as definitions.Catalog.Bundle made them; nil if they are only in the folders
	relative     []int  // roots of source that a file names relative to itself, although they are absolute now

	zero          []float32
	rows          matrix    // by skill: centroid of its phrases
	heads         matrix    // by skill: its row of the head, see head.go; empty without one
	headBias      []float32 // by skill; empty without a head
	wordWeight    float32   // what the words weigh in the evidence
	phrases       matrix    // phrases of skill i are rows phraseStarts[i] to phraseStarts[i+1]
	phraseStarts  []int32   // one more than skills
	against       matrix    // what skills are not for: of skill i, rows againstStarts[i] to againstStarts[i+1]
	againstStarts []int32   // one more than skills
	texts         matrix    // by skill: the text of its summary
	domainRows    matrix    // by domain: centroid of its skills
	domainTexts   matrix    // by domain: its own text
	lexicon       *lexicon
	calibration   Calibration

	vectors *store.Store // documents of texts and domainTexts
	bodies  *bodies
	scores  *sync.Pool // of *Scores
}

// A Skill is what the index keeps of a skill: no body.
type Skill struct {
	Name        string
	Description string
	Ref         definitions.Ref
	File        string // for people
	Hash        string // of the file that the index was built from
	Size        int64  // bytes of that file
	Summary     summaries.Summary
}

// EmbedderID is the [Embedder] that made the vectors.
func (ix *Index) EmbedderID() string { return ix.embedder }

// Fingerprint identifies the content: format, embedder, settings, and the
// hashes of the skills. Equal fingerprints route alike.
func (ix *Index) Fingerprint() string { return ix.fingerprint }

// Skills returns all skills, manual ones among them, in catalog order. The
// slice belongs to the index.
func (ix *Index) Skills() []Skill { return ix.skills }

// Domains returns the domains in the order of the index text. The slice
// belongs to the index.
func (ix *Index) Domains() []domains.Domain { return ix.domains }

// Members returns the skills of a domain, by their place in Skills, without
// the manual ones. The slice belongs to the index.
func (ix *Index) Members(domain int32) []int32 { return ix.members[domain] }

// DomainsOf returns the domains of a skill, by their place in Domains. The
// slice belongs to the index.
func (ix *Index) DomainsOf(skill int32) []int32 { return ix.skillDomains[skill] }

func (ix *Index) in(skill, domain int32) bool {
	return slices.Contains(ix.skillDomains[skill], domain)
}

// Routing returns the routing numbers of the catalog's skillrouter.yaml.
func (ix *Index) Routing() domains.Routing { return ix.routing }

// Calibration returns the maps from evidence to scores.
func (ix *Index) Calibration() Calibration { return ix.calibration }

// Problems returns what was odd about the catalog, sorted by file and line.
func (ix *Index) Problems() []definitions.Problem { return ix.problems }

// Shadowed returns the copies of skills that others won over.
func (ix *Index) Shadowed() []definitions.Shadow { return ix.shadowed }

// Counts adds up the files of the catalog.
func (ix *Index) Counts() definitions.Counts { return ix.counts }

// Lookup returns the place of the skill of that exact name.
func (ix *Index) Lookup(name string) (skill int32, ok bool) {
	skill, ok = ix.byName[name]
	return skill, ok
}

// LookupDomain returns the place of the domain of that exact name.
func (ix *Index) LookupDomain(name string) (domain int32, ok bool) {
	i := slices.IndexFunc(ix.domains, func(d domains.Domain) bool { return d.Name == name })
	return int32(i), i >= 0
}

// Summaries returns the summaries of all skills but the manual ones, in
// catalog order, without file access. The slice belongs to the index.
func (ix *Index) Summaries() []summaries.Summary { return ix.summaries }

// DomainSummaries returns the summaries of a domain's skills but the manual
// ones, in catalog order, without file access. It fails for a name that no
// domain has.
func (ix *Index) DomainSummaries(domain string) ([]summaries.Summary, error) {
	d, ok := ix.LookupDomain(domain)
	if !ok {
		return nil, fmt.Errorf("index: no domain %q: see the index text for their names", domain)
	}
	all := make([]summaries.Summary, 0, len(ix.members[d]))
	for _, i := range ix.members[d] {
		all = append(all, ix.skills[i].Summary)
	}
	return all, nil
}

// Path returns the file of the skill of that name, for people; its documents
// lie beside it. A name the catalog does not have is a [NotFoundError].
func (ix *Index) Path(name string) (string, error) {
	i, ok := ix.byName[name]
	if !ok {
		return "", &NotFoundError{Skill: name}
	}
	return ix.skills[i].File, nil
}

// Locate returns the absolute path of the SKILL.md of the skill of that name,
// for agents that read files themselves. ok is false where there is none: in a
// .jsonl catalog, in an [io/fs.FS], for a name the catalog does not have. That
// the file is still there is not checked.
func (ix *Index) Locate(name string) (path string, ok bool) {
	i, ok := ix.byName[name]
	if !ok || ix.source == nil {
		return "", false
	}
	if path, ok = ix.source.Path(ix.skills[i].Ref); !ok {
		return "", false
	}
	path, err := filepath.Abs(path)
	return path, err == nil
}

// A NotFoundError says that a catalog has no skill of a name.
type NotFoundError struct{ Skill string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("skill not found: %q", e.Skill) }

// Hint says what to do.
func (e *NotFoundError) Hint() string {
	return "names are case-sensitive; `skillrouter list` shows them all"
}

// A Hit is a skill found by [Index.Like].
type Hit struct {
	Skill      int32   // its place in Skills
	Similarity float32 // cosine
}

// Like returns at most k skills whose summaries are most similar to vector,
// best first, equal similarities by place in the catalog, from the vector
// store. Manual skills, those that allow leaves out (by skill; nil: none) and
// those whose text the embedder knows nothing of are not among them; a zero
// vector finds nothing. It fails for a vector of another dimension or with a
// NaN, and when ctx ends. The cost grows with the catalog: all is compared.
func (ix *Index) Like(ctx context.Context, vector []float32, k int, allow []bool) ([]Hit, error) {
	if k <= 0 {
		return nil, nil
	}
	best := map[int32]float32{}
	for d := range ix.domains {
		n := len(ix.members[d])
		if allow == nil {
			n = min(n, k)
		}
		found, err := ix.vectors.Query(ctx, summaryCollection(&ix.domains[d]), vector, n)
		if err != nil {
			return nil, fmt.Errorf("index: searching domain %q: %w", ix.domains[d].Name, err)
		}
		for _, h := range found {
			if i := ix.byName[h.ID]; allow == nil || allow[i] {
				best[i] = h.Similarity
			}
		}
	}
	hits := make([]Hit, 0, len(best))
	for i, s := range best {
		hits = append(hits, Hit{i, s})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Skill, b.Skill))
	})
	return hits[:min(k, len(hits))], nil
}

// domainCollection and summaryCollection name the collections of the store.
const domainCollection = "domains"

func summaryCollection(d *domains.Domain) string { return "summaries/" + d.Name }

// Source returns what reads the skills again: the roots that the index was built
// from, and how; nil if it has none. It belongs to the index.
func (ix *Index) Source() *definitions.Source { return ix.source }

// Bundled tells whether the index holds the definitions itself.
func (ix *Index) Bundled() bool { return ix.bundle != nil }

// Places returns the roots that the index was built from, as they were given:
// those that were relative, relative to the current folder.
func (ix *Index) Places() []string {
	if ix.source == nil {
		return nil
	}
	places := ix.source.Roots()
	here, err := filepath.Abs(".")
	for _, i := range ix.relative {
		if r, relErr := filepath.Rel(here, places[i]); err == nil && relErr == nil {
			places[i] = r
		}
	}
	return places
}

// Close ends the use of the folders: definitions can no longer be read, all
// else still works.
func (ix *Index) Close() error {
	if ix.source == nil {
		return nil
	}
	return ix.source.Close()
}

// finish builds what is derived from the rest: it is not in the file.
func (ix *Index) finish(ctx context.Context) error {
	if err := ix.nameSkills(); err != nil {
		return err
	}
	if err := ix.link(); err != nil {
		return err
	}
	ix.zero = make([]float32, ix.rows.dim)
	ix.scratch()

	ix.lexicon.phrases = map[uint64][]contained{}
	for i := range ix.skills {
		if m := &ix.skills[i].Summary; !m.Manual {
			for _, t := range m.Triggers {
				ix.lexicon.addPhrase(t, int32(i))
			}
		}
	}
	for d := range ix.domains {
		for _, k := range ix.domains[d].Keywords {
			ix.lexicon.addPhrase(k, int32(^d))
		}
	}
	return ix.fillStore(ctx)
}

// nameSkills finds the skills by their names.
func (ix *Index) nameSkills() error {
	ix.byName = make(map[string]int32, len(ix.skills))
	ix.summaries = make([]summaries.Summary, 0, len(ix.skills))
	for i := range ix.skills {
		s := &ix.skills[i]
		if _, ok := ix.byName[s.Name]; ok || s.Name == "" || s.Name != s.Summary.Skill {
			return fmt.Errorf("index: skill %d of %d: the name %q is empty, not its summary's, or another skill's", i+1, len(ix.skills), s.Name)
		}
		ix.byName[s.Name] = int32(i)
		if !s.Summary.Manual {
			ix.summaries = append(ix.summaries, s.Summary)
		}
	}
	return nil
}

// link finds the members of the domains.
func (ix *Index) link() error {
	ix.members = make([][]int32, len(ix.domains))
	ix.skillDomains = make([][]int32, len(ix.skills))
	seen := make(map[string]bool, len(ix.domains))
	for d := range ix.domains {
		name := ix.domains[d].Name
		if name == "" || seen[name] {
			return fmt.Errorf("index: domain %d of %d: the name %q is empty or another domain's", d+1, len(ix.domains), name)
		}
		seen[name] = true
		for _, member := range ix.domains[d].Members {
			i, ok := ix.byName[member]
			if !ok || ix.skills[i].Summary.Manual || ix.in(i, int32(d)) {
				return fmt.Errorf("index: domain %q: the member %q is no skill, manual, or there twice", name, member)
			}
			ix.members[d] = append(ix.members[d], i)
			ix.skillDomains[i] = append(ix.skillDomains[i], int32(d))
		}
	}
	return nil
}

// fillStore puts the texts of domains and summaries in the vector store.
func (ix *Index) fillStore(ctx context.Context) error {
	if ix.rows.dim == 0 {
		return nil // no skill, no vectors
	}
	var err error
	if ix.vectors, err = store.New(ix.rows.dim); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	var records []store.Record
	add := func(id, text string, m *matrix, row int) {
		if m.scale[row] > 0 { // a text the embedder knows nothing of is found by words only
			records = append(records, store.Record{ID: id, Text: text, Vector: m.float(row)})
		}
	}
	for d := range ix.domains {
		add(ix.domains[d].Name, domainText(&ix.domains[d]), &ix.domainTexts, d)
	}
	if err := ix.vectors.Add(ctx, domainCollection, records...); err != nil {
		return fmt.Errorf("index: storing the domains: %w", err)
	}
	for d := range ix.domains {
		records = records[:0]
		for _, i := range ix.members[d] {
			add(ix.skills[i].Name, summaries.Text(&ix.skills[i].Summary), &ix.texts, int(i))
		}
		if err := ix.vectors.Add(ctx, summaryCollection(&ix.domains[d]), records...); err != nil {
			return fmt.Errorf("index: storing the summaries of domain %q: %w", ix.domains[d].Name, err)
		}
	}
	return nil
}
