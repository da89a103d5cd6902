package keeper

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"skillrouter/definitions"
	"skillrouter/index"
	"skillrouter/internal/text"
)

//go:embed page.html
var layout string

// WriteHTML writes r as one page to be opened in a browser, with nothing to load from
// elsewhere and no script: a map of the domains and skills of ix, confusable pairs, and the
// findings. All text of the catalog is escaped. It is the same for the same report, always.
func WriteHTML(w io.Writer, r *Report, ix *index.Index, title string) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	p := page{Report: r, Title: title, Dim: ix.Dim()}
	p.counts()
	p.domains(ix)
	p.chart(ix)
	p.pairs(ix)
	p.groups()
	for i := range r.Silenced {
		p.Silenced = append(p.Silenced, told{&r.Silenced[i]})
	}
	if err := t.Execute(w, &p); err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	return nil
}

// A page is what the layout shows.
type page struct {
	*Report
	Title    string
	Dim      int
	Counts   []counted
	Points   []mark
	Labels   []mark
	Lines    []stroke
	Radius   string
	Domains  []card
	Pairs    []twins
	Groups   []group
	Silenced []told
}

type counted struct {
	N    int
	Noun string
}

// A mark is a dot or label of the map.
type mark struct{ X, Y, Fill, Title string }

type stroke struct{ X1, Y1, X2, Y2, Title string }

type card struct {
	Name, Description string
	Fill              template.CSS // made here, of nothing from a catalog
	Chips             []chip
}

type chip struct{ Name, Class, Summary string }

type twins struct{ A, B, TextA, TextB, Fix string }

type group struct {
	Rule, What, Reason, Severity string
	N, More                      int
	Open                         bool
	Findings                     []told
}

// told is a finding with its place in words.
type told struct{ *Finding }

// Where is the skill or domain, and the file.
func (t told) Where() string {
	at := t.File
	if t.Line > 0 {
		at += ":" + strconv.Itoa(t.Line)
	}
	return strings.TrimSpace(strings.Join(slices.DeleteFunc([]string{t.Skill, t.Domain, at}, func(s string) bool { return s == "" }), " · "))
}

func (p *page) counts() {
	n := make(map[definitions.Severity]int)
	for i := range p.Findings {
		n[p.Findings[i].Severity]++
	}
	p.Counts = []counted{
		{p.Figures.Skills, "skills"},
		{p.Figures.Domains, "domains"},
		{n[definitions.Error], "errors"},
		{n[definitions.Warning], "warnings"},
		{n[definitions.Note], "notes"},
		{len(p.Report.Silenced), "silenced"},
	}
}

// fill is the colour of a domain.
func fill(i int) string {
	const golden = 137 // degrees, so that neighbours differ
	return fmt.Sprintf("hsl(%d, 55%%, %d%%)", i*golden%360, 38+8*(i%2))
}

// domains are the cards of domains, with the worst that is to be said of each skill.
func (p *page) domains(ix *index.Index) {
	worst := make(map[string]definitions.Severity)
	for i := range p.Findings {
		f := &p.Findings[i]
		worst[f.Skill] = max(worst[f.Skill], f.Severity)
	}
	for i := range ix.Domains() {
		d := &ix.Domains()[i]
		c := card{Name: d.Name, Description: d.Description, Fill: template.CSS(fill(i))}
		for _, name := range slices.Concat(d.Members, d.Manual) {
			x := chip{Name: name}
			if at, ok := ix.Lookup(name); ok {
				x.Summary = ix.Skills()[at].Summary.Text
			}
			if s := worst[name]; s > definitions.Note {
				x.Class = s.String()
			}
			c.Chips = append(c.Chips, x)
		}
		p.Domains = append(p.Domains, c)
	}
}

// The map's size, and the room around it.
const (
	mapWidth, mapHeight = 1080.0, 620.0
	mapMargin           = 40.0
)

// chart places skills by the two directions in which they differ most.
func (p *page) chart(ix *index.Index) {
	items := ix.Items(nil)
	const fewest = 3
	if len(items) < fewest {
		return
	}
	vectors := make([][]float32, len(items))
	for i := range items {
		vectors[i] = items[i].Vector
	}
	xs, ys := plane(vectors)
	place := make(map[string]int, len(items))
	first := make([][]int, len(ix.Domains())) // by domain, the items whose first domain it is
	p.Radius = "5"
	if len(items) > 500 {
		p.Radius = "2.5"
	}
	for i := range items {
		place[items[i].Name] = i
		at, _ := ix.Lookup(items[i].Name)
		m := mark{X: coordinate(xs[i]), Y: coordinate(ys[i]), Fill: "#999", Title: items[i].Name}
		if ds := ix.DomainsOf(at); len(ds) > 0 {
			m.Fill, m.Title = fill(int(ds[0])), items[i].Name+" ("+ix.Domains()[ds[0]].Name+")"
			first[ds[0]] = append(first[ds[0]], i)
		}
		p.Points = append(p.Points, m)
	}
	const labels = 30 // more cannot be read
	var taken []point
	for d, members := range first {
		if len(members) == 0 || len(ix.Domains()) > labels {
			continue
		}
		at := point{middle(xs, members), middle(ys, members)}
		for slices.ContainsFunc(taken, at.near) {
			at.y += 16
		}
		taken = append(taken, at)
		p.Labels = append(p.Labels, mark{X: coordinate(at.x), Y: coordinate(at.y), Fill: fill(d), Title: text.Cut(ix.Domains()[d].Name, 30)})
	}
	for i := range p.Findings {
		f := &p.Findings[i]
		if f.Rule != "confusable" || len(f.Others) == 0 {
			continue
		}
		a, okA := place[f.Skill]
		b, okB := place[f.Others[0]]
		if okA && okB {
			p.Lines = append(p.Lines, stroke{coordinate(xs[a]), coordinate(ys[a]), coordinate(xs[b]), coordinate(ys[b]), f.Skill + " and " + f.Others[0]})
		}
	}
}

type point struct{ x, y float64 }

// near tells whether two labels would cover each other.
func (a point) near(b point) bool { return math.Abs(a.x-b.x) < 150 && math.Abs(a.y-b.y) < 15 }

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// middle is the median of some values.
func middle(values []float64, of []int) float64 {
	picked := make([]float64, len(of))
	for i, at := range of {
		picked[i] = values[at]
	}
	slices.Sort(picked)
	return picked[len(picked)/2]
}

// plane projects vectors on their first two principal components, in the map's coordinates.
func plane(vectors [][]float32) (xs, ys []float64) {
	dim := 0
	for _, v := range vectors {
		dim = max(dim, len(v))
	}
	rows := make([][]float64, len(vectors))
	mean := make([]float64, dim)
	for i, v := range vectors {
		rows[i] = make([]float64, dim)
		for j, x := range v {
			rows[i][j] = float64(x)
			mean[j] += float64(x) / float64(len(vectors))
		}
	}
	for _, r := range rows {
		for j := range r {
			r[j] -= mean[j]
		}
	}
	xs = component(rows)
	ys = component(rows)
	spread(xs, mapMargin, mapWidth-mapMargin)
	spread(ys, mapMargin, mapHeight-mapMargin)
	return xs, ys
}

// component projects rows on the direction in which they differ most, found by the power
// method, and takes it out of them.
func component(rows [][]float64) []float64 {
	dim := len(rows[0])
	direction := make([]float64, dim)
	for j := range direction {
		direction[j] = 1 / float64(j+1) // any start will do, but the same each time
	}
	out := make([]float64, len(rows))
	const rounds = 50
	for range rounds {
		next := make([]float64, dim)
		for i, r := range rows {
			out[i] = 0
			for j, x := range r {
				out[i] += x * direction[j]
			}
			for j, x := range r {
				next[j] += out[i] * x
			}
		}
		length := 0.0
		for _, x := range next {
			length += x * x
		}
		if length == 0 {
			break
		}
		for j := range next {
			next[j] /= math.Sqrt(length)
		}
		direction = next
	}
	for i, r := range rows {
		out[i] = 0
		for j, x := range r {
			out[i] += x * direction[j]
		}
		for j := range r {
			r[j] -= out[i] * direction[j]
		}
	}
	return out
}

// spread puts values between low and high: by half where they lie, by half by their rank, so
// that a crowd can be told apart.
func spread(values []float64, low, high float64) {
	if len(values) == 0 {
		return
	}
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	least, most := values[order[0]], values[order[len(order)-1]]
	placed := make([]float64, len(values))
	for rank, i := range order {
		share := float64(rank) / float64(max(1, len(values)-1))
		if most > least {
			share = (share + (values[i]-least)/(most-least)) / 2
		}
		placed[i] = low + share*(high-low)
	}
	copy(values, placed)
}

// pairs are the confusable ones with the summaries of both.
func (p *page) pairs(ix *index.Index) {
	said := func(name string) string {
		at, ok := ix.Lookup(name)
		if !ok {
			return ""
		}
		return ix.Skills()[at].Summary.Text
	}
	for i := range p.Findings {
		f := &p.Findings[i]
		if f.Rule == "confusable" && len(f.Others) > 0 {
			p.Pairs = append(p.Pairs, twins{f.Skill, f.Others[0], said(f.Skill), said(f.Others[0]), f.Fix})
		}
	}
}

// groups are the findings by rule and severity, in their order.
func (p *page) groups() {
	const most = 300 // of a rule; a page is to be read
	for i := range p.Findings {
		f := &p.Findings[i]
		last := len(p.Groups) - 1
		if last < 0 || p.Groups[last].Rule != f.Rule || p.Groups[last].Severity != f.Severity.String() {
			r := rule(f.Rule)
			p.Groups = append(p.Groups, group{Rule: f.Rule, What: r.What, Reason: r.Reason, Severity: f.Severity.String(), Open: f.Severity == definitions.Error})
			last++
		}
		g := &p.Groups[last]
		if g.N++; len(g.Findings) < most {
			g.Findings = append(g.Findings, told{f})
		} else {
			g.More++
		}
	}
}
