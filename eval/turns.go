package eval

import "math"

// TurnFigures are the figures of dialogues by turn, see [ReplayReport]; each is
// NaN where no turn counts for it.
type TurnFigures struct {
	Dialogues int `json:"dialogues"`
	Turns     int `json:"turns"`
	Labelled  int `json:"turns_labelled"`

	DomainHit1         Number `json:"turn_domain_hit@1"` // of the labelled turns: the best domain is right
	DomainHit1First    Number `json:"turn_domain_hit@1_first"`
	DomainHit1Kept     Number `json:"turn_domain_hit@1_kept"`
	DomainHit1Switched Number `json:"turn_domain_hit@1_switched"`
	AloneHit1          Number `json:"alone_domain_hit@1"` // the same, each utterance by itself
	SkillHit1          Number `json:"turn_skill_hit@1"`   // of the turns with right skills: the best candidate is one
	SkillHit5          Number `json:"turn_skill_hit@5"`
	DomainVisible      Number `json:"domain_visible_share"` // of the labelled turns: a right domain is visible
	SkillVisible       Number `json:"skill_visible_share"`  // of the turns with right skills: one is visible
}

// A TurnFigure describes one of [TurnFigures].
type TurnFigure struct {
	Name   string // key in JSON
	What   string // in words
	Better int    // 1: more is better
	of     func(*TurnFigures) *Number
	row    func(*ReplayedTurn) (yes, counts bool)
}

// Of returns the value of the figure in f.
func (x *TurnFigure) Of(f *TurnFigures) Number { return *x.of(f) }

// TurnKinds returns a description of each figure, in the order of
// [TurnFigures].
func TurnKinds() []TurnFigure {
	at := func(position string) func(*ReplayedTurn) (bool, bool) {
		return func(t *ReplayedTurn) (bool, bool) { return t.DomainHit, t.Position == position }
	}
	labelled := func(t *ReplayedTurn) bool { return t.Position != "" }
	hasSkills := func(t *ReplayedTurn) bool { return labelled(t) && len(t.WantSkills) > 0 }
	return []TurnFigure{
		{"turn_domain_hit@1", "the best domain is right", 1, func(f *TurnFigures) *Number { return &f.DomainHit1 }, func(t *ReplayedTurn) (bool, bool) { return t.DomainHit, labelled(t) }},
		{"turn_domain_hit@1_first", "in the first labelled turn", 1, func(f *TurnFigures) *Number { return &f.DomainHit1First }, at(First)},
		{"turn_domain_hit@1_kept", "in turns that keep the domain", 1, func(f *TurnFigures) *Number { return &f.DomainHit1Kept }, at(Kept)},
		{"turn_domain_hit@1_switched", "in turns that switch", 1, func(f *TurnFigures) *Number { return &f.DomainHit1Switched }, at(Switched)},
		{"alone_domain_hit@1", "each utterance by itself", 1, func(f *TurnFigures) *Number { return &f.AloneHit1 }, func(t *ReplayedTurn) (bool, bool) { return t.AloneHit, labelled(t) }},
		{"turn_skill_hit@1", "a right skill is first", 1, func(f *TurnFigures) *Number { return &f.SkillHit1 }, func(t *ReplayedTurn) (bool, bool) { return t.RightSkill.Rank == 1, hasSkills(t) }},
		{"turn_skill_hit@5", "a right skill is among the first five", 1, func(f *TurnFigures) *Number { return &f.SkillHit5 }, func(t *ReplayedTurn) (bool, bool) {
			return t.RightSkill.Rank > 0 && t.RightSkill.Rank <= 5, hasSkills(t)
		}},
		{"domain_visible_share", "a right domain is visible", 1, func(f *TurnFigures) *Number { return &f.DomainVisible }, func(t *ReplayedTurn) (bool, bool) { return t.DomainVisible, labelled(t) }},
		{"skill_visible_share", "a right skill is visible", 1, func(f *TurnFigures) *Number { return &f.SkillVisible }, func(t *ReplayedTurn) (bool, bool) { return t.SkillVisible, hasSkills(t) }},
	}
}

// MeasureTurns returns the figures of replayed dialogues, and an interval for
// each that is known: as [Intervals], of dialogues drawn as a whole.
func MeasureTurns(dialogues []ReplayedDialogue) (*TurnFigures, map[string]Interval) {
	f := &TurnFigures{Dialogues: len(dialogues)}
	for _, d := range dialogues {
		f.Turns += len(d.Turns)
		for i := range d.Turns {
			if d.Turns[i].Position != "" {
				f.Labelled++
			}
		}
	}
	var means []unitMean
	for _, k := range TurnKinds() {
		m := unitMean{name: k.Name, sums: make([]float64, len(dialogues)), counts: make([]float64, len(dialogues))}
		var sum, n float64
		for i, d := range dialogues {
			for j := range d.Turns {
				if yes, counts := k.row(&d.Turns[j]); counts {
					m.sums[i] += one(yes)
					m.counts[i]++
				}
			}
			sum += m.sums[i]
			n += m.counts[i]
		}
		if *k.of(f) = Number(math.NaN()); n > 0 {
			*k.of(f) = Number(sum / n)
			means = append(means, m)
		}
	}
	return f, bootstrap(len(dialogues), means, nil)
}
