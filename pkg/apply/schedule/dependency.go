package schedule

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// End is the result of work for which others wait.
type End struct {
	// Word is the result for people.
	Word string
	// Well is set if the work succeeded. Written is set if the object is as its node needs
	// it, even if it isn't ready. Interrupted is set if the run ended first.
	Well, Written, Interrupted bool
}

// dependency is work of one node for which others wait. For example, the node creates a
// Namespace or a CustomResourceDefinition, or takes over an object.
type dependency struct {
	node lynq.NodeKey
	ref  lynq.Ref
	done chan struct{}
	once sync.Once
	end  End // set before done is closed
}

func newDependency(node lynq.NodeKey, ref lynq.Ref) *dependency {
	return &dependency{node: node, ref: ref, done: make(chan struct{})}
}

func (p *dependency) finish(e End) {
	p.once.Do(func() {
		p.end = e
		close(p.done)
	})
}

// finished reports whether the work has ended.
func (p *dependency) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Dependencies tells the nodes of a run when others have done the work that they wait for. It
// is safe for concurrent use.
type Dependencies struct {
	providers map[string]*dependency
	handovers map[lynq.Ref]*dependency
	contents  contents
	order     order
	written   sync.Map                       // the names under which the run wrote objects to delete, by uid
	of        map[lynq.NodeKey][]*dependency // all dependencies except those in order, by the node that works
}

// NewDependencies finds the dependencies in plans.
func NewDependencies(plans []plan.Plan) *Dependencies {
	p := &Dependencies{providers: providersOf(plans), handovers: handoversOf(plans), contents: contentsOf(plans), order: orderOf(plans), of: map[lynq.NodeKey][]*dependency{}}
	for _, one := range p.providers {
		p.of[one.node] = append(p.of[one.node], one)
	}
	for _, all := range []map[lynq.Ref]*dependency{p.handovers, p.contents.byRef} {
		for _, one := range all {
			p.of[one.node] = append(p.of[one.node], one)
		}
	}
	return p
}

// Release ends all dependencies of a node that has ended, so that nobody waits for them.
func (p *Dependencies) Release(k lynq.NodeKey, e End) {
	for _, one := range p.of[k] {
		one.finish(e)
	}
}

// EndNode reports to waiting nodes that a node ended, or that all of its desired objects
// exist and are ready.
func (p *Dependencies) EndNode(k lynq.NodeKey, e End) { p.order.end(k, e) }

// Makes reports whether the run creates the object behind "namespace/acme" or
// "kind/Widget.example.com".
func (p *Dependencies) Makes(provided string) bool { return p.providers[provided] != nil }

// WantedIn returns the objects in a deleted container that nodes own or are about to
// create.
func (p *Dependencies) WantedIn(in lynq.Ref) []lynq.Ref {
	return p.contents.wanted[tracking.ContainerKey(in)]
}

// Deletes reports whether the plans delete an object.
func (p *Dependencies) Deletes(uid types.UID) bool { return p.contents.uids[uid] }

// Wrote notes the name under which the run wrote an object.
func (p *Dependencies) Wrote(uid types.UID, ref lynq.Ref) {
	if p.Deletes(uid) {
		p.written.Store(uid, ref)
	}
}

// Written returns the name under which the run wrote an object that the plans delete.
func (p *Dependencies) Written(uid types.UID) (lynq.Ref, bool) {
	if p == nil {
		return lynq.Ref{}, false
	}
	ref, wrote := p.written.Load(uid)
	as, _ := ref.(lynq.Ref)
	return as, wrote
}

// Await waits until the nodes before this one have succeeded. Otherwise it returns the
// first that didn't, and its result. If the context ends first, the result is interrupted.
func (p *Dependencies) Await(ctx context.Context, after []lynq.NodeKey) (unwell lynq.NodeKey, e End) {
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
func handoversOf(plans []plan.Plan) map[lynq.Ref]*dependency {
	handovers := map[lynq.Ref]*dependency{}
	for k := range plans {
		for i := range plans[k].Nodes {
			steps := plans[k].Nodes[i].Steps
			for j := range steps {
				if steps[j].To != nil {
					ref := steps[j].Entry.Ref
					handovers[ref] = newDependency(*steps[j].To, ref)
				}
			}
		}
	}
	return handovers
}

// providersOf finds the objects that plans create and others need. Keys are such as
// "namespace/acme" or "kind/Widget.example.com".
func providersOf(plans []plan.Plan) map[string]*dependency {
	providers := map[string]*dependency{}
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
					providers[key] = newDependency(n.Key(), s.Object.Ref)
				}
			}
		}
	}
	return providers
}
