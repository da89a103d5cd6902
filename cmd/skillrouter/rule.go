package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"skillrouter/eval"
)

// ruleFlags are the bounds by which a threshold is chosen.
type ruleFlags struct {
	maxWrong, minRejected share
	weight                float64
}

func (r *ruleFlags) add(f *pflag.FlagSet) {
	f.Var(&r.maxWrong, "max-wrong", "share of what is in scope that may match only wrong domains, 1 for any (default 0.03)")
	f.Var(&r.minRejected, "min-rejected", "share of what is out of scope that must match nothing, 0 for any (default 0.8)")
	f.Float64Var(&r.weight, "weight", 3, "`N` points of right matches that a point beyond these bounds costs")
}

func (r *ruleFlags) rule() (eval.Rule, error) {
	rule := eval.Rule{MaxWrong: float64(r.maxWrong), MinRejected: float64(r.minRejected), Weight: r.weight}
	if !(r.weight > 0 && r.weight <= mostWeight) {
		return rule, &useError{fmt.Errorf("--weight %v must be above 0, at most %v", r.weight, mostWeight), "such as --weight 3"}
	}
	switch {
	case r.maxWrong == 1: // whatever may match
		rule.MaxWrong = -1
	case r.maxWrong < 0: // 0 is a bound here, not off
		rule.MaxWrong = 1e-9
	}
	return rule, nil
}

// mostWeight bounds the weight of a rule.
const mostWeight = 1000

// beyond says by how much bounds are missed; "" if they are kept.
func beyond(rule eval.Rule, f *eval.Figures) string {
	if miss := rule.Misses(f); miss >= 0.0005 { // else it would read 0.0
		return fmt.Sprintf(", %.1f points beyond the bounds", 100*miss)
	}
	return ""
}

// dear is how many right matches the bounds of a rule may cost without a word.
const dear = 0.02

// costOfBounds says what the bounds of a rule cost against the threshold in use;
// "" where that is little.
func costOfBounds(chosen, inUse *eval.Figures) string {
	cost := float64(inUse.RightMatch - chosen.RightMatch)
	if !(cost > dear) {
		return ""
	}
	return fmt.Sprintf("the bounds cost %.1f points of right matches against the threshold in use, which has %s; --max-wrong and --min-rejected set others", 100*cost, inShort(inUse))
}

// inShort is a point in words.
func inShort(f *eval.Figures) string {
	words := []string{value(f.RightMatch, true) + " right", value(f.WrongMatch, true) + " wrong", value(f.NoMatch, true) + " none"}
	if f.AbstainRecall.Known() {
		words = append(words, value(f.AbstainRecall, true)+" of what is out of scope rejected")
	}
	return strings.Join(words, ", ")
}
