package funcs

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"text/template"
)

// dictionaries returns the functions of maps. Some refuse to build maps that contain
// themselves, because these can't be printed.
func dictionaries() template.FuncMap {
	return template.FuncMap{
		"dict":   dict,
		"dig":    dig,
		"keys":   sortedKeys,
		"values": sortedValues,
		"set": func(d map[string]any, key string, v any) (map[string]any, error) {
			switch {
			case d == nil:
				return nil, missing()
			case holds(v, d, 0):
				return nil, &ValueError{What: "set would make the map hold itself"}
			}
			d[key] = v
			return d, nil
		},
		"merge":              merging(false),
		"mustMerge":          merging(false),
		"mergeOverwrite":     merging(true),
		"mustMergeOverwrite": merging(true),
		"urlParse":           urlParse,
		"urlJoin":            urlJoin,
	}
}

// dict makes a map of keys and values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, &ValueError{What: fmt.Sprintf("dict takes keys and values in turn, and the last of its %d arguments has no value", len(pairs))}
	}
	d := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		key, err := text(pairs[i])
		if err != nil {
			return nil, err
		}
		d[key] = pairs[i+1]
	}
	return d, nil
}

// dig follows keys into nested maps. If one of them doesn't exist, it returns the argument
// before the map.
func dig(args ...any) (any, error) {
	const least = 3
	if len(args) < least {
		return nil, &ValueError{What: "dig takes keys, another value, and a map"}
	}
	keys, fallback, value := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
	for _, k := range keys {
		key, ok := k.(string)
		if !ok {
			return nil, notA(written(k), "a key")
		}
		m, ok := value.(map[string]any)
		if !ok {
			return nil, &ValueError{What: "a " + typeName(value) + " has no key " + key}
		}
		if value, ok = m[key]; !ok {
			return fallback, nil
		}
	}
	return value, nil
}

func sortedKeys(dicts ...map[string]any) []string {
	ks := []string{}
	for _, d := range dicts {
		ks = append(ks, slices.Sorted(maps.Keys(d))...)
	}
	return ks
}

func sortedValues(dict map[string]any) []any {
	vs := make([]any, 0, len(dict))
	for _, k := range slices.Sorted(maps.Keys(dict)) {
		vs = append(vs, dict[k])
	}
	return vs
}

// merging returns a function that adds the keys of maps to the first one. Nested maps are
// merged, too. sprig's functions take 0, false and "" for missing, against their own
// documentation.
func merging(overwrite bool) func(map[string]any, ...map[string]any) (any, error) {
	return func(d map[string]any, from ...map[string]any) (any, error) {
		if d == nil {
			return nil, missing()
		}
		for _, m := range from {
			if holds(m, d, 0) {
				return nil, &ValueError{What: "merge would make the map hold itself"}
			}
			mergeInto(d, m, overwrite)
		}
		return d, nil
	}
}

func mergeInto(d, from map[string]any, overwrite bool) {
	for key, v := range from {
		have, exists := d[key]
		a, mapA := have.(map[string]any)
		b, mapB := v.(map[string]any)
		switch {
		case !exists && mapB:
			d[key] = maps.Clone(b) // so that a later merge doesn't change from
		case mapA && mapB:
			mergeInto(a, b, overwrite)
		case !exists || overwrite:
			d[key] = v
		}
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

// urlParse returns the parts of a URL.
func urlParse(s string) (map[string]any, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, notA(s, "a URL")
	}
	user := ""
	if u.User != nil {
		user = u.User.String()
	}
	return map[string]any{
		"scheme": u.Scheme, "host": u.Host, "hostname": u.Hostname(), "path": u.Path, "query": u.RawQuery,
		"opaque": u.Opaque, "fragment": u.Fragment, "userinfo": user,
	}, nil
}

// urlJoin makes a URL of its parts.
func urlJoin(d map[string]any) (string, error) {
	part := map[string]string{}
	for _, key := range []string{"scheme", "host", "path", "query", "opaque", "fragment", "userinfo"} {
		switch v := d[key].(type) {
		case nil:
		case string:
			part[key] = v
		default:
			return "", &ValueError{What: "the " + key + " of a URL is a text, and no " + typeName(v)}
		}
	}
	u := url.URL{
		Scheme: part["scheme"], Host: part["host"], Path: part["path"], RawQuery: part["query"],
		Opaque: part["opaque"], Fragment: part["fragment"],
	}
	if info := part["userinfo"]; info != "" {
		with, err := url.Parse("proto://" + info + "@host")
		if err != nil {
			return "", &ValueError{What: "the userinfo is not valid in a URL"}
		}
		u.User = with.User
	}
	return u.String(), nil
}
