package form

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// object reads the fields of one mapping strictly. Each getter makes its field
// a known one and reports what is wrong with it; done then reports the fields
// that no one asked for. A field that is null counts as absent.
type object struct {
	*report
	subject string // whose mapping it is, for messages: form "web"
	path    string // of the mapping within the subject: "spec.source"
	value   *document.Value
	known   []string
}

// newObject begins to read a value. It reports a value that is no mapping; the
// object is usable, and empty, all the same.
func newObject(rep *report, subject, path string, v *document.Value) *object {
	o := &object{report: rep, subject: subject, path: path, value: v}
	if v.Kind != document.Map {
		o.fail(v.Pos, "", "%s must be a mapping, found %s", o.label(), v.Describe())
	}
	return o
}

func (o *object) label() string {
	if o.path == "" {
		return "this"
	}
	return o.path
}

func (o *object) fail(pos lynq.Pos, fix, format string, args ...any) {
	o.problems.Add(pos, fix, "%s: %s", o.subject, fmt.Sprintf(format, args...))
}

func (o *object) warn(pos lynq.Pos, fix, format string, args ...any) {
	o.warnings.Add(pos, fix, "%s: %s", o.subject, fmt.Sprintf(format, args...))
}

// name is the full path of a field.
func (o *object) name(field string) string {
	if o.path == "" {
		return field
	}
	return o.path + "." + field
}

// get is the value of a field, nil where it is absent.
func (o *object) get(field string) *document.Value {
	o.known = append(o.known, field)
	v := o.value.Field(field)
	if v == nil || v.Kind == document.Null {
		return nil
	}
	return v
}

// accept makes fields known that are of no use here.
func (o *object) accept(fields ...string) { o.known = append(o.known, fields...) }

// need is get for a required field.
func (o *object) need(field string) *document.Value {
	v := o.get(field)
	if v == nil && o.value.Kind == document.Map {
		o.fail(o.value.Pos, "add it", "%s is missing", o.name(field))
	}
	return v
}

// text is the string at a field, zero where it is absent.
func (o *object) text(field string) Text { return o.asText(field, o.get(field)) }

// needText is the string at a required field, which may not be blank.
func (o *object) needText(field string) Text {
	t := o.asText(field, o.need(field))
	if t.IsSet() && strings.TrimSpace(t.Text) == "" {
		o.fail(t.Pos, "fill it in", "%s is empty", o.name(field))
		return Text{}
	}
	return t
}

func (o *object) asText(field string, v *document.Value) Text {
	if v == nil {
		return Text{}
	}
	if v.Kind != document.String {
		o.fail(v.Pos, stringFix(v), "%s must be a string, found %s", o.name(field), v.Describe())
		return Text{}
	}
	return Text{Pos: v.Pos, Text: v.Str}
}

// stringFix tells how to make a string of what is none.
func stringFix(v *document.Value) string {
	switch v.Kind {
	case document.Null:
		return `write "" for an empty one`
	case document.List, document.Map:
		return ""
	}
	return "quote it"
}

// integer is the number at a field, or the default.
func (o *object) integer(field string, lowest, highest, byDefault int) int {
	v := o.get(field)
	switch {
	case v == nil:
		return byDefault
	case v.Kind != document.Int:
		o.fail(v.Pos, "", "%s must be a whole number, found %s", o.name(field), v.Describe())
		return byDefault
	case v.Int < int64(lowest) || v.Int > int64(highest):
		o.fail(v.Pos, "", "%s must be from %d to %d, found %d", o.name(field), lowest, highest, v.Int)
		return byDefault
	}
	return int(v.Int)
}

// boolean is the truth value at a field, false where it is absent.
func (o *object) boolean(field string) bool {
	v := o.get(field)
	switch {
	case v == nil:
		return false
	case v.Kind != document.Bool:
		o.fail(v.Pos, "write true or false, unquoted", "%s must be a boolean, found %s", o.name(field), v.Describe())
		return false
	}
	return v.Bool
}

// enum is the word at a field, or the default.
func enum[T ~string](o *object, field string, byDefault T, allowed ...T) T {
	return oneOf(o, field, o.text(field), byDefault, allowed)
}

// oneOf checks that a text is one of the allowed words. A text without a
// position is absent.
func oneOf[T ~string](o *object, field string, t Text, byDefault T, allowed []T) T {
	if !t.IsSet() {
		return byDefault
	}
	if slices.Contains(allowed, T(t.Text)) {
		return T(t.Text)
	}
	words := make([]string, len(allowed))
	for i, word := range allowed {
		words[i] = string(word)
	}
	fix := ""
	if _, ok := suggest.Near(t.Text, words); ok { // they are all in the message
		fix = suggest.Fix(t.Text, words)
	}
	o.fail(t.Pos, fix, "%s must be one of %s; found %q", o.name(field), strings.Join(words, ", "), t.Text)
	return byDefault
}

// list is the items of a list.
func (o *object) list(field string) []*document.Value {
	v := o.get(field)
	if v == nil {
		return nil
	}
	if v.Kind != document.List {
		o.fail(v.Pos, "", "%s must be a list, found %s", o.name(field), v.Describe())
		return nil
	}
	return v.Items
}

// texts is the strings of a list of strings.
func (o *object) texts(field string) []Text {
	var texts []Text
	for i, item := range o.list(field) {
		if t := o.asText(fmt.Sprintf("%s[%d]", field, i), item); t.IsSet() {
			texts = append(texts, t)
		}
	}
	return texts
}

// entries is the keys and strings of a mapping, sorted by key.
func (o *object) entries(field string) []Entry {
	v := o.get(field)
	if v == nil {
		return nil
	}
	if v.Kind != document.Map {
		o.fail(v.Pos, "", "%s must be a mapping, found %s", o.name(field), v.Describe())
		return nil
	}
	var entries []Entry
	for _, f := range v.Fields {
		if t := o.asText(field+"."+f.Key, f.Value); t.IsSet() {
			entries = append(entries, Entry{Key: f.Key, Text: t})
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return entries
}

// object is the mapping at a field, nil where it is absent.
func (o *object) object(field string) *object {
	v := o.get(field)
	if v == nil {
		return nil
	}
	return newObject(o.report, o.subject, o.name(field), v)
}

// needObject is the mapping at a required field. It is never nil.
func (o *object) needObject(field string) *object {
	v := o.need(field)
	if v == nil {
		// Whatever is missing inside is no news to the user: a value that is
		// no mapping has no required fields.
		return &object{report: o.report, subject: o.subject, path: o.name(field), value: &document.Value{Pos: o.value.Pos}}
	}
	return newObject(o.report, o.subject, o.name(field), v)
}

// done reports the fields that are not known.
func (o *object) done() {
	for _, f := range o.value.Fields {
		if !slices.Contains(o.known, f.Key) {
			o.fail(f.Pos, suggest.Fix(f.Key, o.known), "unknown field %q", o.name(f.Key))
		}
	}
}

// IsSet tells whether the file has the field.
func (t Text) IsSet() bool { return t.Pos.File != "" }
