package schedule

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// departures are the objects that plans delete and that are in a Namespace, or of
// a kind, which another node deletes: that goes after them.
type departures struct {
	byRef  map[lynq.Ref]*promise
	within map[lynq.Ref][]*promise // of containers
	// wanted are the objects that nodes have, or are about to get, in these containers.
	wanted map[lynq.Ref][]lynq.Ref
	// uids are those of all objects that the plans delete.
	uids map[types.UID]bool
}

func departuresOf(plans []plan.Plan) departures {
	d := departures{byRef: map[lynq.Ref]*promise{}, within: map[lynq.Ref][]*promise{}, wanted: map[lynq.Ref][]lynq.Ref{}, uids: map[types.UID]bool{}}
	containers := map[lynq.Ref]lynq.NodeKey{}
	plan.EachDelete(plans, func(n *plan.NodePlan, s *plan.Step) {
		d.uids[s.UID()] = true
		if container.Is(s.Entry.Ref) {
			containers[container.Key(s.Entry.Ref)] = n.Key()
		}
	})
	if len(containers) == 0 {
		return d
	}
	plan.EachDelete(plans, func(n *plan.NodePlan, s *plan.Step) {
		ref := s.Entry.Ref
		if container.Is(ref) {
			return
		}
		for _, key := range container.Of(ref) {
			if node, leaves := containers[key]; leaves && node != n.Key() {
				p := newPromise(n.Key(), ref)
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
func (d *departures) want(steps []plan.Step, leaving map[lynq.Ref]lynq.NodeKey) {
	for i := range steps {
		if steps[i].Object == nil || steps[i].Object.Policy.Hook() {
			continue // what a hook makes goes before the container does
		}
		ref := steps[i].Object.Ref
		for _, key := range container.Of(ref) {
			if _, leaves := leaving[key]; leaves {
				d.wanted[key] = append(d.wanted[key], ref)
			}
		}
	}
}
