package gitops

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/changeset"
)

// Groups are the changed objects, in groups. They have no values, since a report of a tree
// names none.
type Groups struct {
	*changeset.Set
	// Objects has the object of each change of the set.
	Objects []*ObjectChange
}

// Groups returns the changed objects in groups.
func (r *Report) Groups() *Groups {
	if r.groups == nil {
		return r.group()
	}
	return r.groups
}

func (r *Report) group() *Groups {
	objects := 0
	for i := range r.Changes {
		objects += len(r.Changes[i].Objects)
	}
	changes := make([]changeset.Change, 0, objects)
	fields := sharedFields{}
	g := &Groups{Objects: make([]*ObjectChange, 0, objects)}
	for i := range r.Changes {
		n := &r.Changes[i]
		for j := range n.Objects {
			o := &n.Objects[j]
			changes, g.Objects = append(changes, n.changeOf(o, fields)), append(g.Objects, o)
		}
	}
	all := r.Nodes.Added + r.Nodes.Changed + r.Nodes.Removed + r.Nodes.Unchanged
	g.Set = changeset.Of(changes, all)
	for k, number := range g.Numbers() {
		g.Objects[k].group = number
	}
	return g
}

// Alone returns the node with the objects that stand in no group of many.
func (n *NodeChange) Alone() *NodeChange {
	alone := *n
	alone.Objects = nil
	for i := range n.Objects {
		if o := &n.Objects[i]; o.group == 0 {
			alone.Objects = append(alone.Objects, *o)
		}
	}
	return &alone
}

// Causes returns the causes of the node's changed objects, each once.
func (n *NodeChange) Causes() []string {
	var causes []string
	for i := range n.Objects {
		for _, cause := range n.Objects[i].Causes() {
			if !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
	}
	return causes
}

// Causes returns the causes of the object, each once.
func (o *ObjectChange) Causes() []string {
	causes := []string{o.String()}
	if len(o.Fields) > 0 {
		causes = changeset.AtPlaces(len(o.Fields), o.edited().String(), func(i int) (cause, place string) { return o.Fields[i].text(), o.Fields[i].Form })
	}
	return slices.DeleteFunc(causes, func(cause string) bool { return cause == "" })
}

// Details returns the changed fields, with their causes if these differ, and what happens to
// an object that its node loses.
func (o *ObjectChange) Details() []string {
	var details []string
	many := len(o.Causes()) > 1
	for i := range o.Fields {
		f := &o.Fields[i]
		text := "." + f.Field
		if many && f.Cause != "" {
			text += ": " + f.String()
		}
		details = append(details, text)
	}
	if o.Contents != "" {
		details = append(details, o.Contents)
	}
	if o.stays {
		details = append(details, "another node, or the tool that applies the tree, keeps it")
	}
	return details
}

// edited says how the form changed that is a cause, or returns nil.
func (o *ObjectChange) edited() *changeset.Edit {
	for i := range o.Fields {
		if e := o.Fields[i].Edit; e != nil {
			return e
		}
	}
	return o.Edit
}

// RefuseFindings returns a refusal for each finding with one of these codes.
func (r *Report) RefuseFindings(codes []changeset.Code) []plan.Refusal {
	if len(codes) == 0 {
		return nil
	}
	var refusals []plan.Refusal
	for _, f := range r.Groups().FoundOf(codes) {
		refusals = append(refusals, plan.Refusal{Guard: plan.GuardFailOn, What: f.String(), Fix: "review the changes with --dry-run; to write them anyway, leave the code out of --fail-on"})
	}
	return refusals
}

// sharedFields has the fields of changes, by the first field of the objects that share theirs.
type sharedFields map[*FieldChange][]changeset.Field

// of returns the fields of an object, which has some.
func (s sharedFields) of(fields []FieldChange) []changeset.Field {
	shared := s[&fields[0]]
	if shared == nil {
		shared = make([]changeset.Field, len(fields))
		for i := range fields {
			f := &fields[i]
			shared[i] = changeset.Field{Path: "." + f.Field, Columns: f.Columns, Cause: f.text(), Place: f.Form}
		}
		s[&fields[0]] = shared
	}
	return shared
}

// changeOf returns a changed object of the node.
func (n *NodeChange) changeOf(o *ObjectChange, fields sharedFields) changeset.Change {
	c := changeset.Change{Node: &n.NodeID, Ref: o.key.Ref, ID: o.ID, Action: string(o.Change), Words: string(o.Change)}
	if len(o.Fields) == 0 {
		c.Cause, c.Place = o.text(), o.Form
	} else {
		c.Fields = fields.of(o.Fields)
	}
	c.Edit = o.edited()
	if o.Change == Removed {
		c.Findings = changeset.Find(&c, changeset.Effects{Contents: o.Contents != "", Data: !o.stays && (o.key.Data || o.key.HoldsData())}, nil)
	} else {
		c.Findings = changeset.Find(&c, o.effects, map[string]any{}) // without values
	}
	return c
}
