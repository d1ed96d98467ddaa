package render

import (
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

// exprType is what an expression's result is.
type exprType uint8

const (
	typeText exprType = iota
	typeInt
	typeFloat
	typeBool
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
	column int // of the row, or one of those below
	apply  []func(string) string
}

const (
	noInput    = -1 // part: static bytes
	noColumn   = -1 // no column at all
	hostColumn = -2 // the host of the hostOrUrl column
)

// expr is one string of a form, ready to run: parts one after another, or a
// template for the interpreter.
type expr struct {
	parts    []part
	template *interpreted // nil where parts are all of it
	mutates  bool         // the template changes the variables it is given
	varies   bool         // every run of the template has another result
	result   exprType
	trim     bool // names and namespaces: blanks around the result go
	uidLabel bool // value of label lynq.sh/uid: a uid that no label can hold gets its hashed form
	nodeName bool // the name of the row's node: what is no name gets its hashed form
	styled   bool // the result is written as a YAML string somewhere
	profile  profile
	source   string
	// Where the string stands first, and in how many more places, for errors: it
	// runs once for all of them.
	at   place
	more int
	uses []string // variables that a template reads, sorted
	// Who needs the result: every row, or only those that have one of these resources.
	always bool
	of     []int
	// condition: it says whether a row has a resource, and is run before all else.
	condition bool
}

// place is where in a form a string stands.
type place struct {
	pos      lynq.Pos
	resource string // id
	field    string // "spec.replicas", "nameTemplate", ...
	secret   bool   // what stands here may be a secret: errors must not show it
}

// static is the text of an expression that no row changes.
func (e *expr) static() (string, bool) {
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
func (e *expr) trimParts() {
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

// scope is what the templates of a form may refer to.
type scope struct {
	columns   map[string]int    // variable -> column of the row, or hostColumn
	constants map[string]string // variable -> text, the same for every row
	varying   bool              // functions that differ from run to run are allowed
}

func (s *scope) has(name string) bool {
	_, isColumn := s.columns[name]
	_, isConstant := s.constants[name]
	return isColumn || isConstant
}

func (s *scope) names() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for n := range s.columns {
			if !yield(n) {
				return
			}
		}
		for n := range s.constants {
			if !yield(n) {
				return
			}
		}
	})
}

// exprCompiler turns the strings of one form into expressions.
type exprCompiler struct {
	funcs    template.FuncMap
	metering funcs.Metering
	varying  map[string]bool
	mutating map[string]bool
	// used are the variables that interpreted templates read; all of them
	// where one uses the variables as a whole.
	used map[string]bool
}

func newExprCompiler() *exprCompiler {
	c := &exprCompiler{
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

// compile compiles one string. once: the resource is created only once, so
// that functions may vary where the scope allows it.
func (c *exprCompiler) compile(s *scope, text string, once bool) (expr, []finding) {
	if !strings.Contains(text, "{{") {
		return expr{parts: []part{{static: text, value: noInput}}}, nil
	}
	trees, err := parseTemplate(text)
	if err != nil {
		return expr{}, []finding{{what: parseReason(err)}}
	}
	check := checker{scope: s, compiler: c, trees: trees, once: once}
	check.all()
	if len(check.findings) > 0 {
		return expr{}, check.findings
	}
	main := trees[templateName]
	if parts, ok := c.plainParts(s, main); ok {
		return expr{parts: parts}, nil
	}
	if p, result, ok := c.converted(s, main); ok {
		return expr{parts: []part{p}, result: result}, nil
	}
	for name := range check.used {
		c.used[name] = true
	}
	return expr{
		result: resultType(main), source: text, template: c.interpreted(&check),
		mutates: check.mutates, varies: check.varies, uses: slices.Sorted(maps.Keys(check.used)),
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
func resultType(tree *parse.Tree) exprType {
	if len(tree.Root.Nodes) != 1 {
		return typeText
	}
	action, ok := tree.Root.Nodes[0].(*parse.ActionNode)
	if !ok || len(action.Pipe.Decl) > 0 {
		return typeText
	}
	return pipeType(action.Pipe)
}

func pipeType(p *parse.PipeNode) exprType {
	last := p.Cmds[len(p.Cmds)-1]
	switch f := last.Args[0].(type) {
	case *parse.IdentifierNode:
		switch f.Ident {
		case "int":
			return typeInt
		case "float":
			return typeFloat
		case "bool":
			return typeBool
		}
	case *parse.PipeNode:
		if len(last.Args) == 1 {
			return pipeType(f)
		}
	}
	return typeText
}

// finding is something wrong with a template.
type finding struct{ what, fix string }
