package expr

import (
	"text/template/parse"

	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

// This file lets most rows avoid the template interpreter. It compiles the most common
// forms of actions to plain Go.

// plainParts splits a template that has only text and plain variables.
func (c *Compiler) plainParts(tree *parse.Tree) ([]part, bool) {
	var parts []part
	for _, n := range tree.Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			parts = append(parts, part{static: string(n.Text), value: noInput})
		case *parse.CommentNode:
		case *parse.ActionNode:
			p, ok := c.plainPipe(n.Pipe.Cmds)
			if !ok || len(n.Pipe.Decl) > 0 {
				return nil, false
			}
			parts = append(parts, p)
		default:
			return nil, false
		}
	}
	return mergeStatic(parts), true
}

// plainPipe compiles pipes such as .name, .name | lower | trunc63, lower .name, and .name
// | default "text".
func (c *Compiler) plainPipe(cmds []*parse.CommandNode) (part, bool) {
	first, rest := cmds[0], cmds[1:]
	p, ok := variable(c.set.scope, first.Args[len(first.Args)-1])
	if !ok {
		return part{}, false
	}
	calls := [][]parse.Node{first.Args[:len(first.Args)-1]}
	for _, cmd := range rest {
		calls = append(calls, cmd.Args)
	}
	for i, call := range calls {
		if i == 0 && len(call) == 0 {
			continue
		}
		f, ok := c.direct(call)
		if !ok {
			return part{}, false
		}
		p.input.apply = append(p.input.apply, f)
	}
	if p.value == noInput { // a constant instead of a column
		text, err := p.input.through(p.static)
		return part{static: text, value: noInput}, err == nil
	}
	return p, true
}

// direct returns a call as a function of its last argument. It knows the most common
// functions of one text.
func (c *Compiler) direct(call []parse.Node) (func(string) (string, error), bool) {
	name, ok := call[0].(*parse.IdentifierNode)
	if !ok {
		return nil, false
	}
	switch name.Ident {
	case "lower", "upper", "trim", "trunc63", "sha1sum", "sha256sum", "b64enc":
		f, ok := c.funcs[name.Ident].(func(string) string)
		return func(s string) (string, error) { return f(s), nil }, ok && len(call) == 1
	case "toHost":
		return funcs.ToHost, len(call) == 1
	case "default":
		if len(call) != 2 {
			return nil, false
		}
		text, ok := call[1].(*parse.StringNode)
		if !ok {
			return nil, false
		}
		return func(s string) (string, error) {
			if s == "" {
				return text.Text, nil
			}
			return s, nil
		}, true
	}
	return nil, false
}

// through applies the functions of an input to a text.
func (in *input) through(s string) (string, error) {
	for _, f := range in.apply {
		var err error
		if s, err = f(s); err != nil {
			return "", err
		}
	}
	return s, nil
}

// variable compiles .name or $.name to a part.
func variable(s *Scope, n parse.Node) (part, bool) {
	var name string
	switch n := n.(type) {
	case *parse.FieldNode:
		name = s.variable(n.Ident)
	case *parse.VariableNode:
		if len(n.Ident) > 1 && n.Ident[0] == "$" {
			name = s.variable(n.Ident[1:])
		}
	}
	if name == "" {
		return part{}, false
	}
	if text, ok := s.Constants[name]; ok {
		return part{static: text, value: noInput}, true
	}
	column, ok := s.column(name)
	return part{input: input{column: column}}, ok
}

func mergeStatic(parts []part) []part {
	merged := parts[:0]
	for _, p := range parts {
		if last := len(merged) - 1; p.value == noInput && last >= 0 && merged[last].value == noInput {
			merged[last].static += p.static
		} else {
			merged = append(merged, p)
		}
	}
	return merged
}

// converted compiles {{ .name | int }}, {{ int .name }}, {{ .name | default "1" | int }},
// and the same with float and bool.
func (c *Compiler) converted(tree *parse.Tree) (part, Type, bool) {
	result := resultType(tree)
	if result == Text {
		return part{}, 0, false
	}
	action, _ := tree.Root.Nodes[0].(*parse.ActionNode) // resultType checked this
	cmds := action.Pipe.Cmds
	last := cmds[len(cmds)-1]
	var p part
	var ok bool
	switch {
	case len(cmds) == 1 && len(last.Args) == 2:
		p, ok = variable(c.set.scope, last.Args[1])
	case len(cmds) > 1 && len(last.Args) == 1:
		p, ok = c.plainPipe(cmds[:len(cmds)-1])
	}
	return p, result, ok && p.value != noInput
}
