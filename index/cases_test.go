package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrouter/definitions"
)

// small indexes a catalog of "domain/name: description | trigger | …" lines.
func small(t *testing.T, lines ...string) *Index {
	t.Helper()
	ix, err := Build(t.Context(), smallCatalog(t, lines...), builtIn(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func smallCatalog(t *testing.T, lines ...string) *definitions.Catalog {
	t.Helper()
	dir := t.TempDir()
	for _, l := range lines {
		name, rest, _ := strings.Cut(l, ": ")
		description, triggers, _ := strings.Cut(rest, " | ")
		text := fmt.Sprintf("---\nname: %s\ndescription: %q\n", filepath.Base(name), description)
		if triggers != "" {
			text += fmt.Sprintf("triggers: %q\n", triggers)
		}
		folder := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte(text+"---\nDo it.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := definitions.Load(t.Context(), []definitions.Root{{Path: dir}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Complaints that users of other routers had: who must be first.
func TestFirst(t *testing.T) {
	generic := "check | status | progress | report | review | update | list | info | help | verify | inspect | look | see"
	for _, c := range []struct {
		name      string
		skills    []string
		utterance string
		want      string
	}{
		{"one English word in a Chinese sentence does not decide", []string{"dev/code-review: review a pull request", "web/request-builder: build HTTP requests"}, "审查这个 Pull Request", "code-review"},
		{"a shared Chinese word does not decide", []string{"app/mobile-prototype: 手机应用原型", "web/landing-page: 落地页"}, "做一个落地页的原型", "landing-page"},
		{"Chinese words are found", []string{"media/wechat-article: 写公众号文章", "office/meeting-minutes: 整理会议纪要", "code/unit-tests: write unit tests"}, "公众号", "wechat-article"},
		{"traditional Chinese for an English skill", []string{"dev/code-review: Review pull requests for bugs", "web/request-builder: build HTTP requests", "team/reminders: Sends reminders about projects."}, "幫我審查這個合併請求", "code-review"},
		{"an exact name", []string{"code/find_symbol: finds where a symbol is declared", "code/find_file: finds a file", "code/list_symbols: lists the symbols of a file", "code/rename_symbol: renames a symbol"}, "find_symbol", "find_symbol"},
		{"a long list of common words is no evidence", []string{"ops/self-diagnostics: Checks the state of the agent. | " + generic, "web/search-citation: Finds sources for a claim. | find a source | cite this", "team/reminders: Sends reminders about projects. | remind the team | project reminder"}, "Progress check-in reminder for the parser project", "reminders"},
	} {
		ix := small(t, c.skills...)
		_, ss := score(ix, ask(t, builtIn(t), c.utterance))
		if ss[0].Name != c.want {
			t.Errorf("%s: %q: got %v, want %s first", c.name, c.utterance, ss, c.want)
		}
	}
}

// What belongs to no skill scores below the default threshold.
func TestStrangersStayBelow(t *testing.T) {
	talk := []string{"politics/politics: Talks about elections. | who should I vote for", "smalltalk/chitchat: Small talk. | nice weather"}
	tools := []string{
		"text/text-processing: transform, filter, sort text with sed and awk", "web/crawler: downloads the pages of a site",
		"mail/mailer: sends and answers mail", "time/calendar: plans meetings", "images/images: crops and resizes pictures", "data/sql: asks a database",
	}
	for _, c := range []struct {
		skills    []string
		utterance string
	}{
		{talk, "How do I bake bread while the president is on TV?"},
		{tools, "Convert 100 Celsius to Fahrenheit"},
		{tools, "thanks, that is all"},
		{tools, "谢谢，就这些"},
	} {
		ds, _ := score(small(t, c.skills...), ask(t, builtIn(t), c.utterance))
		if ds[0].Score >= 0.72 {
			t.Errorf("%q: got %v", c.utterance, ds)
		}
	}
}

// Where phrases are left out the evidence is the similarity and the words.
func TestWordsCountMoreInChinese(t *testing.T) {
	ix := small(t, "app/mobile-prototype: 手机应用原型", "web/landing-page: 落地页", "dev/code-review: review a pull request")
	for utterance, words := range map[string]float32{"做一个落地页的原型": ix.wordWeight * chineseWords, "review the landing page": ix.wordWeight} {
		q := ask(t, builtIn(t), utterance)
		q.Without = Phrases
		s := ix.Score(q)
		covered := false
		for _, x := range s.Skills {
			covered = covered || x.Lexical > 0
			if off := x.Evidence - x.Similarity - words*x.Lexical; off > 1e-6 || off < -1e-6 {
				t.Errorf("%q: evidence of %s is %v, of parts %v and %v", utterance, ix.skills[x.Skill].Name, x.Evidence, x.Similarity, x.Lexical)
			}
		}
		s.Release()
		if !covered {
			t.Errorf("%q: no word is covered: this shows nothing", utterance)
		}
	}
}
