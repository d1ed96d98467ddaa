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

// Type is the type of an expression's result.
type Type uint8

// The types of results.
const (
	Text Type = iota
	Int
	Float
	Bool
)

// part is a piece of an expression that needs no interpreter. It is static bytes, or a
// variable with functions.
type part struct {
	static string
	value  int // index of the program's input; noInput for static bytes
	input  input
}

// input is a variable with functions. The evaluator computes each different input once per
// row.
type input struct {
	column int // column of the row, or HostColumn
	apply  []func(string) (string, error)
}

const noInput = -1 // a part with static bytes

// These values replace the index of a column.
const (
	NoColumn   = -1 // there is no column
	HostColumn = -2 // the host of the hostOrUrl column
)

// Expr is a compiled string of a form. It is a sequence of parts, or a template for the
// interpreter.
type Expr struct {
	Result   Type
	Varies   bool // each evaluation gives a different result
	Trim     bool // for names and namespaces: remove white space around the result
	UIDLabel bool // for label lynq.sh/uid: hash a uid that no label allows
	Styled   bool // the output has the result as a YAML string

	parts    []part
	template *interpreted // nil if the expression has only parts
	mutates  bool         // the template changes its variables
	nodeName bool         // the name of the row's node: hash an invalid name
	profile  profile
	source   string
	uses     []string // variables that the template reads, sorted
}

// Static returns the text of an expression that doesn't depend on the row.
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

// trimParts removes white space at both ends of the static parts.
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

// Scope lists the names that a form's templates may use.
type Scope struct {
	Columns   map[string]int    // from variable to column of the row, or HostColumn
	Constants map[string]string // from variable to a text that is the same for every row
	Varying   bool              // nondeterministic functions are allowed
	UID       int               // column of the uid
	HostOrURL int               // column of hostOrUrl, or NoColumn
	Lookups   map[string]Lookup // by their names
	Width     int               // number of the row's columns; fields of lookups follow

	fields []Field // the used fields of lookups
}

func (s *Scope) has(name string) bool {
	_, isColumn := s.Columns[name]
	_, isConstant := s.Constants[name]
	_, isLookup := s.Lookups[name]
	return isColumn || isConstant || isLookup
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
		for n := range s.Lookups {
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
	// used has the variables that interpreted templates read. It has all of them if a
	// template uses the whole map.
	used map[string]bool
}

// NewCompiler starts a set of expressions. Finish completes it.
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

// Compile compiles one string. once means that lynqctl creates the resource only once. The
// string may then use nondeterministic functions if the scope allows them.
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
		return Expr{parts: parts, source: text}, nil
	}
	if p, result, ok := c.converted(main); ok {
		return Expr{parts: []part{p}, Result: result, source: text}, nil
	}
	for name := range check.used {
		c.used[name] = true
	}
	return Expr{
		Result: resultType(main), source: text, template: c.interpreted(&check),
		mutates: check.mutates, Varies: check.varies, uses: slices.Sorted(maps.Keys(check.used)),
	}, nil
}

// templateName is the name of every string in the template engine.
const templateName = "template"

// parseTemplate parses without checking function names. The checker does that, and
// suggests names.
func parseTemplate(text string) (map[string]*parse.Tree, error) {
	t := parse.New(templateName)
	t.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := t.Parse(text, "", "", trees); err != nil {
		return nil, err
	}
	if trees[templateName] == nil { // the text has only definitions
		trees[templateName] = &parse.Tree{Name: templateName, Root: &parse.ListNode{NodeType: parse.NodeList}}
	}
	return trees, nil
}

// parseReason removes the template engine's position from a message, because the caller
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

// resultType returns the type of a string with exactly one action whose last function is
// int, float or bool (contract: templates).
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

// Finding is an error in a template.
type Finding struct{ What, Fix string }
