package apply

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// departures are the objects that plans delete and that are in a Namespace, or of
// a kind, which another node deletes: that goes after them.
type departures struct {
	byRef  map[lynq.Ref]*provider
	within map[lynq.Ref][]*provider // of containers
	// wanted are the objects that nodes have, or are about to get, in these containers.
	wanted map[lynq.Ref][]lynq.Ref
	// uids are those of all objects that the plans delete.
	uids map[types.UID]bool
}

func departuresOf(plans []plan.Plan) departures {
	d := departures{byRef: map[lynq.Ref]*provider{}, within: map[lynq.Ref][]*provider{}, wanted: map[lynq.Ref][]lynq.Ref{}, uids: map[types.UID]bool{}}
	containers := map[lynq.Ref]plan.NodeKey{}
	plan.EachDelete(plans, func(n *plan.NodePlan, s *plan.Step) {
		d.uids[s.UID()] = true
		if plan.IsContainer(s.Entry.Ref) {
			containers[plan.ContainerKey(s.Entry.Ref)] = n.NodeKey
		}
	})
	if len(containers) == 0 {
		return d
	}
	plan.EachDelete(plans, func(n *plan.NodePlan, s *plan.Step) {
		ref := s.Entry.Ref
		if plan.IsContainer(ref) {
			return
		}
		for _, key := range plan.ContainersOf(ref) {
			if node, leaves := containers[key]; leaves && node != n.NodeKey {
				p := &provider{node: n.NodeKey, ref: ref, done: make(chan struct{})}
				d.byRef[ref] = p
				d.within[key] = append(d.within[key], p)
			}
		}
	})
	for i := range plans {
		for j := range plans[i].Nodes {
			d.want(plans[i].Nodes[j].Steps, containers)
		}
	}
	return d
}

// want notes what a node wants in containers that leave. Its write may come between
// the look at what a container holds and the container's deletion.
func (d *departures) want(steps []plan.Step, leaving map[lynq.Ref]plan.NodeKey) {
	for i := range steps {
		if steps[i].Object == nil || steps[i].Object.Policy.Hook() {
			continue // what a hook makes goes before the container does
		}
		ref := steps[i].Object.Ref
		for _, key := range plan.ContainersOf(ref) {
			if _, leaves := leaving[key]; leaves {
				d.wanted[key] = append(d.wanted[key], ref)
			}
		}
	}
}

// departed tells whether all that other nodes delete in a container is gone, or
// is not going to be.
func (n *nodeRun) departed(s *stepRun) bool {
	if !plan.IsContainer(s.ref()) {
		return true
	}
	all := true
	for _, p := range n.departures.within[plan.ContainerKey(s.ref())] {
		if !p.finished() && !n.order.waits(p.node, n.plan.NodeKey) {
			n.wakeAfter(p)
			all = false
		}
	}
	return all
}
