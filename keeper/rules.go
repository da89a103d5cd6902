package keeper

import (
	"slices"

	"skillrouter/definitions"
)

// A Rule is one thing that [Lint] looks for.
type Rule struct {
	ID       string // short and stable, such as "no-when"
	Severity definitions.Severity
	What     string // what it finds, in a few words
	Reason   string // why it matters
	Fix      string // what to do about it, in general; a finding may know better
}

// Rules returns all rules in the order in which findings of one severity are listed. A
// finding of a few rules may be less severe than its rule. Problems of files that no rule
// here is about keep the kind that package definitions or domains gives them as their rule.
func Rules() []Rule {
	const (
		note    = definitions.Note
		warning = definitions.Warning
		fault   = definitions.Error
	)
	return []Rule{
		// What misleads or endangers.
		{"look-alike", fault, "a name that looks like another one", "who reads the name takes one skill for the other; it is how a false one is smuggled in", "write names in a-z, 0-9 and hyphens"},
		{"orders", note, "text that gives orders to the agent", "what stands in a prompt is obeyed, whoever wrote it", "say what the skill does, not what the agent must obey"},
		{"hidden-unicode", warning, "characters that nobody sees", "a model reads what a reviewer cannot", "take them out of the file"},
		{"alike-names", warning, "names that differ in signs only", "models and people take one for the other", "rename one of them"},
		{"case-names", warning, "names that differ in case only", "models and people take one for the other", "rename one of them"},

		// Descriptions: what, when, scope, length.
		{"no-description", fault, "no description", "nothing tells when to use the skill", "add a line description: what it does, then when to use it"},
		{"thin-description", warning, "a description of a few words, or a placeholder", "too little to be told from other skills by", "say what it does, then when to use it, in users' words"},
		{"template-description", warning, "a description that is a template with a name in it", "nothing but the name tells it from others", "say what this one does that the others do not, and when"},
		{"no-when", warning, "a description that says what but not when", "users name their situation, not the skill's subject", "add a second sentence: use when …, in users' words"},
		{"no-scope", warning, "a list of abilities without a scope", "a list matches everything a little and nothing well", "say for what kind of task, and when"},
		{"no-what", note, "a description that says when but not what", "the model must guess what it gets", "begin with what the skill does"},
		{"long-description", fault, "a description of over 100 characters (300 letters), an error from 200 (600)", "30 skills of 200 characters fill a prompt with 6,000; what is cut off is often what tells it from others", "keep what and when, move the rest to the body; or write metadata.summary"},
		{"long-total", warning, "descriptions of over 3,000 characters (9,000 letters) together", "tools that show all of them pay for them in each call", "shorten the longest first"},

		// Summaries.
		{"derived-summary", note, "no summary of its own", "one that is derived by rules says less than one sentence of its author's", "write metadata.summary: what, when, limit; `skillrouter summaries draft` makes a start"},
		{"long-summary", warning, "a summary of over 50 characters (150 letters)", "what is over is not shown", "say it shorter"},
		{"long-field", warning, "not-for, differs-from or params over their limit", "what is over is not shown", "say it shorter"},
		{"cut-difference", warning, "a difference that does not fit into the line that is shown", "what tells two skills apart is cut off", "shorten summary, triggers or params"},
		{"no-not-for", note, "nothing says what the skill is not for", "near misses are taken for it", "add metadata.not-for"},
		{"no-params", warning, "parameters are to be shown, but there are none", "from-summary and frequent promise them", "add metadata.params, or remove from-summary and frequent"},

		// Triggers.
		{"few-triggers", note, "fewer than three triggers", "each phrase of users is worth more than a sentence of description", "add three to five phrases that users say"},
		{"many-triggers", warning, "more than five triggers, a warning from 17", "only five are shown and sixteen matched; long lists of words win where they should not", "keep the three to five that users say most"},
		{"unsaid-trigger", warning, "a trigger that no user says", "it matches nothing that anybody types", "write it as a user would say it"},
		{"shared-trigger", warning, "one trigger in two skills", "nothing decides between them", "leave it to one of them, or say in each what sets it apart"},
		{"lost-trigger", warning, "a trigger that leads to another skill", "its own words find another skill first", "make it more specific, or move it to the other skill"},
		{"generic-trigger", warning, "a trigger that many skills have in their text", "a word that stands everywhere tells nothing and still matches", "make it a phrase of this skill alone"},
		{"languages", warning, "a language of users that skills have no words in", "words match only within a language", "add triggers in that language"},
		{"unknown-language", warning, "a language of users that the embedder does not know", "only words that are the same letter by letter match", "take a multilingual embedder: --embed-model"},

		// What a change did, see Compare.
		{"taken-trigger", warning, "a trigger that led to its skill before the change and leads to another now", "a new skill that takes what others are asked for makes the catalog worse", "make the summary of the new skill narrower, or say in not-for what is the other's"},
		{"lost-utterance", warning, "an utterance that led to a right skill before the change and does not now", "a new skill that takes what others are asked for makes the catalog worse", "make the summary of the new skill narrower, or say in not-for what is the other's"},

		// Skills beside each other.
		{"confusable", warning, "two skills that are alike, and nothing says how they differ", "the wrong one of them is loaded", "say the difference in metadata.differs-from or not-for, or merge them"},
		{"same-summary", warning, "two skills with the same summary", "nothing decides between them", "merge them, or say in each what sets it apart"},

		// Domains.
		{"unassigned", fault, "skills in no domain", "they are reached by chance", "give them a domain"},
		{"too-coarse", warning, "one or two domains for many skills", "the first layer decides nothing", "divide by what users ask for; `skillrouter domains suggest` makes a proposal"},
		{"too-fine", warning, "domains of one skill", "the index is a list of skills again", "put skills that users confuse into one domain"},
		{"few-domains", note, "fewer than 8 domains", "8 to 15 can be told apart at a glance", "split domains that do several things"},
		{"many-domains", note, "more than 15 domains", "8 to 15 can be told apart at a glance", "merge domains that are alike"},
		{"small-domain", warning, "a domain of fewer than 5 skills", "the index pays a line for little", "merge it into a neighbour"},
		{"large-domain", warning, "a domain of more than 15 skills", "its summaries do not fit side by side", "split it in two"},
		{"long-index", warning, "an index over its limit", "descriptions or whole domains are left out of the prompt", "shorten descriptions, or merge domains"},
		{"jargon", warning, "a domain named in insiders' words", "neither users nor models connect it with what is asked", "name it in users' words"},
		{"bare-domain", warning, "a domain without description", "its line says nothing", "complete: mainly handles: …"},
		{"empty-domain", warning, "a domain without skills", "it is never shown", "give it skills, or remove it"},
		{"manual-only", note, "a domain of manual skills only", "it is not in the index", "nothing, or take manual off one of them"},
		{"unknown-member", warning, "a member that is no skill", "it is in the file for nothing", "correct the name or remove it"},

		// Bodies and documents.
		{"long-core", warning, "a definition of over 4,000 tokens", "it is loaded as a whole, for every step of a task", "put a line <!-- extended --> before examples and special cases"},
		{"broken-link", warning, "a link of the body to a file that is not there", "the agent looks for it in vain", "correct the link, or add the file"},
		{"outside-link", note, "a link of the body out of the skill's folder", "documents are read from the skill's own folder only", "put the file into the folder"},
		{"dead-document", note, "a document that nothing mentions", "no agent knows that it is there", "name it in the body and say what it is for, or remove it"},
		{"double-document", note, "two documents with the same bytes", "an agent reads both", "keep one of them"},

		// Files.
		{"foreign-keys", note, "keys at the top that the Agent Skills specification does not have", "tools that check it refuse the whole skill", "put them below metadata"},

		// Lint itself.
		{"silence-without-reason", warning, "a silence without a reason", "nobody can tell later whether it still holds; it is not heeded", "say why the finding does not matter here"},
		{"silence-unused", warning, "a silence of nothing", "the finding is gone, or the rule or name is misspelt", "remove it"},
	}
}

// rule returns the rule of an id; one made up for kinds of problems that have none.
func rule(id string) Rule {
	rules := Rules()
	if i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return rules[i]
	}
	return Rule{ID: id, What: "a file that is odd", Reason: "other tools refuse it, or read something else than was meant", Fix: "see the finding"}
}
