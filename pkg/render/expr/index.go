package expr

import (
	"slices"
	"text/template/parse"
)

// shorten turns index . "name" into .name. Only index can name a variable that isn't an
// identifier. So both spellings report the same columns and run equally fast. Unknown
// names stay unchanged, because a template may set them or supply a default.
func (c *checker) shorten(cmd *parse.CommandNode, d dot) {
	if len(cmd.Args) != 3 {
		return
	}
	function, called := cmd.Args[0].(*parse.IdentifierNode)
	name, named := cmd.Args[2].(*parse.StringNode)
	if !called || function.Ident != "index" || !named {
		return
	}
	if field := c.scope.lookupField(cmd.Args[1], name.Text); field != nil && d == variables {
		cmd.Args = []parse.Node{field}
		return
	}
	if !c.scope.has(name.Text) {
		return
	}
	if field := c.field(cmd.Args[1], d, name.Text); field != nil {
		cmd.Args = []parse.Node{field}
	}
}

// field returns n as a variable of the row, or nil. n may be the map of all variables.
func (c *checker) field(n parse.Node, d dot, name string) parse.Node {
	switch n := n.(type) {
	case *parse.DotNode:
		if d == variables {
			return &parse.FieldNode{NodeType: parse.NodeField, Pos: n.Pos, Ident: []string{name}}
		}
	case *parse.VariableNode:
		if len(n.Ident) == 1 && n.Ident[0] == "$" && c.dollarIsRow(d) {
			return &parse.VariableNode{NodeType: parse.NodeVariable, Pos: n.Pos, Ident: []string{"$", name}}
		}
	}
	return nil
}

// lookupField returns the field of a lookup that a node names, or nil.
func (s *Scope) lookupField(n parse.Node, name string) parse.Node {
	field, ok := n.(*parse.FieldNode)
	if !ok || len(field.Ident) != 1 {
		return nil
	}
	l, ok := s.Lookups[field.Ident[0]]
	if !ok || !l.Open && !slices.Contains(l.Fields, name) {
		return nil
	}
	return &parse.FieldNode{NodeType: parse.NodeField, Pos: field.Pos, Ident: []string{field.Ident[0], name}}
}
