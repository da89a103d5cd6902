package summaries

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"skillrouter/definitions"
	"skillrouter/internal/text"
)

func TestOf(t *testing.T) {
	yes, no := true, false
	tests := map[string]struct {
		skill    definitions.Skill
		override *Override
		want     Summary
	}{
		"capability and scene": {
			skill: definitions.Skill{Name: "chart-maker", Description: "Draw bar and line charts from spreadsheets. Use when plotting sales figures or comparing quarters."},
			want: Summary{
				Skill: "chart-maker", Derived: true,
				Text:     "Draw bar and line charts from spreadsheets; use when plotting sales figures or comparing quarters",
				Triggers: []string{"plotting sales figures", "compare quarters", "chart maker"},
			},
		},
		"filler goes, gerunds become what users say": {
			skill: definitions.Skill{Name: "invoice", Description: "This skill helps you create invoices for small firms. Use this skill when the user asks to write an invoice, creating reminders, or auditing payments."},
			want: Summary{
				Skill: "invoice", Derived: true,
				Text:     "Create invoices for small firms; use when the user asks to write an invoice, creating reminders, or auditing payments",
				Triggers: []string{"write an invoice", "create reminders", "audit payments"},
			},
		},
		"quoted phrases before scenes": {
			skill: definitions.Skill{Name: "standup", Description: `Collects notes for the daily standup. Triggers on "what did I do yesterday", "prepare standup" and "daily report".`},
			want: Summary{
				Skill: "standup", Derived: true,
				Text:     "Collects notes for the daily standup",
				Triggers: []string{"what did I do yesterday", "prepare standup", "daily report"},
			},
		},
		"not for and other skill": {
			skill: definitions.Skill{Name: "thumbnails", Description: "Make thumbnails of pictures. Use for resizing pictures, cropping portraits. Do NOT use this skill for video. For vector graphics use svg-tools."},
			want: Summary{
				Skill: "thumbnails", Derived: true,
				Text:        "Make thumbnails of pictures; use for resizing pictures, cropping portraits",
				Triggers:    []string{"resize pictures", "cropping portraits", "make thumbnails of pictures"},
				NotFor:      "video",
				DiffersFrom: "For vector graphics use svg-tools",
			},
		},
		"scene only, the lead says what it does": {
			skill: definitions.Skill{Name: "pairing", Description: "Use when two people work on one change at the same time", Lead: "Share one branch between two editors. Swap every hour."},
			want: Summary{
				Skill: "pairing", Derived: true,
				Text:     "Share one branch between two editors; use when two people work on one change at the same time",
				Triggers: []string{},
			},
		},
		"Chinese scene keeps its frame when cut": {
			skill: definitions.Skill{Name: "huiyi", Description: "整理会议录音并生成纪要。当用户需要整理会议录音、提炼决议事项、分配待办任务、跟踪项目进度、汇总多次讨论的分歧或准备下一次会议议程时使用。不适用于实时字幕。"},
			want: Summary{
				Skill: "huiyi", Derived: true,
				Text:     "整理会议录音并生成纪要；当用户需要整理会议录音、提炼决议事项、分配待办任务、跟踪项目进度时使用",
				Triggers: []string{"整理会议录音", "提炼决议事项", "分配待办任务", "跟踪项目进度", "汇总多次讨论的分歧", "准备下一次会议议程"},
				NotFor:   "实时字幕",
			},
		},
		"Chinese list of triggers": {
			skill: definitions.Skill{Name: "fapiao", Description: "本技能用于识别发票并登记入账。触发词：识别发票、报销登记、发票入账、v2.0、data.csv"},
			want: Summary{
				Skill: "fapiao", Derived: true,
				Text:     "识别发票并登记入账",
				Triggers: []string{"识别发票", "报销登记", "发票入账"},
			},
		},
		"what is written stands, however long": {
			skill: definitions.Skill{
				Name: "a", Description: "Other. Use when bored.", Summary: strings.Repeat("long words ", 20), NotFor: "x", DiffersFrom: "y",
				Triggers: []string{"one", "One", "two"}, Params: "path", Frequent: true,
			},
			want: Summary{
				Skill: "a", Text: strings.TrimSpace(strings.Repeat("long words ", 20)), NotFor: "x", DiffersFrom: "y",
				Triggers: []string{"one", "two"}, Params: "path", Frequent: true,
			},
		},
		"override wins field by field": {
			skill:    definitions.Skill{Name: "a", Summary: "Old.", NotFor: "x", Triggers: []string{"old"}, Manual: true},
			override: &Override{Summary: "New.", Triggers: []string{"new"}, Manual: &no, FromSummary: &yes, Params: "id"},
			want:     Summary{Skill: "a", Text: "New.", NotFor: "x", Triggers: []string{"new"}, Params: "id", FromSummary: true},
		},
		"nothing but a name": {
			skill: definitions.Skill{Name: "rename-photos"},
			want:  Summary{Skill: "rename-photos", Derived: true, Text: "rename photos", Triggers: []string{"rename photos"}},
		},
		"heading where there is no text": {
			skill: definitions.Skill{Name: "x", Headings: []string{"Rename *many* photos"}},
			want:  Summary{Skill: "x", Derived: true, Text: "Rename *many* photos"},
		},
		"hidden characters and line breaks": {
			skill: definitions.Skill{Name: "a", Summary: "Reads\u200b\n  files", NotFor: "x", DiffersFrom: "y", Triggers: []string{"a\u202eb"}},
			want:  Summary{Skill: "a", Text: "Reads files", NotFor: "x", DiffersFrom: "y", Triggers: []string{"ab"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Of(&tt.skill, tt.override)
			if len(tt.want.Triggers) == 0 {
				tt.want.Triggers = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClip(t *testing.T) {
	tests := map[string]struct {
		s    string
		n    int
		want string
		ok   bool
	}{
		"fits":                          {"short", 10, "short", true},
		"at a comma":                    {"sort photos by date, remove duplicates and blurred ones", 30, "sort photos by date", true},
		"brackets go first":             {"read tables (CSV, TSV) from disk", 20, "read tables from disk", true},
		"before a qualifying phrase":    {"compress large pictures using modern codecs", 26, "compress large pictures", true},
		"not between verbs":             {"read, write, and validate very long tables of numbers", 20, "read, write, and…", false},
		"not after an adjective":        {"write clear, concise release notes for customers", 36, "write clear, concise release notes", true},
		"not inside a quote":            {`say "one, two, three and four" to go on`, 20, `say "one, two, three…`, false},
		"Chinese clause":                {"整理照片并去重，按日期归档", 9, "整理照片并去重", true},
		"Chinese list after a coverb":   {"与日历、邮件数据的关联分析", 6, "与日历…", false},
		"Chinese list":                  {"合同审查、条款比对、风险提示", 10, "合同审查、条款比对", true},
		"nothing of a third of n fits":  {"a, incomprehensibilities", 15, "a…", false},
		"a name in brackets belongs on": {"files 510(k) forms with the agency", 20, "files 510(k) forms", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := clip(tt.s, tt.n)
			if got != tt.want || ok != tt.ok {
				t.Errorf("clip(%q, %d) = %q, %t; want %q, %t", tt.s, tt.n, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestPhrase(t *testing.T) {
	for s, want := range map[string]string{
		"read a PDF":               "read a PDF",
		"or make a chart,":         "make a chart",
		"a cover letter":           "cover letter",
		"为[证人]做准备":                 "为证人做准备",
		"Next.js":                  "Next.js",
		"data":                     "",
		"数据":                       "",
		"v1.2.3":                   "",
		"report.xlsx":              "",
		"src/app/main.go":          "",
		"/deploy":                  "",
		"<topic>":                  "",
		"my_function":              "",
		"https://a.example/":       "",
		"x":                        "",
		"talk to":                  "",
		strings.Repeat("很长的短语", 4): "",
	} {
		if got, ok := phrase(s); got != want || ok != (want != "") {
			t.Errorf("phrase(%q) = %q, %t; want %q", s, got, ok, want)
		}
	}
}

func TestGist(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Draw charts from tables; use when plotting", "Draw charts from tables"},
		{"Use when plotting sales", ""},
		{"整理会议录音；当用户需要时使用", "整理会议录音"},
		{"Keep the whole of this extraordinarily longwinded unbreakable undertaking", ""},
	} {
		if got := Gist(&Summary{Text: tt.text}, 12); got != tt.want {
			t.Errorf("Gist(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// FuzzOf checks what holds for every description: the derived sentence keeps its limit, is
// one line of whole words that the description or the name has, and triggers are few,
// distinct and short.
func FuzzOf(f *testing.F) {
	for _, s := range []string{
		"Draw charts. Use when plotting sales figures, or comparing quarters - not for maps.",
		"整理会议录音并生成纪要。当用户要求'整理录音'、'生成纪要'时使用。触发词：纪要、录音",
		"- a\n- b\n\n`code` **bold** [link](https://example.org) <example>hidden</example>",
		"Use when: (1) one, (2) two; \"unclosed, 'quote",
		"Use Use when when the user asks to to ,,, 、、、 ，，",
		strings.Repeat("incomprehensibility", 20),
		"\xff\x00 “‘「", "", "!",
	} {
		f.Add(s, "name-of-skill", "Lead of the body.")
	}
	f.Fuzz(func(t *testing.T, description, name, lead string) {
		m := Of(&definitions.Skill{Name: name, Description: description, Lead: lead, Uses: []string{lead}}, nil)
		if got, most := text.Len(m.Text), text.Limit(m.Text, SentenceLimit); got > most {
			t.Errorf("sentence has %d characters, at most %d: %q", got, most, m.Text)
		}
		if m.Text != line(m.Text) {
			t.Errorf("sentence is not one clean line: %q", m.Text)
		}
		if len(m.Triggers) > MaxTriggers {
			t.Errorf("%d triggers", len(m.Triggers))
		}
		seen := make(map[string]bool)
		for _, s := range m.Triggers {
			if key := text.Fold(s); seen[key] || s != line(s) || text.Len(s) > text.Limit(s, 15) {
				t.Errorf("trigger %q is repeated, no clean line or too long", s)
			} else {
				seen[key] = true
			}
		}
		if again := Of(&definitions.Skill{Name: name, Description: description, Lead: lead, Uses: []string{lead}}, nil); !cmp.Equal(m, again) {
			t.Errorf("not the same twice: %s", cmp.Diff(m, again))
		}
		if !utf8.Valid(AppendLine(nil, &m)) {
			t.Errorf("line is not UTF-8")
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for name, s := range map[string]string{
		"en": "Create structured runbooks with step-by-step procedures, escalation paths, and recovery actions. Use this skill when building a runbook for a payment system; onboarding new engineers, or standardizing escalation. Do not use for postmortems.",
		"zh": "整理会议录音并生成纪要。当用户需要整理会议录音、提炼决议事项、分配待办任务、跟踪项目进度时使用。触发词：会议纪要、整理录音、提炼决议、待办事项。不适用于实时字幕。",
	} {
		skill := definitions.Skill{Name: "runbook", Description: s}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(&skill, nil)
			}
		})
	}
}

func TestReadTakesADescriptionApart(t *testing.T) {
	got := Read(&definitions.Skill{
		Name:        "pdf-text",
		Description: "Extracts text from PDF files. Use when a user wants to quote a document. Do not use for images. Triggers: read a PDF, PDF to text",
	})
	want := Parts{
		Can: []string{"Extracts text from PDF files"}, When: []string{"when a user wants to quote a document"},
		Lists: []string{"read a PDF, PDF to text"}, NotFor: "images",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}
