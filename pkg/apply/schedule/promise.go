package schedule

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// End says how something ended that others wait for.
type End struct {
	// Word is for people.
	Word string
	// Well: it ended as it should. Written: the object is as its node wants it, though it
	// may not be ready. Interrupted: the run ended first.
	Well, Written, Interrupted bool
}

// promise is what a node does and others wait for: a Namespace or a
// CustomResourceDefinition, before they can be; an object that another node takes
// over, before its own lets it go.
type promise struct {
	node lynq.NodeKey
	ref  lynq.Ref
	done chan struct{}
	once sync.Once
	end  End // is set before done is closed
}

func newPromise(node lynq.NodeKey, ref lynq.Ref) *promise {
	return &promise{node: node, ref: ref, done: make(chan struct{})}
}

func (p *promise) finish(e End) {
	p.once.Do(func() {
		p.end = e
		close(p.done)
	})
}

// finished tells whether what is waited for has ended.
func (p *promise) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Promises tells the nodes of a run when others have done what they wait for. It is
// safe for concurrent use.
type Promises struct {
	providers  map[string]*promise
	handovers  map[lynq.Ref]*promise
	departures departures
	order      order
	of         map[lynq.NodeKey][]*promise // all but those of order, by who keeps them
}

// NewPromises finds those of plans.
func NewPromises(plans []plan.Plan) *Promises {
	p := &Promises{providers: providersOf(plans), handovers: handoversOf(plans), departures: departuresOf(plans), order: orderOf(plans), of: map[lynq.NodeKey][]*promise{}}
	for _, one := range p.providers {
		p.of[one.node] = append(p.of[one.node], one)
	}
	for _, all := range []map[lynq.Ref]*promise{p.handovers, p.departures.byRef} {
		for _, one := range all {
			p.of[one.node] = append(p.of[one.node], one)
		}
	}
	return p
}

// Release leaves no one waiting for what a node does that has ended.
func (p *Promises) Release(k lynq.NodeKey, e End) {
	for _, one := range p.of[k] {
		one.finish(e)
	}
}

// EndNode tells the nodes that wait for a whole node how it ended, or that all is there
// and ready that it wants.
func (p *Promises) EndNode(k lynq.NodeKey, e End) { p.order.end(k, e) }

// Makes tells whether the run makes what "namespace/acme" or "kind/Widget.example.com"
// provides.
func (p *Promises) Makes(provided string) bool { return p.providers[provided] != nil }

// WantedIn are the objects in a container that leaves which nodes have, or are about to get.
func (p *Promises) WantedIn(in lynq.Ref) []lynq.Ref {
	return p.departures.wanted[container.Key(in)]
}

// Deletes tells whether the plans delete an object.
func (p *Promises) Deletes(uid types.UID) bool { return p.departures.uids[uid] }

// Await waits until the nodes that go before a node have ended well. Else it gives the
// first that did not, and how it ended; the end of the context interrupts it.
func (p *Promises) Await(ctx context.Context, after []lynq.NodeKey) (unwell lynq.NodeKey, e End) {
	for _, key := range after {
		one := p.order.ends[key]
		select {
		case <-one.done:
		case <-ctx.Done():
			return key, End{Interrupted: true}
		}
		if !one.end.Well {
			return key, one.end
		}
	}
	return unwell, End{Well: true}
}

// handoversOf finds the objects that one node of the plans takes over from
// another.
func handoversOf(plans []plan.Plan) map[lynq.Ref]*promise {
	handovers := map[lynq.Ref]*promise{}
	for k := range plans {
		for i := range plans[k].Nodes {
			steps := plans[k].Nodes[i].Steps
			for j := range steps {
				if steps[j].To != (lynq.NodeKey{}) {
					ref := steps[j].Entry.Ref
					handovers[ref] = newPromise(steps[j].To, ref)
				}
			}
		}
	}
	return handovers
}

// providersOf finds the objects that a plan makes for others to need, by what
// they provide: "namespace/acme", or "kind/Widget.example.com".
func providersOf(plans []plan.Plan) map[string]*promise {
	providers := map[string]*promise{}
	for k := range plans {
		p := &plans[k]
		for i := range p.Nodes {
			n := &p.Nodes[i]
			for j := range n.Steps {
				s := &n.Steps[j]
				if s.Object == nil || s.Action == plan.ActionKeep {
					continue
				}
				if key := plan.Provides(s.Object); key != "" {
					providers[key] = newPromise(n.Key(), s.Object.Ref)
				}
			}
		}
	}
	return providers
}
