package decide

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/declared"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A form or a row that has another name makes another node, with an inventory of its own.
// The node of the earlier name goes on as that one: its objects move there, as far as the
// new node renders them. What the new node renders by other names leaves, as if the form
// had dropped it. No hook runs, for no node is deleted.

// Rename has nodes go on that had other names before. A form counts by the name that it had
// before, too: what holds for the form holds for its nodes of that name.
func (in *Input) Rename(r *lynq.Renames) {
	if r == nil {
		return
	}
	in.Renames = r
	for before, now := range r.Forms {
		if slices.Contains(in.Forms, before) {
			continue // inputs that have both are refused
		}
		in.Forms = append(in.Forms, before)
		in.Exclude[before] = in.Exclude[now]
		if period, has := in.Grace.Periods[now]; has {
			in.Grace.Periods[before] = period
		}
		for _, h := range in.Hooks {
			if h.Form == now {
				in.Hooks = append(in.Hooks, declared.Form{Form: before, Hooks: h.Hooks})
			}
		}
	}
}

// renamed is a node that goes on as another one.
type renamed struct {
	// now is that node, nil where this run leaves it out: then nothing becomes of either.
	now *plan.Node
}

// findRenamed finds the nodes that go on as others. The node of an active row is never one.
func (d *decider) findRenamed() {
	if d.in.Renames == nil {
		return
	}
	d.renamed, d.earlier = map[lynq.NodeKey]*renamed{}, map[lynq.NodeKey][]*inventory.Inventory{}
	present := map[string][]*plan.Node{}
	for _, n := range d.in.Nodes {
		uid := strings.TrimSpace(n.UID)
		present[uid] = append(present[uid], n)
	}
	for _, inv := range d.in.Inventories {
		key := inv.Node.Key()
		form, uid, was := d.in.Renames.Of(inv.Node)
		uid = strings.TrimSpace(uid)
		if !was || !d.in.Renames.Active[uid] || d.nodes[key] != nil || d.in.Delete[key] || d.misnamed.recorded[key] || !d.counts(inv) || inv.Deleting && !inv.Finalizer {
			continue
		}
		r := &renamed{}
		for _, n := range present[uid] {
			if n.Form.Name == form.Name && (form.Namespace == "" || n.Form.Namespace == form.Namespace) && d.in.planned(n.Key()) && !d.in.Narrowed {
				r.now = n
				d.earlier[n.Key()] = append(d.earlier[n.Key()], inv)
			}
		}
		d.renamed[key] = r
	}
}

// moved plans a node that goes on as another one. It gives that one all that it renders, and
// waits until it is as its row wants it.
func (d *decider) moved(inv *inventory.Inventory, now *plan.Node) plan.NodePlan {
	p := plan.NodePlan{NodeID: inv.Node, Inventory: inv, Next: now.Key(), After: []lynq.NodeKey{now.Key()}}
	me := d.owner(p.Key())
	p.Strays = d.straysOf(me)
	p.Steps = append(d.leave(me, inv, entriesOf(inv), reason.Renamed), hooking{d}.unrun(me, inv, now)...)
	tellNotIncluded(now, p.Steps)
	if err := d.obstacle(now, d.inventories[now.Key()]); err != nil {
		for i := range p.Steps {
			s := &p.Steps[i]
			s.Action, s.Reason, s.To = plan.ActionSkip, reason.RowUnknown, lynq.NodeKey{}
			s.Message = "its node goes on as node " + now.Key().String() + ", which can't be applied"
		}
	}
	tellLosses(p.Steps, now.Objects)
	return p
}

// unrun plans what becomes of the hooks of a node that goes on as another one, which has
// them from now on.
func (h hooking) unrun(me plan.Owner, inv *inventory.Inventory, now *plan.Node) []plan.Step {
	var steps []plan.Step
	for i := range inv.Hooks {
		r := &inv.Hooks[i]
		if r.Phase != "" {
			steps = append(steps, h.d.leavingStep(me, r, h.d.in.Live[r.Ref], reason.Leftover))
			continue
		}
		steps = append(steps, plan.Step{Entry: r, Action: plan.ActionRelease, Reason: reason.NotRun, Message: "it is not run: its node goes on as node " + now.Key().String()})
	}
	return steps
}

// completedBefore is what the earlier inventories of a node have of an object that did its
// work and is purged, nil for nothing. What is created once does its work once, by whatever
// name.
func (d *decider) completedBefore(n *plan.Node, o *plan.Object) *inventory.Entry {
	for _, inv := range d.earlier[n.Key()] {
		for i := range inv.Entries {
			r := inv.Entries[i]
			if r.Phase != inventory.PhaseCompleted {
				continue
			}
			again := o.Policy.Creation.Once() && r.Creation.Once() && r.ID == o.ID && r.Group == o.Group && r.Kind == o.Kind
			if r.Ref != o.Ref && !again {
				continue
			}
			if before, err := o.DigestIn(inv.Node.Key()); err == nil && before == r.Digest && before != "" {
				r.Digest, r.Template = o.Digest, o.Template // no more than its tracking is another
			}
			r.Ref = o.Ref
			return &r
		}
	}
	return nil
}

// leavesBehind tells whether a node that goes on as another one loses an object.
func (d *decider) leavesBehind(inv *inventory.Inventory) bool {
	steps := d.leave(d.owner(inv.Node.Key()), inv, entriesOf(inv), reason.Renamed)
	return slices.ContainsFunc(steps, func(s plan.Step) bool { return s.Action == plan.ActionDelete })
}
