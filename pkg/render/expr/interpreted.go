package expr

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"text/template"
	"text/template/parse"

	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

// interpreted is a template for the interpreter. Each Evaluator binds it to its own meter.
type interpreted struct {
	trees map[string]*parse.Tree
	calls []funcs.Metered
	// prints reports whether an action may print something else than a text or a whole
	// number. Meter.Shown then prints it.
	prints func(*parse.PipeNode) bool
}

// These are the interpreter's names for Meter.Shown and funcs.Condition. Forms can't call
// them, because funcs.All doesn't have them.
const (
	shownName     = "result"
	conditionName = "condition"
)

// interpreted returns a checked template with step counting.
func (c *Compiler) interpreted(check *checker) *interpreted {
	t := &interpreted{trees: check.trees, prints: func(p *parse.PipeNode) bool { return check.nests || !c.simple(p) }}
	for _, name := range slices.Sorted(maps.Keys(check.called)) {
		if f, ok := c.funcs[name]; ok {
			t.calls = append(t.calls, c.metering.Of(name, f))
		}
	}
	for name, tree := range t.trees {
		t.count(tree.Root)
		if name != templateName {
			tree.Root.Nodes = slices.Insert(tree.Root.Nodes, 0, turn())
		}
	}
	return t
}

// turn returns an empty text. The interpreter writes it, and output counts the write. This
// counts loops that call no function.
func turn() parse.Node { return &parse.TextNode{NodeType: parse.NodeText} }

// count adds step counting to each loop. It also counts printed values that may be large.
func (t *interpreted) count(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			conditions(n.Pipe)
			if len(n.Pipe.Decl) == 0 && t.prints(n.Pipe) {
				then(n.Pipe, shownName)
			}
		case *parse.TemplateNode:
			conditions(n.Pipe)
		case *parse.IfNode:
			then(n.Pipe, conditionName)
			t.branches(&n.BranchNode)
		case *parse.WithNode:
			if n.ElseList != nil {
				then(n.Pipe, conditionName)
			}
			t.branches(&n.BranchNode)
		case *parse.RangeNode:
			t.branches(&n.BranchNode)
			n.List.Nodes = slices.Insert(n.List.Nodes, 0, turn())
		}
	}
}

// then adds a function to the end of a pipe.
func then(p *parse.PipeNode, function string) {
	name := parse.NewIdentifier(function).SetPos(p.Pos)
	p.Cmds = append(p.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: p.Pos, Args: []parse.Node{name}})
}

// conditions makes and and or refuse texts that are words for true or false. The last
// argument is their result. Nobody takes it for true or false here.
func conditions(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for i, cmd := range p.Cmds {
		for _, arg := range cmd.Args {
			if nested, ok := arg.(*parse.PipeNode); ok {
				conditions(nested)
			}
			if chain, ok := arg.(*parse.ChainNode); ok {
				if nested, ok := chain.Node.(*parse.PipeNode); ok {
					conditions(nested)
				}
			}
		}
		if f, ok := cmd.Args[0].(*parse.IdentifierNode); !ok || f.Ident != "and" && f.Ident != "or" {
			continue
		}
		tested := cmd.Args[1:]
		if i == 0 && len(tested) > 0 {
			tested = tested[:len(tested)-1]
		}
		for j := range tested {
			tested[j] = tests(tested[j])
		}
	}
}

// tests returns a pipe that passes a value on unless no condition may have it.
func tests(n parse.Node) parse.Node {
	pipe, ok := n.(*parse.PipeNode)
	if !ok {
		pipe = &parse.PipeNode{NodeType: parse.NodePipe, Pos: n.Position(), Cmds: []*parse.CommandNode{
			{NodeType: parse.NodeCommand, Pos: n.Position(), Args: []parse.Node{n}},
		}}
	}
	then(pipe, conditionName)
	return pipe
}

// simple reports whether a pipe certainly gives a text, a whole number or a boolean.
func (c *Compiler) simple(p *parse.PipeNode) bool {
	last := p.Cmds[len(p.Cmds)-1]
	switch n := last.Args[0].(type) {
	case *parse.StringNode, *parse.BoolNode:
		return true
	case *parse.PipeNode:
		return len(last.Args) == 1 && c.simple(n)
	case *parse.IdentifierNode:
		f := reflect.TypeOf(c.funcs[n.Ident])
		if f == nil {
			return n.Ident == "len"
		}
		switch f.Out(0).Kind() {
		case reflect.String, reflect.Bool, reflect.Int, reflect.Int64:
			return true
		}
	}
	return false
}

func (t *interpreted) branches(n *parse.BranchNode) {
	conditions(n.Pipe)
	t.count(n.List)
	t.count(n.ElseList)
}

// bound returns the template for evaluations with this meter.
func (t *interpreted) bound(m *funcs.Meter) (*template.Template, error) {
	functions := template.FuncMap{}
	for i := range t.calls {
		functions[t.calls[i].Name] = t.calls[i].Bound(m)
	}
	functions[shownName], functions[conditionName] = m.Shown, funcs.Condition
	bound := template.New(templateName).Option("missingkey=error").Funcs(functions)
	for name, tree := range t.trees {
		if _, err := bound.AddParseTree(name, tree); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// output collects a template's result, up to MaxResult bytes, with its meter.
type output struct {
	bytes.Buffer
	meter funcs.Meter
}

func (o *output) Write(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, o.meter.Step()
	case o.Len()+len(p) > funcs.MaxResult:
		return 0, &funcs.ValueError{What: fmt.Sprintf("the result has more than %d bytes", funcs.MaxResult)}
	}
	return o.Buffer.Write(p)
}
