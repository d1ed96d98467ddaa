package source

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonRow reads one object after the other, and keeps the texts of the wanted columns.
type jsonRow struct {
	columns []string
	wanted  map[string]int  // maps a queried column to its index in values
	names   []string        // of all objects' keys, in order of appearance
	known   map[string]bool // the same names
	text    []byte          // the current object's values, joined
	values  []jsonText
	key     []byte // buffer for a key
}

// jsonText is the place of a value in jsonRow.text. The zero value means NULL.
type jsonText struct {
	start, end int
	there      bool
}

// rowKindError means that a row isn't an object.
type rowKindError struct{ kind jsontext.Kind }

// Error implements error.
func (e *rowKindError) Error() string {
	return fmt.Sprintf("the row is %s, not an object", jsonKind(e.kind))
}

func newJSONRow(q Query) *jsonRow {
	r := &jsonRow{
		columns: q.Columns,
		wanted:  make(map[string]int, len(q.Columns)),
		values:  make([]jsonText, len(q.Columns)),
		known:   map[string]bool{},
	}
	for i, name := range q.Columns {
		r.wanted[name] = i
	}
	return r
}

// read reads the next object, and returns its offset. It also decodes unwanted values,
// because the decoder refuses duplicate keys at any depth.
func (r *jsonRow) read(d *jsontext.Decoder) (start int64, err error) {
	clear(r.values)
	r.text = r.text[:0]
	if kind := d.PeekKind(); kind != jsontext.KindBeginObject {
		if _, err := d.ReadValue(); err != nil {
			return 0, err
		}
		return 0, &rowKindError{kind}
	}
	if _, err := d.ReadToken(); err != nil {
		return 0, err
	}
	start = d.InputOffset() - 1
	for d.PeekKind() != jsontext.KindEndObject {
		if err := r.member(d); err != nil {
			return 0, err
		}
	}
	_, err = d.ReadToken()
	return start, err
}

// member reads a key and its value.
func (r *jsonRow) member(d *jsontext.Decoder) error {
	quoted, err := d.ReadValue()
	if err == nil {
		r.key, err = jsontext.AppendUnquote(r.key[:0], quoted)
	}
	if err != nil {
		return err
	}
	if !r.known[string(r.key)] {
		name := string(r.key)
		r.known[name], r.names = true, append(r.names, name)
	}
	i, wanted := r.wanted[string(r.key)]
	if !wanted {
		return d.SkipValue()
	}
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	return r.keep(i, value)
}

// keep stores a value's text. Strings and numbers keep their text, and objects and arrays
// become JSON without white space.
func (r *jsonRow) keep(i int, value jsontext.Value) (err error) {
	start := len(r.text)
	switch value.Kind() {
	case jsontext.KindNull:
		return nil
	case jsontext.KindString:
		r.text, err = jsontext.AppendUnquote(r.text, value)
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		r.text, err = jsontext.AppendFormat(r.text, value, jsontext.PreserveRawStrings(true))
	default:
		r.text = append(r.text, value...)
	}
	r.values[i] = jsonText{start: start, end: len(r.text), there: true}
	return err
}

// value returns the text of a column, or an empty text for NULL. The text is valid until
// the next read.
func (r *jsonRow) value(i int) []byte { return r.text[r.values[i].start:r.values[i].end] }

// isNull reports whether a column is NULL or missing in the object.
func (r *jsonRow) isNull(i int) bool { return !r.values[i].there }

// jsonKind names a kind of value for messages.
func jsonKind(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindNull:
		return "null"
	}
	return "a number"
}
