package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A KeyError says that an endpoint wants a key and got none, or refused the one
// it got.
type KeyError struct {
	URL     string
	Given   bool   // there was a key
	Message string // what the endpoint says about it; "" where it might repeat the key
}

func (e *KeyError) Error() string {
	what := "wants a key"
	if e.Given {
		what = "refused the key"
	}
	return "openai: " + e.URL + " " + what + said(e.Message)
}

// Hint says what to do.
func (e *KeyError) Hint() string {
	if e.Given {
		return "is OPENAI_API_KEY (Options.Key) of this endpoint, still valid, and allowed to use the model?"
	}
	return "set OPENAI_API_KEY (Options.Key)"
}

// A ModelError says that an endpoint does not have a model, or not for this key.
type ModelError struct {
	URL     string
	Model   string
	Message string // what the endpoint says about it
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("openai: %s has no model %q%s", e.URL, e.Model, said(e.Message))
}

// Hint says what to do.
func (e *ModelError) Hint() string {
	return "most endpoints list what they have at " + e.URL + "/models"
}

func said(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// A failure is any other reason why there are no vectors.
type failure struct {
	what     string
	hint     string
	err      error         // that what repeats; nil if there is none
	tries    int           // requests made
	again    bool          // another try may help
	limited  bool          // it is no fault: the endpoint takes no more for now
	after    time.Duration // not before
	tooLarge bool          // fewer texts may help
}

func (f *failure) Error() string {
	s := "openai: " + f.what
	if f.tries > 1 {
		s += fmt.Sprintf(" (tried %d times)", f.tries)
	}
	return s
}

func (f *failure) Unwrap() error { return f.err }

// Hint says what to do.
func (f *failure) Hint() string { return f.hint }

// messageOf finds the message in the body of a refusal that has not OpenAI's
// form: FastAPI, TEI and older vLLM put it at the top. Anything else, such as a
// proxy's page, is not for people.
func messageOf(body []byte) string {
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	for _, key := range []string{"message", "error", "detail"} {
		if s, ok := object[key].(string); ok {
			return s
		}
	}
	return ""
}

const longestMessage = 300 // characters

// clean makes what an endpoint says fit for a log: on one line, short, without
// the key and the texts that it may repeat.
func (p *endpoint) clean(message string, texts []string) string {
	if key := p.key(); key != "" {
		message = strings.ReplaceAll(message, key, "[key]")
	}
	longestFirst := slices.Clone(texts) // one may be a part of another
	slices.SortFunc(longestFirst, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range longestFirst {
		if len(s) > 3 { // shorter ones stand in any word
			message = strings.ReplaceAll(message, s, "[text]")
		}
	}
	message = strings.Join(strings.FieldsFunc(message, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(message); len(runes) > longestMessage {
		message = string(runes[:longestMessage]) + "…"
	}
	return message
}
