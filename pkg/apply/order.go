package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// order is which nodes of a run wait for which.
type order struct {
	after map[plan.NodeKey][]plan.NodeKey
	ends  map[plan.NodeKey]*provider // of those that others wait for
}

func orderOf(plans []plan.Plan) order {
	o := order{after: map[plan.NodeKey][]plan.NodeKey{}, ends: map[plan.NodeKey]*provider{}}
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			if len(n.After) == 0 {
				continue
			}
			o.after[n.NodeKey] = n.After
			for _, key := range n.After {
				if o.ends[key] == nil {
					o.ends[key] = &provider{node: key, done: make(chan struct{})}
				}
			}
		}
	}
	return o
}

// end tells those that wait for a node how it ended, or that all is there and ready
// that it wants.
func (o *order) end(k plan.NodeKey, outcome Outcome) {
	if p := o.ends[k]; p != nil {
		p.finish(outcome)
	}
}

// waits tells whether a node waits for another, be it by way of others.
func (o *order) waits(k, other plan.NodeKey) bool {
	return slices.ContainsFunc(o.after[k], func(next plan.NodeKey) bool { return next == other || o.waits(next, other) })
}

// awaitOthers waits until the nodes that go before have ended well, without a slot and
// without a turn. False means that the node is left out.
func (n *nodeRun) awaitOthers(ctx context.Context) bool {
	for _, key := range n.plan.After {
		p := n.order.ends[key]
		select {
		case <-p.done:
		case <-ctx.Done():
			n.leftOut(OutcomeInterrupted, beforeItBegan)
			return false
		}
		switch {
		case severity(p.outcome) <= severity(OutcomeDone):
		case p.outcome == OutcomeInterrupted:
			n.leftOut(OutcomeInterrupted, beforeItBegan)
			return false
		case n.plan.Desired == nil:
			n.dependent = true
			n.leftOut(OutcomeSkipped, fmt.Sprintf("it stays until node %s is gone, which depends on it (dependForms) and is %s", key, p.outcome))
			return false
		default:
			n.dependent = true
			n.leftOut(OutcomeSkipped, fmt.Sprintf("it stays as it is, for node %s, which it depends on (dependForms), is %s", key, p.outcome))
			return false
		}
	}
	return true
}
