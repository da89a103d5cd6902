package index

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"skillrouter/definitions"
	"skillrouter/domains"
)

// recalibrate corrects the scores as the catalog's skillrouter.yaml says. A
// correction that was fitted with another embedder is a problem of the file and
// not used.
func (b *builder) recalibrate() {
	ix := b.ix
	c := ix.routing.Calibration
	switch {
	case c.Slope == 0:
	case c.Embedder != "" && c.Embedder != ix.embedder:
		p := definitions.Problem{
			Severity: definitions.Warning, Kind: "config-calibration", Fix: "run skillrouter tune with this embedder, or remove it",
			What: fmt.Sprintf("the calibration was fitted with the embedder %q and is not used with %q", c.Embedder, ix.embedder),
		}
		for _, f := range b.catalog.Files { // the last that has one gave it
			if file, _ := domains.ParseFile(f.Path, f.Data); file.Routing.Calibration.Slope != 0 {
				p.File = f.Path
			}
		}
		ix.problems = append(ix.problems, p)
		sortProblems(ix.problems)
		ix.routing.Calibration = domains.Calibration{}
	default:
		ix.calibration.Full.correct(c.Slope, c.Shift)
	}
}

// correct makes the log-odds of scores slope times as large, plus shift.
func (c *Curve) correct(slope, shift float64) {
	for i := range c.Weights {
		c.Weights[i] *= slope
	}
	c.Weights[len(c.Weights)-1] += shift
}

// Recalibrated returns an index that is ix but for its scores: their log-odds
// are slope times as large, plus shift, as if the catalog's skillrouter.yaml said
// so, over the correction that it may say already. Slope must be above 0. Scores
// of words alone stay: they have a map of their own. Both indexes share the
// folders, closing one closes them for both.
func (ix *Index) Recalibrated(slope, shift float64) *Index {
	other := *ix
	other.scratch()
	c := &other.routing.Calibration
	if c.Slope == 0 {
		c.Slope = 1
	}
	*c = domains.Calibration{Slope: slope * c.Slope, Shift: slope*c.Shift + shift, Embedder: ix.embedder}
	other.calibration.Full.correct(slope, shift)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %g %g", ix.fingerprint, slope, shift))
	other.fingerprint = hex.EncodeToString(sum[:16])
	return &other
}

// scratch gives the index space of its own for what calls leave behind.
func (ix *Index) scratch() {
	ix.scores = &sync.Pool{New: ix.newScores}
	ix.bodies = newBodies()
}
