package keeper_test

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"skillrouter/keeper"
)

func TestPage(t *testing.T) {
	const alike = "Summarises long texts such as articles and reports to their main points. Use when someone asks for a summary of a text."
	ix, c, e := build(t, fstest.MapFS{
		"x/one/SKILL.md":   {Data: []byte(full("summary-one", alike, "lint-off: 'no-not-for: fine as it is'"))},
		"x/two/SKILL.md":   {Data: []byte(full("digest", "Summarises texts such as long articles and reports in a few points. Use when someone wants a text summary."))},
		"y/evil/SKILL.md":  {Data: []byte(full("evil", "'<script>alert(1)</script> & <b>bold</b>'"))},
		"skillrouter.yaml": {Data: []byte("domains:\n  - {name: '<img src=x>', folder: y, description: '<i>'}\n")},
	})
	r, err := keeper.Lint(context.Background(), ix, &keeper.LintOptions{Catalog: c, Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	write := func() string {
		var b bytes.Buffer
		if err := keeper.WriteHTML(&b, r, ix, "Lint of <skills>"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	page := write()
	if page != write() {
		t.Error("the page differs from run to run")
	}
	for _, bad := range []string{"<script", "<img", "<b>bold", "ZgotmplZ", "http://", "https://", "src="} {
		if strings.Contains(strings.ReplaceAll(page, "&lt;img src=x&gt;", ""), bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	for _, want := range []string{"Lint of &lt;skills&gt;", "Confusable pairs", "fine as it is", "border-left-color: hsl(", "<title>summary-one (x)</title>", "<code>no-when</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if n := len(regexp.MustCompile(`<circle `).FindAllString(page, -1)); n != 3 {
		t.Errorf("%d dots for 3 skills", n)
	}
	if n := len(regexp.MustCompile(`<line `).FindAllString(page, -1)); n != 1 {
		t.Errorf("%d lines for one confusable pair", n)
	}
}
