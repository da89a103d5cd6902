package eval

import "skillrouter/internal/text"

// EstimateTokens estimates how many tokens of a language model a text takes: 1
// for a Han character, 1 for 4 bytes of other text, rounded up. Tokenizers
// differ by some 30% either way, so it is for comparing texts, not for bills.
func EstimateTokens(s string) int { return text.Tokens(s) }

// quarters is the estimate in quarters of a token, which add up.
func quarters(s string) int { return text.TokenQuarters(s) }

func tokens(quarters int) int { return (quarters + 3) / 4 }
