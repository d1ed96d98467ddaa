package funcs

import (
	"math"
	"math/big"
	"text/template"

	"github.com/shopspring/decimal"
)

// arithmetic returns functions that calculate exactly. sprig's functions turn text into 0,
// cut fractions, read 010 as octal, and overflow. These return an error instead.
func arithmetic() template.FuncMap {
	return template.FuncMap{
		"add":     func(vs ...any) (int64, error) { return integers(vs, (*big.Int).Add) },
		"add1":    func(v any) (int64, error) { return integers([]any{v, 1}, (*big.Int).Add) },
		"sub":     func(a, b any) (int64, error) { return integers([]any{a, b}, (*big.Int).Sub) },
		"mul":     func(a any, vs ...any) (int64, error) { return integers(prepended(a, vs), (*big.Int).Mul) },
		"div":     func(a, b any) (int64, error) { return divided(a, b, (*big.Int).Quo) },
		"mod":     func(a, b any) (int64, error) { return divided(a, b, (*big.Int).Rem) },
		"max":     func(a any, vs ...any) (int64, error) { return extreme(prepended(a, vs), 1) },
		"biggest": func(a any, vs ...any) (int64, error) { return extreme(prepended(a, vs), 1) },
		"min":     func(a any, vs ...any) (int64, error) { return extreme(prepended(a, vs), -1) },

		"addf":  func(vs ...any) (any, error) { return decimals(vs, decimal.Decimal.Add) },
		"add1f": func(v any) (any, error) { return decimals([]any{v, 1}, decimal.Decimal.Add) },
		"subf":  func(a any, vs ...any) (any, error) { return decimals(prepended(a, vs), decimal.Decimal.Sub) },
		"mulf":  func(a any, vs ...any) (any, error) { return decimals(prepended(a, vs), decimal.Decimal.Mul) },
		"divf":  func(a any, vs ...any) (any, error) { return quotient(prepended(a, vs)) },
		"maxf":  func(a any, vs ...any) (any, error) { return decimals(prepended(a, vs), larger) },
		"minf":  func(a any, vs ...any) (any, error) { return decimals(prepended(a, vs), smaller) },
		"floor": func(v any) (any, error) { return cut(v, decimal.Decimal.Floor) },
		"ceil":  func(v any) (any, error) { return cut(v, decimal.Decimal.Ceil) },
		"round": round,

		"toDecimal": fromOctal,
		"until":     until,
		"untilStep": untilStep,
		"seq":       seq,
	}
}

func prepended(a any, vs []any) []any { return append([]any{a}, vs...) }

// integers combines whole numbers. A result over 64 bits is an error.
func integers(vs []any, combine func(z, x, y *big.Int) *big.Int) (int64, error) {
	result := new(big.Int)
	for i, v := range vs {
		n, err := toInt64(v)
		if err != nil {
			return 0, wholeOnly(v, err)
		}
		if i == 0 {
			result.SetInt64(n)
			continue
		}
		if combine(result, result, big.NewInt(n)); !result.IsInt64() {
			return 0, &ValueError{What: "the result does not fit in 64 bits"}
		}
	}
	return result.Int64(), nil
}

// wholeOnly adds to the error for a number with a fraction the functions that take it.
func wholeOnly(v any, err error) error {
	if d, e := toDecimal(v); e == nil && !d.IsInteger() {
		return &ValueError{value: written(v), What: "is not " + aWholeNumber + " (addf, subf, mulf, divf, maxf and minf take fractions)"}
	}
	return err
}

func divided(a, b any, divide func(z, x, y *big.Int) *big.Int) (int64, error) {
	if n, err := toInt64(b); err == nil && n == 0 {
		return 0, divisionByZero()
	}
	return integers([]any{a, b}, divide)
}

func divisionByZero() error { return &ValueError{What: "division by zero"} }

func extreme(vs []any, sign int) (int64, error) {
	return integers(vs, func(z, x, y *big.Int) *big.Int {
		if y.Cmp(x) == sign {
			return z.Set(y)
		}
		return z.Set(x)
	})
}

// decimals combines numbers with fractions exactly.
func decimals(vs []any, combine func(a, b decimal.Decimal) decimal.Decimal) (any, error) {
	result := decimal.Zero
	for i, v := range vs {
		d, err := toDecimal(v)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			d = combine(result, d)
		}
		if result, err = bounds(d, nil); err != nil {
			return nil, &ValueError{What: "the result has too many places; round the numbers"}
		}
	}
	return number(result), nil
}

func larger(a, b decimal.Decimal) decimal.Decimal  { return decimal.Max(a, b) }
func smaller(a, b decimal.Decimal) decimal.Decimal { return decimal.Min(a, b) }

// cut removes the fraction of a number.
func cut(v any, to func(decimal.Decimal) decimal.Decimal) (any, error) {
	d, err := toDecimal(v)
	if err != nil {
		return nil, err
	}
	return number(to(d)), nil
}

// quotient divides the first number by the others. The result is the float64 that is
// nearest to the exact quotient, because most quotients have endless digits.
func quotient(vs []any) (any, error) {
	result := new(big.Rat)
	for i, v := range vs {
		d, err := toDecimal(v)
		if err != nil {
			return nil, err
		}
		switch r := d.Rat(); {
		case i == 0:
			result.Set(r)
		case r.Sign() == 0:
			return nil, divisionByZero()
		default:
			result.Quo(result, r)
		}
	}
	f, _ := result.Float64()
	if math.IsInf(f, 0) || f == 0 && result.Sign() != 0 {
		return nil, &ValueError{What: "the result is too large or too small for a number of 64 bits"}
	}
	return f, nil
}

// round rounds to a number of places. It rounds a half away from zero, or what is at least
// from.
func round(v any, places int, from ...any) (any, error) {
	d, err := toDecimal(v)
	if err != nil {
		return nil, err
	}
	if places > maxDigits || places < -maxDigits {
		return nil, tooLarge(places)
	}
	if len(from) == 0 {
		return number(d.Round(int32(places))), nil
	}
	threshold, err := toDecimal(from[0])
	if err != nil {
		return nil, err
	}
	shifted := d.Abs().Shift(int32(places))
	result := shifted.Floor()
	if shifted.Sub(result).GreaterThanOrEqual(threshold) {
		result = shifted.Ceil()
	}
	result = result.Shift(int32(-places))
	if d.IsNegative() {
		result = result.Neg()
	}
	return number(result), nil
}

// fromOctal reads octal digits, such as a file's mode.
func fromOctal(v any) (int64, error) {
	text := written(v)
	s, ok := text.(string)
	n, parsed := new(big.Int).SetString(s, 8)
	if !ok || !isDigits(s) || !parsed || !n.IsInt64() {
		return 0, notA(text, "an octal number, such as 755")
	}
	return n.Int64(), nil
}

func until(count int) []int {
	step := 1
	if count < 0 {
		step = -1
	}
	return counted(0, count, step)
}

func untilStep(start, stop, step int) ([]int, error) {
	if step == 0 {
		return nil, &ValueError{What: "a step of 0 never arrives"}
	}
	return counted(start, stop, step), nil
}

// counted counts from start until before stop. The meter has refused numbers that overflow.
func counted(start, stop, step int) []int {
	list := []int{}
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		list = append(list, i)
	}
	return list
}

// seq writes the numbers from first to last, as the program seq does. Without a step, it
// counts down if last is smaller.
func seq(params ...int) (string, error) {
	first, step := 1, 1
	var last int
	switch len(params) {
	case 1:
		last = params[0]
	case 2:
		first, last = params[0], params[1]
	case 3:
		first, step, last = params[0], params[1], params[2]
	default:
		return "", &ValueError{What: "seq takes LAST, or FIRST LAST, or FIRST STEP LAST"}
	}
	if len(params) < 3 && last < first {
		step = -1
	}
	if step == 0 {
		return "", &ValueError{What: "a step of 0 never arrives"}
	}
	end := last + 1
	if step < 0 {
		end = last - 1
	}
	return joined(" ", counted(first, end, step))
}
