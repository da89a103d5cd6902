package domains

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTune(t *testing.T) {
	both := Tuning{Threshold: 0.68, Calibration: Calibration{1.2, -0.3, "static-en-zh-1/256"}, Reason: "fitted on 120 rows"}
	threshold := Tuning{Threshold: 0.7, Reason: "r"}
	for _, test := range []struct {
		name, text string
		t          Tuning
		want       string // "": an error
	}{
		{"no file", "", both, `routing:
  # By "skillrouter tune": fitted on 120 rows
  threshold: 0.68
  calibration: # log-odds of a score times slope, plus shift
    slope: 1.2
    shift: -0.3
    embedder: "static-en-zh-1/256"
`},
		{"no routing", "# ours\ndomains:\n  - name: a # first", threshold, "# ours\ndomains:\n  - name: a # first\nrouting:\n  # By \"skillrouter tune\": r\n  threshold: 0.7\n"},
		{"empty routing", "routing: # later\ndomains: []\n", threshold, "routing: # later\n  # By \"skillrouter tune\": r\n  threshold: 0.7\ndomains: []\n"},
		{
			"a threshold, in the middle", "routing:\n    # how many\n    max-summaries: 15 # tried\n    threshold: 0.8   # by hand\n    mode: layered\n\n# domains\ndomains:\n  - name: a\n", threshold,
			"routing:\n    # how many\n    max-summaries: 15 # tried\n    # By \"skillrouter tune\": r\n    threshold: 0.7   # by hand\n    mode: layered\n\n# domains\ndomains:\n  - name: a\n",
		},
		{
			"numbers that are not there go to the end of routing", "routing:\n  mode: layered\n# domains\ndomains:\n  - name: a\n", threshold,
			"routing:\n  mode: layered\n  # By \"skillrouter tune\": r\n  threshold: 0.7\n# domains\ndomains:\n  - name: a\n",
		},
		{
			"tuned before: nothing piles up", "routing:\n  # By \"skillrouter tune\": before\n  threshold: 0.6\n  calibration: # mine\n    slope: 1\n    shift: 0 # none\n    embedder: e\n", both,
			"routing:\n  # By \"skillrouter tune\": fitted on 120 rows\n  threshold: 0.68\n  calibration: # mine\n    slope: 1.2\n    shift: -0.3 # none\n    embedder: \"static-en-zh-1/256\"\n",
		},
		{
			"a calibration that is not whole", "routing:\n  threshold: 0.6\n  calibration:\n    slope: 1\n", both,
			"routing:\n  # By \"skillrouter tune\": fitted on 120 rows\n  threshold: 0.68\n  calibration:\n    shift: -0.3\n    embedder: \"static-en-zh-1/256\"\n    slope: 1.2\n",
		},
		{"in braces, all there", "routing: {mode: flat, threshold: 0.6}\n", threshold, "routing: {mode: flat, threshold: 0.7}\n"},
		{"in braces, not there", "routing: {mode: flat}\n", threshold, ""},
		{"the file in braces", "{domains: []}\n", threshold, ""},
		{"lines that end as on Windows", "routing:\r\n  threshold: 0.6\r\n", threshold, "routing:\r\n  # By \"skillrouter tune\": r\r\n  threshold: 0.7\r\n"},
		{
			"an empty value", "routing:\n  threshold: 0.6\n  calibration:\n", both,
			"routing:\n  # By \"skillrouter tune\": fitted on 120 rows\n  threshold: 0.68\n  calibration:\n    slope: 1.2\n    shift: -0.3\n    embedder: \"static-en-zh-1/256\"\n",
		},
		{"underscores for dashes, Chinese around", "domains: [{name: 差旅}]\nrouting: {max_summaries: 5, threshold: 1}\n", threshold, "domains: [{name: 差旅}]\nrouting: {max_summaries: 5, threshold: 0.7}\n"},
		{"not YAML", "routing: [\n", threshold, ""},
		{"lines that end as nowhere", "# a\rrouting:\r  threshold: 0.5\r", threshold, ""},
		{"a wrong value", "routing:\n  threshold: high\n", threshold, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Tune([]byte(test.text), &test.t)
			if test.want == "" {
				if !errors.Is(err, ErrNotExtended) {
					t.Errorf("got error %v and %q", err, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, string(got)); d != "" {
				t.Errorf("(-want +got): %s", d)
			}
			again, err := Tune(got, &test.t)
			if err != nil || string(again) != string(got) {
				t.Errorf("tuned again it changes: %v\n%s", err, again)
			}
		})
	}
}

// Whatever the file, what Tune writes says the numbers and all that was said
// before, and tuning again changes nothing.
func FuzzTune(f *testing.F) {
	for _, s := range []string{
		"", "routing:\n  threshold: 0.8 # x\n", "routing: {threshold: .5, calibration: {slope: 2, shift: 1}}\n", "\xef\xbb\xbfrouting:\n", "routing:\n  calibration: {slope: 2}\n  mode: flat\n# end",
		"domains:\n- name: 中文\nrouting:\n  threshold: 1e-1\nskills:\n  a: {manual: true}\n", "? routing\n: threshold: 0.5\n", "routing:\n  threshold:\n    0.5\n",
	} {
		f.Add(s)
	}
	t1 := Tuning{Threshold: 0.61, Calibration: Calibration{1.5, -2, "e/1"}, Reason: "r"}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := Tune([]byte(text), &t1)
		if err != nil {
			if !errors.Is(err, ErrNotExtended) {
				t.Fatalf("got error %v", err)
			}
			return
		}
		after, _ := ParseFile("f", out)
		before, _ := ParseFile("f", []byte(text))
		before.Routing.Threshold, before.Routing.Calibration = t1.Threshold, t1.Calibration
		if !keeps(before, after) {
			t.Fatalf("%q became %q", text, out)
		}
		for line := range strings.Lines(text) {
			if at := strings.Index(line, "#"); at >= 0 && strings.HasPrefix(strings.TrimSpace(line), "#") && !strings.Contains(line, tunedBy) && !strings.Contains(string(out), strings.TrimRight(line, "\r\n")) {
				t.Fatalf("the comment %q is gone from %q", line, out)
			}
		}
		again, err := Tune(out, &t1)
		if err != nil || string(again) != string(out) {
			t.Fatalf("%q tuned again is %q, %v", out, again, err)
		}
	})
}
