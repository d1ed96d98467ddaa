package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// dependents orders the nodes of a plan by the dependencies of their forms.
type dependents struct {
	in    *Input
	plans map[string][]*plan.NodePlan       // the plan's nodes, by the uid of the row
	other map[string][]*inventory.Inventory // the inventories of nodes outside the plan, by the uid of the row
	nodes map[lynq.NodeKey]*plan.NodePlan
}

// staying is a node that is kept, and that depends on a node that the user deletes.
type staying struct{ node, on lynq.NodeKey }

// arrangeForms notes which nodes of a plan wait for which. A node that lynqctl writes waits for
// the nodes that its form depends on. A node that lynqctl deletes waits for the nodes whose
// forms depend on its own. It refuses a deletion if nodes that are kept depend on it.
func arrangeForms(p *plan.Plan, in *Input) []plan.Refusal {
	if !in.formsDepend() {
		return nil
	}
	o := dependents{in: in, plans: map[string][]*plan.NodePlan{}, other: map[string][]*inventory.Inventory{}, nodes: map[lynq.NodeKey]*plan.NodePlan{}}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		o.plans[n.UID], o.nodes[n.Key()] = append(o.plans[n.UID], n), n
	}
	for _, inv := range in.Recorded.Inventories {
		if o.nodes[inv.Node.Key()] == nil {
			o.other[inv.Node.UID] = append(o.other[inv.Node.UID], inv)
		}
	}
	var all []staying
	for i := range p.Nodes {
		switch n := &p.Nodes[i]; {
		case n.Desired == nil:
			all = append(all, o.leaving(n)...)
		case n.Desired.Failed == nil && !in.Options.KeepContent && slices.ContainsFunc(n.Steps, func(s plan.Step) bool { return s.Changes() }):
			o.wanted(n)
		}
	}
	return in.refuse(all)
}

// formsDepend reports whether any form depends on another, now or in its last apply.
func (in *Input) formsDepend() bool {
	for _, err := range in.Recorded.Broken {
		if b := (*inventory.UnreadableError)(nil); errors.As(err, &b) && len(b.DependForms) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(in.Desired.Nodes, func(n *plan.Node) bool { return len(n.DependForms) > 0 }) ||
		slices.ContainsFunc(in.Recorded.Inventories, func(inv *inventory.Inventory) bool { return len(inv.DependForms) > 0 })
}

// wanted makes a node wait for the nodes that its form depends on.
func (o *dependents) wanted(n *plan.NodePlan) {
	for _, form := range n.Desired.DependForms {
		found := false
		for _, other := range o.plans[n.UID] {
			if other.Form.Name != form {
				continue
			}
			found = true
			if other.Suspended {
				o.recorded(n, other.Key(), other.Inventory, form)
				continue
			}
			switch {
			case other.Desired == nil:
				unmetFor(n, "it waits for node %s of form %s (dependForms), which is being deleted (run again when it exists)", other.Key(), form)
			case slices.ContainsFunc(other.Desired.Objects, func(o plan.Object) bool { return o.LeftOut }):
				o.recorded(n, other.Key(), other.Inventory, form)
			}
			o.after(n, other)
		}
		for _, inv := range o.other[n.UID] {
			if inv.Node.Form.Name != form {
				continue
			}
			found = true
			o.recorded(n, inv.Node.Key(), inv, form)
		}
		if !found {
			o.recorded(n, lynq.NodeKey{}, nil, form)
		}
	}
}

// recorded makes a node depend on a node that this run leaves out. Its inventory must say
// that it is ready. The inventory may be nil.
func (o *dependents) recorded(n *plan.NodePlan, key lynq.NodeKey, inv *inventory.Inventory, form string) {
	if inv != nil {
		if why := notReady(inv); why != "" {
			unmetFor(n, "it waits for node %s of form %s (dependForms), which this run leaves out and which %s (apply form %[2]s too; lynqctl status node %[4]s -n %[5]s shows it)", key, form, why, key.Name, key.Namespace)
		}
		return
	}
	for _, b := range o.unreadable(n.UID) {
		if b.Node.Form.Name == form {
			unmetFor(n, "it waits for the node of form %s of its row (dependForms), and lynqctl can't tell whether that exists: %v", form, b)
		}
	}
	unmetFor(n, "it waits for the node of form %s of its row (dependForms), which doesn't exist (apply form %[1]s before it, or with it)", form)
}

// unreadable returns the unreadable inventories that may belong to a row's nodes.
func (o *dependents) unreadable(uid string) []*inventory.UnreadableError {
	var all []*inventory.UnreadableError
	label, _ := naming.UIDLabel(uid)
	for _, err := range o.in.Recorded.Broken {
		if b := (*inventory.UnreadableError)(nil); errors.As(err, &b) && (b.UIDLabel == "" || b.UIDLabel == label) {
			all = append(all, b)
		}
	}
	return all
}

// notReady says why a node isn't ready, from its inventory. It returns "" if the node is
// ready.
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

// leaving makes the deletion of a node wait for the nodes that depend on it. If one of
// these is kept, lynqctl keeps the node too. leaving returns these pairs if the user
// deletes the node.
func (o *dependents) leaving(n *plan.NodePlan) []staying {
	deletes := func(s plan.Step) bool { return s.Action == plan.ActionDelete || s.Action == plan.ActionCollect }
	if n.Cascade == plan.CascadeOrphan || !slices.ContainsFunc(n.Steps, deletes) || o.replaced(n) {
		return nil
	}
	var all []staying
	stays := func(key lynq.NodeKey) {
		unmetFor(n, "lynqctl keeps it, because node %s depends on it (dependForms) and is kept (delete both in one run, or that one first)", key)
		if o.in.Scope.Delete[n.Key()] && !n.Inventory.Deleting {
			all = append(all, staying{key, n.Key()})
		}
	}
	for _, other := range o.plans[n.UID] {
		switch {
		case other == n || !dependsOnForm(other.Inventory, n.Form.Name):
		case other.Desired == nil && !holds(other, n):
			o.after(n, other)
		case other.Desired != nil && (other.Suspended || other.Desired.Failed != nil || slices.Contains(other.Desired.DependForms, n.Form.Name)):
			stays(other.Key())
		}
	}
	for _, inv := range o.other[n.UID] {
		if dependsOnForm(inv, n.Form.Name) {
			stays(inv.Node.Key())
		}
	}
	for _, b := range o.unreadable(n.UID) {
		if slices.Contains(b.DependForms, n.Form.Name) {
			stays(b.Node.Key())
		}
	}
	return all
}

// dependsOnForm reports whether a node's form depends on another form, from its inventory. The
// inventory may be nil.
func dependsOnForm(inv *inventory.Inventory, form string) bool {
	return inv != nil && slices.Contains(inv.DependForms, form)
}

// replaced reports whether the form renders another node for the row, for example in
// another namespace. Then other nodes can depend on that one.
func (o *dependents) replaced(n *plan.NodePlan) bool {
	return slices.ContainsFunc(o.plans[n.UID], func(other *plan.NodePlan) bool {
		return other.Desired != nil && other.Desired.Failed == nil && other.Form.Name == n.Form.Name
	})
}

// holds reports whether a node deletes a container with an object that another node
// deletes. Contents come first, whatever the forms declare.
func holds(n, other *plan.NodePlan) bool {
	return slices.ContainsFunc(n.Steps, func(s plan.Step) bool {
		return s.Object == nil && tracking.IsContainer(s.Entry.Ref) && slices.ContainsFunc(other.Steps, func(in plan.Step) bool {
			keys := tracking.ContainersOf(in.Entry.Ref)
			return slices.Contains(keys[:], tracking.ContainerKey(s.Entry.Ref))
		})
	})
}

// after makes a node wait for another, unless that one waits for it already. Recorded
// dependencies of older forms may form a circle.
func (o *dependents) after(n, other *plan.NodePlan) {
	if n != other && !o.waits(other, n) && !slices.Contains(n.After, other.Key()) {
		n.After = append(n.After, other.Key())
	}
}

// waits reports whether a node waits for another, directly or through others.
func (o *dependents) waits(n, other *plan.NodePlan) bool {
	return slices.ContainsFunc(n.After, func(k lynq.NodeKey) bool { return k == other.Key() || o.waits(o.nodes[k], other) })
}

// unmetFor notes why lynqctl skips a node. It keeps the first reason.
func unmetFor(p *plan.NodePlan, format string, args ...any) {
	if p.Unmet != "" {
		return
	}
	p.Unmet = fmt.Sprintf(format, args...)
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Changes() || s.Action == plan.ActionCollect || s.Action == plan.ActionPurge {
			s.Action, s.Reason, s.Message = plan.ActionSkip, plan.ReasonFormOrder, p.Unmet
		}
	}
}

// refuse returns the guard's refusal of deletions on which kept nodes depend.
func (in *Input) refuse(all []staying) []plan.Refusal {
	if len(all) == 0 {
		return nil
	}
	const most = 3 // the most pairs that the refusal names
	var named []string
	for _, s := range all[:min(len(all), most)] {
		named = append(named, fmt.Sprintf("node %s on %s", s.node, s.on))
	}
	if more := len(all) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return []plan.Refusal{{
		Guard: plan.GuardDependent, Hub: in.Hub,
		What: "nodes that are kept depend on nodes that would be deleted (dependForms): " + strings.Join(named, ", "),
		Fix:  "delete those first, or in the same command; or remove dependForms from their form and apply it",
	}}
}
