package schedule

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// contents are the objects that plans delete and whose container another node deletes.
// The container must be deleted after them.
type contents struct {
	byRef  map[lynq.Ref]*dependency
	within map[lynq.Ref][]*dependency // by container
	// wanted are the objects in these containers that nodes own or are about to create.
	wanted map[lynq.Ref][]lynq.Ref
	// uids are the uids of all objects that the plans delete.
	uids map[types.UID]bool
}

func contentsOf(plans []plan.Plan) contents {
	d := contents{byRef: map[lynq.Ref]*dependency{}, within: map[lynq.Ref][]*dependency{}, wanted: map[lynq.Ref][]lynq.Ref{}, uids: map[types.UID]bool{}}
	containers := map[lynq.Ref]lynq.NodeKey{}
	plan.EachDelete(plans, func(n *plan.NodePlan, s *plan.Step) {
		d.uids[s.UID()] = true
		if tracking.IsContainer(s.Entry.Ref) {
			containers[tracking.ContainerKey(s.Entry.Ref)] = n.Key()
		}
	})
	if len(containers) == 0 {
		return d
	}
	plan.EachDelete(plans, func(n *plan.NodePlan, s *plan.Step) {
		ref := s.Entry.Ref
		if tracking.IsContainer(ref) {
			return
		}
		for _, key := range tracking.ContainersOf(ref) {
			if node, leaves := containers[key]; leaves && node != n.Key() {
				p := newDependency(n.Key(), ref)
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

// want notes the objects that a node needs in containers that another node deletes. The
// node may write one between the check of the container and its deletion.
func (d *contents) want(steps []plan.Step, leaving map[lynq.Ref]lynq.NodeKey) {
	for i := range steps {
		if steps[i].Object == nil || steps[i].Object.Policy.Hook() {
			continue // lynqctl deletes a hook's object before the container
		}
		ref := steps[i].Object.Ref
		for _, key := range tracking.ContainersOf(ref) {
			if _, leaves := leaving[key]; leaves {
				d.wanted[key] = append(d.wanted[key], ref)
			}
		}
	}
}
