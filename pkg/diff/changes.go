package diff

import (
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Changes are the objects that would change, in groups.
type Changes struct {
	*changeset.Set
	// Objects has the object of each change of the set.
	Objects []*Object
}

// Changes groups the objects that would change, without those for which apply would fail.
// It does so once: a report doesn't change after that.
func (r *Report) Changes() *Changes {
	if r.changes != nil {
		return r.changes
	}
	r.changes = &Changes{}
	var changes []changeset.Change
	for i := range r.Nodes {
		n := &r.Nodes[i]
		for j := range n.Objects {
			if o := &n.Objects[j]; shown(o) {
				changes, r.changes.Objects = append(changes, o.change(&n.NodeID)), append(r.changes.Objects, o)
			}
		}
	}
	r.changes.Set = changeset.Of(changes, r.Total)
	return r.changes
}

// change returns the object as a change of a node.
func (o *Object) change(of *lynq.NodeID) changeset.Change {
	c := changeset.Change{Node: of, Ref: o.Ref, ID: o.ID, Action: o.Action, Words: o.What(), Findings: o.Findings, Edit: o.edit()}
	if o.Cause.Kind != "" {
		c.Cause = o.Cause.String()
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		c.Fields = append(c.Fields, changeset.Field{
			Path: f.Path.String(), Op: string(f.Op), Before: f.Before, After: f.After, Columns: f.Columns, Cause: f.Cause.Shared(), Place: f.Cause.Form.String(),
		})
	}
	return c
}
