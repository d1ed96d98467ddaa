package expr

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

// checker finds errors in a parsed template that show without any row.
type checker struct {
	scope    *Scope
	compiler *Compiler
	trees    map[string]*parse.Tree
	once     bool

	current  string              // the tree under check
	calls    map[string][]string // calls between templates
	findings []Finding
	used     map[string]bool
	called   map[string]bool // names of called functions
	nests    bool            // some call may put lists or maps into others
	mutates  bool
	varies   bool
}

// dot says what "." means in a part of a template.
type dot bool

const (
	variables dot = true  // the variables of the row
	other     dot = false // an element of a range, the value of a with, or an argument
)

func (c *checker) all() {
	c.used, c.called, c.calls = map[string]bool{}, map[string]bool{}, map[string][]string{}
	names := make([]string, 0, len(c.trees))
	for name := range c.trees {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c.current = name
		c.list(c.trees[name].Root, dot(name == templateName))
	}
	c.recursion(names)
}

// recursion refuses templates that call themselves. Data could make them exhaust the
// stack, and no program can catch that.
func (c *checker) recursion(names []string) {
	for _, name := range names {
		reached, todo := map[string]bool{}, c.calls[name]
		for len(todo) > 0 {
			next := todo[0]
			todo = todo[1:]
			if !reached[next] {
				reached[next] = true
				todo = append(todo, c.calls[next]...)
			}
		}
		if reached[name] {
			c.found("use range", "template %q calls itself", name)
		}
	}
}

func (c *checker) found(fix, format string, args ...any) {
	f := Finding{fmt.Sprintf(format, args...), fix}
	if !slices.Contains(c.findings, f) {
		c.findings = append(c.findings, f)
	}
}

func (c *checker) list(l *parse.ListNode, d dot) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		c.node(n, d)
	}
}

func (c *checker) node(n parse.Node, d dot) {
	switch n := n.(type) {
	case *parse.ActionNode:
		c.pipe(n.Pipe, d)
	case *parse.IfNode:
		c.branch(&n.BranchNode, d, d)
	case *parse.RangeNode:
		c.branch(&n.BranchNode, d, other)
	case *parse.WithNode:
		c.branch(&n.BranchNode, d, other)
	case *parse.TemplateNode:
		c.pipe(n.Pipe, d)
		c.calls[c.current] = append(c.calls[c.current], n.Name)
		if c.trees[n.Name] == nil {
			c.found(`each string of a form is a template of its own; define it in the same string`, "template %q is not defined", n.Name)
		}
	}
}

func (c *checker) branch(n *parse.BranchNode, d, inside dot) {
	c.pipe(n.Pipe, d)
	c.list(n.List, inside)
	c.list(n.ElseList, d)
}

func (c *checker) pipe(p *parse.PipeNode, d dot) {
	if p == nil {
		return
	}
	for i, cmd := range p.Cmds {
		if i == 0 {
			c.shorten(cmd, d)
		}
		for _, arg := range cmd.Args {
			c.arg(arg, d)
		}
		piped := 0
		if i > 0 {
			piped = 1
		}
		if f, ok := cmd.Args[0].(*parse.IdentifierNode); ok {
			c.arguments(f.Ident, len(cmd.Args)-1+piped)
			c.literals(f.Ident, cmd.Args[1:], piped, d)
			c.nested(f.Ident, cmd.Args[1:], piped > 0, d)
		}
	}
}

// nested notes a call that may put lists or maps into others. Such a call has arguments
// other than literals and variables of the row.
func (c *checker) nested(name string, args []parse.Node, piped bool, d dot) {
	f := reflect.TypeOf(c.compiler.funcs[name])
	if f == nil || f.Out(0) != reflect.TypeFor[[]any]() && f.Out(0) != reflect.TypeFor[map[string]any]() {
		return
	}
	c.nests = c.nests || piped || slices.ContainsFunc(args, func(n parse.Node) bool {
		switch n := n.(type) {
		case *parse.StringNode, *parse.NumberNode, *parse.BoolNode:
			return false
		case *parse.FieldNode:
			return d != variables
		case *parse.VariableNode:
			return len(n.Ident) != 2 || n.Ident[0] != "$" || !c.dollarIsRow(d)
		}
		return true
	})
}

func (c *checker) arg(n parse.Node, d dot) {
	switch n := n.(type) {
	case *parse.DotNode:
		if d == variables {
			c.useAll()
		}
	case *parse.FieldNode:
		if d == variables {
			c.variable(n.Ident)
		} else {
			c.fields(n.Ident)
		}
	case *parse.VariableNode:
		c.dollar(n, d)
	case *parse.IdentifierNode:
		c.function(n.Ident)
	case *parse.PipeNode:
		c.pipe(n, d)
	case *parse.ChainNode:
		c.arg(n.Node, d)
		c.fields(n.Field)
	}
}

// fields refuses methods whose result depends on the machine.
func (c *checker) fields(path []string) {
	if slices.Contains(path, "Local") {
		c.found(`name a zone: dateInZone "Europe/Berlin"`, "the local time zone is another one on every machine")
	}
}

// dollar checks $ and $.name. Other variables belong to the template. Inside a definition,
// $ is an argument with unknown fields.
func (c *checker) dollar(n *parse.VariableNode, d dot) {
	if n.Ident[0] != "$" {
		c.fields(n.Ident[1:])
		return
	}
	if len(n.Ident) == 1 {
		c.useAll()
		return
	}
	if c.dollarIsRow(d) {
		c.variable(n.Ident[1:])
		return
	}
	c.useAll()
}

// dollarIsRow reports whether $ certainly has the variables of the row.
func (c *checker) dollarIsRow(d dot) bool { return d == variables || len(c.trees) == 1 }

func (c *checker) useAll() {
	for _, name := range c.scope.names() {
		if l, ok := c.scope.Lookups[name]; ok {
			c.useLookup(name, l)
			continue
		}
		c.used[name] = true
	}
	c.nests = c.nests || len(c.scope.Lookups) > 0
}

func (c *checker) variable(path []string) {
	name := path[0]
	if l, ok := c.scope.Lookups[name]; ok {
		c.lookup(l, path)
		return
	}
	c.used[name] = true
	if !c.scope.has(name) {
		fix := suggest.List(c.scope.names()) + "; add it to extraValueMappings in the hub"
		if near, ok := suggest.Near(name, c.scope.names()); ok {
			fix = fmt.Sprintf("did you mean %s? otherwise add it to extraValueMappings in the hub", lynq.VariableRef(near))
		}
		c.found(fix, "variable .%s is unknown", name)
		return
	}
	if len(path) > 1 {
		c.found(fmt.Sprintf("for JSON in a column: (.%s | fromJson).%s", name, strings.Join(path[1:], ".")),
			".%s is text and has no field %s", name, strings.Join(path[1:], "."))
	}
}

func (c *checker) function(name string) {
	c.called[name] = true
	if c.compiler.mutating[name] {
		c.mutates = true
	}
	if c.compiler.varying[name] {
		c.varies = true
		c.varying(name)
		return
	}
	if _, ok := c.compiler.funcs[name]; ok || builtin(name) {
		return
	}
	if why, ok := funcs.Refused()[name]; ok {
		c.found(why, "function %s does not exist here", name)
		return
	}
	fix := "Go templates', sprig's and Lynq's functions exist"
	if near, ok := suggest.Near(name, slices.Sorted(maps.Keys(c.compiler.funcs))); ok {
		fix = fmt.Sprintf("did you mean %s?", near)
	}
	c.found(fix, "function %s does not exist", name)
}

func (c *checker) varying(name string) {
	switch {
	case !c.once:
		c.found("use it only with creationPolicy: Once, or store the value in a column",
			"function %s returns a new value every time, so that every run would change the object", name)
	case !c.scope.Varying:
		c.found("store the value in a column, or pass --allow-nondeterministic",
			"function %s returns a new value every time", name)
	}
}

// builtin reports whether text/template defines a function.
func builtin(name string) bool {
	switch name {
	case "and", "break", "call", "continue", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not",
		"or", "print", "printf", "println", "slice", "urlquery":
		return true
	}
	return false
}
