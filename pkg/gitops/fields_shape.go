package gitops

import (
	"bytes"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"
)

// fieldsByShape has the changed fields of objects by the shape of their change. A changed form
// changes ten thousand objects in the same lines, and parsing each of them twice takes longer
// than the whole run.
type fieldsByShape struct {
	fields map[string][]FieldChange
	// others has which pairs of values are different scalars. Equal edits have equal pairs.
	others map[[2]string]bool
	// last is the last shape. Each shape replaces it, because most are known.
	last []byte
}

// maxOthers bounds what a run remembers of pairs, since columns make other pairs in each row.
const maxOthers = 1000

func newFieldsByShape() *fieldsByShape {
	return &fieldsByShape{fields: map[string][]FieldChange{}, others: map[[2]string]bool{}}
}

// of returns the changed fields of an object. Two objects of one resource with the same
// shape have the same changed fields, and the same causes if their nodes have the same state.
func (k *fieldsByShape) of(resource string, before, after []byte, causeOf causeOf) []FieldChange {
	if !k.shape(resource, before, after) {
		return changedFields(before, after, causeOf)
	}
	fields, seen := k.fields[string(k.last)]
	if !seen {
		fields = changedFields(before, after, causeOf)
		k.fields[string(k.last)] = fields
	}
	return fields
}

// shape keeps as the last shape the resource with the lines of a document without their
// values, and which of these differ from the document before. It returns false if more differs
// than values of single lines.
func (k *fieldsByShape) shape(resource string, before, after []byte) bool {
	b := append(append(k.last[:0], resource...), '\n')
	for len(before) > 0 && len(after) > 0 {
		var was, is []byte
		was, before, _ = bytes.Cut(before, []byte("\n"))
		is, after, _ = bytes.Cut(after, []byte("\n"))
		key, value := cutValue(is)
		keyBefore, valueBefore := cutValue(was)
		if !bytes.Equal(key, keyBefore) {
			return false
		}
		b = append(b, key...)
		switch {
		case !bytes.Equal(value, valueBefore) && !k.otherScalars(valueBefore, value):
			return false
		case !bytes.Equal(value, valueBefore):
			b = append(b, 1) // no document has this byte
		case len(value) > 0 && !plain(value):
			b = append(b, value...) // it can change what other lines mean
		}
		b = append(b, '\n')
	}
	k.last = b
	return len(before) == 0 && len(after) == 0
}

// cutValue cuts a line of YAML behind its indentation, dashes and key.
func cutValue(line []byte) (key, value []byte) {
	if i := bytes.Index(line, []byte(": ")); i >= 0 {
		return line[:i+2], line[i+2:]
	}
	if bytes.HasSuffix(line, []byte(":")) {
		return line, nil
	}
	rest := bytes.TrimLeft(line, " ")
	for bytes.HasPrefix(rest, []byte("- ")) {
		rest = bytes.TrimLeft(rest[2:], " ")
	}
	return line[:len(line)-len(rest)], rest
}

// otherScalars works like the function, and remembers its answers.
func (k *fieldsByShape) otherScalars(before, after []byte) bool {
	pair := [2]string{string(before), string(after)}
	other, known := k.others[pair]
	if !known {
		if len(k.others) == maxOthers {
			clear(k.others)
		}
		other = otherScalars(before, after)
		k.others[pair] = other
	}
	return other
}

// otherScalars reports whether two texts are different scalars in one line each.
func otherScalars(before, after []byte) bool {
	var a, b any
	for _, text := range [][]byte{before, after} {
		if len(text) == 0 || !plain(text) {
			return false
		}
	}
	if yaml.Unmarshal(before, &a) != nil || yaml.Unmarshal(after, &b) != nil {
		return false
	}
	return !reflect.DeepEqual(a, b) && scalar(a) && scalar(b)
}

// plain reports whether a text is one scalar, as far as its ends show.
func plain(text []byte) bool {
	switch {
	case bytes.Contains(text, []byte(" #")):
		return false
	case text[0] == '"' || text[0] == '\'':
		return len(text) > 1 && text[len(text)-1] == text[0]
	}
	return !strings.ContainsRune("{[&*!|>#%@`", rune(text[0]))
}

func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
