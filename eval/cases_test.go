package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, path, text, err string
		want                  []Case
		unused                []string
	}{
		{
			name: "two", text: "\ufeff" + `{"text":"a","skills":["x"],"domains":["d"],"extra":1}` + "\n\n" + `{"text":"b","oos":true}` + "\n",
			want: []Case{
				{Text: "a", Skills: []string{"x"}, Domains: []string{"d"}, File: "cases.jsonl", Line: 1},
				{Text: "b", OutOfScope: true, File: "cases.jsonl", Line: 3},
			},
			unused: []string{"extra"},
		},
		{
			name: "all keys", text: `{"text":"a","skills":["x"],"domains":["d"],"oos":false,"not":["y"],"question":true,"id":"1","lang":"en","kind":"plain","split":"dev"}`,
			want: []Case{{
				Text: "a", Skills: []string{"x"}, Domains: []string{"d"}, Not: []string{"y"}, Question: true,
				ID: "1", Lang: "en", Kind: "plain", Split: "dev", File: "cases.jsonl", Line: 1,
			}},
		},
		{
			name: "YAML", path: "cases.yaml", text: "# mine\n- text: 查天气\n  skills: [x]\n- {text: b, oos: true}\n-\n  text: |\n    two\n    lines\n  question: true\n",
			want: []Case{
				{Text: "查天气", Skills: []string{"x"}, File: "cases.yaml", Line: 2},
				{Text: "b", OutOfScope: true, File: "cases.yaml", Line: 4},
				{Text: "two\nlines\n", Question: true, File: "cases.yaml", Line: 6},
			},
		},
		{name: "only what must not be", text: `{"text":"a","not":["y"]}`, want: []Case{{Text: "a", Not: []string{"y"}, File: "cases.jsonl", Line: 1}}},
		{
			name: "all errors at once", text: `{"text":"a","oos":true}` + "\n{\n" + `{"text":"a"}` + "\n" + `{"text":" ","oos":true}`,
			err: "cases.jsonl:2: unexpected end of JSON input\ncases.jsonl:3: no label: skills, domains, oos, not or question must say what is right\ncases.jsonl:4: no text",
		},
		{name: "a list", text: `["a"]`, err: "cases.jsonl:1: the line is of type array: it must be an object"},
		{
			name: "names that are no lists", text: `{"text":"a","skills":"x","domains":"d","not":"y"}`,
			want: []Case{{Text: "a", Skills: []string{"x"}, Domains: []string{"d"}, Not: []string{"y"}, File: "cases.jsonl", Line: 1}},
		},
		{name: "a number for skills", text: `{"text":"a","skills":3}`, err: "cases.jsonl:1: skills is of type number: it must be a list"},
		{name: "out of scope in words", text: `{"text":"a","oos":"yes"}`, err: "cases.jsonl:1: oos is of type string: it must be true or false"},
		{name: "no text", text: `{"oos":true}`, err: "cases.jsonl:1: neither text nor turns: it must be a case with a text, or a dialogue with turns"},
		{name: "both", text: `{"text":"a","oos":true,"skills":["x"]}`, err: "cases.jsonl:1: oos is true, but there are 1 skills and 0 domains"},
		{name: "right and wrong", text: `{"text":"a","skills":["x"],"not":["x"]}`, err: `cases.jsonl:1: the skill "x" is right and must not be`},
		{name: "twice", text: `{"text":"a","skills":["x","x"]}`, err: `cases.jsonl:1: the skill "x" stands twice`},
		{name: "a domain twice", text: `{"text":"a","domains":["d","d"]}`, err: `cases.jsonl:1: the domain "d" stands twice`},
		{name: "no name", text: `{"text":"a","skills":[""]}`, err: "cases.jsonl:1: an empty name of a skill or domain"},
		{name: "empty", text: "\n", err: `cases.jsonl: it is empty: a line is a case, such as {"text": "…", "skills": ["…"]}, or a dialogue with turns`},
		{name: "empty YAML", path: "c.yml", text: "", err: `c.yml: it is empty: a line is a case, such as {"text": "…", "skills": ["…"]}, or a dialogue with turns`},
		{name: "a map", path: "c.yaml", text: "text: a\n", err: "c.yaml:1: it must be a list of cases: - text: …"},
		{name: "a number in YAML", path: "c.yaml", text: "- text: 3\n  oos: true\n", err: "c.yaml:1: text is of type number: it must be a string"},
		{name: "a key twice in YAML", path: "c.yaml", text: "- {text: b, oos: true}\n- text: a\n  text: b\n", err: `c.yaml:2: yaml: unmarshal errors:` + "\n" + `  line 3: mapping key "text" already defined at line 2`},
		{name: "an alias in YAML", path: "c.yaml", text: "- &a {text: b, oos: true}\n- *a\n- text: c\n  skills: [&s x, *s]\n", err: "c.yaml:2: a YAML alias: write it out\nc.yaml:3: a YAML alias: write it out"},
		{name: "two documents in YAML", path: "c.yaml", text: "- {text: b, oos: true}\n---\n- {text: c, oos: true}\n", err: "c.yaml:2: a second YAML document: put all cases into one list"},
		{name: "a long line", text: strings.Repeat("x", maxLine+1), err: "cases.jsonl: a line is longer than 1048576 bytes"},
		{
			name: "mixed", text: `{"text":"a","oos":true}` + "\n" + `{"id":"a","turns":[{"user":"u"}]}`,
			err: "cases.jsonl:2: a dialogue among cases: put them in files of their own",
		},
		{
			name: "mixed the other way", text: `{"id":"a","turns":[{"user":"u"}]}` + "\n" + `{"text":"a","oos":true}`,
			err: "cases.jsonl:2: a case among dialogues: put them in files of their own",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := test.path
			if path == "" {
				path = "cases.jsonl"
			}
			got, err := Read(strings.NewReader(test.text), path)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Fatalf("got error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&Set{File: path, Cases: test.want, Unused: test.unused}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadDialoguesByContent(t *testing.T) {
	s, err := Read(strings.NewReader("- id: a\n  turns:\n  - {user: hi}\n  - {user: send it, domains: [Mail]}\n"), "d.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []Dialogue{{ID: "a", Turns: []Turn{{User: "hi"}, {User: "send it", Domains: []string{"Mail"}}}, Line: 1}}
	if d := cmp.Diff(want, s.Dialogues); d != "" {
		t.Error(d)
	}
	if _, err := ReadCases(strings.NewReader(`{"id":"a","turns":[{"user":"u"}]}`), "d.jsonl"); err == nil || err.Error() != "d.jsonl: these are dialogues, not cases" {
		t.Errorf("got %v", err)
	}
}

// A file with very many errors tells the first, and how many more.
func TestErrorsAreBounded(t *testing.T) {
	_, err := Read(strings.NewReader(strings.Repeat("{\n", 1000)), "c.jsonl")
	wrong, ok := errors.AsType[*CasesError](err)
	if !ok || len(wrong.Problems) != 1000 {
		t.Fatalf("got %v, want all 1,000 problems", err)
	}
	if text := err.Error(); strings.Count(text, "\n") != told || !strings.HasSuffix(text, "\nand 980 more") {
		t.Errorf("got %s", text)
	}
}

// What Read accepts, written as JSON lines and read again is equal.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a","skills":["x"],"domains":["d"],"not":["y"],"question":true,"id":"1","lang":"en","kind":"k","split":"s"}`,
		`{"text":"b","oos":true}` + "\r\n\n" + `{"TEXT":"\ud83d\ude00 \u2028","Domains":["d"]}`,
		`{"text":"` + "\xff" + `","oos":true}`,
	} {
		f.Add(seed, false)
	}
	f.Add("- text: a\n  skills: [x]\n- {text: 'b', oos: true}\n", true)
	f.Add("- &a {text: b, oos: true}\n- *a\n", true)
	f.Fuzz(func(t *testing.T, text string, yaml bool) {
		path := "c.jsonl"
		if yaml {
			path = "c.yaml"
		}
		first, err := Read(strings.NewReader(text), path)
		if err != nil || len(first.Cases) == 0 {
			return
		}
		var out bytes.Buffer
		for _, c := range first.Cases {
			if err := json.NewEncoder(&out).Encode(c); err != nil {
				t.Fatal(err)
			}
		}
		second, err := Read(&out, "c.jsonl")
		if err != nil {
			t.Fatalf("what was accepted is refused: %v", err)
		}
		if d := cmp.Diff(first.Cases, second.Cases, cmpopts.IgnoreFields(Case{}, "Line", "File"), cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}
