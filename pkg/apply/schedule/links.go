package schedule

import (
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Links wakes a node when other nodes of the run have done the work that it waits for.
type Links struct {
	node         lynq.NodeKey
	dependencies *Dependencies
	watching     context.Context // ends with the run
	wake         func()
	waitsFor     map[*dependency]bool
	waiting      bool // a step waits for another node
}

// Links returns the links of a node. wake wakes the node.
func (p *Dependencies) Links(watching context.Context, node lynq.NodeKey, wake func()) Links {
	return Links{node: node, dependencies: p, watching: watching, wake: wake}
}

// Elsewhere reports whether a step has waited for another node since Forget.
func (l *Links) Elsewhere() bool { return l.waiting }

// Forget forgets that a step waited for another node.
func (l *Links) Forget() { l.waiting = false }

// Provided reports whether the namespace and the kind of an object exist, if this run
// creates them. never says why they will not exist.
func (l *Links) Provided(o *plan.Object) (there bool, never string) {
	for _, key := range plan.Needs(o) {
		p := l.dependencies.providers[key]
		if p == nil || p.ref == o.Ref {
			continue
		}
		switch {
		case p.finished():
		case l.dependencies.order.waits(p.node, l.node):
			return false, fmt.Sprintf("%s, which it needs, is made by node %s, which waits for this node (turn dependForms round)", p.ref, p.node)
		default:
			l.wakeAfter(p)
			return false, ""
		}
	}
	return true, ""
}

// HandedOver reports whether another node has taken over the object, so that this one may
// drop the entry. If the takeover fails, stays says why the entry remains.
func (l *Links) HandedOver(s *plan.Step) (over bool, stays string) {
	if s.To == nil {
		return true, ""
	}
	p := l.dependencies.handovers[s.Ref()]
	if !p.finished() {
		l.wakeAfter(p)
		return false, ""
	}
	if p.end.Written {
		return true, ""
	}
	return false, "it stays until node " + s.To.String() + " has it"
}

// Departed reports whether other nodes have ended all their deletions in a container.
func (l *Links) Departed(in lynq.Ref) bool {
	if !tracking.IsContainer(in) {
		return true
	}
	all := true
	for _, p := range l.dependencies.contents.within[tracking.ContainerKey(in)] {
		if !p.finished() && !l.dependencies.order.waits(p.node, l.node) {
			l.wakeAfter(p)
			all = false
		}
	}
	return all
}

// wakeAfter wakes the node when another node has done its work.
func (l *Links) wakeAfter(p *dependency) {
	if p.node == l.node {
		return
	}
	l.waiting = true
	if l.waitsFor[p] {
		return
	}
	if l.waitsFor == nil {
		l.waitsFor = map[*dependency]bool{}
	}
	l.waitsFor[p] = true
	go func() {
		select {
		case <-p.done:
			l.wake()
		case <-l.watching.Done():
		}
	}()
}

// Settle reports the end of a step to the nodes that wait for it.
func (l *Links) Settle(s *plan.Step, e End) {
	if s.Object == nil {
		if p := l.dependencies.contents.byRef[s.Ref()]; p != nil {
			p.finish(e)
		}
		return
	}
	for _, p := range []*dependency{l.dependencies.providers[plan.Provides(s.Object)], l.dependencies.handovers[s.Object.Ref]} {
		if p != nil && p.ref == s.Object.Ref && p.node == l.node {
			p.finish(e)
		}
	}
}
