package expr

import "text/template/parse"

// shorten makes .name of index . "name", the only way to say a variable whose name
// is no identifier, so that what holds for the one holds for the other: which
// columns a string reads, and how fast. Names that no mapping provides stay as they
// are: a template may set them itself, or have a default for them.
func (c *checker) shorten(cmd *parse.CommandNode, d dot) {
	if len(cmd.Args) != 3 {
		return
	}
	function, called := cmd.Args[0].(*parse.IdentifierNode)
	name, named := cmd.Args[2].(*parse.StringNode)
	if !called || function.Ident != "index" || !named || !c.scope.has(name.Text) {
		return
	}
	if field := c.field(cmd.Args[1], d, name.Text); field != nil {
		cmd.Args = []parse.Node{field}
	}
}

// field is a variable of the row, of which n may be all; nil where it is something
// else.
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
