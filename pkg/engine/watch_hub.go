package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
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
	roundFor = 5 * time.Second
	// wholeEvery is how often the cluster is compared as a whole, whatever watches tell.
	wholeEvery = 5 * time.Minute
	// jitter is by how much reads of the source are spread, as a part of their interval.
	jitter = 0.1
)

// hubWatch keeps one hub. One goroutine uses it, but for what rounds report.
type hubWatch struct {
	*watching
	in  *applyInputs
	hub HubPrograms
	o   ApplyOptions // of this hub alone

	changes *watch.Changes
	// settled is the digest of what rows and forms wanted when a round ended well, "" where
	// the next one has work to do for certain.
	settled  string
	whole    time.Time // of the last round
	failures int       // of rounds, in turn
	unread   string    // why the source could not be read, "" where it could
	// idle counts the rounds, in turn, that changes began and that found nothing to do.
	idle int

	mu     sync.Mutex
	fights watch.Fights
	wrote  bool // something, since it was asked last
}

// newHubWatch makes one for the hub at i of the inputs, with the rows at a URL, "" for
// where the hub says.
func newHubWatch(w *watching, in *applyInputs, i int, url string) *hubWatch {
	o := w.o.ApplyOptions
	o.Sources = nil
	if url != "" {
		o.Sources = []string{url}
	}
	own := *in
	inputs := *in.Inputs
	inputs.Hubs = in.Hubs[i : i+1]
	own.Inputs = &inputs
	if i > 0 {
		own.tombstones = nil // they are of no hub, and are looked at once
	}
	return &hubWatch{watching: w, o: o, in: &own, hub: in.Hubs[i], changes: watch.NewChanges()}
}

// run keeps the hub until the context ends.
func (h *hubWatch) run(ctx context.Context) {
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
	o.LockTimeout = inventory.Forever
	r := h.newClusterRun(&o, h.client, h.warnings)
	r.observe = h.observe
	locks := r.newContinuousLocks(ctx, h.hub.Key)
	err := r.acquire(ctx, locks)
	defer locks.release(ctx)
	if err != nil {
		return err
	}
	h.notef("hub %s: watching", h.hub.Key)
	h.metrics().Leading(h.hub.Key, true)
	defer h.metrics().Leading(h.hub.Key, false)
	h.settled, h.whole = "", time.Time{}
	watched, stop := context.WithCancel(locks.ctx)
	watches := newHubWatches(h, &r)
	defer func() {
		stop()
		watches.running.Wait()
	}()
	return h.rounds(watched, &r, watches, locks.held[0].Wanted())
}

// rounds looks at the hub whenever something changed, or is due, until another run wants
// it. Its error is why the hub cannot be kept for now.
func (h *hubWatch) rounds(ctx context.Context, r *clusterRun, watches *hubWatches, wanted <-chan struct{}) error {
	for changed := false; ; {
		err := h.round(ctx, r, watches, wanted)
		if h.idle++; h.didWrite() || !changed {
			h.idle = 0
		}
		changed = false
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case errors.Is(err, errYielded):
			h.notef("hub %s: another run waits for it, and has it next", h.hub.Key)
			return nil
		case err == nil || cutShort(err):
			h.failures = 0
		default:
			h.failures++
			h.settled = ""
			h.tell(err)
		}
		next := time.NewTimer(h.next(time.Now()))
		select {
		case <-ctx.Done():
		case <-wanted:
			next.Stop()
			h.notef("hub %s: another run waits for it, and has it next", h.hub.Key)
			return nil
		case <-h.changes.Due():
			h.settled, changed = "", true
			settle := time.NewTimer(watch.Settle(h.idle))
			select {
			case <-settle.C:
			case <-ctx.Done():
			}
			settle.Stop()
		case <-next.C:
		}
		next.Stop()
	}
}

// next is how long to wait for a change before the next round.
func (h *hubWatch) next(now time.Time) time.Duration {
	wait := time.Duration(float64(h.hub.Hub.SyncInterval) * (1 + jitter*(2*rand.Float64()-1))) //nolint:gosec // it spreads load
	if h.failures > 0 {
		wait = min(wait, watch.Pause(h.failures))
		if h.unread == "" {
			wait = watch.Pause(h.failures)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if until := h.fights.Next(now); !until.IsZero() && until.Sub(now) < wait {
		h.settled = ""
		wait = until.Sub(now)
	}
	return wait
}

// tell tells why a round did not end well, unless it has been told.
func (h *hubWatch) tell(err error) {
	if errors.Is(err, ErrReported) {
		return
	}
	h.notef("warning: hub %s: %v", h.hub.Key, err)
}

// round reads the rows, and applies the hub where they or its objects changed, or it is
// time for a whole look.
func (h *hubWatch) round(ctx context.Context, r *clusterRun, watches *hubWatches, wanted <-chan struct{}) error {
	run := *r
	run.began = time.Now()
	j := &applyJob{clusterRun: run, o: &h.o, inputs: h.in.Inputs, hubs: h.in.Hubs, tombstones: h.in.tombstones, continuous: true}
	if err := h.read(ctx, j); err != nil {
		return err
	}
	digest := j.digest(h.hub.Key)
	if digest == h.settled && time.Since(h.whole) < h.wholeEvery() {
		return nil
	}
	if err := j.loadHubs(ctx); err != nil {
		return err
	}
	plans, err := h.plan(ctx, j)
	if err != nil {
		return err
	}
	watches.ensure(ctx, plans)
	h.whole = time.Now()
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	interrupted := h.interrupt(within, stop, wanted)
	err = j.runPlans(within, plans)
	if cause := context.Cause(within); cause != nil && cutShort(cause) {
		err = cause
	}
	stop(nil)
	<-interrupted
	if err == nil {
		h.settled = digest
	}
	return err
}

// wholeEvery is how often the hub is compared as a whole: as often as an object is due by
// its reapplyInterval, where that is more.
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

// read reads the rows. While that fails, all stays as it is.
func (h *hubWatch) read(ctx context.Context, j *applyJob) error {
	_, err := j.rendered(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		if text := err.Error(); text != h.unread {
			h.unread = text
			return fmt.Errorf("its rows could not be read, and all stays as it is: %w", err)
		}
		return ErrReported
	case err == nil && h.unread != "":
		h.unread = ""
		h.notef("hub %s: its rows can be read again", h.hub.Key)
	}
	return err
}

// plan plans the hub. Deletions that a guard refuses are held, and all else is done.
func (h *hubWatch) plan(ctx context.Context, j *applyJob) ([]plan.Plan, error) {
	plans, err := j.planAll(ctx)
	if err != nil {
		return nil, err
	}
	record := j.records[h.hub.Key]
	plans, held, approved := holdDeletions(plans, record, time.Now())
	if err := j.refused(plans); err != nil {
		return nil, err
	}
	if err := plan.CheckSizes(plans); err != nil {
		return nil, err
	}
	recorder := j.client.Recorder(hostName())
	tellHeld(ctx, recorder, record, held, approved, time.Now())
	recorder.Flush(ctx)
	switch {
	case approved:
		h.notef("hub %s: the deletions that were held are approved, and carried out", h.hub.Key)
	case held != nil && (record.Held == nil || record.Held.Digest != held.Digest):
		h.notef("warning: hub %s: deletions are held (%s): %s; %s", h.hub.Key, held.Guard, held.Message, approveWith(record))
	}
	j.held = map[lynq.HubKey]*inventory.HeldDeletions{h.hub.Key: held}
	var guards []plan.Guard
	for i := range plans {
		if plans[i].Held != nil {
			for _, r := range plans[i].Held.Refusals {
				guards = append(guards, r.Guard)
			}
		}
	}
	h.metrics().Held(h.hub.Key, guards)
	return plans, nil
}

// interrupt ends a round where another run waits for the hub, or, when it has had its time,
// where there is something new. What it gives is closed when it no longer does.
func (h *hubWatch) interrupt(ctx context.Context, stop context.CancelCauseFunc, wanted <-chan struct{}) <-chan struct{} {
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
				due = h.changes.Due()
			case <-due:
				h.changes.Note() // the next round has it
				stop(errNewChanges)
				return
			}
		}
	}()
	return ended
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

// observe notes what was written, and which objects were taken back.
func (h *hubWatch) observe(e apply.Event) {
	if e.Type == apply.EventObject && e.Outcome == apply.OutcomeDone && e.Action != plan.ActionKeep {
		h.mu.Lock()
		h.wrote = true
		h.mu.Unlock()
	}
	if e.Type == apply.EventSummary {
		h.metrics().BackOff(h.hub.Key, len(e.Summary.Failed))
	}
	if e.Type != apply.EventObject || e.Reason != plan.ReasonDrifted || e.Outcome != apply.OutcomeDone {
		return
	}
	h.mu.Lock()
	pause := h.fights.TakenBack(e.Object, time.Now())
	h.mu.Unlock()
	if pause > 0 {
		h.metrics().Fight(h.hub.Key)
		h.notef("warning: node %s: another client changes %s again and again: its changes start nothing for %s (kubectl get -o yaml --show-managed-fields tells who; ignoreFields leaves fields to others)", e.Node, e.Object, pause)
	}
}

// digest is of all that the rows and forms of a hub want.
func (j *applyJob) digest(hub lynq.HubKey) string {
	sum := sha256.New()
	for _, n := range j.nodes[hub] {
		_, _ = fmt.Fprintf(sum, "%s %q %v %q\n", n.NodeKey, n.UID, n.Failed, n.Extra)
		for _, o := range slices.Concat(n.Objects, n.Hooks) {
			_, _ = fmt.Fprintf(sum, "%s %q %q %t\n", o.Ref, o.ID, o.Digest, o.Exclusion != nil)
		}
		for i := range n.Tombstones {
			_, _ = fmt.Fprintln(sum, n.Tombstones[i].Digest())
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
