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

// interpreted is a template for the interpreter. Each Evaluator binds it to its own meter.
type interpreted struct {
	trees map[string]*parse.Tree
	calls []funcs.Metered
	shows bool // printed values go through Meter.Shown
}

// shownName is the interpreter's name for Meter.Shown. Forms can't call it, because
// funcs.All doesn't have it.
const shownName = "result"

// interpreted returns a checked template with step counting.
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

// bound returns the template for evaluations with this meter.
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
