package apply

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// deletion deletes objects of a node, each with a permit of the gate.
type deletion struct {
	requests  *requests
	decisions *decisions
	record    *record
	// after is set if the plan runs after the others. Then it waits for nothing.
	after bool
}

// delete deletes an object that belongs to the node.
func (d *deletion) delete(s *Step) move {
	if m, holds := d.holdsOthers(s); holds {
		return m
	}
	permit, err := d.decisions.permit(s)
	if err != nil {
		return fails(err)
	}
	if err := d.record.beforeKind(s.Ref()); err != nil {
		return fails(err)
	}
	went, err := d.requests.cluster.Delete(d.decisions.context(s), s.Resource, permit, write.Deletion{Propagation: d.propagation(), DryRun: d.requests.dryRun})
	switch {
	case apierrors.IsNotFound(err):
		return d.deleted(s, "it was deleted already")
	case err == nil && (went || d.requests.dryRun):
		return d.deleted(s, s.Told())
	case err == nil && d.after:
		return endsAs(report.OutcomeDone, "it is being deleted, and finalizers hold it")
	case err == nil:
		return leaves(lynq.DefaultPolicy().Timeout)
	case apierrors.IsConflict(err):
		return d.again(s)
	}
	return fails(err)
}

// propagation returns how Kubernetes deletes an object's dependents.
func (d *deletion) propagation() metav1.DeletionPropagation {
	if d.decisions.plan.Cascade == plan.CascadeForeground {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// deleted ends a step after its object is gone. It keeps the entry of a purged object.
func (d *deletion) deleted(s *Step, message string) move {
	if s.Object != nil {
		return d.purged(s, message)
	}
	s.Record = nil
	return endsAs(report.OutcomeDone, message)
}

// again checks whether the node still owns a changed object and may delete it.
func (d *deletion) again(s *Step) move {
	now, err := d.decisions.object(s).LookAt()
	if err != nil {
		return fails(err)
	}
	if s.Tries++; s.Tries > write.MaxTries {
		return endsAs(report.OutcomeFailed, "another client keeps changing it; lynqctl deleted nothing")
	}
	if d.decisions.again(s, now) == decide.VerdictStopped {
		return endsAs(report.OutcomeFailed, s.Message)
	}
	return move{kind: moveAgain}
}

// collect leaves an object to the garbage collector, because all other steps are done and
// the inventory is deleted next. The garbage collector only checks owners, and ignores new
// owners since the observation. So collect decides the step again. The step is reported
// after the inventory is deleted.
func (d *deletion) collect(s *Step) move {
	l, err := observe.Entry(d.requests.ctx, d.requests.cluster, s.Entry)
	if err != nil {
		return fails(err)
	}
	if d.decisions.again(s, l) != decide.VerdictHolds {
		return move{kind: moveAgain}
	}
	if _, err := d.decisions.permit(s); err != nil {
		return fails(err)
	}
	s.Collected, s.State, s.Outcome = true, Done, report.OutcomeDone
	return move{kind: moveWaits}
}

// recreate deletes an object, so that the step creates it again. Its entry remains without
// the uid, so that any later run can create it.
func (d *deletion) recreate(s *Step) move {
	if m, holds := d.holdsOthers(s); holds {
		return m
	}
	if d.requests.dryRun {
		return endsAs(report.OutcomeDone, strings.Join(s.Notes, "; "))
	}
	permit, err := d.decisions.permit(s)
	if err != nil {
		return fails(err)
	}
	recorded, step := s.Record, *s.Step
	if err = d.record.going(s, plan.NewEntry(s.Object)); err != nil {
		return fails(err)
	}
	went, err := d.requests.cluster.Delete(d.decisions.context(s), s.Resource, permit, write.Deletion{Propagation: d.propagation()})
	switch {
	case apierrors.IsNotFound(err), err == nil && went:
		return move{kind: moveGone}
	case err == nil:
		return leaves(s.Object.Policy.Timeout)
	case apierrors.IsConflict(err):
		s.Record = recorded // the object still exists
		s.Becomes(step)
		return d.again(s)
	case write.ProblemOf(err).Refused:
		s.Record = recorded
		s.Becomes(step)
	}
	return fails(err)
}

// clear deletes the object of an earlier attempt of a hook, before the hook runs again.
func (d *deletion) clear(s *Step) move {
	permit, err := d.decisions.permit(s)
	if err != nil {
		return fails(err)
	}
	went, err := d.requests.cluster.Delete(d.decisions.context(s), s.Resource, permit, write.Deletion{Propagation: metav1.DeletePropagationBackground})
	if s.Tries++; err == nil && !went {
		return leaves(s.Object.Policy.Timeout)
	}
	if err != nil && (!apierrors.IsNotFound(err) && !apierrors.IsConflict(err) || s.Tries > write.MaxTries) {
		return fails(err)
	}
	now, err := d.decisions.object(s).LookAt()
	if err != nil {
		return fails(err)
	}
	d.decisions.again(s, now)
	return move{kind: moveAgain}
}

// vanished continues a step after its watch reported that the object is gone. The object
// may only have lost the label of the watch. Then the wait continues.
func (d *deletion) vanished(s *Step, waiter *waiter) move {
	waiter.tracker.Doubt(s.Ref())
	now, err := d.decisions.object(s).LookAt()
	if err == nil && now != nil && now.UID == s.Live.UID {
		waiter.tracker.StartAll(s.Resource, s.Ref())
		return move{kind: moveWaits}
	}
	waiter.forget(s)
	if err != nil {
		return fails(err)
	}
	s.Leaving = false
	if s.Object == nil || s.Action == plan.ActionPurge && now == nil {
		return d.deleted(s, "")
	}
	d.decisions.again(s, now)
	s.State = Pending
	return move{kind: moveWaits}
}

// holdsOthers ends the deletion of a container if it has objects of others. It returns true
// in that case.
func (d *deletion) holdsOthers(s *Step) (move, bool) {
	ref, is, err := d.container(s)
	switch {
	case err != nil:
		return fails(err), true
	case !is:
		return move{}, false
	case ref != s.Ref() && d.keepsData(s):
		return endsAs(report.OutcomeFailed, "not deleted, because it is "+ref.String()+", which holds data (--include-data deletes it)"), true
	}
	c := &observe.Emptied{
		Cluster: d.requests.cluster, DryRun: d.requests.dryRun, Ref: ref, Me: d.record.owner(), Defaults: d.decisions.plan.NamespaceDefaults,
		Wanted: d.requests.dependencies.WantedIn(ref), Goes: d.requests.dependencies.Deletes,
	}
	names, err := c.Holds(d.requests.ctx)
	switch {
	case err != nil:
		return fails(err), true
	case names == "":
		return move{}, false
	}
	what := "objects that the node doesn't own"
	if s.Reason == plan.ReasonPruned {
		what = "other objects"
	}
	return endsAs(report.OutcomeFailed, "not deleted, because it holds "+what+": "+names+" (move or delete them, then run again)"), true
}

// container returns the name by which a step's deletion deletes other objects. An extension
// may show a Namespace as an object of its own, and only the uid tells.
func (d *deletion) container(s *Step) (lynq.Ref, bool, error) {
	if ref, is := decide.Container(d.decisions.of, s.Step); is {
		return ref, true, nil
	}
	ref, may := tracking.NamespaceOf(s.Ref())
	if !may || s.Live == nil {
		return ref, false, nil
	}
	uid, err := observe.NamespaceUID(d.requests.ctx, d.requests.cluster, ref.Name)
	if err != nil {
		return ref, false, fmt.Errorf("not deleted, because lynqctl can't tell whether it is a Namespace: %w", err)
	}
	return ref, uid == s.Live.UID, nil
}

// keepsData reports whether a step needs --include-data to delete an object with data.
func (d *deletion) keepsData(s *Step) bool {
	switch rules := d.decisions.of.Rules; {
	case s.Reason == plan.ReasonPruned, s.Stone != nil:
		return !s.IncludeData
	case s.Object != nil && s.Action != plan.ActionPurge:
		return rules == nil || !rules.IncludesData()
	}
	return false
}
