package orphan

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// PruneOptions say how Prune deletes orphans.
type PruneOptions struct {
	// Data also deletes objects that hold data. See Data.
	Data bool
	// Exact deletes an object only if it is unchanged, because a backup has its old
	// content.
	Exact bool
}

// Spared is an orphan that Prune keeps, with the reason.
type Spared struct {
	Orphan *Orphan
	Why    string
}

// Prunable separates the orphans that may be deleted from those that must be kept. It
// keeps a marked object that has an owner after all. It also keeps objects that hold data,
// unless the options include data. It is a pure function.
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

// Prune plans the deletion of prunable orphans. It makes a plan for each hub that they are
// from, with their nodes. It is a pure function.
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

// unknownNode is the node of orphans that don't name their node.
const unknownNode = "unknown"

// spare says why an orphan must be kept, or "".
func spare(o *Orphan, data bool) string {
	switch {
	case o.Live == nil:
		return "it doesn't exist, only its entry does (apply creates it again, or drops the entry)"
	case o.Live.Deleting:
		return "it " + o.Live.Rare().Ending
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
		Action: plan.ActionDelete, Reason: plan.ReasonPruned,
		Entry: &inventory.Entry{
			Ref: o.Ref, ID: o.From.ID, APIVersion: o.Resource.APIVersion(), UID: string(o.UID),
			Lifecycle: lynq.Lifecycle{Creation: o.Creation, Deletion: o.Deletion, Data: o.marked()}, Adopted: live.Adopted,
			Sensitive: true, // nobody knows which of its values were secret
		},
		Live: &live, Adopted: live.Adopted, Exact: how.Exact, IncludeData: how.Data,
	}
}
