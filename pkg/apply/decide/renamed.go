package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// A renamed form or row renders another node with its own inventory. That node continues
// the earlier one, and takes the objects that it renders too. If the new node renders an
// object under another name, lynqctl treats the old one as dropped from the form. Hooks
// don't run, because lynqctl deletes no node.

// Rename continues nodes that had other names before. A form also counts under its earlier
// name, so its settings apply to nodes with that name.
func (in *Input) Rename(r *lynq.Renames) {
	if r == nil {
		return
	}
	in.Desired.Renames = r
	for before, now := range r.Forms {
		if slices.Contains(in.Desired.Forms, before) {
			continue // loading refuses files with both names
		}
		in.Desired.Forms = append(in.Desired.Forms, before)
		in.Desired.Exclude[before] = in.Desired.Exclude[now]
		if period, has := in.Desired.Grace[now]; has {
			in.Desired.Grace[before] = period
		}
		for _, h := range in.Desired.Hooks {
			if h.Form == now {
				in.Desired.Hooks = append(in.Desired.Hooks, FormHooks{Form: before, Hooks: h.Hooks})
			}
		}
	}
}

// renamed is a node that another node continues.
type renamed struct {
	// now is that other node. It is nil if this run leaves it out, and then neither
	// changes.
	now *plan.Node
	// of is the hub of that other node.
	of *decider
	// name is the other node's name, unless its hub has recorded another one.
	name string
	// all are the nodes that render objects of this node, including the other one.
	all []lynq.NodeKey
	// elsewhere is the row's node in a hub that this run leaves out, and mostly nil.
	elsewhere *renderer
}

// obstacle returns why lynqctl can't plan the other node, and mostly nil.
func (r *renamed) obstacle() error { return r.of.obstacle(r.now, r.of.inventories[r.now.Key()]) }

// findRenamed finds the nodes that other nodes continue. Their forms or the uids of their
// rows have new names, or their rows moved to another hub of the run. In the last case, the
// other hub's forms must render all of their objects. The node of an active row is never
// one.
func (d *decider) findRenamed() {
	if d.in.Desired.Renames == nil && len(d.beside) == 0 && d.in.Desired.Elsewhere == nil {
		return
	}
	present := d.in.presentRows()
	besides := make([]map[string][]*plan.Node, len(d.beside))
	for i, b := range d.beside {
		besides[i] = b.in.presentRows()
	}
	for _, inv := range d.in.Recorded.Inventories {
		key := inv.Node.Key()
		if d.nodes[key] != nil || d.in.Scope.Delete[key] || d.misnamed.recorded[key] || !d.in.counts(inv) || inv.Deleting && !inv.Finalizer {
			continue
		}
		if r := d.in.renamedHere(inv, present); r != nil {
			r.of = d
			d.goesOn(inv, r)
			continue
		}
		if d.in.activeRow(inv) {
			continue
		}
		for i, b := range d.beside {
			r := b.renamedThere(inv, besides[i][strings.TrimSpace(inv.Node.UID)])
			if r != nil && d.renamed[key] == nil && !d.in.Scope.Narrowed && (r.now.Failed != nil || !d.leavesBehind(inv)) {
				d.goesOn(inv, r)
			}
		}
		to := d.in.Desired.Elsewhere.movesTo(d.in.Hub, inv)
		if to != nil && d.renamed[key] == nil && !d.in.Scope.Narrowed && !d.leavesBehind(inv) {
			d.goesOn(inv, &renamed{of: d, elsewhere: to})
		}
	}
}

// activeRow reports whether the row of an inventory is active in this hub, so that it isn't
// in another one. A run of some nodes knows no active rows.
func (in *Input) activeRow(inv *inventory.Inventory) bool {
	return in.Desired.Renames != nil && in.Desired.Renames.Active[strings.TrimSpace(inv.Node.UID)]
}

// goesOn notes that another node continues a node.
func (d *decider) goesOn(inv *inventory.Inventory, r *renamed) {
	d.renamed[inv.Node.Key()] = r
	if r.now != nil {
		r.of.earlier[r.now.Key()] = append(r.of.earlier[r.now.Key()], inv)
	}
}

// presentRows returns the nodes of active rows by uid, without surrounding blanks.
func (in *Input) presentRows() map[string][]*plan.Node {
	present := map[string][]*plan.Node{}
	for _, n := range in.Desired.Nodes {
		uid := strings.TrimSpace(n.UID)
		present[uid] = append(present[uid], n)
	}
	return present
}

// renamedHere returns the continuation of a node with a renamed form or row, and mostly
// nil.
func (in *Input) renamedHere(inv *inventory.Inventory, present map[string][]*plan.Node) *renamed {
	if in.Desired.Renames == nil {
		return nil
	}
	form, uid, was := in.Desired.Renames.Of(inv.Node)
	uid = strings.TrimSpace(uid)
	if !was || !in.Desired.Renames.Active[uid] {
		return nil
	}
	r := &renamed{name: naming.NodeName(uid, form.Name)}
	for _, n := range present[uid] {
		if n.Form.Name == form.Name && (form.Namespace == "" || n.Form.Namespace == form.Namespace) && in.Scope.Plans(n.Key()) && !in.Scope.Narrowed {
			r.now, r.all = n, []lynq.NodeKey{n.Key()}
		}
	}
	return r
}

// renamedThere returns the continuation in this hub of another hub's node, or nil. Nodes of
// a row with the same uid must render objects of it, or may.
func (d *decider) renamedThere(inv *inventory.Inventory, row []*plan.Node) *renamed {
	r := &renamed{of: d}
	for _, n := range row {
		renders := func(e inventory.Entry) bool {
			return d.desired()[e.Ref] == n.Key() || n.Failed != nil && slices.Contains(n.Claims.Refs, e.Ref)
		}
		if !d.in.Scope.Plans(n.Key()) || !slices.ContainsFunc(inv.Entries, renders) {
			continue
		}
		if r.now == nil || n.Failed != nil {
			r.now = n
		}
		r.all = append(r.all, n.Key())
	}
	if r.now == nil {
		return nil
	}
	return r
}

// continued plans a node that continues as another node, here or in another hub. It reports
// false if the plan leaves the node alone.
func (d *decider) continued(inv *inventory.Inventory, r *renamed) (p plan.NodePlan, planned bool) {
	switch {
	case r.now != nil:
		return d.moved(inv, r), true
	case r.elsewhere != nil:
		return d.waiting(inv, r.elsewhere), true
	}
	return d.in.asked(inv, r)
}

// moved plans a node that another node continues. It gives that node every object that it
// renders too, and waits until that node is done.
func (d *decider) moved(inv *inventory.Inventory, r *renamed) plan.NodePlan {
	now := r.now
	p := plan.NodePlan{NodeID: inv.Node, Inventory: inv, Next: now.Key(), After: r.all}
	me := d.owner(p.Key())
	p.Unlisted = d.unlistedOf(me)
	p.Steps = append(d.leave(me, inv, entriesOf(inv), plan.ReasonRenamed), hooking{d}.unrun(me, inv, now)...)
	tellNotIncluded(now, p.Steps)
	if r.obstacle() != nil {
		for i := range p.Steps {
			s := &p.Steps[i]
			s.Action, s.Reason, s.To = plan.ActionSkip, plan.ReasonRowUnknown, nil
			s.Message = "its node goes on as node " + now.Key().String() + ", which can't be applied"
		}
	}
	tellLosses(p.Steps, now.Objects)
	return p
}

// waiting plans a node with a row in a hub outside this run. lynqctl doesn't change the
// node until a run of both hubs moves its objects.
func (d *decider) waiting(inv *inventory.Inventory, to *renderer) plan.NodePlan {
	p := plan.NodePlan{NodeID: inv.Node, Inventory: inv, Next: to.node}
	me := d.owner(p.Key())
	p.Steps = d.leave(me, inv, entriesOf(inv), plan.ReasonRenamed)
	for i := range inv.Hooks {
		p.Steps = append(p.Steps, plan.Step{Entry: &inv.Hooks[i]})
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Reason == plan.ReasonRendered {
			continue
		}
		s.Action, s.Reason, s.To = plan.ActionSkip, plan.ReasonRendered, nil
		s.Message = fmt.Sprintf("its row makes node %s of hub %s (apply both hubs in one run to move it)", to.node, to.hub)
	}
	return p
}

// asked plans a node that the user named and that a node outside this run continues.
func (in *Input) asked(inv *inventory.Inventory, r *renamed) (p plan.NodePlan, named bool) {
	if !in.Scope.Only[inv.Node.Name] {
		return p, false
	}
	p = plan.NodePlan{NodeID: inv.Node, Inventory: inv, Unmet: "it goes on as node " + r.name + ", which this run leaves out (pass --node " + r.name + ")"}
	return p, true
}

// unrun plans the hooks of a node that another node continues, because that one now has
// them.
func (h hooking) unrun(me plan.Owner, inv *inventory.Inventory, now *plan.Node) []plan.Step {
	var steps []plan.Step
	for i := range inv.Hooks {
		r := &inv.Hooks[i]
		if r.Phase != "" {
			steps = append(steps, h.d.leavingStep(me, r, h.d.in.Observed.Live[r.Ref], plan.ReasonLeftover))
			continue
		}
		steps = append(steps, plan.Step{Entry: r, Action: plan.ActionRelease, Reason: plan.ReasonNotRun, Message: "lynqctl doesn't run it, because its node continues as node " + now.Key().String()})
	}
	return steps
}

// completedBefore returns the entry of an object that did its work and was purged, from the
// node's earlier inventories, or nil. An object that is created once does its work once,
// under any name. An inventory of the hub in another namespace doesn't count. Anybody who
// may write there could prevent the node's work.
func (d *decider) completedBefore(n *plan.Node, o *plan.Object) *inventory.Entry {
	for _, inv := range d.earlier[n.Key()] {
		if inv.Node.Namespace != n.Namespace && d.inventories[inv.Node.Key()] == inv {
			continue
		}
		for i := range inv.Entries {
			r := inv.Entries[i]
			if r.Phase != inventory.PhaseCompleted && (!r.Ended || d.in.Observed.Live[r.Ref] != nil) {
				continue
			}
			again := o.Policy.Creation.Once() && r.Creation.Once() && r.ID == o.ID && r.Group == o.Group && r.Kind == o.Kind
			if r.Ref != o.Ref && !again {
				continue
			}
			if before, err := o.DigestIn(inv.Node.Full().Hub, inv.Node.Key()); err == nil && before == r.Digest && before != "" {
				r.Digest, r.Template = o.Digest, o.Template // only its tracking changed
			}
			r.Ref = o.Ref
			return &r
		}
	}
	return nil
}

// leavesBehind reports whether lynqctl deletes an object of a node that another node
// continues.
func (d *decider) leavesBehind(inv *inventory.Inventory) bool {
	steps := d.leave(d.owner(inv.Node.Key()), inv, entriesOf(inv), plan.ReasonRenamed)
	return slices.ContainsFunc(steps, func(s plan.Step) bool { return s.Action == plan.ActionDelete })
}
