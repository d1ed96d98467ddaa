package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// jsonRow takes objects apart, one at a time. The bytes that it is given are
// valid JSON: what is not is found before.
type jsonRow struct {
	columns []string
	wanted  map[string]int // queried column to its place in values
	values  [][]byte       // of the current object, nil where it has none
	names   []string       // of all objects' keys, in order of appearance
	known   map[string]int // the same to their places in names
	last    []int          // by place in names: the object that had the key last
	count   int            // objects parsed
}

func newJSONRow(q Query) *jsonRow {
	r := &jsonRow{
		columns: q.Columns,
		wanted:  make(map[string]int, len(q.Columns)),
		values:  make([][]byte, len(q.Columns)),
		known:   map[string]int{},
	}
	for i, name := range q.Columns {
		r.wanted[name] = i
	}
	return r
}

// parse takes one object apart. The values are parts of raw.
func (r *jsonRow) parse(raw []byte) error {
	if raw[0] != '{' {
		return &jsonError{what: "the row is " + jsonKind(raw[0]) + ", not an object", fix: `write it as {"column": "value"}`}
	}
	clear(r.values)
	r.count++
	c := cursor{raw: raw}
	return c.object(func(key, value []byte) bool {
		if i, ok := r.wanted[string(key)]; ok {
			r.values[i] = value
		}
		return r.first(key)
	})
}

// first notes a key, and tells whether the current object had it not yet.
func (r *jsonRow) first(key []byte) bool {
	i, ok := r.known[string(key)]
	if !ok {
		i = len(r.names)
		r.names = append(r.names, string(key))
		r.known[string(key)] = i
		r.last = append(r.last, 0)
	}
	again := r.last[i] == r.count
	r.last[i] = r.count
	return !again
}

// cursor walks through valid JSON, once. It refuses objects that have a key
// twice, however deep.
type cursor struct {
	raw []byte
	at  int
	key []byte // room for keys
}

// value passes the value at the cursor, of any kind.
func (c *cursor) value() error {
	switch c.raw[c.at] {
	case '{':
		seen := map[string]bool{}
		return c.object(func(key, _ []byte) bool {
			again := seen[string(key)]
			seen[string(key)] = true
			return !again
		})
	case '[':
		return c.array()
	case '"':
		c.text()
	default:
		c.word()
	}
	return nil
}

// object passes the object at the cursor, and hands each member to visit: the
// key's text, valid during the call, and the value as it is written. visit tells
// whether the key is new.
func (c *cursor) object(visit func(key, value []byte) bool) error {
	for c.at++; ; {
		c.space()
		switch c.raw[c.at] {
		case '}':
			c.at++
			return nil
		case ',':
			c.at++
			continue
		}
		keyStart := c.at
		c.text()
		keyEnd := c.at
		c.space()
		c.at++ // the colon
		c.space()
		start := c.at
		if err := c.value(); err != nil {
			return err
		}
		// Only now, for the value may have needed the room.
		var err error
		if c.key, err = appendUnquoted(c.key[:0], c.raw[keyStart:keyEnd]); err != nil {
			return &jsonError{at: keyStart, what: "a key: " + err.Error()}
		}
		if !visit(c.key, c.raw[start:c.at]) {
			return &jsonError{at: keyStart, what: fmt.Sprintf("key %s is there twice in one object", lynq.Quote(string(c.key))), fix: "remove one"}
		}
	}
}

// array passes the array at the cursor.
func (c *cursor) array() error {
	for c.at++; ; {
		c.space()
		switch c.raw[c.at] {
		case ']':
			c.at++
			return nil
		case ',':
			c.at++
			continue
		}
		if err := c.value(); err != nil {
			return err
		}
	}
}

func (c *cursor) space() {
	for isJSONSpace(c.raw[c.at]) {
		c.at++
	}
}

// text passes a string.
func (c *cursor) text() {
	for c.at++; c.raw[c.at] != '"'; c.at++ {
		if c.raw[c.at] == '\\' {
			c.at++
		}
	}
	c.at++
}

// word passes a number, a boolean or null.
func (c *cursor) word() {
	for ; c.at < len(c.raw); c.at++ {
		switch c.raw[c.at] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return
		}
	}
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// jsonKind is how messages call the value that begins with first.
func jsonKind(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// appendText appends a value's text: strings as they are, numbers as they are
// written, objects and arrays as JSON without white space. It tells whether the
// value is NULL; so is one that the object lacks.
func appendText(to, value []byte) ([]byte, bool, error) {
	if len(value) == 0 {
		return to, true, nil
	}
	switch value[0] {
	case 'n':
		return to, true, nil
	case '"':
		to, err := appendUnquoted(to, value)
		return to, false, err
	case '{', '[':
		var compact bytes.Buffer
		err := json.Compact(&compact, value)
		return append(to, compact.Bytes()...), false, err
	}
	return append(to, value...), false, nil
}

// appendUnquoted appends the text of a quoted JSON string.
func appendUnquoted(to, quoted []byte) ([]byte, error) {
	in := quoted[1 : len(quoted)-1]
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			return append(to, in...), nil
		}
		to = append(to, in[:i]...)
		escape := in[i+1]
		in = in[i+2:]
		if escape != 'u' {
			to = append(to, unescaped(escape))
			continue
		}
		r := hexRune(in)
		in = in[4:]
		if utf16.IsSurrogate(r) {
			if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
				return to, errLoneSurrogate()
			}
			if r = utf16.DecodeRune(r, hexRune(in[2:])); r == utf8.RuneError {
				return to, errLoneSurrogate()
			}
			in = in[6:]
		}
		to = utf8.AppendRune(to, r)
	}
}

func errLoneSurrogate() error {
	return errors.New(`half of a \u surrogate pair is no character`)
}

// unescaped is what the letter after a backslash means.
func unescaped(letter byte) byte {
	switch letter {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return letter
}

// hexRune is the character whose code the first four of digits are.
func hexRune(digits []byte) rune {
	code, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(code)
}
