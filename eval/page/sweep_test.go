package page

import (
	"strings"
	"testing"

	"skillrouter/eval"
)

func TestSweep(t *testing.T) {
	p := aPage(t, "Mail", "Travel")
	var points []eval.Point
	for _, x := range []float64{0.5, 0.72, 0.9} {
		points = append(points, eval.Point{Threshold: x, MaxSummaries: 25, MaxDomains: -1, Figures: p.Cases.Figures})
	}
	unbounded := points[0]
	unbounded.MaxSummaries = -1
	s := &Page{Title: "Thresholds", Conditions: p.Conditions, Sweep: &Sweep{
		Thresholds: points, Caps: []eval.Point{points[0], unbounded}, Words: []string{"threshold 0.90 & more"}, InUse: 1, Chosen: 2,
	}}
	got := written(t, s)
	for _, want := range []string{
		"3 utterances: 2 in scope, 1 out of scope", `<td class="n">0.50</td>`, "<li>threshold 0.90 &amp; more</li>", "In scope, by threshold", "Out of scope, by threshold",
		"What is shown, by bound of summaries", `<td class="n">0.72</td><td class="n">50.0</td>`, `<td class="soft">in use</td>`,
		`<td class="soft">recommended</td>`, `<td class="n">any</td>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "<h2>Figures</h2>") || strings.Contains(got, "NaN") || strings.Count(got, "<svg ") != 3 {
		t.Errorf("parts that it does not have: %s", got)
	}
	if again := written(t, s); again != got {
		t.Error("the second page differs")
	}
	s.Sweep.Caps, s.Sweep.Chosen = nil, -1
	if got := written(t, s); strings.Contains(got, "summaries</th>") || strings.Contains(got, "recommended</td>") {
		t.Errorf("caps or a choice that it does not have: %s", got)
	}
}
