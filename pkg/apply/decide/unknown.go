package decide

import (
	"errors"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// judgeUnknown finds the nodes that lynqctl must not change because it couldn't read their
// objects. Nobody knows which objects they give away.
func (d *decider) judgeUnknown() {
	if len(d.in.Observed.Unknown)+len(d.in.Observed.Misplaced) == 0 {
		return
	}
	for _, n := range d.in.Desired.Nodes {
		inv := d.inventories[n.Key()]
		if n.Failed != nil {
			continue
		}
		if inv != nil && !n.Is(inv) {
			inv = nil // it belongs to another node, so it doesn't count
		}
		d.leaveAsIs(n.Key(), d.in.unfit(n), d.in.notKnown(n.Objects, inv, false))
	}
	for _, inv := range d.in.Recorded.Inventories {
		if d.goes(inv) || d.renamed[inv.Node.Key()] != nil {
			d.leaveAsIs(inv.Node.Key(), nil, d.in.notKnown(nil, inv, true))
		}
	}
}

func (d *decider) leaveAsIs(k lynq.NodeKey, unfit, notKnown error) {
	err := unfit
	if err == nil {
		err = notKnown
	}
	if err != nil && d.untouched[k] == nil {
		d.untouched[k], d.unknown[k] = err, true
	}
}

// unfit returns an error if a desired object of a node can never exist.
func (in *Input) unfit(n *plan.Node) error {
	for i := range n.Objects {
		if err := in.Observed.Misplaced[n.Objects[i].Ref]; err != nil && !n.Objects[i].LeftAlone() {
			return err
		}
	}
	return nil
}

// notKnown returns an error if lynqctl must not change a node with these desired objects
// and this inventory, which may be nil. Objects that are left out or given up don't count.
// For a kept node, an unserved kind matters only for desired objects.
func (in *Input) notKnown(objects []plan.Object, inv *inventory.Inventory, goes bool) error {
	e := &plan.UnknownError{}
	add := func(err error) {
		if err != nil && !slices.Contains(e.Causes, err) {
			e.Causes = append(e.Causes, err)
		}
	}
	wanted := make(map[lynq.Ref]bool, len(objects))
	for i := range objects {
		wanted[objects[i].Ref] = true
		if !objects[i].LeftAlone() && !undefined(in.Observed.Unknown[objects[i].Ref]) {
			add(in.Observed.Unknown[objects[i].Ref])
		}
	}
	if inv != nil && !in.Scope.Narrowed {
		for _, r := range inv.All() {
			ref := r.Ref
			err := in.Observed.Unknown[ref]
			if unserved := (*plan.UnservedError)(nil); wanted[ref] || in.givenUp(ref) || !goes && errors.As(err, &unserved) {
				continue
			}
			add(err)
		}
	}
	if len(e.Causes) == 0 {
		return nil
	}
	slices.SortFunc(e.Causes, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return e
}

// undefined reports whether an error means that nothing defines a kind. The run may create
// the definition, and then the object, unless that comes back with it.
func undefined(err error) bool {
	unserved := (*plan.UnservedError)(nil)
	return errors.As(err, &unserved) && unserved.Definition == "" && !kinds.BuiltIn(unserved.Group)
}

// kept plans a node that a later run deletes. This run doesn't change it.
func (d *decider) kept(inv *inventory.Inventory, why error) plan.NodePlan {
	if suspended := d.suspended(inv.Node.Key()); suspended != nil {
		return leftAlone(inv.Node, inv, suspended)
	}
	return plan.NodePlan{
		NodeID: inv.Node, Inventory: inv,
		Desired: &plan.Node{
			NodeID: inv.Node, Failed: why,
		},
	}
}

// unseen plans an undesired object that lynqctl couldn't read or that can't exist. For any
// other object it returns false and plans nothing.
func (in *Input) unseen(s *plan.Step) bool {
	if err := in.Observed.Unknown[s.Entry.Ref]; err != nil {
		s.Action, s.Reason, s.Message = plan.ActionSkip, plan.ReasonUnknown, "lynqctl keeps its entry: "+err.Error()
		return true
	}
	if err := in.Observed.Misplaced[s.Entry.Ref]; err != nil {
		s.Action, s.Reason, s.Message = plan.ActionRelease, plan.ReasonAlreadyGone, err.Impossible()
		return true
	}
	return false
}
