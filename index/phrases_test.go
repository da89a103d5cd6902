package index

import (
	"strings"
	"testing"

	"skillrouter/definitions"
	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// A body speaks for its skill as one phrase, the more the longer it is.
func TestBodyIsAPhrase(t *testing.T) {
	for _, test := range []struct {
		name, core string
		length     int // 0: no phrase of the body
		weight     float32
	}{
		{"none", " \n", 0, 0},
		{"the description again", "Waters plants.", 0, 0},
		{"a stub", strings.Repeat("soil ", 50), 200, 0.6},
		{"whole", strings.Repeat("soil ", 300), 1200, bodyWeight},
		{"too long", strings.Repeat("soil ", 900), maxBodyText, bodyWeight},
		{"Chinese", strings.Repeat("浇水", 250), 500, 1.5},
	} {
		s := &definitions.Skill{Name: "water", Description: "Waters plants.", Lead: "Waters plants.", Core: test.core}
		ps := phrasesOf(s, &summaries.Summary{Derived: true}, false)
		if test.length == 0 {
			if len(ps) != 1 {
				t.Errorf("%s: got %d phrases, want that of the description alone", test.name, len(ps))
			}
			continue
		}
		last := ps[len(ps)-1]
		if n := text.Len(last.text); len(ps) != 2 || n > test.length || n < test.length-5 || last.weight < test.weight-0.001 || last.weight > test.weight+0.001 || last.trigger {
			t.Errorf("%s: got %d phrases, the last of %d characters with weight %v; want %d with %v", test.name, len(ps), n, last.weight, test.length, test.weight)
		}
	}
}
