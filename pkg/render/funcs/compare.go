package funcs

import (
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"
)

// comparisons returns the functions that compare values. Numbers compare by their values,
// whatever their types. Texts that are numbers compare in order as numbers.
func comparisons() template.FuncMap {
	return template.FuncMap{
		"eq": equalsAny,
		"ne": func(a, b any) (bool, error) { same, err := equals(a, b); return !same, err },
		"lt": func(a, b any) (bool, error) { return ordered(a, b, func(c int) bool { return c < 0 }) },
		"le": func(a, b any) (bool, error) { return ordered(a, b, func(c int) bool { return c <= 0 }) },
		"gt": func(a, b any) (bool, error) { return ordered(a, b, func(c int) bool { return c > 0 }) },
		"ge": func(a, b any) (bool, error) { return ordered(a, b, func(c int) bool { return c >= 0 }) },

		"deepEqual":   deepEqual,
		"has":         has,
		"mustHas":     has,
		"uniq":        uniq,
		"mustUniq":    uniq,
		"without":     without,
		"mustWithout": without,
	}
}

// incomparable returns the error for values of different types.
func incomparable(a, b any) error {
	return &ValueError{What: "a " + typeName(a) + " can't be compared with a " + typeName(b) + " (int, float and bool convert a text)"}
}

// typeName names the type of a value for messages.
func typeName(v any) string {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return "missing value"
	case isNumber(v):
		return "number"
	case r.Kind() == reflect.String:
		return "text"
	case r.Kind() == reflect.Bool:
		return "boolean"
	case r.Kind() == reflect.Slice || r.Kind() == reflect.Array:
		return "list"
	case r.Kind() == reflect.Map:
		return "map"
	}
	return "value of type " + reflect.TypeOf(v).String()
}

// equalsAny reports whether the first argument equals one of the others.
func equalsAny(a any, others ...any) (bool, error) {
	if len(others) == 0 {
		return false, &ValueError{What: "eq takes at least 2 arguments"}
	}
	for _, b := range others {
		if same, err := equals(a, b); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// equals compares two scalars. Nothing equals a missing value but another one.
func equals(a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	if isNumber(a) && isNumber(b) {
		return deepEqual(a, b)
	}
	ta, tb := reflect.TypeOf(a), reflect.TypeOf(b)
	switch {
	case ta.Kind() == reflect.String && tb.Kind() == reflect.String && !isNumber(a) && !isNumber(b):
		return reflect.ValueOf(a).String() == reflect.ValueOf(b).String(), nil
	case ta != tb, !ta.Comparable():
		return false, incomparable(a, b)
	}
	return a == b, nil
}

// ordered compares two numbers, or two texts. A text next to a number is read as one. Of
// two texts, both are numbers, or none is: "9" and "x" have no order that a row can mean.
func ordered(a, b any, holds func(int) bool) (bool, error) {
	if ta, ok := a.(time.Time); ok {
		if tb, ok := b.(time.Time); ok {
			return holds(ta.Compare(tb)), nil
		}
	}
	sa, textA := a.(string)
	sb, textB := b.(string)
	switch {
	case !textA && !isNumber(a) || !textB && !isNumber(b):
		return false, incomparable(a, b)
	case textA && textB:
		if !isDecimal(strings.TrimSpace(sa)) && !isDecimal(strings.TrimSpace(sb)) {
			return holds(strings.Compare(sa, sb)), nil
		}
	}
	da, err := toDecimal(a)
	if err != nil {
		return false, err
	}
	db, err := toDecimal(b)
	if err != nil {
		return false, err
	}
	return holds(da.Cmp(db)), nil
}

// deepEqual compares values at all depths of lists and maps. A text that is written like
// the number next to it is an error, because a column's values are texts.
func deepEqual(a, b any) (bool, error) {
	switch {
	case isNumber(a) && isNumber(b):
		da, err := toDecimal(a)
		if err != nil {
			return false, err
		}
		db, err := toDecimal(b)
		return da.Equal(db), err
	case isNumber(a) != isNumber(b):
		return false, lookalike(a, b)
	}
	ra, rb := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case isList(ra) && isList(rb):
		return equalLists(ra, rb)
	case ra.Kind() == reflect.Map && rb.Kind() == reflect.Map:
		return equalMaps(ra, rb)
	}
	return reflect.DeepEqual(a, b), nil
}

// lookalike refuses a text next to the number that it holds.
func lookalike(a, b any) error {
	if s, ok := b.(string); ok {
		a, b = s, a
	}
	s, ok := a.(string)
	if !ok {
		return nil
	}
	d, err := ParseDecimal(s)
	if err != nil {
		return nil //nolint:nilerr // no number, so it can't look like one
	}
	if n, err := toDecimal(b); err == nil && n.Equal(d) {
		return &ValueError{value: s, What: "is a text, and it is compared with a number (int and float convert it)"}
	}
	return nil
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

func equalLists(a, b reflect.Value) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	for i := range a.Len() {
		if same, err := deepEqual(a.Index(i).Interface(), b.Index(i).Interface()); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equalMaps(a, b reflect.Value) (bool, error) {
	if a.Len() != b.Len() || a.Type().Key() != b.Type().Key() {
		return false, nil
	}
	keys := a.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	for _, key := range keys {
		other := b.MapIndex(key)
		if !other.IsValid() {
			return false, nil
		}
		if same, err := deepEqual(a.MapIndex(key).Interface(), other.Interface()); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// has reports whether a list has an element.
func has(element, list any) (bool, error) {
	if list == nil {
		return false, nil
	}
	all, err := elements(list)
	if err != nil {
		return false, err
	}
	return contains(all, element)
}

func contains(list []any, element any) (bool, error) {
	for _, e := range list {
		if same, err := deepEqual(e, element); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// uniq removes all but the first of equal elements.
func uniq(list any) ([]any, error) {
	all, err := elements(list)
	if err != nil {
		return nil, err
	}
	return filtered(all, func(kept []any, e any) (bool, error) {
		same, err := contains(kept, e)
		return !same, err
	})
}

// without removes elements from a list.
func without(list any, omitted ...any) ([]any, error) {
	all, err := elements(list)
	if err != nil {
		return nil, err
	}
	return filtered(all, func(_ []any, e any) (bool, error) {
		same, err := contains(omitted, e)
		return !same, err
	})
}

func filtered(list []any, keep func(kept []any, e any) (bool, error)) ([]any, error) {
	kept := []any{}
	for _, e := range list {
		ok, err := keep(kept, e)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, e)
		}
	}
	return kept, nil
}
