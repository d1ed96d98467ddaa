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

// The guards that only a handover has. It also has GuardOperator, if the operator still runs,
// and GuardDeleting, if somebody deleted LynqNodes.
const (
	GuardRecord  plan.Guard = "record"  // an inventory belongs to another node, or can't be read
	GuardClaimed plan.Guard = "claimed" // two LynqNodes name one object
)

// Reasons that only a handover has.
const (
	ReasonHandover   plan.Reason = "Handover"   // it belonged to the operator
	ReasonAbsent     plan.Reason = "Absent"     // the object doesn't exist
	ReasonUnreadable plan.Reason = "Unreadable" // lynqctl can't read it
)

// Input holds everything that a plan needs.
type Input struct {
	Nodes []*Node
	Found [][]Found // of each node
	// Inventories are all inventories, and Broken those that can't be read.
	Inventories []*inventory.Inventory
	Broken      []*inventory.UnreadableError
	// Finalizer gives new inventories the node's finalizer.
	Finalizer bool
}

// Plan says what happens to LynqNodes and their objects.
type Plan struct {
	Nodes    []NodePlan // by hub, then by name
	Refusals []plan.Refusal
}

// NodePlan says what happens to one LynqNode.
type NodePlan struct {
	*Node
	Objects []Object
	// Inventory is the node's inventory with all objects of the LynqNode. Save is set if the
	// saved one has less.
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

// blocked reports whether lynqctl can't take an object over, so that the LynqNode stays.
func (p *NodePlan) blocked() bool {
	return slices.ContainsFunc(p.Objects, func(o Object) bool { return o.Step.Action == plan.ActionBlock })
}

// Counts counts the objects by what happens to them.
func (p *Plan) Counts() map[plan.Action]int {
	counts := map[plan.Action]int{}
	for i := range p.Nodes {
		for j := range p.Nodes[i].Objects {
			counts[p.Nodes[i].Objects[j].Step.Action]++
		}
	}
	return counts
}

func (p *Plan) refuse(g plan.Guard, hub lynq.HubKey, fix, format string, args ...any) {
	p.Refusals = append(p.Refusals, plan.Refusal{Guard: g, Hub: hub, What: fmt.Sprintf(format, args...), Fix: fix})
}

// refuseDeleted refuses LynqNodes that are being deleted. If somebody starts the operator
// again, it deletes their objects before anything else.
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

// refuseRecords refuses nodes whose inventories belong to other nodes.
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

// refuseTwice refuses objects that two LynqNodes name. lynqctl refuses rows and forms that
// render one object twice, and chance decided which LynqNode has it now.
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

// some names a few of many, and counts them.
func some(names []string, noun string) string {
	const few = 5
	such := ": "
	if len(names) > few {
		such = ", such as "
	}
	return phrase.Count(int64(len(names)), noun) + such + strings.Join(names[:min(len(names), few)], ", ")
}

// Plans returns the plan as plans of apply, one for each hub.
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
		out.Steps = append(out.Steps, p.Objects[i].Step)
	}
	if !p.blocked() {
		out.Steps = append(out.Steps, plan.Step{
			Action: plan.ActionRelease, Reason: ReasonHandover, Entry: &inventory.Entry{Ref: p.ref()},
			Message: "it goes last, and nothing with it",
		})
	}
	return out
}
