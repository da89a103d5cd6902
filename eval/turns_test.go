package eval

import (
	"math"
	"testing"
)

func TestMeasureTurns(t *testing.T) {
	skill := []string{"s"}
	f, intervals := MeasureTurns([]ReplayedDialogue{
		{Turns: []ReplayedTurn{
			{Position: First, DomainHit: true, DomainVisible: true, WantSkills: skill, RightSkill: Standing{Rank: 1}, SkillVisible: true},
			{}, // not labelled
			{Position: Kept, DomainHit: true, AloneHit: true, WantSkills: skill, RightSkill: Standing{Rank: 5}},
		}},
		{Turns: []ReplayedTurn{
			{Position: First, AloneHit: true},
			{Position: Kept, WantSkills: skill, RightSkill: Standing{Rank: 6}},
		}},
	})
	if f.Dialogues != 2 || f.Turns != 5 || f.Labelled != 4 {
		t.Errorf("got %+v", f)
	}
	want := map[string]float64{
		"turn_domain_hit@1": 2. / 4, "turn_domain_hit@1_first": 1. / 2, "turn_domain_hit@1_kept": 1. / 2, "alone_domain_hit@1": 2. / 4,
		"turn_skill_hit@1": 1. / 3, "turn_skill_hit@5": 2. / 3, "domain_visible_share": 1. / 4, "skill_visible_share": 1. / 3,
	}
	for _, k := range TurnKinds() {
		w, ok := want[k.Name]
		got := k.Of(f)
		if ok != got.Known() || ok && math.Abs(float64(got)-w) > 1e-9 {
			t.Errorf("%s: got %v, want %v (%v)", k.Name, got, w, ok)
		}
		if x, has := intervals[k.Name]; has != ok || has && !(x[0] <= got && got <= x[1]) {
			t.Errorf("%s: got the interval %v", k.Name, x)
		}
	}
	// Turns of a dialogue are drawn together: all or none of the first's.
	if x := intervals["turn_domain_hit@1"]; x != (Interval{0, 1}) {
		t.Errorf("got %v, want 0 to 1", x)
	}
	if f, intervals := MeasureTurns(nil); f.DomainHit1.Known() || len(intervals) != 0 {
		t.Errorf("nothing: got %+v, %v", f, intervals)
	}
}
