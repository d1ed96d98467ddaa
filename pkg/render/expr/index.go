package expr

import "text/template/parse"

// shorten turns index . "name" into .name. Only index can name a variable that isn't an
// identifier. So both spellings report the same columns and run equally fast. Unknown
// names stay unchanged, because a template may set them or supply a default.
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
