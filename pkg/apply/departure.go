package apply

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

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

func departuresOf(plans []Plan) departures {
	d := departures{byRef: map[lynq.Ref]*provider{}, within: map[lynq.Ref][]*provider{}, uids: map[types.UID]bool{}}
	containers := map[lynq.Ref]NodeKey{}
	eachDelete(plans, func(n *NodePlan, s *Step) {
		d.uids[s.UID()] = true
		if container(s.Record.Ref) {
			containers[containerKey(s.Record.Ref)] = n.NodeKey
		}
	})
	if len(containers) == 0 {
		return d
	}
	eachDelete(plans, func(n *NodePlan, s *Step) {
		ref := s.Record.Ref
		if container(ref) {
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

// eachDelete calls a function for every step that deletes an object.
func eachDelete(plans []Plan, each func(*NodePlan, *Step)) {
	for i := range plans {
		for j := range plans[i].Nodes {
			n := &plans[i].Nodes[j]
			for k := range n.Steps {
				if s := &n.Steps[k]; s.Action == ActionDelete {
					each(n, s)
				}
			}
		}
	}
}

// containerKey is what objects in a container know of it: the name of a
// Namespace, the group of a kind.
func containerKey(ref lynq.Ref) lynq.Ref {
	if ref.Kind == "Namespace" {
		return lynq.Ref{Kind: ref.Kind, Name: ref.Name}
	}
	_, group, _ := strings.Cut(ref.Name, ".")
	return lynq.Ref{Kind: ref.Kind, Group: group}
}

// departed tells whether all that other nodes delete in a container is gone, or
// is not going to be.
func (n *nodeRun) departed(s *stepRun) bool {
	if !container(s.ref()) {
		return true
	}
	all := true
	for _, p := range n.departures.within[containerKey(s.ref())] {
		if !p.finished() {
			n.pokedBy(p)
			all = false
		}
	}
	return all
}
