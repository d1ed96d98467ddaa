package funcs

import (
	"reflect"
	"text/template"
)

// conditions returns the functions that take a value for true or false.
func conditions() template.FuncMap {
	return template.FuncMap{
		"not":      func(v any) (bool, error) { t, err := truth(v); return !t, err },
		"ternary":  ternary,
		"all":      func(vs ...any) (bool, error) { return holdsFor(vs, false) },
		"any":      func(vs ...any) (bool, error) { return holdsFor(vs, true) },
		"default":  defaulted,
		"coalesce": coalesce,
	}
}

// Condition returns its argument. It refuses a text that is a word for false or true,
// because a condition takes every text but "" for true. So a column with 0 or false would
// turn a feature on.
func Condition(v any) (any, error) {
	if s, ok := v.(string); ok {
		if _, err := ParseBool(s); err == nil {
			return nil, &ValueError{value: v, What: `is a text, and a condition takes every text but "" for true (for a column that says yes or no: (.x | bool); for whether it has a text: (ne .x ""))`}
		}
	}
	return v, nil
}

// truth reports whether a condition takes v for true.
func truth(v any) (bool, error) {
	if _, err := Condition(v); err != nil {
		return false, err
	}
	t, ok := template.IsTrue(v)
	if !ok {
		return false, notA(v, "a condition")
	}
	return t, nil
}

func ternary(yes, no, condition any) (any, error) {
	if s, ok := condition.(string); ok {
		if _, err := Condition(s); err != nil {
			return nil, err
		}
		return nil, &ValueError{value: s, What: `is a text, and ternary takes a boolean (for a column that says yes or no: (.x | bool); for whether it has a text: (ne .x ""))`}
	}
	b, ok := condition.(bool)
	switch {
	case !ok:
		return nil, notA(written(condition), "a boolean")
	case b:
		return yes, nil
	}
	return no, nil
}

// holdsFor reports whether some value is true, or whether all of them are.
func holdsFor(vs []any, some bool) (bool, error) {
	result := !some
	for _, v := range vs {
		t, err := truth(v)
		if err != nil {
			return false, err
		}
		if t == some {
			result = some
		}
	}
	return result, nil
}

// defaulted returns given, or fallback if given is missing or empty. sprig takes 0 and
// false for empty, too. These are values that rows say, so they are an error here.
func defaulted(fallback any, given ...any) (any, error) {
	if len(given) == 0 {
		return fallback, nil
	}
	return coalesce(given[0], fallback)
}

// coalesce returns the first value that isn't empty.
func coalesce(vs ...any) (any, error) {
	for i, v := range vs {
		empty, err := isEmpty(v)
		if err != nil && i < len(vs)-1 {
			return nil, err
		}
		if !empty {
			return v, nil
		}
	}
	if len(vs) > 0 {
		return vs[len(vs)-1], nil
	}
	return nil, nil //nolint:nilnil // a missing value, as for any other function
}

// isEmpty reports whether a value is missing, or an empty text, list or map. 0 and false
// are an error, because they may be a value or a missing one.
func isEmpty(v any) (bool, error) {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true, nil
	case reflect.String, reflect.Slice, reflect.Map, reflect.Array:
		return r.Len() == 0, nil
	case reflect.Bool:
		if !r.Bool() {
			return false, &ValueError{What: "false is a value, and no missing one (dig and hasKey tell them apart)"}
		}
	default:
		if d, err := toDecimal(v); isNumber(v) && err == nil && d.IsZero() {
			return false, &ValueError{What: "0 is a number, and no missing one (for a column: .x | default \"1\" | int; for a map: dig or hasKey)"}
		}
	}
	return false, nil
}
