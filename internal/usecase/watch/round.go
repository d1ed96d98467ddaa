package watch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	usecase "github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// wholeEvery is how often all nodes are compared with the cluster, whatever watches
// tell.
const wholeEvery = 5 * time.Minute

// round applies the nodes that changes concern, or that are due; all of the hub where it
// is time for that, or where it is not known what changed.
func (h *hubWatch) round(ctx context.Context, r *session.Run, watches *hubWatches, wanted <-chan struct{}) error {
	h.takeInputs()
	now, rows := time.Now(), h.current()
	if rows == nil {
		return nil
	}
	objects, all := h.taken(now)
	h.mu.Lock()
	due := h.ledger.Due(rows.wanted, now)
	h.wanted, h.failing = rows.wanted, nil
	h.mu.Unlock()
	// A tombstone of a file is of no node.
	all = all || due[stonesOf(&h.hub)] || objects[recordOf(&h.hub)] || !now.Before(h.whole.Add(h.wholeEvery())) || h.thirdDue(now)
	if !all && len(due)+len(objects) == 0 && !h.graceDue(now) {
		return nil
	}
	run := *r
	run.Began = now
	j := &usecase.Job{
		Run: run, Options: &h.o, Inputs: h.in.Inputs, Hubs: h.in.Hubs, Tombstones: h.in.Tombstones,
		Rendering: rows.Rendering, Continuous: true,
		Troubles: map[lynq.HubKey][]inventory.Trouble{h.hub.Key: h.troubles()},
	}
	if !all {
		j.Concern = &decide.Concern{Nodes: due, Objects: objects, Rollouts: rolloutsOf(&h.hub)}
	}
	plans, approved, err := h.plan(ctx, j)
	r.Warned = j.Warned
	if err != nil {
		return err
	}
	if !approved {
		plans = h.sparing(plans, rows, j.Concern == nil, now)
	}
	watches.ensure(ctx, plans)
	if j.Concern == nil {
		h.whole = now
	}
	ended := map[lynq.NodeKey]report.Outcome{}
	if j.Concern == nil || slices.ContainsFunc(plans, func(p plan.Plan) bool { return len(p.Nodes)+len(p.Gone) > 0 || p.Marks() }) {
		ended, err = h.carryOut(ctx, j, plans, wanted, approved)
		h.tellFights(ctx, plans, j.Client.Recorder(session.HostName()))
	}
	switch {
	case ended == nil:
		h.whole = time.Time{} // what was to be done, and what changed, is still open
	case err == nil || cutShort(err) || ofNodes(err):
		h.settle(rows, due, plans, ended)
	}
	h.mu.Lock()
	h.w.engine.Meter().BackOff(h.hub.Key, h.ledger.Waiting(stonesOf(&h.hub)))
	h.mu.Unlock()
	if ofNodes(err) {
		return nil // each of them waits for itself
	}
	return err
}

// graceEnd is when the first of the nodes has been kept for its grace period, by this
// machine's clock, which timers go by; zero for none.
func (h *hubWatch) graceEnd(plans []plan.Plan) time.Time {
	for i := range plans {
		if end := plans[i].Wake(); !end.IsZero() && !plans[i].After {
			return time.Now().Add(end.Sub(h.w.engine.Now()))
		}
	}
	return time.Time{}
}

// graceDue tells whether a node has been kept for its grace period.
func (h *hubWatch) graceDue(now time.Time) bool { return !h.grace.IsZero() && !now.Before(h.grace) }

// ofNodes tells whether an error is that some nodes did not end well, and nothing else.
func ofNodes(err error) bool {
	failed := (*session.Error)(nil)
	return errors.As(err, &failed) && failed.Outcome == session.Failed && failed.Err == session.ErrReported //nolint:errorlint // and nothing beside it
}

// taken takes the objects that changed; all tells that any may have.
func (h *hubWatch) taken(now time.Time) (objects map[lynq.Ref]bool, all bool) {
	h.mu.Lock()
	over := h.fights.Over(now)
	h.mu.Unlock()
	if objects, all = h.changes.Take(); objects == nil {
		objects = map[lynq.Ref]bool{}
	}
	for _, ref := range over {
		objects[ref] = true
	}
	return objects, all
}

// stonesOf stands for the node of tombstones that come from files.
func stonesOf(h *load.HubPrograms) lynq.NodeKey {
	return lynq.NodeKey{Namespace: h.Key.Namespace, Name: plan.TombstonesNode}
}

// recordOf is the hub's record.
func recordOf(h *load.HubPrograms) lynq.Ref {
	return lynq.Ref{Kind: "ConfigMap", Namespace: h.Key.Namespace, Name: inventory.HubName(h.Key.Name)}
}

// rolloutsOf are the forms of the hub that have one.
func rolloutsOf(h *load.HubPrograms) map[lynq.FormKey]bool {
	forms := map[lynq.FormKey]bool{}
	for _, p := range h.Programs {
		if l := usecase.LimitsOf(p.Form); l.Rolls() {
			forms[load.FormKey(p.Form, h.Key.Namespace)] = true
		}
	}
	return forms
}

// plan plans the hub, or of it what is concerned. Deletions that a guard refuses are held,
// and all else is done; what guards and tombstones are about is planned as a whole.
func (h *hubWatch) plan(ctx context.Context, j *usecase.Job) (plans []plan.Plan, approved bool, err error) {
	if err := j.LoadHubs(ctx); err != nil {
		return nil, false, err
	}
	record := j.Records[h.hub.Key]
	if record.Approved != "" || record.Deleting {
		j.Concern = nil
	}
	if j.Concern == nil {
		_ = h.w.client.Refresh(ctx) // where the server does not say which kinds it serves, what it said before counts
	}
	if j.Concern == nil || j.Concern.Inventories() {
		h.kept.Forget()
	}
	plans, err = j.PlanAll(ctx)
	if err == nil && j.Concern != nil && slices.ContainsFunc(plans, wholeOnly) {
		j.Concern = nil
		h.kept.Forget()
		plans, err = j.PlanAll(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	plans, held, approved := holdDeletions(plans, record, time.Now())
	if err := j.Refused(plans); err != nil {
		h.recordRefused(ctx, j, session.Refusals(plans))
		return nil, false, err
	}
	h.refused = ""
	if err := plan.CheckSizes(plans); err != nil {
		return nil, false, err
	}
	h.tellHeld(ctx, j, plans, held, approved)
	h.tellTroubles(ctx, j)
	j.Held, h.grace = map[lynq.HubKey]*inventory.HeldDeletions{h.hub.Key: held}, h.graceEnd(plans)
	return plans, approved, nil
}

// wholeOnly tells whether a plan of some nodes has something that is decided with all
// nodes in sight.
func wholeOnly(p plan.Plan) bool {
	return len(p.Refusals) > 0 || slices.ContainsFunc(p.Nodes, func(n plan.NodePlan) bool {
		return n.Desired != nil && len(n.Desired.Tombstones) > 0
	})
}

// recordRefused adds to the hub's history that guards refuse a round, unless they refused the
// one before in the same words.
func (h *hubWatch) recordRefused(ctx context.Context, j *usecase.Job, refusals []plan.Refusal) {
	var text strings.Builder
	for _, r := range refusals {
		text.WriteString(string(r.Guard) + ": " + r.What + "\n")
	}
	said := text.String()
	if said != h.refused {
		j.RememberRefusals(ctx, h.hub.Key, refusals)
	}
	h.refused = said
}

// tellHeld tells people, Kubernetes and metrics what is held.
func (h *hubWatch) tellHeld(ctx context.Context, j *usecase.Job, plans []plan.Plan, held *inventory.HeldDeletions, approved bool) {
	record := j.Records[h.hub.Key]
	if h.o.Events {
		recorder := j.Client.Recorder(session.HostName())
		tellHeld(ctx, recorder, record, held, approved, time.Now())
		recorder.Flush(ctx)
	}
	switch {
	case approved:
		h.w.engine.Notef("hub %s: the deletions that were held are approved, and carried out", h.hub.Key)
		j.Noted.Approved = record.Approved
	case held != nil && (record.Held == nil || record.Held.Digest != held.Digest):
		h.w.engine.Notef("warning: hub %s: deletions are held (%s): %s; %s", h.hub.Key, held.Guard, held.Message, approveWith(record))
		for i := range plans {
			if plans[i].Held != nil {
				j.Noted.Held = append(j.Noted.Held, plans[i].Held.Refusals...)
			}
		}
	}
	var guards []plan.Guard
	for i := range plans {
		if plans[i].Held != nil {
			for _, r := range plans[i].Held.Refusals {
				guards = append(guards, r.Guard)
			}
		}
	}
	h.w.engine.Meter().Held(h.hub.Key, guards)
}

// carryOut carries plans out, until there is something new to do: approved ones to their
// end, for what is left of them would be held again. It gives how the nodes ended that did
// not end well, nil where that is not known.
func (h *hubWatch) carryOut(ctx context.Context, j *usecase.Job, plans []plan.Plan, wanted <-chan struct{}, approved bool) (map[lynq.NodeKey]report.Outcome, error) {
	if h.told.IsZero() {
		h.told = time.Now()
	}
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if !h.begin(plan.Deletes(plans), stop) {
		return nil, errInputsChanged
	}
	interrupted := h.interrupt(within, stop, wanted, j.Began, approved)
	err := j.RunPlans(within, plans)
	if cause := context.Cause(within); cause != nil && cutShort(cause) {
		err = cause
	}
	stop(nil)
	<-interrupted
	if !cutShort(err) {
		h.told = time.Time{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut = nil
	return h.ended, err
}

// settle notes how the nodes of a round ended, but for those that the ledger knows have
// failed. What was due and is in no plan has nothing to be done, or is held.
func (h *hubWatch) settle(rows *hubRows, due map[lynq.NodeKey]bool, plans []plan.Plan, ended map[lynq.NodeKey]report.Outcome) {
	ends := map[lynq.NodeKey]watch.End{}
	for n := range due {
		ends[n] = watch.EndWell
	}
	for i := range plans {
		for k := range plans[i].Nodes {
			ends[plans[i].Nodes[k].Key()] = watch.EndWell
		}
	}
	for n, outcome := range ended {
		ends[n] = watch.EndFailed
		if outcome == report.OutcomeInterrupted {
			ends[n] = watch.EndInterrupted
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := range h.failing {
		delete(ends, n)
	}
	h.failing = nil
	h.ledger.Settle(ends, rows.wanted, time.Now())
}
