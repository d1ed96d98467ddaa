package expr

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render/funcs"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// Node describes a row's node to an Evaluator.
type Node struct {
	// Name returns the name of the current row's node.
	Name func() string
	// Dashed is set if the form's name has a dash, because only Name then knows the node's
	// name.
	Dashed bool
}

// Evaluator evaluates the expressions of a set for one row after the other. Use it in one
// goroutine.
type Evaluator struct {
	set  *Set
	node Node
	// check refuses results, unless it is nil.
	check func(text []byte) error

	row    lynq.Row
	uid    string
	rawUID bool // a label can have the uid as its value

	texts []string // values of the set's inputs
	// failed has the errors of inputs whose functions refuse the row's value. It is nil for
	// most rows.
	failed map[int]error
	// These are sets of inputs. words has all words, plain those that no YAML reader
	// mistakes for another type, and labelled and names those that labels and names allow.
	words, plain, labelled, names uint64

	arena  []byte
	slots  []slot
	buffer bytes.Buffer

	data    map[string]any // variables for interpreted templates
	dataSet bool
	// Interpreted templates write to output. The templates are bound to this evaluator.
	output    output
	templates map[*interpreted]*template.Template
}

// NewEvaluator returns an evaluator. check refuses results, unless it is nil.
func NewEvaluator(s *Set, n Node, check func(text []byte) error) *Evaluator {
	return &Evaluator{set: s, node: n, check: check, texts: make([]string, len(s.inputs)), slots: make([]slot, len(s.exprs))}
}

// Load sets the row for the following calls.
func (ev *Evaluator) Load(row lynq.Row) {
	ev.row, ev.uid = row, row.Values[ev.set.scope.UID]
	ev.dataSet = false
	ev.arena = ev.arena[:0]
	ev.rawUID = ev.uid != "" && naming.IsLabelValue(ev.uid)
	ev.classify()
}

// UIDIsLabel reports whether a label can have the uid as its value.
func (ev *Evaluator) UIDIsLabel() bool { return ev.rawUID }

// Run evaluates one expression. After an error, its result is empty.
func (ev *Evaluator) Run(i int) error {
	e := &ev.set.exprs[i]
	if ev.quick(e) {
		ev.slots[i].quick = true
		return nil
	}
	s, err := ev.evaluate(e)
	ev.slots[i] = s
	return err
}

// slot is the result of an expression for one row.
type slot struct {
	quick bool // the result is the parts, so the fields below are unused
	// The result's place in the evaluator's arena, and its YAML style.
	start, end int
	style      scalar.Style
}

// Bytes returns the text of a result. It is valid until the next call.
func (ev *Evaluator) Bytes(i int) []byte {
	if s := &ev.slots[i]; !s.quick {
		return ev.arena[s.start:s.end]
	}
	ev.buffer.Reset()
	ev.buffer.Write(ev.Append(ev.buffer.AvailableBuffer(), i))
	return ev.buffer.Bytes()
}

// evaluate evaluates an expression into the arena.
func (ev *Evaluator) evaluate(e *Expr) (slot, error) {
	start := len(ev.arena)
	err := ev.run(e)
	if err == nil && e.template != nil && !utf8.Valid(ev.arena[start:]) {
		err = errors.New("the result is not valid UTF-8: a function has cut a character in two")
	}
	if err == nil && ev.check != nil {
		err = ev.check(ev.arena[start:])
	}
	if err != nil {
		ev.arena = ev.arena[:start]
	}
	s := slot{start: start, end: len(ev.arena)}
	if e.Trim {
		s.start, s.end = trimBounds(ev.arena, s.start, s.end)
	}
	switch {
	case e.profile.known && e.profile.style != scalar.Plain && e.profile.inputs&^ev.words == 0:
		s.style = e.profile.style
	case e.Styled:
		s.style = scalar.StyleOf(ev.arena[s.start:s.end])
	}
	return s, err
}

func trimBounds(b []byte, start, end int) (int, int) {
	left := len(b[start:end]) - len(bytes.TrimLeftFunc(b[start:end], unicode.IsSpace))
	return start + left, start + left + len(bytes.TrimSpace(b[start:end]))
}

// run appends the result of one expression to the arena.
func (ev *Evaluator) run(e *Expr) error {
	switch {
	case e.template != nil:
		return ev.interpret(e)
	case ev.failed != nil:
		if err := ev.failure(e); err != nil {
			return err
		}
	}
	switch {
	case e.Result != Text:
		return ev.convert(e.Result, ev.texts[e.parts[0].value])
	case e.nodeName:
		ev.arena = append(ev.arena, ev.node.Name()...)
		return nil
	}
	start := len(ev.arena)
	for i := range e.parts {
		if p := &e.parts[i]; p.value == noInput {
			ev.arena = append(ev.arena, p.static...)
		} else {
			ev.arena = append(ev.arena, ev.texts[p.value]...)
		}
	}
	if e.UIDLabel && !ev.rawUID && string(ev.arena[start:]) == ev.uid {
		ev.arena = append(ev.arena[:start], naming.HashedName(ev.uid)...)
	}
	return nil
}

// failure returns the error of the first part whose functions refused the row's value.
func (ev *Evaluator) failure(e *Expr) error {
	for i := range e.parts {
		if err := ev.failed[e.parts[i].value]; err != nil {
			return err
		}
	}
	return nil
}

// column returns the value of a column, or the host in it.
func (ev *Evaluator) column(i int) (string, error) {
	if i == HostColumn {
		return funcs.ToHost(ev.row.Values[ev.set.scope.HostOrURL])
	}
	if len(ev.set.scope.fields) > 0 && i >= ev.set.scope.Width && ev.row.Null[i] {
		return "", ErrNoEntry
	}
	return ev.row.Values[i], nil
}

func (ev *Evaluator) convert(t Type, s string) error {
	switch t {
	case Int:
		i, err := funcs.ParseInt(s)
		if err != nil {
			return err
		}
		ev.arena = strconv.AppendInt(ev.arena, i, 10)
	case Float:
		arena, err := funcs.AppendFloat(ev.arena, s)
		if err != nil {
			return err
		}
		ev.arena = arena
	case Bool:
		b, err := funcs.ParseBool(s)
		if err != nil {
			return err
		}
		ev.arena = strconv.AppendBool(ev.arena, b)
	}
	return nil
}

func (ev *Evaluator) interpret(e *Expr) error {
	data, err := ev.variables()
	if err != nil {
		return err
	}
	if e.mutates {
		data = ev.set.scope.clone(data)
	}
	t, err := ev.bound(e.template)
	if err != nil {
		return err
	}
	ev.output.Reset()
	ev.output.meter.Reset()
	if err := t.Execute(&ev.output, data); err != nil {
		return err
	}
	out := ev.output.Bytes()
	if e.Result == Float {
		return ev.convert(Float, string(out))
	}
	ev.arena = append(ev.arena, out...)
	return nil
}

// bound returns a template whose functions use the evaluator's own meter.
func (ev *Evaluator) bound(i *interpreted) (*template.Template, error) {
	if t := ev.templates[i]; t != nil {
		return t, nil
	}
	t, err := i.bound(&ev.output.meter)
	if err == nil && ev.templates == nil {
		ev.templates = map[*interpreted]*template.Template{}
	}
	if err == nil {
		ev.templates[i] = t
	}
	return t, err
}

// variables returns the variables for interpreted templates. It fills the map once per
// row.
func (ev *Evaluator) variables() (map[string]any, error) {
	if ev.data == nil {
		ev.data = make(map[string]any, len(ev.set.used))
		for name, text := range ev.set.scope.Constants {
			ev.data[name] = text
		}
	}
	if !ev.dataSet {
		for i := range ev.set.used {
			v := &ev.set.used[i]
			text, err := ev.column(v.column)
			if err != nil {
				return nil, err
			}
			v.put(ev.data, text)
		}
		ev.dataSet = true
	}
	return ev.data, nil
}

// Reason turns an error into a message without the template engine's position. If secret
// is set, it omits the row's value and everything that functions made of it.
func Reason(err error, secret bool) string {
	var value *funcs.ValueError
	reason := parseReason(err)
	if errors.As(err, &value) {
		reason = withoutLogins(value.Error())
		if secret {
			reason = value.Hidden()
		}
	}
	var exec template.ExecError
	if !errors.As(err, &exec) {
		return reason
	}
	// template: template:1:2: executing "template" at <.x | int>: error ...
	_, at, _ := strings.Cut(parseReason(err), "executing "+strconv.Quote(templateName)+" ")
	at, rest, _ := strings.Cut(at, ": ")
	switch {
	case value != nil && (at == "at <"+shownName+">" || at == "at <"+conditionName+">"):
		return reason // the form doesn't have these calls
	case value != nil:
		return at + ": " + reason
	case secret:
		return at + ": it fails (the reason could show a secret)"
	}
	if cause := errors.Unwrap(errors.Unwrap(exec)); cause != nil {
		rest = cause.Error()
	}
	return at + ": " + phrase.Shown(withoutLogins(rest))
}

// withoutLogins hides user and password in a text's URLs.
func withoutLogins(s string) string {
	return regexp.MustCompile(`://[^/@\s]*@`).ReplaceAllString(s, "://"+endpoint.Redacted+"@")
}

// quick reports whether the result equals the expression's parts, written plain.
func (ev *Evaluator) quick(e *Expr) bool {
	s := &e.profile
	switch {
	case !s.known || s.style != scalar.Plain || s.inputs&^ev.words != 0:
		return false
	case !s.unmistakable && (!s.single || s.inputs&^ev.plain != 0):
		return false
	case e.UIDLabel && !ev.rawUID:
		return false
	case e.nodeName:
		return !ev.node.Dashed && s.inputs&^ev.names == 0 && s.length+len(ev.uid) <= maxLabel
	}
	return true
}

// classify classifies each input of the row once.
func (ev *Evaluator) classify() {
	ev.words, ev.plain, ev.labelled, ev.names, ev.failed = 0, 0, 0, 0, nil
	for i := range ev.set.inputs {
		in := &ev.set.inputs[i]
		text, err := ev.column(in.column)
		if len(in.apply) > 0 && err == nil {
			text, err = in.through(text)
		}
		ev.texts[i] = text
		if err != nil {
			ev.refuse(i, err)
			continue
		}
		if i >= 64 {
			continue
		}
		c, bit := ev.set.classes.of(text), uint64(1)<<i
		if c&classWord == 0 {
			continue
		}
		ev.words |= bit
		if c&classLabel != 0 {
			ev.labelled |= bit
		}
		if c&className != 0 {
			ev.names |= bit
		}
		if !scalar.Ambiguous(text) {
			ev.plain |= bit
		}
	}
}

// refuse keeps the error of an input for the expressions that read it.
func (ev *Evaluator) refuse(input int, err error) {
	if ev.failed == nil {
		ev.failed = map[int]error{}
	}
	ev.failed[input] = err
}

// Append appends the text of a result.
func (ev *Evaluator) Append(dst []byte, i int) []byte {
	s := &ev.slots[i]
	if !s.quick {
		return append(dst, ev.arena[s.start:s.end]...)
	}
	parts := ev.set.exprs[i].parts
	for j := range parts {
		if p := &parts[j]; p.value == noInput {
			dst = append(dst, p.static...)
		} else {
			dst = append(dst, ev.texts[p.value]...)
		}
	}
	return dst
}

// AppendYAML appends a result as a YAML string.
func (ev *Evaluator) AppendYAML(dst []byte, i, indent int) []byte {
	if s := &ev.slots[i]; !s.quick && s.style != scalar.Plain {
		return scalar.Append(dst, ev.arena[s.start:s.end], s.style, indent)
	}
	return ev.Append(dst, i)
}

// TextOf returns the text of a result as a new string.
func (ev *Evaluator) TextOf(i int) string {
	e := &ev.set.exprs[i]
	if ev.slots[i].quick && e.profile.single {
		return ev.texts[e.parts[0].value]
	}
	return string(ev.Bytes(i))
}

// Typed returns a result that is a number or a boolean.
func (ev *Evaluator) Typed(i int) any {
	b := ev.Bytes(i)
	if ev.set.exprs[i].Result == Bool {
		return string(b) == "true"
	}
	return scalar.NumberValue(b)
}

// Len returns the length of a result's text.
func (ev *Evaluator) Len(i int) int {
	s := &ev.slots[i]
	if !s.quick {
		return s.end - s.start
	}
	e := &ev.set.exprs[i]
	n := e.profile.length
	for j := range e.parts {
		if v := e.parts[j].value; v != noInput {
			n += len(ev.texts[v])
		}
	}
	return n
}

// Longest returns a length that no result of the row exceeds. It is quick, and mostly too
// large.
func (ev *Evaluator) Longest() int {
	inputs := 0
	for _, text := range ev.texts {
		inputs += len(text)
	}
	return len(ev.arena) + ev.set.static + ev.set.parts*inputs
}

// AllNames reports whether a result consists of parts whose inputs are all names, and fits
// the limit. The result is then a name if the expression's sample is one.
func (ev *Evaluator) AllNames(i, limit int) bool {
	return ev.slots[i].quick && ev.set.exprs[i].profile.inputs&^ev.names == 0 && ev.Len(i) <= limit
}

// AllLabels is like AllNames, but for values of labels.
func (ev *Evaluator) AllLabels(i int) bool {
	return ev.slots[i].quick && ev.set.exprs[i].profile.inputs&^ev.labelled == 0 && ev.Len(i) <= maxLabel
}

// maxLabel is the longest value of a label.
const maxLabel = 63
