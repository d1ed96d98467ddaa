package watchcmd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// hubWatch keeps one hub up to date. Its own goroutine and rounds of other hubs use it. They
// need its turn, except for values that are safe for concurrent use, and for the fields under
// the lock. Only its own goroutine uses terms and idle.
type hubWatch struct {
	w   *watching
	hub load.HubPrograms
	o   applycmd.Options // of this hub alone

	inputs  *latestInputs
	changes *watch.Changes
	kept    session.KeptInventories
	terms   session.Terms
	reads   *rowReads
	turn    turn
	// sharedBefore is the digest of the objects that might have moved in the last joint round.
	sharedBefore string
	times        roundTimes
	// refused is the text of the last round's refusals, "" for none.
	refused string
	// surveying is the reading of the rows of all hubs for a round that deletes, or nil.
	// unknown says why the last one failed.
	surveying *survey
	unknown   string
	// unseenRows is set while deletions wait because another hub's rows can't be read.
	unseenRows atomic.Bool
	// idle counts the rounds in a row that other clients' changes started, and that had
	// nothing to do.
	idle watch.IdleRounds
	// reminders say when the log tells again what it told before.
	reminders reminders

	nodes nodeStates

	mu sync.Mutex
	// term is nil while another run has the hub. joiners are the hubs that wanted a
	// round with this hub meanwhile.
	term    *term
	joiners []lynq.HubKey
}

// reminders are for texts that each try of the same would log.
type reminders struct {
	// waiting is for what a round waits for, and early for rounds that end early, by the
	// kind of reason.
	waiting watch.Reminder
	early   map[string]*watch.Reminder
	// toldWaiting is the time when the log last named what rounds wait for, or when the wait
	// began. It is zero if no round waits.
	toldWaiting time.Time
	// failing is for rounds that fail, and lost for terms that can't begin or that end.
	failing, lost watch.Reminder
}

// term is a period in which this process has the Lease of a hub.
type term struct {
	ctx     context.Context // ends with the term
	run     *session.Run
	watches *hubWatches
	wanted  <-chan struct{} // closes when another run wants the hub
}

// newHubWatch returns a hubWatch for the hub at index i of the inputs.
func newHubWatch(w *watching, in *watchInputs, i int) *hubWatch {
	o := w.o.Apply
	o.Sources, o.AllSources, o.Answers = nil, w.o.Apply.Sources, new(httprows.Answers)
	if url := in.urls[i]; url != "" {
		o.Sources = []string{url}
	}
	own := *in.Loaded
	one := *in.Inputs
	one.Hubs = in.Hubs[i : i+1]
	own.Inputs = &one
	if i > 0 {
		own.Tombstones = nil // they belong to no hub, and one hub handles them
	}
	return &hubWatch{
		w: w, o: o, hub: in.Hubs[i], inputs: newLatestInputs(&hubInputs{Loaded: &own, files: in.reading, partial: in.kept != nil, invalid: in.kept.trouble(in.Hubs[i].Hub)}),
		changes: watch.NewChanges(),
		reads:   newRowReads(), turn: newTurn(),
	}
}

// run keeps the hub up to date until the context ends.
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
		if h.reminders.lost.Due(err.Error(), time.Now()) {
			h.w.engine.Notef("warning: hub %s: %v; trying again in %s", h.hub.Key, err, pause)
		}
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
	locks := r.NewContinuousLocks(ctx, h.hub.Key, &h.terms)
	err := r.Acquire(ctx, locks)
	defer func() {
		if ctx.Err() == nil {
			locks.Return()
		}
		h.released(ctx, len(locks.Held) > 0, locks.Release(ctx))
	}()
	if err != nil {
		return err
	}
	h.reminders.lost.Over()
	h.w.engine.Notef("hub %s: watching", h.hub.Key)
	h.w.engine.Meter().Leading(h.hub.Key, true)
	defer h.w.engine.Meter().Leading(h.hub.Key, false)
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

// released tells of the end of a term. If the hub's Lease wasn't taken, an earlier term may
// still be unreleased.
func (h *hubWatch) released(ctx context.Context, held bool, unreleased []error) {
	if held || len(unreleased) > 0 {
		h.w.o.observer().Released(h.hub.Key, errors.Join(unreleased...))
	}
	if ctx.Err() != nil {
		return // the last line of the log says it
	}
	for _, err := range unreleased {
		h.w.engine.Notef("warning: hub %s: lynqctl %v", h.hub.Key, err)
	}
}

// forget forgets everything from an earlier term, because another run may have changed
// anything.
func (h *hubWatch) forget() {
	h.kept.Forget()
	h.endSurvey()
	h.times, h.sharedBefore = roundTimes{}, ""
	h.nodes.forget()
	h.reads.forget()
	h.unseenRows.Store(false)
}

// rounds carries out a round whenever something changed or is due, until another run wants
// the hub. It returns an error if it can't continue for now.
func (h *hubWatch) rounds(t *term) error {
	for {
		began, err := h.awaitWork(t)
		if err == nil {
			err = h.turn.take(t.ctx, t.wanted)
		}
		if err == nil {
			err = h.round(t.ctx, t)
			h.ended(t, began, err)
			h.turn.end()
		}
		switch {
		case context.Cause(t.ctx) != nil:
			return context.Cause(t.ctx)
		case errors.Is(err, errYielded):
			h.w.engine.Notef("hub %s: another run waits for it, and gets it next", h.hub.Key)
			return nil
		}
	}
}

// ended notes how a round ended, unless the term ends with it.
func (h *hubWatch) ended(t *term, began watch.Began, err error) {
	h.idle.Ended(began, h.nodes.didWrite())
	switch {
	case context.Cause(t.ctx) != nil || errors.Is(err, errYielded):
	case err == nil || cutShort(err):
		h.times.failures = 0
		h.w.o.observer().Ended(h.hub.Key, nil)
		if h.reminders.failing.Over() {
			h.w.engine.Notef("hub %s: its rounds succeed again", h.hub.Key)
		}
	default:
		h.times.fail(time.Now())
		h.w.o.observer().Ended(h.hub.Key, err)
		h.tell(err)
	}
}

// awaitWork waits until a round has something to do, and says what begins it. It returns an
// error if another run wants the hub, or the term ended.
func (h *hubWatch) awaitWork(t *term) (began watch.Began, err error) {
	for {
		noted := h.changes.Noted()
		if h.reads.any() && h.changes.Any() {
			h.idle.Collect(t.ctx.Done(), h.changes)
			if h.changes.News() {
				return watch.ByNews, nil
			}
			return watch.ByCluster, nil
		}
		timed, err := h.awaitNews(t, noted)
		if timed || err != nil {
			return watch.ByTimer, err
		}
	}
}

// awaitNews waits until noted closes. timed is set if a timer of the hub ends the wait.
func (h *hubWatch) awaitNews(t *term, noted <-chan struct{}) (timed bool, err error) {
	if err := h.turn.take(t.ctx, t.wanted); err != nil {
		return false, err
	}
	at := h.next(time.Now())
	h.turn.end()
	lacking := t.watches.lacking()
	if soon := time.Now().Add(servedEvery); lacking && soon.Before(at) {
		at = soon
	}
	next := time.NewTimer(time.Until(at))
	defer next.Stop()
	select {
	case <-t.ctx.Done():
		return false, context.Cause(t.ctx)
	case <-t.wanted:
		return false, errYielded
	case <-noted:
		return false, nil
	case <-next.C:
		if lacking && t.watches.served(t.ctx) {
			h.changes.NoteAll()
		}
		return true, nil
	}
}

// tell notes why a round failed, unless a View showed it already.
func (h *hubWatch) tell(err error) {
	if errors.Is(err, session.ErrReported) || !h.reminders.failing.Due(err.Error(), time.Now()) {
		return
	}
	h.w.engine.Notef("warning: hub %s: %v", h.hub.Key, err)
}

// observe notes writes, restored objects, and the end of a run.
func (h *hubWatch) observe(e report.Event) {
	timer, fight := h.nodes.observe(&e, time.Now())
	if timer {
		h.changes.Signal() // a round that waits ends in time
	}
	if fight != nil {
		h.w.engine.Meter().Fight(h.hub.Key)
		h.w.engine.Notef("warning: node %s: %s", fight.node, fight)
	}
}
