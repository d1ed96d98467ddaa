package render

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render/funcs"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// slot is the result of an expression for one row.
type slot struct {
	quick bool // the parts of the expression, as they stand; else:
	// A piece of the frame's arena, and how YAML writes it.
	start, end int
	style      scalar.Style
}

// frame holds what one row makes of a program's expressions. A frame serves one
// row after the other, on one goroutine.
type frame struct {
	program  *Program
	settings *Settings
	dashed   bool // the name of the form has a dash
	row      lynq.Row
	uid      string
	// called is the name of the row's node, "" before it was asked for, and kept
	// tells whether it is one that Settings.Recorded has.
	called string
	kept   bool

	texts []string // of the program's inputs
	// Sets of inputs: words, words that are no number or the like, words that
	// labels and names may be made of.
	words, plain, labelled, names uint64

	arena []byte
	slots []slot

	// left tells per resource whether the row does not have it.
	left []bool

	rawUID bool // the uid can be the value of a label
	// outside tells per resource whether it is outside the node's namespace.
	outside []bool

	probe   []byte // scratch space of isAltered
	probing bool

	data    map[string]any // for interpreted templates
	dataSet bool
	buffer  bytes.Buffer
	// What interpreted templates write to, and the frame's own ones.
	output    output
	templates map[*interpreted]*template.Template
}

func newFrame(p *Program, s *Settings) *frame {
	return &frame{
		program: p, settings: s, dashed: lynq.Dashed(p.Form.Name),
		texts:   make([]string, len(p.inputs)),
		slots:   make([]slot, len(p.exprs)),
		outside: make([]bool, len(p.resources)), left: make([]bool, len(p.resources)),
	}
}

// bytes is the text of a slot. It is good until the next call.
func (f *frame) bytes(i int) []byte {
	if s := &f.slots[i]; !s.quick {
		return f.arena[s.start:s.end]
	}
	f.buffer.Reset()
	f.buffer.Write(f.appendSlot(f.buffer.AvailableBuffer(), i))
	return f.buffer.Bytes()
}

// name is the name of the row's node.
func (f *frame) name() string {
	if f.called == "" {
		f.called, f.kept = f.settings.nodeName(f.program, f.uid)
	}
	return f.called
}

// begin takes a row.
func (f *frame) begin(row lynq.Row) {
	f.row, f.uid, f.called, f.kept = row, row.Values[f.program.uid], "", false
}

// load runs all expressions for the row and adds what fails to problems.
func (f *frame) load(problems *lynq.Problems) {
	f.dataSet = false
	f.arena = f.arena[:0]
	f.rawUID = f.uid != "" && lynq.IsLabelValue(f.uid)
	f.classify()
	if f.program.conditional {
		f.include(problems)
	}
	for i := range f.program.exprs {
		if f.program.conditional && f.idle(&f.program.exprs[i]) {
			continue
		}
		f.fill(i, problems)
	}
}

// fill runs one expression into its slot.
func (f *frame) fill(i int, problems *lynq.Problems) {
	e := &f.program.exprs[i]
	if f.quick(e) {
		f.slots[i].quick = true
		return
	}
	f.slots[i] = f.evaluate(e, problems)
}

// evaluate runs an expression into the arena.
func (f *frame) evaluate(e *expr, problems *lynq.Problems) slot {
	start := len(f.arena)
	err := f.run(e)
	if err == nil && e.template != nil && !utf8.Valid(f.arena[start:]) {
		err = errors.New("the result is not valid UTF-8: a function has cut a character in two")
	}
	if err == nil && f.program.kustomize {
		if r, lost := scalar.LostToKustomize(f.arena[start:]); lost {
			err = &lostCharacterError{r}
		}
	}
	if err != nil {
		f.arena = f.arena[:start]
		f.failExpr(problems, e, err)
	}
	s := slot{start: start, end: len(f.arena)}
	if e.trim {
		s.start, s.end = trimBounds(f.arena, s.start, s.end)
	}
	switch {
	case e.profile.known && e.profile.style != scalar.Plain && e.profile.inputs&^f.words == 0:
		s.style = e.profile.style
	case e.styled:
		s.style = scalar.StyleOf(f.arena[s.start:s.end])
	}
	return s
}

func trimBounds(b []byte, start, end int) (int, int) {
	left := len(b[start:end]) - len(bytes.TrimLeftFunc(b[start:end], unicode.IsSpace))
	return start + left, start + left + len(bytes.TrimSpace(b[start:end]))
}

func (f *frame) fail(problems *lynq.Problems, at place, fix, format string, args ...any) {
	problems.Add(at.pos, fix, "%s: row %s: %s", f.program.subject(at), lynq.Quote(f.uid), fmt.Sprintf(format, args...))
}

// failExpr reports an expression that cannot be run, once for all the places it
// stands in.
func (f *frame) failExpr(problems *lynq.Problems, e *expr, err error) {
	more := ""
	if e.more > 0 {
		more = fmt.Sprintf("the same text stands in %d more places", e.more)
	}
	f.fail(problems, e.at, more, "%s", f.presentable(e, err))
}

// run appends the result of one expression to the arena.
func (f *frame) run(e *expr) error {
	switch {
	case e.template != nil:
		return f.interpret(e)
	case e.result != typeText:
		return f.convert(e.result, f.texts[e.parts[0].value])
	case e.nodeName:
		f.arena = append(f.arena, f.name()...)
		return nil
	}
	start := len(f.arena)
	for i := range e.parts {
		if p := &e.parts[i]; p.value == noInput {
			f.arena = append(f.arena, p.static...)
		} else {
			f.arena = append(f.arena, f.texts[p.value]...)
		}
	}
	if e.uidLabel && !f.rawUID && string(f.arena[start:]) == f.uid {
		f.arena = append(f.arena[:start], lynq.HashedName(f.uid)...)
	}
	return nil
}

// column is the text of a column, or of the host that one has.
func (f *frame) column(i int) string {
	if i == hostColumn {
		return funcs.ToHost(f.row.Values[f.program.hostOrURL])
	}
	return f.row.Values[i]
}

func (f *frame) convert(t exprType, s string) error {
	switch t {
	case typeInt:
		i, err := funcs.ParseInt(s)
		if err != nil {
			return err
		}
		f.arena = strconv.AppendInt(f.arena, i, 10)
	case typeFloat:
		v, err := funcs.ParseFloat(s)
		if err != nil {
			return err
		}
		f.arena = scalar.AppendFloat(f.arena, v)
	case typeBool:
		b, err := funcs.ParseBool(s)
		if err != nil {
			return err
		}
		f.arena = strconv.AppendBool(f.arena, b)
	}
	return nil
}

func (f *frame) interpret(e *expr) error {
	data := f.variables()
	if e.mutates {
		data = maps.Clone(data)
	}
	t, err := f.bound(e.template)
	if err != nil {
		return err
	}
	f.output.Reset()
	f.output.meter.Reset()
	if err := t.Execute(&f.output, data); err != nil {
		return err
	}
	out := f.output.Bytes()
	if bytes.Contains(out, []byte(noValue)) && !f.mayHold(e, noValue) {
		return errors.New("the result has a value that is missing: a key or an element that doesn't exist was printed")
	}
	if e.result == typeFloat {
		return f.convert(typeFloat, string(out))
	}
	f.arena = append(f.arena, out...)
	return nil
}

// bound is a template whose functions draw on the frame's own meter.
func (f *frame) bound(i *interpreted) (*template.Template, error) {
	if t := f.templates[i]; t != nil {
		return t, nil
	}
	t, err := i.bound(&f.output.meter)
	if err == nil && f.templates == nil {
		f.templates = map[*interpreted]*template.Template{}
	}
	if err == nil {
		f.templates[i] = t
	}
	return t, err
}

// noValue is what text/template prints for a value that is not there.
const noValue = "<no value>"

// mayHold tells whether s may be in a result by right.
func (f *frame) mayHold(e *expr, s string) bool {
	for _, v := range f.row.Values {
		if strings.Contains(v, s) {
			return true
		}
	}
	return strings.Contains(e.source, s)
}

// variables is the map that interpreted templates see. It is filled once per
// row, with the variables that they use.
func (f *frame) variables() map[string]any {
	if f.data == nil {
		f.data = make(map[string]any, len(f.program.used))
		for name, text := range f.program.scope.constants {
			f.data[name] = text
		}
	}
	if !f.dataSet {
		for _, v := range f.program.used {
			f.data[v.name] = f.column(v.column)
		}
		f.dataSet = true
	}
	return f.data
}

// presentable makes a reason of an error, without the template engine's own
// place. Where the value may be a secret, it shows none: not the row's, and
// nothing that a function made of it.
func (f *frame) presentable(e *expr, err error) string {
	var value *funcs.ValueError
	reason := parseReason(err)
	if errors.As(err, &value) {
		reason = value.Error()
		if e.at.secret {
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
	case value != nil:
		return at + ": " + reason
	case e.at.secret:
		return at + ": it fails (the reason could show a secret)"
	}
	if cause := errors.Unwrap(errors.Unwrap(exec)); cause != nil {
		rest = cause.Error()
	}
	return at + ": " + lynq.Shown(withoutLogins(rest))
}

// withoutLogins hides user and password of the URLs in a text.
func withoutLogins(s string) string {
	return regexp.MustCompile(`://[^/@\s]*@`).ReplaceAllString(s, "://"+lynq.Redacted+"@")
}

// holds tells whether a condition holds for resource r.
func (f *frame) holds(c condition, r int) bool {
	switch c {
	case foreign:
		return f.outside[r]
	case madeUID:
		return !f.rawUID
	case altered:
		return f.isAltered(r)
	}
	return true
}

// isAltered tells whether variables of a target would change resource r, be its text
// the form's or a row's. There is no way to know but to write it: without the annotation
// that hangs on the answer.
func (f *frame) isAltered(r int) bool {
	if f.probing {
		return false
	}
	f.probing = true
	f.probe = f.appendYAML(f.probe[:0], r)
	f.probing = false
	return scalar.Substitutable(f.probe)
}

// appendYAML writes resource r as a YAML document, without separator.
func (f *frame) appendYAML(dst []byte, r int) []byte {
	ops := f.program.resources[r].ops
	for i := 0; i < len(ops); i++ {
		switch o := &ops[i]; o.kind {
		case opBytes:
			dst = append(dst, o.bytes...)
		case opText:
			if s := &f.slots[o.slot]; s.quick || s.style == scalar.Plain {
				dst = f.appendSlot(dst, o.slot)
			} else {
				dst = scalar.Append(dst, f.arena[s.start:s.end], s.style, o.indent)
			}
		case opRaw:
			dst = f.appendSlot(dst, o.slot)
		case opWhen:
			if !f.holds(o.when, r) {
				i += o.skip
			}
		}
	}
	return dst
}
