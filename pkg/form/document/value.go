package document

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Kind is the kind of a Value.
type Kind uint8

// These are the kinds of JSON. Like Kubernetes, they have two kinds of numbers.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// Value is a node of a manifest as kubectl reads it, with its place. YAML 1.1 booleans,
// aliases and merge keys are resolved. Callers must not change it.
type Value struct {
	Kind   Kind
	Pos    lynq.Pos
	Bool   bool
	Int    int64
	Float  float64
	Str    string
	Items  []*Value // of a List
	Fields []Field  // of a Map, in file order, with distinct keys
}

// Field is one key of a Map.
type Field struct {
	Key   string
	Pos   lynq.Pos
	Value *Value
}

// Field returns the value at a key of a Map, or nil.
func (v *Value) Field(key string) *Value {
	if v == nil {
		return nil
	}
	for _, f := range v.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// Literal returns the text of a string without template actions, or "".
func (v *Value) Literal() string {
	if v == nil || v.Kind != String || IsTemplate(v.Str) {
		return ""
	}
	return v.Str
}

// FieldPos returns the place of a field's value, or of the mapping if the field is absent.
func FieldPos(v *Value, field string) lynq.Pos {
	if f := v.Field(field); f != nil {
		return f.Pos
	}
	return v.Pos
}

// Plain returns the value in the types of encoding/json, except that integers are int64.
func (v *Value) Plain() any {
	switch v.Kind {
	case Bool:
		return v.Bool
	case Int:
		return v.Int
	case Float:
		return v.Float
	case String:
		return v.Str
	case List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = item.Plain()
		}
		return list
	case Map:
		return v.PlainMap()
	}
	return nil
}

// PlainMap is Plain for a Map.
func (v *Value) PlainMap() map[string]any {
	m := make(map[string]any, len(v.Fields))
	for _, f := range v.Fields {
		m[f.Key] = f.Value.Plain()
	}
	return m
}

// Describe names the kind of a value for a message, and never the value itself.
func (v *Value) Describe() string {
	switch v.Kind {
	case Bool:
		return "a boolean"
	case Int:
		return "a number"
	case Float:
		return "a decimal number"
	case String:
		return "a string"
	case List:
		return "a list"
	case Map:
		return "a mapping"
	}
	return "null"
}

// IsTemplate reports whether a string has template actions.
func IsTemplate(s string) bool { return strings.Contains(s, "{{") }
