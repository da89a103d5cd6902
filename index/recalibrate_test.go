package index

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrouter/domains"
)

// calibrated is office with a calibration in its routing.
func calibrated(text string) fstest.MapFS {
	fsys := office()
	yaml := strings.Replace(string(fsys["skillrouter.yaml"].Data), "routing:\n", "routing:\n  calibration: {"+text+"}\n", 1)
	fsys["skillrouter.yaml"] = &fstest.MapFile{Data: []byte(yaml)}
	return fsys
}

// A correction in the file and one of an index come to the same, and are what
// the doc says: the log-odds times slope, plus shift.
func TestRecalibrated(t *testing.T) {
	e := builtIn(t)
	plain := build(t, office(), e)
	written := build(t, calibrated("slope: 1.5, shift: -0.5, embedder: "+e.ID()), e)
	given := plain.Recalibrated(1.5, -0.5)
	odds := func(p float32) float64 { return math.Log(float64(p) / (1 - float64(p))) }
	compared := 0
	for _, u := range utterances() {
		q := ask(t, e, u)
		if !slices.ContainsFunc(q.Vector, func(x float32) bool { return x != 0 }) {
			continue // words alone, see below
		}
		before, _ := score(plain, q)
		after, _ := score(written, q)
		same, _ := score(given, q)
		if d := cmp.Diff(after, same); d != "" {
			t.Fatalf("%q: written and given differ: %s", u, d)
		}
		for i := range before {
			if before[i].Name != after[i].Name {
				t.Fatalf("%q: the order changed", u)
			}
			if p := before[i].Score; p > 0.001 && p < 0.999 {
				compared++
				if want := 1.5*odds(p) - 0.5; math.Abs(odds(after[i].Score)-want) > 1e-3 {
					t.Errorf("%q: log-odds %v, want %v", u, odds(after[i].Score), want)
				}
			}
		}
		// Words alone have a map of their own.
		q.Without = Semantic
		before, _ = score(plain, q)
		after, _ = score(given, q)
		if d := cmp.Diff(before, after); d != "" {
			t.Errorf("%q by words alone: %s", u, d)
		}
	}
	if compared == 0 {
		t.Error("no score was compared")
	}
	if given.Fingerprint() == plain.Fingerprint() {
		t.Error("other scores, same fingerprint")
	}
	want := domains.Calibration{Slope: 1.5, Shift: -0.5, Embedder: e.ID()}
	if got := given.Routing().Calibration; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := plain.Routing().Calibration; got != (domains.Calibration{}) {
		t.Errorf("the index that was given changed: %+v", got)
	}
}

// A second correction goes over the first: 2·(1.5·x − 0.5) + 1.
func TestRecalibratedTwice(t *testing.T) {
	e := builtIn(t)
	ix := build(t, office(), e)
	twice, once := ix.Recalibrated(1.5, -0.5).Recalibrated(2, 1), ix.Recalibrated(3, 0)
	if d := cmp.Diff(once.Routing(), twice.Routing()); d != "" {
		t.Errorf("routing: %s", d)
	}
	for _, u := range utterances() {
		want, _ := score(once, ask(t, e, u))
		got, _ := score(twice, ask(t, e, u))
		for i := range want {
			if math.Abs(float64(want[i].Score-got[i].Score)) > 1e-6 {
				t.Errorf("%q: got %v, want %v", u, got[i], want[i])
			}
		}
	}
}

// What was fitted with another embedder is told and not used.
func TestCalibrationOfAnotherEmbedder(t *testing.T) {
	e := builtIn(t)
	ix, plain := build(t, calibrated("slope: 3, embedder: other/1"), e), build(t, office(), e)
	if ix.Calibration() != plain.Calibration() || ix.Routing().Calibration.Slope != 0 {
		t.Error("it was used")
	}
	found := false
	for _, p := range ix.Problems() {
		found = found || p.Kind == "config-calibration" && strings.Contains(p.What, `"other/1"`) && strings.HasSuffix(p.File, "skillrouter.yaml")
	}
	if !found {
		t.Errorf("no problem tells: %v", ix.Problems())
	}
}
