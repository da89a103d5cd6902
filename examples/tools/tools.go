// Package tools implements the functions that skills of the example catalog declare in their
// tools.json: arithmetic, units, dates, text and table figures, Base64, hashes and UUIDs. All
// work offline, read no files and keep no state.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// ErrUnknown is in the error of [Call] when there is no function of that name.
var ErrUnknown = errors.New("unknown function")

// maxArguments bounds the arguments of one call, in bytes.
const maxArguments = 1 << 20

// Call runs the function of that name with arguments, a JSON object as its tools.json describes
// it; no arguments at all mean the empty object. The result is what a model is shown: plain text
// for a single value, a JSON object for several. Errors say what to change in the arguments;
// Call ends early only before it begins, when ctx has ended. It is safe for concurrent use.
func Call(ctx context.Context, name string, arguments json.RawMessage) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f, ok := functions()[name]
	if !ok {
		return "", fmt.Errorf("tools: %w %q", ErrUnknown, name)
	}
	if len(arguments) > maxArguments {
		return "", fmt.Errorf("%s: the arguments have %d bytes, at most %d; send them in parts", name, len(arguments), maxArguments)
	}
	result, err := f(arguments)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return result, nil
}

// Names returns the names of all functions, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(functions()))
}

// A function takes its arguments as JSON.
type function func(arguments json.RawMessage) (string, error)

func functions() map[string]function {
	return map[string]function{
		"calculate":       with(calculate, "expression"),
		"convert_unit":    with(convertUnit, "value", "from", "to"),
		"date_difference": with(dateDifference, "from", "to"),
		"date_add":        with(dateAdd, "date"),
		"text_statistics": with(textStatistics, "text"),
		"csv_summary":     with(csvSummary, "csv"),
		"base64":          with(encodeBase64, "text"),
		"hash_text":       with(hashText, "text"),
		"new_uuid":        with(newUUID),
	}
}

// with makes f a function that refuses arguments it does not know and those that lack one of
// required.
func with[A any](f func(A) (string, error), required ...string) function {
	return func(arguments json.RawMessage) (string, error) {
		if trimmed := bytes.TrimSpace(arguments); len(trimmed) == 0 || string(trimmed) == "null" {
			arguments = json.RawMessage("{}")
		}
		var given map[string]json.RawMessage
		if err := json.Unmarshal(arguments, &given); err != nil {
			return "", fmt.Errorf("the arguments are no JSON object: %w", err)
		}
		for _, name := range required {
			if value, ok := given[name]; !ok || string(value) == "null" {
				return "", fmt.Errorf("the argument %q is missing", name)
			}
		}
		var a A
		decoder := json.NewDecoder(bytes.NewReader(arguments))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&a); err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("arguments: %w", err)
		}
		return f(a)
	}
}

// object returns v, which is a struct of ours, as JSON.
func object(v any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "", fmt.Errorf("result: %w", err)
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}
