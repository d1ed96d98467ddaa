package funcs

import (
	"fmt"
	"reflect"
	"slices"
	"text/template"
)

// lists returns the functions of lists. sprig's panic for values that are no lists, and
// read indices as they read numbers.
func lists() template.FuncMap {
	fs := template.FuncMap{
		"append":  func(list, v any) ([]any, error) { l, err := elements(list); return append(l, v), err },
		"prepend": func(list, v any) ([]any, error) { l, err := elements(list); return append([]any{v}, l...), err },
		"first":   func(list any) (any, error) { return edge(list, func(l []any) any { return l[0] }) },
		"last":    func(list any) (any, error) { return edge(list, func(l []any) any { return l[len(l)-1] }) },
		"rest":    func(list any) ([]any, error) { return most(list, func(l []any) []any { return l[1:] }) },
		"initial": func(list any) ([]any, error) { return most(list, func(l []any) []any { return l[:len(l)-1] }) },
		"reverse": reversed,
		"compact": compacted,
		"chunk":   chunked,
		"slice":   sliced,
	}
	fs["push"] = fs["append"]
	for _, name := range []string{"append", "push", "prepend", "first", "last", "rest", "initial", "reverse", "compact", "chunk", "slice"} {
		fs["must"+string(name[0]-'a'+'A')+name[1:]] = fs[name]
	}
	fs["concat"] = concat
	return fs
}

// elements returns the elements of a list in a new list.
func elements(list any) ([]any, error) {
	r := reflect.ValueOf(list)
	switch {
	case !r.IsValid():
		return nil, missing()
	case !isList(r):
		return nil, notA(written(list), "a list (splitList makes one from a text, fromJson from JSON)")
	}
	all := make([]any, r.Len())
	for i := range all {
		all[i] = r.Index(i).Interface()
	}
	return all, nil
}

// edge returns one element, or a missing value for an empty list.
func edge(list any, of func([]any) any) (any, error) {
	all, err := elements(list)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return of(all), nil
}

func most(list any, of func([]any) []any) ([]any, error) {
	all, err := elements(list)
	if err != nil || len(all) == 0 {
		return all, err
	}
	return of(all), nil
}

func reversed(list any) ([]any, error) {
	all, err := elements(list)
	slices.Reverse(all)
	return all, err
}

// compacted removes empty elements. For numbers and booleans, sprig defines 0 and false as
// empty.
func compacted(list any) ([]any, error) {
	all, err := elements(list)
	if err != nil {
		return nil, err
	}
	return filtered(all, func(_ []any, e any) (bool, error) {
		empty, err := isEmpty(e)
		return err == nil && !empty, nil
	})
}

// chunked splits a list into lists of size elements.
func chunked(size int, list any) ([][]any, error) {
	all, err := elements(list)
	if err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, &ValueError{What: fmt.Sprintf("%d is no size of a list's parts", size)}
	}
	return slices.Collect(slices.Chunk(all, size)), nil
}

// sliced returns the elements from an index until before another one.
func sliced(list any, indices ...any) (any, error) {
	r := reflect.ValueOf(list)
	if _, err := elements(list); err != nil {
		return nil, err
	}
	bounds := []int{0, r.Len()}
	if len(indices) > len(bounds) {
		return nil, &ValueError{What: "slice takes a list and at most 2 indices"}
	}
	for i, index := range indices {
		n, err := toInt(index)
		if err != nil {
			return nil, err
		}
		bounds[i] = n
	}
	if bounds[0] < 0 || bounds[0] > bounds[1] || bounds[1] > r.Len() {
		return nil, &ValueError{What: fmt.Sprintf("the list has %d elements, and no part from %d to %d", r.Len(), bounds[0], bounds[1])}
	}
	return r.Slice(bounds[0], bounds[1]).Interface(), nil
}

func concat(lists ...any) ([]any, error) {
	all := []any{}
	for _, list := range lists {
		l, err := elements(list)
		if err != nil {
			return nil, err
		}
		all = append(all, l...)
	}
	return all, nil
}
