package manifest

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// CheckMetadata refuses fields that would undo the preconditions of a run, even with the
// value null. If a body has a key twice, the last one counts. Forms with these fields fail
// to load already.
func CheckMetadata(metadata map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if reserved(key) {
			return reservedError(key)
		}
	}
	return nil
}

// Check works like CheckMetadata. It also refuses a body without metadata.
func (b Body) Check() error {
	if !bytes.HasPrefix(b, []byte(Head)) || bytes.HasPrefix(b, []byte(Head+"}")) {
		return ErrNoMetadata
	}
	for m := range b.metadata() {
		if reserved(string(b.key(m))) {
			return reservedError(string(b.key(m)))
		}
	}
	return nil
}

func reserved(key string) bool {
	switch key {
	case "ownerReferences", "uid", "resourceVersion", "managedFields", "generation", "creationTimestamp", "deletionTimestamp", "selfLink":
		return true
	}
	return false
}

func reservedError(key string) error {
	return fmt.Errorf("a form cannot set metadata.%s (remove it)", key)
}

// HasLabel reports whether the body has a label, whatever its value.
func (b Body) HasLabel(key string) bool {
	for m := range b.metadata() {
		if string(b.key(m)) != "labels" {
			continue
		}
		for label := range b.members(m.value) {
			if string(b.key(label)) == key {
				return true
			}
		}
	}
	return false
}

// Labelled returns the body with a label at its place in the order of keys. It replaces a
// label with the same key. Key and value need no escapes.
func (b Body) Labelled(key, value string) Body {
	one := `"` + key + `":"` + value + `"`
	last := member{}
	for m := range b.metadata() {
		switch name := b.key(m); {
		case string(name) == "labels" && b[m.value] != '{':
			return b.replaced(m.value, m.end, "{"+one+"}")
		case string(name) == "labels":
			return b.inserted(m.value, key, one)
		case string(name) > "labels":
			return b.replaced(m.start, m.start, `"labels":{`+one+"},")
		}
		last = m
	}
	return b.replaced(last.end, last.end, `,"labels":{`+one+"}")
}

// inserted returns the body with a member in the object that begins at open.
func (b Body) inserted(open int, key, one string) Body {
	last := member{}
	for m := range b.members(open) {
		switch name := b.key(m); {
		case string(name) == key:
			return b.replaced(m.start, m.end, one)
		case string(name) > key:
			return b.replaced(m.start, m.start, one+",")
		}
		last = m
	}
	if last.end == 0 {
		return b.replaced(open+1, open+1, one)
	}
	return b.replaced(last.end, last.end, ","+one)
}

// replaced returns a new body with other text in a place.
func (b Body) replaced(start, end int, text string) Body {
	out := make(Body, 0, len(b)-(end-start)+len(text))
	return append(append(append(out, b[:start]...), text...), b[end:]...)
}

// member is the place of a key and its value. start is that of the key's quote, value that of
// the value, and end that of what follows.
type member struct{ start, value, end int }

// key returns the key of a member, as it is written.
func (b Body) key(m member) []byte { return b[m.start+1 : m.value-2] }

// metadata yields the fields of the metadata.
func (b Body) metadata() iter.Seq[member] { return b.members(len(Head) - 1) }

// members yields the members of the object that begins at open.
func (b Body) members(open int) iter.Seq[member] {
	return func(yield func(member) bool) {
		for at := open + 1; at < len(b) && b[at] == '"'; at++ {
			value := b.skipText(at) + 1
			m := member{start: at, value: value, end: b.skip(value)}
			if !yield(m) {
				return
			}
			if at = m.end; at >= len(b) || b[at] != ',' {
				return
			}
		}
	}
}

// skip returns the place after the value that begins at a place.
func (b Body) skip(at int) int {
	depth := 0
	for at < len(b) {
		switch c := b[at]; {
		case c == '"':
			at = b.skipText(at)
			continue
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c == ']'):
			return at
		case c == '}' || c == ']':
			depth--
		}
		at++
	}
	return at
}

// skipText returns the place after the text that begins at a place.
func (b Body) skipText(at int) int {
	for at++; at < len(b) && b[at] != '"'; at++ {
		if b[at] == '\\' {
			at++
		}
	}
	return at + 1
}
