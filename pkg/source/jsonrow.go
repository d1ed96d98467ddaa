package source

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonRow reads objects, one at a time, and keeps the texts of the columns that are
// wanted.
type jsonRow struct {
	columns []string
	wanted  map[string]int  // queried column to its place in values
	names   []string        // of all objects' keys, in order of appearance
	known   map[string]bool // the same
	text    []byte          // of the current object's values, one after the other
	values  []jsonText
	key     []byte // room for a key
}

// jsonText is where a value's text is in jsonRow.text. The zero value is NULL.
type jsonText struct {
	start, end int
	there      bool
}

// rowKindError is that a row is something else than an object.
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

// read reads the next object, and gives the offset where it starts. Values that are not
// wanted are checked as well: the decoder refuses keys that an object has twice, however
// deep.
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

// keep keeps a value's text: strings as they are, numbers as they are written, objects
// and arrays as JSON without white space.
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

// value is the text of a column, empty for NULL. It is valid until the next object is read.
func (r *jsonRow) value(i int) []byte { return r.text[r.values[i].start:r.values[i].end] }

// isNull tells whether a column is NULL; so is one that the object lacks.
func (r *jsonRow) isNull(i int) bool { return !r.values[i].there }

// jsonKind is how messages call a value.
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
