package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// Call answers a tool call with the message to append to the history. It never
// fails: what went wrong is told to the model, in a result that begins with
// "error: ", and then nothing has changed. A function that panics, or gives no
// result within Options.ToolTimeout, is answered for; one that does not stop
// when its context ends goes on in the background.
func (k *Kit) Call(ctx context.Context, call ToolCall) Message {
	return k.CallAll(ctx, []ToolCall{call})[0]
}

// CallAll answers the calls of one answer of the model, in their order. Those
// that handle skills are done one after the other, functions at the same time.
func (k *Kit) CallAll(ctx context.Context, calls []ToolCall) []Message {
	messages := make([]Message, len(calls))
	var functions sync.WaitGroup
	for i, c := range calls {
		m := &messages[i]
		*m = Message{Role: RoleTool, ToolCallID: c.ID}
		run, result, err := k.prepareCall(ctx, c)
		if run == nil {
			m.Content = resultText(result, err)
			continue
		}
		functions.Go(func() { m.Content = resultText(run()) })
	}
	functions.Wait()
	return messages
}

// Handle answers a call of a tool by which skills are handled. It is Call for
// hosts that tell failures from results, such as a server.
func (k *Kit) Handle(ctx context.Context, tool, arguments string) (string, error) {
	run, result, err := k.prepareCall(ctx, ToolCall{Function: FunctionCall{Name: tool, Arguments: arguments}})
	if run != nil {
		return "", fmt.Errorf("%s handles no skills", tool)
	}
	return result, err
}

func resultText(result string, err error) string {
	switch {
	case err != nil:
		return "error: " + err.Error()
	case result == "":
		return "(no output)"
	}
	return result
}

// prepareCall answers a call that handles skills; of any other it returns what
// runs it.
func (k *Kit) prepareCall(ctx context.Context, c ToolCall) (run func() (string, error), result string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	name, args := c.Function.Name, c.Function.Arguments
	own := slices.ContainsFunc(k.o.Tools, func(t Tool) bool { return t.Function.Name == name })
	if isSkillTool(name) && !own {
		if !k.offers(name) && name != toolList {
			return nil, "", fmt.Errorf("tool not available: %s", name)
		}
		result, err = k.handle(ctx, name, args)
		return nil, result, err
	}
	given, err := object(args)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if own {
		return func() (string, error) {
			result, err := k.run(ctx, name, given)
			if name == toolReadFile && err == nil {
				var a struct{ Path string }
				if json.Unmarshal(given, &a) == nil {
					_ = k.Read(ctx, a.Path) // what was read is read
				}
			}
			return result, err
		}, "", nil
	}
	now, _, err := k.begin(ctx)
	if err != nil {
		return nil, "", err
	}
	var unused Receipt
	for _, b := range k.loaded(now, k.shownOnce().Step, &unused) {
		if slices.ContainsFunc(k.toolsOf(ctx, now, b.def).tools, func(t Tool) bool { return t.Function.Name == name }) {
			k.used(ctx, now.Turn, b.skill)
			return func() (string, error) { return k.run(ctx, name, given) }, "", nil
		}
	}
	return nil, "", fmt.Errorf("tool not available: %s: no loaded skill has it; load the skill that does", name)
}

// object returns the arguments of a function as a JSON object.
func object(args string) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if err := arguments(args, &fields); err != nil {
		return nil, err
	}
	if given := strings.TrimSpace(args); strings.HasPrefix(given, "{") && json.Valid([]byte(given)) {
		return json.RawMessage(given), nil
	}
	return json.Marshal(fields)
}

// used notes that a skill is used, for the session and for who goes first when
// too many are loaded.
func (k *Kit) used(ctx context.Context, turn int, skill string) {
	_ = k.s.Use(ctx, skill) // a use that is not noted harms nobody
	k.st.Commit(Change{Turn: turn, Agent: k.agent, Cause: causeUse, Skills: []string{skill}})
}

// run calls a function, and answers for it if it panics or stalls.
func (k *Kit) run(ctx context.Context, name string, args json.RawMessage) (string, error) {
	type outcome struct {
		result string
		err    error
	}
	limited, cancel := ctx, func() {}
	if k.o.ToolTimeout > 0 {
		limited, cancel = context.WithTimeout(ctx, k.o.ToolTimeout)
	}
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: fmt.Errorf("%s failed: it ended its goroutine", name)} // as runtime.Goexit does
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("%s failed: panic: %v", name, p)
				if k.o.Panicked != nil {
					k.o.Panicked(name, p, debug.Stack())
				}
			}
			done <- o
		}()
		o.result, o.err = k.o.Funcs[name](limited, args)
	}()
	late := func() error { return fmt.Errorf("%s gave no result within %v", name, k.o.ToolTimeout) }
	select {
	case o := <-done:
		if errors.Is(o.err, context.DeadlineExceeded) && limited.Err() != nil && ctx.Err() == nil {
			o.err = late()
		}
		return o.result, o.err
	case <-limited.Done():
		if err := ctx.Err(); err != nil {
			return "", err
		}
		return "", late()
	}
}
