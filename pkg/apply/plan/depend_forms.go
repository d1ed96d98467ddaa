package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// dependents orders the nodes of a plan as their forms depend on each other.
type dependents struct {
	*decider
	plans map[string][]*NodePlan            // of the plan, by the uids of rows
	other map[string][]*inventory.Inventory // of those that the plan leaves alone
	nodes map[NodeKey]*NodePlan
}

// staying is a node that stays, and depends on one that a person deletes.
type staying struct{ node, on NodeKey }

// orderNodes notes which nodes of a plan wait for which: one that is written for those
// that its form depends on, one that goes for those whose forms depend on its own. It
// gives the nodes that would stay without what they depend on.
func (d *decider) orderNodes(p *Plan) []staying {
	if !d.formsDepend() {
		return nil
	}
	o := dependents{decider: d, plans: map[string][]*NodePlan{}, other: map[string][]*inventory.Inventory{}, nodes: map[NodeKey]*NodePlan{}}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		o.plans[n.UID], o.nodes[n.NodeKey] = append(o.plans[n.UID], n), n
	}
	for _, inv := range d.Inventories {
		if o.nodes[NodeKey{inv.Namespace, inv.Node}] == nil {
			o.other[inv.RowUID] = append(o.other[inv.RowUID], inv)
		}
	}
	var all []staying
	for i := range p.Nodes {
		switch n := &p.Nodes[i]; {
		case n.Desired == nil:
			all = append(all, o.leaving(n)...)
		case n.Desired.Failed == nil && !d.KeepContent && slices.ContainsFunc(n.Steps, writes):
			o.wanted(n)
		}
	}
	return all
}

// formsDepend tells whether any form depends on another, or did when it was applied.
func (d *decider) formsDepend() bool {
	for _, err := range d.Broken {
		if b := (*inventory.UnreadableError)(nil); errors.As(err, &b) && len(b.DependForms) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(d.Nodes, func(n *Node) bool { return len(n.DependForms) > 0 }) ||
		slices.ContainsFunc(d.Inventories, func(inv *inventory.Inventory) bool { return len(inv.DependForms) > 0 })
}

// wanted has a node wait for those that its form depends on.
func (o *dependents) wanted(n *NodePlan) {
	for _, form := range n.Desired.DependForms {
		found := false
		for _, other := range o.plans[n.UID] {
			if other.Form != form {
				continue
			}
			found = true
			switch {
			case other.Desired == nil:
				n.unmet("it waits for node %s of form %s (dependForms), which is being deleted (run again when it is there)", other.NodeKey, form)
			case slices.ContainsFunc(other.Desired.Objects, func(o Object) bool { return o.LeftOut }):
				o.recorded(n, other.NodeKey, other.Inventory, form)
			}
			o.after(n, other)
		}
		for _, inv := range o.other[n.UID] {
			if inv.Form != form {
				continue
			}
			found = true
			o.recorded(n, NodeKey{inv.Namespace, inv.Node}, inv, form)
		}
		if !found {
			o.recorded(n, NodeKey{}, nil, form)
		}
	}
}

// recorded has a node wait for one that this run leaves out: its inventory, which may be
// nil, has to say that it is ready.
func (o *dependents) recorded(n *NodePlan, key NodeKey, inv *inventory.Inventory, form string) {
	if inv != nil {
		if why := notReady(inv); why != "" {
			n.unmet("it waits for node %s of form %s (dependForms), which this run leaves out and which %s (apply form %[2]s, too; lynqctl status node %[4]s -n %[5]s shows it)", key, form, why, key.Name, key.Namespace)
		}
		return
	}
	for _, b := range o.unreadable(n.UID) {
		if b.Form == form {
			n.unmet("it waits for the node of form %s of its row (dependForms), of which it is not known whether it is there: %v", form, b)
		}
	}
	n.unmet("it waits for the node of form %s of its row (dependForms), and there is none (apply form %[1]s before it, or with it)", form)
}

// unreadable are the records of a row's nodes that could not be read, as far as they tell
// whose they are.
func (o *dependents) unreadable(uid string) []*inventory.UnreadableError {
	var all []*inventory.UnreadableError
	label, _ := lynq.UIDLabel(uid)
	for _, err := range o.Broken {
		if b := (*inventory.UnreadableError)(nil); errors.As(err, &b) && (b.UIDLabel == "" || b.UIDLabel == label) {
			all = append(all, b)
		}
	}
	return all
}

// notReady is how a node is that is not ready, by its record, "" where it is.
func notReady(inv *inventory.Inventory) string {
	switch {
	case inv.Deleting:
		return "is being deleted"
	case inv.Status.Is(inventory.ConditionReady):
		return ""
	}
	for _, c := range inv.Status.Conditions {
		if c.Type == inventory.ConditionDegraded && c.Status == "True" && c.Message != "" {
			return "is not ready: " + c.Message
		}
	}
	return "is not ready"
}

// leaving has a node go after those that depend on it. Where one of them stays, so does
// it; and those that a person deletes all the same are given.
func (o *dependents) leaving(n *NodePlan) []staying {
	deletes := func(s Step) bool { return s.Action == ActionDelete || s.Action == ActionCollect }
	if n.Cascade == CascadeOrphan || !slices.ContainsFunc(n.Steps, deletes) || o.replaced(n) {
		return nil
	}
	var all []staying
	stays := func(key NodeKey) {
		n.unmet("it stays, for node %s depends on it (dependForms) and stays, too (let both go in one run, or that one first)", key)
		if o.Delete[n.NodeKey] && !n.Inventory.Deleting {
			all = append(all, staying{key, n.NodeKey})
		}
	}
	for _, other := range o.plans[n.UID] {
		switch {
		case other == n || !dependsOn(other.Inventory, n.Form):
		case other.Desired == nil && !holds(other, n):
			o.after(n, other)
		case other.Desired != nil && (other.Desired.Failed != nil || slices.Contains(other.Desired.DependForms, n.Form)):
			stays(other.NodeKey)
		}
	}
	for _, inv := range o.other[n.UID] {
		if dependsOn(inv, n.Form) {
			stays(NodeKey{inv.Namespace, inv.Node})
		}
	}
	for _, b := range o.unreadable(n.UID) {
		if slices.Contains(b.DependForms, n.Form) {
			stays(NodeKey{b.Namespace, b.Node})
		}
	}
	return all
}

// dependsOn tells whether the form of a node depends on another, as its inventory, which
// may be nil, has it.
func dependsOn(inv *inventory.Inventory, form string) bool {
	return inv != nil && slices.Contains(inv.DependForms, form)
}

// replaced tells whether the form makes another node for the row, such as in another
// namespace, for others to depend on.
func (o *dependents) replaced(n *NodePlan) bool {
	return slices.ContainsFunc(o.plans[n.UID], func(other *NodePlan) bool {
		return other.Desired != nil && other.Desired.Failed == nil && other.Form == n.Form
	})
}

// holds tells whether a node deletes a container of what another one deletes: what is in
// it goes first, whatever forms say.
func holds(n, other *NodePlan) bool {
	return slices.ContainsFunc(n.Steps, func(s Step) bool {
		return s.Object == nil && IsContainer(s.Entry.Ref) && slices.ContainsFunc(other.Steps, func(in Step) bool {
			keys := ContainersOf(in.Entry.Ref)
			return slices.Contains(keys[:], ContainerKey(s.Entry.Ref))
		})
	})
}

// after has a node wait for another, unless that one waits for it: what older forms said,
// and was recorded, may go in a circle.
func (o *dependents) after(n, other *NodePlan) {
	if n != other && !o.waits(other, n) && !slices.Contains(n.After, other.NodeKey) {
		n.After = append(n.After, other.NodeKey)
	}
}

// waits tells whether a node waits for another, be it by way of others.
func (o *dependents) waits(n, other *NodePlan) bool {
	return slices.ContainsFunc(n.After, func(k NodeKey) bool { return k == other.NodeKey || o.waits(o.nodes[k], other) })
}

// unmet notes why nothing is done with a node. The first reason stays.
func (p *NodePlan) unmet(format string, args ...any) {
	if p.Unmet != "" {
		return
	}
	p.Unmet = fmt.Sprintf(format, args...)
	for i := range p.Steps {
		if s := &p.Steps[i]; writes(*s) || s.Action == ActionCollect || s.Action == ActionPurge {
			s.Action, s.Reason, s.Message = ActionSkip, ReasonFormOrder, p.Unmet
		}
	}
}

// refuseDependents is what the guard has against a deletion that takes from nodes what
// they depend on.
func (d *decider) refuseDependents(all []staying) []Refusal {
	if len(all) == 0 {
		return nil
	}
	const most = 3 // that are named
	var named []string
	for _, s := range all[:min(len(all), most)] {
		named = append(named, fmt.Sprintf("node %s on %s", s.node, s.on))
	}
	if more := len(all) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return []Refusal{{
		Guard: GuardDependent, Hub: d.hubKey(),
		What: "nodes that stay depend on nodes that would go (dependForms): " + strings.Join(named, ", "),
		Fix:  "delete those first, or in the same command; or take dependForms out of their form and apply it",
	}}
}
