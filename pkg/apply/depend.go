package apply

import (
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// ready reports whether a step may run now. If a dependency failed, the policy decides.
// ready skips the step, or continues it with a warning.
func (n *nodeRun) ready(s *Step) bool {
	if s.Object == nil {
		return n.mayLeave(s)
	}
	if s.After != nil && s.After.State != Done {
		return false
	}
	if s.Action == plan.ActionPurge {
		return true // its dependencies are done
	}
	there, never := n.links.Provided(s.Object)
	if never != "" {
		n.executor.end(s, report.OutcomeFailed, never)
	}
	if !there {
		return false
	}
	waiting, failures := n.steps.Awaited(s)
	switch {
	case len(failures) > 0 && s.Object.Policy.SkipOnDependencyFailure:
		n.tell.record(report.Warning, "DependencySkipped", s.Ref().String()+" was skipped: "+failures[0])
		s.Why = inventory.ObjectDependencyFailed
		n.executor.end(s, report.OutcomeSkipped, failures[0])
		return false
	case waiting:
		return false
	}
	for _, message := range failures {
		n.tell.record(report.Warning, "DependencyFailedButProceeding", s.Ref().String()+": "+message)
		n.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Object: s.Ref(), ID: s.ID(), Message: "goes on although " + message + " (skipOnDependencyFailure: false)"}})
	}
	return true
}

// mayLeave reports whether lynqctl may now delete or forget an object that isn't desired.
func (n *nodeRun) mayLeave(s *Step) bool {
	may, stays := n.links.HandedOver(s.Step)
	if may && (s.Action == plan.ActionDelete || s.Action == plan.ActionCollect) {
		if may = n.links.Departed(s.Ref()); may {
			may, stays = n.steps.MayLeave(s)
		}
	}
	if stays != "" {
		n.executor.end(s, report.OutcomeSkipped, stays)
	}
	return may
}

// awaitOthers waits until the nodes before this one have succeeded. It uses neither a slot
// nor a turn meanwhile. It returns false if this run must leave the node out.
func (n *nodeRun) awaitOthers(ctx context.Context) bool {
	key, e := n.run.dependencies.Await(ctx, n.plan.After)
	switch {
	case e.Well:
		return true
	case e.Interrupted:
		n.leftOut(report.OutcomeInterrupted, beforeItBegan)
		return false
	}
	n.dependent = true
	if n.plan.Moves() {
		n.leftOut(report.OutcomeSkipped, fmt.Sprintf("lynqctl keeps it until node %s, as which it goes on, has its objects and is ready; that node is %s", key, e.Word))
		return false
	}
	if n.plan.Desired == nil {
		n.leftOut(report.OutcomeSkipped, fmt.Sprintf("lynqctl keeps it until node %s is deleted, which depends on it (dependForms) and is %s", key, e.Word))
		return false
	}
	n.leftOut(report.OutcomeSkipped, fmt.Sprintf("lynqctl doesn't change it, because node %s, which it depends on (dependForms), is %s", key, e.Word))
	return false
}
