package tools

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of an expression. Within them the worst one takes a second or two.
const (
	maxExpression = 1_000  // characters
	maxNesting    = 100    // brackets, signs and powers within each other
	maxBits       = 66_500 // of a numerator or denominator: some 20,000 digits
	maxDecimals   = 30     // of a result that is shown in full
	precision     = 256    // bits of roots and other values that have no exact form
	shownDigits   = 15     // of a result that is rounded
)

// A value is a number and whether it was rounded on the way.
type value struct {
	*big.Rat
	rounded bool
}

type calculateArguments struct {
	Expression string `json:"expression"`
}

// calculate works out an expression with rational numbers, so that 0.1+0.2 is 0.3.
func calculate(a calculateArguments) (string, error) {
	if n := utf8.RuneCountInString(a.Expression); n > maxExpression {
		return "", fmt.Errorf("the expression has %d characters, at most %d; work it out in parts", n, maxExpression)
	}
	p := parser{rest: plainSigns(a.Expression)}
	v, err := p.sum()
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("an operator is missing before %q", p.rest)
		switch {
		case strings.HasPrefix(p.rest, ","):
			err = errors.New("a comma stands only between the arguments of a function; write 1234.5, not 1,234.5")
		case strings.HasPrefix(p.rest, ")"):
			err = errors.New("there is a closing bracket too many")
		}
	}
	if err != nil {
		return "", err
	}
	return v.text(), nil
}

// plainSigns replaces the signs of typography and of full-width input by those of ASCII.
func plainSigns(s string) string {
	return strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "π", "pi",
		"（", "(", "）", ")", "＋", "+", "－", "-", "＊", "*", "／", "/", "％", "%", "，", ",", "．", ".", "**", "^").Replace(s)
}

// text writes v in full if it has an end, otherwise with 15 digits after "≈".
func (v value) text() string {
	if n, ends := v.FloatPrec(); ends && n <= maxDecimals && !v.rounded {
		return v.FloatString(n)
	}
	return "≈ " + new(big.Float).SetPrec(precision).SetRat(v.Rat).Text('g', shownDigits)
}

// A parser reads an expression from the left; rest is what is still to be read.
//
//	sum     = product { ("+" | "-") product }
//	product = signed { ("*" | "/") signed }
//	signed  = { "+" | "-" } power
//	power   = part [ "^" signed ]
//	part    = ( number | name | name "(" sum { "," sum } ")" | "(" sum ")" ) { "%" }
type parser struct {
	rest  string
	depth int
}

// peek returns the next byte that is not white space, or 0 at the end.
func (p *parser) peek() byte {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// take reads the next byte if it is one of set, and otherwise returns 0.
func (p *parser) take(set string) byte {
	c := p.peek()
	if c == 0 || strings.IndexByte(set, c) < 0 {
		return 0
	}
	p.rest = p.rest[1:]
	return c
}

func (p *parser) sum() (value, error) {
	if p.depth++; p.depth > maxNesting {
		return value{}, fmt.Errorf("the expression is nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	left, err := p.product()
	for err == nil {
		op := p.take("+-")
		if op == 0 {
			break
		}
		var right value
		if right, err = p.product(); err == nil {
			left, err = combine(op, left, right)
		}
	}
	return left, err
}

func (p *parser) product() (value, error) {
	left, err := p.signed()
	for err == nil {
		op := p.take("*/")
		if op == 0 {
			break
		}
		var right value
		if right, err = p.signed(); err == nil {
			left, err = combine(op, left, right)
		}
	}
	return left, err
}

func (p *parser) signed() (value, error) {
	if p.depth++; p.depth > maxNesting {
		return value{}, fmt.Errorf("the expression is nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	switch p.take("+-") {
	case '-':
		v, err := p.signed()
		if err != nil {
			return value{}, err
		}
		return value{new(big.Rat).Neg(v.Rat), v.rounded}, nil
	case '+':
		return p.signed()
	}
	base, err := p.part()
	if err != nil || p.take("^") == 0 {
		return base, err
	}
	exponent, err := p.signed()
	if err != nil {
		return value{}, err
	}
	return power(base, exponent)
}

func (p *parser) part() (value, error) {
	v, err := p.operand()
	for err == nil && p.take("%") != 0 {
		v, err = combine('/', v, whole(100))
	}
	return v, err
}

func (p *parser) operand() (value, error) {
	c := p.peek()
	switch {
	case c == 0:
		return value{}, errors.New("the expression ends where a number is expected")
	case c == '(':
		p.take("(")
		v, err := p.sum()
		if err == nil && p.take(")") == 0 {
			err = errors.New("a closing bracket is missing")
		}
		return v, err
	case '0' <= c && c <= '9' || c == '.':
		return p.number()
	}
	name := p.rest[:len(p.rest)-len(strings.TrimLeftFunc(p.rest, unicode.IsLetter))]
	if name == "" {
		r, _ := utf8.DecodeRuneInString(p.rest)
		return value{}, fmt.Errorf("%q stands where a number is expected", r)
	}
	p.rest = p.rest[len(name):]
	if p.take("(") == 0 {
		return constant(strings.ToLower(name))
	}
	var arguments []value
	for {
		v, err := p.sum()
		if err != nil {
			return value{}, err
		}
		arguments = append(arguments, v)
		if p.take(",") == 0 {
			break
		}
	}
	if p.take(")") == 0 {
		return value{}, fmt.Errorf("the closing bracket of %s is missing", name)
	}
	return apply(strings.ToLower(name), arguments)
}

func (p *parser) number() (value, error) {
	digits := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "0123456789."))]
	p.rest = p.rest[len(digits):]
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return value{}, fmt.Errorf("%q is no number", digits)
	}
	return value{Rat: r}, nil
}

func constant(name string) (value, error) {
	switch name {
	case "pi":
		return rounded("3.14159265358979323846264338327950288419716939937510582097494459")
	case "e":
		return rounded("2.71828182845904523536028747135266249775724709369995957496696763")
	}
	return value{}, fmt.Errorf("%q is no constant; there are pi and e", name)
}

func rounded(digits string) (value, error) {
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return value{}, fmt.Errorf("%q is no number", digits)
	}
	return value{r, true}, nil
}

func whole(n int64) value {
	return value{Rat: big.NewRat(n, 1)}
}

// combine applies one of + - * / to a and b.
func combine(op byte, a, b value) (value, error) {
	r := new(big.Rat)
	switch op {
	case '+':
		r.Add(a.Rat, b.Rat)
	case '-':
		r.Sub(a.Rat, b.Rat)
	case '*':
		r.Mul(a.Rat, b.Rat)
	default:
		if b.Sign() == 0 {
			return value{}, errors.New("division by zero")
		}
		r.Quo(a.Rat, b.Rat)
	}
	return bounded(value{r, a.rounded || b.rounded})
}

// bounded refuses a value that is too long to go on with.
func bounded(v value) (value, error) {
	if v.Num().BitLen() > maxBits || v.Denom().BitLen() > maxBits {
		return value{}, errors.New("a value on the way has more than 20,000 digits")
	}
	return v, nil
}

// power returns base^exponent: exact for whole exponents, with the 15 digits of floating point
// for others.
func power(base, exponent value) (value, error) {
	if exponent.IsInt() {
		n := new(big.Int).Abs(exponent.Num())
		switch {
		case base.Sign() == 0 && exponent.Sign() < 0:
			return value{}, errors.New("division by zero")
		// Only 0, 1 and -1 stay short whatever the exponent: for them its last bit decides.
		case base.Num().BitLen() <= 1 && base.Denom().BitLen() == 1 && n.Sign() != 0:
			n = new(big.Int).Sub(big.NewInt(2), new(big.Int).And(n, big.NewInt(1)))
		case n.BitLen() > 20 || n.Int64()*int64(max(base.Num().BitLen(), base.Denom().BitLen())-1) > maxBits:
			return value{}, errors.New("the power has more than 20,000 digits")
		}
		r := new(big.Rat).SetFrac(new(big.Int).Exp(base.Num(), n, nil), new(big.Int).Exp(base.Denom(), n, nil))
		if exponent.Sign() < 0 {
			r.Inv(r)
		}
		return bounded(value{r, base.rounded || exponent.rounded})
	}
	if exponent.Cmp(big.NewRat(1, 2)) == 0 {
		return root(base)
	}
	b, _ := base.Float64()
	e, _ := exponent.Float64()
	f := math.Pow(b, e)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value{}, errors.New("the power has no real value, or one that is too large")
	}
	return value{new(big.Rat).SetFloat64(f), true}, nil
}

// root returns the square root, exact where there is an exact one.
func root(v value) (value, error) {
	if v.Sign() < 0 {
		return value{}, errors.New("a negative number has no real square root")
	}
	num, denom := new(big.Int).Sqrt(v.Num()), new(big.Int).Sqrt(v.Denom())
	r := new(big.Rat).SetFrac(num, denom)
	if new(big.Rat).Mul(r, r).Cmp(v.Rat) == 0 {
		return value{r, v.rounded}, nil
	}
	r, _ = new(big.Float).Sqrt(new(big.Float).SetPrec(precision).SetRat(v.Rat)).Rat(nil)
	return bounded(value{r, true})
}

// apply calls a function of an expression.
func apply(name string, a []value) (value, error) {
	least, most := 1, 1
	switch name {
	case "sqrt", "abs", "floor", "ceil":
	case "round":
		most = 2
	case "mod":
		least, most = 2, 2
	case "min", "max", "sum", "avg":
		most = maxExpression
	default:
		return value{}, fmt.Errorf("%q is no function; there are sqrt, abs, round, floor, ceil, min, max, sum, avg and mod", name)
	}
	if len(a) < least || len(a) > most {
		return value{}, fmt.Errorf("%s has %d arguments, it takes %d to %d", name, len(a), least, most)
	}
	switch name {
	case "sqrt":
		return root(a[0])
	case "abs":
		return value{new(big.Rat).Abs(a[0].Rat), a[0].rounded}, nil
	case "floor":
		return floor(a[0]), nil
	case "ceil":
		down := floor(value{new(big.Rat).Neg(a[0].Rat), a[0].rounded})
		return value{down.Neg(down.Rat), down.rounded}, nil
	case "round":
		return round(a)
	case "mod":
		quotient, err := combine('/', a[0], a[1])
		if err != nil {
			return value{}, err
		}
		multiple, err := combine('*', floor(quotient), a[1])
		if err != nil {
			return value{}, err
		}
		return combine('-', a[0], multiple)
	}
	return over(name, a)
}

// over works out min, max, sum and avg.
func over(name string, a []value) (value, error) {
	v, err := a[0], error(nil)
	for _, next := range a[1:] {
		switch {
		case name == "min" && next.Cmp(v.Rat) < 0, name == "max" && next.Cmp(v.Rat) > 0:
			v = value{next.Rat, v.rounded || next.rounded}
		case name == "sum" || name == "avg":
			if v, err = combine('+', v, next); err != nil {
				return value{}, err
			}
		}
	}
	if name == "avg" {
		return combine('/', v, whole(int64(len(a))))
	}
	return v, nil
}

// floor returns the largest whole number not above v. Where v was rounded, the whole number may
// be the wrong one of two, so the mark stays.
func floor(v value) value {
	// Div is Euclidean: with the positive denominators of Rat it rounds down.
	return value{new(big.Rat).SetInt(new(big.Int).Div(v.Num(), v.Denom())), v.rounded}
}

// round takes a value and, optionally, how many decimals to keep; halves go away from zero. What
// it gives is meant to be short, so it no longer counts as rounded.
func round(a []value) (value, error) {
	decimals := int64(0)
	if len(a) == 2 {
		if !a[1].IsInt() || !a[1].Num().IsInt64() || a[1].Num().Int64() < 0 || a[1].Num().Int64() > maxDecimals {
			return value{}, fmt.Errorf("round keeps 0 to %d decimals", maxDecimals)
		}
		decimals = a[1].Num().Int64()
	}
	r, ok := new(big.Rat).SetString(a[0].FloatString(int(decimals)))
	if !ok {
		return value{}, errors.New("the value cannot be rounded")
	}
	return value{Rat: r}, nil
}
