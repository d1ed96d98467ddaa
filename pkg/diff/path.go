package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Element is one step of a Path: a field of a map, or an entry of a list, by the value of one of its
// fields or by its place.
type Element struct {
	Field string
	// Key and Value name an entry of a list. Key is the field that identifies entries, such as
	// "name".
	Key   string
	Value any
	// Entry is set for an entry of a list, by Index if Key is "".
	Entry bool
	Index int
}

// Path leads to a field of an object.
type Path []Element

// String returns the path as Kubernetes writes it: .spec.containers[name="app"].image. Fields that
// are no plain words are in brackets.
func (p Path) String() string {
	if len(p) == 0 {
		return "."
	}
	var b strings.Builder
	for _, e := range p {
		switch {
		case e.Entry && e.Key != "":
			value := fmt.Sprint(e.Value)
			if s, ok := e.Value.(string); ok {
				value = strconv.Quote(s)
			}
			b.WriteString("[" + e.Key + "=" + value + "]")
		case e.Entry:
			b.WriteString("[" + strconv.Itoa(e.Index) + "]")
		case plain(e.Field):
			b.WriteString("." + e.Field)
		default:
			b.WriteString("[" + strconv.Quote(e.Field) + "]")
		}
	}
	return b.String()
}

func plain(field string) bool {
	for _, r := range field {
		word := r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !word {
			return false
		}
	}
	return field != ""
}

// with returns the path with one more element. The path itself doesn't change.
func (p Path) with(e Element) Path { return append(p[:len(p):len(p)], e) }

// at returns the part of a value to which a path leads, and whether it exists.
func at(v any, path Path) (any, bool) {
	for _, e := range path {
		var ok bool
		if v, ok = e.in(v); !ok {
			return nil, false
		}
	}
	return v, true
}

// in returns the part to which an element leads.
func (e Element) in(v any) (any, bool) {
	if !e.Entry {
		m, _ := v.(map[string]any)
		child, ok := m[e.Field]
		return child, ok
	}
	list, _ := v.([]any)
	if e.Key == "" {
		if e.Index >= len(list) {
			return nil, false
		}
		return list[e.Index], true
	}
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && same(m[e.Key], e.Value) {
			return item, true
		}
	}
	return nil, false
}
