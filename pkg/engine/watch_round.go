package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

const (
	// roundFor is how long a round has for itself: when there is more to do after that,
	// it ends, and what it waits for is waited for by the next one.
	roundFor = 2 * time.Second
	// wholeEvery is how often all nodes are compared with the cluster, whatever watches
	// tell.
	wholeEvery = 5 * time.Minute
)

// round applies the nodes that changes concern, or that are due; all of the hub where it
// is time for that, or where it is not known what changed.
func (h *hubWatch) round(ctx context.Context, r *clusterRun, watches *hubWatches, wanted <-chan struct{}) error {
	now, rows := time.Now(), h.current()
	if rows == nil {
		return nil
	}
	objects, all := h.taken(now)
	due := h.ledger.Due(rows.wanted, now)
	// A tombstone of a file is of no node.
	all = all || due[h.stones()] || objects[h.record()] || !now.Before(h.whole.Add(h.wholeEvery())) || h.thirdDue(now)
	if !all && len(due)+len(objects) == 0 {
		return nil
	}
	run := *r
	run.began = now
	j := &applyJob{
		clusterRun: run, o: &h.o, inputs: h.in.Inputs, hubs: h.in.Hubs, tombstones: h.in.tombstones,
		rendering: rows.rendering, continuous: true,
	}
	if !all {
		j.concern = &plan.Concern{Nodes: due, Objects: objects, Rollouts: h.rollouts()}
	}
	plans, approved, err := h.plan(ctx, j)
	r.warned = j.warned
	if err != nil {
		return err
	}
	if !approved {
		plans = h.sparing(plans, rows, j.concern == nil, now)
	}
	watches.ensure(ctx, plans)
	if j.concern == nil {
		h.whole = now
	}
	ended := map[plan.NodeKey]apply.Outcome{}
	if j.concern == nil || slices.ContainsFunc(plans, func(p plan.Plan) bool { return len(p.Nodes) > 0 }) {
		ended, err = h.carryOut(ctx, j, plans, wanted, approved)
		h.tellFights(ctx, plans, j.client.Recorder(hostName()))
	}
	switch {
	case ended == nil:
		h.whole = time.Time{} // what was to be done, and what changed, is still open
	case err == nil || cutShort(err) || ofNodes(err):
		h.settle(rows, due, plans, ended)
	}
	h.metrics().BackOff(h.hub.Key, h.ledger.Waiting(h.stones()))
	if ofNodes(err) {
		return nil // each of them waits for itself
	}
	return err
}

// ofNodes tells whether an error is that some nodes did not end well, and nothing else.
func ofNodes(err error) bool {
	failed := (*Error)(nil)
	return errors.As(err, &failed) && failed.Outcome == Failed && failed.Err == ErrReported //nolint:errorlint // and nothing beside it
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

// stones stands for the node of tombstones that come from files.
func (h *hubWatch) stones() plan.NodeKey {
	return plan.NodeKey{Namespace: h.hub.Key.Namespace, Name: plan.TombstonesNode}
}

// record is the hub's record.
func (h *hubWatch) record() lynq.Ref {
	return lynq.Ref{Kind: "ConfigMap", Namespace: h.hub.Key.Namespace, Name: inventory.HubName(h.hub.Key.Name)}
}

// rollouts are the forms of the hub that have one.
func (h *hubWatch) rollouts() map[lynq.FormKey]bool {
	forms := map[lynq.FormKey]bool{}
	for key, o := range rollouts([]HubPrograms{h.hub}) {
		if o.MaxSkew > 0 {
			forms[key.Form] = true
		}
	}
	return forms
}

// plan plans the hub, or of it what is concerned. Deletions that a guard refuses are held,
// and all else is done; what guards and tombstones are about is planned as a whole.
func (h *hubWatch) plan(ctx context.Context, j *applyJob) (plans []plan.Plan, approved bool, err error) {
	if err := j.loadHubs(ctx); err != nil {
		return nil, false, err
	}
	record := j.records[h.hub.Key]
	if record.Approved != "" || record.Deleting {
		j.concern = nil
	}
	if j.concern == nil {
		_ = h.client.Refresh(ctx) // where the server does not say which kinds it serves, what it said before counts
	}
	if j.concern == nil || j.concern.Inventories() {
		h.kept.forget()
	}
	plans, err = j.planAll(ctx)
	if err == nil && j.concern != nil && slices.ContainsFunc(plans, wholeOnly) {
		j.concern = nil
		h.kept.forget()
		plans, err = j.planAll(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	plans, held, approved := holdDeletions(plans, record, time.Now())
	if err := j.refused(plans); err != nil {
		return nil, false, err
	}
	if err := plan.CheckSizes(plans); err != nil {
		return nil, false, err
	}
	h.tellHeld(ctx, j, plans, held, approved)
	j.held = map[lynq.HubKey]*inventory.HeldDeletions{h.hub.Key: held}
	return plans, approved, nil
}

// wholeOnly tells whether a plan of some nodes has something that is decided with all
// nodes in sight.
func wholeOnly(p plan.Plan) bool {
	return len(p.Refusals) > 0 || slices.ContainsFunc(p.Nodes, func(n plan.NodePlan) bool {
		return n.Desired != nil && len(n.Desired.Tombstones) > 0
	})
}

// tellHeld tells people, Kubernetes and metrics what is held.
func (h *hubWatch) tellHeld(ctx context.Context, j *applyJob, plans []plan.Plan, held *inventory.HeldDeletions, approved bool) {
	record := j.records[h.hub.Key]
	if h.o.Events {
		recorder := j.client.Recorder(hostName())
		tellHeld(ctx, recorder, record, held, approved, time.Now())
		recorder.Flush(ctx)
	}
	switch {
	case approved:
		h.notef("hub %s: the deletions that were held are approved, and carried out", h.hub.Key)
	case held != nil && (record.Held == nil || record.Held.Digest != held.Digest):
		h.notef("warning: hub %s: deletions are held (%s): %s; %s", h.hub.Key, held.Guard, held.Message, approveWith(record))
	}
	var guards []plan.Guard
	for i := range plans {
		if plans[i].Held != nil {
			for _, r := range plans[i].Held.Refusals {
				guards = append(guards, r.Guard)
			}
		}
	}
	h.metrics().Held(h.hub.Key, guards)
}

// carryOut carries plans out, until there is something new to do: approved ones to their
// end, for what is left of them would be held again. It gives how the nodes ended that did
// not end well, nil where that is not known.
func (h *hubWatch) carryOut(ctx context.Context, j *applyJob, plans []plan.Plan, wanted <-chan struct{}, approved bool) (map[plan.NodeKey]apply.Outcome, error) {
	h.mu.Lock()
	h.ended = nil
	h.mu.Unlock()
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	interrupted := h.interrupt(within, stop, wanted, approved)
	err := j.runPlans(within, plans)
	if cause := context.Cause(within); cause != nil && cutShort(cause) {
		err = cause
	}
	stop(nil)
	<-interrupted
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended, err
}

// settle notes how the nodes of a round ended. What was due and is in no plan has nothing
// to be done, or is held.
func (h *hubWatch) settle(rows *hubRows, due map[plan.NodeKey]bool, plans []plan.Plan, ended map[plan.NodeKey]apply.Outcome) {
	ends := map[plan.NodeKey]watch.End{}
	for n := range due {
		ends[n] = watch.EndWell
	}
	for i := range plans {
		for k := range plans[i].Nodes {
			ends[plans[i].Nodes[k].NodeKey] = watch.EndWell
		}
	}
	for n, outcome := range ended {
		ends[n] = watch.EndFailed
		if outcome == apply.OutcomeInterrupted {
			ends[n] = watch.EndInterrupted
		}
	}
	h.ledger.Settle(ends, rows.wanted, time.Now())
}

// interrupt ends a round where another run waits for the hub, or, unless it is to come to
// its end, where there is something new when it has had its time. What it gives is closed
// when it no longer does.
func (h *hubWatch) interrupt(ctx context.Context, stop context.CancelCauseFunc, wanted <-chan struct{}, toEnd bool) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		had := time.NewTimer(roundFor)
		defer had.Stop()
		var due <-chan struct{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-wanted:
				stop(errYielded)
				return
			case <-had.C:
				if !toEnd {
					due = h.changes.Due()
				}
			case <-due:
				h.changes.Wake() // the next round has it
				stop(errNewChanges)
				return
			}
		}
	}()
	return ended
}
