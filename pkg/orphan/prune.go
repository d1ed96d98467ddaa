package orphan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Spared is an orphan that is not pruned, and why.
type Spared struct {
	Orphan *Orphan
	Why    string
}

// Data tells whether more than an object goes with it, for good: what volumes
// hold, what is in a namespace, all objects of a kind.
func Data(ref lynq.Ref) bool {
	switch ref.GroupKind() {
	case "PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition.apiextensions.k8s.io":
		return true
	}
	return false
}

// Prune plans the deletion of orphans: a plan per hub that they are from, in it a
// node for each that left some behind. It is a pure function. What bears the
// markers of an orphan and is somebody's all the same is spared, and so are kinds
// that hold data, unless those are meant too.
func Prune(orphans []Orphan, data bool) (plans []apply.Plan, spared []Spared) {
	byHub := map[string]map[apply.NodeKey]*apply.NodePlan{}
	for i := range orphans {
		o := &orphans[i]
		if why := spare(o, data); why != "" {
			spared = append(spared, Spared{o, why})
			continue
		}
		nodes := byHub[o.From.Hub]
		if nodes == nil {
			nodes = map[apply.NodeKey]*apply.NodePlan{}
			byHub[o.From.Hub] = nodes
		}
		key := apply.NodeKey{Namespace: o.From.Namespace, Name: o.From.Node}
		if key.Name == "" {
			key = apply.NodeKey{Namespace: o.Namespace, Name: unknownNode}
		}
		if nodes[key] == nil {
			nodes[key] = &apply.NodePlan{NodeKey: key, Hub: o.From.Hub}
		}
		nodes[key].Steps = append(nodes[key].Steps, pruneStep(o))
	}
	for hub, nodes := range byHub {
		p := apply.Plan{Hub: hub, Counts: map[apply.Action]int{}}
		for _, n := range nodes {
			p.Nodes = append(p.Nodes, *n)
			p.Counts[apply.ActionDelete] += len(n.Steps)
		}
		slices.SortFunc(p.Nodes, func(a, b apply.NodePlan) int { return strings.Compare(a.String(), b.String()) })
		plans = append(plans, p)
	}
	slices.SortFunc(plans, func(a, b apply.Plan) int { return cmp.Compare(a.Hub, b.Hub) })
	return plans, spared
}

// unknownNode stands for the node of orphans that do not say where they are from.
const unknownNode = "unknown"

// spare tells why an orphan is not to be pruned, "" where it is.
func spare(o *Orphan, data bool) string {
	switch {
	case o.Live == nil || !o.Live.Orphaned:
		return "it does not bear the markers of an orphan"
	case o.Live.Deleting:
		return "it is being deleted already"
	case o.Live.Unmanaged:
		return "it bears " + lynq.AnnotationMode + ": " + lynq.ModeUnmanaged
	case o.Live.TakenOver() != "":
		return "it is now of " + o.Live.TakenOver()
	case o.Live.PartOf != "" || o.Live.Node != "" && o.Live.Hub != "":
		return "it bears the tracking of a node too (see lynqctl inventory verify)"
	case !data && Data(o.Ref):
		return "it holds data (--include-data prunes it too)"
	}
	return ""
}

func pruneStep(o *Orphan) apply.Step {
	live := *o.Live
	return apply.Step{
		Action: apply.ActionDelete, Reason: apply.ReasonPruned,
		Record: &inventory.Record{
			Ref: o.Ref, ID: o.From.ID, APIVersion: o.Resource.APIVersion(), UID: string(o.UID),
			Creation: o.Creation, Deletion: o.Deletion,
		},
		Live: &live,
	}
}
