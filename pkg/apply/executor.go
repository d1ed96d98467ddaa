package apply

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// executor executes the steps of a node, each in its turn.
type executor struct {
	of        *plan.Plan
	plan      *plan.NodePlan
	form      schedule.Form // the node's form
	steps     *Steps
	requests  *requests
	record    *record
	decisions *decisions
	deletion  *deletion
	release   *release
	hooks     *hooks
	waiter    *waiter
	links     *schedule.Links
	tell      *nodeReporter
	budget    *budget
	now       func() time.Time
	ending    *ending
}

// execute gives a step its turn, and again whenever it becomes another step.
func (c *executor) execute(ctx context.Context, s *Step) {
	for c.carry(s, c.turn(ctx, s)) {
	}
}

// carry executes a move. It returns true if the step must have its turn again.
func (c *executor) carry(s *Step, m move) bool {
	if m.kind == moveGone {
		m = c.deletion.vanished(s, c.waiter)
	}
	switch m.kind {
	case moveAgain:
		return true
	case moveLeaves:
		c.waiter.awaitGone(s, m.timeout)
		c.look(s)
	case moveFails:
		c.failed(s, m.err)
	case moveBreaksOff:
		c.breakOff(s, m.outcome, m.message)
	case moveEnds:
		c.end(s, m.outcome, m.message)
		if m.ready {
			c.becameReady(s)
		}
	}
	return false
}

// look checks an awaited object. It returns true if the step continued.
func (c *executor) look(s *Step) bool {
	m, on := c.waiter.look(s)
	if on && c.carry(s, m) {
		c.execute(c.requests.ctx, s)
	}
	return on
}

// turn begins a step.
func (c *executor) turn(ctx context.Context, s *Step) move {
	if m, ends := c.hooks.look(s); ends {
		return m
	}
	switch s.Action {
	case plan.ActionKeep:
		if s.Reason == plan.ReasonLeftOut {
			return endsAs(report.OutcomeUnchanged, "")
		}
		return c.kept(s)
	case plan.ActionSkip:
		return endsAs(report.OutcomeSkipped, s.Message)
	case plan.ActionBlock:
		return c.conflict(s, s.Message)
	case plan.ActionRelease:
		return c.forget(ctx, s)
	case plan.ActionCollect:
		return c.deletion.collect(s)
	case plan.ActionDelete:
		if s.Live == nil { // lynqctl couldn't read it
			return endsAs(report.OutcomeFailed, s.Message)
		}
	}
	return c.change(ctx, s)
}

// kept handles an object in its desired state. The run may still wait until it is ready.
func (c *executor) kept(s *Step) move {
	s.Record = new(s.NextEntry())
	if s.Live != nil && s.Live.Intact {
		s.Record = new(c.confirms(s, s.Live, true)) // so that the next plan needn't ask
	}
	if s.Hook() {
		s.Record.UID = string(s.Live.UID) // the run that created it may not have recorded it
	}
	if !c.waiter.waits(s) || s.Record.Ready {
		return endsAs(report.OutcomeUnchanged, "")
	}
	var err error
	if s.Resource, err = c.requests.resourceOf(s); err != nil {
		return fails(err)
	}
	c.waiter.watch(s)
	return c.await(s, wait.Revision{UID: s.Live.UID, Generation: s.Live.Generation, ResourceVersion: s.Live.ResourceVersion})
}

// await waits until an object is ready.
func (c *executor) await(s *Step, written wait.Revision) move {
	c.waiter.await(s, written)
	if m, on := c.waiter.look(s); on {
		return m
	}
	return move{kind: moveWaits}
}

// change executes a step that changes an object.
func (c *executor) change(ctx context.Context, s *Step) move {
	if c.budget.spent(c.kind(s)) {
		defer c.requests.hasten()()
	}
	if err := c.requests.find(ctx, s); err != nil {
		return fails(err)
	}
	if s.Unrecorded {
		if m, ends := c.try(ctx, s); ends {
			return m
		}
	}
	switch {
	case s.Action == plan.ActionDelete, s.Action == plan.ActionPurge:
		return c.deletion.delete(s)
	case s.Action == plan.ActionOrphan:
		return c.release.orphan(s, c.now())
	case s.Reason == plan.ReasonUnmanaged:
		m := c.release.unmanaged(s)
		if m.kind == moveEnds && s.Object != nil && s.Record.Ready && !c.requests.dryRun {
			c.tell.ready(s)
		}
		return m
	case s.Live != nil && s.Live.Deleting:
		return leaves(s.Object.Policy.Timeout)
	case s.Hook() && s.Live != nil && c.requests.dryRun:
		return endsAs(report.OutcomeDone, s.Message)
	case s.Hook() && s.Live != nil:
		return c.deletion.clear(s)
	case s.Hook():
		if m, ends := c.beginHook(s); ends {
			return m
		}
	}
	return c.send(ctx, s)
}

// beginHook records that the run is about to create a hook. An object that exists before
// isn't the hook's, whatever its labels say. beginHook returns true if the step continues
// with the move.
func (c *executor) beginHook(s *Step) (m move, ends bool) {
	if s.Entry.Phase == "" && !c.requests.dryRun {
		now, err := c.decisions.object(s).LookAt()
		if err != nil {
			return fails(err), true
		}
		if now != nil {
			c.decisions.again(s, now)
			return move{kind: moveAgain}, true
		}
	}
	if err := c.hooks.begin(s); err != nil {
		return fails(err), true
	}
	return move{}, false
}

// send writes the object of a step.
func (c *executor) send(ctx context.Context, s *Step) move {
	if c.waiter.waits(s) {
		c.waiter.watch(s)
	}
	c.waiter.begins()
	var done write.Result
	err := c.requests.served(ctx, s, func() (err error) {
		o := c.decisions.object(s)
		done, err = o.Send(ctx, write.Manner{InPlace: c.of.WithClaims, Record: func(reason, message string) { c.tell.record(report.Normal, reason, message) }, Notes: s.Notes})
		took(s, o)
		s.Notes = done.Notes
		return err
	})
	switch {
	case errors.Is(err, write.ErrTurned):
		if s.Touched && s.Record == nil {
			s.Record = new(s.Begun()) // it may have our tracking
		}
		return move{kind: moveAgain}
	case errors.Is(err, write.ErrRecreate):
		return c.deletion.recreate(s)
	case err != nil:
		return c.takenValue(s, err)
	}
	c.budget.succeeded(c.kind(s))
	return c.written(s, done)
}

// try makes the server try the write of an object that the inventory doesn't list. If the
// server would accept the write, try records the object. It records an object that no
// longer exists at once. It returns true if the step continues with the move.
func (c *executor) try(ctx context.Context, s *Step) (m move, ends bool) {
	if c.record.contested(s) {
		o := c.decisions.object(s)
		o.DryRun = true
		_, err := o.Send(ctx, write.Manner{InPlace: c.of.WithClaims, Record: func(string, string) {}})
		s.Step = o.Step // a dry run changes no object
		switch {
		case errors.Is(err, write.ErrTurned):
			return move{kind: moveAgain}, true
		case err != nil && !errors.Is(err, write.ErrRecreate):
			return fails(err), true
		}
	}
	if err := c.record.going(s, s.Begun()); err != nil {
		return fails(err), true
	}
	s.Unrecorded = false
	return move{}, false
}

// written records a write, and waits for the object if necessary.
func (c *executor) written(s *Step, done write.Result) move {
	l := tracking.LiveOf(s.Object.Ref, done.Meta)
	c.requests.dependencies.Wrote(l.UID, l.Ref)
	s.Record = new(c.confirms(s, &l, done.Unchanged))
	s.Says, s.Same = done.Note, done.Unchanged
	if c.waiter.waits(s) && !s.Record.Ready {
		return c.await(s, wait.RevisionOf(done.Meta))
	}
	if s.Record.Ready && !c.requests.dryRun {
		c.tell.ready(s)
	}
	if done.Unchanged {
		return endsAs(report.OutcomeUnchanged, done.Note)
	}
	return endsAs(report.OutcomeDone, done.Note)
}

// confirms returns the entry of an object in its desired state.
func (c *executor) confirms(s *Step, l *tracking.Live, unchanged bool) inventory.Entry {
	return s.Confirms(&plan.Wrote{
		Live: l, Unchanged: unchanged, At: c.now(),
		Managed: func() (own, defaults string) { return managed(s, l) },
	})
}

// becameReady refreshes the kinds after a CustomResourceDefinition became ready, because
// the server now serves a new one.
func (c *executor) becameReady(s *Step) {
	if s.Object.Kind != "CustomResourceDefinition" {
		return
	}
	if err := c.requests.cluster.Refresh(c.requests.ctx); err != nil {
		c.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Object: s.Ref(), ID: s.ID(), Message: "the server doesn't say which kinds it serves: " + err.Error()}})
	}
}

// forget drops the entry of an object that the node no longer has and doesn't delete.
func (c *executor) forget(ctx context.Context, s *Step) move {
	if s.Reason == plan.ReasonGivenUp && s.Live == nil {
		return c.leaveBehind(s, s.Message)
	}
	if s.Reason == plan.ReasonAlreadyGone && s.Message != "" {
		c.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Object: s.Ref(), ID: s.ID(), Message: s.Message + "; lynqctl drops its entry"}})
	}
	return c.release.forget(ctx, s)
}

// leaveBehind gives up an object that the user named. It reports that, because no entry
// remembers the object from now on.
func (c *executor) leaveBehind(s *Step, message string) move {
	s.Becomes(s.As(plan.ActionRelease, s.Reason))
	s.Record = nil
	c.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Object: s.Ref(), ID: s.ID(), Message: message}})
	return endsAs(report.OutcomeDone, message)
}

// breakOff ends a step because the run ends, although nothing is wrong with its object.
func (c *executor) breakOff(s *Step, o report.Outcome, message string) {
	s.Interrupted = true
	c.end(s, o, message)
}

func (c *executor) end(s *Step, o report.Outcome, message string) {
	s.State, s.Outcome = Done, o
	if message != "" {
		s.Says = message
	}
	s.Says = c.ending.secrets.Hide(s.Says)
	if s.Watched {
		c.waiter.forget(s)
		s.Watched = false
	}
	e := o.End()
	if s.Object != nil && s.Leaving {
		e = report.OutcomeSkipped.End() // it is still being deleted, and wasn't created again
	}
	c.links.Settle(s.Step, e)
	c.tell.tombstone(s)
	if o != report.OutcomeUnchanged {
		c.tell.ended(s)
	}
	switch o {
	case report.OutcomeFailed, report.OutcomeConflicted, report.OutcomeNotReady:
		c.ending.add(s.Details())
	}
}

// managed returns the hashes to record for the fields that lynq manages now. Later runs
// find drift with them. If it returns "", a run reads the object whenever it changed.
func managed(s *Step, l *tracking.Live) (own, defaults string) {
	if s.Applies() {
		return l.Fields, ""
	}
	manifest, err := s.Object.Body.Content()
	if err != nil {
		return "", ""
	}
	updates := l.Rare().Updates
	sets := make([]*metav1.FieldsV1, len(updates))
	for i := range updates {
		sets[i] = updates[i].Fields
	}
	unsaid, err := fields.Unsaid(sets, manifest)
	if err != nil {
		return "", ""
	}
	defaults, few := tracking.Defaults(unsaid)
	if !few {
		return "", ""
	}
	return l.Own(defaults), defaults
}
