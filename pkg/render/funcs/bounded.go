package funcs

import (
	"reflect"
	"text/template"
)

// bounded returns versions of functions that refuse to build maps that contain themselves,
// because these can't be printed.
func bounded(sprigs template.FuncMap) template.FuncMap {
	return template.FuncMap{
		"set": func(d map[string]any, key string, v any) (map[string]any, error) {
			if holds(v, d, 0) {
				return nil, &ValueError{What: "set would make the map hold itself"}
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

// merging returns one of sprig's merge functions, but with errors.
func merging(f any) any {
	merge, _ := f.(func(map[string]any, ...map[string]any) (any, error))
	return func(d map[string]any, from ...map[string]any) (any, error) {
		for _, m := range from {
			if holds(m, d, 0) {
				return nil, &ValueError{What: "merge would make the map hold itself"}
			}
		}
		return merge(d, from...)
	}
}

// holds reports whether v is map d or contains it. It also returns true for a depth that
// can't be printed.
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
