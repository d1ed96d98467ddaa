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
	// uids are those of all objects that the plans delete.
	uids map[types.UID]bool
}

func departuresOf(plans []plan.Plan) departures {
	d := departures{byRef: map[lynq.Ref]*provider{}, within: map[lynq.Ref][]*provider{}, uids: map[types.UID]bool{}}
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
		for _, key := range []lynq.Ref{{Kind: "Namespace", Name: ref.Namespace}, {Kind: "CustomResourceDefinition", Group: ref.Group}} {
			if node, leaves := containers[key]; leaves && node != n.NodeKey {
				p := &provider{node: n.NodeKey, ref: ref, done: make(chan struct{})}
				d.byRef[ref] = p
				d.within[key] = append(d.within[key], p)
			}
		}
	})
	return d
}

// departed tells whether all that other nodes delete in a container is gone, or
// is not going to be.
func (n *nodeRun) departed(s *stepRun) bool {
	if !plan.IsContainer(s.ref()) {
		return true
	}
	all := true
	for _, p := range n.departures.within[plan.ContainerKey(s.ref())] {
		if !p.finished() {
			n.wakeAfter(p)
			all = false
		}
	}
	return all
}
