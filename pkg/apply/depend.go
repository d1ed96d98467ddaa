package apply

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// dependency is how far something is that a step needs.
type dependency uint8

const (
	dependencyMet dependency = iota
	dependencyWaiting
	dependencyFailed
)

// ready tells whether a step may run now. A step whose dependency failed is
// skipped here, or goes on and says so.
func (n *nodeRun) ready(s *stepRun) bool {
	if s.Object == nil {
		return n.mayLeave(s)
	}
	if s.Action == plan.ActionPurge {
		return true // what it waited for is done
	}
	if !n.provided(s) {
		return false
	}
	waiting, failures := n.awaited(s)
	switch {
	case len(failures) > 0 && s.Object.Policy.SkipOnDependencyFailure:
		n.record(eventWarning, "DependencySkipped", s.ref().String()+" was skipped: "+failures[0])
		s.why = inventory.ObjectDependencyFailed
		n.end(s, OutcomeSkipped, failures[0])
		return false
	case waiting:
		return false
	}
	for _, message := range failures {
		n.record(eventWarning, "DependencyFailedButProceeding", s.ref().String()+": "+message)
		n.report(Event{Type: EventWarning, Object: s.ref(), ID: s.id(), Message: "goes on although " + message + " (skipOnDependencyFailure: false)"})
	}
	return true
}

// awaited tells whether a step has to wait for others of its node, those of earlier
// waves and those it depends on, and what became of those that failed.
func (n *nodeRun) awaited(s *stepRun) (waiting bool, failures []string) {
	waiting, failed := n.waves.before(n, s)
	if failed != nil {
		_, why := n.dependency(failed)
		failures = append(failures, fmt.Sprintf("%s, of an earlier wave, %s", failed.ref(), why))
	}
	for _, id := range s.Object.DependIDs {
		i, known := n.index[id]
		if !known || &n.steps[i] == failed {
			continue // a selector left it out, or it is told of
		}
		switch state, why := n.dependency(&n.steps[i]); state {
		case dependencyWaiting:
			waiting = true
		case dependencyFailed:
			failures = append(failures, fmt.Sprintf("%s, which it depends on, %s", n.steps[i].ref(), why))
		}
	}
	return waiting, failures
}

// dependency tells how far an object of the node is, for those that depend on
// it, and what became of one that failed.
func (n *nodeRun) dependency(s *stepRun) (dependency, string) {
	switch s.state {
	case stepPending, stepWaiting:
		return dependencyWaiting, ""
	}
	switch s.outcome {
	case OutcomeFailed:
		return dependencyFailed, "failed"
	case OutcomeConflicted:
		return dependencyFailed, "belongs to another owner"
	case OutcomeNotReady:
		return dependencyFailed, "is not ready: " + s.message
	case OutcomeSkipped:
		if s.Action != plan.ActionSkip {
			return dependencyFailed, "was skipped"
		}
	}
	return dependencyMet, ""
}

// provided tells whether the namespace and the kind that a step needs are
// there, as far as this run makes them.
func (n *nodeRun) provided(s *stepRun) bool {
	for _, key := range plan.Needs(s.Object) {
		p := n.providers[key]
		if p == nil || p.ref == s.Object.Ref {
			continue
		}
		switch {
		case p.finished():
		case n.order.waits(p.node, n.plan.NodeKey):
			n.end(s, OutcomeFailed, fmt.Sprintf("%s, which it needs, is made by node %s, which waits for this node (turn dependForms round)", p.ref, p.node))
			return false
		default:
			n.wakeAfter(p)
			return false
		}
	}
	return true
}

// mayLeave tells whether an object that the node wants no more may go now: when all of
// earlier waves and all that depended on it are gone, and a container of others last. What such a
// dependent left of itself may still need it, so that it stays where one of them
// did not go.
func (n *nodeRun) mayLeave(s *stepRun) bool {
	if !n.handedOver(s) {
		return false
	}
	if s.Action != plan.ActionDelete && s.Action != plan.ActionCollect {
		return true
	}
	if !n.departed(s) {
		return false
	}
	if s.Entry.Hook() {
		return n.mayLeaveHook(s)
	}
	for i := range n.steps {
		other := &n.steps[i]
		before := other.Object == nil && plan.GoesBefore(other.Entry, s.Entry) || s.Action == plan.ActionCollect
		switch {
		case other == s || other.Object != nil || !before || other.Action == plan.ActionCollect:
		case other.Entry.Hook() && !plan.IsContainer(s.ref()) && s.Action != plan.ActionCollect: // it goes after this
		case other.state != stepDone:
			return false
		case severity(other.outcome) > severity(OutcomeDone) && other.Action != plan.ActionSkip:
			n.end(s, OutcomeSkipped, "it stays until "+other.ref().String()+" is gone")
			return false
		}
	}
	return true
}

// handedOver tells whether an object that another node takes over is no longer
// ours to remember. Where that went wrong it stays ours.
func (n *nodeRun) handedOver(s *stepRun) bool {
	if s.To == (plan.NodeKey{}) {
		return true
	}
	p := n.handovers[s.ref()]
	if !p.finished() {
		n.wakeAfter(p)
		return false
	}
	switch p.outcome {
	case OutcomeDone, OutcomeUnchanged, OutcomeNotReady:
		return true
	}
	n.end(s, OutcomeSkipped, "it stays until node "+s.To.String()+" has it")
	return false
}

// wakeAfter has the node woken when what another node does is done.
func (n *nodeRun) wakeAfter(p *provider) {
	if p.node == n.plan.NodeKey {
		return
	}
	n.elsewhere = true
	if n.waitsFor[p] {
		return
	}
	if n.waitsFor == nil {
		n.waitsFor = map[*provider]bool{}
	}
	n.waitsFor[p] = true
	go func() {
		select {
		case <-p.done:
			n.wakeUp()
		case <-n.watching.Done():
		}
	}()
}

// record tells Kubernetes of something that a person must know, once per
// reason. Nothing depends on it.
func (n *nodeRun) record(kind, reason, message string) {
	if n.Recorder == nil || n.Options.DryRun || n.recorded[reason] || n.inventory == nil || n.inventory.UID == "" {
		return
	}
	if n.recorded == nil {
		n.recorded = map[string]bool{}
	}
	n.recorded[reason] = true
	n.Recorder.Record(n.finishing, KubernetesEvent{
		Namespace: n.plan.Namespace, Inventory: inventory.Name(n.plan.Name), UID: n.inventory.UID,
		Type: kind, Reason: reason, Message: message, Time: n.Now(),
	})
}
