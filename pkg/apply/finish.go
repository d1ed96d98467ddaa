package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// recordIntent saves the node's old and new objects before any write. So an inventory lists
// every object that a run creates.
func (n *nodeRun) recordIntent() error {
	if n.requests.dryRun || n.plan.Desired == nil {
		return nil
	}
	next, added, changes := n.record.intent()
	hooks := n.hooks.change(next)
	if n.record.exists() && !added && !hooks && (n.run.rollouts[n.form()] == nil || !changes) {
		return n.record.check() // the inventory lists all objects already
	}
	if changes {
		next.RolloutStart = n.began
	}
	if hooks {
		return n.hooks.save(next)
	}
	return n.record.save(next)
}

// keepLeaving keeps the undesired objects of a failed node.
func (n *nodeRun) keepLeaving() {
	for i := range n.steps.Of {
		if s := &n.steps.Of[i]; s.Object == nil && s.State == Pending {
			s.State, s.Outcome, s.Why, s.Says = Done, report.OutcomeSkipped, inventory.ObjectNodeFailed, "lynqctl keeps it until the node's other objects are ready"
			if n.plan.Desired == nil {
				s.Says = "lynqctl keeps it until the node's hooks have completed"
			}
			if n.steps.HookOf(s) != nil {
				s.Outcome, s.Why = report.OutcomeUnchanged, "" // the hook created nothing that must be deleted
				continue
			}
			n.tell.ended(s)
		}
	}
}

// fail ends a node for which lynqctl wrote nothing.
func (n *nodeRun) fail(err error) {
	if n.requests.cut(err) {
		n.leftOut(report.OutcomeInterrupted, "interrupted before lynqctl recorded what it begins: "+err.Error())
		return
	}
	n.steps.SkipAll()
	err = write.InNamespace(n.plan.Namespace, write.OrAnotherNamespace, err)
	n.ending.add(report.FailureOf(err))
	if n.plan.Desired == nil || n.plan.Desired.Failed != nil {
		n.recordFailure(err)
	}
	n.endNode(report.OutcomeFailed)
}

// recordFailure notes in the inventory that the node failed, and keeps its entries. It
// never records values of the row.
func (n *nodeRun) recordFailure(err error) {
	event, failed, message := "TemplateRenderError", "", err.Error()
	if n.plan.Desired == nil {
		event = "Degraded"
	}
	if stays := (*plan.StaysError)(nil); errors.As(err, &stays) {
		event = "InventoryKept"
	}
	if n.ending.reason = report.ReasonFor(err); n.ending.reason == plan.ReasonUnknown {
		event = "ObjectsUnknown"
	}
	if ending := (*write.NamespaceError)(nil); errors.As(err, &ending) {
		event = "NamespaceTerminating"
	}
	if unrendered := (*plan.RenderError)(nil); errors.As(err, &unrendered) {
		failed, message = inventory.ReasonRenderFailed, unrendered.Masked
	}
	message = n.run.Secrets.Hide(message)
	n.tell.record(report.Warning, event, message)
	if n.record.saved == nil || n.requests.dryRun {
		return
	}
	next := n.record.saved.Clone()
	next.Status.Conditions = failedConditions(failed, message)
	next.Status = next.Status.At(n.record.saved.Status, n.run.Now())
	if !n.record.differs(next) {
		return
	}
	if err := n.record.save(next); err != nil {
		n.ending.says(err.Error())
	}
}

// leftOut ends a node that didn't begin.
func (n *nodeRun) leftOut(o report.Outcome, why string) {
	n.steps.SkipAll()
	n.ending.says(why)
	n.endNode(o)
}

// finish records the confirmed entries, and ends the node.
func (n *nodeRun) finish() {
	n.ending.decide(&n.steps, n.plan, n.record.gone())
	outcome := n.ending.outcome
	switch err := n.recordResult(); {
	case err == nil:
	case n.requests.cut(err):
		n.ending.says("interrupted before lynqctl recorded what it did: " + err.Error())
		if report.Severity(outcome) < report.Severity(report.OutcomeInterrupted) {
			outcome = report.OutcomeInterrupted
		}
	default:
		n.ending.says(err.Error())
		outcome = report.OutcomeFailed
	}
	n.endCollected(n.record.saved == nil || n.requests.dryRun && n.record.gone())
	n.endNode(outcome)
}

// endCollected ends the steps of objects that lynqctl left to the garbage collector. They
// succeed only if the inventory was deleted.
func (n *nodeRun) endCollected(inventoryGone bool) {
	for i := range n.steps.Of {
		switch s := &n.steps.Of[i]; {
		case !s.Collected:
		case inventoryGone:
			n.executor.end(s, report.OutcomeDone, "")
		default:
			n.executor.end(s, report.OutcomeSkipped, "lynqctl keeps it until the node's inventory is deleted")
		}
	}
}

// endNode ends the node and reports that.
func (n *nodeRun) endNode(o report.Outcome) {
	n.run.dependencies.Release(n.plan.Key(), report.OutcomeSkipped.End())
	n.run.dependencies.EndNode(n.plan.Key(), o.End())
	n.run.rollouts[n.form()].Ended(n.plan.Key(), o.Well() || n.stopped || n.plan.Suspended)
	n.conclude(o)
	r := n.result
	n.tell.report(report.Event{Type: report.EventNode, Details: report.Details{Reason: r.Reason, Outcome: r.Outcome, Message: strings.Join(n.ending.texts(), "; "), Next: r.Next}, Problems: r.Problems})
}

// conclude sets the node's result.
func (n *nodeRun) conclude(o report.Outcome) {
	r := n.result
	n.ending.outcome = o
	r.Outcome, r.Reason, r.Problems = o, n.ending.reason, n.ending.problems
	if report.Severity(o) > report.Severity(report.OutcomeSkipped) && n.record.exists() && !n.requests.dryRun {
		r.Next = "lynqctl status node " + n.plan.Name + " -n " + n.plan.Namespace
	}
	r.Settled = n.record.settles()
	r.Unready = slices.ContainsFunc(n.steps.Of, func(s Step) bool { return s.Unready() })
	r.Stopped = o == report.OutcomeSkipped && n.began.IsZero() && n.plan.Unmet == "" && !n.dependent
	r.Steps = make([]report.StepResult, len(n.steps.Of))
	for i := range n.steps.Of {
		r.Steps[i] = n.steps.Of[i].Result()
	}
}

// recordResult saves the node's current state, if the inventory differs from it.
func (n *nodeRun) recordResult() error {
	if n.requests.dryRun || n.record.saved == nil {
		return nil
	}
	if n.record.gone() && n.ending.outcome != report.OutcomeFailed {
		if err := n.detachUnlisted(nil); err != nil {
			return err
		}
		if err := n.record.remove(); err != nil {
			return err
		}
		if n.plan.Moves() {
			n.tell.record(report.Normal, "LynqNodeMoved", "the node goes on as node "+n.plan.Next.String()+", and its inventory is deleted")
		} else {
			n.tell.record(report.Normal, "LynqNodeDeleted", "the node is deleted, and its objects as their deletionPolicy says")
		}
		n.record.saved = nil
		return nil
	}
	next := n.record.confirmed()
	if err := n.detachUnlisted(next); err != nil {
		return err
	}
	if n.steps.Changed() {
		next.RolloutStart = n.record.saved.RolloutStart
		if next.RolloutStart.IsZero() || n.run.rollouts[n.form()] == nil {
			next.RolloutStart = n.began
		}
	}
	wasReady := n.record.saved.Status.Is(inventory.ConditionReady)
	next.Status = n.status().as(n.ending.outcome, n.ending.texts()).At(n.record.saved.Status, n.run.Now())
	n.tell.condition(next, &n.ending, wasReady, n.run.Options.Wait)
	if n.record.differs(next) {
		if err := n.record.save(next); err != nil {
			return err
		}
	}
	if err := n.hooks.drop(); err != nil {
		n.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Message: fmt.Sprintf("Secret %s/%s still has manifests with runOn: Delete that the form no longer has: %v", n.plan.Namespace, inventory.HooksName(n.plan.Name), err)}})
	}
	return nil
}
