package domains

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"skillrouter/definitions"
)

// A Tuning is routing numbers to write into a skillrouter.yaml.
type Tuning struct {
	Threshold   float64     // above 0; 0: stays as the file has it
	Calibration Calibration // the zero one: stays
	Reason      string      // what they come from; one line above them says it
}

// tunedBy begins the line that says what tuned numbers come from.
const tunedBy = `# By "skillrouter tune": `

// Tune writes t into a skillrouter.yaml. Existing is the file that is there, or nothing. Only
// the numbers change: comments, order and all else stay to the byte. What is not there yet
// is added at the end of routing, or of the file.
//
// The error wraps [ErrNotExtended] where existing cannot be read, or written on: it says
// what to do.
func Tune(existing []byte, t *Tuning) ([]byte, error) {
	before, problems := ParseFile("skillrouter.yaml", existing)
	for _, p := range problems {
		if p.Severity == definitions.Error {
			return nil, fmt.Errorf("%w: correct it first: %s", ErrNotExtended, p)
		}
	}
	if strings.ContainsAny(strings.ReplaceAll(string(existing), "\r\n", "\n"), "\r\u0085\u2028\u2029") { // YAML counts these as ends of lines
		return nil, fmt.Errorf("%w: end its lines with a line feed", ErrNotExtended)
	}
	w := tuner{drafter: drafter{text: existing}, t: t}
	out, err := w.tune()
	if err != nil {
		return nil, err
	}
	set(&before.Routing.Threshold, t.Threshold)
	set(&before.Routing.Calibration, t.Calibration)
	after, more := ParseFile("skillrouter.yaml", out)
	if len(more) > len(problems) || !keeps(before, after) {
		return nil, fmt.Errorf("%w: write the numbers yourself", ErrNotExtended)
	}
	return out, nil
}

// A tuner puts numbers into a text: it changes values in their lines first, then adds lines.
type tuner struct {
	drafter
	t     *Tuning
	lines [][]byte // of text, with their ends
}

func (w *tuner) tune() ([]byte, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(w.text, []byte("\xef\xbb\xbf")))) == 0 {
		return append(w.text, "routing:\n"+indent(w.reason()+w.threshold()+w.calibration(), 2)...), nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(w.text, &document); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotExtended, err)
	}
	end := bytes.Count(w.text, []byte("\n")) + 1
	if bytes.HasSuffix(w.text, []byte("\n")) {
		end--
	}
	w.lines = bytes.SplitAfter(w.text, []byte("\n"))
	routing, next := valueOf(&document, "routing")
	switch {
	case routing == nil:
		w.put(end+1, "routing:\n"+indent(w.reason()+w.threshold()+w.calibration(), 2))
	case isNull(routing):
		w.put(routing.Line+1, indent(w.reason()+w.threshold()+w.calibration(), 2))
	default:
		if err := w.extend(pairOf(document.Content[0], "routing"), w.above(routing.Line, next, end)); err != nil {
			return nil, err
		}
	}
	w.text = bytes.Join(w.lines, nil)
	if w.lines == nil {
		w.text = nil
	}
	return w.apply(), nil
}

// extend changes the numbers that a routing mapping has, and puts the others before line.
func (w *tuner) extend(pair *[2]*yaml.Node, line int) error {
	routing := pair[1]
	deep := routing.Column - 1
	threshold, calibration := pairOf(routing, "threshold"), pairOf(routing, "calibration")
	added, above := "", line // of the reason
	switch {
	case w.t.Threshold == 0:
	case threshold == nil:
		added = w.threshold()
	default:
		above = threshold[0].Line
		if err := w.replace(threshold[1], decimal(w.t.Threshold)); err != nil {
			return err
		}
	}
	switch {
	case w.t.Calibration.Slope == 0:
	case calibration == nil:
		added += w.calibration()
	default:
		above = min(above, calibration[0].Line)
		if err := w.recalibrate(calibration); err != nil {
			return err
		}
	}
	if added != "" && routing.Style&yaml.FlowStyle != 0 {
		return fmt.Errorf("%w: line %d: write routing as lines, not in braces", ErrNotExtended, routing.Line)
	}
	said := w.said(pair[0].Line, line)
	switch {
	case said > 0:
		old := w.lines[said-1]
		blanks := len(old) - len(bytes.TrimLeft(old, " "))
		ending := old[len(bytes.TrimRight(old, "\r\n")):]
		w.lines[said-1] = append([]byte(strings.Repeat(" ", blanks)+strings.TrimSuffix(w.reason(), "\n")), ending...)
	case routing.Style&yaml.FlowStyle == 0:
		if above == line {
			added = w.reason() + added
		} else {
			w.put(above, indent(w.reason(), deep))
		}
	}
	if added != "" {
		w.put(line, indent(added, deep))
	}
	return nil
}

// said returns the line between two that says what tuned numbers come from, 0 if none does.
func (w *tuner) said(from, to int) int {
	for n := from; n < to && n <= len(w.lines); n++ {
		if bytes.HasPrefix(bytes.TrimLeft(w.lines[n-1], " "), []byte(tunedBy)) {
			return n
		}
	}
	return 0
}

// recalibrate changes the numbers of a calibration that is there.
func (w *tuner) recalibrate(pair *[2]*yaml.Node) error {
	c := w.t.Calibration
	var missing strings.Builder
	for _, x := range []struct{ key, value string }{
		{"slope", decimal(c.Slope)}, {"shift", decimal(c.Shift)}, {"embedder", scalar(c.Embedder)},
	} {
		switch at := pairOf(pair[1], x.key); {
		case at != nil:
			if err := w.replace(at[1], x.value); err != nil {
				return err
			}
		case x.key != "embedder" || c.Embedder != "":
			missing.WriteString(x.key + ": " + x.value + "\n")
		}
	}
	switch {
	case missing.Len() == 0:
	case pair[1].Kind == yaml.MappingNode && pair[1].Style&yaml.FlowStyle == 0:
		w.put(pair[1].Line, indent(missing.String(), pair[1].Column-1))
	case isNull(pair[1]):
		w.put(pair[0].Line+1, indent(missing.String(), pair[0].Column+1))
	default:
		return fmt.Errorf("%w: line %d: write calibration as lines, not in braces", ErrNotExtended, pair[0].Line)
	}
	return nil
}

// replace puts a value in the place of another in its line.
func (w *tuner) replace(n *yaml.Node, value string) error {
	line, from := []rune(string(w.lines[n.Line-1])), n.Column-1
	old := []rune(n.Value)
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		old = []rune(`"` + n.Value + `"`)
	case n.Style&yaml.SingleQuotedStyle != 0:
		old = []rune("'" + n.Value + "'")
	}
	if from+len(old) > len(line) || string(line[from:from+len(old)]) != string(old) {
		return fmt.Errorf("%w: line %d: write the value plainly", ErrNotExtended, n.Line)
	}
	w.lines[n.Line-1] = []byte(string(line[:from]) + value + string(line[from+len(old):]))
	return nil
}

func (w *tuner) reason() string { return tunedBy + remark(w.t.Reason) + "\n" }

func (w *tuner) threshold() string {
	if w.t.Threshold == 0 {
		return ""
	}
	return "threshold: " + decimal(w.t.Threshold) + "\n"
}

func (w *tuner) calibration() string {
	c := w.t.Calibration
	if c.Slope == 0 {
		return ""
	}
	s := "calibration: # log-odds of a score times slope, plus shift\n  slope: " + decimal(c.Slope) + "\n  shift: " + decimal(c.Shift) + "\n"
	if c.Embedder != "" {
		s += "  embedder: " + scalar(c.Embedder) + "\n"
	}
	return s
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// pairOf returns the key and the value of a mapping, nil if it does not have the key.
func pairOf(n *yaml.Node, key string) *[2]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return &[2]*yaml.Node{n.Content[i], n.Content[i+1]}
		}
	}
	return nil
}
