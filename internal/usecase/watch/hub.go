package watch

import (
	"context"
	"errors"
	"sync"
	"time"

	usecase "github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// hubWatch keeps one hub. One goroutine uses it, but for what is under its lock.
type hubWatch struct {
	w   *watching
	in  *usecase.Loaded
	hub load.HubPrograms
	o   usecase.Options // of this hub alone
	// files is how the inputs were read.
	files watch.Reading
	// partial: other hubs may render what their files, which have errors, do not tell.
	partial bool

	changes *watch.Changes
	kept    session.KeptInventories
	// readNow takes whom the reader of the rows tells of its next read, and lends takes how long
	// the hub is lent to the round of another hub.
	readNow chan chan error
	lends   chan chan struct{}
	// tried are the objects that might have moved in the last round that tried that.
	tried string
	// borrows is when this hub waits for another one again, zero for no matter when.
	borrows time.Time
	// moved has a value when a timer was set while a round runs.
	moved    chan struct{}
	whole    time.Time // of the last round about all nodes
	failures int       // of rounds as a whole, in turn
	again    time.Time // when to try again after one
	// third is when to read files again whose changes delete data, zero for no need.
	third time.Time
	// grace is when the first node has been kept for its grace period, zero for none.
	grace time.Time
	// refused is what guards had against the last round, "" for nothing.
	refused string
	// idle counts the rounds, in turn, that changes began and that found nothing to do.
	idle int
	// told is when the log told last what rounds wait for, or when they began to wait; zero
	// where none waits.
	told time.Time

	mu     sync.Mutex
	ledger watch.Ledger[lynq.NodeKey]
	// term is nil while another run has the hub, and missed are the hubs that would have had a
	// round with it meanwhile.
	term   *term
	missed []lynq.HubKey
	// wanted is a digest of what each node wants in this round, and failing are the nodes
	// of it that the ledger knows have failed.
	wanted  map[lynq.NodeKey]string
	failing map[lynq.NodeKey]bool
	// later has the inputs that count from the next round on, nil for those of in, which
	// only rounds replace. cut ends a round that deletes, nil where none is at work.
	later *hubWatch
	cut   context.CancelCauseFunc
	rows  *hubRows // nil before they were read
	// unread is why the rows cannot be read, and invalid why the hub keeps older inputs; nil
	// where neither is so.
	unread, invalid []inventory.Trouble
	fights          watch.Fights
	fought          []fight // in this round
	// waits has the objects that this round waits for, with their nodes.
	waits map[lynq.Ref]lynq.NodeKey
	wrote bool // something, since it was asked last
	// ended is how the nodes ended that did not end well, in the run that ended last.
	ended map[lynq.NodeKey]report.Outcome
}

// term is a time for which this process has the Lease of a hub.
type term struct {
	ctx     context.Context // ends with it
	run     *session.Run
	watches *hubWatches
	wanted  <-chan struct{} // is closed when another run wants the hub
}

// newHubWatch makes one for the hub at i of the inputs.
func newHubWatch(w *watching, in *watchInputs, i int) *hubWatch {
	o := w.o.Apply
	o.Sources, o.AllSources, o.Answers = nil, w.o.Apply.Sources, new(httprows.Answers)
	if url := in.urls[i]; url != "" {
		o.Sources = []string{url}
	}
	own := *in.Loaded
	inputs := *in.Inputs
	inputs.Hubs = in.Hubs[i : i+1]
	own.Inputs = &inputs
	if i > 0 {
		own.Tombstones = nil // they are of no hub, and are looked at once
	}
	return &hubWatch{
		w: w, o: o, in: &own, files: in.reading, hub: in.Hubs[i], partial: in.kept != nil, invalid: in.kept.trouble(in.Hubs[i].Hub),
		changes: watch.NewChanges(), moved: make(chan struct{}, 1),
		readNow: make(chan chan error), lends: make(chan chan struct{}),
	}
}

// run keeps the hub until the context ends.
func (h *hubWatch) run(ctx context.Context) {
	h.w.engine.Meter().Leading(h.hub.Key, false)
	defer h.w.engine.Meter().Left(h.hub.Key)
	defer func() { _ = h.o.Answers.Close() }() // a temporary file, which was only read
	for failures := 0; ctx.Err() == nil; {
		err := h.keep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			continue
		}
		failures++
		h.w.o.observer().Ended(h.hub.Key, err)
		pause := watch.Pause(failures)
		h.w.engine.Notef("warning: hub %s: %v; trying again in %s", h.hub.Key, err, pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// keep takes the hub's Lease, and keeps the hub until another run wants it.
func (h *hubWatch) keep(ctx context.Context) error {
	o := h.o.RunOptions
	o.LockTimeout = lease.Forever
	r := h.w.engine.NewRun(&o, h.w.client, h.w.warnings)
	r.Kept = &h.kept
	locks := r.NewContinuousLocks(ctx, h.hub.Key)
	err := r.Acquire(ctx, locks)
	defer locks.Release(ctx)
	if err != nil {
		return err
	}
	h.w.engine.Notef("hub %s: watching", h.hub.Key)
	h.w.engine.Meter().Leading(h.hub.Key, true)
	defer h.w.engine.Meter().Leading(h.hub.Key, false)
	h.forget()
	watched, stop := context.WithCancel(locks.Ctx)
	t := &term{ctx: watched, run: &r, watches: newHubWatches(h, &r), wanted: locks.Held[0].Wanted()}
	h.begins(t)
	t.watches.running.Go(func() { h.keepReading(watched, r) })
	defer func() {
		h.begins(nil)
		stop()
		t.watches.running.Wait()
	}()
	return h.rounds(t)
}

// forget forgets all of an earlier term: another run may have changed anything.
func (h *hubWatch) forget() {
	h.kept.Forget()
	h.whole, h.third, h.grace, h.failures, h.tried, h.borrows = time.Time{}, time.Time{}, time.Time{}, 0, "", time.Time{}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows, h.unread, h.ledger, h.failing = nil, nil, watch.Ledger[lynq.NodeKey]{}, nil
}

// begins notes the term in which the hub is, nil for none.
func (h *hubWatch) begins(t *term) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.term = t
}

// rounds looks at the hub whenever something changed, or is due, until another run wants
// it. Its error is why the hub cannot be kept for now.
func (h *hubWatch) rounds(t *term) error {
	for {
		changed, err := h.await(t)
		if err == nil {
			err = h.round(t.ctx, t)
			if h.idle++; h.didWrite() || !changed {
				h.idle = 0
			}
		}
		switch {
		case context.Cause(t.ctx) != nil:
			return context.Cause(t.ctx)
		case errors.Is(err, errYielded):
			h.w.engine.Notef("hub %s: another run waits for it, and gets it next", h.hub.Key)
			return nil
		case errors.Is(err, errLent):
		case err == nil || cutShort(err):
			h.failures = 0
			h.w.o.observer().Ended(h.hub.Key, nil)
		default:
			h.failures++
			h.again, h.whole = time.Now().Add(watch.Pause(h.failures)), time.Time{} // what was to be done is not known any more
			h.w.o.observer().Ended(h.hub.Key, err)
			h.tell(err)
		}
	}
}

// await waits until it is time for a round; changed tells that something changed. Its error is
// why there is no round: the hub was lent, another run wants it, or the term ended.
func (h *hubWatch) await(t *term) (changed bool, err error) {
	at := h.next(time.Now())
	lacking := t.watches.lacking()
	if soon := time.Now().Add(servedEvery); lacking && soon.Before(at) {
		at = soon
	}
	next := time.NewTimer(time.Until(at))
	defer next.Stop()
	select {
	case over := <-h.lends:
		<-over
		return false, errLent
	case <-t.ctx.Done():
		return false, context.Cause(t.ctx)
	case <-t.wanted:
		return false, errYielded
	case <-h.changes.Due():
		changed = true
		settle := time.NewTimer(watch.Settle(h.idle))
		defer settle.Stop()
		select {
		case <-settle.C:
		case <-t.ctx.Done():
		}
	case <-next.C:
		if lacking && t.watches.served(t.ctx) {
			h.changes.NoteAll()
		}
	}
	select {
	case over := <-h.lends: // the round may be a long one
		<-over
	default:
	}
	return changed, nil
}

// tell tells why a round did not end well, unless it has been told.
func (h *hubWatch) tell(err error) {
	if errors.Is(err, session.ErrReported) {
		return
	}
	h.w.engine.Notef("warning: hub %s: %v", h.hub.Key, err)
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
func (h *hubWatch) observe(e report.Event) {
	h.noteWait(&e)
	switch {
	case e.Type == report.EventSummary:
		h.mu.Lock()
		h.ended = map[lynq.NodeKey]report.Outcome{}
		for _, n := range e.Summary.Failed {
			h.ended[n.Key()] = n.Outcome
		}
		h.mu.Unlock()
	case e.Type == report.EventNode && failed(e.Outcome):
		h.mu.Lock()
		if h.failing != nil {
			h.failing[e.Key()] = true
			h.ledger.Fail(e.Key(), h.wanted[e.Key()], time.Now())
		}
		h.mu.Unlock()
		h.move()
	case e.Type == report.EventObject && e.Outcome == report.OutcomeDone && e.Action != plan.ActionKeep:
		h.mu.Lock()
		h.wrote = true
		f := fight{node: e.Key(), object: e.Object, last: e.Message, at: time.Now()}
		if e.Reason == reason.Drifted {
			f.muted = h.fights.TakenBack(e.Object, f.at)
		}
		if f.muted > 0 {
			h.fought = append(h.fought, f)
		}
		h.mu.Unlock()
		if f.muted > 0 {
			h.move()
			h.w.engine.Meter().Fight(h.hub.Key)
			h.w.engine.Notef("warning: node %s: %s", f.node, f)
		}
	}
}
