package render

import (
	"cmp"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// object writes resource i as an object.
func (f *frame) object(to *buffers, i int) (lynq.Object, error) {
	r := &f.program.resources[i]
	start := len(to.out)
	out, err := f.body(to.out, i)
	if err != nil {
		return lynq.Object{}, err
	}
	to.out = out
	return lynq.Object{
		Ref:        f.ref(i),
		ID:         r.ID,
		Template:   r.template,
		APIVersion: r.APIVersion,
		Body:       out[start:len(out):len(out)],
		Policy:     &r.Policy,
		DependIDs:  r.DependIDs,
		Exclusion:  f.exclusion(i),
		Sensitive:  r.sensitive,
	}, nil
}

// fixed returns a leaf that doesn't depend on the row.
func (n *node) fixed() any {
	switch n.kind {
	case document.Bool:
		return n.value.Bool
	case document.Int:
		return n.value.Int
	case document.Float:
		return scalar.NumberValue(scalar.AppendFloat(nil, n.value.Float))
	case document.String:
		return n.value.Str
	}
	return nil
}

// Node renders one row into objects. The row has the order of Columns. Problems name the
// row.
func (p *Program) Node(row lynq.Row) (*lynq.Node, lynq.Problems) {
	f := newFrame(p, &Settings{})
	f.begin(row)
	var problems lynq.Problems
	if !f.render(&problems) {
		return nil, problems
	}
	n := p.head(p.nodeID(p.Hub.Key(), f.uid, f.name()))
	f.fillNode(n, &buffers{}, &problems)
	return n, problems
}

// nodeID returns the identity of a row's node.
func (p *Program) nodeID(hub lynq.HubKey, uid, name string) lynq.NodeID {
	return lynq.NodeID{Hub: hub, Form: lynq.FormKey{Namespace: cmp.Or(p.Form.Namespace, hub.Namespace), Name: p.Form.Name}, UID: uid, Namespace: p.Namespace, Name: name}
}

// head returns a node without objects.
func (p *Program) head(id lynq.NodeID) *lynq.Node {
	return &lynq.Node{NodeID: id, Generation: p.Form.Generation, DependForms: p.dependForms}
}

// fillNode writes the objects of the last rendered row.
func (f *frame) fillNode(n *lynq.Node, to *buffers, problems *lynq.Problems) {
	p := f.program
	n.Row, n.Match = f.rowDigest(), f.matched
	n.Objects = make([]lynq.Object, 0, len(p.resources))
	for _, i := range p.places {
		if f.left[i] {
			continue
		}
		o, err := f.object(to, i)
		switch {
		case err != nil:
			f.fail(problems, p.resources[i].at, "", "%v", err)
		case !o.Policy.Hook():
			n.Objects = append(n.Objects, o)
		case f.exclusion(i) == nil: // lynqctl never creates an excluded object
			n.Hooks = append(n.Hooks, o)
		}
	}
	n.Tombstones, n.NotIncluded = f.tombstones(), f.notIncluded()
}

// render loads and checks the row. It returns false if the row has problems.
func (f *frame) render(problems *lynq.Problems) bool {
	before := len(*problems)
	f.load(problems)
	if len(*problems) == before {
		f.check(problems)
	}
	return len(*problems) == before
}
