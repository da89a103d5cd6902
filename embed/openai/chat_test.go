package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// chatting serves a chat model that gives the answers one after another, the last again.
func chatting(t *testing.T, answers ...func(http.ResponseWriter)) (*Chat, *[]string) {
	t.Helper()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model    string
			Messages []struct{ Role, Content string }
			Format   struct{ Type string } `json:"response_format"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/v1/chat/completions" || len(request.Messages) != 2 {
			t.Errorf("request of %s: %v, %+v", r.URL.Path, err, request)
			return
		}
		seen = append(seen, strings.Join([]string{request.Model, request.Format.Type, request.Messages[0].Content, request.Messages[1].Content, r.Header.Get("Authorization")}, "|"))
		answers[min(len(seen), len(answers))-1](w)
	}))
	t.Cleanup(server.Close)
	c, err := newChat(&Options{BaseURL: server.URL + "/v1", Key: testKey, Model: "m"}, clock{
		now: time.Now, sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, jitter: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, &seen
}

func says(content, refusal, finish string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{ // a client that left
			"message": map[string]any{"role": "assistant", "content": content, "refusal": refusal}, "finish_reason": finish,
		}}})
	}
}

func fails(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { http.Error(w, body, status) }
}

func TestChat(t *testing.T) {
	c, seen := chatting(t, fails(500, "<html>busy</html>"), fails(429, `{"error":{"message":"slow down"}}`), says(` {"a": 1} `, "", "stop"))
	got, err := c.Complete(t.Context(), "be brief", "hello")
	if err != nil || got != `{"a": 1}` {
		t.Fatalf("got %q, %v", got, err)
	}
	if want := "m|json_object|be brief|hello|Bearer " + testKey; len(*seen) != 3 || (*seen)[0] != want {
		t.Errorf("%d requests %q, want 3 like %q", len(*seen), *seen, want)
	}
	if c.Model() != "m" {
		t.Errorf("model %q", c.Model())
	}
}

func TestChatWithoutAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter)
		want   string
		about  bool // this message alone
	}{
		"refusal":       {says("", "I will not "+testKey, "stop"), "refuses: I will not [key]", true},
		"filter":        {says("x", "", "content_filter"), "a filter held it back", true},
		"cut":           {says(`{"a"`, "", "length"), "longer than the model may write", true},
		"empty":         {says(" ", "", "stop"), "empty answer", true},
		"no choices":    {func(w http.ResponseWriter) { fmt.Fprint(w, `{"choices":[]}`) }, "gave no answer", false},
		"no JSON":       {func(w http.ResponseWriter) { fmt.Fprint(w, `hello`) }, "no JSON", false},
		"wrong key":     {fails(401, `{"error":{"message":"bad key `+testKey+`"}}`), "key", false},
		"unknown model": {fails(404, `{"error":{"message":"no","code":"model_not_found"}}`), "m", false},
		"bad request":   {fails(400, `{"error":{"message":"hello is no good"}}`), "400", false},
	} {
		t.Run(name, func(t *testing.T) {
			c, seen := chatting(t, test.answer)
			_, err := c.Complete(t.Context(), "be brief", "hello")
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), testKey) {
				t.Errorf("error %v, want one with %q and without the key", err, test.want)
			}
			if no := (*AnswerError)(nil); errors.As(err, &no) != test.about {
				t.Errorf("error %T", err)
			}
			var hint interface{ Hint() string }
			if errors.As(err, &hint) && strings.Contains(hint.Hint(), "Batch") {
				t.Errorf("the hint speaks of batches: %s", hint.Hint())
			}
			if len(*seen) != 1 {
				t.Errorf("%d requests, want 1", len(*seen))
			}
		})
	}
	if _, err := NewChat(nil); err == nil {
		t.Error("no error without a model")
	}
}
