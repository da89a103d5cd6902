package router

import (
	"cmp"
	"slices"

	"skillrouter/index"
)

// A topic is a domain that a dialogue may be about.
type topic struct {
	Domain string  `json:"d"`
	P      float32 `json:"p"` // how likely, 0 to 1
}

// What a topic must be to be remembered. What is left is spread evenly over
// the other domains.
const (
	mostTopics = 5
	leastTopic = 0.02
)

// speaks is the score, without what came before, from which an utterance says
// by itself what the dialogue is about. Below it, the less it says, the more
// stays what it was: "go on" three times is no change of subject.
const speaks = 0.5

// topicOf is what an utterance leaves a dialogue to be about that was about
// last before, see spread.
func topicOf(ix *index.Index, scores *index.Scores, last []float32) []topic {
	var alone float32
	for _, d := range scores.Domains {
		alone = max(alone, d.Alone)
	}
	weight := min(1, alone/speaks)
	var ts []topic
	for _, d := range scores.Domains {
		p := d.Share
		if last != nil {
			p = weight*p + (1-weight)*last[d.Domain]
		}
		if p >= leastTopic {
			ts = append(ts, topic{ix.Domains()[d.Domain].Name, p})
		}
	}
	slices.SortStableFunc(ts, func(a, b topic) int { return cmp.Compare(b.P, a.P) })
	return ts[:min(mostTopics, len(ts))]
}

// surely is the topic when the user or the model named it.
func surely(domains ...string) []topic {
	ts := make([]topic, 0, min(mostTopics, len(domains)))
	for _, d := range domains[:min(mostTopics, len(domains))] {
		ts = append(ts, topic{d, 1 / float32(len(domains))})
	}
	return ts
}

// spread gives each domain of ix its probability; nil when nothing is known.
func spread(ix *index.Index, ts []topic) []float32 {
	n := len(ix.Domains())
	if len(ts) == 0 || n < 2 {
		return nil
	}
	last := make([]float32, n)
	rest, known := float32(1), 0
	for _, t := range ts {
		if d, ok := ix.LookupDomain(t.Domain); ok {
			last[d] = t.P
			rest -= t.P
			known++
		}
	}
	if known == 0 {
		return nil
	}
	for d := range last {
		if last[d] == 0 {
			last[d] = max(rest, 0) / float32(max(n-known, 1))
		}
	}
	return last
}
