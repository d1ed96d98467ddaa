package orphan

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// PruneOptions say how orphans are pruned.
type PruneOptions struct {
	// Data: also what holds data; see Data.
	Data bool
	// Exact: only as it was seen, for a copy was made of that.
	Exact bool
}

// Spared is an orphan that is not pruned, and why.
type Spared struct {
	Orphan *Orphan
	Why    string
}

// Prunable parts orphans into those that may be deleted, and those that are
// spared: what has the markers of an orphan and has an owner all the same, and
// what holds data, unless that is meant too. It is a pure function.
func Prunable(orphans []Orphan, o PruneOptions) (prunable []Orphan, spared []Spared) {
	for i := range orphans {
		if why := spare(&orphans[i], o.Data); why != "" {
			spared = append(spared, Spared{&orphans[i], why})
		} else {
			prunable = append(prunable, orphans[i])
		}
	}
	return prunable, spared
}

// Prune plans the deletion of those orphans that are prunable: a plan per hub
// that they are from, in it a node for each that left some behind. It is a pure
// function.
func Prune(orphans []Orphan, o PruneOptions) (plans []plan.Plan, spared []Spared) {
	prunable, spared := Prunable(orphans, o)
	byHub := map[lynq.HubKey]map[lynq.NodeKey]*plan.NodePlan{}
	for i := range prunable {
		orphan := &prunable[i]
		hub := orphan.From.Hub
		nodes := byHub[hub]
		if nodes == nil {
			nodes = map[lynq.NodeKey]*plan.NodePlan{}
			byHub[hub] = nodes
		}
		key := orphan.From.Key()
		if key.Name == "" {
			key = lynq.NodeKey{Namespace: orphan.Namespace, Name: unknownNode}
		}
		if nodes[key] == nil {
			nodes[key] = &plan.NodePlan{NodeID: lynq.NodeID{Hub: hub, Namespace: key.Namespace, Name: key.Name}}
		}
		nodes[key].Steps = append(nodes[key].Steps, pruneStep(orphan, o))
	}
	for hub, nodes := range byHub {
		p := plan.Plan{Hub: hub}
		for _, n := range nodes {
			p.Nodes = append(p.Nodes, *n)
		}
		p.Count()
		slices.SortFunc(p.Nodes, func(a, b plan.NodePlan) int { return strings.Compare(a.String(), b.String()) })
		plans = append(plans, p)
	}
	slices.SortFunc(plans, func(a, b plan.Plan) int { return a.Hub.Compare(b.Hub) })
	return plans, spared
}

// unknownNode is the node of orphans that do not say where they are from.
const unknownNode = "unknown"

// spare tells why an orphan is not to be pruned, "" where it is.
func spare(o *Orphan, data bool) string {
	switch {
	case o.Live == nil:
		return "it doesn't exist, only its entry does (apply creates it again, or drops the entry)"
	case o.Live.Deleting:
		return "it " + o.Live.Ending
	case o.Live.NoOrphan() != "":
		return o.Live.NoOrphan()
	case !data && o.HoldsData():
		return "it holds data (--include-data deletes it)"
	}
	return ""
}

func pruneStep(o *Orphan, how PruneOptions) plan.Step {
	live := *o.Live
	return plan.Step{
		Action: plan.ActionDelete, Reason: reason.Pruned,
		Entry: &inventory.Entry{
			Ref: o.Ref, ID: o.From.ID, APIVersion: o.Resource.APIVersion(), UID: string(o.UID),
			Lifecycle: lynq.Lifecycle{Creation: o.Creation, Deletion: o.Deletion, Data: o.marked()}, Adopted: live.Adopted,
		},
		Live: &live, Adopted: live.Adopted, Exact: how.Exact, IncludeData: how.Data,
	}
}
