package apply

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// recordIntent saves what the node had and what it will have, before anything
// is written: an object that a run makes is always named by some record.
func (n *nodeRun) recordIntent() error {
	if n.Options.DryRun || n.plan.Desired == nil {
		return nil
	}
	next := n.nextInventory()
	var desired []inventory.Entry
	added, changes := false, false
	for i := range n.steps {
		s := &n.steps[i]
		if s.Object == nil {
			continue
		}
		switch s.Action {
		case plan.ActionCreate, plan.ActionUpdate, plan.ActionRecreate, plan.ActionAdopt, plan.ActionTrack:
			r := s.NextEntry()
			// One that is gone is another one when it is created: only its tracking
			// can prove whose that is until it is confirmed.
			gone := s.Live == nil && r.UID != ""
			if gone {
				next.Entries = inventory.Forget(next.Entries, r.Ref)
			}
			desired = append(desired, r)
			added = added || s.Entry == nil || gone || s.Entry.Phase != ""
			changes = true
		}
	}
	hooks := n.hooksChange(next)
	if n.inventory != nil && n.inventory.UID != "" && !added && !hooks && (n.rollouts[n.form()] == nil || !changes) {
		return nil // the record names all of it
	}
	next.Entries = inventory.Intent(next.Entries, desired)
	if changes {
		next.RolloutStart = n.began
	}
	if hooks {
		return n.recordHooks(next)
	}
	return n.save(next)
}

// nextInventory is the inventory with what the row and the form say now.
func (n *nodeRun) nextInventory() *inventory.Inventory {
	return n.plan.NextInventory(n.inventory, n.Options.Finalizer)
}

func (n *nodeRun) save(next *inventory.Inventory) error {
	saved, err := n.Inventories.Save(n.finishing, next)
	if err != nil {
		return err
	}
	n.inventory = saved
	return nil
}

// keepLeaving: a node that did not end well loses nothing.
func (n *nodeRun) keepLeaving() {
	for i := range n.steps {
		if s := &n.steps[i]; s.Object == nil && s.state == stepPending {
			s.state, s.outcome, s.why, s.message = stepDone, OutcomeSkipped, inventory.ObjectNodeFailed, "it stays until the node's other objects are ready"
			if n.plan.Desired == nil {
				s.message = "it stays until the hooks of the node have completed"
			}
			if n.hookOf(s) != nil {
				s.outcome, s.why = OutcomeUnchanged, "" // what it did not make need not go
				continue
			}
			n.report(Event{Type: EventObject, Object: s.ref(), ID: s.id(), Action: s.Action, Reason: s.Reason, Outcome: OutcomeSkipped, Adopted: s.Adopted, Message: s.message})
		}
	}
}

// fail ends a node of which nothing was written.
func (n *nodeRun) fail(err error) {
	n.skipAll()
	err = InNamespace(n.plan.Namespace, OrAnotherNamespace, err)
	n.problems = append(n.problems, err.Error())
	if n.plan.Desired == nil || n.plan.Desired.Failed != nil {
		n.recordFailure(err)
	}
	n.conclude(OutcomeFailed)
}

// recordFailure says in the record that the node is not as its row wants it;
// what it owns stays as it is. Values of the row are not recorded.
func (n *nodeRun) recordFailure(err error) {
	event, reason, message := "TemplateRenderError", reasonOf(OutcomeFailed), err.Error()
	if n.plan.Desired == nil {
		event = "Degraded"
	}
	if stays := (*plan.StaysError)(nil); errors.As(err, &stays) {
		event = "InventoryKept"
	}
	if unknown := (*plan.UnknownError)(nil); errors.As(err, &unknown) {
		event, n.reason = "ObjectsUnknown", plan.ReasonUnknown
	}
	if ending := (*NamespaceError)(nil); errors.As(err, &ending) {
		event = "NamespaceTerminating"
	}
	if unrendered := (*plan.RenderError)(nil); errors.As(err, &unrendered) {
		reason, message = inventory.ReasonRenderFailed, unrendered.Masked
	}
	n.record(eventWarning, event, message)
	if n.inventory == nil || n.Options.DryRun {
		return
	}
	next := n.inventory.Clone()
	next.Status.Conditions = failedFor(reason, message)
	next.Status = next.Status.At(n.inventory.Status, n.Now())
	if !n.differs(next) {
		return
	}
	if err := n.save(next); err != nil {
		n.problems = append(n.problems, err.Error())
	}
}

// leftOut ends a node that did not begin.
func (n *nodeRun) leftOut(o Outcome, why string) {
	n.skipAll()
	n.problems = append(n.problems, why)
	n.conclude(o)
}

func (n *nodeRun) skipAll() {
	for i := range n.steps {
		n.steps[i].state, n.steps[i].outcome = stepDone, OutcomeSkipped
	}
}

// finish records what was confirmed, and ends the node.
func (n *nodeRun) finish() {
	outcome := n.worst()
	switch {
	case outcome == OutcomeUnchanged && n.gone():
		outcome = OutcomeDone // its record goes
	case n.plan.Deleted && severity(outcome) <= severity(OutcomeDone):
		outcome = n.held(outcome)
	}
	if err := n.recordResult(outcome); err != nil {
		n.problems = append(n.problems, err.Error())
		outcome = OutcomeFailed
	}
	n.endCollected(n.inventory == nil || n.Options.DryRun && n.gone())
	n.conclude(outcome)
}

// held is the outcome of a node that a person deleted and whose objects have
// gone: what is left alone keeps the record, with which it would be collected.
func (n *nodeRun) held(outcome Outcome) Outcome {
	for i := range n.steps {
		s := &n.steps[i]
		why := s.Message
		if s.Reason == plan.ReasonUnmanaged {
			why = plan.MarkedUnmanaged
		}
		if s.entry != nil && (s.Action == plan.ActionSkip || s.Reason == plan.ReasonUnmanaged) {
			if s.Reason != plan.ReasonExcluded { // which says what to do
				why += " (take that off, and run again)"
			}
			n.problems = append(n.problems, s.ref().String()+": the inventory stays, since "+why)
			outcome = OutcomeSkipped
		}
	}
	return outcome
}

func (n *nodeRun) conclude(o Outcome) {
	n.outcome = o
	n.finishAll(n.plan.NodeKey, OutcomeSkipped)
	n.order.end(n.plan.NodeKey, o)
	n.stats.node(n, o)
	n.report(Event{Type: EventNode, Reason: n.reason, Outcome: o, Message: strings.Join(n.problems, "; "), Next: n.next(o)})
}

// next is the command that shows more of a node that did not end well: nothing, where
// no inventory knows it.
func (n *nodeRun) next(o Outcome) string {
	if severity(o) <= severity(OutcomeSkipped) || n.inventory == nil || n.inventory.UID == "" || n.Options.DryRun {
		return ""
	}
	return "lynqctl status node " + n.plan.Name + " -n " + n.plan.Namespace
}

// recordResult saves what the node has now, where that is not what the record
// says already.
func (n *nodeRun) recordResult(outcome Outcome) error {
	if n.Options.DryRun || n.inventory == nil {
		return nil
	}
	if n.gone() && outcome != OutcomeFailed {
		if err := n.detachStrays(); err != nil {
			return err
		}
		permit, err := n.plan.PermitInventory(n.inventory, n.left())
		if err != nil {
			return err
		}
		if err := n.Inventories.Remove(n.finishing, n.inventory, permit); err != nil {
			return err
		}
		n.record(eventNormal, "LynqNodeDeleted", "the node is gone, and its objects went as their deletionPolicy says")
		n.inventory = nil
		return nil
	}
	next := n.inventory.Clone()
	next.Activate = "false"
	if n.plan.Desired != nil {
		next = n.nextInventory()
	}
	next.Entries = n.confirmed()
	n.confirmHooks(next)
	if n.changed() {
		next.RolloutStart = n.inventory.RolloutStart
		if next.RolloutStart.IsZero() || n.rollouts[n.form()] == nil {
			next.RolloutStart = n.began
		}
	}
	wasReady := n.inventory.Status.Is(inventory.ConditionReady)
	next.Status = n.status(outcome).At(n.inventory.Status, n.Now())
	n.recordCondition(next, wasReady)
	if n.differs(next) {
		if err := n.save(next); err != nil {
			return err
		}
	}
	n.dropManifests()
	return nil
}

func (n *nodeRun) changed() bool {
	return slices.ContainsFunc(n.steps, func(s stepRun) bool { return s.outcome != OutcomeUnchanged && s.Action != plan.ActionSkip })
}

// confirmed are the records of all that the node still has, or may have. What is
// to be retained from now on is recorded so, though that could not be written to
// the object: should the row go, it stays.
func (n *nodeRun) confirmed() []inventory.Entry {
	var entries []inventory.Entry
	for i := range n.steps {
		s := &n.steps[i]
		if s.entry == nil || s.entry.Hook() {
			continue
		}
		r := *s.entry
		if s.Object != nil {
			r.Deletion = r.Deletion.Or(s.Object.Policy.Deletion)
		}
		if s.Reason != plan.ReasonLeftOut {
			r.Excluded = s.Reason == plan.ReasonExcluded
		}
		entries = append(entries, r)
	}
	slices.SortFunc(entries, func(a, b inventory.Entry) int { return cmp.Compare(a.Key(), b.Key()) })
	return entries
}

// status tells how the node is.
func (n *nodeRun) status(outcome Outcome) inventory.Status {
	st := inventory.Status{Objects: n.objects()}
	allReady := true
	for i := range n.steps {
		s := &n.steps[i]
		switch {
		case s.Object == nil:
			continue
		case s.Object.Exclusion != nil:
			st.Excluded++
			continue
		}
		ready := s.entry != nil && s.entry.Ready && severity(s.outcome) <= severity(OutcomeSkipped)
		if !s.hook() {
			st.Desired++
			if ready {
				st.Ready++
			}
			allReady = allReady && (ready || !s.Object.Policy.WaitForReady)
		}
		switch {
		case s.interrupted:
		case s.outcome == OutcomeFailed, s.outcome == OutcomeNotReady:
			st.Failed++
		case s.outcome == OutcomeSkipped:
			st.Skipped++
		case s.outcome == OutcomeConflicted:
			st.Conflicted++
		}
	}
	st.Conditions = conditionsOf(outcome, allReady, n.problems)
	uncount(&st)
	return st
}

// uncount takes counts out of what is recorded: a container that restarts again is no
// change of the node, and the inventory is not written for it.
func uncount(st *inventory.Status) {
	counts := regexp.MustCompile(`, [0-9]+ restarts?\b`) // as ready.Cause has them
	for i := range st.Objects {
		st.Objects[i].Message = counts.ReplaceAllString(st.Objects[i].Message, "")
	}
	for i := range st.Conditions {
		st.Conditions[i].Message = counts.ReplaceAllString(st.Conditions[i].Message, "")
	}
}

// conditionsOf are the conditions of a node, without their times.
func conditionsOf(outcome Outcome, allReady bool, problems []string) []inventory.Condition {
	ready := inventory.Condition{Type: inventory.ConditionReady, Status: "True", Reason: "AllReady"}
	progressing := inventory.Condition{Type: inventory.ConditionProgressing, Status: "False", Reason: "Done"}
	degraded := inventory.Condition{Type: inventory.ConditionDegraded, Status: "False", Reason: "AsDesired"}
	switch {
	case outcome == OutcomeInterrupted:
		ready.Status, ready.Reason = "Unknown", reasonOf(outcome)
		progressing.Status, progressing.Reason, progressing.Message = "True", reasonOf(outcome), shorten(strings.Join(problems, "; "))
	case severity(outcome) > severity(OutcomeDone):
		ready.Status, ready.Reason = "False", reasonOf(outcome)
		degraded.Status, degraded.Reason, degraded.Message = "True", reasonOf(outcome), shorten(strings.Join(problems, "; "))
	case !allReady:
		ready.Status, ready.Reason = "Unknown", "NotWaitedFor"
		progressing.Status, progressing.Reason = "True", "NotWaitedFor"
	}
	return []inventory.Condition{degraded, progressing, ready}
}

// failedFor are the conditions of a node of which nothing was written.
func failedFor(reason, message string) []inventory.Condition {
	conditions := conditionsOf(OutcomeFailed, false, []string{message})
	for i := range conditions {
		if c := &conditions[i]; c.Reason == reasonOf(OutcomeFailed) {
			c.Reason = reason
		}
	}
	return conditions
}

func reasonOf(o Outcome) string {
	switch o {
	case OutcomeConflicted:
		return "ResourceConflict"
	case OutcomeNotReady:
		return "NotReady"
	case OutcomeSkipped:
		return "Skipped"
	case OutcomeInterrupted:
		return "Interrupted"
	}
	return "Failed"
}

// shorten keeps a message small enough for a record.
func shorten(message string) string {
	const most = 1024
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}

// recordCondition tells Kubernetes of a node that became ready, or is degraded.
func (n *nodeRun) recordCondition(next *inventory.Inventory, wasReady bool) {
	switch {
	case next.Status.Is(inventory.ConditionDegraded):
		n.record(eventWarning, "Degraded", shorten(strings.Join(n.problems, "; ")))
	case next.Status.Is(inventory.ConditionReady) && !wasReady && n.Options.Wait:
		n.record(eventNormal, "Ready", "all objects of the node are ready")
	}
}
