package funcs

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// printing returns the functions that write values as text. All of them write numbers in
// the same way, without an exponent, and refuse a missing value.
func printing() template.FuncMap {
	return template.FuncMap{
		"print":     func(vs ...any) (string, error) { return printed(vs, fmt.Sprint) },
		"println":   func(vs ...any) (string, error) { return printed(vs, fmt.Sprintln) },
		"html":      func(vs ...any) (string, error) { return printed(vs, template.HTMLEscaper) },
		"js":        func(vs ...any) (string, error) { return printed(vs, template.JSEscaper) },
		"urlquery":  func(vs ...any) (string, error) { return printed(vs, template.URLQueryEscaper) },
		"printf":    formatted,
		"toString":  text,
		"toStrings": texts,
		"join":      joined,
		"sortAlpha": sorted,
		"cat":       func(vs ...any) (string, error) { return spaced(vs, func(s string) string { return s }) },
		"quote":     func(vs ...any) (string, error) { return spaced(vs, strconv.Quote) },
		"squote":    func(vs ...any) (string, error) { return spaced(vs, func(s string) string { return "'" + s + "'" }) },
	}
}

// missing returns the error for a value that doesn't exist.
func missing() error {
	return &ValueError{What: "the value is missing: a key or an element doesn't exist, or is null (default, get and dig give another value)"}
}

// plain is a number that prints without an exponent, in all its digits.
type plain struct{ value any }

// Format implements fmt.Formatter.
func (p plain) Format(f fmt.State, verb rune) {
	switch verb {
	case 'v', 's', 'q':
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), numberText(p.value)) // a State takes all
	default:
		_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), numeric(p.value))
	}
}

// numeric returns a number as a type with all of fmt's verbs for numbers.
func numeric(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	d, err := toDecimal(n)
	if err != nil {
		return v
	}
	if d.IsInteger() {
		return d.BigInt()
	}
	return bigFloat(d.String())
}

// bigFloat returns a number with all its digits.
func bigFloat(digits string) *big.Float {
	const bits = 2048 // more than maxDigits
	f, _, err := big.ParseFloat(digits, 10, bits, big.ToNearestEven)
	if err != nil {
		return new(big.Float) // unreachable: the digits are a decimal's own
	}
	return f
}

// Printable returns a value that prints its numbers without an exponent, at all depths of
// lists and maps. A missing value is an error.
func Printable(v any) (any, error) {
	return leaves(v, func(v any) (any, error) {
		switch v := v.(type) {
		case nil:
			return nil, missing()
		case float32, float64, json.Number:
			return plain{v}, nil
		}
		return v, nil
	})
}

// leaves returns a copy of a value, with the results of change in the place of everything
// that is no list and no map.
func leaves(v any, change func(any) (any, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			if list[i], err = leaves(v[i], change); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for key := range v {
			if m[key], err = leaves(v[key], change); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return change(v)
}

// printed calls one of fmt's and text/template's functions for printable values.
func printed(vs []any, call func(...any) string) (string, error) {
	values := make([]any, len(vs))
	for i := range vs {
		var err error
		if values[i], err = Printable(vs[i]); err != nil {
			return "", err
		}
	}
	return call(values...), nil
}

// text writes one value.
func text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return printed([]any{v}, fmt.Sprint)
}

// texts returns the texts of a list's elements. A single value is a list of one.
func texts(list any) ([]string, error) {
	if s, ok := list.([]string); ok {
		return s, nil
	}
	r := reflect.ValueOf(list)
	if k := r.Kind(); k != reflect.Slice && k != reflect.Array {
		s, err := text(list)
		return []string{s}, err
	}
	all := make([]string, r.Len())
	for i := range all {
		var err error
		if all[i], err = text(r.Index(i).Interface()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func joined(separator string, list any) (string, error) {
	all, err := texts(list)
	return strings.Join(all, separator), err
}

func sorted(list any) ([]string, error) {
	all, err := texts(list)
	return slices.Sorted(slices.Values(all)), err
}

// spaced writes values with a space between them.
func spaced(vs []any, each func(string) string) (string, error) {
	all, err := texts(vs)
	for i := range all {
		all[i] = each(all[i])
	}
	return strings.Join(all, " "), err
}
