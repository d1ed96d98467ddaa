package expr

import (
	"maps"
	"slices"
	"strings"
	"text/template/parse"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Set has the expressions of a form, numbered by Compiler.Add. After Compiler.Finish, it
// is immutable and safe for concurrent use.
type Set struct {
	scope   *Scope
	exprs   []Expr
	inputs  []input
	classes *classTable
	used    []usedVariable
	// static is the most bytes that the static parts of an expression have, and parts is the
	// most parts.
	static, parts int
}

type usedVariable struct {
	name   string
	column int
}

// Set returns the expressions so far.
func (c *Compiler) Set() *Set { return c.set }

// Add adds an expression and its inputs to the set, and returns its number.
func (c *Compiler) Add(e Expr) int {
	if e.Trim {
		e.trimParts()
	}
	for i := range e.parts {
		if p := &e.parts[i]; p.value != noInput {
			p.value = c.input(p.input)
		}
	}
	e.profile = profileOf(&e)
	c.set.static, c.set.parts = max(c.set.static, e.profile.length), max(c.set.parts, len(e.parts))
	c.set.exprs = append(c.set.exprs, e)
	return len(c.set.exprs) - 1
}

// Finish stores the variables of interpreted templates.
func (c *Compiler) Finish() {
	for _, name := range slices.Sorted(maps.Keys(c.used)) {
		if column, ok := c.set.scope.column(name); ok {
			c.set.used = append(c.set.used, usedVariable{name, column})
		}
	}
}

// input finds or adds an input of the set. It shares only plain columns, because functions
// can't be compared.
func (c *Compiler) input(in input) int {
	for i, known := range c.set.inputs {
		if known.column == in.column && len(known.apply)+len(in.apply) == 0 {
			return i
		}
	}
	c.set.inputs = append(c.set.inputs, in)
	return len(c.set.inputs) - 1
}

// OfUID returns an expression for the row's uid.
func (c *Compiler) OfUID() Expr {
	return Expr{parts: []part{{input: input{column: c.set.scope.UID}}}}
}

// OfNode returns an expression for the name of the row's node.
func (c *Compiler) OfNode(form string) Expr {
	return Expr{nodeName: true, parts: []part{
		{input: input{column: c.set.scope.UID}}, {static: "-" + form, value: noInput},
	}}
}

// At returns the expression with a number.
func (s *Set) At(i int) *Expr { return &s.exprs[i] }

// Source returns the text in the form.
func (e *Expr) Source() string { return e.source }

// Sample returns the result if all inputs are the sample word. It returns "" if other
// forms of the result are possible.
func (e *Expr) Sample() string { return e.profile.sample }

// Columns returns the columns that an expression reads.
func (s *Set) Columns(i int) []int {
	e := &s.exprs[i]
	var columns []int
	for i := range e.parts {
		if v := e.parts[i].value; v != noInput {
			columns = append(columns, s.inputs[v].column)
		}
	}
	for _, variable := range e.uses {
		if column, ok := s.scope.column(variable); ok {
			columns = append(columns, column)
		}
	}
	for i, column := range columns {
		if column == HostColumn {
			columns[i] = s.scope.HostOrURL
		}
	}
	return columns
}

// isUID reports whether an input is the plain uid.
func (s *Set) isUID(input int) bool {
	return s.inputs[input].column == s.scope.UID && len(s.inputs[input].apply) == 0
}

// Injective reports whether different uids give different results, ignoring white space
// around them.
func (s *Set) Injective(i int) bool {
	e := &s.exprs[i]
	uids := 0
	for i := range e.parts {
		switch v := e.parts[i].value; {
		case v == noInput:
		case s.isUID(v):
			uids++
		default:
			return false
		}
	}
	return uids == 1 && e.template == nil && e.Result == Text
}

// Pieces splits an expression's text into fixed text and gaps.
func (s *Set) Pieces(i int) lynq.Text {
	e := &s.exprs[i]
	if e.template != nil {
		return templatePieces(e)
	}
	var text lynq.Text
	for _, part := range e.parts {
		switch in := part.value; {
		case in == noInput:
			text = append(text, lynq.Piece{Fixed: part.static})
		case s.isUID(in) && !e.UIDLabel && e.Result == Text:
			text = append(text, lynq.Piece{UID: true})
		default:
			text = append(text, lynq.Piece{Any: true})
		}
	}
	return text
}

// templatePieces returns the fixed text of an interpreted template, which no action
// changes.
func templatePieces(e *Expr) lynq.Text {
	trees, err := parseTemplate(e.source)
	if err != nil {
		return lynq.Text{{Any: true}}
	}
	var text lynq.Text
	for _, n := range trees[templateName].Root.Nodes {
		if fixed, ok := n.(*parse.TextNode); ok {
			text = append(text, lynq.Piece{Fixed: string(fixed.Text)})
			continue
		}
		text = append(text, lynq.Piece{Any: true})
	}
	if e.Trim && len(text) > 0 {
		first, last := &text[0], &text[len(text)-1]
		first.Fixed = strings.TrimLeftFunc(first.Fixed, unicode.IsSpace)
		last.Fixed = strings.TrimRightFunc(last.Fixed, unicode.IsSpace)
	}
	return text
}

// FixedPiece is a template's text that every result contains.
type FixedPiece struct {
	Text        string
	First, Last bool // its position in the result
}

// FixedText returns the text of a template outside actions and branches, without white
// space at both ends.
func FixedText(source string) []FixedPiece {
	trees, err := parseTemplate(source)
	if err != nil {
		return nil // already reported
	}
	var pieces []FixedPiece
	nodes := trees[templateName].Root.Nodes
	for i, n := range nodes {
		t, ok := n.(*parse.TextNode)
		if !ok {
			continue
		}
		p := FixedPiece{string(t.Text), i == 0, i == len(nodes)-1}
		if p.First {
			p.Text = strings.TrimLeftFunc(p.Text, unicode.IsSpace)
		}
		if p.Last {
			p.Text = strings.TrimRightFunc(p.Text, unicode.IsSpace)
		}
		pieces = append(pieces, p)
	}
	return pieces
}
