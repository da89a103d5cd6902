package main

import "skillrouter/eval"

// A compareOutput is a comparison as --json writes it.
type compareOutput struct {
	N       int                 `json:"n"` // pairs
	Files   []string            `json:"files"`
	LeftOut int                 `json:"left_out"`
	A       compareSideOutput   `json:"a"`
	B       compareSideOutput   `json:"b"`
	Figures []eval.PairedFigure `json:"figures"`
	Domains []eval.PairedDomain `json:"domains"`
	Worse   []string            `json:"worse"` // figures on side b, significantly
	Rows    []compareRow        `json:"rows"`  // all pairs
}

type compareSideOutput struct {
	Places     []string        `json:"places"`
	Settings   string          `json:"settings"`
	Conditions eval.Conditions `json:"conditions"`
	Only       []string        `json:"only"`       // skills that the other side does not have
	OnlyCases  int             `json:"only_cases"` // about these, in no pair
}

// A compareRow is one case on both sides.
type compareRow struct {
	File     string      `json:"file"`
	Line     int         `json:"line"`
	Text     string      `json:"text"`
	Skills   []string    `json:"skills"`
	Domains  []string    `json:"domains"`
	Decision eval.Change `json:"decision"`
	First    eval.Change `json:"first_skill"` // "" without right skills
	A        compareSaid `json:"a"`
	B        compareSaid `json:"b"`
}

type compareSaid struct {
	Matched []string `json:"matched"`
	Best    string   `json:"best_domain"`
	Score   float64  `json:"score"`
	First   string   `json:"first_skill"`
	Rank    int      `json:"skill_rank"`
}

func newCompareOutput(x *comparing) *compareOutput {
	out := &compareOutput{
		N: len(x.Pairs), Files: x.files, LeftOut: x.dropped, Figures: orEmpty(x.Figures), Domains: orEmpty(x.Domains),
		Worse: orEmpty(x.Worse()), Rows: []compareRow{},
	}
	side := func(i int, r *eval.Report, only []string, cases int) compareSideOutput {
		s := &x.sides[i]
		return compareSideOutput{s.c.places, s.said, r.Conditions, orEmpty(only), cases}
	}
	out.A, out.B = side(0, x.A, x.onlyA, len(x.OnlyA)), side(1, x.B, x.onlyB, len(x.OnlyB))
	said := func(r *eval.Row) compareSaid {
		s := compareSaid{Matched: orEmpty(r.Matched), Score: r.Score, Rank: r.SkillRank}
		if len(r.Best) > 0 {
			s.Best = r.Best[0].Name
		}
		if len(r.Ranked) > 0 {
			s.First = r.Ranked[0].Name
		}
		return s
	}
	for i := range x.Pairs {
		p := &x.Pairs[i]
		out.Rows = append(out.Rows, compareRow{
			p.Case.File, p.Case.Line, p.Case.Text, orEmpty(p.Case.Skills), orEmpty(p.Case.Domains), p.Decision, p.First, said(p.A), said(p.B),
		})
	}
	return out
}
