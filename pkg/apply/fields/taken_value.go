package fields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// HasTaken reports whether another object has the values that only one object can have. A
// server's message names the manifest's values, and the object must have each of them in a
// field of the same name.
func HasTaken(manifest, live map[string]any, message string) bool {
	var has, names []string
	leaves(live, func(field string) { has = append(has, field) })
	leaves(manifest, func(field string) {
		if _, value, _ := strings.Cut(field, "="); mentions(message, value) {
			names = append(names, field)
		}
	})
	return len(names) > 0 && !slices.ContainsFunc(names, func(field string) bool { return !slices.Contains(has, field) })
}

// leaves visits the values of an object's content as NAME=VALUE, without metadata and
// status. Items of a list have the name of the list.
func leaves(content map[string]any, visit func(field string)) {
	for name, v := range content {
		switch name {
		case "apiVersion", "kind", "metadata", "status":
		default:
			leavesOf(name, v, visit)
		}
	}
}

func leavesOf(name string, v any, visit func(field string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			leavesOf(name, child, visit)
		}
	case []any:
		for _, child := range v {
			leavesOf(name, child, visit)
		}
	case string:
		if v != "" {
			visit(name + "=" + v)
		}
	case int64, float64, json.Number:
		visit(name + "=" + fmt.Sprint(v))
	}
}

// mentions reports whether a message has a value as a word of its own.
func mentions(message, value string) bool {
	for at := 0; ; {
		i := strings.Index(message[at:], value)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(value)
		if (begin == 0 || !inWord(message[begin-1])) && (end == len(message) || !inWord(message[end])) {
			return true
		}
		at = end
	}
}

// inWord reports whether a byte continues a number, a name, an address or a path.
func inWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._/", c) >= 0
}
