package diff

import (
	"maps"
	"reflect"
	"slices"
)

// Op says whether a field is added, removed or changed.
type Op string

// The operations, with their names in JSON patches.
const (
	OpAdd     Op = "add"
	OpRemove  Op = "remove"
	OpReplace Op = "replace"
)

// Field is one field that would change.
type Field struct {
	Path Path
	Op   Op
	// Before and After are the values, nil for none. Those of Secrets are masked.
	Before, After any
	// Columns feed the field, or a part of it. Perhaps they aren't the cause.
	Columns []string
	Cause   Cause
}

// fieldsOf returns the fields in which two objects differ, in the order of their names. It compares
// lists by their entries. If the entries have no names, and the lists have other lengths or plain
// values, it compares them as a whole.
func fieldsOf(live, next map[string]any) []Field {
	w := walk{}
	w.maps(nil, live, next)
	return w.found
}

type walk struct{ found []Field }

func (w *walk) values(path Path, live, next any) {
	switch live := live.(type) {
	case map[string]any:
		if next, ok := next.(map[string]any); ok {
			w.maps(path, live, next)
			return
		}
	case []any:
		if next, ok := next.([]any); ok {
			w.lists(path, live, next)
			return
		}
	}
	if !same(live, next) {
		w.found = append(w.found, Field{Path: path, Op: OpReplace, Before: live, After: next})
	}
}

func (w *walk) maps(path Path, live, next map[string]any) {
	keys := slices.Collect(maps.Keys(live))
	for key := range next {
		if _, there := live[key]; !there {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		l, before := live[key]
		n, after := next[key]
		w.child(path.with(Element{Field: key}), l, n, before, after)
	}
}

// child compares a field that may be on one side only.
func (w *walk) child(path Path, live, next any, before, after bool) {
	switch {
	case before && after:
		w.values(path, live, next)
	case before:
		w.found = append(w.found, Field{Path: path, Op: OpRemove, Before: live})
	default:
		w.found = append(w.found, Field{Path: path, Op: OpAdd, After: next})
	}
}

func (w *walk) lists(path Path, live, next []any) {
	if same(live, next) {
		return
	}
	key := keyOf(live, next)
	switch {
	case key != "" && sameOrder(key, live, next):
		w.keyed(path, key, live, next)
	case key == "" && len(live) == len(next) && allMaps(live) && allMaps(next):
		for i := range live {
			w.values(path.with(Element{Entry: true, Index: i}), live[i], next[i])
		}
	default:
		w.found = append(w.found, Field{Path: path, Op: OpReplace, Before: live, After: next})
	}
}

func (w *walk) keyed(path Path, key string, live, next []any) {
	for _, item := range live {
		e := Element{Entry: true, Key: key, Value: valueOf(key, item)}
		other, after := e.in(next)
		w.child(path.with(e), item, other, true, after)
	}
	for _, item := range next {
		e := Element{Entry: true, Key: key, Value: valueOf(key, item)}
		if _, before := e.in(live); !before {
			w.child(path.with(e), nil, item, false, true)
		}
	}
}

// keyOf returns the field that identifies the entries of two lists, or "".
func keyOf(lists ...[]any) string {
	for _, key := range []string{"name", "mountPath", "containerPort", "port", "key", "uid", "type"} {
		if !slices.ContainsFunc(lists, func(list []any) bool { return !unique(key, list) }) {
			return key
		}
	}
	return ""
}

func unique(key string, list []any) bool {
	seen := map[any]bool{}
	for _, item := range list {
		switch v := valueOf(key, item).(type) {
		case string, int64, float64:
			if seen[v] {
				return false
			}
			seen[v] = true
		default:
			return false
		}
	}
	return true
}

func valueOf(key string, item any) any {
	m, _ := item.(map[string]any)
	return m[key]
}

// sameOrder reports whether the entries that both lists have are in one order.
func sameOrder(key string, a, b []any) bool {
	return slices.EqualFunc(common(key, a, b), common(key, b, a), same)
}

func common(key string, list, other []any) []any {
	var values []any
	for _, item := range list {
		e := Element{Entry: true, Key: key, Value: valueOf(key, item)}
		if _, there := e.in(other); there {
			values = append(values, e.Value)
		}
	}
	return values
}

func allMaps(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(map[string]any); return !ok })
}

// same compares values of JSON, in which 1 and 1.0 are one number.
func same(a, b any) bool {
	if x, ok := number(a); ok {
		y, both := number(b)
		return both && x == y && (isInt(a) != isInt(b) || a == b)
	}
	return reflect.DeepEqual(a, b)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func isInt(v any) bool {
	_, ok := v.(int64)
	return ok
}
