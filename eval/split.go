package eval

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"skillrouter/internal/text"
)

// Split divides cases in two halves: what is chosen on the first must be
// reported on the second only. The text of a case decides, without case and
// width, so that a case is always in the same half, whatever the others, their
// order and their files. Few cases may be divided unevenly.
func Split(cases []Case) (fit, report []Case) {
	for i := range cases {
		if part("split", cases[i].Text, 2) == 0 {
			fit = append(fit, cases[i])
		} else {
			report = append(report, cases[i])
		}
	}
	return fit, report
}

// part is which of n parts a text is in. Divisions of other names are
// independent of each other.
func part(division, s string, n int) int {
	sum := sha256.Sum256([]byte(division + "\x00" + strings.Join(strings.Fields(text.Fold(s)), " ")))
	return int(binary.LittleEndian.Uint64(sum[:8]) % uint64(n))
}
