package apply

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// waiter waits until the objects of a node are ready or deleted.
type waiter struct {
	tracker  *wait.Tracker
	requests *requests
	causes   Causes          // may be nil
	watching context.Context // ends with the run
	hub      string
	wake     func()
	now      func() time.Time
	tell     *nodeReporter
	steps    *Steps
	// waited returns since when lynqctl waits for a step, including earlier runs.
	waited func(*Step) time.Time
	// all is set if the run waits for all objects that forms wait for. Otherwise it waits
	// only for a rollout, or for a new kind or namespace.
	all      bool
	share    schedule.Share // the node's part in the rollout of its form
	deadline time.Duration  // the deadline of the rollout, or 0
	began    time.Time      // the start of the first write or wait
}

// watch begins to watch an object that the step will wait for. Call it before the write.
func (l *waiter) watch(s *Step) { l.watchBy(s, wellknown.LabelHub+"="+l.hub) }

func (l *waiter) watchBy(s *Step, selector string) {
	s.Watched = true
	l.tracker.Start(s.Resource, s.Ref(), selector)
}

// watchDeleting works like watch for an object that may lack the hub's label.
func (l *waiter) watchDeleting(s *Step) {
	switch {
	case s.Live.Orphaned:
		l.watchBy(s, wellknown.LabelOrphaned+"=true")
	case s.Live.Hub != l.hub:
		l.watchBy(s, "")
	default:
		l.watch(s)
	}
}

// expect wakes the node when an object may be ready, and expectGone when it may be deleted.
func (l *waiter) expect(s *Step, written wait.Revision) {
	l.tracker.Expect(s.Ref(), written, l.wake)
}

func (l *waiter) expectGone(s *Step) { l.tracker.ExpectGone(s.Ref(), s.Live.UID, l.wake) }

// forget ends the wait for an object.
func (l *waiter) forget(s *Step) { l.tracker.Forget(s.Ref()) }

// because adds the cause from pods and events to a message about an unready object.
func (l *waiter) because(s *Step, message string) string {
	if l.causes == nil || conceals(s) {
		return message
	}
	cause := l.causes.Cause(l.watching, s.Ref())
	if cause == "" || strings.Contains(message, cause) {
		return message
	}
	return message + "; " + cause
}

// ask reads an object with an expired timeout that its watch hasn't reported yet. It may be
// ready.
func (l *waiter) ask(s *Step) ready.Readiness {
	o, err := l.requests.cluster.Get(l.requests.ctx, s.Resource, s.Ref().Namespace, s.Ref().Name)
	switch {
	case apierrors.IsNotFound(err):
		return ready.Readiness{State: ready.StateGone, Message: wait.Deleted}
	case err != nil:
		return ready.Waiting("%s: %v", wait.NotSeenYet, err)
	}
	l.tracker.Learn(s.Ref(), o)
	state, _ := l.state(s)
	return state
}

// state returns the last known state of the object of a step.
func (l *waiter) state(s *Step) (ready.Readiness, bool) {
	state, known := l.tracker.State(s.Ref())
	quotes := state.State == ready.StateFailed || state.State == ready.StateWaiting && state.Message != wait.NotSeenYet
	if quotes && conceals(s) {
		state.Message = redact.Concealed
	}
	return state, known
}

// conceals reports whether nobody may see why an object isn't ready. Conditions and pods of
// a hook may quote its manifest, and its row may be gone.
func conceals(s *Step) bool { return s.Hook() && sensitive(s) }

// waits reports whether the run waits until an object is ready.
func (l *waiter) waits(s *Step) bool {
	o := s.Object
	switch {
	case o == nil || l.requests.dryRun || s.Reason == plan.ReasonLeftOut || s.Reason == plan.ReasonCompleted:
		return false
	case plan.Provides(o) != "":
		return s.Action != plan.ActionKeep // others need it now
	case s.Hook():
		return true
	case !l.all && l.share == schedule.ShareNone:
		return false
	}
	return o.Awaited()
}

// mayWait reports whether the run may have to wait until an object is ready or deleted.
func (l *waiter) mayWait(s *Step) bool {
	switch {
	case l.requests.dryRun:
		return false
	case l.steps.Purges(s), s.Action == plan.ActionPurge:
		return true
	case s.Object == nil:
		return s.Action == plan.ActionDelete || s.Action == plan.ActionCollect
	case s.Action == plan.ActionKeep:
		return l.waits(s) && !s.Entry.Ready
	case s.Action == plan.ActionSkip || s.Action == plan.ActionBlock:
		return false
	}
	return l.waits(s) || s.Live != nil && s.Live.Deleting || s.Recreates()
}

// announce tells the tracker which objects the node may wait for.
func (l *waiter) announce() {
	for i := range l.steps.Of {
		if s := &l.steps.Of[i]; l.mayWait(s) {
			l.tracker.Plan(s.Ref())
		}
	}
}

// begins notes the first write or wait of the node.
func (l *waiter) begins() {
	if l.began.IsZero() {
		l.began = l.now()
	}
}

// await begins to wait until an object is ready.
func (l *waiter) await(s *Step, written wait.Revision) {
	now := l.now()
	s.Since = now
	s.Since = l.waited(s)
	s.State, s.Deadline = Waiting, s.Since.Add(s.Object.Policy.Timeout)
	l.begins()
	if l.share != schedule.ShareNone && l.deadline > 0 {
		began := l.began
		if s.Since.Before(began) {
			began = s.Since
		}
		if end := began.Add(l.deadline); end.Before(s.Deadline) {
			s.Deadline = end
		}
	}
	if !now.Before(s.Deadline) {
		s.Expired, s.Deadline = s.Deadline, now.Add(firstLook)
	}
	l.expect(s, written)
}

// awaitGone begins to wait until an object is deleted.
func (l *waiter) awaitGone(s *Step, timeout time.Duration) {
	l.watchDeleting(s)
	s.State, s.Leaving, s.Deadline = Waiting, true, l.now().Add(timeout)
	l.expectGone(s)
}

// look checks the state of an awaited object. It returns true if the step continues with
// the move.
func (l *waiter) look(s *Step) (move, bool) {
	state, known := l.state(s)
	late := !l.now().Before(s.Deadline) || !s.Expired.IsZero() && known && state != ready.Waiting(wait.NotSeenYet)
	if late && !s.Leaving && state == ready.Waiting(wait.NotSeenYet) {
		state = l.ask(s)
	}
	switch {
	case s.Leaving && known && state.State == ready.StateGone:
		return move{kind: moveGone}, true
	case s.Leaving && (late || state.State == ready.StateFailed):
		return l.notReady(s, stillDeleting(state)), true
	case s.Leaving:
	case known && state.State == ready.StateReady:
		return l.ready(s, state), true
	case known && state.State == ready.StateGone:
		return l.notReady(s, state.Message), true
	case known && state.State == ready.StateFailed:
		if s.Hook() {
			s.Record.Phase = inventory.PhaseFailed
		}
		return l.notReady(s, l.because(s, state.Message)), true
	case late:
		return l.late(s, l.because(s, orUnknown(state.Message))), true
	default:
		if m, ends := l.stuck(s, state.Message); ends {
			return m, true
		}
	}
	if state != s.Last {
		s.Last = state
		l.tell.report(report.Event{Type: report.EventWait, Details: report.Details{Object: s.Ref(), ID: s.ID(), Message: state.Message}})
	}
	return move{}, false
}

// These are the times after which a wait looks for a cause that doesn't pass, and how long
// the cause must last. Another controller may be about to create a missing Secret.
const (
	firstCheck = 10 * time.Second
	nextCheck  = 30 * time.Second
	lastsFor   = 20 * time.Second
)

// stuck ends the wait for an object that can't become ready until somebody changes
// something.
func (l *waiter) stuck(s *Step, state string) (move, bool) {
	now := l.now()
	switch {
	case l.causes == nil || conceals(s) || !ready.Explains(s.Ref().Group, s.Ref().Kind):
		return move{}, false
	case s.Check.IsZero():
		s.Check = now.Add(firstCheck)
		return move{}, false
	case now.Before(s.Check):
		return move{}, false
	}
	switch cause := l.causes.Stuck(l.watching, s.Ref()); {
	case cause == "":
		s.Stuck, s.Check = time.Time{}, now.Add(nextCheck)
	case s.Stuck.IsZero():
		s.Stuck, s.Check = now, now.Add(lastsFor)
	default:
		if !strings.Contains(state, cause) {
			state += ": " + cause
		}
		return l.notReady(s, "can't become ready: "+state+" (waiting longer doesn't help)"), true
	}
	return move{}, false
}

// ready ends the wait for an object that is ready.
func (l *waiter) ready(s *Step, state ready.Readiness) move {
	l.forget(s)
	s.Record.Ready = true
	s.Record.Ended = state.Final && s.Object.Ends && !s.Hook()
	l.tell.ready(s)
	outcome := report.OutcomeDone
	if s.Action == plan.ActionKeep || s.Same {
		outcome = report.OutcomeUnchanged
	}
	return move{kind: moveEnds, outcome: outcome, message: s.Says, ready: true}
}

// firstLook is the time for the API server to report an object with a timeout that expired
// before this run.
const firstLook = 10 * time.Second

// late ends the wait for an object that wasn't ready in time.
func (l *waiter) late(s *Step, state string) move {
	s.Why = inventory.ObjectTimedOut
	if !s.Expired.IsZero() {
		return l.notReady(s, "still not ready, and its time expired at "+s.Expired.UTC().Format(time.RFC3339)+" (raise timeoutSeconds to wait longer): "+state)
	}
	l.tell.record(report.Warning, "ReadinessTimeout", s.Ref().String()+" is not ready: "+state)
	limit := "rollout.progressDeadlineSeconds"
	if s.Deadline.Equal(s.Since.Add(s.Object.Policy.Timeout)) {
		limit = "timeoutSeconds: " + s.Object.Policy.Timeout.String()
	}
	return l.notReady(s, "not ready in time ("+limit+"): "+state)
}

// notReady ends the wait for an object that didn't reach the awaited state.
func (l *waiter) notReady(s *Step, message string) move {
	l.forget(s)
	return endsAs(report.OutcomeNotReady, message)
}

// interrupted ends the wait for a step because the run ends. Its object is written, and the
// next run checks it again.
func (l *waiter) interrupted(s *Step) move {
	state, _ := l.state(s)
	if s.Leaving {
		return move{kind: moveBreaksOff, outcome: report.OutcomeNotReady, message: "interrupted: " + stillDeleting(state)}
	}
	return move{kind: moveBreaksOff, outcome: report.OutcomeNotReady, message: "interrupted while lynqctl waited for it: " + orUnknown(state.Message)}
}

func orUnknown(message string) string {
	if message == "" {
		return "its state is unknown"
	}
	return message
}

// stillDeleting says that an object still exists, and which finalizers block its deletion.
func stillDeleting(r ready.Readiness) string {
	if r.State == ready.StateDeleting {
		return "it " + r.Message
	}
	return "it is still being deleted: " + orUnknown(r.Message)
}
