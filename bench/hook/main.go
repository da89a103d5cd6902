// Command hook measures what a prompt waits for `skillrouter hook`: it builds
// the command, keeps an index of a catalog, runs the hook once a prompt as a
// coding agent does, in sessions of ten prompts, and prints the times of the
// whole processes and how much they wrote.
//
//	go run ./bench/hook [-n 50] [-cases FILE] CATALOG
//
// FILE holds labelled utterances as eval reads them. With it each is asked for
// by itself, and it is counted where a right skill is named.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter/eval"
)

// turns is how many prompts a session has.
const turns = 10

func main() {
	n := flag.Int("n", 50, "prompts")
	cases := flag.String("cases", "", "file of labelled utterances")
	flag.Parse()
	if err := run(context.Background(), *n, *cases, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "hook:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, n int, cases string, args []string) error {
	if len(args) != 1 || n < 1 {
		return errors.New("name one catalog, and at least one prompt by -n")
	}
	catalog, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-hook")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h := &hook{
		program: filepath.Join(dir, "skillrouter"), catalog: catalog,
		env: append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
			"XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config")),
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", h.program, "./cmd/skillrouter")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	if _, _, err := h.run(ctx, "", "rebuild"); err != nil {
		return err
	}
	if cases != "" {
		err = h.count(ctx, cases)
	} else {
		err = h.measure(ctx, n)
	}
	if err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(dir, "state", "skillrouter", "hook.log"))
	if failed := strings.Count(string(log), "level=WARN"); failed > 0 {
		return fmt.Errorf("%d warnings in the log:\n%s", failed, log)
	}
	return err
}

// A hook is the command with a home of its own.
type hook struct {
	program string
	env     []string
	catalog string
}

// run runs the hook, or a verb below it, once.
func (h *hook) run(ctx context.Context, message string, args ...string) (time.Duration, []byte, error) {
	args = append(append([]string{"hook"}, args...), "--skills", h.catalog)
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Env, cmd.Stdin = h.env, strings.NewReader(message)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil || talk.Len() > 0 {
		return 0, nil, fmt.Errorf("%v: %w: %s", args, err, talk.Bytes())
	}
	return took, out.Bytes(), nil
}

// measure prints how long processes take, and how much they write.
func (h *hook) measure(ctx context.Context, n int) error {
	prompts := []string{
		"help me prepare for a job interview at a bank", "thanks, now tailor my resume to the posting",
		"review this Solidity contract for reentrancy bugs", "go on", "why does the unit test of the parser fail?",
		"把这份季度报告整理成幻灯片", "set up a Helm chart for the service", "rename the variable in line 12",
		"which of our customers are about to churn?", "write the release notes",
	}
	var spent []time.Duration
	var first, later []int
	for i := range n {
		message, err := json.Marshal(map[string]string{
			"hook_event_name": "UserPromptSubmit", "session_id": fmt.Sprint("bench-", i/turns), "cwd": "/", "prompt": prompts[i%len(prompts)],
		})
		if err != nil {
			return err
		}
		took, out, err := h.run(ctx, string(message))
		if err != nil {
			return err
		}
		spent = append(spent, took)
		var answer struct {
			Output struct {
				Context string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		if len(out) > 0 {
			if err := json.Unmarshal(out, &answer); err != nil {
				return fmt.Errorf("the hook wrote %q: %w", out, err)
			}
		}
		if size := len(answer.Output.Context); i%turns == 0 {
			first = append(first, size)
		} else {
			later = append(later, size)
		}
	}
	slices.Sort(spent)
	at := func(share float64) time.Duration {
		return spent[int(share*float64(n-1)+0.5)].Round(100 * time.Microsecond)
	}
	fmt.Printf("%d processes: median %v, p95 %v, slowest %v\n", n, at(0.5), at(0.95), at(1))
	fmt.Printf("context: %d bytes on average with the first prompt of a session, %d with each later one\n", mean(first), mean(later))
	return nil
}

func mean(sizes []int) int {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	return sum / max(1, len(sizes))
}

// count prints how often a right skill is named.
func (h *hook) count(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	cases, err := eval.ReadCases(f, file)
	if err != nil {
		return err
	}
	var in, right, perhaps, nothing, out, quiet, sure int
	for _, c := range cases {
		message, err := json.Marshal(map[string]string{"utterance": c.Text})
		if err != nil {
			return err
		}
		_, data, err := h.run(ctx, string(message), "--format", "json", "--deadline", "1m")
		if err != nil {
			return err
		}
		var answer struct {
			Skills []struct{ Name, Standing string }
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			return fmt.Errorf("the hook wrote %q: %w", data, err)
		}
		found, unsure := false, false
		for _, s := range answer.Skills {
			found = found || slices.Contains(c.Skills, s.Name)
			unsure = unsure || s.Standing == "perhaps"
		}
		switch {
		case c.OutOfScope:
			out++
			if len(answer.Skills) == 0 {
				quiet++
			} else if !unsure {
				sure++
			}
			continue
		case found && unsure:
			perhaps++
		case found:
			right++
		case len(answer.Skills) == 0:
			nothing++
		}
		in++
	}
	fmt.Printf("%d in scope: %d with a right skill as fitting, %d as perhaps fitting, %d with none named, %d only with wrong ones\n",
		in, right, perhaps, nothing, in-right-perhaps-nothing)
	fmt.Printf("%d out of scope: %d with none named, %d with some as perhaps fitting, %d as fitting\n", out, quiet, out-quiet-sure, sure)
	return nil
}
