package mcp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestResourcesInPages(t *testing.T) {
	c := connect(t, serve(t, folder(t, files), Options{PageSize: 2}, nil), "", nil)
	var pages [][]string
	cursor := ""
	for {
		result, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		var page []string
		for _, r := range result.Resources {
			page = append(page, r.URI)
		}
		pages = append(pages, page)
		if cursor = result.NextCursor; cursor == "" {
			break
		}
	}
	want := [][]string{
		{"skill://%E4%B8%AD%E9%A4%90%E8%8F%9C%E8%B0%B1/SKILL.md", "skill://menu/SKILL.md"},
		{"skill://S%C3%BC%C3%9Fe%20Rezepte%2050%25/SKILL.md", "skill://pdf-merge/SKILL.md"},
		{"skill://pdf-text/SKILL.md"},
	}
	if diff := cmp.Diff(want, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for _, cursor := range []string{"!", "bm90LXRoZXJl"} {
		if _, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor}); err == nil || !strings.Contains(err.Error(), "list from the start") {
			t.Errorf("cursor %q: error %v", cursor, err)
		}
	}
	templates, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Errorf("templates %+v, error %v", templates, err)
	}
}

func TestReadResource(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	for _, protocol := range protocols {
		c := connect(t, s, protocol, nil)
		for _, test := range []struct{ uri, kind, text string }{
			{"skill://pdf-text/SKILL.md", markdown, "[Loaded] pdf-text\n\n# PDF text\n\nRun pdftotext.\nExample: pdftotext in.pdf\n"},
			{"skill://pdf-text/docs/guide.md", markdown, "How to read scans.\n"},
			{"skill://pdf-text/docs/refs/a%20b.txt", "text/plain", "Codes of languages. &lt;/skill>\n"},
			{"skill://S%C3%BC%C3%9Fe%20Rezepte%2050%25/SKILL.md", markdown, "[Loaded] Süße Rezepte 50%\n\nSearch.\n"},
			{"skill://%E4%B8%AD%E9%A4%90%E8%8F%9C%E8%B0%B1/SKILL.md", markdown, "[Loaded] 中餐菜谱\n\n查。\n"},
		} {
			got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: test.uri})
			if err != nil {
				t.Errorf("%s: %v", test.uri, err)
				continue
			}
			want := []*sdk.ResourceContents{{URI: test.uri, MIMEType: test.kind, Text: test.text}}
			if diff := cmp.Diff(want, got.Contents); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.uri, diff)
			}
		}
		for _, uri := range []string{
			"skill://nothing/SKILL.md", "skill://pdf-text/docs/no.md", "skill://pdf-text/docs/SKILL.md", "skill://pdf-text/other",
			"skill://pdf-text/docs/", "skill://pdf-text/docs/../SKILL.md", "skill://pdf-text/docs/../../../../etc/passwd",
			"skill://pdf-text/docs/%2e%2e/%2e%2e/pdf-merge/SKILL.md", "skill://pdf-text/docs//etc/passwd", "skill://../SKILL.md",
			"skill://%2Fetc/SKILL.md", "skill://files%2Fpdf-text/SKILL.md", "skill://wipe-disk/SKILL.md", "file:///etc/passwd", "skill://pdf-text/docs/logo.png",
		} {
			if got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s was read: %+v", uri, got.Contents[0])
			}
		}
	}
}

func TestCompletion(t *testing.T) {
	c := connect(t, serve(t, folder(t, files), Options{}, nil), "", nil)
	complete := func(uri, argument, value, name string) []string {
		p := &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: uri},
			Argument: sdk.CompleteParamsArgument{Name: argument, Value: value},
		}
		if name != "" {
			p.Context = &sdk.CompleteContext{Arguments: map[string]string{"name": name}}
		}
		result, err := c.Complete(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return result.Completion.Values
	}
	got := [][]string{
		complete(skillTemplate, "name", "PDF", ""), complete(skillTemplate, "name", "SÜ", ""), complete(skillTemplate, "name", "w", ""),
		complete(docsTemplate, "path", "", "pdf-text"), complete(docsTemplate, "path", "refs/", "pdf-text"),
		complete(docsTemplate, "path", "", "wipe-disk"), complete(docsTemplate, "path", "", ""), complete("skill://other", "name", "", ""),
	}
	want := [][]string{
		{"pdf-merge", "pdf-text"}, {"Süße Rezepte 50%"}, {}, {"guide.md", "refs/a b.txt"}, {"refs/a b.txt"}, {}, {}, {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}

func TestNotices(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			dir := folder(t, files)
			s := serve(t, dir, Options{Refresh: 5 * time.Millisecond}, nil)
			listed, prompts, updated := make(chan struct{}, 9), make(chan struct{}, 9), make(chan string, 9)
			c := connect(t, s, protocol, &sdk.ClientOptions{
				ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { listed <- struct{}{} },
				PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { prompts <- struct{}{} },
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
					updated <- r.Params.URI
				},
			})
			for _, name := range []string{"menu", "pdf-text"} {
				if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: skillURI(name)}); err != nil {
					t.Fatal(err)
				}
			}
			write(t, dir, "cooking/menu/SKILL.md", files["cooking/menu/SKILL.md"]+"\nAsk for allergies.\n")
			if got := within(t, updated, "notice of the change"); got != "skill://menu/SKILL.md" {
				t.Errorf("changed: %s", got)
			}
			within(t, listed, "notice of the list")
			got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: skillURI("menu")})
			if err != nil || !strings.Contains(got.Contents[0].Text, "allergies") {
				t.Errorf("read %+v, error %v", got, err)
			}
			write(t, dir, "cooking/soup/SKILL.md", "---\nname: soup\ndescription: Cooks soup.\n---\nBoil.\n")
			within(t, listed, "notice of a new skill")
			if got := ask(t, c, "skill_load", object{"skill": "soup"}); !got.Failed {
				// The turn goes on with the catalog that it began with, if there was one.
				contains(t, got.Text, "Boil.")
			}
			write(t, dir, "files/burn/SKILL.md", "---\nname: burn\ndescription: Burns a disk.\ndisable-model-invocation: true\n---\nBurn.\n")
			within(t, prompts, "notice of a new prompt")
			if p, err := c.ListPrompts(t.Context(), nil); err != nil || len(p.Prompts) != 2 {
				t.Errorf("prompts %+v, error %v", p, err)
			}
		})
	}
}

func TestSubscribeToWhatIsNotThere(t *testing.T) {
	c := connect(t, serve(t, folder(t, files), Options{}, nil), protocols[0], nil)
	for _, uri := range []string{"skill://nothing/SKILL.md", "skill://wipe-disk/SKILL.md", "skill://menu/docs/no.md"} {
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%s: no error", uri)
		}
	}
	uri := docURI("pdf-text", "guide.md")
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Error(err)
	}
	if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri}); err != nil {
		t.Error(err)
	}
}

// What a URI is made of comes out of it again.
func FuzzParseURI(f *testing.F) {
	f.Add("pdf-text", "refs/a b.txt")
	f.Add("Süße Rezepte 50%", "")
	f.Add("a/../b", "../x")
	f.Add("中餐菜谱", "指南.md")
	f.Fuzz(func(t *testing.T, name, doc string) {
		if name == "" {
			return
		}
		uri := skillURI(name)
		if doc != "" {
			uri = docURI(name, doc)
		}
		gotName, gotDoc, ok := parseURI(uri)
		if !ok || gotName != name || gotDoc != doc {
			t.Errorf("%s is %q, %q, %v; want %q, %q", uri, gotName, gotDoc, ok, name, doc)
		}
	})
}
