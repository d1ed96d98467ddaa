package expr

import (
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

// Type says what an expression results in.
type Type uint8

// The types of results.
const (
	Text Type = iota
	Int
	Float
	Bool
)

// part is a piece of an expression that needs no interpreter: bytes that stand
// there, or a variable, sent through functions.
type part struct {
	static string
	value  int // of the program's inputs, noInput for static bytes
	input  input
}

// input is a variable, sent through functions. Each different one is looked up
// once per row.
type input struct {
	column int // of the row, or HostColumn
	apply  []func(string) string
}

const noInput = -1 // part: static bytes

// What stands for the place of a column in rows.
const (
	NoColumn   = -1 // no column at all
	HostColumn = -2 // the host of the hostOrUrl column
)

// Expr is one string of a form, ready to run: parts one after another, or a
// template for the interpreter.
type Expr struct {
	Result   Type
	Varies   bool // every run has another result
	Trim     bool // names and namespaces: blanks around the result go
	UIDLabel bool // value of label lynq.sh/uid: a uid that no label can hold gets its hashed form
	Styled   bool // the result is written as a YAML string somewhere

	parts    []part
	template *interpreted // nil where parts are all of it
	mutates  bool         // the template changes the variables it is given
	nodeName bool         // the name of the row's node: what is no name gets its hashed form
	profile  profile
	source   string
	uses     []string // variables that a template reads, sorted
}

// Static is the text of an expression that no row changes.
func (e *Expr) Static() (string, bool) {
	if e.template != nil {
		return "", false
	}
	var b strings.Builder
	for _, p := range e.parts {
		if p.value != noInput {
			return "", false
		}
		b.WriteString(p.static)
	}
	return b.String(), true
}

// trimParts drops the blanks at both ends that no row can change.
func (e *Expr) trimParts() {
	if len(e.parts) == 0 || e.template != nil {
		return
	}
	if p := &e.parts[0]; p.value == noInput {
		p.static = strings.TrimLeftFunc(p.static, unicode.IsSpace)
	}
	if p := &e.parts[len(e.parts)-1]; p.value == noInput {
		p.static = strings.TrimRightFunc(p.static, unicode.IsSpace)
	}
	e.parts = slices.DeleteFunc(e.parts, func(p part) bool { return p.value == noInput && p.static == "" })
}

// Scope lists what the templates of a form may refer to.
type Scope struct {
	Columns   map[string]int    // variable -> column of the row, or HostColumn
	Constants map[string]string // variable -> text, the same for every row
	Varying   bool              // functions that differ from run to run are allowed
	UID       int               // column of the uid
	HostOrURL int               // column of hostOrUrl, or NoColumn
}

func (s *Scope) has(name string) bool {
	_, isColumn := s.Columns[name]
	_, isConstant := s.Constants[name]
	return isColumn || isConstant
}

func (s *Scope) names() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for n := range s.Columns {
			if !yield(n) {
				return
			}
		}
		for n := range s.Constants {
			if !yield(n) {
				return
			}
		}
	})
}

// Compiler turns the strings of one form into expressions.
type Compiler struct {
	set      *Set
	funcs    template.FuncMap
	metering funcs.Metering
	varying  map[string]bool
	mutating map[string]bool
	// used are the variables that interpreted templates read; all of them
	// where one uses the variables as a whole.
	used map[string]bool
}

// NewCompiler begins a set of expressions, which is complete once Finish was called.
func NewCompiler(s *Scope) *Compiler {
	c := &Compiler{
		set:      &Set{scope: s, classes: newClassTable()},
		funcs:    funcs.All(),
		metering: funcs.NewMetering(),
		varying:  funcs.Varying(),
		mutating: map[string]bool{},
		used:     map[string]bool{},
	}
	for _, f := range funcs.Mutating() {
		c.mutating[f] = true
	}
	return c
}

// Compile compiles one string. once: the resource is created only once, so
// that functions may vary where the scope allows it.
func (c *Compiler) Compile(text string, once bool) (Expr, []Finding) {
	if !strings.Contains(text, "{{") {
		return Expr{parts: []part{{static: text, value: noInput}}}, nil
	}
	trees, err := parseTemplate(text)
	if err != nil {
		return Expr{}, []Finding{{What: parseReason(err)}}
	}
	check := checker{scope: c.set.scope, compiler: c, trees: trees, once: once}
	check.all()
	if len(check.findings) > 0 {
		return Expr{}, check.findings
	}
	main := trees[templateName]
	if parts, ok := c.plainParts(main); ok {
		return Expr{parts: parts}, nil
	}
	if p, result, ok := c.converted(main); ok {
		return Expr{parts: []part{p}, Result: result}, nil
	}
	for name := range check.used {
		c.used[name] = true
	}
	return Expr{
		Result: resultType(main), source: text, template: c.interpreted(&check),
		mutates: check.mutates, Varies: check.varies, uses: slices.Sorted(maps.Keys(check.used)),
	}, nil
}

// templateName is what every string is called inside the template engine.
const templateName = "template"

// parseTemplate parses without looking functions up: the checker does that, for
// all of them, and with suggestions.
func parseTemplate(text string) (map[string]*parse.Tree, error) {
	t := parse.New(templateName)
	t.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := t.Parse(text, "", "", trees); err != nil {
		return nil, err
	}
	if trees[templateName] == nil { // nothing but definitions
		trees[templateName] = &parse.Tree{Name: templateName, Root: &parse.ListNode{NodeType: parse.NodeList}}
	}
	return trees, nil
}

// parseReason drops the template engine's own place from a message: the caller
// has a better one.
func parseReason(err error) string {
	msg := err.Error()
	prefix := "template: " + templateName + ":"
	if rest, found := strings.CutPrefix(msg, prefix); found {
		if _, reason, found := strings.Cut(rest, ": "); found {
			return reason
		}
	}
	return msg
}

// resultType is the type of a string that consists of exactly one action whose
// last function is int, float or bool (contract: templates).
func resultType(tree *parse.Tree) Type {
	if len(tree.Root.Nodes) != 1 {
		return Text
	}
	action, ok := tree.Root.Nodes[0].(*parse.ActionNode)
	if !ok || len(action.Pipe.Decl) > 0 {
		return Text
	}
	return pipeType(action.Pipe)
}

func pipeType(p *parse.PipeNode) Type {
	last := p.Cmds[len(p.Cmds)-1]
	switch f := last.Args[0].(type) {
	case *parse.IdentifierNode:
		switch f.Ident {
		case "int":
			return Int
		case "float":
			return Float
		case "bool":
			return Bool
		}
	case *parse.PipeNode:
		if len(last.Args) == 1 {
			return pipeType(f)
		}
	}
	return Text
}

// Finding is something wrong with a template.
type Finding struct{ What, Fix string }
