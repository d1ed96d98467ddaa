package expr

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"text/template"
	"text/template/parse"

	"github.com/lynqctl/lynqctl/pkg/render/funcs"
)

// interpreted is a template for the interpreter. Each Evaluator binds it to its own
// meter.
type interpreted struct {
	trees map[string]*parse.Tree
	calls []funcs.Metered
	shows bool // what is printed goes through Meter.Shown
}

// shownName is Meter.Shown to the interpreter. No form can say it: funcs.All does not
// have it.
const shownName = "result"

// interpreted is a template that was checked, with what counts its steps.
func (c *Compiler) interpreted(check *checker) *interpreted {
	t := &interpreted{trees: check.trees, shows: check.nests}
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
func (t *interpreted) bound(m *funcs.Meter) (*template.Template, error) {
	functions := template.FuncMap{}
	for i := range t.calls {
		functions[t.calls[i].Name] = t.calls[i].Bound(m)
	}
	if t.shows {
		functions[shownName] = m.Shown
	}
	bound := template.New(templateName).Option("missingkey=error").Funcs(functions)
	for name, tree := range t.trees {
		if _, err := bound.AddParseTree(name, tree); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// output is what a template writes, up to MaxResult bytes, and its meter.
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
