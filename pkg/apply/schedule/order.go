package schedule

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// order says which nodes of a run wait for which.
type order struct {
	after map[lynq.NodeKey][]lynq.NodeKey
	ends  map[lynq.NodeKey]*dependency // of the nodes for which others wait
}

func orderOf(plans []plan.Plan) order {
	o := order{after: map[lynq.NodeKey][]lynq.NodeKey{}, ends: map[lynq.NodeKey]*dependency{}}
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			if len(n.After) == 0 {
				continue
			}
			o.after[n.Key()] = n.After
			for _, key := range n.After {
				if o.ends[key] == nil {
					o.ends[key] = newDependency(key, lynq.Ref{})
				}
			}
		}
	}
	return o
}

// end reports the end of a node to the nodes that wait for it.
func (o *order) end(k lynq.NodeKey, e End) {
	if p := o.ends[k]; p != nil {
		p.finish(e)
	}
}

// waits reports whether a node waits for another, directly or through others.
func (o *order) waits(k, other lynq.NodeKey) bool {
	return slices.ContainsFunc(o.after[k], func(next lynq.NodeKey) bool { return next == other || o.waits(next, other) })
}
