package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hookCommandForTest = "'/opt/my tools/skillrouter' hook --skills /opt/skills"

// installed is data with the hook in it.
func installed(t *testing.T, data, command string) string {
	t.Helper()
	s, err := parseClaudeSettings([]byte(data))
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if err := s.install(command); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return string(s.bytes())
}

func uninstalled(t *testing.T, data string) (string, int) {
	t.Helper()
	s, err := parseClaudeSettings([]byte(data))
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	n, err := s.uninstall()
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return string(s.bytes()), n
}

const group = `{
        "hooks": [
          {
            "type": "command",
            "command": "'/opt/my tools/skillrouter' hook --skills /opt/skills",
            "timeout": 5
          }
        ]
      }`

const compactGroup = `{
        "matcher": "clear|compact",
        "hooks": [
          {
            "type": "command",
            "command": "'/opt/my tools/skillrouter' hook --skills /opt/skills",
            "timeout": 5
          }
        ]
      }`

func TestInstallChangesNothingElse(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{
			name: "no file", before: "",
			after: "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      " + group + "\n    ],\n    \"SessionStart\": [\n      " + compactGroup + "\n    ]\n  }\n}\n",
		},
		{
			name:   "odd white space, order and numbers stay",
			before: "{\n  \"z\": [1,2 , 3],\n  \"a\": 1.0e2,\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]}\n}\n",
			after: "{\n  \"z\": [1,2 , 3],\n  \"a\": 1.0e2,\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      " + group +
				"\n    ],\n    \"SessionStart\": [\n      " + compactGroup + "\n    ]\n  }\n}\n",
		},
		{
			name: "hooks of others stay, and go before",
			before: `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "date"
          }
        ]
      }
    ]
  },
  "model": "x"
}
`,
			after: `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "date"
          }
        ]
      },
      ` + group + `
    ],
    "SessionStart": [
      ` + compactGroup + `
    ]
  },
  "model": "x"
}
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := installed(t, c.before, hookCommandForTest)
			if diff := cmp.Diff(c.after, got); diff != "" {
				t.Errorf("installed (-want +got):\n%s", diff)
			}
			if again := installed(t, got, hookCommandForTest); again != got {
				t.Errorf("installed twice:\n%s", cmp.Diff(got, again))
			}
			back, n := uninstalled(t, got)
			if n != 2 {
				t.Errorf("%d entries were removed, want 2", n)
			}
			want := c.before
			if want == "" {
				want = "{}\n"
			}
			if diff := cmp.Diff(want, back); diff != "" {
				t.Errorf("installed and uninstalled (-before +after):\n%s", diff)
			}
		})
	}
}

func TestInstallKeepsTheIndentAndLineEnds(t *testing.T) {
	got := installed(t, "{\r\n\t\"model\": \"x\"\r\n}\r\n", "skillrouter hook")
	if strings.Count(got, "\n") != strings.Count(got, "\r\n") || !strings.Contains(got, "\r\n\t\t\"UserPromptSubmit\": [\r\n\t\t\t{") {
		t.Errorf("got %q", got)
	}
}

// PowerShell writes a byte order mark, and Claude Code reads past it.
func TestInstallKeepsAByteOrderMark(t *testing.T) {
	const before = byteOrderMark + "{\n  \"a\": 1\n}\n"
	with := installed(t, before, hookCommandForTest)
	if rest, ok := strings.CutPrefix(with, byteOrderMark); !ok || !json.Valid([]byte(rest)) {
		t.Errorf("installed: %q", with)
	}
	if got, n := uninstalled(t, with); n != 2 || got != before {
		t.Errorf("%d taken out: %q", n, got)
	}
}

// Another version or place of the program is the same hook: it is changed where
// it stands, a second one goes, and the user's own neighbours stay.
func TestInstallAnew(t *testing.T) {
	before := `{"hooks": {"UserPromptSubmit": [
		{"hooks": [{"type": "command", "command": "C:\\old\\skillrouter.exe hook", "timeout": 9}, {"type": "command", "command": "date"}]},
		{"hooks": [{"type": "command", "command": "skillrouter hook --lang zh"}]}
	], "PreToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": "skillrouter hook"}]}]}}`
	s, err := parseClaudeSettings([]byte(strings.ReplaceAll(before, `C:\\old\\`, `'C:\\old\\'`)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.install("skillrouter hook --mode flat"); err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(s.bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"hooks": {
		"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "skillrouter hook --mode flat", "timeout": 9}, {"type": "command", "command": "date"}]}],
		"SessionStart": [{"matcher": "clear|compact", "hooks": [{"type": "command", "command": "skillrouter hook --mode flat", "timeout": 5}]}]
	}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestOurCommands(t *testing.T) {
	for command, want := range map[string]bool{
		"skillrouter hook":                     true,
		"/usr/bin/skillrouter hook --skills x": true,
		"'/opt/my tools/skillrouter' hook":     true,
		`'C:\tools\SkillRouter.exe' hook`:      true,
		"skillrouter route hook":               false,
		"skillrouter":                          false,
		"my-skillrouter hook":                  false,
		"echo skillrouter hook":                false,
		"skillrouter-wrapper hook":             false,
		"'skillrouter hook":                    false,
		"":                                     false,
	} {
		if got := isOurCommand(command); got != want {
			t.Errorf("%q: got %v, want %v", command, got, want)
		}
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	for data, want := range map[string]string{
		"{\n  \"model\": \"x\",\n  // mine\n  \"a\": 1\n}": "line 3: ",
		"{\n  \"a\": 1\n  \"b\": 2\n}":                     "line 3: ",
		"{\"a\": 1,}":                                      "line 1: ",
		"[]":                                               "no JSON object",
		"null":                                             "no JSON object",
		"{\"hooks\": []}":                                  `"hooks" is no object`,
		"{\"hooks\": {\"UserPromptSubmit\": {}}}":                        `"UserPromptSubmit" is no list`,
		`{"hooks":{"Stop":[]},"a":1,"hooks":{}}`:                         `"hooks" stands twice`,
		`{"hooks":{"Stop":[],"UserPromptSubmit":[],"Stop":[{}]}}`:        `"hooks": "Stop" stands twice`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"a","command":"b"}]}]}}`: `"hooks": "command" stands twice`,
	} {
		if _, err := parseClaudeSettings([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", data, err, want)
		}
	}
}

// For whatever settings are accepted, installing is idempotent, and taking the
// hook out again leaves what was there, in its order.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"a":1}`, byteOrderMark + "{}", `{"a":1,"a":2}`, `{"hooks":{}}`, `{"hooks":{"UserPromptSubmit":[]}}`, `{"hooks":{"Stop":[{"hooks":[]}],"SessionStart":[1,{"hooks":2}]},"z":[]}`,
		"{\n\t\"hooks\": {\"UserPromptSubmit\": [{\"matcher\": \"\", \"hooks\": [{\"command\": \"date\"}]}]}\n}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseClaudeSettings(data)
		if err != nil || len(s.handlers()) > 0 {
			return
		}
		before := string(s.bytes())
		if err := s.install(hookCommandForTest); err != nil {
			t.Fatal(err)
		}
		with := string(s.bytes())
		if !json.Valid([]byte(strings.TrimPrefix(with, byteOrderMark))) {
			t.Fatalf("no JSON: %q", with)
		}
		if again := installed(t, with, hookCommandForTest); again != with {
			t.Errorf("installed twice:\n%s", cmp.Diff(with, again))
		}
		back, n := uninstalled(t, with)
		if n != 2 {
			t.Errorf("%d entries were removed, want 2", n)
		}
		if diff := cmp.Diff(compact(t, before), compact(t, back)); diff != "" {
			t.Errorf("installed and uninstalled (-before +after):\n%s", diff)
		}
	})
}

// compact is JSON without white space, and without what is empty of "hooks" at
// the end, which goes with our entries.
func compact(t *testing.T, data string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(strings.TrimPrefix(data, byteOrderMark))); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	for _, empty := range []string{`"UserPromptSubmit":[]`, `"SessionStart":[]`, `"hooks":{}`} {
		s = strings.ReplaceAll(s, ","+empty, "")
		s = strings.ReplaceAll(s, empty+",", "")
		s = strings.ReplaceAll(s, empty, "")
	}
	return s
}
