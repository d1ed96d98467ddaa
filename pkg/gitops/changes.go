package gitops

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/changeset"
)

// Groups groups the changed objects. It also returns the objects in groups of many, which
// reports don't show one by one. The set has no values, since a report of a tree names none.
func (r *Report) Groups() (*changeset.Set, map[*ObjectChange]bool) {
	var changes []changeset.Change
	var objects []*ObjectChange
	for i := range r.Changes {
		n := &r.Changes[i]
		for j := range n.Objects {
			o := &n.Objects[j]
			changes, objects = append(changes, n.changeOf(o)), append(objects, o)
		}
	}
	all := r.Nodes.Added + r.Nodes.Changed + r.Nodes.Removed + r.Nodes.Unchanged
	set, grouped := changeset.Of(changes, all), map[*ObjectChange]bool{}
	for i := range set.Groups {
		for _, k := range set.Groups[i].Members {
			if set.Groups[i].Many() {
				grouped[objects[k]] = true
			}
		}
	}
	return set, grouped
}

// Alone returns the node with the objects that stand in no group of many.
func (n *NodeChange) Alone(grouped map[*ObjectChange]bool) *NodeChange {
	alone := *n
	alone.Objects = nil
	for i := range n.Objects {
		if o := &n.Objects[i]; !grouped[o] {
			alone.Objects = append(alone.Objects, *o)
		}
	}
	return &alone
}

// Causes returns the causes of the node's changed objects, each once.
func (n *NodeChange) Causes() []string {
	var causes []string
	add := func(w *Why) {
		if text := w.String(); text != "" && !slices.Contains(causes, text) {
			causes = append(causes, text)
		}
	}
	for i := range n.Objects {
		o := &n.Objects[i]
		add(&o.Why)
		for j := range o.Fields {
			add(&o.Fields[j].Why)
		}
	}
	return causes
}

// RefuseFindings returns a refusal for each finding with one of these codes.
func (r *Report) RefuseFindings(codes []changeset.Code) []plan.Refusal {
	if len(codes) == 0 {
		return nil
	}
	var refusals []plan.Refusal
	set, _ := r.Groups()
	for _, f := range set.FoundOf(codes) {
		refusals = append(refusals, plan.Refusal{Guard: plan.GuardFailOn, What: f.String(), Fix: "review the changes with --dry-run; to write them anyway, leave the code out of --fail-on"})
	}
	return refusals
}

// changeOf returns a changed object of the node.
func (n *NodeChange) changeOf(o *ObjectChange) changeset.Change {
	c := changeset.Change{Node: n.NodeID, Ref: o.key.Ref, ID: o.ID, Action: string(o.Change), Words: string(o.Change)}
	if len(o.Fields) == 0 {
		c.Cause = o.text()
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		c.Fields = append(c.Fields, changeset.Field{Path: "." + f.Field, Columns: f.Columns, Cause: f.text(), Place: f.Form})
	}
	if o.Change == Removed {
		c.Findings = changeset.Find(&c, changeset.Effects{Contents: o.Contents != "", Data: !o.stays && (o.key.Data || o.key.HoldsData())}, nil)
	} else {
		c.Findings = changeset.Find(&c, changeset.Effects{}, map[string]any{}) // without values
	}
	return c
}
