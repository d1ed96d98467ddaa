package document

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Kind is the kind of a Value.
type Kind uint8

// The kinds of values that JSON has, numbers split in two as Kubernetes does.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// Value is a node of a manifest: what the YAML says under the rules that
// kubectl applies (YAML 1.1 booleans, aliases and merge keys resolved), with
// the place it stands at. Treat it as immutable.
type Value struct {
	Kind   Kind
	Pos    lynq.Pos
	Bool   bool
	Int    int64
	Float  float64
	Str    string
	Items  []*Value // List
	Fields []Field  // Map, in file order, keys distinct
}

// Field is one key of a Map.
type Field struct {
	Key   string
	Pos   lynq.Pos
	Value *Value
}

// Field gets the value at a key of a Map, nil where it has none.
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

// Literal is the text of a string without template actions, else "".
func (v *Value) Literal() string {
	if v == nil || v.Kind != String || IsTemplate(v.Str) {
		return ""
	}
	return v.Str
}

// FieldPos tells where a field's value stands, or the mapping where it is absent.
func FieldPos(v *Value, field string) lynq.Pos {
	if f := v.Field(field); f != nil {
		return f.Pos
	}
	return v.Pos
}

// Plain gets the value as encoding/json would have it, but for int64.
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

// Describe names the kind of a value for a message. It never shows the value.
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

// IsTemplate tells whether a string has template actions.
func IsTemplate(s string) bool { return strings.Contains(s, "{{") }
