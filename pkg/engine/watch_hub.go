package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// hubWatch keeps one hub. One goroutine uses it, but for what is under its lock.
type hubWatch struct {
	*watching
	in  *applyInputs
	hub HubPrograms
	o   ApplyOptions // of this hub alone
	// files is how the inputs were read.
	files watch.Reading

	changes  *watch.Changes
	kept     keptInventories
	ledger   watch.Ledger[plan.NodeKey]
	whole    time.Time // of the last round about all nodes
	failures int       // of rounds as a whole, in turn
	again    time.Time // when to try again after one
	// third is when to read files again whose changes delete data, zero for no need.
	third time.Time
	// idle counts the rounds, in turn, that changes began and that found nothing to do.
	idle int

	mu     sync.Mutex
	rows   *hubRows // nil before they were read
	fights watch.Fights
	fought []fight // in this round
	wrote  bool    // something, since it was asked last
	// ended is how the nodes ended that did not end well, in the run that ended last.
	ended map[plan.NodeKey]apply.Outcome
}

// newHubWatch makes one for the hub at i of the inputs.
func newHubWatch(w *watching, in *watchInputs, i int) *hubWatch {
	o := w.o.ApplyOptions
	o.Sources = nil
	if url := in.urls[i]; url != "" {
		o.Sources = []string{url}
	}
	own := *in.applyInputs
	inputs := *in.Inputs
	inputs.Hubs = in.Hubs[i : i+1]
	own.Inputs = &inputs
	if i > 0 {
		own.tombstones = nil // they are of no hub, and are looked at once
	}
	return &hubWatch{watching: w, o: o, in: &own, files: in.reading, hub: in.Hubs[i], changes: watch.NewChanges()}
}

// run keeps the hub until the context ends.
func (h *hubWatch) run(ctx context.Context) {
	h.metrics().Leading(h.hub.Key, false)
	defer h.metrics().Left(h.hub.Key)
	for failures := 0; ctx.Err() == nil; {
		err := h.term(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			continue
		}
		failures++
		h.watching.o.observer().Ended(h.hub.Key, err)
		pause := watch.Pause(failures)
		h.notef("warning: hub %s: %v; trying again in %s", h.hub.Key, err, pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// term takes the hub's Lease, and keeps the hub until another run wants it.
func (h *hubWatch) term(ctx context.Context) error {
	o := h.o.RunOptions
	o.LockTimeout = lease.Forever
	r := h.newClusterRun(&o, h.client, h.warnings)
	r.observe, r.kept = h.observe, &h.kept
	locks := r.newContinuousLocks(ctx, h.hub.Key)
	err := r.acquire(ctx, locks)
	defer locks.release(ctx)
	if err != nil {
		return err
	}
	h.notef("hub %s: watching", h.hub.Key)
	h.metrics().Leading(h.hub.Key, true)
	defer h.metrics().Leading(h.hub.Key, false)
	h.kept.forget()
	h.rows, h.ledger, h.whole, h.third, h.failures = nil, watch.Ledger[plan.NodeKey]{}, time.Time{}, time.Time{}, 0 // another run may have changed anything
	watched, stop := context.WithCancel(locks.ctx)
	watches := newHubWatches(h, &r)
	watches.running.Go(func() { h.keepReading(watched, r) })
	defer func() {
		stop()
		watches.running.Wait()
	}()
	return h.rounds(watched, &r, watches, locks.held[0].Wanted())
}

// rounds looks at the hub whenever something changed, or is due, until another run wants
// it. Its error is why the hub cannot be kept for now.
func (h *hubWatch) rounds(ctx context.Context, r *clusterRun, watches *hubWatches, wanted <-chan struct{}) error {
	for {
		at := h.next(time.Now())
		lacking := watches.lacking()
		if soon := time.Now().Add(servedEvery); lacking && soon.Before(at) {
			at = soon
		}
		next := time.NewTimer(time.Until(at))
		changed := false
		select {
		case <-ctx.Done():
			next.Stop()
			return context.Cause(ctx)
		case <-wanted:
			next.Stop()
			h.notef("hub %s: another run waits for it, and has it next", h.hub.Key)
			return nil
		case <-h.changes.Due():
			changed = true
			settle := time.NewTimer(watch.Settle(h.idle))
			select {
			case <-settle.C:
			case <-ctx.Done():
			}
			settle.Stop()
		case <-next.C:
			if lacking && watches.served(ctx) {
				h.changes.NoteAll()
			}
		}
		next.Stop()
		err := h.round(ctx, r, watches, wanted)
		if h.idle++; h.didWrite() || !changed {
			h.idle = 0
		}
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case errors.Is(err, errYielded):
			h.notef("hub %s: another run waits for it, and has it next", h.hub.Key)
			return nil
		case err == nil || cutShort(err):
			h.failures = 0
			h.watching.o.observer().Ended(h.hub.Key, nil)
		default:
			h.failures++
			h.again, h.whole = time.Now().Add(watch.Pause(h.failures)), time.Time{} // what was to be done is not known any more
			h.watching.o.observer().Ended(h.hub.Key, err)
			h.tell(err)
		}
	}
}

// next is when there is something to do though nothing changes.
func (h *hubWatch) next(now time.Time) time.Time {
	if h.failures > 0 {
		return h.again
	}
	next := h.whole.Add(h.wholeEvery())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil {
		return now.Add(wholeEvery) // rows that are read wake it
	}
	for _, at := range []time.Time{h.ledger.Next(), h.fights.Next(), h.third} {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// tell tells why a round did not end well, unless it has been told.
func (h *hubWatch) tell(err error) {
	if errors.Is(err, ErrReported) {
		return
	}
	h.notef("warning: hub %s: %v", h.hub.Key, err)
}

// wholeEvery is how often all nodes of the hub are compared: as often as an object is due
// by its reapplyInterval, where that is more.
func (h *hubWatch) wholeEvery() time.Duration {
	every := wholeEvery
	for _, p := range h.hub.Programs {
		for _, r := range p.Form.Resources {
			if d := r.Policy.ReapplyInterval; d > 0 {
				every = min(every, d)
			}
		}
	}
	return every
}

// muted tells whether changes of an object do not matter now.
func (h *hubWatch) muted(ref lynq.Ref) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fights.Muted(ref, time.Now())
}

// didWrite tells whether rounds wrote an object since it was called last.
func (h *hubWatch) didWrite() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	wrote := h.wrote
	h.wrote = false
	return wrote
}

// observe notes what was written, which objects were taken back, and how a run ended.
func (h *hubWatch) observe(e apply.Event) {
	switch {
	case e.Type == apply.EventSummary:
		h.mu.Lock()
		h.ended = map[plan.NodeKey]apply.Outcome{}
		for _, n := range e.Summary.Failed {
			h.ended[n.NodeKey] = n.Outcome
		}
		h.mu.Unlock()
	case e.Type == apply.EventObject && e.Outcome == apply.OutcomeDone && e.Action != plan.ActionKeep:
		h.mu.Lock()
		h.wrote = true
		f := fight{node: e.Node, object: e.Object, last: e.Message, at: time.Now()}
		if e.Reason == plan.ReasonDrifted {
			f.muted = h.fights.TakenBack(e.Object, f.at)
		}
		if f.muted > 0 {
			h.fought = append(h.fought, f)
		}
		h.mu.Unlock()
		if f.muted > 0 {
			h.metrics().Fight(h.hub.Key)
			h.notef("warning: node %s: %s", f.node, f)
		}
	}
}
