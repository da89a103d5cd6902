package router_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillrouter/router"
)

func namesCatalog() files {
	return files{
		"tools/git-commit/SKILL.md":   skill("git-commit", "Writes commit messages. Use when changes are committed.", ""),
		"tools/code-review/SKILL.md":  skill("code-review", "Reviews code. Use when a change is to be checked.", ""),
		"tools/find_symbol/SKILL.md":  skill("find_symbol", "Finds where a symbol is defined. Use when reading code.", ""),
		"tools/build/SKILL.md":        skill("build", "Builds the project. Use when binaries are needed.", ""),
		"tools/代码检查/SKILL.md":         skill("代码检查", "检查代码风格。提交之前使用。", ""),
		"files/pdf-text/SKILL.md":     skill("pdf-text", "Extracts the text of PDF files. Use when a PDF is to be read.", ""),
		"files/tidy-folders/SKILL.md": skill("tidy-folders", "Tidies folders. Use when asked by name.", "manual: true\n"),
	}
}

func TestDirect(t *testing.T) {
	r := newRouter(t, build(t, namesCatalog()), &router.Options{Mode: router.Layered})
	for _, test := range []struct {
		name, utterance string
		want            []string // loaded; none: not direct
	}{
		{"the whole utterance", "build", []string{"build"}},
		{"blanks around it", "  build \n", []string{"build"}},
		{"a name with an underscore", "find_symbol", []string{"find_symbol"}},
		{"a slash", "/build", []string{"build"}},
		{"a slash and arguments", "/build the release binary", []string{"build"}},
		{"a dollar within text", "please run $build now", []string{"build"}},
		{"backticks", "please run `build` now", []string{"build"}},
		{"backticks around a command", "please run `/build` now", []string{"build"}},
		{"a hyphen within text", "use git-commit for this", []string{"git-commit"}},
		{"an underscore within text", "is find_symbol the right thing here?", []string{"find_symbol"}},
		{"punctuation after it", "why not git-commit? (code-review.)", []string{"git-commit", "code-review"}},
		{"bold", "the **git-commit** one", []string{"git-commit"}},
		{"between Han", "请用git-commit提交这次修改", []string{"git-commit"}},
		{"between Han with a slash", "请用/git-commit提交", []string{"git-commit"}},
		{"Chinese punctuation", "“git-commit”，谢谢", []string{"git-commit"}},
		{"a name in Han", "/代码检查 看看这个文件", []string{"代码检查"}},
		{"a name in Han in backticks", "用`代码检查`看看", []string{"代码检查"}},
		{"several, in their order", "first code-review, then git-commit, then code-review again", []string{"code-review", "git-commit"}},
		{"at most three", "git-commit code-review pdf-text find_symbol", []string{"git-commit", "code-review", "pdf-text"}},
		{"a manual skill", "run /tidy-folders on my desktop", []string{"tidy-folders"}},

		{"a plain word", "how do I build a shed", nil},
		{"another case", "use Git-Commit", nil},
		{"an unknown name", "/nothing-here please", nil},
		{"part of a word", "my git-commit-hook fails", nil},
		{"an absolute path", "look at /usr/git-commit", nil},
		{"a relative path", "look at skills/git-commit/SKILL.md now", nil},
		{"the end of a relative path", "look at skills/git-commit", nil},
		{"a path from home", "cat ~/git-commit", nil},
		{"a Windows path", `open C:\skills\git-commit`, nil},
		{"an address", "see https://example.org/git-commit", nil},
		{"a mail address", "write to git-commit@example.org", nil},
		{"a file name", "open git-commit.md", nil},
		{"an open backtick", "what does ` mean in build", nil},
		{"a code fence", "```\nbuild\n```", nil},
		{"a price", "it costs $100", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := route(t, r, test.utterance)
			if got := loaded(x); !cmp.Equal(got, test.want, cmpopts.EquateEmpty()) {
				t.Errorf("Route(%q) loaded %q, want %q", test.utterance, got, test.want)
			}
			if got, want := x.Outcome == router.Direct, len(test.want) > 0; got != want {
				t.Errorf("Route(%q) is %s", test.utterance, x.Outcome)
			}
			for i, name := range test.want {
				if !strings.Contains(x.Prompt(), "[Loaded] "+name+"\n") {
					t.Errorf("the prompt lacks the definition of %s", name)
				}
				if c := x.Candidates[i]; c.Name != name || !c.Named || c.Domain == "" {
					t.Errorf("candidate %d is %+v, want %s, named, in a domain", i, c, name)
				}
			}
		})
	}
}

func TestDirectAsksAllow(t *testing.T) {
	r := newRouter(t, build(t, namesCatalog()), &router.Options{Mode: router.Layered})
	x, err := r.RouteFor(t.Context(), "use git-commit, please", func(name string) bool { return name != "git-commit" })
	if err != nil {
		t.Fatal(err)
	}
	if x.Outcome == router.Direct || strings.Contains(x.Prompt(), "git-commit") {
		t.Errorf("a skill that does not exist for the asker was named: %s\n%s", x.Outcome, x.Prompt())
	}
}

// A skill that was named but cannot be read is as if it had not been named.
func TestDirectUnreadable(t *testing.T) {
	fsys := namesCatalog().fs()
	r := newRouter(t, buildFS(t, embedder(t), fsys), &router.Options{Mode: router.Layered})
	delete(fsys, "tools/git-commit/SKILL.md")

	const utterance = "use git-commit to write commit messages, changes are to be committed"
	if x := route(t, r, utterance); x.Outcome == router.Direct || len(x.Summaries) == 0 {
		t.Errorf("outcome %s with %d summaries, want a match", x.Outcome, len(x.Summaries))
	}
	d := newDialogue(t, r, nil)
	x := d.say(utterance + " and code-review")
	if diff := cmp.Diff([]string{"code-review"}, loaded(x)); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"unreadable", "task-begin", "direct"}, rules(x.Events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
