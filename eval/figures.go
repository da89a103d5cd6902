package eval

import (
	"encoding/json"
	"math"
	"slices"
)

// A Number is a figure; NaN where there is no row that it could be of, which
// JSON writes as null.
type Number float64

// Known tells whether there were rows for it.
func (x Number) Known() bool { return !math.IsNaN(float64(x)) }

// MarshalJSON implements [json.Marshaler].
func (x Number) MarshalJSON() ([]byte, error) {
	if !x.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*x = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(x))
}

// Figures are the figures of some rows; each is NaN where no row counts for it.
// Rates are from 0 to 1. A row is in scope if it has right skills or domains.
// Skills and domains are ranked before the threshold; a domain is returned if
// it matches: it reaches the threshold, or holds a skill that was named.
type Figures struct {
	N          int `json:"n"`
	InScope    int `json:"in_scope"`
	OutOfScope int `json:"out_of_scope"`

	// Of the rows with right domains.
	DomainHit1   Number `json:"domain_hit@1"`          // the best domain is right
	DomainRecall Number `json:"domain_recall"`         // mean of right domains returned ÷ right domains
	Precision    Number `json:"domain_precision"`      // mean of right domains returned ÷ returned ones, where there are any
	Returned     Number `json:"domains_returned_mean"` // returned domains, where there are any

	// Of the in-scope rows: one or two domains returned with a right one among
	// them; three and more with a right one; only wrong ones; none. They add up
	// to 1. Correct are those with all right domains returned and at most two.
	RightMatch Number `json:"right_match_rate"`
	WideMatch  Number `json:"wide_match_rate"`
	WrongMatch Number `json:"wrong_match_rate"`
	NoMatch    Number `json:"no_match_rate"`
	Correct    Number `json:"correct_rate"`

	// Of the rows with right skills.
	SkillHit1    Number `json:"skill_hit@1"`    // a right skill is first
	SkillHit3    Number `json:"skill_hit@3"`    // among the first three
	SkillHit5    Number `json:"skill_hit@5"`    // among the first five
	SkillRecall5 Number `json:"skill_recall@5"` // mean of right skills among the first five ÷ right skills
	MRR          Number `json:"mrr"`            // mean of 1 ÷ rank of the first right skill, 0 beyond the 25th
	Shown        Number `json:"shown_recall"`   // a right skill is among the summaries that are shown, or its definition is

	MustNot Number `json:"must_not_rate"` // of the rows with must-not skills: one of them is first

	// Abstention: no domain is returned and no skill was named.
	AbstainPrecision Number `json:"abstain_precision"` // of the rows that matched nothing: out of scope; unknown if none is
	AbstainRecall    Number `json:"abstain_recall"`    // of the rows out of scope: matched nothing
	AbstainAUROC     Number `json:"abstain_auroc"`     // a row in scope matches up to a higher threshold than one out of scope, ties counting half

	Questions      int    `json:"questions"`       // rows where the user is to be asked
	QuestionRate   Number `json:"question_rate"`   // their share
	QuestionRight  Number `json:"question_right"`  // of those with right domains: one is among the alternatives
	QuestionRecall Number `json:"question_recall"` // of the rows where a question is expected: one is asked

	// ECE is the expected calibration error: the best domain's score against
	// whether it is right, 15 equal bins, rows out of scope counting as wrong
	// (Naeini et al., 2015).
	ECE Number `json:"ece"`

	// Tokens, estimated: of the prompt in layers, and of the summaries of all skills.
	TokensLayered Number `json:"tokens_layered_mean"`
	TokensFlat    Number `json:"tokens_flat_mean"`

	LatencyP50 Number `json:"latency_p50_us"` // of a route, in microseconds, see [Run]
	LatencyP99 Number `json:"latency_p99_us"`

	// Flat is the same without layers: all skills ranked whatever their domain,
	// and as many summaries of the best shown as may be shown at once.
	Flat FlatFigures `json:"flat"`
}

// FlatFigures are those of [Figures] of the same name, without layers; tokens
// are without an index and fixed phrases.
type FlatFigures struct {
	SkillHit1 Number `json:"skill_hit@1"`
	SkillHit5 Number `json:"skill_hit@5"`
	Shown     Number `json:"shown_recall"`
	Tokens    Number `json:"tokens_mean"` // of the summaries that are shown, estimated
}

// Unmatched is the share of rows that match nothing: of those in scope or, if
// there are none, of those out of scope.
func (f *Figures) Unmatched() Number {
	if f.NoMatch.Known() {
		return f.NoMatch
	}
	return f.AbstainRecall
}

// A Figure describes one of [Figures].
type Figure struct {
	Name   string // key in JSON; those of FlatFigures begin with "flat."
	What   string // in words
	Better int    // 1: more is better, -1: less is, 0: neither
	Rate   bool   // from 0 to 1
	of     func(*Figures) *Number
	row    func(*Row) (value float64, counts bool) // what a row adds to a mean; nil: it is no mean
}

// Of returns the value of the figure in f.
func (x *Figure) Of(f *Figures) Number { return *x.of(f) }

// Kinds returns a description of each figure, in the order of [Figures].
func Kinds() []Figure {
	rate := func(name, what string, better int, of func(*Figures) *Number, row func(*Row) (float64, bool)) Figure {
		return Figure{name, what, better, true, of, row}
	}
	mean := func(name, what string, of func(*Figures) *Number, row func(*Row) (float64, bool)) Figure {
		return Figure{name, what, 0, false, of, row}
	}
	return []Figure{
		rate("domain_hit@1", "the best domain is right", 1, func(f *Figures) *Number { return &f.DomainHit1 }, func(r *Row) (float64, bool) {
			return one(r.DomainRank == 1), len(r.Domains) > 0
		}),
		rate("domain_recall", "of the right domains: returned", 1, func(f *Figures) *Number { return &f.DomainRecall }, func(r *Row) (float64, bool) {
			return ratio(r.rightMatched(), len(r.Domains)), len(r.Domains) > 0
		}),
		rate("domain_precision", "of the returned domains: right", 1, func(f *Figures) *Number { return &f.Precision }, func(r *Row) (float64, bool) {
			return ratio(r.rightMatched(), len(r.Matched)), len(r.Domains) > 0 && len(r.Matched) > 0
		}),
		mean("domains_returned_mean", "domains returned, where any is", func(f *Figures) *Number { return &f.Returned }, func(r *Row) (float64, bool) {
			return float64(len(r.Matched)), len(r.Domains) > 0 && len(r.Matched) > 0
		}),
		rate("right_match_rate", "1 or 2 domains match, one of them right", 1, func(f *Figures) *Number { return &f.RightMatch }, func(r *Row) (float64, bool) {
			return one(r.right() && len(r.Matched) <= narrow), r.InScope()
		}),
		rate("wide_match_rate", "3 and more match, one of them right", -1, func(f *Figures) *Number { return &f.WideMatch }, func(r *Row) (float64, bool) {
			return one(r.right() && len(r.Matched) > narrow), r.InScope()
		}),
		rate("wrong_match_rate", "only wrong ones match", -1, func(f *Figures) *Number { return &f.WrongMatch }, func(r *Row) (float64, bool) {
			return one(!r.Abstained && !r.right()), r.InScope()
		}),
		rate("no_match_rate", "nothing matches", -1, func(f *Figures) *Number { return &f.NoMatch }, func(r *Row) (float64, bool) {
			return one(r.Abstained), r.InScope()
		}),
		rate("correct_rate", "all right ones match, at most 2 in all", 1, func(f *Figures) *Number { return &f.Correct }, func(r *Row) (float64, bool) {
			return one(r.rightMatched() == len(r.Domains) && len(r.Matched) <= narrow), len(r.Domains) > 0
		}),
		rate("skill_hit@1", "a right skill is first", 1, func(f *Figures) *Number { return &f.SkillHit1 }, hit(1)),
		rate("skill_hit@3", "a right skill is among the first 3", 1, func(f *Figures) *Number { return &f.SkillHit3 }, hit(3)),
		rate("skill_hit@5", "a right skill is among the first 5", 1, func(f *Figures) *Number { return &f.SkillHit5 }, hit(5)),
		rate("skill_recall@5", "of the right skills: among the first 5", 1, func(f *Figures) *Number { return &f.SkillRecall5 }, func(r *Row) (float64, bool) {
			return ratio(r.Found, len(r.Case.Skills)), r.hasSkills()
		}),
		rate("mrr", "mean of 1 ÷ rank of the first right skill", 1, func(f *Figures) *Number { return &f.MRR }, func(r *Row) (float64, bool) {
			return ratio(min(r.SkillRank, 1), r.SkillRank), r.hasSkills()
		}),
		rate("shown_recall", "a right skill is shown or loaded", 1, func(f *Figures) *Number { return &f.Shown }, func(r *Row) (float64, bool) {
			return one(r.Shown), r.hasSkills()
		}),
		rate("must_not_rate", "a must-not skill is first", -1, func(f *Figures) *Number { return &f.MustNot }, func(r *Row) (float64, bool) {
			return one(len(r.Ranked) > 0 && slices.Contains(r.Case.Not, r.Ranked[0].Name)), len(r.Case.Not) > 0
		}),
		rate("abstain_precision", "of what matches nothing: out of scope", 1, func(f *Figures) *Number { return &f.AbstainPrecision }, func(r *Row) (float64, bool) {
			return one(r.Case.OutOfScope), r.Abstained && (r.Case.OutOfScope || r.InScope())
		}),
		rate("abstain_recall", "of what is out of scope: matches nothing", 1, func(f *Figures) *Number { return &f.AbstainRecall }, func(r *Row) (float64, bool) {
			return one(r.Abstained), r.Case.OutOfScope
		}),
		rate("abstain_auroc", "in scope matches longer than out of scope", 1, func(f *Figures) *Number { return &f.AbstainAUROC }, nil),
		rate("question_rate", "the user is asked", 0, func(f *Figures) *Number { return &f.QuestionRate }, func(r *Row) (float64, bool) {
			return one(len(r.Asked) > 0), true
		}),
		rate("question_right", "of the questions: a right domain is named", 1, func(f *Figures) *Number { return &f.QuestionRight }, func(r *Row) (float64, bool) {
			return one(shares(r.Asked, r.Domains)), len(r.Asked) > 0 && len(r.Domains) > 0
		}),
		rate("question_recall", "of the questions expected: asked", 1, func(f *Figures) *Number { return &f.QuestionRecall }, func(r *Row) (float64, bool) {
			return one(len(r.Asked) > 0), r.Case.Question
		}),
		rate("ece", "gap between score and share of right ones", -1, func(f *Figures) *Number { return &f.ECE }, nil),
		mean("tokens_layered_mean", "tokens of a prompt in layers, estimated", func(f *Figures) *Number { return &f.TokensLayered }, func(r *Row) (float64, bool) {
			return float64(r.Tokens), true
		}),
		mean("tokens_flat_mean", "tokens of all summaries at once, estimated", func(f *Figures) *Number { return &f.TokensFlat }, func(r *Row) (float64, bool) {
			return float64(r.AllTokens), true
		}),
		{"latency_p50_us", "microseconds of a route, half are faster", -1, false, func(f *Figures) *Number { return &f.LatencyP50 }, nil},
		{"latency_p99_us", "microseconds of a route, 99 of 100 are faster", -1, false, func(f *Figures) *Number { return &f.LatencyP99 }, nil},
		rate("flat.skill_hit@1", "without layers: a right skill is first", 1, func(f *Figures) *Number { return &f.Flat.SkillHit1 }, func(r *Row) (float64, bool) {
			return one(r.FlatRank == 1), r.hasSkills()
		}),
		rate("flat.skill_hit@5", "without layers: a right skill is among the first 5", 1, func(f *Figures) *Number { return &f.Flat.SkillHit5 }, func(r *Row) (float64, bool) {
			return one(r.FlatRank > 0 && r.FlatRank <= 5), r.hasSkills()
		}),
		rate("flat.shown_recall", "without layers: a right skill is among the best that may be shown", 1, func(f *Figures) *Number { return &f.Flat.Shown }, func(r *Row) (float64, bool) {
			return one(r.FlatShown), r.hasSkills()
		}),
		mean("flat.tokens_mean", "without layers: tokens of what is shown, estimated", func(f *Figures) *Number { return &f.Flat.Tokens }, func(r *Row) (float64, bool) {
			return float64(r.FlatTokens), true
		}),
	}
}

// A Part is figures that belong together, for a report.
type Part struct {
	Title   string
	Figures []Figure
}

// Parts returns the figures of rates in layers, put together for a reader.
func Parts() []Part {
	parts := []Part{
		{Title: "Ranking, before the threshold"},
		{Title: "Matches at the threshold, of what is in scope"},
		{Title: "Out of scope"},
		{Title: "Questions to the user"},
		{Title: "Scores"},
	}
	of := map[string]int{
		"domain_hit@1": 0, "skill_hit@1": 0, "skill_hit@3": 0, "skill_hit@5": 0, "skill_recall@5": 0, "mrr": 0, "must_not_rate": 0,
		"right_match_rate": 1, "wide_match_rate": 1, "wrong_match_rate": 1, "no_match_rate": 1, "correct_rate": 1,
		"domain_recall": 1, "domain_precision": 1, "domains_returned_mean": 1, "shown_recall": 1,
		"abstain_recall": 2, "abstain_precision": 2, "abstain_auroc": 2,
		"question_rate": 3, "question_right": 3, "question_recall": 3,
		"ece": 4,
	}
	for _, k := range Kinds() {
		if i, ok := of[k.Name]; ok {
			parts[i].Figures = append(parts[i].Figures, k)
		}
	}
	return parts
}

// narrow is how many domains a match may have and be of use.
const narrow = 2

func hit(k int) func(*Row) (float64, bool) {
	return func(r *Row) (float64, bool) { return one(r.SkillRank > 0 && r.SkillRank <= k), r.hasSkills() }
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// ratio is 0 where it is one of nothing.
func ratio(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// Measure returns the figures of rows, those of all or of any part of a report.
func Measure(rows []*Row) *Figures {
	f := &Figures{N: len(rows)}
	kinds := Kinds()
	for i := range kinds {
		k := &kinds[i]
		if k.row != nil {
			*k.of(f) = k.mean(rows)
		}
	}
	var in, out []float64
	took := make([]float64, 0, len(rows))
	for _, r := range rows {
		if len(r.Asked) > 0 {
			f.Questions++
		}
		switch {
		case r.Case.OutOfScope:
			f.OutOfScope++
			out = append(out, r.Reach)
		case r.InScope():
			f.InScope++
			in = append(in, r.Reach)
		}
		took = append(took, float64(r.Took.Nanoseconds())/1000)
	}
	if f.OutOfScope == 0 { // else it would be 0 without anything to catch
		f.AbstainPrecision = Number(math.NaN())
	}
	f.AbstainAUROC = Number(auroc(in, out))
	f.ECE = BinsOf(rows).Error()
	slices.Sort(took)
	f.LatencyP50, f.LatencyP99 = quantile(took, 0.5), quantile(took, 0.99)
	return f
}

func (x *Figure) mean(rows []*Row) Number {
	var sum float64
	n := 0
	for _, r := range rows {
		if v, counts := x.row(r); counts {
			sum += v
			n++
		}
	}
	return Number(sum / float64(n)) // 0 ÷ 0 is NaN
}

// quantile is the smallest of sorted values that at least a share q does not
// exceed.
func quantile(sorted []float64, q float64) Number {
	if len(sorted) == 0 {
		return Number(math.NaN())
	}
	return Number(sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)])
}

// auroc is the probability that a positive scores above a negative, ties
// counting half (Mann–Whitney); NaN if one side is empty.
func auroc(positives, negatives []float64) float64 {
	sorted := slices.Sorted(slices.Values(negatives))
	var wins float64
	for _, p := range positives {
		below, _ := slices.BinarySearch(sorted, p)
		upTo := below
		for upTo < len(sorted) && sorted[upTo] == p {
			upTo++
		}
		wins += float64(below) + float64(upTo-below)/2
	}
	return wins / float64(len(positives)) / float64(len(negatives))
}

// Bins sum up the best domain's score and whether it was right, in 15 equal
// bins of the score.
type Bins [15]Bin

// BinsOf returns the bins of rows.
func BinsOf(rows []*Row) *Bins {
	var b Bins
	for _, r := range rows {
		b.add(r)
	}
	return &b
}

// A Bin is one of [Bins].
type Bin struct {
	N      int     `json:"n"`
	Scores float64 `json:"scores"` // their sum
	Right  int     `json:"right"`
}

// add adds a row, unless nothing is known of its domains.
func (b *Bins) add(r *Row) {
	if len(r.Domains) > 0 || r.Case.OutOfScope {
		b.put(r.Score, r.DomainRank == 1)
	}
}

func (b *Bins) put(score float64, right bool) {
	bin := &b[min(max(int(score*float64(len(b))), 0), len(b)-1)]
	bin.N++
	bin.Scores += score
	if right {
		bin.Right++
	}
}

// Error is the expected calibration error: the mean gap between score and
// share of right ones, by rows; NaN without any.
func (b *Bins) Error() Number {
	var sum float64
	n := 0
	for _, bin := range b {
		n += bin.N
		sum += math.Abs(bin.Scores - float64(bin.Right))
	}
	return Number(sum / float64(n))
}
