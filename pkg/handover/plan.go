package handover

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// The guards of a handover, beside apply's GuardOperator (it still runs) and
// GuardDeleting (LynqNodes are being deleted).
const (
	GuardRecord  plan.Guard = "record"  // a node's record is another's, or cannot be read
	GuardClaimed plan.Guard = "claimed" // two LynqNodes name one object
)

// Reasons that only a handover has.
const (
	ReasonHandover   plan.Reason = "Handover"   // it was the operator's
	ReasonAbsent     plan.Reason = "Absent"     // there is no such object
	ReasonUnreadable plan.Reason = "Unreadable" // lynqctl could not read it
)

// Input holds everything that a plan needs.
type Input struct {
	Nodes []*Node
	Found [][]Found // of each node
	// Inventories are all that there are, and Broken those that cannot be read.
	Inventories []*inventory.Inventory
	Broken      []*inventory.UnreadableError
	// Finalizer: inventories that are made get the node's finalizer.
	Finalizer bool
}

// Plan says what happens to LynqNodes and to their objects.
type Plan struct {
	Nodes    []NodePlan // by hub, then by name
	Refusals []plan.Refusal
}

// NodePlan says how a handover treats one LynqNode.
type NodePlan struct {
	*Node
	Objects []Object
	// Inventory is what the node's inventory is to say, and Save whether that is more
	// than it says already.
	Inventory *inventory.Inventory
	Save      bool
}

// NewPlan makes a plan. It is a pure function.
func NewPlan(in *Input) *Plan {
	inventories := map[lynq.NodeKey]*inventory.Inventory{}
	for _, inv := range in.Inventories {
		inventories[inv.Node.Key()] = inv
	}
	p := &Plan{}
	for i, n := range in.Nodes {
		before := inventories[n.Key()]
		np := NodePlan{Node: n}
		for _, f := range in.Found[i] {
			var record types.UID
			if before != nil {
				record = types.UID(before.UID)
			}
			np.Objects = append(np.Objects, judge(n, f, record))
		}
		np.Inventory, np.Save = recordOf(n, np.Objects, before, in.Finalizer)
		p.Nodes = append(p.Nodes, np)
	}
	slices.SortStableFunc(p.Nodes, func(a, b NodePlan) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Hub, b.Hub), cmp.Compare(a.Name, b.Name))
	})
	p.refuseDeleted()
	p.refuseRecords(inventories, in.Broken)
	p.refuseTwice()
	return p
}

// hopeless tells whether an object keeps the LynqNode where it is.
func (p *NodePlan) hopeless() bool {
	return slices.ContainsFunc(p.Objects, func(o Object) bool { return o.Verdict == Failed })
}

// Counts counts the objects by verdict.
func (p *Plan) Counts() map[Verdict]int {
	counts := map[Verdict]int{}
	for i := range p.Nodes {
		for j := range p.Nodes[i].Objects {
			counts[p.Nodes[i].Objects[j].Verdict]++
		}
	}
	return counts
}

func (p *Plan) refuse(g plan.Guard, hub lynq.HubKey, fix, format string, args ...any) {
	p.Refusals = append(p.Refusals, plan.Refusal{Guard: g, Hub: hub, What: fmt.Sprintf(format, args...), Fix: fix})
}

// refuseDeleted refuses LynqNodes that are being deleted: the operator, if it is ever
// started again, deletes their objects before anything else.
func (p *Plan) refuseDeleted() {
	deleted := map[lynq.HubKey][]string{}
	for i := range p.Nodes {
		if n := p.Nodes[i].Node; n.Deleting {
			deleted[n.NodeID().Hub] = append(deleted[n.NodeID().Hub], n.Namespace+"/"+n.Name)
		}
	}
	for _, hub := range slices.SortedFunc(maps.Keys(deleted), lynq.HubKey.Compare) {
		p.refuse(plan.GuardDeleting, hub,
			"to delete their objects too, start the operator and let it finish. Nobody can take back a deletion: when the finalizer "+wellknown.FinalizerNode+" goes, so do the LynqNodes",
			"a deletion was asked for: %s", some(deleted[hub], "LynqNode"))
	}
}

// refuseRecords refuses nodes whose inventories are of others.
func (p *Plan) refuseRecords(inventories map[lynq.NodeKey]*inventory.Inventory, broken []*inventory.UnreadableError) {
	unreadable := map[lynq.NodeKey]error{}
	for _, b := range broken {
		unreadable[b.Node.Key()] = b
	}
	first := map[lynq.NodeKey]*Node{}
	for i := range p.Nodes {
		n := p.Nodes[i].Node
		key := n.Key()
		inv := inventories[key]
		switch {
		case first[key] != nil:
			p.refuse(GuardRecord, n.NodeID().Hub, "hand over only one of them, and see what the other is for", "%s and %s have the same row and form, so that both become node %s", first[key], n, key)
		case unreadable[key] != nil:
			p.refuse(GuardRecord, n.NodeID().Hub, "put that right first", "the inventory of node %s cannot be read: %v", key, unreadable[key])
		case inv != nil && (inv.Node.Hub.Name != n.Hub || inv.Node.Form.Name != n.Form || inv.Node.Hub.Namespace != "" && inv.Node.Hub.Namespace != n.Namespace):
			p.refuse(GuardRecord, n.NodeID().Hub, "lynqctl inventory show -n "+n.Namespace+" "+key.Name+" tells what that is",
				"node %s has an inventory already, of hub %s/%s and form %q", key, inv.Node.Hub.Namespace, inv.Node.Hub.Name, inv.Node.Form.Name)
		case inv != nil && inv.Deleting:
			p.refuse(GuardRecord, n.NodeID().Hub, inventory.WaysOut(key), "the inventory of node %s was deleted", key)
		}
		first[key] = n
	}
}

// refuseTwice refuses objects that two LynqNodes name: rows and forms that make one
// object twice are an error to lynqctl, and whose it is now, chance has decided.
func (p *Plan) refuseTwice() {
	claims := map[lynq.Ref][]*Node{}
	var refs []lynq.Ref
	for i := range p.Nodes {
		for j := range p.Nodes[i].Objects {
			o := &p.Nodes[i].Objects[j]
			if o.Dropped || o.Meta == nil {
				continue
			}
			if claims[o.Ref] == nil {
				refs = append(refs, o.Ref)
			}
			claims[o.Ref] = append(claims[o.Ref], p.Nodes[i].Node)
		}
	}
	for _, ref := range refs {
		if nodes := claims[ref]; len(nodes) > 1 {
			p.refuse(GuardClaimed, nodes[0].NodeID().Hub, "have forms give each its own, or name only one of the LynqNodes: the object goes to whose it is now",
				"%s and %s both name %s", nodes[0], nodes[1], ref.Full())
		}
	}
}

// some names a few of many.
func some(names []string, noun string) string {
	const few = 5
	such := ": "
	if len(names) > few {
		such = ", such as "
	}
	return phrase.Count(int64(len(names)), noun) + such + strings.Join(names[:min(len(names), few)], ", ")
}

// Plans are the same as plans of apply, a hub each.
func (p *Plan) Plans() []plan.Plan {
	var plans []plan.Plan
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if last := len(plans) - 1; last < 0 || plans[last].Hub != n.NodeID().Hub {
			plans = append(plans, plan.Plan{Hub: n.NodeID().Hub, Counts: map[plan.Action]int{}})
		}
		hub := &plans[len(plans)-1]
		hub.Nodes = append(hub.Nodes, n.plan())
		for _, s := range hub.Nodes[len(hub.Nodes)-1].Steps {
			hub.Counts[s.Action]++
		}
	}
	return plans
}

func (p *NodePlan) plan() plan.NodePlan {
	id := p.NodeID()
	out := plan.NodePlan{NodeID: id, Desired: &plan.Node{NodeID: id}}
	for i := range p.Objects {
		out.Steps = append(out.Steps, p.Objects[i].step())
	}
	if !p.hopeless() {
		out.Steps = append(out.Steps, plan.Step{
			Action: plan.ActionRelease, Reason: ReasonHandover, Entry: &inventory.Entry{Ref: p.ref()},
			Message: "it goes last, and nothing with it",
		})
	}
	return out
}

func (o *Object) step() plan.Step {
	policy := lynq.Policy{Lifecycle: o.Lifecycle}
	policy.Unwaited = true // of what is taken over nothing starts
	s := plan.Step{
		Action: plan.ActionSkip, Reason: o.reason(), Message: o.Why,
		Object: &plan.Object{
			Ref: o.Ref, APIVersion: o.APIVersion, ID: o.ID,
			Policy: &policy,
		},
		Entry: &inventory.Entry{Ref: o.Ref, ID: o.ID},
	}
	switch o.Verdict {
	case Take:
		s.Action = plan.ActionTrack
	case Had:
		s.Action = plan.ActionKeep
	case Failed:
		s.Action = plan.ActionBlock
	}
	return s
}

func (o *Object) reason() plan.Reason {
	switch {
	case o.Verdict == Take:
		return ReasonHandover
	case o.Verdict == Had:
		return plan.ReasonUpToDate
	case o.Err != nil:
		return ReasonUnreadable
	case o.Meta == nil:
		return ReasonAbsent
	case o.Meta.DeletionTimestamp != nil:
		return plan.ReasonDeleting
	case o.Meta.Labels[wellknown.LabelOrphaned] == "true":
		return plan.ReasonOrphan
	}
	return plan.ReasonForeign
}
