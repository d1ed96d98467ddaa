package form

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// object reads the fields of one mapping strictly. Each getter reports the problems of its
// field. Then done reports the unknown fields. A null field counts as absent.
type object struct {
	*report
	subject string // the mapping's owner in messages: form "web"
	path    string // the mapping's place in the subject: "spec.source"
	value   *document.Value
	fields  []Field // all that it may have
}

// newObject wraps a value. It reports a value that isn't a mapping, but even then it
// returns a usable, empty object.
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

// name returns the full path of a field.
func (o *object) name(field string) string {
	if o.path == "" {
		return field
	}
	return o.path + "." + field
}

// get returns the value of a field, or nil.
func (o *object) get(field string) *document.Value {
	v := o.value.Field(field)
	if v == nil || v.Kind == document.Null {
		return nil
	}
	return v
}

// field returns a field of the table, or an empty one.
func (o *object) field(name string) *Field {
	for i := range o.fields {
		if o.fields[i].Name == name {
			return &o.fields[i]
		}
	}
	return &Field{}
}

// need is get for a required field.
func (o *object) need(field string) *document.Value {
	v := o.get(field)
	if v == nil && o.value.Kind == document.Map {
		o.fail(o.value.Pos, "add it", "%s is missing", o.name(field))
	}
	return v
}

// text returns the string at a field, or the zero Text.
func (o *object) text(field string) Text { return o.asText(field, o.get(field)) }

// needText returns the string at a required field, which must not be blank.
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

// stringFix says how to turn a value into a string.
func stringFix(v *document.Value) string {
	switch v.Kind {
	case document.Null:
		return `write "" for an empty one`
	case document.List, document.Map:
		return ""
	}
	return "quote it"
}

// integer returns the number at a field, or the default.
func (o *object) integer(field string, byDefault int) int {
	v, of := o.get(field), o.field(field)
	switch {
	case v == nil:
		return byDefault
	case v.Kind != document.Int:
		o.fail(v.Pos, "", "%s must be a whole number, found %s", o.name(field), v.Describe())
		return byDefault
	case v.Int < int64(of.Low) || v.Int > int64(of.High):
		o.fail(v.Pos, "", "%s must be from %d to %d, found %d", o.name(field), of.Low, of.High, v.Int)
		return byDefault
	}
	return int(v.Int)
}

// boolean returns the boolean at a field. The default is false.
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

// enum returns the word at a field, or the default.
func enum[T ~string](o *object, field string, byDefault T) T {
	return oneOf(o, field, o.text(field), byDefault, o.field(field).Words)
}

// oneOf checks that a text is one of these words. A text without a position counts
// as absent.
func oneOf[T ~string](o *object, field string, t Text, byDefault T, words []string) T {
	if !t.IsSet() {
		return byDefault
	}
	if slices.Contains(words, t.Text) {
		return T(t.Text)
	}
	fix := ""
	if _, ok := suggest.Near(t.Text, words); ok { // the message lists them all anyway
		fix = suggest.Fix(t.Text, words)
	}
	o.fail(t.Pos, fix, "%s must be one of %s; found %q", o.name(field), strings.Join(words, ", "), t.Text)
	return byDefault
}

// matches reports whether a text has the pattern of its field.
func (o *object) matches(field string, t Text) bool {
	return regexp.MustCompile(o.field(field).Pattern).MatchString(t.Text)
}

// list returns the items of a list.
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

// objects returns the mappings in a list, with their places in it.
func (o *object) objects(field string) iter.Seq2[int, *object] {
	return func(yield func(int, *object) bool) {
		for i, item := range o.list(field) {
			if !yield(i, o.below(fmt.Sprintf("%s[%d]", o.name(field), i), item, field)) {
				return
			}
		}
	}
}

// below wraps a value that a field has.
func (o *object) below(path string, v *document.Value, field string) *object {
	below := newObject(o.report, o.subject, path, v)
	below.fields = o.field(field).Fields
	return below
}

// texts returns the strings of a list.
func (o *object) texts(field string) []Text {
	var texts []Text
	for i, item := range o.list(field) {
		if t := o.asText(fmt.Sprintf("%s[%d]", field, i), item); t.IsSet() {
			texts = append(texts, t)
		}
	}
	return texts
}

// entries returns the keys and strings of a mapping, sorted by key.
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

// object returns the mapping at a field, or nil.
func (o *object) object(field string) *object {
	v := o.get(field)
	if v == nil {
		return nil
	}
	return o.below(o.name(field), v, field)
}

// needObject returns the mapping at a required field, and never nil.
func (o *object) needObject(field string) *object {
	v := o.need(field)
	if v == nil {
		// newObject has reported the value, so missing fields inside it are no further
		// problem.
		return &object{report: o.report, subject: o.subject, path: o.name(field), value: &document.Value{Pos: o.value.Pos}}
	}
	return o.below(o.name(field), v, field)
}

// done reports the unknown fields.
func (o *object) done() {
	for _, f := range o.value.Fields {
		if o.field(f.Key).Name == "" {
			var known []string
			for i := range o.fields {
				known = append(known, o.fields[i].Name)
			}
			o.unknown(f, known)
		}
	}
}

func (o *object) unknown(f document.Field, known []string) {
	o.fail(f.Pos, suggest.Fix(f.Key, known), "unknown field %q", o.name(f.Key))
}

// IsSet reports whether the file has the field.
func (t Text) IsSet() bool { return t.Pos.File != "" }
