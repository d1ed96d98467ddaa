package apply

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// execute begins a step, and ends it unless it is to be waited for.
func (n *nodeRun) execute(ctx context.Context, s *stepRun) {
	if n.afterHook(s) {
		return
	}
	switch s.Action {
	case plan.ActionKeep:
		if s.Reason == plan.ReasonLeftOut {
			n.end(s, OutcomeUnchanged, "")
			return
		}
		n.kept(s)
	case plan.ActionSkip:
		n.end(s, OutcomeSkipped, s.Message)
	case plan.ActionBlock:
		n.conflict(s, s.Message)
	case plan.ActionRelease:
		n.releaseObject(ctx, s)
	case plan.ActionCollect:
		n.collect(s)
	case plan.ActionDelete:
		if s.Live == nil { // it could not be looked at
			n.end(s, OutcomeFailed, s.Message)
			return
		}
		n.change(ctx, s)
	default:
		n.change(ctx, s)
	}
}

// collect leaves an object to the garbage collector: all else is done with, so
// that it goes with the inventory. The collector looks at owners only, and knows
// nothing of those who took it over since it was observed.
func (n *nodeRun) collect(s *stepRun) {
	l, err := observe.Entry(n.finishing, n.Cluster, s.Entry)
	if err != nil {
		n.failed(s, err)
		return
	}
	step, verdict := n.recheck(s, l)
	s.Step = &step
	if verdict != plan.VerdictHolds {
		n.execute(n.finishing, s)
		return
	}
	if _, err := n.permit(s); err != nil {
		n.failed(s, err)
		return
	}
	s.collected, s.state, s.outcome = true, stepDone, OutcomeDone // told of by endCollected
}

// kept is an object that is as it is to be; it may yet have to become ready.
func (n *nodeRun) kept(s *stepRun) {
	s.entry = new(s.NextEntry())
	if s.hook() {
		s.entry.UID = string(s.Live.UID) // the run that made it may not have recorded it
	}
	if n.waits(s) && !s.entry.Ready {
		var err error
		if s.resource, err = n.resourceOf(s); err != nil {
			n.failed(s, err)
			return
		}
		n.watch(s)
		n.await(s, revision{s.Live.UID, s.Live.Generation, s.Live.ResourceVersion})
		return
	}
	n.end(s, OutcomeUnchanged, "")
}

// change is a step that writes.
func (n *nodeRun) change(ctx context.Context, s *stepRun) {
	if n.budget.spent(n.streak(s)) {
		n.finishing = Hasty(n.run.finishing)
		defer func() { n.finishing = n.run.finishing }()
	}
	err := n.served(ctx, s, func() (err error) {
		s.resource, err = n.resourceOf(s)
		return err
	})
	if err != nil {
		n.failed(s, err)
		return
	}
	switch {
	case s.Action == plan.ActionDelete, s.Action == plan.ActionPurge:
		n.delete(s)
	case s.Action == plan.ActionOrphan:
		n.orphan(s)
	case s.Reason == plan.ReasonUnmanaged:
		n.disownUnmanaged(s)
	default:
		if s.Live != nil && s.Live.Deleting {
			n.watchDeleting(s)
			n.awaitGone(s, s.Object.Policy.Timeout)
			return
		}
		if s.hook() && !n.beginHook(ctx, s) {
			return
		}
		if n.waits(s) {
			n.watch(s)
		}
		if n.changes.IsZero() {
			n.changes = n.Now()
		}
		var done result
		err := n.served(ctx, s, func() (err error) {
			done, err = n.send(ctx, s)
			return err
		})
		switch {
		case errors.Is(err, errTurned):
			n.turned(ctx, s)
		case errors.Is(err, errRecreate):
			n.recreate(s)
		case err != nil:
			n.failed(s, err)
		default:
			n.budget.succeeded(n.streak(s))
			n.written(s, done)
		}
	}
}

// served tries what needs a kind that this run made. A server says that a new
// kind is established a moment before it serves it.
func (n *nodeRun) served(ctx context.Context, s *stepRun, try func() error) error {
	pause := 50 * time.Millisecond
	for {
		err := try()
		made := s.Object != nil && n.providers["kind/"+s.Object.GroupKind()] != nil
		if !meta.IsNoMatchError(err) || !made || n.Options.DryRun || pause > 5*time.Second {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause *= 2
		if refreshErr := n.Cluster.Refresh(n.finishing); refreshErr != nil {
			return refreshErr
		}
	}
}

func (n *nodeRun) resourceOf(s *stepRun) (lynq.APIResource, error) {
	ref := s.ref()
	var apiVersion string
	if s.Object != nil {
		apiVersion = s.Object.APIVersion
	} else {
		apiVersion = s.Entry.APIVersion
	}
	_, version := lynq.SplitAPIVersion(apiVersion)
	r, err := n.Cluster.Resource(n.finishing, ref.Group, version, ref.Kind)
	if err != nil && s.Object == nil {
		r, err = n.Cluster.Resource(n.finishing, ref.Group, "", ref.Kind)
	}
	if err != nil {
		return r, err
	}
	if unfit := plan.Fits(r, ref); unfit != nil {
		return r, unfit
	}
	return r, nil
}

// result is what a write came to.
type result struct {
	meta      *metav1.PartialObjectMetadata
	unchanged bool   // nothing had to be sent
	note      string // for people: what was taken from whom
}

// written records a write, and waits for the object where that is wanted.
func (n *nodeRun) written(s *stepRun, done result) {
	l := plan.LiveOf(s.Object.Ref, done.meta)
	s.entry = new(s.NextEntry())
	if s.Object.Policy.ReapplyInterval > 0 {
		s.entry.Written = n.Now().UTC().Truncate(time.Second)
	}
	if done.unchanged && s.entry.UID == string(l.UID) && s.entry.Digest == s.Object.Digest && s.entry.ResourceVersion == l.ResourceVersion {
		n.settled(s, done) // the record says so already
		return
	}
	s.entry.UID, s.entry.Digest, s.entry.Template = string(l.UID), s.Object.Digest, s.Object.Template
	if s.Action == plan.ActionTrack && s.Object.Policy.Creation != lynq.CreateOnce {
		s.entry.Digest, s.entry.Template = "", "" // it is not known whether its content is as the form has it
	}
	s.entry.Generation, s.entry.ResourceVersion = l.Generation, l.ResourceVersion
	s.entry.Fields, s.entry.Defaults = s.managed(&l, done.meta)
	s.entry.Ready = done.unchanged && s.entry.Ready || ready.Always(s.Object.Group, s.Object.Kind, s.Object.Body)
	n.settled(s, done)
}

// managed is what is recorded of the fields that we manage now: by it drift is found. ""
// means that it is not known, and a run looks at the object whenever it changed.
func (s *stepRun) managed(l *plan.Live, m *metav1.PartialObjectMetadata) (own, defaults string) {
	if s.Applies() {
		return l.Fields, ""
	}
	manifest, err := s.Object.Body.Content()
	if err != nil {
		return "", ""
	}
	unsaid, err := fields.Unsaid(m.ManagedFields, manifest)
	if err != nil {
		return "", ""
	}
	defaults, few := plan.Defaults(unsaid)
	if !few {
		return "", ""
	}
	return l.Own(defaults), defaults
}

// settled ends a step whose object is as it is to be, or waits until it is
// ready.
func (n *nodeRun) settled(s *stepRun, done result) {
	s.message, s.same = done.note, done.unchanged
	if n.waits(s) && !s.entry.Ready {
		n.await(s, revisionOf(done.meta))
		return
	}
	if s.entry.Ready && !n.Options.DryRun {
		n.report(Event{Type: EventReady, Object: s.ref(), ID: s.id()})
	}
	if done.unchanged {
		n.end(s, OutcomeUnchanged, done.note)
		return
	}
	n.end(s, OutcomeDone, done.note)
}

// watch begins to watch what will be waited for: before it is written.
func (n *nodeRun) watch(s *stepRun) { n.watchBy(s, lynq.LabelHub+"="+n.plan.Hub) }

func (n *nodeRun) watchBy(s *stepRun, selector string) {
	s.watched = true
	n.tracker.start(s.resource, s.ref(), selector)
}

// watchDeleting is watch for an object that may not bear the hub's label.
func (n *nodeRun) watchDeleting(s *stepRun) {
	switch {
	case s.Live.Orphaned:
		n.watchBy(s, lynq.LabelOrphaned+"=true")
	case s.Live.Hub != n.plan.Hub:
		n.watchBy(s, "")
	default:
		n.watch(s)
	}
}

// await waits until an object is ready.
func (n *nodeRun) await(s *stepRun, written revision) {
	now := n.Now()
	s.since = now
	s.since = n.waitedSince(s)
	s.state, s.deadline = stepWaiting, s.since.Add(s.Object.Policy.Timeout)
	if n.changes.IsZero() {
		n.changes = now
	}
	if o := n.rollouts[n.form()]; n.share != plan.ShareNone && o.Deadline > 0 {
		began := n.changes
		if s.since.Before(began) {
			began = s.since
		}
		if end := began.Add(o.Deadline); end.Before(s.deadline) {
			s.deadline = end
		}
	}
	if !now.Before(s.deadline) {
		s.usedUp, s.deadline = true, now.Add(firstLook)
	}
	n.tracker.expect(s.ref(), written, n.wakeUp)
	n.look(s)
}

// awaitGone waits until an object that is being deleted is gone.
func (n *nodeRun) awaitGone(s *stepRun, timeout time.Duration) {
	s.state, s.gone, s.deadline = stepWaiting, true, n.Now().Add(timeout)
	n.tracker.expectGone(s.ref(), s.Live.UID, n.wakeUp)
	n.look(s)
}

// look asks how an object is that is waited for; true means that the step
// went on.
func (n *nodeRun) look(s *stepRun) bool {
	state, known := n.tracker.state(s.ref())
	late := !n.Now().Before(s.deadline) || s.usedUp && known && state != ready.Waiting(notSeenYet)
	if late && !s.gone && state == ready.Waiting(notSeenYet) {
		state = n.ask(s)
	}
	switch {
	case s.gone && known && state.State == ready.StateGone:
		n.vanished(s)
		return true
	case s.gone && (late || state.State == ready.StateFailed):
		n.notReady(s, stillDeleting(state))
		return true
	case s.gone:
	case known && state.State == ready.StateReady:
		n.tracker.forget(s.ref())
		s.entry.Ready = true
		n.report(Event{Type: EventReady, Object: s.ref(), ID: s.id()})
		outcome := OutcomeDone
		if s.Action == plan.ActionKeep || s.same {
			outcome = OutcomeUnchanged
		}
		n.end(s, outcome, s.message)
		n.becameReady(s)
		return true
	case known && state.State == ready.StateGone:
		n.notReady(s, state.Message)
		return true
	case known && state.State == ready.StateFailed:
		if s.hook() {
			s.entry.Phase = inventory.PhaseFailed
		}
		n.notReady(s, n.because(s, state.Message))
		return true
	case late:
		n.late(s, n.because(s, orUnknown(state.Message)))
		return true
	}
	if state != s.last {
		s.last = state
		n.report(Event{Type: EventWait, Object: s.ref(), ID: s.id(), Message: state.Message})
	}
	return false
}

// firstLook is how long the API server may take to tell how an object is whose time
// was over before this run.
const firstLook = 10 * time.Second

// late ends the wait for an object that was not ready in time.
func (n *nodeRun) late(s *stepRun, state string) {
	s.why = inventory.ObjectTimedOut
	if s.usedUp {
		n.notReady(s, "not ready in time (timeoutSeconds, rollout; used up, counted from "+s.since.UTC().Format(time.RFC3339)+"): "+state)
		return
	}
	n.record(eventWarning, "ReadinessTimeout", s.ref().String()+" is not ready: "+state)
	n.notReady(s, "not ready in time (timeoutSeconds, rollout): "+state)
}

// because adds to what is known of an object that did not get ready what its pods and
// events tell.
func (n *nodeRun) because(s *stepRun, message string) string {
	if n.Causes == nil {
		return message
	}
	cause := n.Causes.Cause(n.watching, s.ref())
	if cause == "" || strings.Contains(message, cause) {
		return message
	}
	return message + "; " + cause
}

// ask reads an object whose time is over before its watch told of it: it may well
// be ready.
func (n *nodeRun) ask(s *stepRun) ready.Readiness {
	o, err := n.Cluster.Get(n.finishing, s.resource, s.ref().Namespace, s.ref().Name)
	switch {
	case apierrors.IsNotFound(err):
		return ready.Readiness{State: ready.StateGone, Message: deletedMessage}
	case err != nil:
		return ready.Waiting("%s: %v", notSeenYet, err)
	}
	n.tracker.learn(s.ref(), o)
	state, _ := n.tracker.state(s.ref())
	return state
}

func orUnknown(message string) string {
	if message == "" {
		return "nothing is known of it yet"
	}
	return message
}

// stillDeleting says of an object that it is not gone yet, and what holds it.
func stillDeleting(r ready.Readiness) string {
	if r.State == ready.StateDeleting {
		return "it " + r.Message
	}
	return "it is still being deleted: " + orUnknown(r.Message)
}

func (n *nodeRun) notReady(s *stepRun, message string) {
	n.tracker.forget(s.ref())
	n.end(s, OutcomeNotReady, message)
}

// becameReady: a new kind is served from now on.
func (n *nodeRun) becameReady(s *stepRun) {
	if s.Object.Kind != "CustomResourceDefinition" {
		return
	}
	if err := n.Cluster.Refresh(n.finishing); err != nil {
		n.report(Event{Type: EventWarning, Object: s.ref(), ID: s.id(), Message: "the server does not tell which kinds it serves now: " + err.Error()})
	}
}

// vanished: what was waited for to be gone is gone, as far as the watch can see. It
// may only have lost the label that it is watched by.
func (n *nodeRun) vanished(s *stepRun) {
	n.tracker.doubt(s.ref())
	now, err := n.lookAt(s)
	switch {
	case err == nil && now != nil && now.UID == s.Live.UID:
		n.tracker.startAll(s.resource, s.ref())
		return
	case err != nil:
		n.tracker.forget(s.ref())
		n.failed(s, err)
		return
	}
	n.tracker.forget(s.ref())
	s.gone = false
	if s.Object == nil || s.Action == plan.ActionPurge && now == nil {
		n.deleted(s, "")
		return
	}
	step, _ := n.recheck(s, now)
	s.Step, s.state = &step, stepPending
}

// delete deletes an object that is ours, and waits until it is gone.
func (n *nodeRun) delete(s *stepRun) {
	if plan.IsContainer(s.ref()) && n.holdsOthers(s) {
		return
	}
	permit, err := n.permit(s)
	if err != nil {
		n.failed(s, err)
		return
	}
	gone, err := n.Cluster.Delete(n.finishing, s.resource, permit, Deletion{Propagation: n.propagation(), DryRun: n.Options.DryRun})
	switch {
	case apierrors.IsNotFound(err):
		n.deleted(s, "it was gone already")
	case err == nil && (gone || n.Options.DryRun):
		n.deleted(s, s.told())
	case err == nil && n.of.After:
		n.end(s, OutcomeDone, "it is being deleted, and finalizers hold it")
	case err == nil:
		n.watchDeleting(s)
		n.awaitGone(s, lynq.DefaultPolicy().Timeout)
	case apierrors.IsConflict(err):
		n.deleteAgain(s)
	default:
		n.failed(s, err)
	}
}

// permit asks the gate for the object as it was seen. Its version is that of the tracking
// that was seen: a person may have taken the object over since.
func (n *nodeRun) permit(s *stepRun) (plan.Permit, error) {
	if n.Options.DryRun {
		return n.of.Trial(n.plan, n.inventory, s.Step)
	}
	return n.of.Permit(n.plan, n.inventory, s.Step)
}

// deleted ends a step whose object is gone. Of one that is purged the entry stays.
func (n *nodeRun) deleted(s *stepRun, message string) {
	if s.Object != nil {
		n.purged(s, message)
		return
	}
	s.entry = nil
	n.end(s, OutcomeDone, message)
}

// propagation is how objects take with them what belongs to them.
func (n *nodeRun) propagation() metav1.DeletionPropagation {
	if n.plan.Cascade == plan.CascadeForeground {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// deleteAgain looks whether an object that changed is still ours to delete.
func (n *nodeRun) deleteAgain(s *stepRun) {
	now, err := n.lookAt(s)
	if err != nil {
		n.failed(s, err)
		return
	}
	if s.tries++; s.tries > maxTries {
		n.end(s, OutcomeFailed, "it changes all the time; nothing was deleted")
		return
	}
	step, verdict := n.recheck(s, now)
	s.Step = &step
	if verdict == plan.VerdictStopped {
		n.end(s, OutcomeFailed, step.Message)
		return
	}
	n.execute(n.finishing, s)
}

// maxTries bounds how often a write is tried again because the object changed
// meanwhile.
const maxTries = 8

// owner is the node as its objects' tracking has it.
func (n *nodeRun) owner() plan.Owner { return plan.NewOwner(n.plan.NodeKey, n.plan.Hub, n.inventory) }
