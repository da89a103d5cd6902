package mcp

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter"
	"skillrouter/embed"
)

// A dialogue over all tools, as a client sees it.
func TestDialogue(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			c := connect(t, s, protocol, nil)
			var b strings.Builder
			for _, call := range []struct {
				tool string
				args any
			}{
				{"route", object{"utterance": "turn this PDF into text"}},
				{"skill_load", object{"skill": "pdf-txt"}},
				{"skill_load", object{"skill": "nothing like it at all"}},
				{"skill_select_docs", object{"skill": "pdf-text", "docs": []string{"guide.md"}}},
				{"skill_load", object{"skill": "pdf-text"}},
				{"skill_load", object{"skill": "pdf-text", "docs": []string{"guide.md", "no.md"}}},
				{"skill_select_docs", object{"skill": "pdf-text", "docs": "refs/a b.txt", "mode": "add"}},
				{"skill_select_docs", object{"skill": "pdf-text", "mode": "clear"}},
				{"skill_extension", object{"skill": "pdf-text"}},
				{"skill_extension", object{"skill": "pdf-merge"}},
				{"skill_status", nil},
				{"read_file", object{"path": "pdf-text/guide.md"}},
				{"read_file", object{"path": "pdf-text/../../../etc/passwd"}},
				{"search_skills", object{"query": "join two documents"}},
				{"search_skills", object{"query": " "}},
				{"list_skills", nil},
				{"list_skills", object{"domain": "cooking"}},
				{"list_skills", object{"domain": "nothing"}},
				{"unload_skill", object{"name": "pdf-text"}},
				{"route", object{"utterance": "what shall we eat this week"}},
				{"route", object{"utterance": "/pdf-merge"}},
				{"route", object{"utterance": "my neighbour plays the violin"}},
				{"route", object{"utterance": ""}},
				{"route", object{"utterance": 5}},
				{"route", []string{"read this PDF"}},
			} {
				fmt.Fprintf(&b, "== %s %v\n%v\n\n", call.tool, call.args, ask(t, c, call.tool, call.args))
			}
			golden(t, "dialogue.golden", b.String())
		})
	}
}

func TestToolsAreThoseOfTheAgent(t *testing.T) {
	c := connect(t, serve(t, folder(t, files), Options{}, nil), "", nil)
	var names []string
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		input := tool.InputSchema.(map[string]any)
		if input["properties"].(map[string]any)["session"] == nil || tool.OutputSchema == nil || tool.Description == "" || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s lacks something: %+v", tool.Name, tool)
		}
	}
	want := []string{"list_skills", "read_file", "route", "search_skills", "skill_extension", "skill_load", "skill_select_docs", "skill_status", "unload_skill"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "skill_load_domain"}); err == nil {
		t.Error("a tool that is not served was called")
	}
}

func TestInstructions(t *testing.T) {
	dir := folder(t, files)
	s := serve(t, dir, Options{}, nil)
	for _, protocol := range protocols {
		text := connect(t, s, protocol, nil).InitializeResult().Instructions
		contains(t, text, "call route", "- cooking (contains 3 skills)", "- files (contains 2 skills)")
		if strings.Contains(text, "wipe-disk") {
			t.Errorf("a skill for people is named in:\n%s", text)
		}
	}
	write(t, dir, "cooking/soup/SKILL.md", "---\nname: soup\ndescription: Cooks soup.\n---\nBoil.\n")
	if changed, err := s.r.Refresh(t.Context()); err != nil || !changed {
		t.Fatalf("changed %v, error %v", changed, err)
	}
	contains(t, connect(t, s, "", nil).InitializeResult().Instructions, "- cooking (contains 4 skills)")

	empty := connect(t, serve(t, t.TempDir(), Options{}, nil), "", nil)
	contains(t, empty.InitializeResult().Instructions, "There are no skills yet.")
	if got := ask(t, empty, "route", object{"utterance": "hello"}); got.Failed || got.Text != "No skill fits." {
		t.Errorf("without skills: %v", got)
	}
}

// Fixed phrases are in the language of the text, or the one that is asked for.
func TestPhrases(t *testing.T) {
	dir := folder(t, map[string]string{
		"菜/菜谱/SKILL.md": "---\nname: 菜谱\ndescription: 查找中餐菜谱。\nmetadata:\n  triggers: [红烧肉怎么做, 找个菜谱]\n---\n查。\n",
		"车/打车/SKILL.md": "---\nname: 打车\ndescription: 叫出租车。\nmetadata:\n  triggers: [帮我打车, 叫一辆出租车]\n---\n叫。\n",
	})
	for lang, want := range map[string][2]string{
		"": {"先用其原话调用 route", "仍处于已加载状态：打车。"}, "en": {"first call route", "Still loaded: 打车."},
	} {
		c := connect(t, serve(t, dir, Options{Lang: lang}, nil), "", nil)
		contains(t, c.InitializeResult().Instructions, want[0], "叫出租车")
		ask(t, c, "skill_load", object{"skill": "打车"})
		contains(t, ask(t, c, "route", object{"utterance": "继续"}).Text, want[1])
	}
}

// Where few skills have long summaries they are named alone.
func TestInstructionsOfAFlatCatalog(t *testing.T) {
	many := map[string]string{}
	for i := range 15 {
		name := fmt.Sprintf("skill-%d", i)
		many[name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: " + strings.Repeat("Does a thing that takes many words to say. ", 3) + "\n---\nDo.\n"
	}
	r, err := skillrouter.Open(t.Context(), nil, folder(t, many))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	s, err := New(r.Router, &Options{Refresh: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	text := connect(t, s, "", nil).InitializeResult().Instructions
	contains(t, text, "Skills: skill-0, skill-1, skill-10")
	if len(text) > mostFirst {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
}

// A skill for people is a prompt, and nothing else.
func TestManualSkills(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	c := connect(t, s, "", nil)
	for tool, args := range map[string]object{
		"skill_load": {"skill": "wipe-disk"}, "skill_extension": {"skill": "wipe-disk"}, "read_file": {"path": "wipe-disk/SKILL.md"},
	} {
		if got := ask(t, c, tool, args); !got.Failed || strings.Contains(got.Text, "Never by yourself") || strings.Contains(got.Text, "nearest") {
			t.Errorf("%s: %v", tool, got)
		}
	}
	for tool, args := range map[string]object{
		"route": {"utterance": "/wipe-disk"}, "search_skills": {"query": "wipe a disk"}, "list_skills": {"domain": "files"},
	} {
		if got := ask(t, c, tool, args).String(); strings.Contains(got, "wipe") {
			t.Errorf("%s: %v", tool, got)
		}
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: skillURI("wipe-disk")}); err == nil {
		t.Error("it was read as a resource")
	}
	prompts, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "wipe-disk" {
		t.Fatalf("prompts %+v, error %v", prompts, err)
	}
	got, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "wipe-disk"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, got.Messages[0].Content.(*sdk.TextContent).Text, "Never by yourself.")
}

// What is not allowed does not exist anywhere.
func TestAllow(t *testing.T) {
	s := serve(t, folder(t, files), Options{Allow: func(name string) bool { return name != "pdf-text" && name != "wipe-disk" }}, nil)
	c := connect(t, s, "", nil)
	contains(t, c.InitializeResult().Instructions, "- files (contains 1 skill)")
	for tool, args := range map[string]object{
		"route": {"utterance": "turn this PDF into text, /pdf-text"}, "search_skills": {"query": "turn this PDF into text"}, "list_skills": {"domain": "files"},
		"skill_load": {"skill": "pdf-text"}, "read_file": {"path": "pdf-text/guide.md"},
	} {
		if got := ask(t, c, tool, args); strings.Contains(got.Text, "pdf-text:") || strings.Contains(got.Text, "pdftotext") || strings.Contains(got.Text, "scans") {
			t.Errorf("%s: %v", tool, got)
		}
	}
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil || r.Name == "pdf-text" {
			t.Errorf("resource %+v, error %v", r, err)
		}
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: docURI("pdf-text", "guide.md")}); err == nil {
		t.Error("its document was read")
	}
	if p, err := c.ListPrompts(t.Context(), nil); err != nil || len(p.Prompts) != 0 {
		t.Errorf("prompts %+v, error %v", p, err)
	}
}

func TestSessionsApart(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	for _, protocol := range protocols {
		a, b := connect(t, s, protocol, nil), connect(t, s, protocol, nil)
		const pdf = "turn this PDF into text"
		ask(t, a, "route", object{"utterance": pdf})
		ask(t, a, "skill_load", object{"skill": "pdf-text"})
		ask(t, a, "route", object{"utterance": "what shall we eat this week", "session": "sub-agent"})
		type turn struct{ Turn, Loaded any }
		of := func(c *sdk.ClientSession, session string) turn {
			got := ask(t, c, "skill_status", object{"session": session})
			return turn{got.More["turn"], got.More["loaded"]}
		}
		got := []turn{of(a, ""), of(a, "sub-agent"), of(b, ""), of(b, "sub-agent")}
		want := []turn{{1.0, []any{"pdf-text"}}, {1.0, nil}, {0.0, nil}, {0.0, nil}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("turns and what is loaded (-want +got):\n%s", diff)
		}
		// The turn before counts: a follow-up by itself would match nothing.
		if got := ask(t, a, "route", object{"utterance": "go on"}); got.More["outcome"] != "sticky" || got.More["turn"] != 2.0 {
			t.Errorf("a follow-up: %v", got)
		}
	}
	if got := ask(t, connect(t, s, "", nil), "route", object{"utterance": "x", "session": strings.Repeat("x", maxName+1)}); !got.Failed {
		t.Errorf("an endless name: %v", got)
	}
}

// A client that follows a skill without calling anything keeps it.
func TestALoadedSkillStaysForItsTask(t *testing.T) {
	c := connect(t, serve(t, folder(t, files), Options{}, nil), "", nil)
	ask(t, c, "route", object{"utterance": "turn this PDF into text"})
	ask(t, c, "skill_load", object{"skill": "pdf-text"})
	ask(t, c, "read_file", object{"path": "pdf-text/guide.md"})
	for range 6 {
		if got := ask(t, c, "route", object{"utterance": "go on"}); got.More["outcome"] != "sticky" || !strings.Contains(got.Text, "Still loaded: pdf-text.") {
			t.Fatalf("a follow-up: %v", got)
		}
	}
	if got := ask(t, c, "route", object{"utterance": "what shall we eat this week"}); got.More["loaded"] != nil || strings.Contains(got.Text, "Still") {
		t.Errorf("another task: %v", got)
	}
	if got := ask(t, c, "route", object{"utterance": "turn this PDF into text"}); !strings.Contains(got.Text, "- pdf-text:") {
		t.Errorf("the first again: %v", got)
	}
}

// Many calls at once, of one dialogue and of several, while skills change.
func TestCallsAtOnce(t *testing.T) {
	dir := folder(t, files)
	s := serve(t, dir, Options{Refresh: time.Millisecond, Sessions: 3}, nil)
	var all sync.WaitGroup
	for i := range 4 {
		c := connect(t, s, protocols[i%2], nil)
		for j := range 4 {
			all.Go(func() {
				session := fmt.Sprint(j % 2)
				for n := range 5 {
					write(t, dir, "cooking/menu/SKILL.md", files["cooking/menu/SKILL.md"]+strings.Repeat("\nMore.", i+j+n))
					ask(t, c, "route", object{"utterance": "turn this PDF into text", "session": session})
					if got := ask(t, c, "skill_load", object{"skill": "pdf-text", "session": session}); !strings.Contains(got.Text, "Run pdftotext.") && !got.Failed {
						t.Errorf("load: %v", got)
					}
					ask(t, c, "skill_status", object{"session": session})
					if _, err := c.ListResources(t.Context(), nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
}

// Dialogues are bounded, and idle ones forgotten.
func TestDialoguesEnd(t *testing.T) {
	s := serve(t, folder(t, files), Options{Sessions: 2, Idle: time.Hour}, nil)
	c := connect(t, s, "", nil)
	turn := func(session string) any {
		return ask(t, c, "route", object{"utterance": "read this PDF", "session": session}).More["turn"]
	}
	got := []any{turn("a"), turn("a"), turn("b"), turn("c"), turn("a")}
	if diff := cmp.Diff([]any{1.0, 2.0, 1.0, 1.0, 1.0}, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	s.dialogues.mu.Lock()
	for _, key := range s.dialogues.kept.Keys() {
		d, _ := s.dialogues.kept.Peek(key)
		d.used = d.used.Add(-2 * time.Hour)
	}
	s.dialogues.mu.Unlock()
	if got := turn("a"); got != 1.0 {
		t.Errorf("an idle dialogue goes on with turn %v", got)
	}
	if n := s.dialogues.kept.Len(); n != 1 {
		t.Errorf("%d dialogues are kept, want 1", n)
	}
	_ = c.Close()
	for range 200 {
		s.dialogues.mu.Lock()
		n := s.dialogues.kept.Len()
		s.dialogues.mu.Unlock()
		if n == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the dialogue of a closed connection is kept")
}

func TestCancel(t *testing.T) {
	e, err := embed.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range protocols {
		for _, what := range []string{"call", "server"} {
			t.Run(protocol+" "+what, func(t *testing.T) {
				b := &blocking{Embedder: e, on: make(chan struct{}), waiting: make(chan struct{}, 1), ended: make(chan error, 1)}
				s := serve(t, folder(t, files), Options{}, b)
				c := connect(t, s, protocol, nil)
				close(b.on)
				ctx, cancel := contextWith(t)
				done := make(chan error, 1)
				go func() {
					_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "route", Arguments: object{"utterance": "read this PDF"}})
					done <- err
				}()
				within(t, b.waiting, "call of the embedder")
				if what == "call" {
					cancel()
				} else {
					go s.Close()
				}
				if err := within(t, b.ended, "end of embedding"); err == nil {
					t.Error("the embedder was not cancelled")
				}
				if err := within(t, done, "end of the call"); err == nil {
					t.Error("the cancelled call has a result")
				}
			})
		}
	}
}

// Nothing is left of a server that was closed, whatever its clients do.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	s := serve(t, folder(t, files), Options{Refresh: time.Millisecond}, nil)
	for _, protocol := range protocols {
		c := connect(t, s, protocol, &sdk.ClientOptions{ResourceListChangedHandler: ignoreList})
		ask(t, c, "route", object{"utterance": "read this PDF"})
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: skillURI("menu")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	var left string
	for range 200 {
		if left = goroutinesOf("skillrouter/server/mcp.", "mcp.(*Server)", "mcp.(*ServerSession)"); left == "" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("left:\n%s", left)
}

// goroutinesOf returns the stacks of goroutines, other than those of tests,
// that run one of these.
func goroutinesOf(names ...string) string {
	buf := make([]byte, 1<<20)
	var left []string
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		for _, n := range names {
			if strings.Contains(stack, n) && !strings.Contains(stack, "testing.tRunner") {
				left = append(left, stack)
				break
			}
		}
	}
	return strings.Join(left, "\n\n")
}

func TestRunOverPipes(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	for _, how := range []string{"the client leaves", "the context ends"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := contextWith(t)
			theirIn, ourOut := io.Pipe()
			ourIn, theirOut := io.Pipe()
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx, ourIn, ourOut) }()
			c := dial(t, &sdk.IOTransport{Reader: theirIn, Writer: theirOut}, "", nil)
			ask(t, c, "route", object{"utterance": "read this PDF"})
			if how == "the client leaves" {
				_ = c.Close()
			} else {
				cancel()
			}
			if err := within(t, done, "end of Run"); err != nil {
				t.Error(err)
			}
		})
	}
}

// What was asked before the end of input is answered.
func TestRunAnswersToTheLast(t *testing.T) {
	s := serve(t, folder(t, files), Options{}, nil)
	in := hello + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for id := range 20 {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"route","arguments":{"utterance":"read this PDF"}}}`, id+2) + "\n"
	}
	var out lockedBuilder
	if err := s.Run(t.Context(), io.NopCloser(strings.NewReader(in)), discardCloser{&out}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"result":`); n != 21 {
		t.Errorf("%d answers, want 21:\n%s", n, out.String())
	}
}

func TestLog(t *testing.T) {
	for _, utterances := range []bool{false, true} {
		var log lockedBuilder
		logger := slog.New(slog.NewTextHandler(&log, nil))
		c := connect(t, serve(t, folder(t, files), Options{Logger: logger, LogUtterances: utterances}, nil), "", nil)
		ask(t, c, "route", object{"utterance": "read this PDF of mine"})
		ask(t, c, "search_skills", object{"query": "my secret"})
		ask(t, c, "skill_load", object{"skill": "my secret"})
		text := log.String()
		contains(t, text, "tool=route", "tool=skill_load", "failed=true")
		if got := strings.Contains(text, "of mine") && strings.Contains(text, "my secret"); got != utterances {
			t.Errorf("what was said is in the log: %v, want %v:\n%s", got, utterances, text)
		}
		if strings.Contains(text, "secret") != utterances || strings.Contains(text, "connect") {
			t.Errorf("too much is in the log:\n%s", text)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	r := serve(t, t.TempDir(), Options{}, nil).r
	for want, o := range map[string]Options{"Sessions": {Sessions: -1}, "PageSize": {PageSize: -1}, "Lang": {Lang: "fr"}} {
		if _, err := New(r, &o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	if _, err := New(nil, nil); err == nil {
		t.Error("no router, no error")
	}
}
