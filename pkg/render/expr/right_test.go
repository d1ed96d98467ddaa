package expr_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
)

// TestRight evaluates random templates for random rows. The oracle calculates with
// fractions of integers, without the product's code. Each result is right, or an error.
// If the oracle has a result that the function can represent, the function must not fail.
func TestRight(t *testing.T) {
	t.Parallel()
	const seeds, at = 10_000, 200
	results := 0
	for first := uint64(0); first < seeds; first += at {
		results += right(t, first, at)
	}
	const least = 2_000
	if results < least {
		t.Errorf("only %d templates have a result", results)
	}
	t.Logf("%d of 10000 templates have a result", results)
}

// FuzzRight does the same for other seeds.
func FuzzRight(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64) { right(t, seed, 1) })
}

// right evaluates n templates from a seed on. It returns how many of them have a result.
func right(t *testing.T, first, n uint64) int {
	t.Helper()
	c := newCompiler()
	var tries []try
	for seed := range n {
		a := newTry(first + seed)
		e, findings := c.Compile(a.text, false)
		if len(findings) > 0 {
			t.Fatalf("seed %d: %s: %v", a.seed, a.text, findings)
		}
		c.Add(e)
		tries = append(tries, a)
	}
	ev := evaluator(c, nil)
	results := 0
	for i, a := range tries {
		ev.Load(lynq.Row{Values: []string{"acme", a.column, ""}})
		err := ev.Run(i)
		got := strings.TrimPrefix(ev.TextOf(i), "x=")
		switch {
		case err != nil && a.want.certain:
			t.Errorf("seed %d: %s with %q fails: %s; it is %s", a.seed, a.text, a.column, expr.Reason(err, false), a.want)
		case err == nil && !a.want.is(got):
			t.Errorf("seed %d: %s with %q is %q, not %s", a.seed, a.text, a.column, got, a.want)
		case err == nil:
			results++
		}
	}
	return results
}

// try is a template, the text of its column, and its right value.
type try struct {
	seed         uint64
	text, column string
	want         oracle
}

func newTry(seed uint64) try {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	column := g.value()
	template, want := g.call(3, column)
	text := "x={{ " + template + " }}"
	switch g.n(6) {
	case 0:
		text = "x={{ " + template + " | toString }}"
	case 1:
		text = "{{ list (" + template + ") | join \",\" }}"
	case 2:
		text = "{{ print (" + template + ") }}"
	case 3:
		other, more := g.call(1, column)
		text, want = g.comparison(template, other, want, more)
	}
	return try{seed, text, column, want}
}

// oracle is the right value of a template.
type oracle struct {
	value   *big.Rat // nil if only an error is right
	certain bool     // an error isn't right
	words   string   // the result of a comparison
}

func (o oracle) String() string {
	if o.value == nil {
		return "an error " + o.words
	}
	return o.value.RatString() + o.words
}

// is reports whether a text is the right value, without an exponent.
func (o oracle) is(got string) bool {
	switch {
	case o.words != "":
		return got == o.words
	case o.value == nil || !regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$`).MatchString(got):
		return false
	}
	value, ok := new(big.Rat).SetString(got)
	if f, exact := o.value.Float64(); ok && !exact && !terminates(o.value) {
		nearest, _ := value.Float64()
		return f == nearest // a quotient with endless digits
	}
	return ok && value.Cmp(o.value) == 0
}

// terminates reports whether a fraction is a decimal number with an end.
func terminates(r *big.Rat) bool {
	_, exact := r.FloatPrec()
	return exact
}

type generator struct{ *rand.Rand }

func (g generator) n(n int) int { return g.IntN(n) }

func pick[T any](g generator, list ...T) T { return list[g.n(len(list))] }

// value returns the text of a column.
func (g generator) value() string {
	switch g.n(8) {
	case 0:
		return pick(g, "", "word", "3,5", "0x10", "NaN", "1_000", "Inf", "--1", "1e", ".", "+", "1.2.3", "٣")
	case 1:
		return strconv.FormatInt(g.Int64(), 10)
	case 2:
		return fmt.Sprintf("0%d", g.n(1000))
	case 3:
		return fmt.Sprintf("%d.%09d", g.n(1_000_000), g.n(1_000_000_000))
	case 4:
		return fmt.Sprintf(" %d ", g.n(100))
	case 5:
		return fmt.Sprintf("%d.%de%d", g.n(10), g.n(1000), g.n(40)-20)
	case 6:
		return fmt.Sprintf("-%d%d", g.Uint64(), g.Uint64())
	}
	return strconv.Itoa(g.n(2000) - 1000)
}

// decimalText is a decimal number that templates read.
func decimalText(s string) *big.Rat {
	s = strings.TrimSpace(s)
	if !regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`).MatchString(s) {
		return nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil
	}
	return r
}

// sum returns an expression, and its right value for a column with this text.
func (g generator) sum(depth int, column string) (string, oracle) {
	if depth == 0 || g.n(4) == 0 {
		if g.n(3) > 0 {
			r := decimalText(column)
			return ".a", oracle{value: r, certain: r != nil}
		}
		text := g.value()
		r := decimalText(text)
		return strconv.Quote(text), oracle{value: r, certain: r != nil}
	}
	return g.call(depth, column)
}

// call returns a call of a function, and its right value.
func (g generator) call(depth int, column string) (string, oracle) {
	a, x := g.sum(depth-1, column)
	b, y := g.sum(depth-1, column)
	a, b = "("+a+")", "("+b+")"
	switch f := pick(g, "add", "sub", "mul", "div", "mod", "max", "min", "addf", "subf", "mulf", "divf", "maxf", "minf", "floor", "ceil", "round", "int", "float"); f {
	case "floor", "ceil", "int", "float":
		return f + " " + a, unary(f, x)
	case "round":
		places := g.n(5) - 1
		return fmt.Sprintf("round %s %d", a, places), rounded(x, places)
	default:
		return f + " " + a + " " + b, binary(f, x, y)
	}
}

func unary(f string, x oracle) oracle {
	if x.value == nil {
		return oracle{}
	}
	switch f {
	case "int":
		return asInteger(x.value, x.certain)
	case "floor":
		return oracle{value: floor(x.value), certain: x.certain}
	case "ceil":
		return oracle{value: negated(floor(negated(x.value))), certain: x.certain}
	}
	return x
}

func negated(r *big.Rat) *big.Rat { return new(big.Rat).Neg(r) }

func floor(r *big.Rat) *big.Rat {
	q, _ := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	return new(big.Rat).SetInt(q)
}

// rounded rounds a half away from zero.
func rounded(x oracle, places int) oracle {
	if x.value == nil {
		return oracle{}
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(places, -places))), nil))
	if places < 0 {
		scale.Inv(scale)
	}
	shifted := new(big.Rat).Mul(new(big.Rat).Abs(x.value), scale)
	r := new(big.Rat).Quo(floor(shifted.Add(shifted, big.NewRat(1, 2))), scale)
	if x.value.Sign() < 0 {
		r.Neg(r)
	}
	return oracle{value: r, certain: x.certain}
}

// asInteger is the value of a function of 64 bit integers.
func asInteger(r *big.Rat, certain bool) oracle {
	if !r.IsInt() || !r.Num().IsInt64() {
		return oracle{}
	}
	return oracle{value: r, certain: certain}
}

func binary(f string, x, y oracle) oracle {
	if x.value == nil || y.value == nil {
		return oracle{}
	}
	fraction := strings.HasSuffix(f, "f")
	certain := x.certain && y.certain
	if !fraction {
		if x, y = asInteger(x.value, true), asInteger(y.value, true); x.value == nil || y.value == nil {
			return oracle{}
		}
	}
	r := calculate(strings.TrimSuffix(f, "f"), x.value, y.value, fraction)
	switch {
	case r == nil:
		return oracle{}
	case fraction && f == "divf":
		return nearest(r)
	case fraction:
		return oracle{value: r, certain: certain}
	}
	return asInteger(r, certain)
}

// nearest is the value of divf: the float64 that is nearest to the quotient.
func nearest(r *big.Rat) oracle {
	f, _ := r.Float64()
	shortest, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'f', -1, 64))
	if !ok {
		return oracle{}
	}
	return oracle{value: shortest}
}

func calculate(f string, x, y *big.Rat, fraction bool) *big.Rat {
	switch f {
	case "add":
		return new(big.Rat).Add(x, y)
	case "sub":
		return new(big.Rat).Sub(x, y)
	case "mul":
		return new(big.Rat).Mul(x, y)
	case "max":
		if x.Cmp(y) < 0 {
			return y
		}
		return x
	case "min":
		if x.Cmp(y) > 0 {
			return y
		}
		return x
	}
	switch {
	case y.Sign() == 0:
		return nil
	case fraction:
		return new(big.Rat).Quo(x, y)
	case f == "div":
		return new(big.Rat).SetInt(new(big.Int).Quo(x.Num(), y.Num()))
	}
	return new(big.Rat).SetInt(new(big.Int).Rem(x.Num(), y.Num()))
}

// comparison returns a template that compares two numbers, and its right result.
func (g generator) comparison(a, b string, x, y oracle) (string, oracle) {
	f := pick(g, "lt", "le", "gt", "ge")
	text := fmt.Sprintf("{{ if %s (floor (%s)) (%s) }}yes{{ else }}no{{ end }}", f, a, b)
	if x.value == nil || y.value == nil {
		return text, oracle{}
	}
	c := floor(x.value).Cmp(y.value)
	holds := map[string]bool{"lt": c < 0, "le": c <= 0, "gt": c > 0, "ge": c >= 0}[f]
	words := "no"
	if holds {
		words = "yes"
	}
	return text, oracle{value: x.value, words: words, certain: x.certain && y.certain}
}
