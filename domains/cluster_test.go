package domains

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/internal/text"
	"skillrouter/summaries"
)

// vectorOf is a small embedder for tests: a sum of random directions, one a word.
func vectorOf(s string) []float32 {
	v := make([]float32, 64)
	for _, t := range text.Terms(s) {
		if text.Stop([]byte(t)) {
			continue
		}
		h := fnv.New64a()
		h.Write([]byte(t))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for d := range v {
			v[d] += float32(r.NormFloat64())
		}
	}
	normalize(v)
	return v
}

// itemOf makes an item of a name, a sentence and triggers.
func itemOf(name, sentence string, triggers ...string) Item {
	return Item{
		Name: name, Description: sentence,
		Summary: &summaries.Summary{Skill: name, Text: sentence, Triggers: triggers},
		Vector:  vectorOf(name + " " + sentence + " " + strings.Join(triggers, " ")),
	}
}

// manyItems makes n items of kinds that share made-up words.
func manyItems(n int) []Item {
	r := rand.New(rand.NewPCG(3, 4))
	syllables := strings.Fields("ba ke li mo nu pra ste tri vo zan")
	word := func(i int) string { return syllables[i/10%10] + syllables[i%10] + "ter" }
	items := make([]Item, n)
	for i := range items {
		kind := r.IntN(n/10 + 1)
		items[i] = itemOf(fmt.Sprintf("skill-%04d", i), fmt.Sprintf("Makes %s from %s and %s", word(3*kind), word(3*kind+1), word(r.IntN(100))))
	}
	return items
}

func TestClusterSizes(t *testing.T) {
	for _, n := range []int{0, 1, 4, 5, 12, 39, 40, 41, 80, 148, 225, 226, 700, 1300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			items := manyItems(n)
			p := Cluster(items, nil)
			in := make(map[string]int)
			names := make(map[string]bool)
			for _, d := range p.Domains {
				if size := len(d.Members); n >= minMembers && size < minMembers || size > maxMembers {
					t.Errorf("domain %q has %d members", d.Name, size)
				}
				if key := text.Fold(d.Name); names[key] || key == "" || key == Unassigned {
					t.Errorf("domain name %q is taken, empty or reserved", d.Name)
				} else {
					names[key] = true
				}
				if d.Reason == "" || d.Description == "" {
					t.Errorf("domain %q: reason %q, description %q", d.Name, d.Reason, d.Description)
				}
				if !slices.IsSortedFunc(d.Members, func(a, b ProposedMember) int { return strings.Compare(a.Skill, b.Skill) }) {
					t.Errorf("members of %q are not in order", d.Name)
				}
				for _, m := range d.Members {
					in[m.Skill]++
				}
			}
			for _, s := range p.Unassigned {
				if in[s] > 0 {
					t.Errorf("%s is unassigned and in a domain", s)
				}
				in[s]++
			}
			for i := range items {
				if n := in[items[i].Name]; n < 1 || n > 2 {
					t.Errorf("%s is in %d places", items[i].Name, n)
				}
			}
			if len(in) != n {
				t.Errorf("%d skills are placed, want %d", len(in), n)
			}
			if 20*len(p.Unassigned) > n {
				t.Errorf("%d of %d skills are unassigned", len(p.Unassigned), n)
			}
			if k := len(p.Domains); n >= minDomains*minMembers && n <= manySkills && (k < minDomains || k > maxDomains) {
				t.Errorf("%d domains for %d skills, want %d to %d", k, n, minDomains, maxDomains)
			}
		})
	}
}

func TestClusterIgnoresOrder(t *testing.T) {
	items := append(manyItems(600), queries()...)
	want := Cluster(items, nil)
	r := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		shuffled := slices.Clone(items)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(want, Cluster(shuffled, nil)); diff != "" {
			t.Fatalf("Cluster of shuffled items differs (-want +got):\n%s", diff)
		}
	}
}

// queries are skills of four kinds, among them the one of the specification: weather,
// stock and parcel queries make a domain of external data.
func queries() []Item {
	return []Item{
		itemOf("weather-now", "查询城市的实时天气和未来预报", "今天天气怎么样", "会下雨吗"),
		itemOf("stock-quote", "查询股票的实时行情", "股价多少", "查一下股票"),
		itemOf("parcel-track", "查询快递的物流进度", "快递到哪了", "查物流"),
		itemOf("exchange-rate", "查询货币之间的汇率", "美元汇率", "换算货币"),
		itemOf("news-lookup", "查询最近的新闻", "今天有什么新闻", "查新闻"),
		itemOf("summarise", "Summarize long texts in a few sentences", "summarize this text", "give me the gist of this text"),
		itemOf("extract-keywords", "Extract keywords from texts", "keywords of this text"),
		itemOf("sentiment", "Analyze the sentiment of texts", "is this text positive"),
		itemOf("translate", "Translate texts between languages", "translate this text"),
		itemOf("rewrite", "Rewrite texts in another tone", "make this text polite", "rewrite this text"),
		itemOf("rename-files", "Rename files in a folder by a pattern", "rename my files"),
		itemOf("copy-files", "Copy files and folders", "copy this folder"),
		itemOf("compress-files", "Compress files into an archive", "zip this folder"),
		itemOf("find-duplicates", "Find duplicate files in a folder", "which files are double"),
		itemOf("backup-folder", "Back up folders to a disk", "back up my files"),
		itemOf("send-email", "Send emails with attachments", "send an email"),
		itemOf("draft-email", "Draft emails from notes", "write an email to"),
		itemOf("sort-inbox", "Sort the emails of an inbox", "clean my email inbox"),
		itemOf("plan-meeting", "Schedule meetings in the calendar", "set up a meeting", "email the calendar invitation"),
		itemOf("remind-me", "Set reminders in the calendar by email", "remind me", "calendar reminder"),
	}
}

func TestClusterWithoutVectors(t *testing.T) {
	items := queries()
	items[0].Vector = nil
	items[1].Vector = make([]float32, 64)
	items[2].Vector = items[2].Vector[:8]
	items[3].Summary = nil
	p := Cluster(items, nil)
	want := []string{"parcel-track", "stock-quote", "weather-now"}
	if diff := cmp.Diff(want, p.Unassigned); diff != "" {
		t.Errorf("unassigned differs (-want +got):\n%s", diff)
	}
}

func TestClusterLanguages(t *testing.T) {
	// Two topics in two languages; the language moves a vector further than the topic.
	var items []Item
	for i := range 40 {
		topic, language := i%2, i/2%2
		v := make([]float32, 16)
		v[topic] = 1
		v[2+language] = 3
		v[4+i%12] += 0.3
		sentence := "Handles it"
		if language == 1 {
			sentence = "做这件事"
		}
		items = append(items, Item{Name: fmt.Sprintf("t%d-%02d", topic, i), Description: sentence, Vector: v})
	}
	p := Cluster(items, &ClusterOptions{Domains: 4})
	for _, d := range p.Domains {
		for _, m := range d.Members {
			if m.Skill[:2] != d.Members[0].Skill[:2] && !m.Also && !d.Members[0].Also {
				t.Errorf("domain %q has %s beside %s", d.Name, m.Skill, d.Members[0].Skill)
			}
		}
	}
}

func TestClusterAdvice(t *testing.T) {
	kinds := func(p *Proposal) []string {
		var out []string
		for _, f := range p.Advice {
			if !slices.Contains(out, f.Kind) {
				out = append(out, f.Kind)
			}
		}
		return out
	}
	if got := kinds(Cluster(queries()[:3], nil)); !slices.Contains(got, "small-domain") || !slices.Contains(got, "few-domains") {
		t.Errorf("advice for 3 skills: %v, want small-domain and few-domains", got)
	}
	if got := kinds(Cluster(manyItems(300), nil)); !slices.Contains(got, "many-domains") {
		t.Errorf("advice for 300 skills: %v, want many-domains", got)
	}
	two := slices.Concat(queries()[:5], queries()[10:15])
	if got := kinds(Cluster(two, &ClusterOptions{Domains: 1})); !slices.Contains(got, "split") {
		t.Errorf("advice for one domain of two kinds: %v, want split", got)
	}
}

func TestTag(t *testing.T) {
	for sentence, want := range map[string]string{
		"Create personalized, compelling cover letters from a resume": "create cover letters",
		"Analyzes meeting transcripts to surface patterns":            "analyze meeting transcripts",
		"Searches the papers of a year for claims":                    "search papers",
		"Creating animated GIFs for chat":                             "create animated GIFs",
		"Draft contracts, letters and minutes":                        "draft contracts",
		"Convert 5 PDF files at once":                                 "convert PDF files",
		"查询城市的实时天气，以及空气质量":                                            "查询城市的实时天气",
	} {
		it := itemOf("sample-skill", sentence)
		if got, ok := tag(&it); got != want || !ok {
			t.Errorf("tag(%q) = %q, %v, want %q", sentence, got, ok, want)
		}
	}
	for sentence, want := range map[string]string{
		"Knowledge about knots": "knowledge about knots",
		"Financial leadership":  "financial leadership",
		"":                      "sample skill",
	} {
		it := itemOf("sample-skill", sentence)
		if got, ok := tag(&it); got != want || ok {
			t.Errorf("tag(%q) = %q, %v, want %q and false", sentence, got, ok, want)
		}
	}
}

func TestSplitKeepsTheLink(t *testing.T) {
	p := Split("Everyday work", queries())
	if len(p.Domains) != 2 {
		t.Fatalf("%d parts, want 2", len(p.Domains))
	}
	for _, d := range p.Domains {
		if !strings.HasPrefix(d.Name, "Everyday work / ") {
			t.Errorf("part %q does not begin with the old name", d.Name)
		}
	}
}

func BenchmarkCluster(b *testing.B) {
	for _, n := range []int{148, 1000, 7000} {
		items := manyItems(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Cluster(items, nil)
			}
		})
	}
}
