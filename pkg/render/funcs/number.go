package funcs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// A number is an integer of 64 bits, a float64, or a json.Number. A float64 stands for the
// shortest decimal that reads back as it. So 0.1 is exactly 0.1. A json.Number holds the
// digits that no float64 keeps. Functions read and return these three, so that no digit is
// lost on the way from a column to a manifest.

// maxDigits limits the places of a number before and after its point. A float64 needs
// no more than 324.
const maxDigits = 400

const (
	aNumber      = "a number"
	aWholeNumber = "a whole number"
)

// ParseDecimal reads a decimal number exactly. It accepts white space around it, a sign, a
// fraction and an exponent. Other notations, such as 0x10, 1_000, 3,5 and NaN, are errors.
func ParseDecimal(s string) (decimal.Decimal, error) {
	text := strings.TrimSpace(s)
	if !isDecimal(text) {
		return decimal.Decimal{}, notA(s, aNumber)
	}
	if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found {
		if n, err := strconv.Atoi(exponent); err != nil || n > maxDigits || n < -maxDigits {
			return decimal.Decimal{}, tooLarge(s)
		}
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return decimal.Decimal{}, notA(s, aNumber)
	}
	return bounds(d, s)
}

// isDecimal reports whether s has a sign, digits, a fraction and an exponent, in this order.
func isDecimal(s string) bool {
	s = unsigned(s)
	mantissa, exponent := s, "0"
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], unsigned(s[i+1:])
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return whole+fraction != "" && isDigits(whole) && isDigits(fraction) && exponent != "" && isDigits(exponent)
}

func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// bounds refuses a number with too many places. value is the text for the message.
func bounds(d decimal.Decimal, value any) (decimal.Decimal, error) {
	if d.Exponent() < -maxDigits || int(d.Exponent())+d.NumDigits() > maxDigits {
		return d, tooLarge(value)
	}
	return d, nil
}

func tooLarge(value any) error {
	return &ValueError{value: value, What: fmt.Sprintf("has more than %d places", maxDigits)}
}

// toDecimal reads a number, or a text that is one.
func toDecimal(v any) (decimal.Decimal, error) {
	switch v := v.(type) {
	case string:
		return ParseDecimal(v)
	case json.Number:
		return ParseDecimal(v.String())
	case float64:
		return fromFloat(v)
	case int:
		return decimal.NewFromInt(int64(v)), nil
	case int64:
		return decimal.NewFromInt(v), nil
	}
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return decimal.Decimal{}, missing()
	case r.CanInt():
		return decimal.NewFromInt(r.Int()), nil
	case r.CanUint():
		return decimal.NewFromBigInt(new(big.Int).SetUint64(r.Uint()), 0), nil
	case r.CanFloat():
		return fromFloat(r.Float())
	}
	return decimal.Decimal{}, notA(v, aNumber)
}

// fromFloat returns the shortest decimal that reads back as f.
func fromFloat(f float64) (decimal.Decimal, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return decimal.Decimal{}, notA(strconv.FormatFloat(f, 'g', -1, 64), aNumber)
	}
	return decimal.NewFromFloat(f), nil
}

// number returns a decimal as a float64, or as a json.Number if no float64 has its value.
func number(d decimal.Decimal) any {
	if f, _ := d.Float64(); !math.IsInf(f, 0) && decimal.NewFromFloat(f).Equal(d) {
		return f
	}
	return json.Number(d.String())
}

// whole returns a decimal as an int64. value is the argument for the message.
func wholeOf(d decimal.Decimal, value any) (int64, error) {
	switch {
	case !d.IsInteger():
		return 0, notA(written(value), aWholeNumber)
	case !d.BigInt().IsInt64():
		return 0, &ValueError{value: written(value), What: "does not fit in 64 bits"}
	}
	return d.IntPart(), nil
}

// written returns a number's text, so that messages can show it.
func written(v any) any {
	if isNumber(v) {
		return numberText(v)
	}
	return v
}

// toInt64 converts to an integer. It accepts white space around a text and a fraction of
// zero, as in DECIMAL columns. Any other value is an error, never zero.
func toInt64(v any) (int64, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case string:
		return ParseInt(v)
	}
	d, err := toDecimal(v)
	if err != nil {
		return 0, asWhole(v, err)
	}
	return wholeOf(d, v)
}

func toInt(v any) (int, error) {
	i, err := toInt64(v)
	return int(i), err
}

// ParseInt parses an integer by the rules of int.
func ParseInt(s string) (int64, error) {
	text := strings.TrimSpace(s)
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	d, err := ParseDecimal(s)
	if err != nil {
		return 0, asWhole(text, err)
	}
	return wholeOf(d, text)
}

// asWhole says that a whole number is needed, where v is no number at all.
func asWhole(v any, err error) error {
	var value *ValueError
	if errors.As(err, &value) && value.What == "is not "+aNumber {
		return notA(v, aWholeNumber)
	}
	return err
}

// toFloat converts to a number with a fraction. It keeps the digits of an integer of 64
// bits, and of a decimal that no float64 has.
func toFloat(v any) (any, error) {
	d, err := toDecimal(v)
	if err != nil {
		return nil, err
	}
	return number(d), nil
}

// AppendFloat writes the number that a text holds, by the rules of float. A number that a
// manifest can't keep is an error, because readers round it.
func AppendFloat(dst []byte, s string) ([]byte, error) {
	d, err := ParseDecimal(s)
	if err != nil {
		return dst, err
	}
	switch f := number(d).(type) {
	case float64:
		return scalar.AppendFloat(dst, f), nil
	default:
		if d.IsInteger() && d.BigInt().IsInt64() {
			return append(dst, d.BigInt().String()...), nil
		}
	}
	return dst, &ValueError{value: strings.TrimSpace(s), What: "has more digits than a number of a manifest keeps (round it, or leave it a text, without float)"}
}

// isNumber reports whether v is a number of a template, not a text.
func isNumber(v any) bool {
	if _, ok := v.(json.Number); ok {
		return true
	}
	r := reflect.ValueOf(v)
	return r.IsValid() && (r.CanInt() || r.CanUint() || r.CanFloat()) && !isStringer(v)
}

// isStringer reports whether a type, such as a duration, prints itself.
func isStringer(v any) bool {
	_, ok := v.(fmt.Stringer)
	return ok
}

// numberText writes a number without an exponent, in all its digits.
func numberText(v any) string {
	d, err := toDecimal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return d.String()
}

// toBool converts the words of activation columns, in any case.
func toBool(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		return ParseBool(v)
	}
	if i, err := toInt64(v); err == nil && (i == 0 || i == 1) {
		return i == 1, nil
	}
	return false, notA(v, aBoolean)
}

const aBoolean = "a boolean (true, false, yes, no, on, off, 1, 0)"

// ParseBool parses a boolean by the rules of bool.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "true", "t", "yes", "y", "on":
		return true, nil
	case "0", "false", "f", "no", "n", "off":
		return false, nil
	}
	return false, notA(s, aBoolean)
}
