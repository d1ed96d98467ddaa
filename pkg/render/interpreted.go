package render

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"text/template"
	"text/template/parse"
)

// interpreted is a template for the interpreter. Each frame binds it to its own
// meter.
type interpreted struct {
	trees map[string]*parse.Tree
	calls []metered
	shows bool // what is printed goes through meter.shown
}

// shownName is meter.shown to the interpreter. No form can say it: functions() does not
// have it.
const shownName = "result"

// interpreted is a template that was checked, with what counts its steps.
func (c *exprCompiler) interpreted(check *checker) *interpreted {
	t := &interpreted{trees: check.trees, shows: check.nests}
	for _, name := range slices.Sorted(maps.Keys(check.called)) {
		if f, ok := c.funcs[name]; ok {
			t.calls = append(t.calls, c.metering.of(name, f))
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

// turn is a text of nothing: the interpreter writes it, and output counts that. So
// what goes round can be counted where no function is called.
func turn() parse.Node { return &parse.TextNode{NodeType: parse.NodeText} }

// count has every turn of a loop counted and, where that may be much, what is printed.
func (t *interpreted) count(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			if t.shows && len(n.Pipe.Decl) == 0 {
				shown := parse.NewIdentifier(shownName).SetPos(n.Pos)
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{shown}})
			}
		case *parse.IfNode:
			t.branches(&n.BranchNode)
		case *parse.WithNode:
			t.branches(&n.BranchNode)
		case *parse.RangeNode:
			t.branches(&n.BranchNode)
			n.List.Nodes = slices.Insert(n.List.Nodes, 0, turn())
		}
	}
}

func (t *interpreted) branches(n *parse.BranchNode) {
	t.count(n.List)
	t.count(n.ElseList)
}

// bound is the template for evaluations that draw on a meter.
func (t *interpreted) bound(m *meter) (*template.Template, error) {
	functions := template.FuncMap{}
	for i := range t.calls {
		functions[t.calls[i].name] = t.calls[i].bound(m)
	}
	if t.shows {
		functions[shownName] = m.shown
	}
	bound := template.New(templateName).Option("missingkey=error").Funcs(functions)
	for name, tree := range t.trees {
		if _, err := bound.AddParseTree(name, tree); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// output is what a template writes, up to maxResult bytes, and its meter.
type output struct {
	bytes.Buffer
	meter meter
}

func (o *output) Write(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, o.meter.step()
	case o.Len()+len(p) > maxResult:
		return 0, &valueError{what: fmt.Sprintf("the result has more than %d bytes", maxResult)}
	}
	return o.Buffer.Write(p)
}
