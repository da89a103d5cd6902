package router

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"skillrouter/index"
)

// A topic is a domain that a dialogue may be about.
type topic struct {
	Domain string
	Last   float32 // how likely after the last turn, 0 to 1, in thousandths
	Past   float32 // the same over all turns, the nearer the more
}

// MarshalJSON writes ["domain",last,past] in thousandths: states are to be small.
func (t topic) MarshalJSON() ([]byte, error) {
	name, err := json.Marshal(t.Domain)
	return fmt.Appendf(nil, "[%s,%d,%d]", name, thousandths(t.Last), thousandths(t.Past)), err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *topic) UnmarshalJSON(data []byte) error {
	var last, past int
	if err := json.Unmarshal(data, &[]any{&t.Domain, &last, &past}); err != nil {
		return err
	}
	t.Last, t.Past = float32(last)/1000, float32(past)/1000
	return nil
}

func thousandths(p float32) int { return int(math.Round(float64(p) * 1000)) }

const (
	// What a topic must be to be remembered. What is left is spread evenly
	// over the other domains.
	mostTopics = 4
	leastTopic = 0.02

	// speaks is the score, without what came before, from which an utterance
	// says by itself what the dialogue is about. Below it, the less it says,
	// the more stays what it was.
	speaks = 0.5

	// A dialogue comes back to what it was about before: returns is how likely
	// that is where it does not stay with the last turn, and fades how much of
	// the past each turn leaves.
	returns = 0.2
	fades   = 0.7
)

// topicsOf is what an utterance leaves a dialogue to be about that was about
// topics before, see spread for last.
func topicsOf(ix *index.Index, scores *index.Scores, topics []topic, last []float32) []topic {
	var alone float32
	for _, d := range scores.Domains {
		alone = max(alone, d.Alone)
	}
	weight := min(1, alone/speaks)
	var now []topic
	for _, d := range scores.Domains {
		p := d.Share
		if last != nil {
			p = weight*p + (1-weight)*last[d.Domain]
		}
		if p >= leastTopic {
			now = append(now, topic{Domain: ix.Domains()[d.Domain].Name, Last: p})
		}
	}
	return follow(topics, now)
}

// surely is the topics after the user or the model named some domains.
func surely(topics []topic, domains ...string) []topic {
	now := make([]topic, len(domains))
	for i, d := range domains {
		now[i] = topic{Domain: d, Last: 1 / float32(len(domains))}
	}
	return follow(topics, now)
}

// follow puts what is likely now after what was before.
func follow(before, now []topic) []topic {
	all := make([]topic, 0, len(before)+len(now))
	for _, t := range before {
		all = append(all, topic{Domain: t.Domain, Past: fades * t.Past})
	}
	for _, t := range now {
		at := slices.IndexFunc(all, func(x topic) bool { return x.Domain == t.Domain })
		if at < 0 {
			all, at = append(all, topic{Domain: t.Domain}), len(all)
		}
		all[at].Last = t.Last
		if len(before) == 0 {
			all[at].Past = t.Last
		} else {
			all[at].Past += (1 - fades) * t.Last
		}
	}
	for i := range all { // as it is kept
		all[i].Last, all[i].Past = float32(thousandths(all[i].Last))/1000, float32(thousandths(all[i].Past))/1000
	}
	all = slices.DeleteFunc(all, func(t topic) bool { return t.Last < leastTopic && t.Past < leastTopic })
	slices.SortStableFunc(all, func(a, b topic) int { return cmp.Compare(max(b.Last, b.Past), max(a.Last, a.Past)) })
	return all[:min(mostTopics, len(all))]
}

// spread gives each domain of ix its probability after the last turn, and that
// before an utterance, which may also come back to the past; nil when nothing
// is known.
func spread(ix *index.Index, topics []topic) (last, before []float32) {
	n := len(ix.Domains())
	if n < 2 || len(topics) == 0 {
		return nil, nil
	}
	last, past := make([]float32, n), make([]float32, n)
	known := 0
	restLast, restPast := float32(1), float32(1)
	for _, t := range topics {
		if d, ok := ix.LookupDomain(t.Domain); ok {
			last[d], past[d] = t.Last, t.Past
			restLast, restPast = restLast-t.Last, restPast-t.Past
			known++
		}
	}
	if known == 0 {
		return nil, nil
	}
	rest := 1 / float32(max(n-known, 1))
	for d := range last {
		if last[d] == 0 && past[d] == 0 {
			last[d], past[d] = max(restLast, 0)*rest, max(restPast, 0)*rest
		}
	}
	before = past
	for d := range before {
		before[d] = (1-returns)*last[d] + returns*past[d]
	}
	return last, before
}
