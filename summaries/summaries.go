// Package summaries makes layer 2: one line a skill that says what the skill can do,
// when to use it and what it is not for.
//
// [Of] takes what the author wrote and derives the rest by rules from the description;
// [AppendLine] renders the line a model reads, [Text] the text that is embedded, and
// [Check] lists what breaks the rules. All functions are pure and safe for concurrent use.
package summaries

// Limits of a summary. Characters are counted as code points without white space; they
// hold for Chinese, a text in another script may have three times as many (rule S6).
const (
	SentenceLimit = 50                // the sentence; also NotFor and DiffersFrom as rendered
	ParamsLimit   = 2 * SentenceLimit // Params as rendered
	LineLimit     = 3 * SentenceLimit // the rendered line, name and labels included
	MaxTriggers   = 16                // triggers kept for matching
	ShownTriggers = 5                 // triggers rendered
	MinTriggers   = 3                 // fewer are a finding of [Check]
)

// A Summary is layer 2 of one skill. Texts are single lines without hidden characters.
type Summary struct {
	Skill       string   // name of the skill
	Text        string   // one sentence, at most [SentenceLimit] characters when derived
	Triggers    []string // what users say, best first, at most [MaxTriggers], distinct
	NotFor      string   // what the skill cannot do; completes "not for …"
	DiffersFrom string   // what sets it apart from a skill that is easily taken for it
	Params      string   // key parameters, rendered when Frequent or FromSummary
	FromSummary bool     // can be called from its summary alone, without layer 3
	Frequent    bool     // used often: its parameter hint is rendered
	Manual      bool     // reached by name only
	Derived     bool     // Text was derived by rules; triggers and NotFor may be all the same
}

// An Override replaces fields of a skill's summary, for skills one cannot edit. An empty
// string, an empty list and a nil pointer leave the field as it is. Domains is for
// package domains: it replaces the domains that the skill itself names.
type Override struct {
	Summary, NotFor, DiffersFrom, Params string

	Triggers, Domains []string

	FromSummary, Frequent, Manual *bool
}
