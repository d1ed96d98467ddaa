package render

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

// What a row holds must not be able to eat the machine: functions that make
// much of a number refuse more than any manifest needs, and maps cannot be made
// to hold themselves, which no one could print.

// maxElements is how many elements a list may be made with.
const maxElements = 100_000

func bounded(sprigs template.FuncMap) template.FuncMap {
	until, _ := sprigs["untilStep"].(func(int, int, int) []int)
	seq, _ := sprigs["seq"].(func(...int) string)
	return template.FuncMap{
		"repeat":  repeat,
		"indent":  indented,
		"nindent": func(n int, s string) (string, error) { s, err := indented(n, s); return "\n" + s, err },
		"until": func(n int) ([]int, error) {
			step := 1
			if n < 0 {
				step = -1
			}
			return counted(until, 0, n, step)
		},
		"untilStep": func(start, stop, step int) ([]int, error) { return counted(until, start, stop, step) },
		"seq":       func(args ...int) (string, error) { return sequence(seq, args) },
		"set": func(d map[string]any, key string, v any) (map[string]any, error) {
			if holds(v, d, 0) {
				return nil, &valueError{what: "set would make the map hold itself"}
			}
			d[key] = v
			return d, nil
		},
		"merge":              merging(sprigs["mustMerge"]),
		"mustMerge":          merging(sprigs["mustMerge"]),
		"mergeOverwrite":     merging(sprigs["mustMergeOverwrite"]),
		"mustMergeOverwrite": merging(sprigs["mustMergeOverwrite"]),
	}
}

func repeat(n int, s string) (string, error) {
	if n < 0 || n > 0 && len(s) > maxResult/n {
		return "", tooMany("repeat", n)
	}
	return strings.Repeat(s, n), nil
}

func indented(n int, s string) (string, error) {
	const most = 1000
	if n < 0 || n > most {
		return "", tooMany("indent", n)
	}
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

func counted(until func(int, int, int) []int, start, stop, step int) ([]int, error) {
	if step != 0 && (stop-start)/step > maxElements {
		return nil, tooMany("until", stop)
	}
	return until(start, stop, step), nil
}

// sequence is sprig's seq: last; first, last; or first, step, last.
func sequence(seq func(...int) string, args []int) (string, error) {
	for _, n := range args {
		if n > maxElements || n < -maxElements {
			return "", tooMany("seq", n)
		}
	}
	return seq(args...), nil
}

func tooMany(function string, n int) error {
	return &valueError{what: fmt.Sprintf("%s %d is more than any manifest needs, or less than nothing", function, n)}
}

// merging is one of sprig's merge functions, but that an error is one.
func merging(f any) any {
	merge, _ := f.(func(map[string]any, ...map[string]any) (any, error))
	return func(d map[string]any, from ...map[string]any) (any, error) {
		for _, m := range from {
			if holds(m, d, 0) {
				return nil, &valueError{what: "merge would make the map hold itself"}
			}
		}
		return merge(d, from...)
	}
}

// holds tells whether map d is v, or somewhere in it. What is nested deeper
// than anything printable counts as held.
func holds(v any, d map[string]any, depth int) bool {
	const deepest = 100
	if depth > deepest {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		if sameMap(v, d) {
			return true
		}
		for _, e := range v {
			if holds(e, d, depth+1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if holds(e, d, depth+1) {
				return true
			}
		}
	}
	return false
}

func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
